"""offset_scores as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from tests.exercises.written.examined import offset_scores as examined


def looped(
    weights,
    offset,
    *,
    target=lambda p, offset, n: p + offset,
    hit=lambda row, place: row.argmax().item() == place,
    divide=lambda hits, live, n: hits / live,
    pick=lambda weights, head, p: weights[head, p],
):
    h, n = weights.shape[:2]
    shares = []
    for head in range(h):
        hits = live = 0
        for p in range(n):
            place = target(p, offset, n)
            if 0 <= place < n:
                live += 1
                hits += float(hit(pick(weights, head, p), place))
        shares.append(divide(hits, live, n))
    return torch.tensor(shares)


def by_slices(weights, offset, *, best=lambda w: w.argmax(-1), finish=lambda hits: hits.float().mean(-1)):
    n = weights.shape[-1]
    queries = range(max(0, -offset), n - max(0, offset))
    return finish(torch.stack([best(weights)[:, p] == p + offset for p in queries], -1))


def by_diagonal(weights, offset, *, is_hit=lambda w: w == w.amax(-1, keepdim=True)):
    return is_hit(weights).float().diagonal(offset, 1, 2).mean(-1)


def with_numpy(weights, offset):
    w = weights.numpy()
    n = w.shape[1]
    distance = w.argmax(2) - np.arange(n)
    inside = [p for p in range(n) if 0 <= p + offset < n]
    return torch.from_numpy((distance[:, inside] == offset).mean(1).astype(np.float32))


def one_hot(weights, offset, *, step=1, over=None):
    n = weights.shape[-1]
    peaks = torch.nn.functional.one_hot(weights.argmax(-1), n).float()
    targets = torch.diag(torch.ones(n - abs(offset)), step * offset)
    return (peaks * targets).sum((1, 2)) / (over(n) if over else n - abs(offset))


def masked(weights, offset):
    n = weights.shape[-1]
    p = torch.arange(n)
    inside = ((p + offset >= 0) & (p + offset < n)).float()
    return ((weights.max(-1).indices - p == offset).float() * inside).sum(-1) / inside.sum()


WRONG = [
    ("other-direction", lambda w, k: by_slices(w, -k)),
    ("other-direction", partial(looped, target=lambda p, k, n: p - k)),
    ("edges-counted-as-misses", partial(one_hot, over=lambda n: n)),
    ("edges-counted-as-misses", partial(looped, divide=lambda hits, live, n: hits / n)),
    ("hits-not-divided", partial(looped, divide=lambda hits, live, n: hits)),
    ("hits-not-divided", partial(by_slices, finish=lambda hits: hits.float().sum(-1))),
    ("weight-for-hits", partial(looped, hit=lambda row, place: row[place].item())),
    ("weight-for-hits", lambda w, k: torch.stack([torch.diagonal(m, k).mean() for m in w])),
    ("columns-for-rows", partial(looped, pick=lambda w, head, p: w[head, :, p])),
    ("columns-for-rows", partial(by_slices, best=lambda w: w.argmax(1))),
    ("wrapped-around", partial(looped, target=lambda p, k, n: (p + k) % n)),
    ("wrapped-around", lambda w, k: (w.roll(-k, 2).argmax(-1) == torch.arange(w.shape[1])).float().mean(1)),
    ("pushed-inside", partial(looped, target=lambda p, k, n: min(max(p + k, 0), n - 1))),
    (
        "pushed-inside",
        lambda w, k: torch.stack(
            [
                (m.argmax(-1) == (torch.arange(len(m)) + k).clip(0, len(m) - 1)).double().mean().float()
                for m in w
            ]
        ),
    ),
    ("one-number-for-all", lambda w, k: by_slices(w, k).mean()),
    ("one-number-for-all", partial(by_slices, finish=lambda hits: hits.float().mean())),
    ("heads-averaged-first", lambda w, k: looped(w.mean(0)[None], k)[0]),
    ("heads-averaged-first", lambda w, k: by_slices(w.sum(0, keepdim=True), k).squeeze()),
    (
        "either-side",
        partial(
            looped,
            pick=lambda w, head, p: (p, w[head, p]),
            hit=lambda row, place: abs(row[1].argmax().item() - row[0]) == abs(place - row[0]),
        ),
    ),
    (
        "either-side",
        lambda w, k: torch.stack(
            [
                ((m.argmax(-1) - torch.arange(len(m))).abs() == abs(k))[max(0, -k) : len(m) - max(0, k)]
                .float()
                .mean()
                for m in w
            ]
        ),
    ),
    ("own-position", lambda w, k: by_slices(w, 0)),
    ("own-position", partial(looped, target=lambda p, k, n: p)),
    ("percent", lambda w, k: by_slices(w, k) * 100),
    ("percent", partial(looped, divide=lambda hits, live, n: 100 * hits / live)),
    ("more-than-half", partial(by_diagonal, is_hit=lambda w: w > 0.5)),
    ("more-than-half", partial(looped, hit=lambda row, place: row[place] > 0.5)),
    ("smallest-weight", partial(by_slices, best=lambda w: w.argmin(-1))),
    ("smallest-weight", partial(by_diagonal, is_hit=lambda w: w == w.amin(-1, keepdim=True))),
    ("misses-for-hits", partial(looped, divide=lambda hits, live, n: 1 - hits / live)),
    ("misses-for-hits", partial(by_slices, finish=lambda hits: (~hits).float().mean(-1))),
]

RIGHT = [looped, by_slices, by_diagonal, with_numpy, one_hot, masked]

UNLISTED = [
    (r"shares for offset -2; -1|too far to the left", lambda w, k: by_slices(w, k - 1)),
    (r"shares for offset 0; -1|counted from 1", lambda w, k: by_slices(w, k + 1)),
    (r"divided by 12; 10 queries", partial(looped, divide=lambda hits, live, n: hits / (n + 1))),
    (r"divided by 20|divided by 2", partial(looped, divide=lambda hits, live, n: hits / (2 * live))),
    (r"opposite sign", lambda w, k: -by_slices(w, k)),
    (r"shape", lambda w, k: by_slices(w, k)[:, None]),
    (r"bool|dtype|whole|True", lambda w, k: by_slices(w, k) > 0.9),
    (r"Everything is 0", lambda w, k: torch.zeros(len(w))),
    (r"as it came", lambda w, k: w),
    (r"list", lambda w, k: by_slices(w, k).tolist()),
    (r"stops with", lambda w, k: w.argmax(-1) == k + torch.arange(99)),
    (r".", lambda w, k: by_slices(w, 2 * k)),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
