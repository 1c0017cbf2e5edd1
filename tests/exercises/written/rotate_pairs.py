"""rotate_pairs as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import cmath
import math
from functools import partial

import numpy as np
import torch


def looped(
    x,
    start,
    base,
    *,
    place=lambda t, start, n: start + t,
    speed=lambda j, d, base: base ** (-2 * j / d),
    pair=lambda j, d: (2 * j, 2 * j + 1),
    to=lambda j, d: (2 * j, 2 * j + 1),
    turn=lambda a, b, theta: (
        a * math.cos(theta) - b * math.sin(theta),
        a * math.sin(theta) + b * math.cos(theta),
    ),
    angle=lambda p, w: p * w,
    by_head=False,
):
    """Token by token and pair by pair."""
    out = torch.zeros_like(x)
    h, n, d = x.shape[1:]
    for head in range(h):
        for t in range(n):
            for j in range(d // 2):
                theta = angle(place(head if by_head else t, start, n), speed(j, d, base))
                one, other = pair(j, d)
                a, b = turn(x[:, head, t, one], x[:, head, t, other], theta)
                first, second = to(j, d)
                out[:, head, t, first], out[:, head, t, second] = a, b
    return out


def tensors(
    x, start, base, *, exponent=None, first=0, scale=1.0, sign=1.0, split="pairs", join="pairs", axis=-2
):
    d = x.shape[-1]
    j = torch.arange(d // 2, dtype=torch.float64)
    w = base ** -(exponent(j, d) if exponent else 2 * j / d)
    p = torch.arange(start + first, start + first + x.shape[axis], dtype=torch.float64)
    theta = torch.outer(p, w) * scale
    cos, sin = theta.cos().to(x.dtype), sign * theta.sin().to(x.dtype)
    if axis == -3:
        cos, sin = cos[:, None], sin[:, None]
    a, b = (x[..., ::2], x[..., 1::2]) if split == "pairs" else x.chunk(2, dim=-1)
    new = a * cos - b * sin, b * cos + a * sin
    return torch.stack(new, -1).reshape(x.shape) if join == "pairs" else torch.cat(new, -1)


def as_complex(x, start, base):
    d = x.shape[-1]
    w = base ** (-torch.arange(0, d, 2).double() / d)
    theta = torch.outer(torch.arange(start, start + x.shape[-2]).double(), w)
    turned = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2).contiguous())
    turned = turned * torch.polar(torch.ones_like(theta), theta)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


def as_matrices(x, start, base):
    """One rotation matrix for each position."""
    n, d = x.shape[-2:]
    rows = []
    for t in range(n):
        angles = [(start + t) * base ** (-2 * j / d) for j in range(d // 2)]
        blocks = [torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) for a in angles]
        rows.append(x[..., t, :] @ torch.block_diag(*blocks).to(x.dtype).T)
    return torch.stack(rows, dim=-2)


def by_partner(x, start, base):
    """x cos + partner sin, with cosines and sines as wide as x."""
    n, d = x.shape[-2:]
    w = base ** (-torch.arange(0, d, 2).double() / d)
    theta = (torch.arange(start, start + n).double()[:, None] * w).repeat_interleave(2, -1)
    partner = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x * theta.cos().to(x.dtype) + partner * theta.sin().to(x.dtype)


def by_numpy(x, start, base):
    a = x.numpy().astype(np.float64)
    n, d = a.shape[-2:]
    theta = (start + np.arange(n))[:, None] / base ** (np.arange(0, d, 2) / d)
    out = np.empty_like(a)
    out[..., ::2] = a[..., ::2] * np.cos(theta) - a[..., 1::2] * np.sin(theta)
    out[..., 1::2] = a[..., ::2] * np.sin(theta) + a[..., 1::2] * np.cos(theta)
    return torch.from_numpy(out).to(x.dtype)


def by_einsum(x, start, base):
    n, d = x.shape[-2:]
    theta = torch.outer(start + torch.arange(n), base ** (-torch.arange(d // 2) * 2 / d)).to(x.dtype)
    turn = torch.stack(
        (torch.stack((theta.cos(), -theta.sin()), -1), torch.stack((theta.sin(), theta.cos()), -1)), -2
    )
    return torch.einsum("njrc,bhnjc->bhnjr", turn, x.unflatten(-1, (-1, 2))).flatten(-2)


def by_python(x, start, base):
    d = x.shape[-1]
    rows = []
    for t, row in enumerate(x.unbind(-2)):
        parts = []
        for j in range(d // 2):
            z = cmath.exp(1j * (start + t) * base ** (-2 * j / d))
            parts += [row[..., 2 * j] * z.real - row[..., 2 * j + 1] * z.imag]
            parts += [row[..., 2 * j] * z.imag + row[..., 2 * j + 1] * z.real]
        rows.append(torch.stack(parts, -1))
    return torch.stack(rows, -2)


def with_waves(x, start, base, make):
    n, d = x.shape[-2:]
    theta = torch.outer(start + torch.arange(n), base ** (-torch.arange(0, d, 2) / d)).to(x.dtype)
    return torch.stack(make(x[..., ::2], x[..., 1::2], theta.cos(), theta.sin()), -1).flatten(-2)


def half_split(j, d):
    return j, j + d // 2


def in_place(a, b, theta):
    a = a * math.cos(theta) - b * math.sin(theta)
    return a, a * math.sin(theta) + b * math.cos(theta)


def overwritten(a, b, c, s):
    a = a * c - b * s
    b = a * s + b * c
    return a, b


def sines_added(x, start, base):
    n, d = x.shape[-2:]
    theta = torch.outer(start + torch.arange(n), base ** (-torch.arange(0, d, 2) / d))
    return x + torch.stack((theta.sin(), theta.cos()), -1).flatten(-2).to(x.dtype)


WRONG = [
    ("halves-for-pairs", partial(looped, pair=half_split, to=half_split)),
    ("halves-for-pairs", partial(tensors, split="halves", join="halves")),
    ("halves-cut-apart", partial(looped, pair=half_split)),
    ("halves-cut-apart", partial(tensors, split="halves")),
    ("joined-as-halves", partial(looped, to=half_split)),
    ("joined-as-halves", partial(tensors, join="halves")),
    ("other-direction", partial(looped, angle=lambda p, w: -p * w)),
    ("other-direction", partial(tensors, sign=-1.0)),
    ("start-ignored", partial(looped, place=lambda t, start, n: t)),
    ("start-ignored", lambda x, start, base: tensors(x, 0, base)),
    ("counted-from-one", partial(looped, place=lambda t, start, n: start + t + 1)),
    ("counted-from-one", partial(tensors, first=1)),
    ("all-at-the-start", partial(looped, place=lambda t, start, n: start)),
    ("all-at-the-start", lambda x, s, base: torch.cat([tensors(r, s, base) for r in x.split(1, -2)], -2)),
    ("half-the-exponent", partial(looped, speed=lambda j, d, base: base ** (-j / d))),
    ("half-the-exponent", partial(tensors, exponent=lambda j, d: j / d)),
    ("twice-the-exponent", partial(looped, speed=lambda j, d, base: base ** (-2 * j / (d // 2)))),
    ("twice-the-exponent", partial(tensors, exponent=lambda j, d: 2 * (2 * j) / d)),
    ("rising-frequencies", partial(looped, speed=lambda j, d, base: base ** (2 * j / d))),
    ("rising-frequencies", partial(tensors, exponent=lambda j, d: -2 * j / d)),
    ("base-of-2017", partial(looped, speed=lambda j, d, base: 10_000 ** (-2 * j / d))),
    ("base-of-2017", lambda x, start, base: tensors(x, start, 1e4)),
    ("one-speed-for-all", partial(looped, speed=lambda j, d, base: 1.0)),
    ("one-speed-for-all", lambda x, start, base: tensors(x, start, 1.0)),
    ("pairs-from-one", partial(looped, speed=lambda j, d, base: base ** (-2 * (j + 1) / d))),
    ("pairs-from-one", partial(tensors, exponent=lambda j, d: (2 * j + 2) / d)),
    ("both-plus", lambda *given: with_waves(*given, lambda a, b, c, s: (a * c + b * s, a * s + b * c))),
    (
        "both-plus",
        partial(
            looped, turn=lambda a, b, t: [u * math.cos(t) + v * math.sin(t) for u, v in ((a, b), (b, a))]
        ),
    ),
    (
        "sine-and-cosine-swapped",
        lambda *given: with_waves(*given, lambda a, b, c, s: (a * s - b * c, a * c + b * s)),
    ),
    ("sine-and-cosine-swapped", partial(looped, angle=lambda p, w: math.pi / 2 - p * w)),
    ("only-cosines", lambda *given: with_waves(*given, lambda a, b, c, s: (a * c, b * c))),
    ("only-cosines", partial(looped, turn=lambda a, b, t: (a * math.cos(t), b * math.cos(t)))),
    ("overwritten-on-the-way", partial(looped, turn=in_place)),
    ("overwritten-on-the-way", lambda *given: with_waves(*given, overwritten)),
    ("positions-added", sines_added),
    ("positions-added", partial(looped, turn=lambda a, b, t: (a + math.sin(t), b + math.cos(t)))),
    ("in-degrees", partial(looped, angle=lambda p, w: math.radians(p * w))),
    ("in-degrees", partial(tensors, scale=math.pi / 180)),
    ("whole-turns", partial(looped, angle=lambda p, w: 2 * math.pi * p * w)),
    ("whole-turns", partial(tensors, scale=math.tau)),
    ("heads-for-positions", partial(looped, by_head=True)),
    ("heads-for-positions", partial(tensors, axis=-3)),
]

RIGHT = [looped, tensors, as_complex, as_matrices, by_partner, by_numpy, by_einsum, by_python]

UNLISTED = [
    ("run backwards", lambda x, start, base: tensors(x.flip(-2), start - x.shape[-2] + 1, base).flip(-2)),
    ("one too low", partial(tensors, first=-1)),
    ("reverse order", lambda x, start, base: tensors(x.flip(-2), start, base).flip(-2)),
    ("lacks the division", partial(tensors, exponent=lambda j, d: 2 * j)),
    ("d_k - 2", partial(tensors, exponent=lambda j, d: 2 * j / max(d - 2, 1))),
    (
        "in the other order",
        lambda *given: with_waves(*given, lambda a, b, c, s: (a * s + b * c, a * c - b * s)),
    ),
    ("Only the first feature", lambda *given: with_waves(*given, lambda a, b, c, s: (a * c - b * s, b))),
    (
        "Both sines have a minus",
        lambda *given: with_waves(*given, lambda a, b, c, s: (a * c - b * s, b * c - a * s)),
    ),
    (
        "no rotation|cosine plus sine",
        lambda *given: with_waves(*given, lambda a, b, c, s: (a * (c + s), b * (c + s))),
    ),
    ("axis of their own", lambda x, start, base: tensors(x, start, base).unflatten(-1, (-1, 2))),
    ("halved", partial(tensors, scale=0.5)),
    ("start. and .base. have changed", lambda x, start, base: _exchanged(x, start, base)),
    ("input is added", lambda x, start, base: x + tensors(x, start, base)),
    ("turns by", partial(tensors, scale=1.1)),
    (
        "length 1, and has",
        lambda *given: with_waves(*given, lambda a, b, c, s: (a * c - 0.9 * b * s, a * s + b * c)),
    ),
    ("comes back in feature", lambda x, start, base: tensors(x.roll(1, -1), start, base)),
    (
        "something is added",
        lambda x, start, base: tensors(x, start, base) + 0.25 * x.new_ones(x.shape[-1]).cumsum(0),
    ),
    ("Twice the input", lambda x, start, base: tensors(x, start, base) * x.norm(dim=-1, keepdim=True)),
]


def _exchanged(x, start, base):
    d = x.shape[-1]
    w = float(start) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    theta = torch.outer(base + torch.arange(x.shape[-2], dtype=torch.float64), w)
    cos, sin = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
