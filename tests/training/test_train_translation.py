"""Pairs as batches, teacher forcing one place on, and training that learns and can be repeated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from mha_course.models.translator import (
    CARD,
    FILE,
    Translator,
    TranslatorSizes,
    fresh_translator,
    save_translator,
)
from mha_course.text.course_language.translation import draw_pairs
from mha_course.training import record_translation
from mha_course.training.record_translation import alignment_of, cross_attention, held_out_pairs, right_words
from mha_course.training.train_gloss import Recipe
from mha_course.training.train_translation import train_translation
from mha_course.training.translation_batches import endless_pairs, pair_batch, with_unknown_words

PAIRS = list(draw_pairs(260, seed=8))
SMALL = TranslatorSizes(d_model=12, h=3, encoder_layers=1, decoder_layers=2, d_ff=20, dropout=0.0)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def model() -> Translator:
    return fresh_translator(SMALL, seed=1)


def test_a_batch_holds_pairs_and_their_alignment(model: Translator) -> None:
    batch = pair_batch(PAIRS[:7], model)
    for row, pair in enumerate(PAIRS[:7]):
        n_k, n_q = len(pair.sentence.words), len(pair.translation.words)
        assert model.english.decode(batch.source[row, :n_k].tolist()) == list(pair.sentence.words)
        assert batch.source[row, n_k:].sum() == 0
        assert model.invented.decode(batch.written[row, :n_q].tolist()) == list(pair.translation.words)
        assert batch.written[row, n_q] == model.end and batch.written[row, n_q + 1 :].sum() == 0
        assert tuple(batch.aligned[row, :n_q].tolist()) == pair.translation.source
        assert set(batch.aligned[row, n_q:].tolist()) == {-1}


def test_what_is_read_lags_one_word_behind_what_is_written(model: Translator) -> None:
    batch = pair_batch(PAIRS[:5], model)
    read = batch.read(model.start)
    assert read.shape == batch.written.shape
    assert set(read[:, 0].tolist()) == {model.start}
    assert torch.equal(read[:, 1:], batch.written[:, :-1])


def test_a_round_has_every_pair_once(model: Translator) -> None:
    seen, places, real = 0, 0, 0
    for batch in endless_pairs(PAIRS, model, 32, torch.Generator().manual_seed(0)):
        seen += len(batch.source)
        places, real = places + batch.source.numel(), real + int((batch.source != 0).sum())
        if seen >= len(PAIRS):
            break
    assert seen == len(PAIRS) and real == sum(len(pair.sentence.words) for pair in PAIRS)
    assert real > 0.85 * places


def test_an_unknown_word_is_unknown_on_both_sides(model: Translator) -> None:
    batch = pair_batch(PAIRS, model)
    hidden = with_unknown_words(batch, 0.3, 1, torch.Generator().manual_seed(0))
    lost = (hidden.source == 1) & (batch.source != 1)
    assert 0.25 < float(lost[batch.source != 0].float().mean()) < 0.35
    assert not lost[batch.source == 0].any()
    for row, pair in enumerate(PAIRS[:40]):
        for i, at in enumerate(pair.translation.source):
            assert (hidden.written[row, i] == 1) == lost[row, at]
    assert torch.equal(hidden.written == 0, batch.written == 0)
    assert torch.equal(hidden.written == model.end, batch.written == model.end)


def test_training_learns_and_is_the_same_for_the_same_seed(model: Translator) -> None:
    recipe = Recipe(steps=60, rate=1e-2, warm_up=5)
    steps = list(train_translation(model, PAIRS, recipe, seed=2))
    assert [step.number for step in steps] == list(range(1, 61))
    assert steps[-1].loss < 0.75 * steps[0].loss and 0 < steps[-1].right < 1
    again = fresh_translator(SMALL, seed=1)
    assert [s.loss for s in train_translation(again, PAIRS, recipe, seed=2)] == [s.loss for s in steps]


def test_measures_of_an_untrained_model(model: Translator) -> None:
    model.eval()
    right = right_words(model, PAIRS[:30])
    assert right["exact"] == 0 and right["forced"] < 0.1 and right["decoded"] < 0.1
    weights = cross_attention(model, pair_batch(PAIRS[:6], model))
    assert weights.shape[:3] == (6, 2, 3)
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    scores = alignment_of(model, PAIRS)
    assert scores.heads.shape == (2, 3) and float(scores.heads.max()) < 0.35
    assert 0.1 < scores.offset < 0.4 and 0.1 < scores.diagonal < 0.5


def test_right_words_counts_what_is_right() -> None:
    """A stand-in that reads the answers off a table, except for the first sentence's last word."""
    pairs = PAIRS[:9]
    model = fresh_translator(SMALL, seed=1).eval()
    batch = pair_batch(pairs, model)
    answers = batch.written.clone()
    answers[0, int((answers[0] != 0).sum()) - 2] = 5 if answers[0, 0] != 5 else 6

    class Table(torch.nn.Module):
        english, invented, start, end = model.english, model.invented, model.start, model.end

        def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.one_hot(answers, len(model.invented)).float()

        def greedy(self, source: torch.Tensor) -> torch.Tensor:
            return answers

    right, count = right_words(Table(), pairs), int((batch.written != 0).sum())
    assert right["exact"] == pytest.approx(8 / 9)
    assert right["forced"] == right["decoded"] == pytest.approx(1 - 1 / count)


def test_held_out_pairs_were_not_trained_on() -> None:
    fresh = held_out_pairs(PAIRS, 40)
    assert len(fresh) == 40
    assert {p.sentence.words for p in fresh}.isdisjoint({p.sentence.words for p in PAIRS})


def test_a_run_from_start_to_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    longer = list(draw_pairs(12, seed=9, shortest=12, longest=14))
    monkeypatch.setattr(record_translation, "longer_pairs", lambda: longer)
    recipe, seen = Recipe(steps=4, rate=1e-3, warm_up=2), []
    model, seconds = record_translation.train_one(SMALL, recipe, 5, PAIRS, seen.append)
    assert [step.number for step in seen] == [1, 2, 3, 4] and seconds > 0 and not model.training
    save_translator(model, tmp_path / FILE)
    told = record_translation.told(model, 5, seconds, PAIRS[:30])
    record_translation.put_translator_card(tmp_path, SMALL, recipe, [told])
    card = json.loads((tmp_path / CARD).read_text(encoding="utf-8"))
    assert card["seeds"] == [told] and card["sizes"]["h"] == 3 and card["recipe"]["steps"] == 4
    assert card["sha256"] == hashlib.sha256((tmp_path / FILE).read_bytes()).hexdigest()
    layer, head = told["alignment"]["best"]
    assert told["alignment"]["heads"][layer][head] == told["alignment"]["best_head"]
    assert told["seed"] == 5 and told["longer"]["exact"] == 0


def test_a_head_about_the_word_read_is_told_from_one_about_the_word_written(
    model: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = PAIRS[:11]
    aligned = record_translation.pair_batch(pairs, model).aligned
    n_k = record_translation.pair_batch(pairs, model).source.shape[1]
    before = torch.cat([torch.zeros_like(aligned[:, :1]), aligned[:, :-1]], dim=1)
    # Layer 1: head 1 looks at what was read, head 2 at what is written.
    looks = torch.stack([before, aligned], dim=1).clamp(min=0)
    planted = torch.nn.functional.one_hot(looks, n_k).float()[:, None]
    monkeypatch.setattr(record_translation, "cross_attention", lambda model, batch: planted)
    assert record_translation.hits_as_read(model, pairs, 0, 0) == 1
    assert record_translation.hits_as_read(model, pairs, 0, 1) == 0
