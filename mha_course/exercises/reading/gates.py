"""What wrong gates hold: the noise, log alpha, the temperature, the stretch, and what is cut off."""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_gates import GATE_MISTAKES, gate_with
from mha_course.exercises.reading.gate_letters import GATE_LETTERS
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_KNOWN = functools.partial(ways_of, GATE_MISTAKES)
_NOISES = (
    Way("Of the noise only ln(1 - u) is there, with its minus.", lambda u: -(1 - u).log()),
    rare("Of the noise only ln(1 - u) is there, with a plus.", lambda u: (1 - u).log()),
    Way("The logarithms are to base 2.", lambda u: u.log2() - (1 - u).log2()),
    rare("The logarithms are to base 10.", lambda u: u.log10() - (1 - u).log10()),
    Way("The odds u / (1 - u) have no logarithm.", lambda u: u / (1 - u)),
    rare("The logarithms are left out: it is u minus (1 - u).", lambda u: 2 * u - 1),
    rare("The two logarithms are multiplied.", lambda u: u.log() * (1 - u).log()),
    Way("The two logarithms are divided.", lambda u: u.log() / (1 - u).log()),
    Way("ln(1 + u) stands for ln(1 - u): a sign.", lambda u: u.log() - (1 + u).log()),
    rare(
        "The noise is -ln(-ln u), as for a choice among many. A coin needs the logit.",
        lambda u: -(-u.log()).log(),
    ),
    rare("u minus ln(1 - u) is added: a logarithm is missing.", lambda u: u - (1 - u).log()),
    rare("ln u minus (1 - u) is added: a logarithm is missing.", lambda u: u.log() - (1 - u)),
    rare(
        "The logarithm of 1 - u stands inside the other: ln(u - ln(1 - u)).",
        lambda u: (u - (1 - u).log()).log(),
    ),
    rare("ln u is subtracted from itself: there is no noise.", lambda u: u.log() - u.log()),
    rare("The sigmoid of u is added.", lambda u: u.sigmoid()),
    rare("The sine of u is added.", lambda u: u.sin()),
    rare("1 - u is added.", lambda u: 1 - u),
    rare("ln u minus ln(-u) is NaN: 1 is missing.", lambda u: u.log() - (-u).log()),
    rare("ln u minus ln(2 - u): it should be 1.", lambda u: u.log() - (2 - u).log()),
    rare("ln u minus ln(1 / u), twice ln u.", lambda u: 2 * u.log()),
    rare("ln u minus ln(u - 1), which is NaN.", lambda u: u.log() - (u - 1).log()),
    rare("There is the noise and once more ln u.", lambda u: 2 * u.log() - (1 - u).log()),
)
_ALPHAS = (
    Way("Log alpha is not used.", torch.zeros_like),
    Way("The sigmoid of log alpha is added.", torch.sigmoid),
    Way("Log alpha is added twice.", lambda a: 2 * a),
    rare("The absolute value of log alpha is added.", torch.abs),
    rare("ln(1 + log alpha) is added.", torch.log1p),
    rare("The softmax of log alpha is added.", lambda a: a.softmax(-1)),
    rare("What is below 0 of log alpha is set to 0.", torch.relu),
    rare("Log alpha is squared.", lambda a: a**2),
)
_WARMS = (
    rare("The noise is missing where it should be divided: log alpha alone is.", lambda n, a, beta: a / beta),
    Way("It is divided by beta twice.", lambda n, a, beta: (n + a) / beta**2),
    rare("It is divided by the root of beta.", lambda n, a, beta: (n + a) / math.sqrt(beta)),
    rare("Beta is added. It is divided by beta.", lambda n, a, beta: n + a + beta),
    Way("Beta is subtracted. It is divided by beta.", lambda n, a, beta: n + a - beta),
    rare("Noise and log alpha are multiplied. They are added.", lambda n, a, beta: n * a / beta),
    rare("Only the noise is there, divided by beta.", lambda n, a, beta: n / beta),
    Way("Log alpha is subtracted from the noise.", lambda n, a, beta: (n - a) / beta),
    rare(
        "Above and below the line are exchanged: beta is divided by noise and log alpha.",
        lambda n, a, beta: beta / (n + a),
    ),
    rare("Only the noise is there.", lambda n, a, beta: n),
    rare("It is rounded down (`//`).", lambda n, a, beta: (n + a) // beta),
    rare("Beta stands in log alpha's place.", lambda n, a, beta: (n + beta) / beta),
    rare("Log alpha multiplies, and beta is not used.", lambda n, a, beta: n * a),
    rare("The noise is multiplied by beta, and log alpha is added.", lambda n, a, beta: n * beta + a),
    rare("Log alpha is multiplied by beta, and the noise is added.", lambda n, a, beta: n + a * beta),
    rare("It is divided by itself.", lambda n, a, beta: torch.ones_like(a)),
    rare("It is divided by log alpha.", lambda n, a, beta: (n + a) / a),
    rare("The exponential is taken.", lambda n, a, beta: ((n + a) / beta).exp()),
)
_SQUASHES = (
    Way("There is no sigmoid.", lambda x: x),
    Way("The sigmoid is taken twice.", lambda x: x.sigmoid().sigmoid()),
    Way("A softmax stands for the sigmoid: then gates compete.", lambda x: x.softmax(-1)),
    Way("A tanh stands for the sigmoid: it starts at -1.", lambda x: x.tanh()),
    Way("The sign within the sigmoid is turned round.", lambda x: (-x).sigmoid()),
    rare("The exponential stands for the sigmoid.", lambda x: x.exp()),
    rare("What is below 0 is set to 0; there is no sigmoid.", lambda x: x.relu()),
    rare("The logarithm of the sigmoid is taken.", lambda x: x.sigmoid().log()),
    rare("The coin is rounded to 0 or 1 before it is stretched.", lambda x: (x > 0).to(x.dtype)),
    rare("1 / (1 - exp(-x)) has a wrong sign.", lambda x: 1 / (1 - (-x).exp())),
    rare("(1 + tanh x) / 2 is a sigmoid of 2 x.", lambda x: (1 + x.tanh()) / 2),
)
_STRETCHES = (
    Way("Gamma is not added at the end: the coin starts at 0.", lambda s, gamma, zeta: s * (zeta - gamma)),
    Way("The coin is only moved by gamma, not stretched.", lambda s, gamma, zeta: s + gamma),
    Way("The coin goes from zeta to gamma, the wrong way.", lambda s, gamma, zeta: s * (gamma - zeta) + zeta),
    Way(
        "Zeta is added at the end. The coin should start at gamma.",
        lambda s, gamma, zeta: s * (zeta - gamma) + zeta,
    ),
    rare("Zeta is subtracted at the end.", lambda s, gamma, zeta: s * (zeta - gamma) - zeta),
    rare(
        "Brackets are missing: s is multiplied by zeta only, and gamma cancels.",
        lambda s, gamma, zeta: s * zeta - gamma + gamma,
    ),
    Way("Brackets are missing: s · zeta - gamma.", lambda s, gamma, zeta: s * zeta - gamma),
    rare("Brackets are missing: s · zeta - 2 gamma.", lambda s, gamma, zeta: s * zeta - 2 * gamma),
    rare(
        "The coin is stretched from minus zeta to zeta, or the like.",
        lambda s, gamma, zeta: s * 2 * zeta - zeta,
    ),
    rare(
        "It is divided by the length of the way; that shrinks the coin.",
        lambda s, gamma, zeta: s / (zeta - gamma) + gamma,
    ),
    rare("Gamma is added before the coin is stretched.", lambda s, gamma, zeta: (s + gamma) * (zeta - gamma)),
    rare(
        "Gamma is subtracted first, and then it is divided by the length: that is the way back.",
        lambda s, gamma, zeta: (s - gamma) / (zeta - gamma),
    ),
    rare("It is s + zeta - gamma + gamma.", lambda s, gamma, zeta: s + zeta),
    rare("It is s + (zeta - gamma) + gamma.", lambda s, gamma, zeta: s + (zeta - gamma) + gamma),
    rare("It is s · (zeta - gamma) · gamma.", lambda s, gamma, zeta: s * (zeta - gamma) * gamma),
    rare("It is s · (zeta · gamma) + gamma.", lambda s, gamma, zeta: s * (zeta * gamma) + gamma),
    rare("It is s · gamma + gamma.", lambda s, gamma, zeta: s * gamma + gamma),
    rare("It is s · gamma + zeta.", lambda s, gamma, zeta: s * gamma + zeta),
    rare(
        "It is s · (gamma - zeta) + gamma: the sign is turned round.",
        lambda s, gamma, zeta: s * (gamma - zeta) + gamma,
    ),
    rare("It is zeta - gamma + gamma: the coin is missing.", lambda s, gamma, zeta: torch.full_like(s, zeta)),
    rare("It is zeta - gamma: the coin is missing.", lambda s, gamma, zeta: torch.full_like(s, zeta - gamma)),
    rare("It is gamma: the coin is missing.", lambda s, gamma, zeta: torch.full_like(s, gamma)),
    rare("It is gamma - (zeta - gamma) · s.", lambda s, gamma, zeta: gamma - s * (zeta - gamma)),
    rare(
        "It is s · (1 - gamma) + gamma: the coin ends at 1.", lambda s, gamma, zeta: s * (1 - gamma) + gamma
    ),
    rare("It is s · zeta: the coin starts at 0.", lambda s, gamma, zeta: s * zeta),
    rare("The coin itself is added at the end, not gamma.", lambda s, gamma, zeta: s * (zeta - gamma) + s),
    rare("The coin stands in zeta's place.", lambda s, gamma, zeta: s * (s - gamma) + gamma),
    rare("The coin stands in gamma's place.", lambda s, gamma, zeta: s * (zeta - s) + gamma),
)
_CUTS = (
    Way("Only what lies below 0 is cut off.", lambda s: s.clamp(min=0)),
    Way("Only what lies above 1 is cut off.", lambda s: s.clamp(max=1)),
    Way("What lies outside is set to 0 at both ends.", lambda s: s.where((s >= 0) & (s <= 1), 0.0)),
    rare("What lies outside is set to 1 at both ends.", lambda s: s.where((s >= 0) & (s <= 1), 1.0)),
    Way("A sigmoid stands for the cut: then no gate is exactly 0.", lambda s: s.sigmoid()),
    rare("The absolute value is taken, and no zero comes out.", lambda s: s.abs().clamp(max=1)),
    Way("It is cut off at -1 and 1. A gate starts at 0.", lambda s: s.clamp(-1, 1)),
    rare("The two ends are exchanged: max(1, min(0, s)) is 1 throughout.", lambda s: torch.ones_like(s)),
    rare("The ends of min and max are exchanged: it is 0 throughout.", lambda s: torch.zeros_like(s)),
    rare("It is cut off at 0 and -1: every gate is -1.", lambda s: torch.full_like(s, -1.0)),
    rare("It is cut off at 0 and 2.", lambda s: s.clamp(0, 2)),
    rare("It is cut off at 1 and 1: every gate is 1.", lambda s: s.clamp(1, 1)),
    rare("It is cut off below 1: no gate is less.", lambda s: s.clamp(min=1)),
    rare("It is cut off above 0: no gate is more.", lambda s: s.clamp(max=0)),
    rare("It is divided by its largest value.", lambda s: s / s.max()),
    rare("The smallest becomes 0 and the largest 1.", lambda s: (s - s.min()) / (s.max() - s.min())),
    rare("It is rounded.", lambda s: s.round()),
)
_FINISHES = (
    rare("Each gate is squared.", lambda g: g**2),
    rare("Gates are divided by their sum.", lambda g: g / g.sum()),
    rare("Gates are averaged.", lambda g: g.mean()),
    rare("Gates are added up.", lambda g: g.sum()),
    rare("Gates are counted that are open.", lambda g: (g > 0).to(g.dtype).sum()),
    rare("A gate above 0 counts as 1.", lambda g: (g > 0).to(g.dtype)),
    rare("A gate counts as 1 only where it is exactly 1.", lambda g: (g >= 1).to(g.dtype)),
    rare("Gates are rounded to one decimal.", lambda g: g.round(decimals=1)),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor, float, float, float], ...]:
    """Gates with other constants than in the cases."""
    g = torch.Generator().manual_seed(71)
    drawn = []
    for shape, limits in (((10,), (0.45, -0.25, 1.15)), ((2, 6), (1.3, -0.12, 1.3))):
        drawn.append((torch.randn(shape, generator=g), 0.05 + 0.9 * torch.rand(shape, generator=g), *limits))
    return tuple(drawn)


GATES = Recipe(
    gate_with,
    (
        Slot("noise", "the noise made of `u`.", (*_KNOWN("noise"), *_NOISES)),
        Slot("warm", "where noise, log alpha and beta meet.", (*_KNOWN("warm"), *_WARMS)),
        Slot("stretch", "how the coin is stretched.", (*_KNOWN("stretch"), *_STRETCHES)),
        Slot("cut", "what is cut off.", (*_KNOWN("cut"), *_CUTS)),
        Slot("squash", "the sigmoid.", _SQUASHES),
        Slot("alpha", "what is done with `log_alpha`.", (*_KNOWN("alpha"), *_ALPHAS)),
        Slot("finish", "the last step.", (*_KNOWN("finish"), *_FINISHES)),
        Slot("whole", "the letters of the formula.", GATE_LETTERS),
    ),
    _more,
)
