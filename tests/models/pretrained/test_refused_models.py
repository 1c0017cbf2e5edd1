"""Models that can't be read or are damaged: each is refused with a sentence, none is filled up at random."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from mha_course.models.pretrained import finding, load_pretrained
from tests.models.pretrained.test_loading import problem


@pytest.fixture
def bert(folders: dict[str, Path], tmp_path: Path) -> Path:
    """A copy of the tiny encoder, to be spoilt."""
    return Path(shutil.copytree(folders["bert"], tmp_path / "spoilt"))


def other_model(bert: Path, model: torch.nn.Module) -> Path:
    """The folder with another model in it, and the same tokenizer."""
    for name in ("config.json", "model.safetensors"):
        (bert / name).unlink()
    model.save_pretrained(bert)
    return bert


def changed_tensors(bert: Path, change: object) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(bert / "model.safetensors")
    change(tensors)
    save_file(tensors, bert / "model.safetensors", {"format": "pt"})


SEEING = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
BOTH = {
    "d_model": 12,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 22,
}


def test_what_reads_pictures_or_sounds_is_one_sentence(bert) -> None:
    from transformers import ViTConfig, ViTModel, WhisperConfig, WhisperForConditionalGeneration

    seeing = ViTModel(ViTConfig(**SEEING, image_size=16, patch_size=8))
    assert "kind 'vit', which doesn't read texts alone" in problem(other_model(bert, seeing))
    sizes = {"vocab_size": 90, "num_mel_bins": 4, "max_source_positions": 20, "max_target_positions": 20}
    ids = dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), 0)
    hearing = WhisperForConditionalGeneration(WhisperConfig(**BOTH, **sizes, **ids))
    assert "kind 'whisper', which doesn't read texts alone" in problem(other_model(bert, hearing))


def test_weights_to_a_part_of_the_keys_only_are_refused_at_once(bert) -> None:
    from transformers import LongformerConfig, LongformerModel

    config = LongformerConfig(**SEEING, vocab_size=90, attention_window=[4, 4], pad_token_id=0)
    assert "keep weights to a part of the keys only" in problem(other_model(bert, LongformerModel(config)))


def test_weights_in_few_bits_are_refused_before_they_are_read(bert) -> None:
    config = json.loads((bert / "config.json").read_text(encoding="utf-8"))
    config["quantization_config"] = {"quant_method": "gptq", "bits": 4}
    (bert / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert "in few bits (gptq)" in problem(bert)


def test_a_tensor_of_another_size_is_named(bert) -> None:
    config = json.loads((bert / "config.json").read_text(encoding="utf-8"))
    (bert / "config.json").write_text(json.dumps(config | {"vocab_size": 17}), encoding="utf-8")
    assert "in other sizes than config.json says, embeddings.word_embeddings.weight" in problem(bert)


def test_numbers_that_are_none_are_told(bert) -> None:
    changed_tensors(bert, lambda tensors: [tensor.fill_(float("nan")) for tensor in tensors.values()])
    assert "no numbers (NaN)" in problem(bert)


def test_places_that_were_learned_may_not_be_missing(bert) -> None:
    from transformers import BartConfig, BartModel

    other_model(bert, BartModel(BartConfig(**BOTH, vocab_size=90, max_position_embeddings=40)))
    assert load_pretrained(bert).n_heads == 4
    changed_tensors(bert, lambda tensors: tensors.pop("encoder.embed_positions.weight"))
    assert "encoder.embed_positions.weight" in problem(bert)


def test_places_that_are_waves_may_be_missing(bert) -> None:
    from transformers import PegasusConfig, PegasusModel

    ids = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    sizes = {"vocab_size": 90, "max_position_embeddings": 40}
    other_model(bert, PegasusModel(PegasusConfig(**BOTH, **sizes, **ids)))
    before = load_pretrained(bert).attend("a cat", "a dog").cross.weights
    changed_tensors(bert, lambda tensors: tensors.pop("encoder.embed_positions.weight"))
    assert torch.equal(load_pretrained(bert).attend("a cat", "a dog").cross.weights, before)


def test_what_a_library_said_is_cut_between_sentences() -> None:
    said = finding.first_of(ValueError("One sentence that is whole. " + "Another one goes on and on " * 20))
    assert said == "One sentence that is whole."
    assert finding.first_of(ValueError("word " * 80)).endswith("word ...")
    assert finding.first_of(KeyError()) == "KeyError."
