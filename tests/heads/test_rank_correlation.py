"""Ranks, their correlation, its interval and the permutation test."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
import torch

from mha_course.heads.rank_correlation import rank_correlation, ranks, spearman


def test_equal_scores_share_the_mean_place() -> None:
    assert ranks(torch.tensor([3.0, 1.0, 3.0, 7.0, 3.0])).tolist() == [3, 1, 3, 5, 3]


def test_the_correlation_by_the_formula_without_ties() -> None:
    a, b = torch.tensor([5.0, 1.0, 4.0, 2.0, 9.0, 3.0]), torch.tensor([0.2, 0.1, 0.6, 0.3, 0.5, 0.4])
    squares = float((ranks(a) - ranks(b)).square().sum())
    assert spearman(a, b) == pytest.approx(1 - 6 * squares / (6 * 35))
    assert spearman(a, a.exp()) == pytest.approx(1)
    assert spearman(a, -(a**3)) == pytest.approx(-1)
    assert math.isnan(spearman(a, torch.full((6,), 2.0)))
    with pytest.raises(ValueError, match=r"\(6,\), \(5,\)"):
        spearman(a, b[:5])


def test_chance_is_counted_as_all_orders_would_have_it() -> None:
    a, b = torch.arange(5.0), torch.tensor([0.0, 1.0, 2.0, 4.0, 3.0])
    found = rank_correlation(a, b, draws=4_000)
    rhos = [spearman(a, torch.tensor([float(b[i]) for i in order])) for order in permutations(range(5))]
    exact = sum(abs(rho) >= found.rho - 1e-9 for rho in rhos) / len(rhos)
    assert found.rho == pytest.approx(0.9) and found.count == 5
    assert found.p == pytest.approx(exact, abs=0.02)


def test_the_interval_is_wide_for_few_and_narrow_for_many() -> None:
    g = torch.Generator().manual_seed(3)
    a = torch.randn(120, generator=g)
    b = a + torch.randn(120, generator=g)
    few, many = (rank_correlation(a[:n], b[:n], draws=300) for n in (9, 120))
    for one in (few, many):
        assert -1 <= one.low < one.rho < one.high <= 1
    assert many.high - many.low < 0.5 * (few.high - few.low)
    assert many.p < 0.01
    assert rank_correlation(a, b, draws=300) == many


def test_scores_without_an_order() -> None:
    scores = torch.tensor([3.0, 1.0, 2.0, 5.0])
    found = rank_correlation(scores, torch.full((4,), 7.0), draws=50)
    assert all(math.isnan(one) for one in (found.rho, found.low, found.high, found.p)) and found.count == 4
    for wrong in (torch.tensor([1.0, math.nan, 2.0, math.nan]), [math.nan, 1.0, 2.0, math.nan]):
        for a, b in ((scores, wrong), (wrong, scores)):
            with pytest.raises(ValueError, match="2 of 4 scores are nan"):
                rank_correlation(a, b, draws=50)
    with pytest.raises(ValueError, match="draws=0"):
        rank_correlation(scores, scores, draws=0)
