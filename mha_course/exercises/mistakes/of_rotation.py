"""Known mistakes of `rotate_pairs`: positions, frequencies, which features make a pair, how a pair turns."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise
from mha_course.exercises.mistakes.workbench import once

Step = Callable[..., Any]


def neighbours(x: Tensor) -> tuple[Tensor, Tensor]:
    """Even and odd features."""
    return x[..., 0::2], x[..., 1::2]


def halves(x: Tensor) -> tuple[Tensor, Tensor]:
    """The first half and the second."""
    return x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]


def side_by_side(first: Tensor, second: Tensor) -> Tensor:
    """First, second, first, second, ..."""
    return torch.stack((first, second), -1).flatten(-2)


def end_to_end(first: Tensor, second: Tensor) -> Tensor:
    """All first ones, then all second ones."""
    return torch.cat((first, second), -1)


def turned(a: Tensor, b: Tensor, cosine: Tensor, sine: Tensor) -> tuple[Tensor, Tensor]:
    """A rotation of the pair (a, b)."""
    return a * cosine - b * sine, a * sine + b * cosine


def rotated_with(
    x: Tensor,
    start: int,
    base: float,
    *,
    given: Step = lambda start, base: (start, base),
    position: Step = lambda p, n, start: start + p,
    frequency: Step = lambda j, d, base: base ** (-2 * j / d),
    angle: Step = lambda p, w: p * w,
    cut: Step = neighbours,
    turn: Step = turned,
    join: Step = side_by_side,
    along: int = 2,
    finish: Step = lambda y, x: y,
) -> Tensor:
    """Rotary positions with the steps given; right without any: like x. along: the axis of positions."""
    start, base = given(start, base)
    laid = x if along == 2 else x.transpose(along, 2)
    n, d = laid.shape[-2:]
    p = once(position, _counted(n), n, start)
    w = once(frequency, _counted(d // 2), d, base)
    cosine, sine = once(_waves, once(_angles, angle, p, w), x.dtype)
    made = once(join, *once(turn, *once(cut, laid), cosine, sine))
    return finish(made if along == 2 else made.transpose(along, 2), x)


@functools.cache
def _counted(n: int) -> Tensor:
    return torch.arange(n, dtype=torch.float64)


def _angles(angle: Step, p: Tensor, w: Tensor) -> Tensor:
    return angle(p[:, None], w)


def _waves(angles: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    return angles.cos().to(dtype), angles.sin().to(dtype)


def _overwritten(a: Tensor, b: Tensor, cosine: Tensor, sine: Tensor) -> tuple[Tensor, Tensor]:
    new = a * cosine - b * sine
    return new, new * sine + b * cosine


_with = partial(Otherwise, rotated_with)

ROTATION_MISTAKES = (
    Mistake(
        "halves-for-pairs",
        _with(cut=halves, join=end_to_end),
        "A pair is made of feature j and feature j + d_k / 2, as in Hugging Face's layout. Weights made for "
        "neighbours give other scores then.",
        "how `x` is cut, and how it is put together again.",
    ),
    Mistake(
        "halves-cut-apart",
        _with(cut=halves),
        "`x` is cut into halves, and put together as neighbours. Cut and join should undo each other.",
        "how `x` is cut.",
    ),
    Mistake(
        "joined-as-halves",
        _with(join=end_to_end),
        "All first features of the pairs come first, then all second ones. They should alternate as they did "
        "in `x`.",
        "how the pairs are put together.",
    ),
    Mistake(
        "other-direction",
        _with(turn=lambda a, b, c, s: turned(a, b, c, -s)),
        "The pairs turn in the other direction. Scores would still depend on the distance only, but ahead "
        "and behind change places.",
        "the signs in front of the sines.",
    ),
    Mistake(
        "start-ignored",
        _with(position=lambda p, n, start: p),
        "Positions start at 0 whatever `start` says. Behind a cache a token stands further on.",
        "where `start` takes part.",
    ),
    Mistake(
        "counted-from-one",
        _with(position=lambda p, n, start: start + p + 1),
        "Every position is one too high. The first token stands at `start`.",
        "the first position.",
    ),
    Mistake(
        "all-at-the-start",
        _with(position=lambda p, n, start: start + 0 * p),
        "All tokens turn as if they stood at `start`. Each has its own position.",
        "where the axis of tokens takes part.",
    ),
    Mistake(
        "half-the-exponent",
        _with(frequency=lambda j, d, base: base ** (-j / d)),
        "The exponent is -j / d_k; the factor of 2 is missing.",
        "the exponent: which number has a pair?",
    ),
    Mistake(
        "twice-the-exponent",
        _with(frequency=lambda j, d, base: base ** (-4 * j / d)),
        "The exponent is twice what it should be: the number of the feature takes the place of the number of "
        "the pair (or d_k / 2 that of d_k).",
        "the exponent: which number has a pair?",
    ),
    Mistake(
        "rising-frequencies",
        _with(frequency=lambda j, d, base: base ** (2 * j / d)),
        "Frequencies rise from pair to pair. They should fall.",
        "the sign of the exponent.",
    ),
    Mistake(
        "base-of-2017",
        _with(given=lambda start, base: (start, 10_000.0)),
        "The base is 10,000 whatever `base` says.",
        "where `base` takes part.",
    ),
    Mistake(
        "one-speed-for-all",
        _with(frequency=lambda j, d, base: torch.ones_like(j)),
        "All pairs turn by the same angle, the position itself. Each pair has its own frequency.",
        "where `base` takes part.",
    ),
    Mistake(
        "pairs-from-one",
        _with(frequency=lambda j, d, base: base ** (-2 * (j + 1) / d)),
        "Pairs are counted from 1. Pair 0 turns by 1 for each position.",
        "the first exponent.",
    ),
    Mistake(
        "both-plus",
        _with(turn=lambda a, b, c, s: (a * c + b * s, a * s + b * c)),
        "Both sines have a plus. That is no rotation: lengths change.",
        "the signs in front of the sines.",
    ),
    Mistake(
        "sine-and-cosine-swapped",
        _with(turn=lambda a, b, c, s: turned(a, b, s, c)),
        "Sine and cosine have changed places. At position 0 nothing should turn.",
        "which of the two is 1 at angle 0.",
    ),
    Mistake(
        "only-cosines",
        _with(turn=lambda a, b, c, s: (a * c, b * c)),
        "Each feature is multiplied by a cosine, and nothing of its partner comes in.",
        "the terms with sines.",
    ),
    Mistake(
        "overwritten-on-the-way",
        _with(turn=_overwritten),
        "The second feature is computed from the new first one. Both need the old ones.",
        "what is written before it is read for the last time.",
    ),
    Mistake(
        "positions-added",
        _with(turn=lambda a, b, c, s: (a + s, b + c)),
        "Sines and cosines are added, as in the original Transformer. Here pairs are turned.",
        "`+` where a product belongs.",
    ),
    Mistake(
        "in-degrees",
        _with(angle=lambda p, w: p * w * math.pi / 180),
        "Angles are taken for degrees. They are in radians, as `sin` and `cos` want them.",
        "the factor of pi.",
    ),
    Mistake(
        "whole-turns",
        _with(angle=lambda p, w: 2 * math.pi * p * w),
        "There is a factor of 2 pi in the angles: pair 0 makes a whole turn for each position.",
        "the factor of pi.",
    ),
    Mistake(
        "heads-for-positions",
        _with(along=1),
        "The number of the head takes the place of the position. Positions run along the axis of tokens.",
        "the axis along which angles change.",
    ),
)
