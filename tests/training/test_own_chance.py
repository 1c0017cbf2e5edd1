"""A training draws its own chance: equal seeds give equal runs, and nobody else's chance is touched."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from mha_course.training.gloss_batches import gloss_data
from mha_course.training.leaderboard import Row, Setting, model_of, train_row
from mha_course.training.own_chance import with_own_chance
from mha_course.training.record import TESTING_SEED, TRAINING_SEED, held_out
from mha_course.training.train_digits import DigitSetting, digit_model_of, train_digits
from mha_course.training.train_gloss import Recipe, training_data


def draws(count: int) -> Iterator[float]:
    for _ in range(count):
        yield float(torch.rand(()))


def disturbed(steps: Iterator[object]) -> list[object]:
    """All steps, with draws from the global generator in between."""
    found = []
    for step in steps:
        torch.rand(3)
        found.append(step)
    return found


def test_a_training_draws_the_same_whatever_others_draw() -> None:
    own = list(with_own_chance(draws(5), 7))
    assert disturbed(with_own_chance(draws(5), 7)) == own
    with torch.random.fork_rng():
        torch.manual_seed(7)
        assert list(draws(5)) == own
    assert list(with_own_chance(draws(5), 8)) != own


def test_others_find_the_global_generator_as_they_left_it() -> None:
    def failing() -> Iterator[float]:
        yield from draws(2)
        raise RuntimeError("stopped")

    with torch.random.fork_rng():
        torch.manual_seed(3)
        expected = torch.rand(4)
        torch.manual_seed(3)
        steps = with_own_chance(failing(), 5)
        found = [torch.rand(())]
        next(steps)
        found.append(torch.rand(()))
        next(steps)
        found.append(torch.rand(()))
        with pytest.raises(RuntimeError, match="stopped"):
            next(steps)
        found.append(torch.rand(()))
        # Single draws and a draw of four agree in torch's generator for the processor.
        assert torch.equal(torch.stack(found), expected)


def test_rows_with_dropout_are_trained_alike_from_the_same_seed() -> None:
    digits = DigitSetting(d_model=16, n_layers=1, d_ff=24, dropout=0.3, pictures=60, steps=4, batch=7)
    first, second = (
        disturbed(train_digits(digit_model_of(Row("mixture", 8), digits, 6), digits, 6)) for _ in range(2)
    )
    assert first == second
    small = Setting(16, 1, 24, 0.3, Recipe(steps=4, warm_up=2, sentences=50, tokens=90), look=2)
    words = model_of(Row("talking", 8), small, 2).vocabulary
    data = training_data(small.recipe, words, TRAINING_SEED)
    tested = gloss_data(held_out(20, TESTING_SEED), words)
    first, second = (
        disturbed(train_row(model_of(Row("talking", 8), small, 2), small, 2, data, tested)) for _ in range(2)
    )
    assert [(step.loss, held) for step, held in first] == [(step.loss, held) for step, held in second]
