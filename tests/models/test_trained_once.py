"""A training is done once for equal arguments, and each caller gets a result of its own."""

from __future__ import annotations

import pytest
import torch

from mha_course.models import beyond_length, depth_trial, split_trial, two_targets
from mha_course.models.trained_once import trained_once


def test_equal_calls_train_once_and_others_again() -> None:
    seen: list[tuple[int, int]] = []

    @trained_once
    def train(steps: int, seed: int = 0) -> list[torch.Tensor]:
        seen.append((steps, seed))
        return [torch.full((3,), float(steps + seed))]

    first, second = train(5), train(5)
    assert seen == [(5, 0)]
    first[0][1] = -1  # what a student does with one result
    assert second[0].tolist() == train(5)[0].tolist() == [5, 5, 5]
    assert train(5, seed=2)[0][0] == 7 and len(seen) == 2
    train.forget()
    train(5)
    assert seen == [(5, 0), (5, 2), (5, 0)]


def test_what_fails_is_tried_again() -> None:
    tries: list[int] = []

    @trained_once
    def train(seed: int) -> int:
        tries.append(seed)
        if len(tries) == 1:
            raise ValueError("not this time")
        return seed

    with pytest.raises(ValueError, match="not this time"):
        train(4)
    assert train(4) == 4 and tries == [4, 4]


@pytest.mark.parametrize(
    ("train", "of"),
    [
        (lambda: depth_trial.train_stack("post-norm", layers=1, steps=3, b=4), depth_trial),
        (lambda: split_trial.train_reader("right", "first", steps=2), split_trial),
        (lambda: beyond_length.train_on_short("rotary", steps=2), beyond_length),
        (lambda: two_targets.train_neighbours(h=4, steps=2), two_targets),
    ],
    ids=["depth", "split", "length", "two targets"],
)
def test_the_trials_of_the_lessons_remember_and_train_alike(train, of) -> None:
    first, remembered = train(), train()
    assert remembered is not first
    of._train.forget()
    anew = train()
    assert first.losses == remembered.losses == anew.losses
    anew.losses.clear()
    assert train().losses == first.losses
