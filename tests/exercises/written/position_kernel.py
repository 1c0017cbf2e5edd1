"""position_kernel as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch

from tests.exercises.written.examined import position_kernel as examined


def looped(m, w, *, angle=lambda a, b: a * b, wave=math.cos, join=sum):
    values = []
    for distance in m.tolist():
        values.append(float(join([wave(angle(distance, one)) for one in w.tolist()])))
    return torch.tensor(values, dtype=m.dtype)


def by_products(m, w, *, wave_a=torch.cos, wave_b=torch.sin, scale=1.0):
    here = torch.stack([torch.zeros_like(w).sin(), torch.zeros_like(w).cos()], -1).flatten()
    turns = torch.outer(m, w)
    there = torch.stack([wave_b(turns), wave_a(turns)], -1).flatten(1)
    return scale * there @ here


def at_seven(m, w):
    p = 7.0
    a, b = p * w, (p + m)[:, None] * w
    return (a.sin() * b.sin() + a.cos() * b.cos()).sum(-1)


def with_numpy(m, w, *, axis=-1, reduce=np.sum):
    return torch.from_numpy(reduce(np.cos(np.multiply.outer(m.numpy(), w.numpy())), axis=axis))


def frequency_by_frequency(m, w):
    total = torch.zeros_like(m)
    for one in w:
        total = total + torch.cos(one * m)
    return total


def vectors(m, w):
    """PE at 0 and at each distance."""
    turns = m[:, None] * w
    there = torch.cat([turns.sin(), turns.cos()], 1)
    here = torch.cat([torch.zeros_like(w), torch.ones_like(w)])
    return here, there


WRONG = [
    ("mean-for-sum", lambda m, w: frequency_by_frequency(m, w) / len(w)),
    ("mean-for-sum", partial(with_numpy, reduce=np.mean)),
    ("sine-for-cosine", partial(looped, wave=math.sin)),
    ("sine-for-cosine", lambda m, w: torch.einsum("mw->m", torch.outer(m, w).sin())),
    ("product-for-sum", partial(looped, join=math.prod)),
    ("product-for-sum", partial(with_numpy, reduce=np.prod)),
    ("summed-over-distances", partial(with_numpy, axis=0)),
    ("summed-over-distances", lambda m, w: sum(torch.cos(one * w) for one in m)),
    ("not-summed", lambda m, w: torch.outer(m, w).cos()),
    ("not-summed", lambda m, w: torch.stack([torch.cos(one * m) for one in w], 1)),
    ("first-frequency-only", lambda m, w: torch.cos(m * w[0])),
    ("first-frequency-only", lambda m, w: frequency_by_frequency(m, w[:1])),
    ("counted-twice", partial(by_products, scale=2.0)),
    ("counted-twice", lambda m, w: frequency_by_frequency(m, w.repeat_interleave(2))),
    ("divided-by-frequency", partial(looped, angle=lambda a, b: a / b)),
    ("divided-by-frequency", lambda m, w: frequency_by_frequency(m, 1 / w)),
    ("cosine-of-the-sum", lambda m, w: torch.cos(m * w.sum())),
    ("cosine-of-the-sum", lambda m, w: torch.cos(torch.outer(m, w).sum(1))),
    ("distance-of-vectors", lambda m, w: (vectors(m, w)[1] - vectors(m, w)[0]).square().sum(1)),
    ("distance-of-vectors", lambda m, w: 2 * len(w) - 2 * frequency_by_frequency(m, w)),
    ("gap-for-kernel", lambda m, w: len(w) - frequency_by_frequency(m, w)),
    ("gap-for-kernel", lambda m, w: (1 - torch.outer(m, w).cos()).sum(1)),
    ("sines-added", lambda m, w: vectors(m, w)[1].sum(1)),
    ("sines-added", partial(looped, wave=lambda x: math.sin(x) + math.cos(x))),
    (
        "every-pair-of-distances",
        lambda m, w: torch.stack([frequency_by_frequency(m - one, w) for one in m]),
    ),
    ("every-pair-of-distances", lambda m, w: vectors(m, w)[1] @ vectors(m, w)[1].T),
    ("degrees", partial(looped, wave=lambda x: math.cos(math.radians(x)))),
    ("degrees", lambda m, w: frequency_by_frequency(m * math.pi / 180, w)),
]

RIGHT = [
    looped,
    by_products,
    at_seven,
    with_numpy,
    frequency_by_frequency,
    lambda m, w: torch.einsum("mw->m", torch.outer(m, w).cos()),
    lambda m, w: vectors(m, w)[1] @ vectors(m, w)[0],
    lambda m, w: torch.polar(torch.ones(len(m), len(w), dtype=m.dtype), torch.outer(m, w)).real.sum(-1),
]

UNLISTED = [
    (r"wrong sign", lambda m, w: -frequency_by_frequency(m, w)),
    (r"shape", lambda m, w: frequency_by_frequency(m, w)[:, None]),
    (r"shape", lambda m, w: frequency_by_frequency(m, w).sum()),
    (r"Everything is 0", lambda m, w: 0 * m),
    (r"off by the same amount|same amount", lambda m, w: frequency_by_frequency(m, w) + 1),
    (r"as it came", lambda m, w: m),
    (r"stops with", lambda m, w: (m * w).cos()),
    (r"list", lambda m, w: frequency_by_frequency(m, w).tolist()),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
