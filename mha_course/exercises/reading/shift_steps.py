"""Steps of a shift matrix done otherwise: k, the frequencies, the angle, the block of a pair."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from mha_course.exercises.reading.recipes import Recipe, Slot, Step, Way, rare


def _block(cosine: Tensor, sine: Tensor) -> tuple[Tensor, ...]:
    return cosine, sine, -sine, cosine


def shift_with(
    k: int,
    frequencies: Tensor,
    *,
    steps: Step = lambda k: k,
    fast: Step = lambda w: w,
    angle: Step = lambda k, w: k * w,
    block: Step = _block,
    finish: Step = lambda matrix, angle: matrix,
) -> Tensor:
    """The shift with the steps given; without any it is right: (d_model, d_model)."""
    turn = angle(steps(k), fast(frequencies))
    blocks = torch.stack(block(turn.cos(), turn.sin()), 1).reshape(-1, 2, 2)
    return finish(torch.block_diag(*blocks), turn)


def _halves(matrix: Tensor, angle: Tensor) -> Tensor:
    order = torch.cat([torch.arange(0, len(matrix), 2), torch.arange(1, len(matrix), 2)])
    return matrix[order][:, order]


_STEPS = (
    Way("It turns by k - 1 steps.", lambda k: k - 1),
    Way("It turns by k + 1 steps.", lambda k: k + 1),
    Way("It turns by one step, whatever k is.", lambda k: 1),
    Way("It turns by one step, ahead or back.", lambda k: (k > 0) - (k < 0)),
    Way("It turns by -k steps: the other way.", lambda k: -k),
    Way("It turns ahead also where k is negative.", abs),
    Way("Where k is negative it does not turn at all.", lambda k: max(k, 0)),
    Way("It turns by 2k steps.", lambda k: 2 * k),
    Way("It turns by half of the steps.", lambda k: k / 2),
    Way("It turns one step too far, in the direction of k.", lambda k: k + (1 if k > 0 else -1)),
    Way("It does not turn at all.", lambda k: 0),
    rare("It turns by k squared steps.", lambda k: k * k),
)
_FAST = (
    Way(
        "The frequencies given are not used: 10000 to the power of -2j / d_model stands there.",
        lambda w: (10_000.0 ** (-2 * torch.arange(len(w)) / (2 * len(w)))).to(w.dtype),
    ),
    Way("The frequencies play no part: every pair is turned by k.", torch.ones_like),
    Way("The first frequency turns all pairs.", lambda w: w[:1].expand_as(w)),
    Way("The last frequency turns all pairs.", lambda w: w[-1:].expand_as(w)),
    Way("The mean of the frequencies turns all pairs.", lambda w: w.mean().expand_as(w)),
    Way("The frequencies stand in reverse order.", lambda w: w.flip(0)),
    Way("Every pair gets the frequency of the pair before.", lambda w: w.roll(1)),
    Way("Every pair gets the frequency of the next pair.", lambda w: w.roll(-1)),
    Way(
        "The number of the pair, from 0, stands for its frequency.",
        lambda w: torch.arange(len(w), dtype=w.dtype),
    ),
    Way(
        "The number of the pair, from 1, stands for its frequency.",
        lambda w: torch.arange(1, len(w) + 1, dtype=w.dtype),
    ),
    Way("The frequencies are squared.", torch.square),
    Way("The root of the frequencies is taken.", torch.sqrt),
    Way("The frequencies are sorted.", lambda w: w.sort().values),
    rare("The frequencies are sorted from the largest on.", lambda w: w.sort(descending=True).values),
    rare("The frequencies are added up one by one.", lambda w: w.cumsum(0)),
)
_ANGLES = (
    Way("k and the frequency are added; they should be multiplied.", lambda k, w: k + w),
    Way("k is divided by the frequency; they should be multiplied.", lambda k, w: k / w),
    Way("The frequency is divided by k; they should be multiplied.", lambda k, w: w / k),
    Way("The frequency is raised to the power of k.", lambda k, w: w**k),
    Way("The angle is multiplied by 2π.", lambda k, w: 2 * math.pi * k * w),
    Way("The angle is multiplied by π.", lambda k, w: math.pi * k * w),
    Way("The angle is taken for degrees.", lambda k, w: torch.deg2rad(k * w)),
    Way("The angle is rounded to a whole number.", lambda k, w: (k * w).round()),
    Way("The angle is cut to a whole number.", lambda k, w: (k * w).trunc()),
    Way("The frequency is taken off k; they should be multiplied.", lambda k, w: k - w),
)
_BLOCKS = (
    Way("The minus stands at the other sine: it turns the other way.", lambda c, s: (c, -s, s, c)),
    Way("Both sines have a minus.", lambda c, s: (c, -s, -s, c)),
    Way("Neither sine has a minus.", lambda c, s: (c, s, s, c)),
    Way("Sine and cosine have changed places.", lambda c, s: (s, c, -c, s)),
    Way(
        "Sine and cosine have changed places, and the minus stands at the second sine.",
        lambda c, s: (s, c, c, -s),
    ),
    Way("The second cosine has a minus: it mirrors.", lambda c, s: (c, s, -s, -c)),
    Way("The second cosine has a minus and no sine has: it mirrors.", lambda c, s: (c, s, s, -c)),
    Way("The first cosine has a minus: it mirrors.", lambda c, s: (-c, s, s, c)),
    Way("Only the cosines are there.", lambda c, s: (c, 0 * s, 0 * s, c)),
    Way("Only the sines are there.", lambda c, s: (0 * c, s, -s, 0 * c)),
    Way("The first row stands in both rows.", lambda c, s: (c, s, c, s)),
    Way("The diagonal holds 1, not cosines.", lambda c, s: (1 + 0 * c, s, -s, 1 + 0 * c)),
    rare("All four entries are cosines.", lambda c, s: (c, c, c, c)),
    rare("All four entries are sines.", lambda c, s: (s, s, s, s)),
)
_FINISHES = (
    Way(
        "Sines and cosines are taken for two halves: the first rows for sines, the last for cosines.", _halves
    ),
    Way(
        "Only the first pair is turned.",
        lambda r, a: torch.block_diag(r[:2, :2], torch.eye(len(r) - 2, dtype=r.dtype)),
    ),
    Way(
        "The angles themselves stand in the blocks, without sine and cosine.",
        lambda r, a: torch.block_diag(*[t.expand(2, 2) for t in a]),
    ),
    Way("The entries are rounded to whole numbers.", lambda r, a: r.round()),
    Way(
        "Every pair's cosine meets every other one's: an outer product stands for the blocks.",
        lambda r, a: torch.outer(r.diagonal(), r.diagonal()),
    ),
    Way("Rows stand in reverse order.", lambda r, a: r.flip(0)),
    Way("Columns stand in reverse order.", lambda r, a: r.flip(1)),
    rare("The identity is added.", lambda r, a: r + torch.eye(len(r), dtype=r.dtype)),
    rare("The identity is taken off.", lambda r, a: r - torch.eye(len(r), dtype=r.dtype)),
)
SHIFT = Recipe(
    shift_with,
    (
        Slot("block", "the four entries of a block.", _BLOCKS),
        Slot("steps", "k, and its sign.", _STEPS),
        Slot("fast", "which frequency belongs to which pair.", _FAST),
        Slot("angle", "how the angle of a pair is made.", _ANGLES),
        Slot("finish", "where the blocks stand.", _FINISHES),
    ),
)
