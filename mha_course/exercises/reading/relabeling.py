"""What wrong shares of relabelings count: the gap, what is relabeled, what it meets, of how many."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_relabeling import RELABELING_MISTAKES, gap_of, p_with
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare


def _same(layers: Tensor) -> Tensor:
    return layers[:, None] == layers


def _others(layers: Tensor) -> Tensor:
    return ~torch.eye(len(layers), dtype=torch.bool)


def _ratio(d: Tensor, layers: Tensor) -> Tensor:
    same = _same(layers)
    return d[~same].mean() / d[same & _others(layers)].mean()


def _nearest_pairs(d: Tensor, layers: Tensor) -> Tensor:
    same = _same(layers)
    return d[~same].amin() - d[same & _others(layers)].amin()


def _each_layer(d: Tensor, layers: Tensor) -> Tensor:
    """The mean within is that of the layers' means: a small layer counts as much as a large one."""
    same, other = _same(layers), _others(layers)
    means = [d[same & other & (layers == k)[:, None]].mean() for k in layers.unique()]
    return d[~same].mean() - torch.stack(means).mean()


def _each_head(d: Tensor, layers: Tensor) -> Tensor:
    """Means are taken of each head first."""
    same = _same(layers)
    within = same & _others(layers)
    between = (d * ~same).sum(-1) / (~same).sum(-1)
    return between.mean() - ((d * within).sum(-1) / within.sum(-1)).mean()


