"""Answers that are on no list, and far from all that is: each gets a verdict that says more than "wrong"."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from benchmarks.check_speed import VAGUE
from mha_course.exercises import check
from tests.exercises.written.examined.strange_08 import STRANGE as IN_08
from tests.exercises.written.examined.strange_09 import STRANGE as IN_09
from tests.exercises.written.examined.strange_10 import STRANGE as IN_10
from tests.exercises.written.examined.strange_12 import STRANGE as IN_12
from tests.exercises.written.examined.strange_13 import STRANGE as IN_13
from tests.exercises.written.examined.strange_14 import STRANGE as IN_14
from tests.exercises.written.examined.strange_15 import STRANGE as IN_15
from tests.exercises.written.examined.strange_16 import STRANGE as IN_16

ALL = {**IN_08, **IN_09, **IN_10, **IN_12, **IN_13, **IN_14, **IN_15, **IN_16}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", ALL)
def test_strange_answers_are_told_something(name: str) -> None:
    for k, fn in enumerate(ALL[name]):
        verdict = check(name, fn)
        assert not verdict.passed, (name, k)
        assert not verdict.diagnosis.startswith(VAGUE), (name, k, verdict)
        assert verdict.says


def test_there_are_many() -> None:
    assert len(ALL) == 46
    assert sum(map(len, ALL.values())) >= 690
