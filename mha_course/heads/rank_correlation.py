"""Whether two scores put heads into the same order, and how often chance alone would do as well."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.sizes import check_sizes

_PAIRS = 2_000_000  # of scores that are compared at once; more of them take more memory, not less time


@dataclass(frozen=True)
class RankCorrelation:
    """rho: 1 for the same order, -1 for the reverse one, near 0 for orders that have nothing to do with each
    other. low, high: the middle 95 % of rho when the things compared are drawn again, with replacement.
    p: the share of random orders whose rho is at least as far from 0. count: how many things were compared.
    """

    rho: float
    low: float
    high: float
    p: float
    count: int


def ranks(scores: Tensor) -> Tensor:
    """(..., n) -> (..., n): place of each score in its row from 1, the smallest first; equal scores share the
    mean place.

    Raises: ValueError for scores with nan, which has no place.
    """
    if bool(scores.isnan().any()):
        raise ValueError(
            f"{int(scores.isnan().sum())} of {scores.numel()} scores are nan, which has no rank."
        )
    below = (scores[..., None] > scores[..., None, :]).sum(-1)
    equal = (scores[..., None] == scores[..., None, :]).sum(-1)
    return below + (equal + 1) / 2


def spearman(a: Tensor, b: Tensor) -> float:
    """The correlation of the ranks of two scores (n,); nan where all scores of one are equal.

    Raises: ValueError for scores of different lengths, fewer than two, or with nan.
    Source: Spearman 1904.
    """
    a, b = torch.as_tensor(a, dtype=torch.float64), torch.as_tensor(b, dtype=torch.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise ValueError(
            f"two rows of equally many scores are needed; got {tuple(a.shape)}, {tuple(b.shape)}."
        )
    return float(_correlation(ranks(a), ranks(b)))


def rank_correlation(a: Tensor, b: Tensor, draws: int = 2_000, seed: int = 0) -> RankCorrelation:
    """`spearman` with an interval (bootstrap; Efron 1979) and a permutation test (Fisher 1935).

    draws: of each kind. Where all scores of one are equal there is no order: rho, low, high, p are nan.
    Raises: ValueError as `spearman`, and for no draws.
    """
    check_sizes(draws=draws)
    rho, n = spearman(a, b), len(a)
    if math.isnan(rho):
        return RankCorrelation(math.nan, math.nan, math.nan, math.nan, n)
    a, b = torch.as_tensor(a, dtype=torch.float64), torch.as_tensor(b, dtype=torch.float64)
    g = torch.Generator().manual_seed(seed)
    again = torch.randint(n, (draws, n), generator=g)
    rows = max(1, _PAIRS // n**2)
    drawn = torch.cat([_correlation(ranks(a[few]), ranks(b[few])) for few in again.split(rows)]).float()
    low, high = drawn.nanquantile(torch.tensor([0.025, 0.975])).tolist()
    orders = torch.rand(draws, n, generator=g).argsort(1)
    shuffled = _correlation(ranks(a).expand(draws, n), ranks(b)[orders])
    # The order that was found is one of all orders: so p is never 0.
    as_far = int((shuffled.abs() >= abs(rho) - 1e-9).sum())
    return RankCorrelation(rho, low, high, (as_far + 1) / (draws + 1), n)


def _correlation(a: Tensor, b: Tensor) -> Tensor:
    a, b = a - a.mean(-1, keepdim=True), b - b.mean(-1, keepdim=True)
    return (a * b).sum(-1) / (a.square().sum(-1) * b.square().sum(-1)).sqrt()
