"""Batches hold whole sentences, training learns, stops and goes on, and the same seed gives the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest
import torch

from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.text.course_language.gloss import PARTS, gloss
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training.gloss_batches import NO_ANSWER, endless_batches, gloss_data, with_unknown_words
from mha_course.training.train_gloss import Recipe, accuracy, fresh_model, rate_at, train_gloss

SENTENCES = list(draw_sentences(300, seed=8))
SMALL = GlossSizes(d_model=12, h=3, n_layers=2, d_ff=20, dropout=0.0)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def model() -> GlossModel:
    return fresh_model(SMALL, seed=1)


def test_a_batch_is_its_sentences_filled_up(model: GlossModel) -> None:
    data = gloss_data(SENTENCES, model.vocabulary)
    batch = data.batch(torch.tensor([4, 0, 9]))
    for row, i in enumerate((4, 0, 9)):
        words, n = SENTENCES[i].words, len(SENTENCES[i].words)
        assert model.vocabulary.decode(batch.ids[row, :n].tolist()) == list(words)
        assert batch.ids[row, n:].tolist() == [0] * (batch.ids.shape[1] - n)
        for part in PARTS:
            assert tuple(batch.answers[part][row, :n].tolist()) == getattr(gloss(SENTENCES[i]), part)
            assert set(batch.answers[part][row, n:].tolist()) <= {NO_ANSWER}


def test_a_round_of_batches_has_every_sentence_once_and_little_padding(model: GlossModel) -> None:
    data = gloss_data(SENTENCES, model.vocabulary)
    seen, places, real = 0, 0, 0
    for batch in endless_batches(data, 128, torch.Generator().manual_seed(0)):
        seen, places = seen + len(batch.ids), places + batch.ids.numel()
        real += int((batch.ids != 0).sum())
        if seen >= len(SENTENCES):
            break
    assert seen == len(SENTENCES) and real == len(data.ids)
    assert real > 0.85 * places


def test_padding_changes_nothing(model: GlossModel) -> None:
    model.eval()
    data = gloss_data(SENTENCES, model.vocabulary)
    together = model(data.batch(torch.tensor([3, 7])).ids)
    for row, i in enumerate((3, 7)):
        alone = model(data.batch(torch.tensor([i])).ids)
        n = len(SENTENCES[i].words)
        for part in PARTS:
            torch.testing.assert_close(together[part][row, :n], alone[part][0])


def test_unknown_words_take_a_share_and_never_padding() -> None:
    ids = torch.arange(2, 20_002).view(100, 200)
    ids[:, 150:] = 0
    hidden = with_unknown_words(ids, 0.1, 1, torch.Generator().manual_seed(0))
    assert (hidden[:, 150:] == 0).all()
    assert 0.08 < float((hidden[:, :150] == 1).float().mean()) < 0.12


def test_training_learns_and_is_the_same_for_the_same_seed(model: GlossModel) -> None:
    recipe = Recipe(steps=40, rate=1e-2, warm_up=5, tokens=256)
    data = gloss_data(SENTENCES, model.vocabulary)
    steps = list(train_gloss(model, data, recipe, seed=2))
    assert [s.number for s in steps] == list(range(1, 41))
    assert steps[-1].loss < 0.8 * steps[0].loss
    other = fresh_model(SMALL, seed=1)
    again = list(train_gloss(other, data, recipe, seed=2))
    assert [s.loss for s in again] == [s.loss for s in steps]
    assert set(accuracy(model, data)) == set(PARTS) and 0 < accuracy(model, data)["ending"] < 1


def test_training_stops_when_nobody_asks_and_goes_on_later(model: GlossModel) -> None:
    recipe = Recipe(steps=9, rate=1e-2, warm_up=2, tokens=256)
    data = gloss_data(SENTENCES, model.vocabulary)
    first = list(islice(train_gloss(model, data, recipe, seed=2), 4))
    before = model.read.words.weight.clone()
    rest = list(train_gloss(model, data, recipe, seed=2, start=first[-1].number))
    assert [s.number for s in rest] == [5, 6, 7, 8, 9]
    assert not torch.equal(before, model.read.words.weight)


def test_the_rate_warms_up_and_falls() -> None:
    recipe = Recipe(steps=100, warm_up=20)
    rates = [rate_at(step, recipe) for step in range(1, 101)]
    assert rates[0] == 0.05 and rates[19] == 1.0 == max(rates)
    assert rates[99] == pytest.approx(0, abs=1e-12)
    assert all(a > b for a, b in zip(rates[19:], rates[20:], strict=False))


def test_attention_of_a_sentence_in_words(model: GlossModel) -> None:
    maps = model.eval().attend(["the", "old", "cat", "sees", "zebras"])
    assert maps.weights.shape == (2, 3, 5, 5) and maps.query_tokens[-1] == "zebras"
    torch.testing.assert_close(maps.weights.sum(-1), torch.ones(2, 3, 5))


def test_a_text_is_cut_into_words_and_nothing_is_refused(model: GlossModel) -> None:
    maps = model.eval().attend("The old cat sees oboes.")
    assert maps.query_tokens == ("the", "old", "cat", "sees", "oboes", ".")
    assert torch.equal(maps.weights, model.attend("the old cat sees oboes .".split()).weights)
    for nothing in ("", "  ", [], ()):
        with pytest.raises(ValueError, match="no words"):
            model.attend(nothing)
