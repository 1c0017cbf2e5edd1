"""What models of each family show of a text: pieces, words, masks, limits, odd texts."""

from __future__ import annotations

import json
import time
import unicodedata

import pytest
import torch

from mha_course.attention_maps import AttentionMaps
from mha_course.models.pretrained import PretrainedModel, TextPairMaps
from mha_course.models.pretrained.cutting import cut
from mha_course.pieces import PieceMaps, pieces_to_words
from mha_course.text.readable import readable
from mha_course.transformer import TransformerMaps
from tests.models.pretrained.odd_texts import ODD_TEXTS

NAMES = ("bert", "gpt2", "t5", "marian")
SENTENCE = "She disappeared, and 猫 sat near it!"


def parts(read: PieceMaps | TextPairMaps) -> dict[str, PieceMaps]:
    if isinstance(read, PieceMaps):
        return {read.maps.kind: read}
    return {"encoder": read.encoder, "decoder": read.decoder, "cross": read.cross}


@pytest.mark.parametrize(
    ("name", "family", "layers", "heads", "longest"),
    [
        ("bert", "encoder", 3, 2, 40),
        ("gpt2", "decoder", 2, 3, 44),
        ("t5", "encoder-decoder", 2, 4, 48),
        ("marian", "encoder-decoder", 3, 4, 40),
    ],
)
def test_the_family_is_recognised(models, name, family, layers, heads, longest) -> None:
    model = models[name]
    assert (model.family, model.n_layers, model.n_heads, model.longest) == (family, layers, heads, longest)
    assert model.name == f"tiny-{name}"
    assert repr(model) == f"tiny-{name}: {family}, {layers} layers with {heads} heads each"


@pytest.mark.parametrize("name", NAMES)
def test_rows_sum_to_one_and_a_decoder_never_looks_ahead(models, name) -> None:
    read = models[name].read(SENTENCE, **({"target": "the cat sleeps"} if name in ("t5", "marian") else {}))
    for kind, part in parts(read).items():
        assert part.maps.kind == kind
        torch.testing.assert_close(part.maps.weights.sum(-1), torch.ones(part.maps.weights.shape[:-1]))
        if kind == "decoder":
            n = len(part.maps.query_tokens)
            assert torch.equal(part.maps.allowed, torch.ones(n, n).tril().bool())
            assert not part.maps.weights[..., ~part.maps.allowed].any()
        else:
            assert part.maps.allowed is None


def test_the_weights_are_the_ones_that_transformers_gives(models) -> None:
    model = models["bert"]
    ids = model.tokenizer(SENTENCE)["input_ids"]
    found = model._runner.model(torch.tensor([ids]), output_attentions=True).attentions
    torch.testing.assert_close(model.attend(SENTENCE).weights, torch.cat(found))


def test_pieces_of_words_as_the_model_spells_them_and_unknown_ones_by_their_text(models) -> None:
    read = models["bert"].read("Disappeared 猫")
    tokens = read.maps.query_tokens
    assert tokens[0] == "[CLS]" and tokens[-2:] == ("猫", "[SEP]")
    assert tokens[1] == "dis" and all(token.startswith("##") for token in tokens[2:-2])
    assert "".join(token.removeprefix("##") for token in tokens[1:-2]) == "disappeared"
    assert read.words_q == ("Disappeared", "猫")


def test_a_character_in_several_pieces_is_shown_in_each(models) -> None:
    read = models["gpt2"].read("a 猫 🎉")
    shown = [token for token in read.maps.query_tokens if token != "␣"]
    assert shown == ["a", *(f"猫·{i}/3" for i in (1, 2, 3)), *(f"🎉·{i}/4" for i in (1, 2, 3, 4))]
    assert read.words_q == ("a", "猫", "🎉")
    assert [read.query_words.count(word) for word in range(3)] == [1, 4, 5]  # with the blank before


@pytest.mark.parametrize("name", ("gpt2", "t5", "marian"))
def test_marks_of_blanks_are_not_shown(models, name) -> None:
    model = models[name]
    shown = cut(model.tokenizer, "the old cat", 40).labels
    assert "".join(label for label in shown if label not in ("␣", "</s>")) == "theoldcat"
    assert not any("▁" in label or "Ġ" in label for label in shown)


@pytest.mark.parametrize("name", NAMES)
def test_signs_that_stand_in_the_text_are_kept_apart_from_marks(models, name) -> None:
    words = cut(models[name].tokenizer, "a ▁ b Ġ c", 40).words
    assert words == ("a", "▁", "b", "Ġ", "c")


