"""What softmax does to one row of scores: weights, spread and gradient, computed with torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

__all__ = ["SoftmaxNumbers", "softmax_numbers"]


@dataclass(frozen=True)
class SoftmaxNumbers:
    """One row after softmax: weights, the largest, entropy / log n, Frobenius norm of the Jacobian."""

    weights: tuple[float, ...]
    largest: float
    spread: float
    gradient: float


def softmax_numbers(scores: Sequence[float], factor: float = 1.0) -> SoftmaxNumbers:
    """Return the weights softmax(factor · scores) of one row and what they look like, in float64.

    spread is entropy / log n: 1 for an even row, 0 for a one-hot one (and, by convention, for a single
    score). gradient is the Frobenius norm of diag(a) - a aᵀ, the derivative of the weights a by the scaled
    scores.
    Raises: ValueError for an empty row or numbers that are not finite.
    Source: Vaswani et al. 2017, section 3.2.1 (why the products are scaled before softmax).
    """
    if not scores or not all(math.isfinite(score) for score in scores) or not math.isfinite(factor):
        raise ValueError("scores is a non-empty row of finite numbers, and the factor is finite too")
    a = torch.softmax(factor * torch.tensor(list(scores), dtype=torch.float64), dim=0)
    entropy = float(-(a * a.clamp_min(1e-300).log()).sum())
    jacobian = torch.diag(a) - torch.outer(a, a)
    spread = entropy / math.log(len(a)) if len(a) > 1 else 0.0
    return SoftmaxNumbers(tuple(a.tolist()), float(a.max()), max(0.0, spread), float(jacobian.norm()))
