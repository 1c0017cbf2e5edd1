"""Which query, behind which row of the mask, each row of a wrong result belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.workbench import merge, split
from mha_course.exercises.outcome import Outcome

_LOOK = "where a block starts and ends, in the queries, in `allowed` and in the result."


def read_block_rows(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """Rows of other queries, or behind the mask of other queries; what is told is the first of them."""
    want, got = evidence.expected[i].leaves[0], evidence.got[i].leaves
    if len(got) != 1 or got[0].shape != want.shape or not got[0].is_floating_point():
        return None
    have, made = got[0], _made(evidence.cases[i].arguments)
    places = {}
    for s, t in (~_same(want, have)).nonzero().tolist():
        if s == 0:
            places[t] = _place(made, have[0, t])
    if not places:
        return None
    found = {t: place for t, place in places.items() if place is not None}
    if not found:
        held = have[0, list(places)]
        if bool(held.any()):
            return None
        says = f"Rows {_listed(list(places))} are 0 and were never filled; the others are right."
        return Finding("rows-never-filled", says, look=_LOOK)
    t, (query, row) = next(iter(found.items()))
    what = f"query {query}"
    if row != query:
        what += f", masked with row {row} of `allowed`"
    rest = (
        ""
        if len(found) < len(places)
        else " In all rows that are wrong it is so, with other queries or rows."
    )
    says = f"Row {t} of the result holds what belongs to {what}.{rest if len(places) > 1 else ''}"
    return Finding("rows-of-other-queries", says, look=_LOOK)


def _made(arguments: tuple[Any, ...]) -> Tensor:
    """Of the first sentence, each query behind each row of the mask: (query, row, d_model)."""
    x, w_q, w_k, w_v, w_o, h, allowed = arguments[:7]
    q, k, v = (split(x[:1] @ w, h) for w in (w_q, w_k, w_v))
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    rows = allowed[0, 0]
    heads = [(scores.masked_fill(~row, -1e9).softmax(-1) * row) @ v for row in rows]
    return torch.stack([merge(z)[0] @ w_o for z in heads], 1)


def _place(made: Tensor, row: Tensor) -> tuple[int, int] | None:
    """The query and the row of the mask that give this result, or None; for 0 there are too many."""
    if not bool(row.any()):
        return None
    fits = torch.isclose(made, row, rtol=2e-4, atol=2e-5).all(-1).nonzero().tolist()
    own = [(query, at) for query, at in fits if query == at]
    return own[0] if own else tuple(fits[0]) if fits else None


def _same(want: Tensor, have: Tensor) -> Tensor:
    return torch.isclose(want, have, rtol=2e-4, atol=2e-5, equal_nan=True).all(-1)


def _listed(rows: list[int]) -> str:
    return ", ".join(map(str, rows))
