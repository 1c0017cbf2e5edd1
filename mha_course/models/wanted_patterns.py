"""Patterns of attention that one could want from a head, and the width of queries and keys that each needs.

Source: Bhojanapalli et al. 2020 (a pattern is reached by scores that are its logarithm, rows shifted freely).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.models.pattern_fit import soft_identity
from mha_course.sizes import check_number, check_sizes


@dataclass(frozen=True)
class WantedPattern:
    """A pattern by name. words: what a query wants; make(n): the weights (n, n), all above 0, float64."""

    name: str
    words: str
    make: Callable[[int], Tensor]


def bell(n: int, width: float = 2.0) -> Tensor:
    """Weights that fall with the distance like a bell: softmax of -(i - j)^2 / (2 width^2), (n, n) float64.

    (i - j)^2 = i^2 - 2 i j + j^2, and i^2 is the same along a row, so a width of 2 features is enough.
    Raises: ValueError for n below 1 and a width that is not a finite number above 0.
    """
    check_sizes(n=n)
    check_number(above=0, width=width)
    places = torch.arange(n, dtype=torch.float64)
    return (-((places[:, None] - places) ** 2) / (2 * width**2)).softmax(-1)


def neighbours(n: int, sharpness: float = 3.0) -> Tensor:
    """Weights on the token before and the one after: softmax of sharpness at a distance of 1, (n, n) float64.

    Raises: ValueError for n below 1 and a sharpness that is not a finite number.
    """
    check_sizes(n=n)
    check_number(sharpness=sharpness)
    places = torch.arange(n)
    return (sharpness * ((places[:, None] - places).abs() == 1).double()).softmax(-1)


def two_words(n: int, sharpness: float = 2.5) -> Tensor:
    """Every query wants the same two keys, the first and the middle one, and a little of the others, (n, n).

    Raises: ValueError for n below 1 and a sharpness that is not a finite number."""
    check_sizes(n=n)
    check_number(sharpness=sharpness)
    wanted = torch.zeros(n, dtype=torch.float64)
    wanted[[0, n // 2]] = sharpness
    return wanted.softmax(-1).repeat(n, 1)


def random_pattern(n: int, size: float = 1.5, seed: int = 0) -> Tensor:
    """Softmax of independent normal scores of standard deviation `size`, (n, n) float64.

    Raises: ValueError for n below 1, and a size that is not a finite number of at least 0.
    """
    check_sizes(n=n)
    check_number(0, size=size)
    g = torch.Generator().manual_seed(seed)
    return (size * torch.randn(n, n, generator=g, dtype=torch.float64)).softmax(-1)


PATTERNS = (
    WantedPattern("soft identity", "mostly itself, a little of all others", soft_identity),
    WantedPattern("sharp identity", "itself and nearly nothing else", lambda n: soft_identity(n, 12.0)),
    WantedPattern("neighbours", "the token before and the one after", neighbours),
    WantedPattern("bell", "what is near, falling off evenly", bell),
    WantedPattern("two words", "the same two words for every query", two_words),
    WantedPattern("random", "something else in every row", random_pattern),
)


def wanted_pattern(name: str) -> WantedPattern:
    """The pattern of this name. Raises: ValueError that lists the names."""
    for each in PATTERNS:
        if each.name == name:
            return each
    raise ValueError(f"{name!r} is no pattern; there are {', '.join(each.name for each in PATTERNS)}.")


def free_scores(weights: Tensor) -> Tensor:
    """Scores whose softmax are the weights (..., n_q, n_k): their logarithm, less the mean of each row.

    Raises: ValueError for weights of 0 or less."""
    if not (weights > 0).all():
        raise ValueError("weights must all be above 0: the logarithm of 0 is no score.")
    return centred(weights.double().log())


def centred(scores: Tensor) -> Tensor:
    """Scores (..., n_q, n_k) less the mean of each row, which no softmax sees: of all with these weights the
    ones of least rank, as every other choice has the same differences within its rows."""
    return scores - scores.mean(-1, keepdim=True)


def singular_values(matrix: Tensor) -> Tensor:
    """Singular values of (..., rows, columns), largest first, in float64."""
    return torch.linalg.svdvals(matrix.double())


def numerical_rank(matrix: Tensor, tolerance: float = 1e-7) -> int:
    """How many singular values of a matrix are larger than the tolerance times the largest; 0 for zeros."""
    values = singular_values(matrix)
    return int((values > tolerance * values[0].clamp_min(1e-300)).sum())


def width_needed(weights: Tensor) -> int:
    """The least d_k with which a head can have exactly these weights (n_q, n_k), with free queries and keys.

    Raises: ValueError for weights of 0 or less. Source: Bhojanapalli et al. 2020, theorem 1 and its proof.
    """
    scores = free_scores(weights)
    # All rows uniform: rounding is all that is left of their logarithms.
    return numerical_rank(scores) if scores.abs().max() > 1e-9 else 0
