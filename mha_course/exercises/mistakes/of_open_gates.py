"""Known mistakes of `expected_open`: the shift, the other probability, and what is done with all gates."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def fraction_below(gamma: float, zeta: float) -> float:
    """The logarithm of -gamma / zeta."""
    return math.log(-gamma / zeta)


def open_with(
    log_alpha: Tensor,
    beta: float,
    gamma: float,
    zeta: float,
    *,
    fraction: Step = fraction_below,
    warm: Step = lambda beta, fraction: beta * fraction,
    shift: Step = lambda log_alpha, shift: log_alpha - shift,
    squash: Step = torch.sigmoid,
    add: Step = lambda p: p.sum(),
    finish: Step = lambda expected, log_alpha: expected,
    whole: Step | None = None,
) -> Tensor:
    """How many gates are open on average with the steps given; right without any: one number."""
    if whole is not None:
        return whole(log_alpha, beta, gamma, zeta)
    p = squash(shift(log_alpha, warm(beta, fraction(gamma, zeta))))
    return finish(add(p), log_alpha)


def without_noise(log_alpha: Tensor, gamma: float, zeta: float) -> Tensor:
    """Gates after training."""
    return (torch.sigmoid(log_alpha) * (zeta - gamma) + gamma).clamp(0, 1)


_with = partial(Otherwise, open_with)

OPEN_MISTAKES = (
    Mistake(
        "not-shifted",
        _with(shift=lambda log_alpha, shift: log_alpha),
        "The logarithm is missing: this is how often the coin is above 1/2, before it is stretched.",
        "where `beta`, `gamma` and `zeta` are used.",
    ),
    Mistake(
        "shift-added",
        _with(shift=lambda log_alpha, shift: log_alpha + shift),
        "The sign of the logarithm's term is turned round. (So it is with zeta / -gamma under it.)",
        "the minus in front of `beta`, and the fraction.",
    ),
    Mistake(
        "log-of-a-negative",
        _with(fraction=lambda gamma, zeta: math.nan),
        "It gives NaN: gamma / zeta is negative, and has no logarithm.",
        "the minus in front of `gamma`.",
    ),
    Mistake(
        "exactly-one",
        _with(fraction=lambda gamma, zeta: math.log((1 - gamma) / (zeta - 1))),
        "This counts the gates that are exactly 1. Those between 0 and 1 are open, too.",
        "the fraction under the logarithm.",
    ),
    Mistake(
        "closed-counted",
        _with(finish=lambda expected, log_alpha: log_alpha.numel() - expected),
        "This is how many gates are closed, exactly 0.",
        "1 minus a probability, or a sign within the sigmoid.",
    ),
    Mistake(
        "beta-missing",
        _with(warm=lambda beta, fraction: fraction),
        "The logarithm is not multiplied by beta.",
        "where `beta` is used.",
    ),
    Mistake(
        "divided-by-beta",
        _with(warm=lambda beta, fraction: fraction / beta),
        "The logarithm is divided by beta. It is multiplied by it.",
        "`*` and `/`.",
    ),
    Mistake(
        "divided-before-the-shift",
        _with(whole=lambda a, beta, gamma, zeta: torch.sigmoid(a / beta - fraction_below(gamma, zeta)).sum()),
        "Log alpha is divided by beta, and the logarithm stands alone. The formula has the logarithm times "
        "beta.",
        "where `beta` is used.",
    ),
    Mistake(
        "mean-of-all",
        _with(add=lambda p: p.mean()),
        "This is the mean over all gates, the share that is open. Their number is asked for, a sum.",
        "`sum` and `mean`.",
    ),
    Mistake(
        "layers-averaged",
        _with(add=lambda p: p.sum(-1).mean()),
        "The layers are averaged, as in the code of Voita et al. The sum over all heads is asked for.",
        "what is done over axis 0.",
    ),
    Mistake(
        "each-layer-its-own",
        _with(add=lambda p: p.sum(-1)),
        "There is one number for each layer. The sum over all of them is asked for.",
        "the axis of the sum.",
    ),
    Mistake(
        "not-added-up",
        _with(add=lambda p: p),
        "These are the probabilities of all gates. Their sum is asked for.",
        "the last step.",
    ),
    Mistake(
        "counted-after-training",
        _with(whole=lambda a, beta, gamma, zeta: (without_noise(a, gamma, zeta) > 0).to(a.dtype).sum()),
        "Gates that are open without noise are counted. That number has no slope, so nothing learns from it.",
        "comparisons: a probability is asked for.",
    ),
    Mistake(
        "gates-added-up",
        _with(whole=lambda a, beta, gamma, zeta: without_noise(a, gamma, zeta).sum()),
        "The gates themselves are added up. A gate that is half open counts as open.",
        "what is added up: values, or probabilities.",
    ),
    Mistake(
        "likely-ones-counted",
        _with(squash=lambda x: (x > 0).to(x.dtype)),
        "Probabilities are rounded: gates are counted that are more likely open than not. Each should add "
        "its probability; a count has no slope.",
        "`round`, and comparisons.",
    ),
    Mistake(
        "no-sigmoid",
        _with(squash=lambda x: x),
        "There is no sigmoid: what is added up are log-odds, and no probabilities.",
        "`sigmoid`.",
    ),
    Mistake(
        "all-open-at-once",
        _with(add=lambda p: p.prod()),
        "The probabilities are multiplied: that is how often all gates are open at once.",
        "`prod` and `sum`.",
    ),
)
