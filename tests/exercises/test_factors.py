"""Wrong factors are named from the sizes of several cases, and read from weights and outputs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mha_course.exercises import check
from mha_course.exercises.reading.factors import named_factor, scale_of, softmax_scale

SIZES = [
    {"d_k": 4, "n_k": 7, "n_q": 5, "b": 3},
    {"d_k": 10, "n_k": 6, "n_q": 8, "b": 2},
    {"d_k": 13, "n_k": 11, "n_q": 9, "b": 5},
]
Factor = Callable[[dict[str, int]], float]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (lambda s: s["d_k"] ** -0.5, "divided by the root of d_k"),
        (lambda s: 1 / s["d_k"], "divided by d_k"),
        (lambda s: s["d_k"] ** 0.5, "multiplied by the root of d_k"),
        (lambda s: s["n_k"] ** -0.25, "divided by the fourth root of n_k"),
        (lambda s: 1 / s["n_q"], "divided by n_q"),
        (lambda s: 1.0, "not scaled at all"),
        (lambda s: 0.125, "divided by 8, whatever the sizes are"),
        (lambda s: 0.3, "multiplied by 0.3, whatever the sizes are"),
        (lambda s: -(s["d_k"] ** -0.5), "divided by the root of d_k, with a minus in front"),
        (lambda s: -1.0, "multiplied by -1, and not scaled otherwise"),
        (lambda s: 1 / math.sqrt(s["d_k"] * s["n_k"]), "divided by the root of d_k times n_k"),
        (
            lambda s: 1 / math.sqrt(s["d_k"] * s["n_q"] * s["b"]),
            "divided by the root of d_k times n_q times b",
        ),
        (lambda s: 2 / s["d_k"], "divided by half of d_k"),
        (lambda s: 1 / (s["d_k"] // 2), "divided by half of d_k, cut down to a whole number"),
        (lambda s: 0.5 / s["d_k"], "divided by d_k times 2"),
        (lambda s: 1 / (s["d_k"] + 1), "divided by (d_k + 1)"),
        (lambda s: 1 / math.sqrt(s["d_k"] - 1), "divided by the root of (d_k - 1)"),
        (lambda s: 1 / (math.sqrt(s["d_k"]) + 0.3), "divided by (the root of d_k + 0.3)"),
        (lambda s: 1 / math.sqrt(s["d_k"] + 0.5), "divided by the root of (d_k + 0.5)"),
        (lambda s: 1 / math.isqrt(s["d_k"]), "divided by the root of d_k, cut down to a whole number"),
        (lambda s: s["d_k"] ** -0.7, "divided by d_k to the power of 0.7"),
        (lambda s: 1 / math.log(s["d_k"]), "divided by the logarithm of d_k"),
    ],
)
def test_a_factor_is_named(factor: Factor, words: str) -> None:
    assert named_factor(SIZES, [factor(s) for s in SIZES]) == words


def test_what_fits_no_expression_gets_no_name() -> None:
    assert named_factor(SIZES, [0.31, 0.77, 0.123]) is None
    assert named_factor(SIZES, [0.5, -0.5, 0.5]) is None
    assert named_factor(SIZES, [math.nan, 1.0, 1.0]) is None
    assert named_factor([], []) is None


def test_a_factor_near_one_has_to_hold_more_closely_than_it_differs() -> None:
    want = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(0))
    assert scale_of(want, 1.001 * want) == pytest.approx(1.001, abs=1e-4)
    bent = want * (1 + 4e-4 * torch.arange(7))
    assert scale_of(want, bent) is None
    assert scale_of(want, want[..., :6]) is None


@pytest.mark.parametrize("scale", [0.1, 0.5, 2.0, -1.0, 7.0])
def test_the_scale_of_a_softmax_is_read_from_its_logarithms(scale: float) -> None:
    scores = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(1))
    assert softmax_scale(scores, (scale * scores).softmax(-1)) == pytest.approx(scale, rel=1e-3)
    hidden = scores.masked_fill(torch.arange(7) > 4, -math.inf)
    weights = (scale * scores).masked_fill(torch.arange(7) > 4, -math.inf).softmax(-1)
    assert softmax_scale(hidden, weights) == pytest.approx(scale, rel=1e-3)


def test_what_is_no_softmax_of_the_scores_has_no_scale() -> None:
    g = torch.Generator().manual_seed(2)
    scores = torch.randn(3, 5, 7, generator=g)
    assert softmax_scale(scores, torch.rand(3, 5, 7, generator=g)) is None
    assert softmax_scale(scores, torch.full((3, 5, 7), 1 / 7)) is None
    assert softmax_scale(scores, scores.relu().softmax(-1)) is None
    assert softmax_scale(scores, scores) is None


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (lambda d_k, n, h: 1 / 8, "divided by 8, whatever the sizes are"),
        (lambda d_k, n, h: d_k**-0.25, "fourth root of d_k"),
        (lambda d_k, n, h: 0.5 * d_k**-0.5, "root of d_k times 2"),
        (lambda d_k, n, h: h**-0.5, "root of h|root of the number of heads"),
    ],
)
def test_a_factor_is_found_by_trying_where_only_the_output_shows(
    factor: Callable[[int, int, int], float], words: str
) -> None:
    def heads(x, w_q, w_k, w_v, h):
        b, n, d = x.shape
        q, k, v = ((x @ w).view(b, n, h, d // h).transpose(1, 2) for w in (w_q, w_k, w_v))
        weights = (q @ k.mT * factor(d // h, n, h)).softmax(-1)
        return (weights @ v).transpose(1, 2).reshape(b, n, d)

    verdict = check("batched_heads", heads)
    assert not verdict.passed
    assert re.search(words, verdict.message), verdict
