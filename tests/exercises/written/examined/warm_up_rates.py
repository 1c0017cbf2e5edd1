"""warm_up_rates: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import math

import numpy as np
import torch


def L(
    s,
    w,
    rise=lambda i, s, w: i / w,
    fall=lambda i, s, w: (1 + math.cos(math.pi * (i - w) / (s - w))) / 2,
    cond=lambda i, s, w: i <= w,
    rng=lambda s: range(1, s + 1),
    post=lambda r: r,
):
    return post(torch.tensor([float(rise(i, s, w) if cond(i, s, w) else fall(i, s, w)) for i in rng(s)]))


def P(**k):
    return lambda s, w: L(s, w, **k)


def npx(s, w):
    i = np.arange(1, s + 1)
    return torch.from_numpy(
        np.where(i <= w, i / w, 0.5 * (1 + np.cos(np.pi * (i - w) / (s - w)))).astype(np.float32)
    )


def catx(s, w):
    return torch.cat(
        [torch.linspace(1 / w, 1, w), 0.5 * (1 + torch.cos(torch.linspace(0, math.pi, s - w + 1)[1:]))]
    )


def cosd(i, s, w, done):
    return (1 + math.cos(math.pi * done)) / 2


def F(d):
    return lambda i, s, w: (1 + math.cos(math.pi * d(i, s, w))) / 2


def inpl(s, w):
    o = torch.zeros(s)
    for i in range(s):
        n = i + 1
        o[i] = n / w if n <= w else math.cos(math.pi / 2 * (n - w) / (s - w)) ** 2
    return o


WRONG = [
    ("counted-from-zero", P(rng=lambda s: range(s))),
    ("rise-too-short", P(rise=lambda i, s, w: i / (w + 1))),
    ("rise-over-all-steps", P(rise=lambda i, s, w: i / s)),
    ("warm-up-only", P(fall=lambda i, s, w: 1)),
    ("cosine-from-the-first-update", P(fall=F(lambda i, s, w: i / s))),
    ("divided-by-steps", P(fall=F(lambda i, s, w: (i - w) / s))),
    ("straight-down", P(fall=lambda i, s, w: 1 - (i - w) / (s - w))),
    ("quarter-cosine", P(fall=lambda i, s, w: math.cos(math.pi / 2 * (i - w) / (s - w)))),
    ("not-halved", P(fall=lambda i, s, w: 1 + math.cos(math.pi * (i - w) / (s - w)))),
    ("below-zero", P(fall=lambda i, s, w: math.cos(math.pi * (i - w) / (s - w)))),
    ("whole-cosine", P(fall=F(lambda i, s, w: 2 * (i - w) / (s - w)))),
]

RIGHT = [
    P(),
    npx,
    catx,
    inpl,
    lambda s, w: torch.minimum(
        torch.arange(1, s + 1) / w,
        torch.where(
            torch.arange(1, s + 1) > w,
            0.5 * (1 + torch.cos(math.pi * (torch.arange(1, s + 1) - w) / (s - w))),
            1.0,
        ),
    ),
    P(cond=lambda i, s, w: i < w),
]

UNLISTED = [
    (
        "The rise has \\(update - 1\\) above the fraction bar: it starts at 0\\.",
        P(rise=lambda i, s, w: (i - 1) / w),
    ),
    (
        "The rise goes from 0 to 1: \\(update - 1\\) / \\(warm_up - 1\\)\\. The first",
        P(rise=lambda i, s, w: (i - 1) / max(w - 1, 1)),
    ),
    (
        "The rate rises on a half cosine\\. It should rise in equal steps\\.",
        P(rise=lambda i, s, w: (1 - math.cos(math.pi * i / w)) / 2),
    ),
    ("The rise is a root: its steps get smaller\\.", P(rise=lambda i, s, w: math.sqrt(i / w))),
    ("The rise is a square: its steps get larger\\.", P(rise=lambda i, s, w: (i / w) ** 2)),
    ("The rise is exponential\\. It should go in equal steps\\.", P(rise=lambda i, s, w: math.exp(i - w))),
    ("The rise is the number of the update itself, not divided\\.", P(rise=lambda i, s, w: i)),
    ("The number of the update is multiplied by warm_up; it should be", P(rise=lambda i, s, w: i * w)),
    ("The rise is rounded down \\(`//`\\): 0 until the last moment\\.", P(rise=lambda i, s, w: i // w)),
    ("warm_up is divided by the number of the update, so that the rate", P(rise=lambda i, s, w: w / i)),
    ("The rate does not rise: it is 1 from the first update on\\.", P(rise=lambda i, s, w: 1)),
    ("During the warm-up the rate is 0\\.", P(rise=lambda i, s, w: 0)),
    (
        "`done` has the update itself above the fraction bar: warm_up is not",
        P(fall=F(lambda i, s, w: i / (s - w))),
    ),
    (
        "`done` is one update behind: 0 at update warm_up \\+ 1\\.",
        P(fall=F(lambda i, s, w: (i - w - 1) / (s - w))),
    ),
    (
        "`done` is divided by one update less, steps - warm_up - 1: it goes",
        P(fall=F(lambda i, s, w: (i - w) / max(s - w - 1, 1))),
    ),
    (
        "`done` is \\(update - warm_up - 1\\) / \\(steps - warm_up - 1\\): 0 one",
        P(fall=F(lambda i, s, w: (i - w - 1) / max(s - w - 1, 1))),
    ),
    (
        "`done` is divided by one update more, so that it stops short of 1\\.",
        P(fall=F(lambda i, s, w: (i - w) / (s - w + 1))),
    ),
    (
        "The 1 beside the cosine is missing: the fall starts at 0\\.5 and goes",
        P(fall=lambda i, s, w: math.cos(math.pi * (i - w) / (s - w)) / 2),
    ),
    (
        "The rate rises where it should fall: 1 minus the cosine, or `done`",
        P(fall=lambda i, s, w: (1 - math.cos(math.pi * (i - w) / (s - w))) / 2),
    ),
    (
        "A sine stands for the cosine\\.",
        P(fall=lambda i, s, w: (1 + math.sin(math.pi * (i - w) / (s - w))) / 2),
    ),
    (
        "π is missing: the cosine is taken of the share itself\\.",
        P(fall=lambda i, s, w: (1 + math.cos((i - w) / (s - w))) / 2),
    ),
    (
        "The cosine is given degrees \\(180\\)\\. It takes radians \\(π\\)\\.",
        P(fall=lambda i, s, w: (1 + math.cos(180 * (i - w) / (s - w))) / 2),
    ),
    (
        "Only the cosine is halved, not the 1 beside it\\.",
        P(fall=lambda i, s, w: 1 + math.cos(math.pi * (i - w) / (s - w)) / 2),
    ),
    (
        "The fall is the root of warm_up / update, as in the 2017 paper\\.",
        P(fall=lambda i, s, w: math.sqrt(w / i)),
    ),
    ("`done` is rounded down \\(`//`\\)\\.", P(fall=F(lambda i, s, w: (i - w) // (s - w)))),
    ("The fall is exponential\\.", P(fall=lambda i, s, w: math.exp(-(i - w) / (s - w)))),
    ("The rise goes on beyond warm_up\\.", P(fall=lambda i, s, w: i / w)),
    (
        "Both pieces are wrong: of the rise 3 of 4 rates, of the fall 7 of 8;",
        lambda s, w: L(s, w) * L(s, w, rise=lambda i, s, w: (1 + math.cos(math.pi * (i - w) / (s - w))) / 2),
    ),
    ("The pieces have changed places: the fall stands in the warm-up, the", P(cond=lambda i, s, w: i > w)),
    (
        "The result should have shape `\\(steps\\)` = `\\(12,\\)`; yours has `\\(4,\\)`\\.",
        lambda s, w: L(w, s),
    ),
    (
        "The result should have shape `\\(steps\\)` = `\\(12,\\)`; yours has `\\(13,\\)`\\.",
        P(rng=lambda s: range(s + 1)),
    ),
    (
        "The result should have shape `\\(steps\\)` = `\\(12,\\)`; yours has `\\(11,\\)`\\.",
        P(rng=lambda s: range(1, s)),
    ),
    ("The order along the axis `steps` is reversed; before that the result", P(post=lambda r: r.flip(0))),
    ("The numbers are right\\. The result is a list; a tensor is wanted\\.", P(post=lambda r: r.tolist())),
    (
        "The numbers are right\\. The dtype is `torch\\.float64`, the inputs have",
        P(post=lambda r: r.double()),
    ),
    (
        "The two pieces change over elsewhere than at update warm_up: the rise",
        P(cond=lambda i, s, w: i <= w + 1),
    ),
    (
        "The two pieces change over elsewhere than at update warm_up: the rise",
        P(cond=lambda i, s, w: i < w - 1),
    ),
    ("Every number is what it should be, divided by 1000, whatever the", P(post=lambda r: r * 0.001)),
    (
        "The result should have shape `\\(steps\\)` = `\\(12,\\)`; yours has `\\(12,",
        P(post=lambda r: r[:, None]),
    ),
    ("The numbers are summed up one by one \\(`cumsum`\\) along the axis", P(post=lambda r: r.cumsum(0))),
    ("`done` is divided by half of the steps\\.", P(fall=F(lambda i, s, w: (i - w) / (s / 2)))),
    (
        "The rate stops at 0\\.1, not at 0\\.",
        P(fall=lambda i, s, w: 0.1 + 0.9 * (1 + math.cos(math.pi * (i - w) / (s - w))) / 2),
    ),
    (
        "`done` is update / steps: counted from the first update on\\. And: The",
        P(
            rise=lambda i, s, w: min(i / w, (1 + math.cos(math.pi * i / s)) / 2),
            fall=F(lambda i, s, w: i / s),
        ),
    ),
    (
        "The rate rises by the schedule of the 2017 paper, update ·",
        P(rise=lambda i, s, w: i * w ** (-1.5), fall=lambda i, s, w: i ** (-0.5)),
    ),
    ("The first update has rate 0\\.", P(rise=lambda i, s, w: i / w if i > 1 else 0)),
    ("During the warm-up the rate stays at 1 / warm_up\\.", P(rise=lambda i, s, w: 1 / w)),
    (
        "`done` runs twice as fast, and stops at 1\\.",
        P(fall=F(lambda i, s, w: min(1, 2 * (i - w) / (s - w)))),
    ),
    ("Every number is what it should be, multiplied by 100, whatever the", P(post=lambda r: r * 100)),
]
