"""warm_up_rates as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch

from tests.exercises.written.examined import warm_up_rates as examined


def looped(steps, warm_up, *, first=1, rise=None, done=None, fall=None):
    rates = []
    for number in range(first, first + steps):
        if number <= warm_up:
            rates.append(rise(number) if rise else number / warm_up)
        else:
            way = done(number) if done else (number - warm_up) / (steps - warm_up)
            rates.append(fall(way) if fall else (1 + math.cos(math.pi * way)) / 2)
    return torch.tensor(rates)


def from_zero_by_numpy(steps, warm_up):
    t = np.arange(steps)
    way = (t - warm_up) / (steps - warm_up)
    return torch.from_numpy(np.where(t <= warm_up, t / warm_up, (1 + np.cos(np.pi * way)) / 2)).float()


def cosine_only(steps, warm_up):
    return torch.tensor([(1 + math.cos(math.pi * i / (steps - 1))) / 2 for i in range(steps)])


def cosine_only_linspace(steps, warm_up):
    return (1 + torch.linspace(0, math.pi, steps).cos()) / 2


def flat(steps, warm_up):
    return torch.tensor([min(1.0, t / warm_up) for t in range(1, steps + 1)])


def flat_in_two_pieces(steps, warm_up):
    return torch.cat([torch.arange(1, warm_up + 1) / warm_up, torch.ones(steps - warm_up)])


def pieces(steps, warm_up, *, fall):
    after = torch.arange(1, steps - warm_up + 1) / (steps - warm_up)
    return torch.cat([torch.arange(1, warm_up + 1) / warm_up, fall(after)])


def in_place(steps, warm_up):
    rates = torch.zeros(steps)
    rates[:warm_up] = torch.linspace(1 / warm_up, 1, warm_up)
    rates[warm_up:] = (1 + torch.linspace(0, math.pi, steps - warm_up + 1)[1:].cos()) / 2
    return rates


def with_min(steps, warm_up):
    t = torch.arange(1, steps + 1)
    way = ((t - warm_up) / (steps - warm_up)).clamp(min=0)
    return torch.minimum(t / warm_up, torch.tensor(1.0)) * (math.pi * way / 2).cos() ** 2


def by_numpy(steps, warm_up):
    t = np.arange(1, steps + 1)
    way = (t - warm_up) / (steps - warm_up)
    return torch.from_numpy(np.where(t <= warm_up, t / warm_up, (1 + np.cos(np.pi * way)) / 2)).float()


def a_rate(t, steps, warm_up):
    if t <= warm_up:
        return t / warm_up
    return 0.5 + 0.5 * math.cos(math.pi * (t - warm_up) / (steps - warm_up))


def listed(steps, warm_up):
    return torch.tensor([a_rate(t, steps, warm_up) for t in range(1, steps + 1)])


def rise_by(extra):
    def rates(steps, warm_up):
        rising = torch.arange(1, warm_up + 1) / (warm_up + extra(steps, warm_up))
        return torch.cat(
            [rising, pieces(steps, warm_up, fall=lambda d: (1 + (math.pi * d).cos()) / 2)[warm_up:]]
        )

    return rates


def with_way(steps, warm_up, *, way):
    t = torch.arange(1, steps + 1)
    falling = (1 + (math.pi * way(t, steps, warm_up)).cos()) / 2
    return torch.where(t > warm_up, falling, t / warm_up)


WRONG = [
    ("counted-from-zero", partial(looped, first=0)),
    ("counted-from-zero", from_zero_by_numpy),
    ("no-warm-up", cosine_only),
    ("no-warm-up", cosine_only_linspace),
    ("warm-up-only", flat),
    ("warm-up-only", flat_in_two_pieces),
    ("cosine-from-the-first-update", partial(with_way, way=lambda t, steps, warm_up: t / steps)),
    ("cosine-from-the-first-update", lambda s, w: looped(s, w, done=lambda number: number / s)),
    ("divided-by-steps", partial(with_way, way=lambda t, steps, warm_up: (t - warm_up) / steps)),
    ("divided-by-steps", lambda s, w: looped(s, w, done=lambda number: (number - w) / s)),
    ("whole-cosine", partial(pieces, fall=lambda d: (1 + (2 * math.pi * d).cos()) / 2)),
    ("whole-cosine", partial(looped, fall=lambda way: math.cos(math.pi * way) ** 2)),
    ("quarter-cosine", partial(pieces, fall=lambda d: (math.pi * d / 2).cos())),
    ("quarter-cosine", partial(looped, fall=lambda way: math.cos(math.pi / 2 * way))),
    ("below-zero", partial(pieces, fall=lambda d: (math.pi * d).cos())),
    ("below-zero", partial(looped, fall=lambda way: math.cos(math.pi * way))),
    ("straight-down", partial(pieces, fall=lambda d: 1 - d)),
    ("straight-down", partial(looped, fall=lambda way: 1 - way)),
    ("not-halved", partial(pieces, fall=lambda d: 1 + (math.pi * d).cos())),
    ("not-halved", partial(looped, fall=lambda way: 1 + math.cos(math.pi * way))),
    ("rise-too-short", rise_by(lambda steps, warm_up: 1)),
    ("rise-too-short", lambda s, w: looped(s, w, rise=lambda number: number / (w + 1))),
    ("rise-over-all-steps", rise_by(lambda steps, warm_up: steps - warm_up)),
    ("rise-over-all-steps", lambda s, w: looped(s, w, rise=lambda number: number / s)),
]

RIGHT = [
    looped,
    in_place,
    with_min,
    by_numpy,
    listed,
    partial(pieces, fall=lambda d: (1 + (math.pi * d).cos()) / 2),
]

UNLISTED = [
    ("does not rise.*does not fall", lambda steps, warm_up: torch.ones(steps)),
    ("Everything is 0", lambda steps, warm_up: torch.zeros(steps)),
    ("last one is missing", lambda steps, warm_up: listed(steps, warm_up)[:-1]),
    ("divided by 500", lambda steps, warm_up: listed(steps, warm_up) * 2e-3),
    ("steps` is reversed", lambda steps, warm_up: listed(steps, warm_up).flip(0)),
    ("fall is exponential", partial(looped, fall=lambda way: math.exp(-way))),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