_GAPS = (
    rare("The gap is a ratio of the two means, not their difference.", _ratio),
    rare("The gap is one of the smallest distances. Means are asked for.", _nearest_pairs),
    Way(
        "Each layer's mean is taken first: a layer of two heads then counts as much as one of many.",
        _each_layer,
    ),
    rare("Each head's mean is taken first: heads of small layers then count more.", _each_head),
    rare("The gap is the mean over all pairs, which no relabeling changes.", lambda d, layers: d.mean()),
    rare(
        "The gap is the mean over pairs of different layers times that within.",
        lambda d, layers: d[~_same(layers)].mean() * d[_same(layers) & _others(layers)].mean(),
    ),
    rare(
        "The two means are added up: within should be subtracted.",
        lambda d, layers: d[~_same(layers)].mean() + d[_same(layers) & _others(layers)].mean(),
    ),
    rare(
        "The two means are added up, the diagonal among those within.",
        lambda d, layers: d[~_same(layers)].mean() + d[_same(layers)].mean(),
    ),
    rare(
        "The mean over all other heads is subtracted: pairs of one layer are not told apart.",
        lambda d, layers: d[_others(layers)].mean(),
    ),
    rare(
        "The mean of pairs that are of one layer or of different heads is subtracted, and these are all.",
        lambda d, layers: d[~_same(layers)].mean() - d[_same(layers) | _others(layers)].mean(),
    ),
    rare("The squared distances are averaged.", lambda d, layers: gap_of(d * d, layers)),
)
_RELABELED = (
    rare("The order is read backwards.", lambda d, layers, order: (d, layers[order.flip(0)])),
    rare(
        "Columns of the distances are moved and rows are not.", lambda d, layers, order: (d[:, order], layers)
    ),
    rare("Labels are sorted.", lambda d, layers, order: (d, layers.sort().values)),
    rare("The labels are moved round by one.", lambda d, layers, order: (d, layers.roll(1))),
    rare("The relabeling is done twice.", lambda d, layers, order: (d, layers[order][order])),
    rare(
        "The numbers of the heads are the labels; no two are of one layer.",
        lambda d, layers, order: (d, order),
    ),
)
_REAL = (
    Way(
        "The gaps are compared with their mean. The real gap is the one to compare with.",
        lambda gap, d, layers, gaps: gaps.mean(),
    ),
    rare("The gaps are compared with the smallest of them.", lambda gap, d, layers, gaps: gaps.min()),
    Way(
        "The gaps are compared with the real mean within layers, not with the real gap.",
        lambda gap, d, layers, gaps: d[_same(layers) & _others(layers)].mean(),
    ),
    Way(
        "The gaps are compared with the real mean between layers, not with the real gap.",
        lambda gap, d, layers, gaps: d[~_same(layers)].mean(),
    ),
    rare("The gaps are compared with the last relabeling's.", lambda gap, d, layers, gaps: gaps[-1]),
    Way("The real gap is compared without its sign.", lambda gap, d, layers, gaps: gap(d, layers).abs()),
    rare("Each gap is compared with the one before it.", lambda gap, d, layers, gaps: gaps.roll(1)),
)
_COUNTS = (
    Way("Counted are relabelings with exactly the real gap.", lambda gaps, real: gaps == real),
    rare("Counted are relabelings with another gap than the real one.", lambda gaps, real: gaps != real),
    Way("Gaps above zero are counted, whatever the real one is.", lambda gaps, real: gaps > 0),
    rare("Gaps below zero are counted, whatever the real one is.", lambda gaps, real: gaps < 0),
    Way("Both ends are counted, equals left out: `abs` and `>`.", lambda gaps, real: gaps.abs() > real.abs()),
    Way(
        "The gaps themselves are averaged; how many reach the real one is asked for.", lambda gaps, real: gaps
    ),
    rare(
        "The differences from the real gap are averaged; the share is asked for.",
        lambda gaps, real: gaps - real,
    ),
    rare(
        "The differences to the real gap are averaged; the share is asked for.",
        lambda gaps, real: real - gaps,
    ),
    rare("Every relabeling is counted.", lambda gaps, real: torch.ones_like(gaps)),
    rare("No relabeling is counted.", lambda gaps, real: torch.zeros_like(gaps)),
    rare("Only the absolute value of the relabeled gap is taken.", lambda gaps, real: gaps.abs() >= real),
    rare(
        "The distance from the mean is compared, on both sides.",
        lambda gaps, real: (gaps - gaps.mean()).abs() >= (real - gaps.mean()).abs(),
    ),
    rare("Equals count by half.", lambda gaps, real: (gaps > real) + 0.5 * (gaps == real)),
)
_SHARES = (
    Way("It is divided by one relabeling more than there are.", lambda hits, d: hits.sum() / (len(hits) + 1)),
    rare(
        "It is divided by one relabeling less than there are.", lambda hits, d: hits.sum() / (len(hits) - 1)
    ),
    rare("One hit is added, and the denominator is r.", lambda hits, d: (hits.sum() + 1) / len(hits)),
    Way("The first relabeling is left out.", lambda hits, d: hits[1:].mean()),
    rare("The last relabeling is left out.", lambda hits, d: hits[:-1].mean()),
    rare(
        "The real one is taken off again: (hits - 1) / (r - 1).",
        lambda hits, d: (hits.sum() - 1) / (len(hits) - 1),
    ),
    rare(
        "It is divided by the number of pairs of heads.",
        lambda hits, d: hits.sum() / (len(d) * (len(d) - 1) / 2),
    ),
    rare("It is divided by m · m.", lambda hits, d: hits.sum() / d.numel()),
    Way("This is one minus the share.", lambda hits, d: 1 - hits.mean()),
    Way("The share is doubled, as for both ends.", lambda hits, d: (2 * hits.mean()).clamp(max=1)),
    rare("The share is doubled, as for both ends.", lambda hits, d: 2 * hits.mean()),
    Way("These are per cent.", lambda hits, d: 100 * hits.mean()),
    rare("It says whether there is such a relabeling, not how many.", lambda hits, d: hits.amax()),
    rare("Relabelings are not counted: there is one number for each.", lambda hits, d: hits),
    rare("Only the first relabeling counts.", lambda hits, d: hits[0]),
    rare("Only the last relabeling counts.", lambda hits, d: hits[-1]),
    rare(
        "It is the smaller of the shares at both ends.",
        lambda hits, d: torch.minimum(hits.mean(), 1 - hits.mean()),
    ),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor, Tensor], ...]:
    """Distances in sixteenths, heads in layers of different sizes, orders each with its inverse."""
    g = torch.Generator().manual_seed(59)
    drawn = []
    for labels in ([0, 0, 0, 1, 1, 2, 2, 2, 2], [1, 2, 1, 2, 3, 3, 1], [4, 4, 0, 0, 0, 0, 2, 2]):
        layers, m = torch.tensor(labels), len(labels)
        half = (torch.randint(2, 15, (m, m), generator=g) + (layers[:, None] != layers)).triu(1)
        orders = [torch.arange(m)]
        for _ in range(10):
            order = torch.randperm(m, generator=g)
            orders += [order, order.argsort()]
        drawn.append(((half + half.T) / 16, layers, torch.stack(orders)))
    return tuple(drawn)


RELABELING = Recipe(
    p_with,
    (
        Slot("count", "the comparison.", (*ways_of(RELABELING_MISTAKES, "count"), *_COUNTS)),
        Slot("gap", "how a gap is computed.", (*ways_of(RELABELING_MISTAKES, "gap"), *_GAPS)),
        Slot("relabeled", "what is relabeled.", (*ways_of(RELABELING_MISTAKES, "relabeled"), *_RELABELED)),
        Slot("real", "what the gaps are compared with.", _REAL),
        Slot("share", "what is divided by what.", (*ways_of(RELABELING_MISTAKES, "share"), *_SHARES)),
    ),
    _more,
)
