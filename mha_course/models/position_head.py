"""A head that looks at one position, set by hand: its matrices, and how surely it finds its target.

The input is the sinusoidal encoding, x_p = PE(p). The query is turned by the offset, q_p = β √d_k R(k) PE(p),
the key is kept as it is, so that the score is

    S[p, s] = q_p · k_s / √d_k = β κ(p + k − s)        κ(m) = sum over frequencies of cos(w_j m)

κ is largest at 0, so the weight goes to s = p + k. (Rotation: Vaswani et al. 2017, section 3.5.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import torch
from torch import Tensor

from mha_course.attention import masked_softmax, scaled_scores
from mha_course.models.hand_set import offset_head
from mha_course.positions import position_kernel, sinusoidal_encoding
from mha_course.sizes import check_sizes, is_whole_number

SHARE = 0.99  # of a row's weight, for which `enough_beta` asks


@dataclass(frozen=True)
class PositionFacts:
    """What a head set by hand does on positions 0 .. n - 1.

    weights: (n, n) float64. kernel: (n,) float64, κ at the distances 0 .. n - 1. gap: κ(0) minus the largest
    κ at another distance. rival: that distance. least: the smallest weight on a target, over the queries
    whose target is among the positions, and queries: how many these are. confidence: the mean over all
    queries of the largest weight (Voita et al. 2019). enough: a β from which every target has 0.99.
    """

    weights: Tensor
    kernel: Tensor
    gap: float
    rival: int
    least: float
    queries: int
    confidence: float
    enough: float


def position_head(
    offset: int = -1, beta: float = 16.0, d_model: int = 16, pairs: int | None = None
) -> tuple[Tensor, Tensor]:
    """W_Q and W_K of a head that attends from position p to p + offset, for x = PE of width d_model.

    beta: the sharpness. pairs: how many frequencies are compared, the fastest first; None takes all
    d_model / 2. For row vectors: q = x W_Q, k = x W_K, scores = q kᵀ / √d_k with d_k = 2 · pairs.
    Returns: W_Q and W_K, each (d_model, d_k) float64.
    Raises: ValueError for an offset that is no whole number, a beta that is not finite or negative, an odd
    d_model, or pairs outside 1 .. d_model / 2.
    Source: own derivation from Vaswani et al. 2017, section 3.5.
    """
    if not is_whole_number(offset):
        raise ValueError(f"offset={offset!r} must be a whole number of positions.")
    if not isinstance(beta, Real) or not math.isfinite(beta) or beta < 0:
        raise ValueError(f"beta={beta!r}: the sharpness is a finite number that is not negative.")
    check_sizes(2, d_model=d_model)
    pairs = d_model // 2 if pairs is None else pairs
    check_sizes(1, pairs=pairs)
    if pairs > d_model // 2:
        raise ValueError(f"pairs={pairs}: d_model={d_model} has {d_model // 2} frequencies.")
    return offset_head(int(offset), d_model, range(pairs), beta, 2 * pairs)


def position_scores(
    n: int, offset: int = -1, beta: float = 16.0, d_model: int = 16, pairs: int | None = None
) -> Tensor:
    """Scores of that head on positions 0 .. n - 1, already divided by √d_k. Returns: (n, n) float64.

    Raises: ValueError as `position_head`, and for n below 1.
    """
    check_sizes(1, n=n)
    w_q, w_k = position_head(offset, beta, d_model, pairs)
    x = sinusoidal_encoding(n, d_model, dtype=torch.float64)
    return scaled_scores(x @ w_q, x @ w_k)


def position_facts(
    n: int, offset: int = -1, beta: float = 16.0, d_model: int = 16, pairs: int | None = None
) -> PositionFacts:
    """Weights of that head on positions 0 .. n - 1, and how surely it finds its target.

    Raises: ValueError as `position_head`, for n below 2, and for an offset that leaves no query a target.
    """
    check_sizes(2, n=n)
    scores = position_scores(n, offset, beta, d_model, pairs)
    if abs(offset) >= n:
        raise ValueError(f"offset={offset}: of n={n} positions none has a target so far away.")
    weights = masked_softmax(scores)
    kernel = position_kernel(torch.arange(n), d_model, pairs)
    rival = 1 + int(kernel[1:].argmax())
    queries = torch.arange(max(0, -offset), n - max(0, offset))
    gap = float(kernel[0] - kernel[rival])
    return PositionFacts(
        weights,
        kernel,
        gap,
        rival,
        float(weights[queries, queries + offset].min()),
        len(queries),
        float(weights.amax(-1).mean()),
        enough_beta(gap, n),
    )


def enough_beta(gap: float, n: int, share: float = SHARE) -> float:
    """A sharpness from which every target has at least `share` of its row's weight; infinite for no gap.

    The n - 1 rivals of a target each lie at least beta · gap below it, so they have at most
    (n - 1) e^(-beta · gap) times its weight. Where some lie lower still, less would do.
    """
    return math.log((n - 1) * share / (1 - share)) / gap if gap > 0 else math.inf
