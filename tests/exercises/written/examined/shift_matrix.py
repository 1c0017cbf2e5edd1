"""shift_matrix: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import math

import numpy as np
import torch


def base(k, f, blk=None, ang=None, dtype=None):
    m = len(f)
    R = torch.zeros(2 * m, 2 * m, dtype=dtype or f.dtype)
    for j in range(m):
        a = float(ang(k, f, j)) if ang else float(k * f[j])
        c, s = (math.cos(a), math.sin(a))
        b = blk(c, s) if blk else [[c, s], [-s, c]]
        R[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = torch.tensor(b, dtype=R.dtype)
    return R


def half(k, f):
    C, S = (torch.diag(torch.cos(k * f)), torch.diag(torch.sin(k * f)))
    return torch.cat([torch.cat([C, S], 1), torch.cat([-S, C], 1)], 0)


def npr(k, f):
    a = k * f.numpy()
    d = 2 * len(a)
    R = np.zeros((d, d), dtype=a.dtype)
    i = np.arange(0, d, 2)
    R[i, i] = np.cos(a)
    R[i + 1, i + 1] = np.cos(a)
    R[i, i + 1] = np.sin(a)
    R[i + 1, i] = -np.sin(a)
    return R


def full_blocks(k, f):
    a = (k * f).repeat_interleave(2)
    return torch.cos(a)[:, None] * torch.cos(a)


def matexp(k, f):
    G = torch.zeros(2 * len(f), 2 * len(f), dtype=f.dtype)
    for j, w in enumerate(f):
        G[2 * j, 2 * j + 1] = k * w
        G[2 * j + 1, 2 * j] = -k * w
    return torch.matrix_exp(G)


def power(k, f):
    R1 = base(1, f)
    R = torch.eye(2 * len(f), dtype=f.dtype)
    for _ in range(abs(k)):
        R = R @ (R1 if k > 0 else R1.T)
    return R


def power_nosign(k, f):
    R1 = base(1, f)
    R = torch.eye(2 * len(f), dtype=f.dtype)
    for _ in range(k):
        R = R @ R1
    return R


def power_abs(k, f):
    return base(abs(k), f)


def power_rev(k, f):
    R1 = base(1, f)
    R = R1.clone()
    for _ in range(abs(k)):
        R = R @ (R1 if k > 0 else R1.T)
    return R


WRONG = [
    ("other-direction", lambda k, f: base(k, f, lambda c, s: [[c, -s], [s, c]])),
    ("no-minus", lambda k, f: base(k, f, lambda c, s: [[c, s], [s, c]])),
    ("sine-and-cosine-swapped", lambda k, f: base(k, f, lambda c, s: [[s, c], [-c, s]])),
    ("halves-not-pairs", half),
    ("always-ahead", power_abs),
    ("k-forgotten", lambda k, f: base(1, f)),
    ("k-added", lambda k, f: base(k, f, ang=lambda k, f, j: k + f[j])),
    ("one-angle-for-all", lambda k, f: base(k, f, ang=lambda k, f, j: k * f[0])),
    ("blocks-reversed", lambda k, f: base(k, f.flip(0))),
    ("k-as-power", lambda k, f: base(k, f, ang=lambda k, f, j: f[j] ** k)),
    (
        "blocks-in-a-stack",
        lambda k, f: torch.stack(
            [
                torch.stack([(k * f).cos(), (k * f).sin()], -1),
                torch.stack([-(k * f).sin(), (k * f).cos()], -1),
            ],
            1,
        ),
    ),
    ("cosines-only", lambda k, f: torch.diag((k * f).cos().repeat_interleave(2))),
    ("other-direction", lambda k, f: base(-k, f)),
    ("other-direction", lambda k, f: base(k, f).T),
]

RIGHT = [
    base,
    lambda k, f: torch.from_numpy(npr(k, f)),
    matexp,
    power,
    lambda k, f: torch.block_diag(
        *[
            torch.tensor([[c, s], [-s, c]])
            for c, s in zip((k * f).cos().tolist(), (k * f).sin().tolist(), strict=True)
        ]
    ),
    lambda k, f: torch.einsum(
        "ij,jab->iajb",
        torch.eye(len(f), dtype=f.dtype),
        torch.stack(
            [
                torch.stack([(k * f).cos(), (k * f).sin()], -1),
                torch.stack([-(k * f).sin(), (k * f).cos()], -1),
            ],
            1,
        ),
    ).reshape(2 * len(f), 2 * len(f)),
]

UNLISTED = [
    ("Both sines have a minus\\.", lambda k, f: base(k, f, lambda c, s: [[c, -s], [-s, c]])),
    (
        "Sine and cosine have changed places, and the minus stands at the",
        lambda k, f: base(k, f, lambda c, s: [[s, c], [c, -s]]),
    ),
    (
        "The second cosine has a minus: it mirrors\\.",
        lambda k, f: base(k, f, lambda c, s: [[c, s], [-s, -c]]),
    ),
    ("The numbers are right\\. The result is a NumPy array; a tensor is", npr),
    ("Every pair's cosine meets every other one's: an outer product stands", full_blocks),
    ("Where k is negative it does not turn at all\\.", power_nosign),
    ("It turns by k \\+ 1 steps\\.", power_rev),
    (
        "The frequencies play no part: every pair is turned by k\\.",
        lambda k, f: base(k, f, ang=lambda k, f, j: k),
    ),
    ("It turns by k - 1 steps\\.", lambda k, f: base(k - 1, f)),
    ("It turns by k \\+ 1 steps\\.", lambda k, f: base(k + 1, f)),
    (
        "k is divided by the frequency; they should be multiplied\\.",
        lambda k, f: base(k, f, ang=lambda k, f, j: k / f[j]),
    ),
    (
        "Every pair gets the frequency of the pair before\\.",
        lambda k, f: base(k, f, ang=lambda k, f, j: k * f[j - 1]),
    ),
    (
        "The number of the pair, from 0, stands for its frequency\\.",
        lambda k, f: base(k, f, ang=lambda k, f, j: k * j),
    ),
    (
        "The frequencies given are not used: 10000 to the power of -2j /",
        lambda k, f: base(k, f, ang=lambda k, f, j: k * 10000 ** (-2 * j / (2 * len(f)))),
    ),
    ("The angle is multiplied by 2π\\.", lambda k, f: base(k, f, ang=lambda k, f, j: 2 * math.pi * k * f[j])),
    (
        "The angle is taken for degrees\\.",
        lambda k, f: base(k, f, ang=lambda k, f, j: math.radians(float(k * f[j]))),
    ),
    ("It does not turn at all\\.", lambda k, f: torch.eye(2 * len(f))),
    (
        "Numbers stand outside the 2 × 2 blocks on the diagonal: pairs are",
        lambda k, f: torch.roll(torch.eye(2 * len(f)), k, 0),
    ),
    (
        "The result should have shape `\\(d_model, d_model\\)` = `\\(6, 6\\)`; yours",
        lambda k, f: base(k, f)[:2, :2],
    ),
    (
        "The angles themselves stand in the blocks, without sine and cosine\\.",
        lambda k, f: torch.block_diag(*[torch.full((2, 2), float(k * w)) for w in f]),
    ),
    ("The entries are rounded to whole numbers\\.", lambda k, f: base(k, f).round()),
    ("It turns by half of the steps\\.", lambda k, f: base(k, f, ang=lambda k, f, j: k * f[j] / 2)),
    ("It turns by 2k steps\\.", lambda k, f: base(k, f) @ base(k, f)),
    ("The frequencies are squared\\.", lambda k, f: base(k, f**2)),
    (
        "The result should have shape `\\(d_model, d_model\\)` = `\\(6, 6\\)`; yours",
        lambda k, f: torch.cat([base(k, f[j : j + 1]) for j in range(len(f))]),
    ),
    (
        "Only the first pair is turned\\.",
        lambda k, f: torch.block_diag(base(k, f[:1]), torch.eye(2 * len(f) - 2)),
    ),
]
