"""What the solution shows passes, and what is narrower than asked for passes with a remark."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from mha_course.exercises import check
from mha_course.exercises.registry import EXERCISES
from mha_course.exercises.shown.solution_source import runnable_source
from tests.exercises.written.attention import batch_only, without_a_shift
from tests.exercises.written.permutation_p import as_float
from tests.exercises.written.split_heads import loop_split


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


@pytest.mark.parametrize("name", EXERCISES)
def test_what_the_solution_shows_passes(name: str) -> None:
    names: dict[str, object] = {}
    # Nothing of the course's and no import of the notebook's: as it is shown, it runs.
    exec(compile(runnable_source(EXERCISES[name]), "cell", "exec"), names)
    verdict = check(name, names[name])
    assert verdict.passed, verdict
    assert verdict.remarks == ()


def test_what_is_narrower_than_asked_for_passes_with_a_remark() -> None:
    assert "torch.float32" in " ".join(check("split_heads", loop_split).remarks)
    assert "without a batch axis" in " ".join(check("attention", batch_only).remarks)
    assert "for large scores it gives NaN" in " ".join(check("attention", without_a_shift).remarks)
    each = check("softmax_rows", lambda s: torch.stack([F.softmax(r.flatten(), 0).view_as(r) for r in s]))
    assert each.passed and "for a batch it gives something else" in " ".join(each.remarks)


def test_one_number_may_be_a_python_float_without_a_remark() -> None:
    verdict = check(
        "permutation_p", lambda distances, layers, orders: float(as_float(distances, layers, orders))
    )
    assert verdict.passed and verdict.remarks == ()


def test_a_wrong_result_that_looks_right_does_not_pass_even_where_nothing_is_asked_for() -> None:
    verdict = check("softmax_rows", lambda s: s.softmax(1))
    assert not verdict.passed and "wrong for a batch" in verdict.message
