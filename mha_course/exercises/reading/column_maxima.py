"""Confidences made of the largest weight of each column: the maximum over queries, however it goes on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close

_N = 5


@functools.cache
def _map() -> Tensor:
    """A map of two heads and one sentence without padding, in which no two numbers are alike."""
    g = torch.Generator().manual_seed(89)
    return (1.5 * torch.randn(1, 2, _N, _N, generator=g, dtype=torch.float64)).softmax(-1)


def read_column_maxima(
    evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]
) -> Finding | None:
    """Whether the maximum goes over queries, whatever is hidden before it and averaged after it."""
    weights = _map()
    out = call((weights.clone(), torch.tensor([_N])))
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].shape != weights.shape[1:2]:
        return None
    have = out.leaves[0].double()
    if not any(close(have, ways) for ways in _columns(weights)):
        return None
    says = (
        "This takes the largest weight of each column: the maximum goes over the queries, and says how much "
        "a token gets from the one that looks at it most. A head is sure where one weight of a row is large."
    )
    return Finding("largest-over-queries", says, look="the axis of the maximum: -2 are queries, -1 keys.")


def _columns(weights: Tensor) -> Iterator[Tensor]:
    """Means of the columns' largest weights, the end token a query, a column and counted, or not."""
    for queries in (_N, _N - 1):
        largest = weights[0, :, :queries].amax(-2)
        for columns in (_N, _N - 1):
            for count in (_N, _N - 1, 1):
                yield largest[:, :columns].sum(-1) / count
