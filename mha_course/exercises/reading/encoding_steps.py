"""Steps of a position encoding done otherwise: positions, frequencies, angles, pairs."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from mha_course.exercises.reading.recipes import Recipe, Slot, Step, Way, rare


def _frequency(j: Tensor, d: int) -> Tensor:
    return 10_000.0 ** (-2 * j / d)


def _pairs(angle: Tensor) -> tuple[Tensor, Tensor]:
    return angle.sin(), angle.cos()


def encoding_with(
    n: int,
    d_model: int,
    *,
    position: Step = lambda p, n: p,
    frequency: Step = _frequency,
    angle: Step = lambda p, w: p * w,
    pair: Step = _pairs,
    finish: Step = lambda pe: pe,
) -> Tensor:
    """The position vectors with the steps given; without any they are right: (n, d_model)."""
    p = position(torch.arange(n, dtype=torch.float64), n)
    w = frequency(torch.arange(d_model // 2, dtype=torch.float64), d_model)
    even, odd = pair(angle(p[:, None], w))
    return finish(torch.stack([even, odd], 2).flatten(1)).float()


def _base(base: float) -> Step:
    return lambda j, d: base ** (-2 * j / d)


_POSITIONS = (
    Way("Positions are counted from 1.", lambda p, n: p + 1),
    Way("Positions are counted from -1.", lambda p, n: p - 1),
    Way("Positions run backwards.", lambda p, n: n - 1 - p),
    Way("Positions are divided by n.", lambda p, n: p / n),
    Way("Positions are divided by n - 1.", lambda p, n: p / max(n - 1, 1)),
    Way("Positions have the wrong sign.", lambda p, n: -p),
    Way("All positions are the first one.", lambda p, n: 0 * p),
    rare("Positions are squared.", lambda p, n: p**2),
    rare("Positions are doubled.", lambda p, n: 2 * p),
    rare("Positions are halved.", lambda p, n: p / 2),
)
_FREQUENCIES = (
    *(
        Way(f"The base is {base:,.0f}; 10,000 is wanted.", _base(base))
        for base in (1_000, 100_000, 100, 500_000, 10, 5_000, 1_000_000, 9_999, 10_001)
    ),
    Way("The base is e, not 10,000.", _base(math.e)),
    Way("The base is 2, not 10,000.", _base(2)),
    Way(
        "The exponent of pair j is -j / d_model; -2j / d_model is wanted.", lambda j, d: 10_000.0 ** (-j / d)
    ),
    Way(
        "The exponent of pair j is -4j / d_model; -2j / d_model is wanted.",
        lambda j, d: 10_000.0 ** (-4 * j / d),
    ),
    Way("Pairs are counted from 1: the first frequency is 1.", lambda j, d: 10_000.0 ** (-2 * (j + 1) / d)),
    Way("Half a pair is added to j.", lambda j, d: 10_000.0 ** (-(2 * j + 1) / d)),
    Way("The exponent is divided by d_model - 2.", lambda j, d: 10_000.0 ** (-2 * j / max(d - 2, 1))),
    Way("The exponent is divided by d_model - 1.", lambda j, d: 10_000.0 ** (-2 * j / (d - 1))),
    Way("The exponent is divided by d_model + 1.", lambda j, d: 10_000.0 ** (-2 * j / (d + 1))),
    Way(
        "The exponent is rounded down (`//`): frequencies are 1 or 1/10,000.",
        lambda j, d: 10_000.0 ** -(2 * j // d),
    ),
    Way(
        "The exponent is rounded down (`//`): every frequency is 1 but the last ones.",
        lambda j, d: 10_000.0 ** (-2 * j // d),
    ),
    Way(
        "The exponent has no minus: frequencies rise from pair to pair.", lambda j, d: 10_000.0 ** (2 * j / d)
    ),
    Way("Frequencies fall in equal steps; they should fall by a factor.", lambda j, d: 1 - 2 * j / d),
    Way("The slowest pair comes first.", lambda j, d: _frequency(d // 2 - 1 - j, d)),
    Way("All pairs have frequency 1.", lambda j, d: torch.ones_like(j)),
    Way("All pairs have frequency 1/10,000.", lambda j, d: torch.full_like(j, 1e-4)),
    Way("The exponent is not divided by d_model.", lambda j, d: 10_000.0 ** (-2 * j)),
    Way("Frequencies are 1, 2, 3, ...", lambda j, d: j + 1),
    Way("Frequencies are 0, 1, 2, ...", lambda j, d: j),
    Way("Frequencies are 1, 1/2, 1/3, ...", lambda j, d: 1 / (j + 1)),
    rare("The base is multiplied by the exponent; it should be a power.", lambda j, d: 10_000.0 * -2 * j / d),
    rare("Frequencies are the exponents themselves.", lambda j, d: 2 * j / d),
    rare("The logarithm of the frequencies stands for them.", lambda j, d: -2 * j / d * math.log(10_000)),
)
_ANGLES = (
    Way("Angles are taken for degrees.", lambda p, w: torch.deg2rad(p * w)),
    Way("Angles are multiplied by 2π.", lambda p, w: 2 * math.pi * p * w),
    Way("Angles are multiplied by π.", lambda p, w: math.pi * p * w),
    Way("Angles are rounded to whole numbers.", lambda p, w: (p * w).round()),
    Way("Angles are cut to whole numbers.", lambda p, w: (p * w).trunc()),
    Way("Angles have the wrong sign.", lambda p, w: -p * w),
    Way("The position is divided by the frequency; it should be multiplied.", lambda p, w: p / w),
    Way("Position and frequency are added; they should be multiplied.", lambda p, w: p + w),
    Way("1 is added to every angle.", lambda p, w: p * w + 1),
    Way("The frequency is raised to the power of the position.", lambda p, w: w**p),
)
_PAIRS = (
    Way("Sine and cosine have changed places.", lambda a: (a.cos(), a.sin())),
    Way("Both columns hold sines.", lambda a: (a.sin(), a.sin())),
    Way("Both columns hold cosines.", lambda a: (a.cos(), a.cos())),
    Way("The cosine has a minus.", lambda a: (a.sin(), -a.cos())),
    Way("The sine has a minus.", lambda a: (-a.sin(), a.cos())),
    Way("A tangent stands for the cosine.", lambda a: (a.sin(), a.tan())),
    Way("The angles themselves stand there, without sine and cosine.", lambda a: (a, a)),
    Way("The sine is missing: the even columns hold angles.", lambda a: (a, a.cos())),
    Way("The cosine is missing: the odd columns hold angles.", lambda a: (a.sin(), a)),
    Way("The odd columns are 0.", lambda a: (a.sin(), 0 * a)),
    Way("The even columns are 0.", lambda a: (0 * a, a.cos())),
    Way("Sines and cosines are squared.", lambda a: (a.sin() ** 2, a.cos() ** 2)),
)


def _halves(pe: Tensor) -> Tensor:
    return torch.cat([pe[:, 0::2], pe[:, 1::2]], 1)


_FINISHES = (
    Way("All sines stand in the first half and all cosines in the second.", _halves),
    Way(
        "Sines and cosines in two halves are shuffled: cut into pairs of neighbours and turned.",
        lambda pe: _halves(pe).view(len(pe), -1, 2).transpose(1, 2).flatten(1),
    ),
    rare(
        "Rows and columns are filled in the wrong order: the numbers are turned and cut into rows again.",
        lambda pe: pe.T.reshape(pe.shape),
    ),
    rare("The columns stand in reverse order.", lambda pe: pe.flip(1)),
)
ENCODING = Recipe(
    encoding_with,
    (
        Slot("frequency", "how the frequency of a pair is made.", _FREQUENCIES),
        Slot("angle", "what goes into sine and cosine.", _ANGLES),
        Slot("position", "the first position, and the step to the next.", _POSITIONS),
        Slot("pair", "what goes into the two columns of a pair.", _PAIRS),
        Slot("finish", "how sines and cosines are put together.", _FINISHES),
    ),
)
