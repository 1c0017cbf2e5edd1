"""Known mistakes of `hard_concrete_gate`: the noise, the temperature, the stretch, the cut at both ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def gate_with(
    log_alpha: Tensor,
    u: Tensor,
    beta: float,
    gamma: float,
    zeta: float,
    *,
    noise: Step = lambda u: u.log() - (1 - u).log(),
    alpha: Step = lambda log_alpha: log_alpha,
    warm: Step = lambda noise, alpha, beta: (noise + alpha) / beta,
    squash: Step = torch.sigmoid,
    stretch: Step = lambda s, gamma, zeta: s * (zeta - gamma) + gamma,
    cut: Step = lambda s: s.clamp(0, 1),
    finish: Step = lambda gate: gate,
    whole: Step | None = None,
) -> Tensor:
    """A hard concrete gate with the steps given; right without any: the shape of log_alpha."""
    if whole is not None:
        return whole(log_alpha, u, beta, gamma, zeta)
    s = squash(warm(noise(u), alpha(log_alpha), beta))
    return finish(cut(stretch(s, gamma, zeta)))


_with = partial(Otherwise, gate_with)

GATE_MISTAKES = (
    Mistake(
        "not-stretched",
        _with(stretch=lambda s, gamma, zeta: s),
        "The coin is not stretched, so nothing is ever cut off: this gate is never exactly 0 or 1.",
        "where `gamma` and `zeta` are used.",
    ),
    Mistake(
        "not-cut",
        _with(cut=lambda s: s),
        "Nothing is cut off at the end: gates below 0 and above 1 come out. A cut in front of the stretch "
        "does nothing, since a sigmoid never leaves 0 to 1.",
        "the order of stretch and cut.",
    ),
    Mistake(
        "noise-turned",
        _with(noise=lambda u: (1 - u).log() - u.log()),
        "The sign of the noise is turned round: a large u should open the gate.",
        "the two logarithms, and which one is subtracted.",
    ),
    Mistake(
        "logs-added",
        _with(noise=lambda u: u.log() + (1 - u).log()),
        "The two logarithms are added, so that the noise is negative whatever u is.",
        "the sign between the two logarithms.",
    ),
    Mistake(
        "log-u-alone",
        _with(noise=lambda u: u.log()),
        "Of the noise only ln u is there. Without ln(1 - u) it can only close the gate.",
        "the noise.",
    ),
    Mistake(
        "u-itself",
        _with(noise=lambda u: u),
        "u itself is added, between 0 and 1. Asked for is its logit, which goes from minus to plus infinity.",
        "the noise.",
    ),
    Mistake(
        "no-noise",
        _with(noise=torch.zeros_like),
        "u makes no difference: this is a gate without noise, with a temperature.",
        "where `u` is used.",
    ),
    Mistake(
        "after-training",
        _with(noise=torch.zeros_like, warm=lambda noise, alpha, beta: alpha),
        "This is the gate after training, without noise and temperature. A draw is asked for.",
        "where `u` and `beta` are used.",
    ),
    Mistake(
        "no-temperature",
        _with(warm=lambda noise, alpha, beta: noise + alpha),
        "The temperature is not used.",
        "where `beta` is used.",
    ),
    Mistake(
        "times-beta",
        _with(warm=lambda noise, alpha, beta: (noise + alpha) * beta),
        "It is multiplied by beta. Divided by a small beta the coin gets sharper.",
        "`*` and `/`.",
    ),
    Mistake(
        "brackets-missing",
        _with(warm=lambda noise, alpha, beta: noise + alpha / beta),
        "Only log alpha is divided by beta. The noise is divided as well: brackets are missing.",
        "the brackets in front of the division.",
    ),
    Mistake(
        "noise-alone-divided",
        _with(warm=lambda noise, alpha, beta: noise / beta + alpha),
        "Only the noise is divided by beta. Log alpha is divided as well.",
        "the brackets in front of the division.",
    ),
    Mistake(
        "log-alpha-subtracted",
        _with(alpha=lambda log_alpha: -log_alpha),
        "Log alpha is subtracted: the larger it is, the more closed is the gate.",
        "the sign in front of `log_alpha`.",
    ),
    Mistake(
        "alpha-itself",
        _with(alpha=lambda log_alpha: log_alpha.exp()),
        "The exponential of log alpha is added. It is used as it is, a logarithm.",
        "`exp`.",
    ),
    Mistake(
        "log-twice",
        _with(alpha=lambda log_alpha: log_alpha.log()),
        "A logarithm of `log_alpha` is taken. It is one already, and often negative: that gives NaN.",
        "`log`.",
    ),
    Mistake(
        "stretched-too-far",
        _with(stretch=lambda s, gamma, zeta: s * zeta + gamma),
        "The coin is multiplied by zeta, and then reaches from gamma to zeta + gamma. It should end at zeta.",
        "the length of the way from gamma to zeta.",
    ),
    Mistake(
        "gamma-subtracted",
        _with(stretch=lambda s, gamma, zeta: s * (zeta - gamma) - gamma),
        "Gamma is subtracted at the end, as if it were positive. The coin should start at gamma, below 0.",
        "the sign of `gamma`.",
    ),
    Mistake(
        "stretched-by-the-sum",
        _with(stretch=lambda s, gamma, zeta: s * (zeta + gamma) + gamma),
        "The coin is multiplied by zeta + gamma. From gamma to zeta it is zeta - gamma.",
        "the sign of `gamma`.",
    ),
    Mistake(
        "zero-or-one",
        _with(finish=lambda gate: (gate > 0.5).to(gate.dtype)),
        "Gates are rounded to 0 or 1. Between the two ends a gate keeps its value, and its slope.",
        "`round`, and comparisons.",
    ),
    Mistake(
        "closed-for-open",
        _with(finish=lambda gate: 1 - gate),
        "This is 1 minus the gate.",
        "the last step.",
    ),
)
