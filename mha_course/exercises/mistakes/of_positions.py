"""Known mistakes of lesson 08, vectors of positions: frequencies, and the rotation that shifts."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake


def _encoded(
    n: int,
    d_model: int,
    exponent: Callable[[Tensor, int], Tensor] = lambda j, d: 2 * j / d,
    *,
    base: float = 10_000.0,
    first: int = 0,
    stretch: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Sines and cosines, each (n, d_model / 2), with an exponent of each pair's own number."""
    frequency = base ** -exponent(torch.arange(d_model // 2, dtype=torch.float64), d_model)
    angle = (first + torch.arange(n))[:, None] * frequency * stretch
    return angle.sin().float(), angle.cos().float()


def _interleaved(sines: Tensor, cosines: Tensor) -> Tensor:
    return torch.stack([sines, cosines], -1).flatten(1)


def _by_column(n: int, d_model: int, factor: int) -> Tensor:
    """A frequency for every column: sine in the even ones, cosine in the odd ones."""
    column = torch.arange(d_model, dtype=torch.float64)
    angle = torch.arange(n)[:, None] * 10_000.0 ** (-factor * column / d_model)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos()).float()


ENCODING_MISTAKES = (
    Mistake(
        "halves-not-pairs",
        lambda n, d: torch.cat(_encoded(n, d), -1),
        "All sines stand in the first half and all cosines in the second. Here they alternate.",
        "how sines and cosines are put together.",
    ),
    Mistake(
        "sine-and-cosine-swapped",
        lambda n, d: _interleaved(*reversed(_encoded(n, d))),
        "Sine and cosine have changed places: column 0 holds sines.",
        "which of the two comes first.",
    ),
    Mistake(
        "counted-from-one",
        lambda n, d: _interleaved(*_encoded(n, d, first=1)),
        "Positions are counted from 1. The first one is 0.",
        "the first position: its sines are all 0.",
    ),
    Mistake(
        "half-the-exponent",
        lambda n, d: _interleaved(*_encoded(n, d, lambda j, width: j / width)),
        "The exponent of pair j is j / d_model; 2j / d_model is wanted. So frequencies fall too slowly.",
        "the exponent of the last pair.",
    ),
    Mistake(
        "twice-the-exponent",
        lambda n, d: _interleaved(*_encoded(n, d, lambda j, width: 4 * j / width)),
        "The exponent of pair j is 4j / d_model; 2j / d_model is wanted. So frequencies fall too fast.",
        "where a 2 is counted twice.",
    ),
    Mistake(
        "frequency-by-column",
        lambda n, d: _by_column(n, d, 1),
        "Every column has a frequency of its own. The two columns of a pair share one.",
        "the columns 0 and 1: the same angle belongs in both.",
    ),
    Mistake(
        "column-for-pair",
        lambda n, d: _by_column(n, d, 2),
        "The number of the column stands in the formula where the number of the pair belongs.",
        "what j counts: pairs, and two columns make one.",
    ),
    Mistake(
        "sines-only",
        lambda n, d: _interleaved(*_encoded(n, d)[:1] * 2),
        "All columns hold sines. A pair holds a sine and a cosine.",
        "the odd columns.",
    ),
    Mistake(
        "cosines-only",
        lambda n, d: _interleaved(*_encoded(n, d)[1:] * 2),
        "All columns hold cosines. A pair holds a sine and a cosine.",
        "the even columns.",
    ),
    Mistake(
        "frequencies-reversed",
        lambda n, d: _interleaved(*(wave.flip(1) for wave in _encoded(n, d))),
        "The slowest pair comes first.",
        "the order of the pairs.",
    ),
    Mistake(
        "another-base",
        lambda n, d: _interleaved(*_encoded(n, d, base=1_000.0)),
        "The base is 1,000. It is 10,000.",
        "the zeros.",
    ),
    Mistake(
        "down-to-the-end",
        lambda n, d: _interleaved(*_encoded(n, d, lambda j, width: j / max(1, width // 2 - 1))),
        (
            "The last pair has frequency 1/10,000: the range is divided by one pair less. Some "
            "programs do so; "
            "the formula here divides by d_model."
        ),
        "the divisor in the exponent.",
    ),
    Mistake(
        "share-of-the-length",
        lambda n, d: _interleaved(*_encoded(n, d, stretch=1 / n)),
        "Positions are divided by the length, so that the same place looks different in longer sentences.",
        "what the frequencies are multiplied with.",
    ),
    Mistake(
        "full-turns",
        lambda n, d: _interleaved(*_encoded(n, d, stretch=2 * math.pi)),
        "Angles are multiplied by 2 pi. The formula does without.",
        "what goes into sine and cosine.",
    ),
    Mistake(
        "transposed",
        lambda n, d: _interleaved(*_encoded(n, d)).T,
        "Rows and columns have changed places: positions are the rows.",
        "the axes of the result.",
    ),
)


def _blocks(angle: Tensor, entries: Callable[[Tensor, Tensor], list[Tensor]] | None = None) -> Tensor:
    """A matrix with one 2 x 2 block for each angle on its diagonal."""
    cosine, sine = angle.cos(), angle.sin()
    four = [cosine, sine, -sine, cosine] if entries is None else entries(cosine, sine)
    return torch.block_diag(*torch.stack(four, -1).view(-1, 2, 2))


def _halves(k: int, w: Tensor) -> Tensor:
    cosine, sine = (k * w).cos().diag(), (k * w).sin().diag()
    return torch.cat([torch.cat([cosine, sine], 1), torch.cat([-sine, cosine], 1)])


SHIFT_MISTAKES = (
    Mistake(
        "other-direction",
        lambda k, w: _blocks(-k * w),
        "It turns the other way: position p goes to p - k.",
        "which of the two sines has the minus, with the sine's row first.",
    ),
    Mistake(
        "halves-not-pairs",
        _halves,
        (
            "Sines and cosines are taken for two halves. They alternate here, so each pair has a "
            "block of its own."
        ),
        "where the blocks stand.",
    ),
    Mistake(
        "no-minus",
        lambda k, w: _blocks(k * w, lambda c, s: [c, s, s, c]),
        "Both sines have the same sign. Then lengths change, and it is no rotation.",
        "cos(a + b) written out.",
    ),
    Mistake(
        "cosines-only",
        lambda k, w: _blocks(k * w, lambda c, s: [c, 0 * s, 0 * s, c]),
        "Only the diagonal is filled. To turn, sine and cosine of a pair have to mix.",
        "sin(a + b) written out: it has two terms.",
    ),
    Mistake(
        "k-forgotten",
        lambda k, w: _blocks(w),
        "It moves one place ahead, whatever k is.",
        "the angle.",
    ),
    Mistake(
        "always-ahead",
        lambda k, w: _blocks(abs(k) * w),
        "It moves ahead also where k is negative.",
        "the sign of k.",
    ),
    Mistake(
        "one-angle-for-all",
        lambda k, w: _blocks((k * w[0]).expand(len(w))),
        "All pairs are turned by the angle of the first. Each has its own frequency.",
        "the index of the frequency.",
    ),
    Mistake(
        "sine-and-cosine-swapped",
        lambda k, w: _blocks(k * w, lambda c, s: [s, c, -c, s]),
        "Sine and cosine have changed places. For k = 0 nothing should move.",
        "the diagonal.",
    ),
    Mistake(
        "mirrored",
        lambda k, w: _blocks(k * w, lambda c, s: [c, s, s, -c]),
        "Each block is a mirror and no rotation: two of them in a row lead back.",
        "which of the four entries has the minus.",
    ),
    Mistake(
        "blocks-in-a-stack",
        lambda k, w: torch.stack([_blocks(k * one[None]) for one in w]),
        "The blocks lie in a stack, `({pairs}, 2, 2)`. One matrix with the blocks on its diagonal is wanted.",
        "the last step.",
    ),
    Mistake(
        "blocks-reversed",
        lambda k, w: _blocks(k * w.flip(0)),
        "The last frequency turns the first pair.",
        "the order of the blocks.",
    ),
    Mistake(
        "k-as-power",
        lambda k, w: _blocks(w**k),
        "The frequencies are raised to the power k. The angle is a product.",
        "the angle.",
    ),
    Mistake(
        "k-added",
        lambda k, w: _blocks(w + k),
        "k is added to the frequencies. The angle is a product.",
        "the angle.",
    ),
    Mistake(
        "k-outside",
        lambda k, w: k * _blocks(w),
        "The shift by one is multiplied by k: that makes vectors longer. The angle grows, not the matrix.",
        "where k stands.",
    ),
)
