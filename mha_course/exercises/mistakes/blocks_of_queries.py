"""Attention in blocks of queries with every step exchangeable: what the known mistakes are built on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.mistakes.workbench import merge, split

Step = Callable[..., Any]
Span = tuple[int, int]


def spans(n: int, rows: int) -> list[Span]:
    """Where each block of queries starts and ends; the last one may be shorter."""
    return [(start, min(start + rows, n)) for start in range(0, n, rows)]


def weights_of_rows(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the allowed keys; 0 in rows that have none."""
    return scores.masked_fill(~mask, -1e9).softmax(-1) * mask.any(-1, keepdim=True)


def _own_rows(allowed: Tensor, start: int, end: int, rows: int) -> Tensor:
    return allowed[:, :, start:end]


def frugal_with(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    h: int,
    allowed: Tensor,
    rows: int,
    *,
    blocks: Step = spans,
    queries: Step = lambda q, start, end, rows: q[:, :, start:end],
    keys: Step = lambda k, start, end: k,
    mask: Step = _own_rows,
    divisor: Step = lambda d_k, rows: math.sqrt(d_k),
    weigh: Step = weights_of_rows,
    join: Step = lambda parts, n: torch.cat(parts, 2),
) -> Tensor:
    """The layer, block by block of its queries, with the steps given; without any it is right."""
    q, k, v = (split(x @ w, h) for w in (w_q, w_k, w_v))
    parts = []
    for start, end in blocks(x.shape[1], rows):
        mine = queries(q, start, end, rows)
        scores = mine @ keys(k, start, end).transpose(-2, -1) / divisor(q.shape[-1], rows)
        parts.append(weigh(scores, mask(allowed, start, end, rows)) @ keys(v, start, end))
    return merge(join(parts, x.shape[1])) @ w_o
