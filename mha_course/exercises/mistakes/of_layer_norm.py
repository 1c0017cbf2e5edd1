"""Known mistakes of LayerNorm, as one changed step each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake

EPS = 1e-5
Step = Callable[..., Tensor]


def _variance(x: Tensor, mean: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The right one: the mean of the squares, each taken from the mean."""
    return ((x - mean) ** 2).mean(axes, keepdim=True)


def _root(variance: Tensor) -> Tensor:
    """The right divisor: a root with a small number inside."""
    return (variance + EPS).sqrt()


def _take_off(x: Tensor, mean: Tensor) -> Tensor:
    return x - mean


def _gain_then_bias(z: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    return z * gain + bias


def norm_with(
    x: Tensor,
    gain: Tensor,
    bias: Tensor,
    *,
    axes: tuple[int, ...] = (2,),
    centre: Step = _take_off,
    spread: Step = _variance,
    root: Step = _root,
    finish: Step = _gain_then_bias,
) -> Tensor:
    """LayerNorm with the steps given; without any it is right."""
    mean = x.mean(axes, keepdim=True)
    return finish(centre(x, mean) / root(spread(x, mean, axes)), gain, bias)


_NORM: tuple[tuple[str, dict[str, object], str, str], ...] = (
    (
        "unbiased-variance",
        {"spread": lambda x, mean, axes: x.var(axes, unbiased=True, keepdim=True)},
        "The squares are divided by d_model - 1. LayerNorm divides by d_model; `var` has an option for it.",
        "what the sum of squares is divided by.",
    ),
    (
        "mean-not-subtracted",
        {"centre": lambda x, mean: x},
        "The mean is not taken off: the result is divided by the right number, and lies elsewhere.",
        "what stands above the fraction.",
    ),
    (
        "root-mean-square",
        {"centre": lambda x, mean: x, "spread": lambda x, mean, axes: (x**2).mean(axes, keepdim=True)},
        "This is RMSNorm: no mean is taken off, above or below. LayerNorm takes it off in both places.",
        "the mean of each token.",
    ),
    (
        "only-centred",
        {"root": torch.ones_like},
        "The mean is taken off; nothing is divided.",
        "what makes tokens with large and with small numbers alike.",
    ),
    (
        "divided-by-the-variance",
        {"root": lambda variance: variance + EPS},
        "It divides by the variance. Its root is the spread of the numbers.",
        "variance and standard deviation.",
    ),
    (
        "unit-length",
        {"spread": lambda x, mean, axes: ((x - mean) ** 2).sum(axes, keepdim=True)},
        "Every token gets length 1: the squares are added up, not averaged. LayerNorm makes the spread 1.",
        "`sum` and `mean`.",
    ),
    (
        "over-the-tokens",
        {"axes": (1,)},
        "Mean and variance run over the tokens of a sentence. Each token is normalised by itself.",
        "the axis of mean and variance.",
    ),
    (
        "over-the-sentences",
        {"axes": (0,)},
        "Mean and variance run over the sentences of the batch. Each token is normalised by itself.",
        "the axis of mean and variance.",
    ),
    (
        "over-batch-and-tokens",
        {"axes": (0, 1)},
        "This is BatchNorm: each feature is normalised over all tokens. LayerNorm takes one token at a time.",
        "the axis of mean and variance.",
    ),
    (
        "over-the-whole-sentence",
        {"axes": (1, 2)},
        "One mean and one variance for all tokens of a sentence. Each token is normalised by itself.",
        "the axis of mean and variance.",
    ),
    (
        "over-everything",
        {"axes": (0, 1, 2)},
        "One mean and one variance for the whole batch. Each token is normalised by itself.",
        "the axis of mean and variance.",
    ),
    (
        "gain-left-out",
        {"finish": lambda z, gain, bias: z + bias},
        "The gain is left out.",
        "the last step: which two learned vectors are there?",
    ),
    (
        "bias-left-out",
        {"finish": lambda z, gain, bias: z * gain},
        "The bias is left out.",
        "the last step: which two learned vectors are there?",
    ),
    (
        "gain-and-bias-left-out",
        {"finish": lambda z, gain, bias: z},
        "Gain and bias are left out: the numbers are normalised, and stay so.",
        "the two learned vectors.",
    ),
    (
        "gain-and-bias-swapped",
        {"finish": lambda z, gain, bias: z * bias + gain},
        "Gain and bias have changed places: the gain multiplies, the bias is added.",
        "the last step.",
    ),
    (
        "bias-before-gain",
        {"finish": lambda z, gain, bias: (z + bias) * gain},
        "The bias is added first, so the gain multiplies it as well.",
        "the order of the last two operations.",
    ),
    (
        "gain-added",
        {"finish": lambda z, gain, bias: z + gain + bias},
        "The gain is added. It multiplies, feature by feature.",
        "the last step.",
    ),
    (
        "eps-outside-the-root",
        {"root": lambda variance: variance.sqrt() + EPS},
        (
            "The small number stands outside the root (as in the Annotated Transformer). Where a token's "
            "numbers are nearly equal that makes a difference."
        ),
        "what the root is taken of.",
    ),
    (
        "eps-left-out",
        {"root": torch.sqrt},
        "The small number under the root is left out. A token whose numbers are all equal then gives 0/0.",
        "a variance of 0.",
    ),
)
# Not a setting: with another mistake beside it nothing of either would be left.
_NOT_NORMALISED = Mistake(
    "not-normalised",
    lambda x, gain, bias: x * gain + bias,
    "Nothing is normalised: gain and bias act on the numbers as they came.",
    "mean and variance: where do they take part?",
)
NORM_MISTAKES = (
    *(Mistake(i, partial(norm_with, **change), says, look) for i, change, says, look in _NORM),
    _NOT_NORMALISED,
)