@pytest.mark.parametrize("name", NAMES)
def test_given_words_stay_words(models, name) -> None:
    words = ["don't", "", "unbelievable", "New York", " "]
    pieces = cut(models[name].tokenizer, words, 40)
    assert pieces.words == tuple(words)
    own = [{word for word in pieces.word_of if word is not None}]
    assert own == [{0, 2, 3}]
    letters = {0: "don't", 2: "unbelievable", 3: "NewYork"}
    for word, text in letters.items():
        spelled = "".join(
            label.removeprefix("##")
            for label, of in zip(pieces.labels, pieces.word_of, strict=True)
            if of == word and label != "␣"
        )
        assert spelled.lower() == text.lower()


def test_words_are_joined_by_the_rule_and_special_tokens_by_a_switch(models) -> None:
    model = models["bert"]
    read = model.read(SENTENCE)
    whole = model.attend(SENTENCE)
    assert isinstance(whole, AttentionMaps) and "[CLS]" in whole.query_tokens
    bare = model.attend(SENTENCE, special=False)
    assert bare.query_tokens == whole.query_tokens[1:-1]
    assert torch.equal(bare.weights, whole.weights[..., 1:-1, 1:-1])
    words = model.attend(SENTENCE, special=False, words=True)
    torch.testing.assert_close(words.weights, pieces_to_words(whole.weights, read.query_words))
    assert words.query_tokens == ("She", "disappeared", ",", "and", "猫", "sat", "near", "it", "!")
    assert model.attend(SENTENCE, words=True).query_tokens[0] == "[CLS]"


@pytest.mark.parametrize("name", ("t5", "marian"))
def test_an_encoder_decoder_has_three_kinds(models, name) -> None:
    model = models[name]
    maps = model.attend("the old cat", "my friend sings well")
    assert isinstance(maps, TransformerMaps)
    n, m = len(maps.encoder.query_tokens), len(maps.decoder.query_tokens)
    assert n != m
    start = model.tokenizer.convert_ids_to_tokens(model._runner.start_id)
    assert maps.decoder.query_tokens[0] == start and "</s>" not in maps.decoder.query_tokens
    assert maps.cross.weights.shape[-2:] == (m, n)
    assert maps.cross.query_tokens == maps.decoder.query_tokens
    assert maps.cross.key_tokens == maps.encoder.key_tokens
    words = model.attend("the old cat", "my friend sings well", special=False, words=True)
    assert words.cross.query_tokens == ("my", "friend", "sings", "well")
    assert words.cross.key_tokens == ("the", "old", "cat")


@pytest.mark.parametrize("name", ("t5", "marian"))
def test_without_a_target_the_model_writes_one(models, name) -> None:
    model = models[name]
    read = model.read("the old cat")
    assert "written by the model" in read.cross.maps.note and read.encoder.maps.note == ""
    again = model.read("the old cat")
    assert torch.equal(read.cross.maps.weights, again.cross.maps.weights)


@pytest.mark.parametrize("name", ("bert", "gpt2"))
def test_a_target_without_a_second_half_is_refused(models, name) -> None:
    with pytest.raises(ValueError, match="takes a text and no target"):
        models[name].read("a text", "a target")


@pytest.mark.parametrize("name", NAMES)
def test_batches_give_what_single_texts_give(models, name) -> None:
    model = models[name]
    texts = ["the cat", SENTENCE, "", ["my", "friend"], "it rains; it pours, and nobody sings"]
    for batch in (1, 2, 5):
        for text, many in zip(texts, model.read_many(texts, batch), strict=True):
            single = next(model.read_many([text]))
            assert many.maps.query_tokens == single.maps.query_tokens
            torch.testing.assert_close(many.maps.weights, single.maps.weights)
    with pytest.raises(ValueError, match="batch"):
        list(model.read_many(texts, 0))


@pytest.mark.parametrize("name", NAMES)
def test_weights_over_words_are_in_order_and_have_a_row_a_word(models, name) -> None:
    model = models[name]
    sentences = [("we", "don't", "know"), ("she", "sat"), ("unbelievable",), (), ("a", "", "b", "猫", "x")]
    found = list(model.weights_over_words(sentences, batch=2))
    shape = (model.n_layers, model.n_heads)
    assert [tuple(w.shape) for w in found] == [(*shape, len(s), len(s)) for s in sentences]
    read = next(model.read_many([list(sentences[0])]))
    torch.testing.assert_close(found[0], read.words().weights)
    assert not found[4][..., 1, :].any() and not found[4][..., :, 1].any()  # the empty word


