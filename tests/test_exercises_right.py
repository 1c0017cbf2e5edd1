"""Right answers pass, in whatever style they are written."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mha_course import progress
from mha_course.exercises import check
from mha_course.exercises.registry import EXERCISES
from tests.exercises.written.attention import batch_only, without_a_shift
from tests.exercises.written.split_heads import loop_split


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


RIGHT: dict[str, list[Callable]] = {
    "head_contributions": [
        lambda z, w: torch.einsum("bhnd,hdm->bhnm", z, w.view(z.shape[1], z.shape[3], -1)),
        lambda z, w: torch.stack([z[:, i] @ w.chunk(z.shape[1])[i] for i in range(z.shape[1])], dim=1),
        lambda z, w: z @ w.unflatten(0, (z.shape[1], -1)),
        lambda z, w: torch.stack(
            [z[:, i] @ w[i * z.shape[3] : (i + 1) * z.shape[3]] for i in range(z.shape[1])], 1
        ),
    ],
    "fold_value_bias": [
        lambda b_v, w_o, b_o: F.linear(b_v, w_o.T, b_o),
        lambda b_v, w_o, b_o: (b_v[:, None] * w_o).sum(0) + b_o,
        lambda b_v, w_o, b_o: torch.einsum("i,ij->j", b_v, w_o) + b_o,
        lambda b_v, w_o, b_o: torch.addmv(b_o, w_o.T, b_v),
        lambda b_v, w_o, b_o: (b_v[None] @ w_o + b_o)[0],
    ],
    "parameter_count": [
        lambda d, h, bias: 4 * d**2 + 4 * d * bias,
        lambda d, h, bias: 3 * h * d * (d // h) + d * d + (h * 3 * (d // h) + d if bias else 0),
        lambda d, h, bias: sum(p.numel() for p in nn.MultiheadAttention(d, h, bias=bias).parameters()),
        lambda d, h, bias: 4 * d * (d + int(bias)),
        lambda d, h, bias: np.int64(4 * d * d) + np.int64(4 * d if bias else 0),
    ],
    "flop_count": [
        lambda n, d, h: 8 * n * d**2 + 4 * n**2 * d,
        lambda n, d, h: 4 * n * d * (2 * d + n),
        lambda n, d, h: h * (3 * 2 * n * d * (d // h) + 2 * 2 * n * n * (d // h)) + 2 * n * d * d,
        lambda n, d, h: sum([2 * n * d * d] * 4 + [2 * n * (d // h) * n, 2 * n * n * (d // h)] * h),
    ],
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass_in_any_style(name: str) -> None:
    assert len(RIGHT[name]) >= 4
    for fn in RIGHT[name]:
        verdict = check(name, fn)
        assert verdict.passed and verdict.diagnosis is None, f"{fn}: {verdict}"
    assert name in progress.solved()


@pytest.mark.parametrize("name", EXERCISES)
def test_what_the_solution_shows_passes(name: str) -> None:
    names: dict[str, object] = {"math": math, "torch": torch, "Tensor": torch.Tensor}
    exec(compile("from __future__ import annotations\n" + EXERCISES[name].source(), "cell", "exec"), names)
    verdict = check(name, names[name])
    assert verdict.passed, verdict
    assert verdict.remarks == ()


def test_what_is_narrower_than_asked_for_passes_with_a_remark() -> None:
    assert "torch.float32" in " ".join(check("split_heads", loop_split).remarks)
    assert "without a batch axis" in " ".join(check("attention", batch_only).remarks)
    assert "for large scores it gives NaN" in " ".join(check("attention", without_a_shift).remarks)
    each = check("softmax_rows", lambda s: torch.stack([F.softmax(r.flatten(), 0).view_as(r) for r in s]))
    assert each.passed and "for a batch it gives something else" in " ".join(each.remarks)


def test_a_wrong_result_that_looks_right_does_not_pass_even_where_nothing_is_asked_for() -> None:
    verdict = check("softmax_rows", lambda s: s.softmax(1))
    assert not verdict.passed and "wrong for a batch" in verdict.message
