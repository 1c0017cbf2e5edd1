"""What wrong scores for an offset count: lesson 08's ways, and what is done with special pieces."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_offset_score import (
    OFFSET_SCORE_MISTAKES,
    Taken,
    cut,
    offset_score_with,
)
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.offset_shares import OFFSET_SHARES
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare


def _rows_cut(weights: Tensor, special: Tensor) -> Taken:
    every = torch.ones_like(special)
    return weights, ~special, every


def _columns_cut(weights: Tensor, special: Tensor) -> Taken:
    every = torch.ones_like(special)
    return weights.masked_fill(special, -1.0), every, ~special


def _targets_cut(weights: Tensor, special: Tensor) -> Taken:
    every = torch.ones_like(special)
    return weights, every, ~special


def _first_cut(weights: Tensor, special: Tensor) -> Taken:
    return cut(weights, torch.arange(len(special)) == 0)


def _ends_cut(weights: Tensor, special: Tensor) -> Taken:
    ends = torch.zeros_like(special)
    ends[[0, -1]] = True
    return cut(weights, ends)


_TAKES = (
    *ways_of(OFFSET_SCORE_MISTAKES, "take"),
    Way(
        "The rows of special pieces are left out; a row may still look at one, and count for one.", _rows_cut
    ),
    Way("The columns of special pieces are left out; their rows are still counted.", _columns_cut),
    rare("Rows beside special pieces are left out; the special pieces stay.", _targets_cut),
    rare("Only the first piece is taken out, whatever `special` says.", _first_cut),
    rare("The first and the last piece are taken out, whatever `special` says.", _ends_cut),
)


_LIVES = (
    rare("Rows at the left end are left out, whatever the sign is.", lambda t, n, q, o: q >= abs(o)),
    rare("Rows at the right end are left out, whatever the sign is.", lambda t, n, q, o: q < n - abs(o)),
    rare("Only rows whose target is the first place, or before it, are counted.", lambda t, n, q, o: t <= 0),
    rare("Only the row whose target is the first place is counted.", lambda t, n, q, o: t == 0),
)
_MAPS = (rare("Only a piece itself and what comes before it is looked at.", lambda w: w.tril()),)
_FINISHES = (
    rare(
        "The rows of special pieces are counted as misses.",
        lambda shares, counted, special: shares * counted.sum() / (counted.sum() + special.sum()),
    ),
    rare(
        "The hits are divided by all pieces, special ones too.",
        lambda shares, counted, special: shares * counted.sum() / len(special),
    ),
    rare(
        "The hits are divided by all pieces but one, special ones too.",
        lambda shares, counted, special: shares * counted.sum() / (len(special) - 1),
    ),
    rare(
        "The shares are multiplied by the share of pieces that are not special.",
        lambda shares, counted, special: shares * (~special).sum() / len(special),
    ),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, int, Tensor], ...]:
    """Maps with many hits at the offset, which is other than in the cases, and a sink in front."""
    g = torch.Generator().manual_seed(37)
    drawn = []
    for h, n, offset, last in ((3, 15, -4, 1), (5, 12, 3, 2), (2, 16, -1, 0), (4, 13, 1, 1)):
        special = torch.zeros(n, dtype=torch.bool)
        special[[0, *range(n - last, n)]] = True
        scores = torch.randn(h, n, n, generator=g)
        q = torch.arange(n)
        scores[:, q, (q + offset) % n] += 4 * torch.rand(h, n, generator=g)
        scores[:, :, 0] += 3 * torch.rand(h, n, generator=g)
        drawn.append((scores.softmax(-1), offset, special))
    return tuple(drawn)


OFFSET_SCORE = Recipe(
    offset_score_with,
    (
        Slot("take", "which rows and columns are taken out.", _TAKES),
        *OFFSET_SHARES.slots,
        Slot("live", "which rows are counted.", _LIVES),
        Slot("maps", "what is done with the maps first.", _MAPS),
        Slot("finish", "what the hits are divided by.", _FINISHES),
    ),
    _more,
)
