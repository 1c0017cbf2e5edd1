"""Known mistakes of `permutation_p`: which gap, what is relabeled, what is counted, of how many."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise
from mha_course.exercises.mistakes.workbench import once

Step = Callable[..., Any]


def _pairs(layers: Tensor) -> tuple[Tensor, Tensor]:
    """Whether two heads are of the same layer, the head itself left out; and whether of different ones."""
    same = layers[:, None] == layers
    return same & ~torch.eye(len(layers), dtype=torch.bool), ~same


def gap_of(distances: Tensor, layers: Tensor) -> Tensor:
    """Mean distance between layers minus that within them."""
    within, between = _pairs(layers)
    return distances[between].mean() - distances[within].mean()


def _gaps(gap: Step, relabeled: Step, distances: Tensor, layers: Tensor, orders: Tensor) -> Tensor:
    return torch.stack([gap(*relabeled(distances, layers, order)) for order in orders])


def p_with(
    distances: Tensor,
    layers: Tensor,
    orders: Tensor,
    *,
    gap: Step = gap_of,
    relabeled: Step = lambda d, layers, order: (d, layers[order]),
    real: Step = lambda gap, d, layers, gaps: gap(d, layers),
    count: Step = lambda gaps, real: gaps >= real,
    share: Step = lambda hits, d: hits.mean(),
) -> Tensor:
    """The share of relabelings that reach the real gap, with the steps given; right without any."""
    gaps = once(_gaps, gap, relabeled, distances, layers, orders)
    hits = count(gaps, real(gap, distances, layers, gaps)).to(distances.dtype)
    return share(hits, distances)


def _middle_gap(distances: Tensor, layers: Tensor) -> Tensor:
    within, between = _pairs(layers)
    return distances[between].median() - distances[within].median()


def _next_layer(distances: Tensor, layers: Tensor) -> Tensor:
    within, _ = _pairs(layers)
    return distances[(layers[:, None] - layers).abs() == 1].mean() - distances[within].mean()


_with = partial(Otherwise, p_with)

RELABELING_MISTAKES = (
    Mistake(
        "equals-left-out",
        _with(count=lambda gaps, real: gaps > real),
        "Relabelings with the same gap as the real one are not counted. At least the real one is asked for.",
        "`>` and `>=`.",
    ),
    Mistake(
        "other-end",
        _with(count=lambda gaps, real: gaps <= real),
        "Counted are gaps that are at most the real one: either `<=`, or within minus between.",
        "the order of the subtraction, and the comparison.",
    ),
    Mistake(
        "smaller-counted",
        _with(count=lambda gaps, real: gaps < real),
        "This is the share of relabelings with a smaller gap, one minus what is asked for.",
        "the comparison.",
    ),
    Mistake(
        "two-sided",
        _with(count=lambda gaps, real: gaps.abs() >= real.abs()),
        "Gaps below zero are counted as well, if they are large. Only those at least the real one are asked "
        "for.",
        "`abs`.",
    ),
    Mistake(
        "not-divided",
        _with(share=lambda hits, d: hits.sum()),
        "This is the number of relabelings that reach the real gap. Their share is asked for.",
        "the last step.",
    ),
    Mistake(
        "divided-by-heads",
        _with(share=lambda hits, d: hits.sum() / len(d)),
        "It is divided by the number of heads. There are r relabelings.",
        "the denominator.",
    ),
    Mistake(
        "real-one-added",
        _with(share=lambda hits, d: (hits.sum() + 1) / (len(hits) + 1)),
        "The real labels are counted as one relabeling more, (hits + 1) / (r + 1). That is a good habit, but "
        "here the share of the r is asked for.",
        "the two ones that are added.",
    ),
    Mistake(
        "all-counted",
        _with(relabeled=lambda d, layers, order: (d[order][:, order], layers[order])),
        "Every relabeling is counted. Either nothing is relabeled, or distances and layers both "
        "are, so that each gap is the real one; or the two sides that are compared are not of one kind.",
        "what `gap` is given: new labels with the old distances.",
    ),
    Mistake(
        "rows-alone-moved",
        _with(relabeled=lambda d, layers, order: (d[order], layers)),
        "The rows of the distances are moved and the columns are not. A head then has two places.",
        "both axes of `distances`.",
    ),
    Mistake(
        "none-counted",
        _with(relabeled=lambda d, layers, order: (d, order)),
        "No relabeling is counted, not even the first, which changes nothing. So it is when `orders` is "
        "taken for layers: each head has its own, no pair is within one, and a mean over nothing is NaN.",
        "what `orders[k, i]` is an index into.",
    ),
    Mistake(
        "compared-with-zero",
        _with(count=lambda gaps, real: gaps >= 0),
        "The gaps are compared with 0. The real gap is the one to compare with.",
        "the right side of the comparison.",
    ),
    Mistake(
        "medians",
        _with(gap=_middle_gap),
        "The gap is one of medians. Means are asked for.",
        "`median`.",
    ),
    Mistake(
        "next-layer-only",
        _with(gap=_next_layer),
        "Only neighbouring layers count as different. All pairs of different layers do.",
        "which pairs are between layers.",
    ),
    Mistake(
        "real-gap-returned",
        lambda distances, layers, orders: gap_of(distances, layers),
        "This is the real gap. The share of relabelings that reach it is asked for.",
        "what is returned.",
    ),
)
