"""argmax_share as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from tests.exercises.written.examined import argmax_share as examined


def looped(weights, targets, *, own=False, look=None, miss=False, all_words=False, shift=0, share=True):
    h, n, _ = weights.shape
    scores = []
    for head in range(h):
        hits = count = 0
        for i in range(n):
            target = int(targets[i])
            if target < 0:
                count += all_words
                continue
            row = weights[head, i].clone()
            if not own:
                row[i] = -1
            at = look(weights, head, i) if look else int(row.argmax())
            hits += (at == target + shift) != miss
            count += 1
        scores.append(hits / count if share else float(hits))
    return torch.tensor(scores)


def vector(weights, targets, *, hide=True, axis=2, change=None, denominator=None):
    n = weights.shape[2]
    if hide:
        weights = weights - 2 * torch.eye(n, dtype=weights.dtype)
    if change is not None:
        weights = change(weights)
    asked = targets != -1
    hits = (weights.argmax(axis) == targets) & asked
    return hits.sum(1) / (denominator(hits, asked) if denominator else asked.sum())


def on_target(weights, targets):
    asked = targets >= 0
    return weights[:, asked].gather(2, targets[asked].expand(len(weights), -1)[..., None])[..., 0]


def on_target_looped(weights, targets, *, of):
    places = [(i, int(t)) for i, t in enumerate(targets) if t >= 0]
    return torch.tensor([sum(of(float(one[i, t])) for i, t in places) / len(places) for one in weights])


def by_numpy(weights, targets):
    w, t = weights.numpy().copy(), targets.numpy()
    w[:, np.arange(len(t)), np.arange(len(t))] = -np.inf
    return torch.from_numpy((w.argmax(-1)[:, t >= 0] == t[t >= 0]).mean(-1)).float()


def by_max(weights, targets):
    others = weights.clone()
    others.diagonal(dim1=1, dim2=2).fill_(0)
    asked = targets >= 0
    return (on_target(others, targets) == others.amax(2)[:, asked]).float().mean(1)


def by_sorting(weights, targets):
    ranks = weights.masked_fill(torch.eye(len(targets)).bool(), -1).argsort(-1, descending=True)
    asked = targets >= 0
    return (ranks[:, asked, 0] == targets[asked]).float().mean(-1)


def column_look(weights, head, i):
    column = weights[head, :, i].clone()
    column[i] = -1
    return int(column.argmax())


def one_based(weights, targets):
    others = weights.masked_fill(torch.eye(len(targets)).bool(), 0)
    asked = targets >= 0
    return (others.argmax(2) + 1 == targets)[:, asked].float().mean(1)


WRONG = [
    ("own-weight-kept", partial(looped, own=True)),
    ("own-weight-kept", partial(vector, hide=False)),
    ("divided-by-all-words", partial(looped, all_words=True)),
    ("divided-by-all-words", partial(vector, denominator=lambda hits, asked: hits.shape[1])),
    ("hits-counted", partial(looped, share=False)),
    ("hits-counted", partial(vector, denominator=lambda hits, asked: 1)),
    ("largest-of-the-column", partial(looped, look=column_look)),
    ("largest-of-the-column", partial(vector, axis=1)),
    ("heads-averaged-first", partial(vector, change=lambda w: w.mean(0).expand_as(w))),
    ("heads-averaged-first", lambda w, targets: looped(torch.stack([w.mean(0)] * len(w)), targets)),
    ("shares-averaged", lambda w, targets: looped(w, targets).mean()),
    ("shares-averaged", lambda w, targets: vector(w, targets).sum() / len(w)),
    ("weight-for-hits", lambda w, targets: on_target(w, targets).mean(1)),
    ("weight-for-hits", partial(on_target_looped, of=lambda p: p)),
    ("more-than-half", lambda w, targets: (on_target(w, targets) > 0.5).float().mean(1)),
    ("more-than-half", partial(on_target_looped, of=lambda p: p > 0.5)),
    ("misses-counted", partial(looped, miss=True)),
    ("misses-counted", lambda w, targets: 1 - vector(w, targets)),
    ("smallest-weight", partial(looped, look=lambda w, head, i: int(w[head, i].argmin()))),
    ("smallest-weight", partial(vector, hide=False, change=lambda w: -w)),
    ("one-place-on", partial(looped, shift=-1)),
    ("one-place-on", one_based),
]

RIGHT = [
    looped,
    vector,
    by_numpy,
    by_max,
    by_sorting,
    lambda w, targets: torch.stack([vector(one[None], targets)[0] for one in w]),
]

UNLISTED = [
    ("Only the first head", lambda w, targets: vector(w, targets)[0]),
    ("Everything is 0", lambda w, targets: torch.zeros(len(w))),
    ("rounded to one decimal", lambda w, targets: vector(w, targets).round(decimals=1)),
    ("right|reversed|sorted", lambda w, targets: vector(w, targets).flip(0)),
    ("per cent", lambda w, targets: 100 * vector(w, targets)),
    ("squared", lambda w, targets: vector(w, targets) ** 2),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
