"""Tiny models of each family with random weights, and tokenizers trained on a few sentences."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import torch

TEXTS = (
    "the old cat sleeps near the warm stove",
    "my friend likes music and plays the oboe every day",
    "she disappeared before the unbelievable storm",
    "we don't know which of the three keys opens this door",
    "it rains; it pours, and nobody sings (not even the birds)!",
    "never had so many people waited so quietly",
)


def _fast(tokenizer: object, folder: Path, **names: str) -> None:
    from transformers import PreTrainedTokenizerFast

    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=48, **names).save_pretrained(folder)


def _word_piece(folder: Path) -> int:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=90, special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    _fast(tokenizer, folder, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]")
    return tokenizer.get_vocab_size()


def _byte_level(folder: Path) -> int:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    _fast(tokenizer, folder, bos_token="<|endoftext|>", eos_token="<|endoftext|>")
    return tokenizer.get_vocab_size()


def _unigram(folder: Path) -> int:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=110, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>"
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    _fast(tokenizer, folder, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    return tokenizer.get_vocab_size()


def _sentence_piece(folder: Path) -> int:
    import sentencepiece
    from transformers import MarianTokenizer

    lines = folder / "lines.txt"
    lines.write_text("\n".join(TEXTS), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(lines), model_prefix=str(folder / "source"), vocab_size=60, minloglevel=2
    )
    (folder / "source.vocab").unlink()
    lines.unlink()
    (folder / "source.model").rename(folder / "source.spm")
    (folder / "target.spm").write_bytes((folder / "source.spm").read_bytes())
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    spelled = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]
    names = ["</s>", "<unk>", *(p for p in spelled if p not in ("<s>", "</s>", "<unk>")), "<pad>"]
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({name: i for i, name in enumerate(names)}), encoding="utf-8")
    MarianTokenizer(
        str(folder / "source.spm"), str(folder / "target.spm"), str(vocabulary), model_max_length=48
    ).save_pretrained(folder)
    return len(names)


def bert(folder: Path) -> None:
    """An encoder: 3 layers, 2 heads."""
    from transformers import BertConfig, BertModel

    size = _word_piece(folder)
    config = BertConfig(
        vocab_size=size,
        hidden_size=12,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=20,
        max_position_embeddings=40,
        pad_token_id=0,
    )
    _save(BertModel, config, folder)


def gpt2(folder: Path) -> None:
    """A decoder: 2 layers, 3 heads."""
    from transformers import GPT2Config, GPT2LMHeadModel

    size = _byte_level(folder)
    config = GPT2Config(vocab_size=size, n_embd=12, n_layer=2, n_head=3, n_positions=44)
    _save(GPT2LMHeadModel, config, folder)


def t5(folder: Path) -> None:
    """An encoder-decoder with relative positions: 2 layers before 3, 4 heads."""
    from transformers import T5Config, T5ForConditionalGeneration

    size = _unigram(folder)
    config = T5Config(
        vocab_size=size,
        d_model=12,
        d_kv=3,
        d_ff=20,
        num_layers=2,
        num_decoder_layers=3,
        num_heads=4,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    _save(T5ForConditionalGeneration, config, folder)


def marian(folder: Path) -> None:
    """An encoder-decoder whose tokenizer is of the slow kind: 3 layers before 2, 4 and 2 heads."""
    from transformers import MarianConfig, MarianMTModel

    size = _sentence_piece(folder)
    config = MarianConfig(
        vocab_size=size,
        d_model=12,
        encoder_layers=3,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=2,
        encoder_ffn_dim=20,
        decoder_ffn_dim=22,
        max_position_embeddings=40,
        pad_token_id=size - 1,
        eos_token_id=0,
        forced_eos_token_id=0,
        decoder_start_token_id=size - 1,
    )
    _save(MarianMTModel, config, folder)


def _save(kind: type, config: object, folder: Path) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        kind(config).save_pretrained(folder)


FAMILIES: dict[str, Callable[[Path], None]] = {"bert": bert, "gpt2": gpt2, "t5": t5, "marian": marian}
