"""What wrong shares of hits count: another offset, something added to the right ones, or one head of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close


def read_offsets(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """A reading of shares: right ones for another offset, or over other queries."""
    weights, offset = evidence.cases[i].arguments
    want, got = evidence.expected[i].leaves[0].double(), evidence.got[i].leaves
    if len(got) != 1 or got[0].shape != want.shape or not got[0].is_floating_point():
        return None
    have, n = got[0].double(), weights.shape[-1]
    if not bool(have.any()):
        return None
    for other in range(-n + 3, n - 2):  # with fewer queries shares are equal by chance
        if other != offset and close(_shares(weights, other), have):
            says = f"These are the shares for offset {other}; {offset} was asked for."
            return Finding("another-offset", says, look="how the target of a query is made of its position.")
    hit = want > 0
    ratio = have[hit] / want[hit]
    if len(ratio) and not bool(have[~hit].any()) and float(ratio.max() - ratio.min()) < 1e-4:
        live = n - abs(offset)
        over = live / float(ratio[0])
        if abs(over - round(over)) < 1e-3 and round(over) != live and 0 < over < 4 * n:
            says = f"The hits are divided by {round(over)}; {live} queries have such a position."
            return Finding("divided-by-another-number", says, look="what the hits are divided by.")
    return None


def _shares(weights: Tensor, offset: int) -> Tensor:
    target = torch.arange(weights.shape[-1]) + offset
    live = (target >= 0) & (target < weights.shape[-1])
    return (weights.argmax(-1) == target)[:, live].double().mean(-1)
