"""sinusoidal_encoding as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from tests.exercises.written.examined import sinusoidal_encoding as examined


def looped(
    n,
    d_model,
    *,
    exponent: Callable[[int, int], float] = lambda j, d: 2 * j / d,
    even: Callable[[float], float] = math.sin,
    odd: Callable[[float], float] = math.cos,
    base: float = 10_000.0,
    place: Callable[[int, int], float] = lambda p, n: p,
    pair: Callable[[int, int], int] = lambda j, pairs: j,
):
    pe = torch.zeros(n, d_model)
    for p in range(n):
        for j in range(d_model // 2):
            angle = place(p, n) / base ** exponent(pair(j, d_model // 2), d_model)
            pe[p, 2 * j] = even(angle)
            pe[p, 2 * j + 1] = odd(angle)
    return pe


def annotated(n, d_model, *, base=10_000.0, sign=-1, start=0, sines=torch.sin, cosines=torch.cos):
    pe = torch.zeros(n, d_model)
    position = torch.arange(start, start + n).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * (sign * math.log(base) / d_model))
    pe[:, 0::2] = sines(position * div_term)
    pe[:, 1::2] = cosines(position * div_term)
    return pe


def with_numpy(n, d_model, *, turn=1.0, step=2.0, last=False):
    j = np.arange(d_model // 2)
    exponent = j / max(1, d_model // 2 - 1) if last else step * j / d_model
    angle = turn * np.arange(n)[:, None] / 10_000**exponent
    pe = np.empty((n, d_model), dtype=np.float32)
    pe[:, ::2], pe[:, 1::2] = np.sin(angle), np.cos(angle)
    return torch.from_numpy(pe)


def halves(n, d_model):
    pe = annotated(n, d_model)
    return torch.cat([pe[:, ::2], pe[:, 1::2]], dim=1)


def halves_in_a_loop(n, d_model):
    out = torch.zeros(n, d_model)
    half = d_model // 2
    for j in range(half):
        angle = torch.arange(n) / 10_000 ** (2 * j / d_model)
        out[:, j] = angle.sin()
        out[:, half + j] = angle.cos()
    return out


def every_column(n, d_model, *, factor):
    out = torch.zeros(n, d_model)
    for i in range(d_model):
        angle = torch.arange(n) / 10_000 ** (factor * i / d_model)
        out[:, i] = torch.sin(angle) if i % 2 == 0 else torch.cos(angle)
    return out


def entry(n, d_model, *, factor):
    rows = []
    for p in range(n):
        row = []
        for i in range(d_model):
            wave = math.cos if i % 2 else math.sin
            row.append(wave(p * math.exp(-factor * i * math.log(10_000) / d_model)))
        rows.append(row)
    return torch.tensor(rows)


def shares(n, d_model):
    pe = torch.zeros(n, d_model)
    position = torch.linspace(0, 1, n + 1)[:-1, None]
    frequency = 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    pe[:, 0::2], pe[:, 1::2] = (position * frequency).sin(), (position * frequency).cos()
    return pe


def as_complex(n, d_model):
    w = 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    wave = torch.polar(torch.ones(n, d_model // 2), torch.arange(n)[:, None] * w)
    return torch.stack([wave.imag, wave.real], -1).flatten(1)


def column_by_column(n, d_model):
    columns = []
    for j in range(d_model // 2):
        angle = torch.arange(n) * 10_000.0 ** (-2 * j / d_model)
        columns += [angle.sin(), angle.cos()]
    return torch.stack(columns, dim=1)


def outer(n, d_model):
    angle = torch.outer(torch.arange(n).float(), 10_000 ** -(torch.arange(0, d_model, 2) / d_model))
    return torch.dstack([angle.sin(), angle.cos()]).reshape(n, d_model)


def shifted_cosine(n, d_model):
    i = torch.arange(d_model)
    angle = torch.arange(n)[:, None] / 10_000 ** ((i - i % 2) / d_model)
    return torch.sin(angle + (i % 2) * math.pi / 2)


WRONG = [
    ("halves-not-pairs", halves),
    ("halves-not-pairs", halves_in_a_loop),
    ("sine-and-cosine-swapped", partial(looped, even=math.cos, odd=math.sin)),
    ("sine-and-cosine-swapped", partial(annotated, sines=torch.cos, cosines=torch.sin)),
    ("counted-from-one", partial(annotated, start=1)),
    ("counted-from-one", partial(looped, place=lambda p, n: p + 1)),
    ("half-the-exponent", partial(looped, exponent=lambda j, d: j / d)),
    ("half-the-exponent", partial(with_numpy, step=1.0)),
    ("twice-the-exponent", partial(looped, exponent=lambda j, d: 2 * j / (d // 2))),
    ("twice-the-exponent", partial(with_numpy, step=4.0)),
    ("frequency-by-column", partial(every_column, factor=1)),
    ("frequency-by-column", partial(entry, factor=1)),
    ("column-for-pair", partial(every_column, factor=2)),
    ("column-for-pair", partial(entry, factor=2)),
    ("sines-only", partial(looped, odd=math.sin)),
    ("sines-only", partial(annotated, cosines=torch.sin)),
    ("cosines-only", partial(looped, even=math.cos)),
    ("cosines-only", partial(annotated, sines=torch.cos)),
    ("frequencies-reversed", partial(looped, pair=lambda j, pairs: pairs - 1 - j)),
    (
        "frequencies-reversed",
        lambda n, d: annotated(n, d).unflatten(1, (d // 2, 2)).flip(1).flatten(1),
    ),
    ("another-base", partial(looped, base=1_000.0)),
    ("another-base", partial(annotated, base=1_000.0)),
    ("down-to-the-end", partial(looped, exponent=lambda j, d: j / max(1, d // 2 - 1))),
    ("down-to-the-end", partial(with_numpy, last=True)),
    ("share-of-the-length", partial(looped, place=lambda p, n: p / n)),
    ("share-of-the-length", shares),
    ("full-turns", partial(with_numpy, turn=2 * np.pi)),
    ("full-turns", partial(looped, place=lambda p, n: 2 * math.pi * p)),
    ("transposed", lambda n, d: annotated(n, d).T),
    ("transposed", lambda n, d: torch.from_numpy(np.array(with_numpy(n, d)).transpose())),
]

RIGHT = [
    looped,
    annotated,
    with_numpy,
    as_complex,
    column_by_column,
    outer,
    shifted_cosine,
    lambda n, d: torch.stack([annotated(p + 1, d)[p] for p in range(n)]),
]

UNLISTED = [
    (r"[Ff]requencies rise", partial(annotated, sign=1)),
    (r"[Ff]requencies rise", partial(looped, exponent=lambda j, d: -2 * j / d)),
    (r"pair 1 \(columns 2 and 3\) turns by", partial(looped, base=400.0)),
    (r"pair 1 .* turns by 1;|rounded down", partial(looped, exponent=lambda j, d: 0)),
    (r"pair 0 .* turns by 0\.5|Positions are halved", partial(looped, place=lambda p, n: p / 2)),
    (r"At position 0 every angle is 0; that of pair 0 is 2", partial(looped, place=lambda p, n: p + 2)),
    (r"Columns 0 and 1 are no sine and cosine", partial(looped, even=math.tanh)),
    (r"Positions run backwards", lambda n, d: annotated(n, d).flip(0)),
    (r"axis of positions|shape", lambda n, d: annotated(n, d)[1:]),
    (r"multiplied by 2", lambda n, d: 2 * annotated(n, d)),
    (r"divided by 2", lambda n, d: annotated(n, d) / 2),
    (r"shape .*\(1, 7, 6\)", lambda n, d: annotated(n, d)[None]),
    (r"list", lambda n, d: annotated(n, d).tolist()),
    (r"float64", lambda n, d: annotated(n, d).double()),
    (r"Everything is 0", lambda n, d: torch.zeros(n, d)),
    (r"stops with", lambda n, d: annotated(n, d) @ torch.zeros(3, 17)),
    (r"`6` stands in the code|six features|of 6", lambda n, d: annotated(n, 6)),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
