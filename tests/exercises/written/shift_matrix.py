"""shift_matrix as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch

from tests.exercises.written.examined import shift_matrix as examined


def looped(
    k, w, *, angle=lambda k, w, j: k * w[j], entries=lambda c, s: ((c, s), (-s, c)), place=lambda j, r: j
):
    pairs = len(w)
    out = torch.zeros(2 * pairs, 2 * pairs, dtype=w.dtype)
    for j in range(pairs):
        turn = float(angle(k, w, j))
        block = entries(math.cos(turn), math.sin(turn))
        at = place(j, pairs)
        for row in range(2):
            for column in range(2):
                out[2 * at + row, 2 * at + column] = block[row][column]
    return out


def by_slices(k, w, *, upper=1, lower=-1, diagonal=torch.cos, beside=torch.sin):
    out = w.new_zeros(2 * len(w), 2 * len(w))
    even = torch.arange(0, 2 * len(w), 2)
    out[even, even] = out[even + 1, even + 1] = diagonal(k * w)
    out[even, even + 1] = upper * beside(k * w)
    out[even + 1, even] = lower * beside(k * w)
    return out


def solved(k, w):
    # The matrix that takes PE(p) to PE(p + k) at as many positions as there are columns.
    p = torch.arange(2 * len(w), dtype=torch.float64)[:, None] * 1.7
    w64 = w.double()

    def pe(at):
        return torch.stack([(at * w64).sin(), (at * w64).cos()], -1).flatten(1)

    return torch.linalg.lstsq(pe(p), pe(p + k), driver="gelsd").solution.T.to(w.dtype)


def exponential(k, w):
    generator = torch.zeros(2 * len(w), 2 * len(w), dtype=w.dtype)
    for j, one in enumerate(w):
        generator[2 * j, 2 * j + 1], generator[2 * j + 1, 2 * j] = one, -one
    return torch.linalg.matrix_exp(k * generator)


def with_kron(k, w):
    unit = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=w.dtype)
    eye = torch.eye(2, dtype=w.dtype)
    return torch.kron((k * w).cos().diag(), eye) + torch.kron((k * w).sin().diag(), unit)


def steps(k, w):
    one = by_slices(1, w)
    return torch.linalg.matrix_power(one, k) if k >= 0 else torch.linalg.matrix_power(one.T, -k)


def with_numpy(k, w):
    out = np.zeros((2 * len(w), 2 * len(w)), dtype=w.numpy().dtype)
    for j, turn in enumerate((k * w).numpy()):
        out[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = [
            [np.cos(turn), np.sin(turn)],
            [-np.sin(turn), np.cos(turn)],
        ]
    return torch.from_numpy(out)


def halves(k, w):
    c, s = torch.diag((k * w).cos()), torch.diag((k * w).sin())
    return torch.vstack([torch.hstack([c, s]), torch.hstack([-s, c])])


def halves_in_a_loop(k, w):
    r = len(w)
    out = torch.zeros(2 * r, 2 * r, dtype=w.dtype)
    for j in range(r):
        out[j, j] = out[r + j, r + j] = torch.cos(k * w[j])
        out[j, r + j], out[r + j, j] = torch.sin(k * w[j]), -torch.sin(k * w[j])
    return out


def stacked(k, w):
    return torch.stack([by_slices(k, w[j : j + 1]) for j in range(len(w))])


def stacked_by_axes(k, w):
    c, s = (k * w).cos(), (k * w).sin()
    return torch.stack([torch.stack([c, s], 1), torch.stack([-s, c], 1)], 1)


WRONG = [
    ("other-direction", lambda k, w: by_slices(k, w).T),
    ("other-direction", partial(looped, entries=lambda c, s: ((c, -s), (s, c)))),
    ("halves-not-pairs", halves),
    ("halves-not-pairs", halves_in_a_loop),
    ("no-minus", partial(by_slices, lower=1)),
    ("no-minus", partial(looped, entries=lambda c, s: ((c, s), (s, c)))),
    ("cosines-only", lambda k, w: (k * w).cos().repeat_interleave(2).diag()),
    ("cosines-only", partial(looped, entries=lambda c, s: ((c, 0), (0, c)))),
    ("k-forgotten", partial(looped, angle=lambda k, w, j: w[j])),
    ("k-forgotten", lambda k, w: by_slices(1, w)),
    ("always-ahead", partial(looped, angle=lambda k, w, j: abs(k) * w[j])),
    ("always-ahead", lambda k, w: with_kron(abs(k), w)),
    ("one-angle-for-all", partial(looped, angle=lambda k, w, j: k * w[0])),
    ("one-angle-for-all", lambda k, w: by_slices(k, w[0].expand(len(w)))),
    ("sine-and-cosine-swapped", partial(by_slices, diagonal=torch.sin, beside=torch.cos)),
    ("sine-and-cosine-swapped", partial(looped, entries=lambda c, s: ((s, c), (-c, s)))),
    ("mirrored", partial(looped, entries=lambda c, s: ((c, s), (s, -c)))),
    (
        "mirrored",
        lambda k, w: by_slices(k, w) * torch.tensor([1.0, -1.0]).repeat(len(w))[:, None].to(w.dtype),
    ),
    ("blocks-in-a-stack", stacked),
    ("blocks-in-a-stack", stacked_by_axes),
    ("blocks-reversed", partial(looped, place=lambda j, r: r - 1 - j)),
    ("blocks-reversed", lambda k, w: by_slices(k, w.flip(0))),
    ("k-as-power", partial(looped, angle=lambda k, w, j: w[j] ** k)),
    ("k-as-power", lambda k, w: with_kron(1, torch.pow(w, k))),
    ("k-added", partial(looped, angle=lambda k, w, j: k + w[j])),
    ("k-added", lambda k, w: by_slices(1, w + k)),
    ("k-outside", lambda k, w: k * by_slices(1, w)),
    ("k-outside", lambda k, w: sum([by_slices(1, w)] * abs(k)) * (1 if k > 0 else -1)),
]

RIGHT = [looped, by_slices, solved, exponential, with_kron, steps, with_numpy]

UNLISTED = [
    (r"It turns by 2k|Pair 0 is turned by -0\.28", lambda k, w: by_slices(2 * k, w)),
    (
        r"Pair 1 is turned by|divided by the frequency|Only the first pair",
        partial(looped, angle=lambda k, w, j: k / w[j]),
    ),
    (
        r"Pair 1 is turned by|divided by the frequency|Only the first pair",
        partial(looped, angle=lambda k, w, j: k * w[j] if j == 0 else 0),
    ),
    (r"pair 0 is no rotation", partial(looped, entries=lambda c, s: ((c, s), (-s, s)))),
    (r"outside the 2 × 2 blocks", lambda k, w: by_slices(k, w).roll(1, 0)),
    (r"opposite sign", lambda k, w: -by_slices(k, w)),
    (r"shape|axis|row", lambda k, w: by_slices(k, w)[:-1]),
    (r"shape .*\(1, 6, 6\)", lambda k, w: by_slices(k, w)[None]),
    (r"stops with", lambda k, w: by_slices(k, w) @ torch.zeros(3, 17)),
    (r"reverse order", lambda k, w: by_slices(k, w).flip(0)),
    (r".", lambda k, w: by_slices(k, w) + torch.eye(2 * len(w), dtype=w.dtype)),
    (r"list", lambda k, w: by_slices(k, w).tolist()),
    (r"multiplied by 2", lambda k, w: 2 * by_slices(k, w)),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
