"""sinusoidal_encoding: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import math

import numpy as np
import torch


def base(n, d, angle=None, freq=None, order=None, pos=None, T=10000.0):
    out = torch.zeros(n, d)
    for p in range(n):
        for j in range(d // 2):
            w = freq(j, d) if freq else T ** (-2 * j / d)
            q = pos(p, n) if pos else p
            a = angle(q, w) if angle else q * w
            pair = order(a) if order else (math.sin(a), math.cos(a))
            out[p, 2 * j], out[p, 2 * j + 1] = pair
    return out


def blocks(n, d):
    p = torch.arange(n).float()[:, None]
    w = 10000 ** (-torch.arange(0, d, 2).float() / d)
    return torch.cat([(p * w).sin(), (p * w).cos()], -1)


def i_not_2i(n, d):
    pe = torch.zeros(n, d)
    p = torch.arange(n).unsqueeze(1)
    div = torch.exp(torch.arange(0, d, 2) * -(math.log(10000.0) / (2 * d)))
    pe[:, 0::2] = torch.sin(p * div)
    pe[:, 1::2] = torch.cos(p * div)
    return pe


def own_freq_each_col(n, d):
    i = np.arange(d)
    a = np.arange(n)[:, None] / 10000 ** (i / d)
    a[:, 0::2] = np.sin(a[:, 0::2])
    a[:, 1::2] = np.cos(a[:, 1::2])
    return torch.tensor(a, dtype=torch.float32)


def np64(n, d):
    i = np.arange(d)
    a = np.arange(n)[:, None] / 10000 ** (2 * (i // 2) / d)
    a[:, 0::2] = np.sin(a[:, 0::2])
    a[:, 1::2] = np.cos(a[:, 1::2])
    return torch.from_numpy(a)


def np_ret(n, d):
    i = np.arange(d)
    a = np.arange(n)[:, None] / 10000 ** (2 * (i // 2) / d)
    return np.where(i % 2 == 0, np.sin(a), np.cos(a)).astype(np.float32)


def expdiv(n, d):
    pe = torch.zeros(n, d)
    p = torch.arange(n).unsqueeze(1)
    div = torch.exp(torch.arange(0, d, 2) * -(math.log(10000.0) / d))
    pe[:, 0::2] = torch.sin(p * div)
    pe[:, 1::2] = torch.cos(p * div)
    return pe


def half_half_then(n, d):
    x = blocks(n, d)
    return x.view(n, 2, d // 2).transpose(1, 2).reshape(n, d)


def badview(n, d):
    x = blocks(n, d)
    return x.view(n, d // 2, 2).transpose(1, 2).reshape(n, d)


def sin_only(n, d):
    i = torch.arange(d)
    return torch.sin(torch.arange(n)[:, None] * 10000.0 ** (-(2 * (i // 2)) / d))


def i2(n, d):
    pe = torch.zeros(n, d)
    for p in range(n):
        for i in range(0, d, 2):
            pe[p, i] = math.sin(p / 10000 ** (2 * i / d))
            pe[p, i + 1] = math.cos(p / 10000 ** (2 * i / d))
    return pe


def i2plus(n, d):
    pe = torch.zeros(n, d)
    for p in range(n):
        for i in range(0, d, 2):
            pe[p, i] = math.sin(p / 10000 ** (2 * i / d))
            pe[p, i + 1] = math.cos(p / 10000 ** (2 * (i + 1) / d))
    return pe


def plus1(n, d):
    pe = torch.zeros(n, d)
    for p in range(n):
        for i in range(0, d, 2):
            pe[p, i] = math.sin(p / 10000 ** (i / d))
            pe[p, i + 1] = math.cos(p / 10000 ** ((i + 1) / d))
    return pe


WRONG = [
    ("halves-not-pairs", blocks),
    ("half-the-exponent", i_not_2i),
    ("frequency-by-column", own_freq_each_col),
    ("sines-only", sin_only),
    ("twice-the-exponent", i2),
    ("column-for-pair", i2plus),
    ("frequency-by-column", plus1),
    ("counted-from-one", lambda n, d: base(n, d, pos=lambda p, n: p + 1)),
    ("sine-and-cosine-swapped", lambda n, d: base(n, d, order=lambda a: (math.cos(a), math.sin(a)))),
    ("another-base", lambda n, d: base(n, d, T=1000.0)),
    ("half-the-exponent", lambda n, d: base(n, d, freq=lambda j, d: 10000 ** (-j / d))),
    ("down-to-the-end", lambda n, d: base(n, d, freq=lambda j, d: 10000 ** (-2 * j / (d - 2)))),
    ("full-turns", lambda n, d: base(n, d, angle=lambda p, w: 2 * math.pi * p * w)),
    ("share-of-the-length", lambda n, d: base(n, d, pos=lambda p, n: p / n)),
    ("frequencies-reversed", lambda n, d: base(n, d, freq=lambda j, d: 10000 ** (-2 * (d // 2 - 1 - j) / d))),
    ("transposed", lambda n, d: base(n, d).T),
    ("sines-only", lambda n, d: base(n, d, order=lambda a: (math.sin(a), math.sin(a)))),
]

RIGHT = [
    base,
    lambda n, d: np64(n, d).float(),
    expdiv,
    half_half_then,
    lambda n, d: (
        torch.polar(
            torch.ones(n, d // 2), torch.arange(n)[:, None] * 10000.0 ** (-torch.arange(d // 2) * 2 / d)
        )
        .mul(1)
        .resolve_conj()
        .imag.unsqueeze(-1)
        .pipe
        if False
        else torch.stack(
            [
                torch.sin(torch.outer(torch.arange(n).float(), 10000.0 ** (-2 * torch.arange(d // 2) / d))),
                torch.cos(torch.outer(torch.arange(n).float(), 10000.0 ** (-2 * torch.arange(d // 2) / d))),
            ],
            -1,
        ).flatten(1)
    ),
    lambda n, d: torch.tensor(
        [[f(p / 10000 ** (2 * j / d)) for j in range(d // 2) for f in (math.sin, math.cos)] for p in range(n)]
    ),
    lambda n, d: torch.sin(
        torch.arange(n)[:, None] * 10000.0 ** (-(2 * (torch.arange(d) // 2)) / d)
        + torch.arange(d) % 2 * math.pi / 2
    ),
]

UNLISTED = [
    ("The numbers are right\\. The result is a NumPy array; a tensor is", np_ret),
    ("The numbers are right\\. The dtype is `torch\\.float64`, the inputs have", np64),
    ("Sines and cosines in two halves are shuffled: cut into pairs of", badview),
    (
        "The exponent has no minus: frequencies rise from pair to pair\\.",
        lambda n, d: base(n, d, freq=lambda j, d: 10000 ** (2 * j / d)),
    ),
    ("The base is 100,000; 10,000 is wanted\\.", lambda n, d: base(n, d, T=100000.0)),
    ("The base is e, not 10,000\\.", lambda n, d: base(n, d, freq=lambda j, d: math.exp(-2 * j / d))),
    (
        "Pairs are counted from 1: the first frequency is 1\\.",
        lambda n, d: base(n, d, freq=lambda j, d: 10000 ** (-2 * (j + 1) / d)),
    ),
    ("Angles are taken for degrees\\.", lambda n, d: base(n, d, angle=lambda p, w: math.radians(p * w))),
    ("Positions run backwards\\.", lambda n, d: base(n, d).flip(0)),
    ("Angles have the wrong sign\\.", lambda n, d: base(n, d, angle=lambda p, w: -p * w)),
    (
        "Every number is what it should be, multiplied by the root of d_model\\.",
        lambda n, d: base(n, d) * d**0.5,
    ),
    (
        "The exponent has no minus: frequencies rise from pair to pair\\.",
        lambda n, d: base(n, d, angle=lambda p, w: p / w),
    ),
    (
        "The exponent is rounded down \\(`//`\\): frequencies are 1 or 1/10,000\\.",
        lambda n, d: base(n, d, freq=lambda j, d: 10000 ** (-(2 * j // d))),
    ),
    (
        "Frequencies fall in equal steps; they should fall by a factor\\.",
        lambda n, d: base(n, d, freq=lambda j, d: 1 - 2 * j / d),
    ),
    (
        "The numbers are right\\. The result is a list; a tensor is wanted\\.",
        lambda n, d: base(n, d).tolist(),
    ),
    (
        "The result should have shape `\\(n, d_model\\)` = `\\(7, 6\\)`; yours has",
        lambda n, d: base(n, d)[None],
    ),
    (
        "The numbers are right\\. The dtype is `torch\\.float16`, the inputs have",
        lambda n, d: base(n, d).half(),
    ),
    ("Angles are rounded to whole numbers\\.", lambda n, d: base(n, d, angle=lambda p, w: round(p * w))),
    ("The cosine has a minus\\.", lambda n, d: base(n, d, order=lambda a: (math.sin(a), -math.cos(a)))),
    (
        "A tangent stands for the cosine\\.",
        lambda n, d: base(n, d, order=lambda a: (math.sin(a), math.tan(a))),
    ),
    ("Two calls with the same arguments give different results\\.", lambda n, d: torch.randn(n, d)),
    (
        "The angles themselves stand there, without sine and cosine\\.",
        lambda n, d: torch.arange(n)[:, None] * 10000.0 ** (-(torch.arange(d) // 2 * 2) / d),
    ),
    (
        "The result should have shape `\\(n, d_model\\)` = `\\(7, 6\\)`; yours has",
        lambda n, d: base(n + 1, d),
    ),
]
