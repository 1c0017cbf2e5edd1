"""What wrong numbers of open gates hold: the fraction, beta, the shift, the sigmoid, and the sum."""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_open_gates import OPEN_MISTAKES, open_with, without_noise
from mha_course.exercises.reading.gate_letters import PRICE_LETTERS
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_KNOWN = functools.partial(ways_of, OPEN_MISTAKES)
_FRACTIONS = (
    Way("There is no logarithm: the fraction itself is used.", lambda gamma, zeta: -gamma / zeta),
    Way("There is no logarithm, and no minus: gamma / zeta is used.", lambda gamma, zeta: gamma / zeta),
    Way("The logarithm is to base 2.", lambda gamma, zeta: math.log2(-gamma / zeta)),
    Way("The logarithm is to base 10.", lambda gamma, zeta: math.log10(-gamma / zeta)),
    Way(
        "Under the logarithm stands -gamma / (zeta - gamma).",
        lambda gamma, zeta: math.log(-gamma / (zeta - gamma)),
    ),
    Way("Under the logarithm stands -gamma · zeta.", lambda gamma, zeta: math.log(-gamma * zeta)),
    Way("Under the logarithm stands -gamma alone.", lambda gamma, zeta: math.log(-gamma)),
    Way("Under the logarithm stands zeta alone.", lambda gamma, zeta: math.log(zeta)),
    Way("Under the logarithm stands zeta - gamma.", lambda gamma, zeta: math.log(zeta - gamma)),
    Way("Under the logarithm stands zeta + gamma.", lambda gamma, zeta: math.log(zeta + gamma)),
    Way("1 is added under the logarithm.", lambda gamma, zeta: math.log1p(-gamma / zeta)),
    Way(
        "1 is added under the logarithm, and the minus is missing.",
        lambda gamma, zeta: math.log1p(gamma / zeta),
    ),
    rare(
        "Under the logarithm stands 2 gamma / zeta, with the minus.",
        lambda gamma, zeta: math.log(-2 * gamma / zeta),
    ),
    rare("The exponential of the fraction is taken.", lambda gamma, zeta: math.exp(-gamma / zeta)),
    rare("The root of the fraction is taken.", lambda gamma, zeta: math.sqrt(-gamma / zeta)),
    rare("zeta / -gamma is used, without a logarithm.", lambda gamma, zeta: -zeta / gamma),
    rare("zeta / gamma is used, without a logarithm.", lambda gamma, zeta: zeta / gamma),
    rare("-gamma is used, without a logarithm.", lambda gamma, zeta: -gamma),
    rare("gamma is used, without a logarithm.", lambda gamma, zeta: gamma),
    rare("zeta is used, without a logarithm.", lambda gamma, zeta: zeta),
    rare("Gamma is divided by itself: the logarithm of 1 is 0.", lambda gamma, zeta: 0.0),
)
_WARMS = (
    Way("Beta is added to the logarithm.", lambda beta, f: beta + f),
    Way("The logarithm is subtracted from beta.", lambda beta, f: beta - f),
    Way("Beta is subtracted from the logarithm.", lambda beta, f: f - beta),
    Way("Beta stands alone, without the logarithm.", lambda beta, f: beta),
    Way("The logarithm is multiplied by the root of beta.", lambda beta, f: f * math.sqrt(beta)),
    rare("The logarithm is multiplied by beta twice.", lambda beta, f: f * beta**2),
    rare("Beta is divided by the logarithm.", lambda beta, f: beta / f),
    rare("Beta is multiplied by itself.", lambda beta, f: beta**2),
    rare("It is doubled.", lambda beta, f: 2 * beta * f),
)
_SHIFTS = (
    Way("The signs are turned round: log alpha is subtracted from the shift.", lambda a, shift: shift - a),
    Way("Log alpha and the shift both have a minus.", lambda a, shift: -a - shift),
    Way("Log alpha and the shift are multiplied.", lambda a, shift: a * shift),
    Way("The exponential of log alpha is used.", lambda a, shift: a.exp() - shift),
    Way("Log alpha is not used.", lambda a, shift: torch.full_like(a, -shift)),
    rare("Log alpha is not used, and the shift has no minus.", lambda a, shift: torch.full_like(a, shift)),
    rare("A logarithm is taken of log alpha, which is one already: NaN.", lambda a, shift: a.log() - shift),
    rare("Log alpha is divided by the shift.", lambda a, shift: a / shift),
    rare("The absolute value of log alpha is used.", lambda a, shift: a.abs() - shift),
    rare("Log alpha is subtracted from itself: each gate is 1/2.", lambda a, shift: torch.zeros_like(a)),
    rare("The shift stands outside of the sigmoid, as a factor of its own.", lambda a, shift: a - 2 * shift),
)
_SQUASHES = (
    Way("The sigmoid is taken twice.", lambda x: x.sigmoid().sigmoid()),
    Way(
        "A softmax stands for the sigmoid: the sum is then how many layers there are.",
        lambda x: x.softmax(-1),
    ),
    Way("A tanh stands for the sigmoid.", lambda x: x.tanh()),
    Way("The exponential stands for the sigmoid.", lambda x: x.exp()),
    Way("The logarithms of the probabilities are added up.", lambda x: x.sigmoid().log()),
    rare("Log-odds are cut off at 0 and 1; there is no sigmoid.", lambda x: x.clamp(0, 1)),
    rare("What is below 0 is set to 0; there is no sigmoid.", lambda x: x.relu()),
    rare("p · (1 - p) is added up, the slope of the sigmoid.", lambda x: x.sigmoid() * (-x).sigmoid()),
    rare("The entropy of the probabilities is added up.", lambda x: torch.special.entr(x.sigmoid())),
)
_ADDS = (
    Way("The largest probability is taken.", lambda p: p.max()),
    Way("The smallest probability is taken.", lambda p: p.min()),
    Way("The sum is over the layers: one number for each place in a layer.", lambda p: p.sum(0)),
    Way("The means of the layers are added up: divided by h.", lambda p: p.mean(-1).sum()),
    Way("The number of gates is rounded.", lambda p: p.sum().round()),
    Way("The squares are added up.", lambda p: (p**2).sum()),
    Way("The root of the sum of squares is taken.", lambda p: p.norm()),
    Way("Only the first layer is added up.", lambda p: p[0].sum()),
    Way("Only the last layer is added up.", lambda p: p[-1].sum()),
    rare("The first gate stands for all.", lambda p: p.flatten()[0]),
    rare("The last gate stands for all.", lambda p: p.flatten()[-1]),
    rare("There is one mean for each layer.", lambda p: p.mean(-1)),
    rare("There is one mean for each place in a layer.", lambda p: p.mean(0)),
    rare("The median is taken.", lambda p: p.median()),
    rare(
        "Gates are counted that are more likely open than not. Each should add its probability.",
        lambda p: (p > 0.5).to(p.dtype).sum(),
    ),
    rare(
        "It is 1 minus the product of all 1 - p: that one gate at least is open.",
        lambda p: 1 - (1 - p).prod(),
    ),
    rare("The first gate of each layer is left out.", lambda p: p[:, 1:].sum()),
    rare("The last gate of each layer is left out.", lambda p: p[:, :-1].sum()),
    rare("The variances p (1 - p) are added up.", lambda p: (p * (1 - p)).sum()),
    rare(
        "The number of gates is given, whatever the probabilities are.",
        lambda p: torch.tensor(float(p.numel())),
    ),
)
_FINISHES = (
    Way("It is the share of closed gates.", lambda e, a: 1 - e / a.numel()),
    Way("It is divided by the number of heads in a layer.", lambda e, a: e / a.shape[-1]),
    Way("It is multiplied by the number of layers.", lambda e, a: e * len(a)),
    Way("It has a minus.", lambda e, a: -e),
    rare("1 is subtracted.", lambda e, a: e - 1),
    rare("It is subtracted from 1.", lambda e, a: 1 - e),
    rare("1 is added.", lambda e, a: e + 1),
    rare("It is doubled.", lambda e, a: 2 * e),
    rare("It is halved.", lambda e, a: e / 2),
    rare("It is rounded down to a whole number.", lambda e, a: e.floor()),
    rare("It is rounded up to a whole number.", lambda e, a: e.ceil()),
    rare("The logarithm is taken at the end.", lambda e, a: e.log()),
    rare("It is per cent of all gates.", lambda e, a: 100 * e / a.numel()),
)
_WHOLES = (
    Way(
        "The coin is stretched without being cut off, and added up.",
        lambda a, beta, gamma, zeta: (torch.sigmoid(a) * (zeta - gamma) + gamma).sum(),
    ),
    rare(
        "Gates without noise are averaged.",
        lambda a, beta, gamma, zeta: without_noise(a, gamma, zeta).mean(),
    ),
    rare(
        "The share of gates is given that are open without noise.",
        lambda a, beta, gamma, zeta: (without_noise(a, gamma, zeta) > 0).to(a.dtype).mean(),
    ),
    rare(
        "Gates are counted whose log alpha is above 0. Each should add the probability that it is open; a "
        "count has no slope.",
        lambda a, beta, gamma, zeta: (a > 0).to(a.dtype).sum(),
        "comparisons: a probability is asked for.",
    ),
    rare(
        "It is sigmoid(log alpha) minus the shift: a bracket ends too early.",
        lambda a, beta, gamma, zeta: (torch.sigmoid(a) - beta * math.log(-gamma / zeta)).sum(),
    ),
    rare(
        "All of it is divided by beta within the sigmoid.",
        lambda a, beta, gamma, zeta: torch.sigmoid((a - math.log(-gamma / zeta)) / beta).sum(),
    ),
    rare(
        "All of it is divided by beta within the sigmoid, beta times the logarithm too.",
        lambda a, beta, gamma, zeta: torch.sigmoid((a - beta * math.log(-gamma / zeta)) / beta).sum(),
    ),
    rare(
        "All of it is multiplied by beta within the sigmoid: brackets.",
        lambda a, beta, gamma, zeta: torch.sigmoid((a - math.log(-gamma / zeta)) * beta).sum(),
    ),
    rare(
        "The absolute values of log alpha are added up: no probability is in it.",
        lambda a, beta, gamma, zeta: a.abs().sum(),
    ),
    rare("This is log alpha as it came, added up with nothing done to it.", lambda a, *limits: a.sum()),
    rare(
        "This is the shift alone.", lambda a, beta, gamma, zeta: torch.tensor(beta * math.log(-gamma / zeta))
    ),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, float, float, float], ...]:
    """Gates with other constants than in the cases."""
    g = torch.Generator().manual_seed(73)
    limits = ((0.6, -0.25, 1.3), (1.7, -0.12, 1.2), (0.3, -0.4, 1.4))
    shapes = ((3, 7), (2, 5), (4, 9))
    return tuple((2 * torch.randn(s, generator=g), *some) for s, some in zip(shapes, limits, strict=True))


OPEN_GATES = Recipe(
    open_with,
    (
        Slot("fraction", "what stands under the logarithm.", (*_KNOWN("fraction"), *_FRACTIONS)),
        Slot("warm", "where `beta` is used.", (*_KNOWN("warm"), *_WARMS)),
        Slot("shift", "the difference under the sigmoid.", (*_KNOWN("shift"), *_SHIFTS)),
        Slot("squash", "the sigmoid.", (*_KNOWN("squash"), *_SQUASHES)),
        Slot("add", "what is done with all probabilities.", (*_KNOWN("add"), *_ADDS)),
        Slot("finish", "the last step.", (*_KNOWN("finish"), *_FINISHES)),
        Slot(
            "whole", "the formula, and where its brackets end.", (*_KNOWN("whole"), *_WHOLES, *PRICE_LETTERS)
        ),
    ),
    _more,
)
