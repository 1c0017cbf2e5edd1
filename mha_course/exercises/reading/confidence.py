"""What wrong confidences hold: which columns and rows count, what is taken of a row, and the mean."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_confidence import (
    CONFIDENCE_MISTAKES,
    confidence_with,
    first_places,
)
from mha_course.exercises.reading.confidence_places import ROWS, TARGETS
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_KNOWN = functools.partial(ways_of, CONFIDENCE_MISTAKES)


def _second(w: Tensor) -> Tensor:
    return w.topk(2, -1).values[..., 1]


_PICKS = (
    rare("The smallest weight of each row is taken.", lambda w: w.amin(-1)),
    Way("The weights of each row are averaged. The largest one is asked for.", lambda w: w.mean(-1)),
    rare("The weights of each row are added up. The largest one is asked for.", lambda w: w.sum(-1)),
    rare("The median of each row is taken. The largest weight is asked for.", lambda w: w.median(-1).values),
    rare("The second largest weight of each row is taken.", _second),
    rare(
        "These are places of the largest weights, not the weights there.", lambda w: w.argmax(-1).to(w.dtype)
    ),
    rare("The deviation within a row is taken.", lambda w: w.std(-1)),
    rare("The squares of each row are added up. The largest weight is asked for.", lambda w: (w * w).sum(-1)),
    rare("The largest weight is taken off the second largest, the lead.", lambda w: w.amax(-1) - _second(w)),
    rare("The entropy of each row is taken.", lambda w: torch.special.entr(w).sum(-1)),
    rare(
        "The largest weight of a whole map stands for each of its rows.",
        lambda w: w.amax((-1, -2))[..., None].expand(w.shape[:-1]),
    ),
    rare("The first weight of each row is taken.", lambda w: w[..., 0]),
    rare(
        "The largest weight over the heads is taken.",
        lambda w: w.amax(1)[:, None].amax(-1).expand(w.shape[:-1]),
    ),
    rare("The weight of each token on itself is taken.", lambda w: w.diagonal(dim1=-2, dim2=-1)),
    rare("The largest weight is squared.", lambda w: w.amax(-1) ** 2),
    rare("Rows are counted whose largest weight is above 1/2.", lambda w: (w.amax(-1) > 0.5).to(w.dtype)),
    rare("Rows are counted whose largest weight is above 0.9.", lambda w: (w.amax(-1) > 0.9).to(w.dtype)),
    rare("The columns are averaged, then the largest is taken.", lambda w: w.mean(-2)),
)
_MAPS = (
    rare("A softmax is taken of the weights, which are one already.", lambda w: w.softmax(-1)),
    rare("The maps of all heads are averaged first.", lambda w: w.mean(1, keepdim=True).expand_as(w)),
    Way("Rows and columns have changed places.", lambda w: w.mT),
    rare(
        "The diagonal is left out: tokens may look at themselves.",
        lambda w: w * (1 - torch.eye(w.shape[-1], dtype=w.dtype)),
    ),
    rare("Only the first sentence's maps are there.", lambda w: w[:1].expand_as(w)),
    rare("Only the last sentence's maps are there.", lambda w: w[-1:].expand_as(w)),
    rare("Only what comes before a token is looked at.", lambda w: w.tril()),
    rare("The weights are squared.", lambda w: w**2),
)
_HIDES = (
    Way("Nothing is hidden.", lambda w, targets: w),
    Way(
        "A softmax is taken over the targets: the weights of a row change.",
        lambda w, targets: w.masked_fill(~targets[:, None, None], float("-inf")).softmax(-1),
    ),
    rare(
        "What is left of a row is divided by its length.",
        lambda w, targets: w * targets[:, None, None] / targets.sum(-1)[:, None, None, None],
    ),
    rare("Hidden weights are 1.", lambda w, targets: w.masked_fill(~targets[:, None, None], 1.0)),
    rare(
        "Targets are hidden, and the others shown.",
        lambda w, targets: w.masked_fill(targets[:, None, None], 0.0),
    ),
    rare(
        "Everything is hidden, or nothing is compared.",
        lambda w, targets: w * 0 + targets[:, None, None].to(w.dtype),
    ),
    rare(
        "What the rows of targets hold is hidden, not their columns.",
        lambda w, targets: w * targets[:, None, :, None],
    ),
)


def _weighed(largest: Tensor, rows: Tensor) -> Tensor:
    return largest * rows[:, None]


def _but_last(rows: Tensor) -> Tensor:
    """The rows that count but the last of each sentence."""
    return rows & torch.cat([rows[:, 1:], torch.zeros_like(rows[:, :1])], 1)


_AVERAGES = (
    Way(
        "The end token's row is left out of the sum, and counted in what divides it.",
        lambda m, rows: _weighed(m, _but_last(rows)).sum((0, 2)) / rows.sum(),
    ),
    rare(
        "The largest of all rows is taken. Their mean is asked for.",
        lambda m, rows: _weighed(m, rows).amax((0, 2)),
    ),
    rare(
        "The smallest of all rows is taken.", lambda m, rows: m.where(rows[:, None], torch.inf).amin((0, 2))
    ),
    rare("The median of all rows is taken.", lambda m, rows: m.transpose(1, 2)[rows].median(0).values),
    Way(
        "There is one number for each sentence and head.",
        lambda m, rows: _weighed(m, rows).sum(2) / rows.sum(1)[:, None],
    ),
    Way("The sums of the sentences are averaged.", lambda m, rows: _weighed(m, rows).sum((0, 2)) / len(rows)),
    rare(
        "The means of the sentences are added up.",
        lambda m, rows: (_weighed(m, rows).sum(2) / rows.sum(1)[:, None]).sum(0),
    ),
    rare(
        "The sum over all rows is divided by n.",
        lambda m, rows: _weighed(m, rows).sum((0, 2)) / rows.shape[1],
    ),
    rare(
        "All rows are averaged, padding too, and divided once more.",
        lambda m, rows: m.mean((0, 2)) / rows.sum(),
    ),
    rare(
        "The rows of padding are in the sum, and not in what divides it.",
        lambda m, rows: m.sum((0, 2)) / rows.sum(),
    ),
    rare("All rows are added up, padding too.", lambda m, rows: m.sum((0, 2))),
    rare("All rows are averaged, padding too.", lambda m, rows: m.mean((0, 2))),
    rare(
        "The mean is over the longest sentence's length for each.",
        lambda m, rows: (_weighed(m, rows).sum(2) / rows.sum(1).max()).mean(0),
    ),
    rare(
        "The sum is divided by how many tokens but end tokens there are.",
        lambda m, rows: _weighed(m, rows).sum((0, 2)) / (rows.sum() - len(rows)),
    ),
    rare(
        "The means are over the heads: one number a sentence.",
        lambda m, rows: _weighed(m, rows).sum((1, 2)) / rows.sum(1) / m.shape[1],
    ),
    rare("Rows are averaged over the heads.", lambda m, rows: _weighed(m, rows).sum((1, 2)) / rows.sum()),
    rare(
        "The sum is divided by one row too few.",
        lambda m, rows: _weighed(m, rows).sum((0, 2)) / (rows.sum() - 1),
    ),
    rare(
        "The sum is divided by one row too many.",
        lambda m, rows: _weighed(m, rows).sum((0, 2)) / (rows.sum() + 1),
    ),
    rare(
        "The sum is divided by the share of rows that count.",
        lambda m, rows: _weighed(m, rows).sum((0, 2)) / rows.to(m.dtype).mean(),
    ),
    rare(
        "The mean over all places is divided by how many rows count.",
        lambda m, rows: _weighed(m, rows).mean((0, 2)) / rows.sum(),
    ),
    rare("The mean over all places is taken.", lambda m, rows: _weighed(m, rows).mean((0, 2))),
    rare(
        "Only the sentences are averaged: one number a row.",
        lambda m, rows: _weighed(m, rows).sum(0) / rows.sum(),
    ),
    rare(
        "How many rows count stands above the line.",
        lambda m, rows: rows.sum() / _weighed(m, rows).sum((0, 2)),
    ),
    rare(
        "The sum is multiplied by how many rows there are.",
        lambda m, rows: _weighed(m, rows).sum((0, 2)) * rows.sum(),
    ),
    rare("The sum is rounded down (`//`).", lambda m, rows: _weighed(m, rows).sum((0, 2)) // rows.sum()),
    rare(
        "1 is added for each row of padding.",
        lambda m, rows: m.where(rows[:, None], 1.0).sum((0, 2)) / rows.sum(),
    ),
    rare(
        "The mask of rows is added, not multiplied: nothing is taken away.",
        lambda m, rows: (m + rows[:, None]).sum((0, 2)) / rows.sum(),
    ),
    rare(
        "It is divided by the mask of rows: by 0 for padding.",
        lambda m, rows: (m / rows[:, None]).sum((0, 2)) / rows.sum(),
    ),
    rare(
        "Every number is 1: hidden weights are 1, or a sum is divided by itself.",
        lambda m, rows: torch.ones(m.shape[1], dtype=m.dtype),
    ),
    rare("Squares are averaged.", lambda m, rows: (_weighed(m, rows) * m).sum((0, 2)) / rows.sum()),
    rare("The deviation over the rows is taken.", lambda m, rows: m.transpose(1, 2)[rows].std(0)),
)
_FINISHES = (
    Way("These are per cent.", lambda c: 100 * c),
    Way("This is 1 minus what is asked for.", lambda c: 1 - c),
    rare("The heads' numbers are made to sum to 1.", lambda c: c / c.sum()),
    rare("The numbers are divided by the largest one.", lambda c: c / c.max()),
    rare("This is the square of what is asked for.", lambda c: c**2),
    rare("This is the root of what is asked for.", lambda c: c.sqrt()),
    rare("This is the logarithm of what is asked for.", lambda c: c.log()),
    rare("All heads are added up. Each one has its own number.", lambda c: c.sum()),
    rare("Every head gets the mean of all heads.", lambda c: c.mean().expand_as(c)),
    rare("The heads are sorted, and no longer in their places.", lambda c: c.sort().values),
    rare("Only the first head's number is there.", lambda c: c[0]),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor], ...]:
    """Maps of padded sentences, of other sizes than in the cases."""
    g = torch.Generator().manual_seed(67)
    drawn = []
    for h, n, lengths in ((4, 6, [3, 6, 5]), (2, 10, [8, 4, 7, 2, 6])):
        of = torch.tensor(lengths)
        scores = 2 * torch.randn(len(of), h, n, n, generator=g)
        scores = scores.masked_fill(~first_places(n, of)[:, None, None], float("-inf"))
        drawn.append((scores.softmax(-1), of))
    return tuple(drawn)


CONFIDENCE = Recipe(
    confidence_with,
    (
        Slot("targets", "which columns the largest weight may lie in.", (*_KNOWN("targets"), *TARGETS)),
        Slot("rows", "which rows are averaged.", (*_KNOWN("rows"), *ROWS)),
        Slot("pick", "what is taken of a row.", (*_KNOWN("pick"), *_PICKS)),
        Slot("average", "what is done over the rows.", (*_KNOWN("average"), *_AVERAGES)),
        Slot("hide", "what is done with the columns that don't count.", (*_KNOWN("hide"), *_HIDES)),
        Slot("maps", "what is done with the maps first.", (*_KNOWN("maps"), *_MAPS)),
        Slot("finish", "the last step.", (*_KNOWN("finish"), *_FINISHES)),
    ),
    _more,
)
