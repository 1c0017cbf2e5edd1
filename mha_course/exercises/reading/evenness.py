"""What wrong numbers for evenness hold: the terms, the axes, the averages, and what stands under the line."""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_evenness import EVENNESS_MISTAKES, evenness_with
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare


def _logs(w: Tensor) -> Tensor:
    """Logarithms, 0 where there is no weight."""
    return w.where(w > 0, torch.tensor(1.0, dtype=w.dtype)).log()


def _over_the_used(entropy: Tensor, w: Tensor) -> Tensor:
    """Only rows with more than one weight count."""
    wide = (w > 0).sum(-1) > 1
    return (entropy * wide).sum(-1) / wide.sum(-1)


_MAPS = (
    Way("The maps of all heads are averaged first.", lambda w: w.mean(0, keepdim=True).expand_as(w)),
    Way("A softmax is taken of the weights, which are one already.", lambda w: w.softmax(-1)),
    rare("The columns are made to sum to 1.", lambda w: w / w.sum(-2, keepdim=True)),
    rare("Weights are rounded to one decimal first.", lambda w: w.round(decimals=1)),
    rare("Weights are rounded to two decimals first.", lambda w: w.round(decimals=2)),
    rare("0.01 is added to every weight. Zeros ask for less, or for `xlogy`.", lambda w: w + 1e-2),
    rare("0.001 is added to every weight. Zeros ask for less, or for `xlogy`.", lambda w: w + 1e-3),
    rare("0.0001 is added to every weight. Zeros ask for less, or for `xlogy`.", lambda w: w + 1e-4),
    rare("1 is added to every weight under the logarithm and before it.", lambda w: w + 1),
)
_TERMS = (
    Way("1 is added under the logarithm: `log1p`.", lambda w: -w * w.log1p()),
    Way("The weight before the logarithm is missing.", lambda w: -w.clamp(min=1e-9).log()),
    rare("The weight before the logarithm is missing.", lambda w: -w.log()),
    rare(
        "The weight before the logarithm is missing, and zeros add 0.", lambda w: -w.where(w > 0, 1.0).log()
    ),
    rare("The logarithms alone are added up, without the minus.", lambda w: w.where(w > 0, 1.0).log()),
    rare("The logarithms alone are added up, without the minus.", lambda w: w.log()),
    Way("Weights are squared: 1 minus their sum is another measure than the entropy.", lambda w: w * (1 - w)),
    rare("The squares of the weights are added up; there is no logarithm.", lambda w: w * w),
    rare("The weight is multiplied by itself, not by its logarithm.", lambda w: -w * w),
    rare("Under the logarithm stands n_k, not the weight.", lambda w: -w * math.log(w.shape[-1])),
    rare("The weight is multiplied by n_k, not by its logarithm.", lambda w: -w * w.shape[-1]),
    rare("n_k stands in front of the logarithm, not the weight.", lambda w: -w.shape[-1] * _logs(w)),
    rare("The logarithm is multiplied by itself, not by the weight.", lambda w: -(_logs(w) ** 2)),
    rare("Weight and logarithm are added, not multiplied.", lambda w: -(w + _logs(w))),
    rare("The weight is divided by its logarithm, not multiplied.", lambda w: -w / _logs(w)),
    rare("There is no logarithm: the weights of a row sum to 1.", lambda w: w),
    rare("There is no logarithm, and a minus: the weights of a row sum to 1.", lambda w: -w),
    rare("The logarithm is to base 10.", lambda w: -torch.xlogy(w, w) / math.log(10)),
    rare("Divided by their logarithms, not multiplied.", lambda w: -w / w.log()),
    rare("Weight and logarithm are added, not multiplied.", lambda w: -(w + w.log())),
    rare("The logarithm is subtracted, not multiplied.", lambda w: -(w - w.log())),
    rare(
        "1 stands in for every weight but 0, so that every logarithm is 0 or worse.",
        lambda w: -w * (w > 0).to(w.dtype).log(),
    ),
    rare("The exponential is taken, not the logarithm.", lambda w: -w * w.exp()),
    rare(
        "The terms of both a and 1 - a are added up.",
        lambda w: -torch.xlogy(w, w) - torch.xlogy(1 - w, 1 - w),
    ),
    rare(
        "The weight stands at the wrong place: log a is multiplied by 1 - a.",
        lambda w: -(1 - w) * w.where(w > 0, 1.0).log(),
    ),
    rare(
        "There is no logarithm, and zeros count as 1.",
        lambda w: -w.where(w > 0, 1.0),
    ),
)
_ADDS = (
    rare("The largest term of each row is taken; an entropy is the sum.", lambda t: t.amax(-1)),
    rare("The smallest term of each row is taken; an entropy is the sum.", lambda t: t.amin(-1)),
    Way("The terms are averaged along the columns. It is the rows that sum to 1.", lambda t: t.mean(-2)),
    rare("The terms of all heads are added up.", lambda t: t.sum(0)),
    rare("The terms of all heads are averaged.", lambda t: t.mean(0)),
    rare("The first term of each row is left out.", lambda t: t[..., 1:].sum(-1)),
    rare("The last term of each row is left out.", lambda t: t[..., :-1].sum(-1)),
    rare("The terms are not added up.", lambda t: t),
    rare("All terms of a head are added up twice.", lambda t: t.sum((-1, -2))[..., None]),
)
_AVERAGES = (
    Way("Rows with one weight are left out of the mean; their entropy 0 counts.", _over_the_used),
    rare("Row 0 is left out of the mean.", lambda e, w: e[..., 1:].mean(-1)),
    rare("The last row is left out of the mean.", lambda e, w: e[..., :-1].mean(-1)),
    Way("The median over the rows is taken. The mean is asked for.", lambda e, w: e.median(-1).values),
    Way("The largest entropy over the rows is taken. The mean is asked for.", lambda e, w: e.amax(-1)),
    Way("The smallest entropy over the rows is taken. The mean is asked for.", lambda e, w: e.amin(-1)),
    rare("The mean is over the heads.", lambda e, w: e.mean(0)),
    Way("The rows are not averaged: there is one number for each.", lambda e, w: e),
    rare("The first row stands for all.", lambda e, w: e[..., 0]),
    rare("The last row stands for all.", lambda e, w: e[..., -1]),
    Way(
        "The entropies are divided by n_k, the number of keys, instead of the number of rows.",
        lambda e, w: e.sum(-1) / w.shape[-1],
    ),
    rare("The entropies are divided by the number of heads.", lambda e, w: e.sum(-1) / len(w)),
    rare("The entropies are divided by one row too few.", lambda e, w: e.sum(-1) / (e.shape[-1] - 1)),
    rare("The entropies are divided by one row too many.", lambda e, w: e.sum(-1) / (e.shape[-1] + 1)),
    rare("The deviation over the rows is taken. The mean is asked for.", lambda e, w: e.std(-1)),
)
_DIVIDES = (
    Way("It is divided by the number of rows.", lambda e, w: e / w.shape[-2]),
    Way("It is divided by the logarithm of h.", lambda e, w: e / math.log(len(w)) if len(w) > 1 else e),
    rare("It is divided by the logarithm of n_k + 1.", lambda e, w: e / math.log(w.shape[-1] + 1)),
    rare("It is divided by the logarithm of n_k - 1.", lambda e, w: e / math.log(w.shape[-1] - 1)),
    Way("It is multiplied by log n_k.", lambda e, w: e * math.log(w.shape[-1])),
    rare("It is divided by the root of n_k.", lambda e, w: e / w.shape[-1] ** 0.5),
    rare("It is divided by the base-10 logarithm of n_k.", lambda e, w: e / math.log10(w.shape[-1])),
    Way("It is divided by the logarithm of n_q · n_k.", lambda e, w: e / math.log(w.shape[-1] * w.shape[-2])),
    rare("Above and below the line are exchanged.", lambda e, w: math.log(w.shape[-1]) / e),
    rare("It is divided by the largest entropy of the heads.", lambda e, w: e / e.max()),
    rare("log n_k is subtracted.", lambda e, w: e - math.log(w.shape[-1])),
    rare("It is subtracted from log n_k.", lambda e, w: math.log(w.shape[-1]) - e),
    rare("log n_k is added.", lambda e, w: e + math.log(w.shape[-1])),
    rare("The result is rounded down (`//`).", lambda e, w: e // math.log(w.shape[-1])),
    rare("It is divided by the exponential of n_k.", lambda e, w: e / math.exp(w.shape[-1])),
    rare(
        "It is divided by the logarithm of the number of weights of a head that are not 0.",
        lambda e, w: e / (w[0] > 0).sum().to(w.dtype).log(),
    ),
)
_FINISHES = (
    rare("Every head gets the mean of all heads.", lambda e: e.mean().expand_as(e)),
    rare("Every head gets the number of the first one.", lambda e: e[:1].expand_as(e)),
    rare("The heads are sorted.", lambda e: e.sort().values),
    Way("These are per cent.", lambda e: 100 * e),
    rare("This is the square of what is asked for.", lambda e: e**2),
    rare("This is the root of what is asked for.", lambda e: e.clamp(min=0).sqrt()),
    rare("This is the exponential of what is asked for.", lambda e: e.exp()),
    rare("The heads' numbers are made to sum to 1.", lambda e: e / e.sum()),
)


def _turned(w: Tensor) -> Tensor:
    return -torch.xlogy(w, w).sum(-2).mean(-1) / math.log(w.shape[-2])


_WHOLES = (
    rare("Rows and columns have changed places.", _turned),
    rare("The largest weight of each row is averaged. There is no entropy.", lambda w: w.amax(-1).mean(-1)),
    rare("1 minus the largest weight is averaged. There is no entropy.", lambda w: 1 - w.amax(-1).mean(-1)),
    rare("The deviation of the weights is averaged. There is no entropy.", lambda w: w.std(-1).mean(-1)),
    rare(
        "It is the share of weights above 0.01. There is no entropy.",
        lambda w: (w > 0.01).to(w.dtype).mean((-1, -2)),
    ),
    rare(
        "It is the share of weights above 0. There is no entropy.",
        lambda w: (w > 0).to(w.dtype).mean((-1, -2)),
    ),
    rare(
        "It is the share of weights above 1 / n_k. There is no entropy.",
        lambda w: (w > 1 / w.shape[-1]).to(w.dtype).mean((-1, -2)),
    ),
    rare(
        "Terms are averaged over the weights that are not 0. An entropy is a sum along a row.",
        lambda w: -torch.xlogy(w, w).sum((-1, -2)) / (w > 0).sum((-1, -2)) / math.log(w.shape[-1]),
    ),
)


@functools.cache
def _more() -> tuple[tuple[Tensor], ...]:
    """Maps with zeros, of other sizes than in the cases."""
    g = torch.Generator().manual_seed(43)
    drawn = []
    for h, n_q, n_k in ((3, 4, 10), (2, 7, 6), (5, 3, 8)):
        hidden = torch.rand(n_q, n_k, generator=g) < 0.3
        hidden[:, 0] = False
        drawn.append(
            ((2 * torch.randn(h, n_q, n_k, generator=g)).masked_fill(hidden, float("-inf")).softmax(-1),)
        )
    return tuple(drawn)


EVENNESS = Recipe(
    evenness_with,
    (
        Slot("terms", "what is added up.", (*ways_of(EVENNESS_MISTAKES, "terms"), *_TERMS)),
        Slot("divide", "what the entropy is divided by.", (*ways_of(EVENNESS_MISTAKES, "divide"), *_DIVIDES)),
        Slot("average", "what is done over the rows.", (*ways_of(EVENNESS_MISTAKES, "average"), *_AVERAGES)),
        Slot("add", "the sum along a row.", (*ways_of(EVENNESS_MISTAKES, "add"), *_ADDS)),
        Slot("maps", "what is done with the maps first.", (*ways_of(EVENNESS_MISTAKES, "maps"), *_MAPS)),
        Slot("finish", "the last step.", (*ways_of(EVENNESS_MISTAKES, "finish"), *_FINISHES)),
        Slot("whole", "whether there is an entropy, and along which axis.", _WHOLES),
    ),
    _more,
)
