"""Every step of a LayerNorm, and what people put in its place."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.exercises.reading.recipes import Way, rare

EPS = 1e-5


Step = Callable[..., Tensor]


def _mean_over(axes: int | tuple[int, ...]) -> Step:
    return lambda x, *_: x.mean(axes, keepdim=True)


def over(axes: int | tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    """The mean of the squares over other axes."""
    return lambda squares: squares.mean(axes, keepdim=True)


def _variance_over(axes: int | tuple[int, ...]) -> Step:
    return lambda v, x, *_: (x.var(axes, correction=0, keepdim=True) + EPS).sqrt()


def _inside(eps: float) -> Step:
    return lambda variance, *_: (variance + eps).sqrt()


def _outside(eps: float) -> Step:
    return lambda variance, *_: variance.sqrt() + eps


_PLACES = (
    ("the tokens of a sentence", 1),
    ("the sentences of the batch", 0),
    ("all tokens of the batch, feature by feature", (0, 1)),
    ("all numbers of a sentence", (1, 2)),
    ("all numbers of the batch", (0, 1, 2)),
)


MEANS = tuple(
    Way(f"The mean is taken over {words}. Each token has its own.", _mean_over(axes))
    for words, axes in _PLACES
) + (
    rare("The median is taken for the mean.", lambda x, *_: x.median(-1, keepdim=True).values),
    rare("The largest number is taken for the mean.", lambda x, *_: x.amax(-1, keepdim=True)),
    rare("The smallest number is taken for the mean.", lambda x, *_: x.amin(-1, keepdim=True)),
    rare("The sum is taken for the mean.", lambda x, *_: x.sum(-1, keepdim=True)),
    rare(
        "The mean is divided by d_model - 1.",
        lambda x, *_: x.sum(-1, keepdim=True) / (x.shape[-1] - 1),
    ),
    rare("The mean is that of the gain.", lambda x, gain, bias: gain.mean(-1, keepdim=True)),
    rare("The mean is that of the bias.", lambda x, gain, bias: bias.mean(-1, keepdim=True)),
    Way("The mean is taken for 0, above and below.", lambda x, *_: torch.zeros_like(x[..., :1])),
)


SQUARES = (
    Way("In the variance nothing is squared.", lambda x, mean, *_: x - mean),
    Way("In the variance the mean is not taken off.", lambda x, mean, *_: x**2),
    rare("In the variance the mean is added, not taken off.", lambda x, mean, *_: (x + mean) ** 2),
    rare(
        "In the variance the mean is a factor; it should be taken off.", lambda x, mean, *_: (x * mean) ** 2
    ),
    rare("In the variance only the mean is squared.", lambda x, mean, *_: mean**2),
    rare("In the variance the mean is taken from itself: it is 0.", lambda x, mean, *_: mean - mean),
    rare("In the variance numbers are taken from themselves: it is 0.", lambda x, mean, *_: x - x),
    rare("In the variance the differences are doubled, not squared.", lambda x, mean, *_: (x - mean) * 2),
    rare(
        "In the variance 2 is raised to the differences; they should be squared.",
        lambda x, mean, *_: 2 ** (x - mean),
    ),
    Way("The absolute differences are averaged, not their squares.", lambda x, mean, *_: (x - mean).abs()),
    rare("In the variance the third power stands for the square.", lambda x, mean, *_: (x - mean).abs() ** 3),
    rare("In the variance the fourth power stands for the square.", lambda x, mean, *_: (x - mean) ** 4),
    rare("In the variance the square stands below a fraction bar.", lambda x, mean, *_: (x - mean) ** -2),
    rare("In the variance the gain stands for x.", lambda x, mean, gain, bias: (gain - mean) ** 2),
    rare("In the variance the bias stands for x.", lambda x, mean, gain, bias: (bias - mean) ** 2),
    rare("In the variance the gain is taken off, not the mean.", lambda x, mean, gain, bias: (x - gain) ** 2),
    rare("In the variance the bias is taken off, not the mean.", lambda x, mean, gain, bias: (x - bias) ** 2),
    rare(
        "In the variance x itself is squared, and the mean taken off behind.", lambda x, mean, *_: x**2 - mean
    ),
    rare(
        "The squares of x are divided by each other, not its differences.",
        lambda x, mean, *_: (x / mean) ** 2,
    ),
)


AVERAGES = (
    *(
        Way(f"The squares are averaged over {words}. Each token has its own variance.", over(axes))
        for words, axes in _PLACES
    ),
    Way("The squares are added up, not averaged.", lambda s: s.sum(-1, keepdim=True)),
    Way(
        "The squares are divided by d_model - 1. LayerNorm divides by d_model; `var` has an option for it.",
        lambda s: s.sum(-1, keepdim=True) / (s.shape[-1] - 1),
    ),
    Way("The squares are not averaged: each number is divided by its own difference.", lambda s: s),
    rare("The largest square stands for the mean of the squares.", lambda s: s.amax(-1, keepdim=True)),
    rare("The median of the squares stands for their mean.", lambda s: s.median(-1, keepdim=True).values),
)


ROOTS = (
    *(
        Way(f"The small number under the root is {eps:g}; 1e-5 is wanted.", _inside(eps))
        for eps in (1e-6, 1e-4, 1e-3, 1e-7, 1.0)
    ),
    *(
        rare(f"The small number under the root is {eps:g}; 1e-5 is wanted.", _inside(eps))
        for eps in (1e-2, 0.1, 2e-5, 1 + EPS)
    ),
    Way("The small number under the root is left out.", lambda v, *_: v.sqrt()),
    Way("Next to nothing is added to the variance, 1e-8 at most; 1e-5 is wanted.", _inside(1e-12)),
    rare("The small number is taken off the variance; it should be added.", _inside(-EPS)),
    rare("A number of 1 is taken off the variance.", _inside(EPS - 1)),
    rare("The small number is a factor; it should be added.", lambda v, *_: (v * EPS).sqrt()),
    rare(
        "The variance is at least the small number; it should be added.",
        lambda v, *_: v.clamp(min=EPS).sqrt(),
    ),
    Way("The small number is added to the root, not under it.", _outside(EPS)),
    *(
        rare(f"The small number is added to the root, and it is {eps:g}.", _outside(eps))
        for eps in (1e-6, 1e-8, 1e-3)
    ),
    Way("The root is missing: the variance itself divides.", lambda v, *_: v + EPS),
    rare("The exponential of the variance divides; its root is wanted.", lambda v, *_: (v + EPS).exp()),
    rare("The root is taken twice.", lambda v, *_: (v + EPS) ** 0.25),
    rare("The variance is squared; its root is wanted.", lambda v, *_: (v + EPS) ** 2),
    rare("Half the variance divides; its root is wanted.", lambda v, *_: (v + EPS) / 2),
    rare("The logarithm of the variance divides; its root is wanted.", lambda v, *_: (v + EPS).log()),
    Way(
        "The range (largest minus smallest) divides, not the root of the variance.",
        lambda v, x, *_: x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + EPS,
    ),
    Way("The length of x divides: its squares are added up.", lambda v, x, *_: x.norm(dim=-1, keepdim=True)),
    Way(
        "The length of the differences divides: their squares are added up, not averaged.",
        lambda v, x, mean: (x - mean).norm(dim=-1, keepdim=True),
    ),
    rare("The largest absolute number divides.", lambda v, x, *_: x.abs().amax(-1, keepdim=True)),
    rare("The sum of x divides.", lambda v, x, *_: x.sum(-1, keepdim=True)),
    rare("The mean divides, with the small number under a root.", lambda v, x, mean: (mean + EPS).sqrt()),
    *(
        rare(f"The variance is that of {words}. Each token has its own.", _variance_over(axes))
        for words, axes in _PLACES
    ),
    Way("Nothing is divided.", lambda v, *_: torch.ones_like(v)),
    rare("The small number alone divides.", lambda v, *_: torch.full_like(v, EPS**0.5)),
)


CENTRES = (
    Way("Above the fraction bar stands x: the mean is not taken off.", lambda x, mean, v, *_: x),
    Way("Above the fraction bar the mean is added, not taken off.", lambda x, mean, v, *_: x + mean),
    rare(
        "Above the fraction bar the mean is a factor; it is to be taken off.", lambda x, mean, v, *_: x * mean
    ),
    rare("Above the fraction bar stands the mean alone.", lambda x, mean, v, *_: mean.expand_as(x)),
    Way("x is taken from the mean, so every sign is turned round.", lambda x, mean, v, *_: mean - x),
    rare("Above the fraction bar the variance is taken off, not the mean.", lambda x, mean, v, *_: x - v),
    rare("Above the fraction bar the mean is taken from the variance.", lambda x, mean, v, *_: v - mean),
    rare("Above the fraction bar the gain stands for x.", lambda x, mean, v, gain, bias: gain - mean),
    rare("Above the fraction bar the bias stands for x.", lambda x, mean, v, gain, bias: bias - mean),
    rare("Above the fraction bar the gain is taken off, not the mean.", lambda x, m, v, gain, bias: x - gain),
    rare("Above the fraction bar the bias is taken off, not the mean.", lambda x, m, v, gain, bias: x - bias),
    Way(
        "The gain multiplies x before the mean is taken off.", lambda x, mean, v, gain, bias: x * gain - mean
    ),
    rare(
        "Above the fraction bar the median is taken off, not the mean.",
        lambda x, *_: x - x.median(-1, True)[0],
    ),
    rare("Above the fraction bar the mean of all numbers is taken off.", lambda x, *_: x - x.mean()),
    rare(
        "Above the fraction bar the mean of the sentence is taken off.",
        lambda x, *_: x - x.mean((1, 2), keepdim=True),
    ),
    rare(
        "Above the fraction bar the mean over the tokens is taken off.",
        lambda x, *_: x - x.mean(1, keepdim=True),
    ),
    Way("Above the fraction bar the small number is added.", lambda x, mean, v, *_: x - mean + EPS),
    rare("Above the fraction bar stand absolute differences.", lambda x, mean, v, *_: (x - mean).abs()),
    rare("Above the fraction bar stand squares.", lambda x, mean, v, *_: (x - mean) ** 2),
    rare("Above the fraction bar x is divided by the mean.", lambda x, mean, v, *_: x / mean),
    Way(
        "Above the fraction bar the smallest number is taken off, not the mean.",
        lambda x, mean, v, *_: x - x.amin(-1, keepdim=True),
    ),
)


DIVISIONS = (
    Way("The differences are multiplied by the root; they should be divided by it.", torch.mul),
    rare("The quotient is rounded down (`//`).", torch.floor_divide),
    rare("Above and below the fraction bar have changed places.", lambda a, b: b / a),
    rare("Only the root is left: the differences take no part.", lambda a, b: b.expand_as(a)),
    rare("The root is taken off the differences; it should divide them.", torch.sub),
    rare("The root is added to the differences; it should divide them.", torch.add),
    rare("The division is made twice.", lambda a, b: a / b / b),
)


FINISHES = (
    Way("The gain is left out.", lambda z, g, b, x, m, *_: z + b),
    Way("The bias is left out.", lambda z, g, b, x, m, *_: z * g),
    Way("Gain and bias are left out.", lambda z, g, b, x, m, *_: z),
    Way("The bias is taken off; it should be added.", lambda z, g, b, x, m, *_: z * g - b),
    Way("The bias is a factor; it should be added.", lambda z, g, b, x, m, *_: z * g * b),
    Way("The gain divides; it should multiply.", lambda z, g, b, x, m, *_: z / g + b),
    Way("The gain is added; it should multiply.", lambda z, g, b, x, m, *_: z + g + b),
    rare("The gain is taken off; it should multiply.", lambda z, g, b, x, m, *_: z - g + b),
    Way("Gain and bias have changed places.", lambda z, g, b, x, m, *_: z * b + g),
    Way("The bias is added before the gain, which multiplies it too.", lambda z, g, b, x, m, *_: (z + b) * g),
    rare("1 is added to the gain.", lambda z, g, b, x, m, *_: z * (1 + g) + b),
    rare("The gain multiplies twice.", lambda z, g, b, x, m, *_: z * g * g + b),
    rare("The gain stands where the bias belongs too.", lambda z, g, b, x, m, *_: z * g + g),
    rare("The bias stands where the gain belongs too.", lambda z, g, b, x, m, *_: z * b + b),
    rare("The bias is added twice.", lambda z, g, b, x, m, *_: z * g + 2 * b),
    Way(
        "x is added at the end. That is the residual connection around it.",
        lambda z, g, b, x, m, *_: x + z * g + b,
    ),
    rare("The mean is added again at the end.", lambda z, g, b, x, m, *_: z * g + b + m),
    rare(
        "The gain's sum multiplies every feature; each has its own.",
        lambda z, g, b, x, m, *_: z * g.sum() + b,
    ),
    rare(
        "The gain's mean multiplies every feature; each has its own.",
        lambda z, g, b, x, m, *_: z * g.mean() + b,
    ),
    rare("The first gain and the first bias serve all features.", lambda z, g, b, x, m, *_: z * g[0] + b[0]),
    rare("The first gain serves all features.", lambda z, g, b, x, m, *_: z * g[0] + b),
    rare("The first bias serves all features.", lambda z, g, b, x, m, *_: z * g + b[0]),
    rare("The bias's sum is added to every feature.", lambda z, g, b, x, m, *_: z * g + b.sum()),
    rare("The gains stand in reverse order.", lambda z, g, b, x, m, *_: z * g.flip(0) + b),
    rare("The biases stand in reverse order.", lambda z, g, b, x, m, *_: z * g + b.flip(0)),
    rare(
        "Before the gain everything is divided by d_model.", lambda z, g, b, x, m, *_: z / z.shape[-1] * g + b
    ),
    rare(
        "Before the gain everything is divided by the root of d_model.",
        lambda z, g, b, x, m, *_: z / z.shape[-1] ** 0.5 * g + b,
    ),
    rare("The bias is divided with the rest.", lambda z, g, b, x, m, r: z * g + b / r),
    rare("The bias is added before the gain and divided too.", lambda z, g, b, x, m, r: (z + b / r) * g),
    rare(
        "x is divided first and the mean taken off behind: the mean itself is not divided.",
        lambda z, g, b, x, m, r: (x / r - m) * g + b,
    ),
    rare(
        "A softmax stands where mean and variance belong.",
        lambda z, g, b, x, m, *_: x.softmax(-1) * g + b,
    ),
    rare("The result is cut off at -1 and 1.", lambda z, g, b, x, m, *_: (z * g + b).clamp(-1, 1)),
    rare("The result is cut off at -3 and 3.", lambda z, g, b, x, m, *_: (z * g + b).clamp(-3, 3)),
    rare("A ReLU stands at the end.", lambda z, g, b, x, m, *_: (z * g + b).relu()),
)


BEFORE = (
    Way("The gain multiplies x, before anything is normalised.", lambda x, g, b: x * g),
    Way("Gain and bias act on x, before anything is normalised.", lambda x, g, b: x * g + b),
    Way("The bias is added to x, before anything is normalised.", lambda x, g, b: x + b),
    rare("A softmax is taken of x first.", lambda x, g, b: x.softmax(-1)),
)