@pytest.mark.parametrize("name", NAMES)
def test_a_text_that_is_too_long_is_cut_with_a_note(models, name) -> None:
    model = models[name]
    read = next(model.read_many(["the old cat sleeps " * 30]))
    assert len(read.maps.query_tokens) == model.longest
    assert read.maps.note == f"the text was cut after {model.longest} pieces, the most that are read here"
    assert len(read.words_q) < 4 * 30
    if name != "gpt2":
        assert read.query_words[-1] is None  # [SEP] or </s> is still there
    given = next(model.read_many([["cat"] * 60]))
    assert len(given.words_q) == 60


def letters(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", text).casefold() if sign.isalnum())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
def test_odd_texts_raise_nothing_and_lose_nothing(models, name, text) -> None:
    read = next(models[name].read_many([text]))
    maps = read.maps
    assert torch.isfinite(maps.weights).all()
    for special in (True, False):
        assert read.pieces(special).weights.shape[-1] == len(read.pieces(special).key_tokens)
        assert read.words(special).weights.shape[-1] == len(read.words(special).key_tokens)
    json.dumps([*maps.query_tokens, *read.words_q], ensure_ascii=False).encode("utf-8")
    assert all(token.strip() for token in maps.query_tokens)
    if "cut after" not in maps.note:
        assert letters("".join(read.words_q)) == letters(readable(text))


@pytest.mark.parametrize("name", NAMES)
def test_odd_texts_are_all_in_the_pieces(models, name) -> None:
    for text in ODD_TEXTS:
        read = next(models[name].read_many([text]))
        if "cut after" in read.maps.note:
            continue
        shown = ""
        for token, word in zip(read.maps.query_tokens, read.query_words, strict=True):
            sign, _, place = token.partition("·")
            if word is not None and not token.startswith("U+") and (not place or place.startswith("1/")):
                shown += sign.removeprefix("##")
        assert letters(shown) == letters(readable(text)), text


@pytest.mark.parametrize("name", ("t5", "marian"))
def test_odd_targets_raise_nothing(models, name) -> None:
    for text in ODD_TEXTS:
        read = models[name].read("the old cat", text)
        assert torch.isfinite(read.cross.maps.weights).all()
        assert len(read.words().cross.query_tokens) == len(read.decoder.words_q)
        assert read.pieces(special=False).cross.weights.shape[-1] == len(read.pieces(False).cross.key_tokens)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ("a" * 300_000, "猫" * 300_000, " " * 300_000, ["cat"] * 300_000))
def test_very_long_texts_take_no_time(models, name, text) -> None:
    begun = time.perf_counter()
    read = next(models[name].read_many([text]))
    assert read.words().weights.shape[-1] <= 1000
    assert "cut after" in read.maps.note
    assert time.perf_counter() - begun < 15


def test_the_bytes_of_a_text_as_pieces(tmp_path) -> None:
    from transformers import ByT5Tokenizer

    pieces = cut(ByT5Tokenizer(), "a 猫 b", 20)
    assert pieces.labels == ("a", "␣", "猫·1/3", "猫·2/3", "猫·3/3", "␣", "b", "</s>")
    assert pieces.word_of == (0, 1, 1, 1, 1, 2, 2, None)
    assert cut(ByT5Tokenizer(), "", 20).words == ()


@pytest.mark.parametrize("text", (None, 5, [1, 2], ["a", None], {"a": 1}, b"bytes"))
def test_what_is_no_text_is_refused(models, text) -> None:
    with pytest.raises(ValueError, match="a text or a list of words"):
        models["bert"].read(text)


def test_random_weights_of_the_same_architecture(models) -> None:
    model: PretrainedModel = models["bert"]
    other = model.untrained(seed=3)
    assert (other.family, other.n_layers, other.n_heads) == ("encoder", 3, 2)
    assert other.name == "tiny-bert, random weights"
    assert not torch.allclose(other.attend("a cat").weights, model.attend("a cat").weights)
    assert torch.equal(other.attend("a cat").weights, model.untrained(seed=3).attend("a cat").weights)


def test_the_random_numbers_of_others_are_left_alone(models) -> None:
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    models["t5"].untrained(seed=1)
    models["t5"].read("the cat")
    assert torch.equal(torch.rand(3), expected)
