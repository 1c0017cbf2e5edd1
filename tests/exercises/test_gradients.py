"""The way back: NaN gradients fail empty_rows, cut ones are worth a remark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from mha_course.exercises import check
from tests.exercises.written.empty_rows import INF, mixed, nothing, safe, scores


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


def added(q, k, v, mask, *, repair):
    return mixed(repair((scores(q, k) + torch.where(mask, 0.0, -INF)).softmax(-1), mask), v)


def filled(q, k, v, mask, *, repair):
    return mixed(repair(scores(q, k).masked_fill(~mask, -INF).softmax(-1), mask), v)


REPAIRS: list[Callable] = [
    lambda w, mask: w.nan_to_num(0.0),
    lambda w, mask: torch.where(w.isnan(), 0.0, w),
    lambda w, mask: w.masked_fill(nothing(mask), 0.0),
    lambda w, mask: torch.where(mask.any(-1, keepdim=True), w, torch.zeros(())),
]


@pytest.mark.parametrize("repair", REPAIRS)
def test_nan_that_is_hidden_afterwards_shows_on_the_way_back(repair: Callable) -> None:
    verdict = check("empty_rows", lambda q, k, v, mask: added(q, k, v, mask, repair=repair))
    assert (verdict.passed, verdict.diagnosis) == (False, "nan-gradients")
    assert "gradients of `q` and `k` are NaN" in verdict.says and "48 of 120 entries" in verdict.witness
    assert check("empty_rows", lambda q, k, v, mask: filled(q, k, v, mask, repair=repair)).passed


def test_values_that_meet_nan_get_nan_back() -> None:
    def late(q, k, v, mask):
        out, weights = mixed(scores(q, k).masked_fill(~mask, -INF).softmax(-1), v)
        return out.nan_to_num(0.0), weights.nan_to_num(0.0)

    verdict = check("empty_rows", late)
    assert verdict.diagnosis == "nan-gradients-of-values" and "gradients of `v`" in verdict.says


@pytest.mark.parametrize(
    ("fn", "which"),
    [
        (lambda q, k, v, mask: [t.detach() for t in safe(q, k, v, mask)], "the inputs"),
        (lambda q, k, v, mask: mixed(safe(q, k, v, mask)[1].detach(), v), "`q` and `k`"),
    ],
)
def test_gradients_that_are_asked_for_may_not_be_cut(fn: Callable, which: str) -> None:
    verdict = check("empty_rows", fn)
    assert verdict.diagnosis == "no-gradients" and f"no gradient reaches {which}" in verdict.says


def test_elsewhere_a_cut_is_worth_a_remark() -> None:
    verdict = check("scaled_scores", lambda q, k: scores(q, k).detach())
    assert verdict.passed and "no gradient reaches the inputs" in " ".join(verdict.remarks)


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda q, k, v, mask: safe(q, torch.from_numpy(k.numpy()), v, mask), "it stops with `RuntimeError"),
        (
            lambda q, k, v, mask: safe(q, torch.from_numpy(np.array(k)), v, mask),
            "it stops with `RuntimeError",
        ),
    ],
)
def test_a_way_back_that_stops_is_worth_a_remark(fn: Callable, words: str) -> None:
    verdict = check("empty_rows", fn)
    assert verdict.passed and words in " ".join(verdict.remarks)
    assert not any("gradient" in remark for remark in check("empty_rows", safe).remarks)


def test_an_answer_may_stop_in_a_group_that_is_not_needed_and_not_be_wrong_there() -> None:
    def heads_only(q, k, v, mask):
        b, h, n_q, d_k = q.shape
        return safe(q, k, v, mask)

    def wrong_with_heads(q, k, v, mask):
        return safe(q, k if k.ndim == 3 else k.flip(1), v, mask)

    verdict = check("empty_rows", heads_only)
    assert verdict.passed and "without a head axis it stops" in " ".join(verdict.remarks)
    assert not check("empty_rows", wrong_with_heads).passed
