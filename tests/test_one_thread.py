"""The number of torch's threads inside and after `one_thread`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from mha_course.models import split_trial, two_targets
from mha_course.models.one_thread import one_thread
from mha_course.models.split_trial import train_reader
from mha_course.models.two_targets import train_neighbours


@pytest.fixture(autouse=True)
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_one_inside_and_the_old_number_after() -> None:
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3


def test_the_old_number_comes_back_after_an_error() -> None:
    with pytest.raises(KeyError), one_thread():
        raise KeyError("stop")
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize(
    "train", [lambda: train_reader("right", "copy", steps=2), lambda: train_neighbours(h=2, steps=2)]
)
def test_small_trainings_use_one_thread(train, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    step = torch.optim.Adam.step
    monkeypatch.setattr(
        torch.optim.Adam, "step", lambda self: seen.append(torch.get_num_threads()) or step(self)
    )
    split_trial._train.forget()
    two_targets._train.forget()
    train()
    assert seen == [1, 1]
    assert torch.get_num_threads() == 3
