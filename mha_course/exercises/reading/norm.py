"""What a wrong LayerNorm did: another mean, another spread, another divisor, another last step."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.mistakes.workbench import once
from mha_course.exercises.reading.norm_ways import (
    AVERAGES,
    BEFORE,
    CENTRES,
    DIVISIONS,
    EPS,
    FINISHES,
    MEANS,
    ROOTS,
    SQUARES,
    Step,
    over,
)
from mha_course.exercises.reading.recipes import Recipe, Slot


def _mean(x: Tensor, *_: Tensor) -> Tensor:
    return x.mean(-1, keepdim=True)


def _squares(x: Tensor, mean: Tensor, *_: Tensor) -> Tensor:
    return (x - mean) ** 2


def _root(variance: Tensor, *_: Tensor) -> Tensor:
    return (variance + EPS).sqrt()


def _difference(x: Tensor, mean: Tensor, *_: Tensor) -> Tensor:
    return x - mean


def _finish(z: Tensor, gain: Tensor, bias: Tensor, *_: Tensor) -> Tensor:
    return z * gain + bias


_over_features = over(-1)


def normed(
    x: Tensor,
    gain: Tensor,
    bias: Tensor,
    *,
    before: Step = lambda x, gain, bias: x,
    mean: Step = _mean,
    squares: Step = _squares,
    average: Step = _over_features,
    root: Step = _root,
    centre: Step = _difference,
    divide: Step = torch.div,
    finish: Step = _finish,
) -> Tensor:
    """LayerNorm with the steps given; without any it is right: (b, n, d_model)."""
    x = once(before, x, gain, bias)
    mu = once(mean, x, gain, bias)
    variance = once(average, once(squares, x, mu, gain, bias))
    below = once(root, variance, x, mu)
    z = once(divide, once(centre, x, mu, variance, gain, bias), below)
    return finish(z, gain, bias, x, mu, below)


_FRACTION = "what stands above the fraction bar."


_DIVISOR = "what the differences are divided by."


NORM = Recipe(
    normed,
    (
        Slot("finish", "the last step: gain and bias.", FINISHES),
        Slot("centre", _FRACTION, CENTRES),
        Slot("root", _DIVISOR, ROOTS),
        Slot("squares", "how the variance is made.", SQUARES),
        Slot("average", "how the variance is made: which squares are averaged.", AVERAGES),
        Slot("mean", "how the mean is made.", MEANS),
        Slot("divide", "what is done with differences and root.", DIVISIONS),
        Slot("before", "the first step.", BEFORE),
    ),
)
