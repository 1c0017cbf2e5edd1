"""shift_right: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import numpy as np
import torch


def loop(t, s):
    return torch.tensor([[s] + r[:-1] for r in t.tolist()])


def npc(t, s):
    a = np.roll(t.numpy(), 1, axis=1)
    a[:, 0] = s
    return torch.from_numpy(a)


def rollm(t, s):
    r = t.roll(1, 1)
    r[:, 0] = s
    return r


def clone(t, s):
    o = t.clone()
    o[:, 1:] = t[:, :-1]
    o[:, 0] = s
    return o


def inplace(t, s):
    t[:, 1:] = t[:, :-1].clone()
    t[:, 0] = s
    return t


def over(t, s):
    o = t.clone()
    o[:, 0] = s
    return o


def alias(t, s):
    o = t.clone()
    for i in range(1, o.shape[1]):
        o[:, i] = o[:, i - 1]
    o[:, 0] = s
    return o


def batchroll(t, s):
    o = t.roll(1, 0)
    o[:, 0] = s
    return o


def flatroll(t, s):
    o = t.roll(1)
    o[0, 0] = s
    return o


def flat_first(t, s):
    return torch.cat([torch.tensor([s]), t.flatten()[:-1]]).view_as(t)


def zeroend(t, s):
    o = torch.zeros_like(t)
    o[:, 0] = s
    o[:, 1:-1] = t[:, :-2]
    return o


def lastreplaced(t, s):
    o = t.clone()
    o[:, -1] = s
    return o


def C(t, s):
    return torch.full((t.shape[0], 1), s)


WRONG = [
    ("shifted-left", lambda t, s: torch.cat([t[:, 1:], C(t, s)], 1)),
    ("one-too-long", lambda t, s: torch.cat([C(t, s), t], 1)),
    ("last-comes-first", lambda t, s: t.roll(1, 1)),
    ("start-for-the-first-word", over),
    ("over-the-edge", flatroll),
    ("over-the-edge", flat_first),
    ("start-for-the-last-word", lastreplaced),
    ("start-for-the-first-word", lambda t, s: torch.cat([C(t, s), t[:, 1:]], 1)),
    ("shifted-by-two", lambda t, s: torch.cat([C(t, s), C(t, s), t[:, :-2]], 1)),
    ("start-for-the-last-word", lambda t, s: torch.cat([t[:, :-1], C(t, s)], 1)),
    ("zero-for-start", lambda t, s: torch.cat([C(t, 0), t[:, :-1]], 1)),
    ("sentences-shifted", lambda t, s: torch.cat([torch.full((1, t.shape[1]), s), t[:-1]], 0)),
    ("start-everywhere", lambda t, s: torch.full_like(t, s)),
    ("start-left-out", lambda t, s: t[:, :-1]),
    (
        "shifted-by-two",
        lambda t, s: (lambda r: (r.__setitem__((slice(None), slice(0, 2)), s), r)[1])(t.roll(2, 1)),
    ),
    ("not-shifted", lambda t, s: t),
    ("start-for-the-first-word", lambda t, s: torch.cat([C(t, s), t.roll(-1, 1)[:, :-1]], 1)),
    ("first-word-twice", lambda t, s: torch.cat([t[:, :1], t[:, :-1]], 1)),
]

RIGHT = [
    loop,
    npc,
    rollm,
    clone,
    lambda t, s: torch.nn.functional.pad(t, (1, -1), value=s),
    lambda t, s: torch.cat([t.new_full((t.shape[0], 1), s), t[:, :-1]], 1),
    lambda t, s: torch.hstack([torch.ones_like(t[:, :1]) * s, t])[:, :-1],
]

UNLISTED = [
    ("The function changes its argument `targets`; whoever called it loses", inplace),
    ("Place 2 holds word 0; word 1 belongs there\\. Place 3 holds word 0;", alias),
    ("Place 1 holds word 1 of another sentence; word 0 belongs there\\. Place", batchroll),
    ("Place 4 holds 0 in every sentence; word 3 belongs there\\. Places 0, 1,", zeroend),
    (
        "Place 0 holds 1 in every sentence; the start belongs there\\. Places 1,",
        lambda t, s: torch.cat([C(t, 1), t[:, :-1]], 1),
    ),
    (
        "Place 0 holds -1 in every sentence; the start belongs there\\. Places",
        lambda t, s: torch.cat([C(t, -1), t[:, :-1]], 1),
    ),
    (
        "Whole numbers are wanted; yours are floats\\.",
        lambda t, s: torch.cat([torch.full((len(t), 1), float(s)), t[:, :-1]], 1),
    ),
    (
        "Place 0 holds 1 in every sentence; the start belongs there\\. Places 1,",
        lambda t, s: torch.cat([torch.ones(len(t), 1).long(), t[:, :-1]], 1),
    ),
    ("Nothing has moved; the ids are changed: 2 \\(`start`\\) is added\\. An id", lambda t, s: t + s),
    ("Nothing has moved; the ids are changed: 1 is taken off\\. An id is a", lambda t, s: t - 1),
    (
        "The result should have shape `\\(b, n\\)` = `\\(3, 5\\)`; yours has `\\(5, 3\\)`\\.",
        lambda t, s: rollm(t, s).T,
    ),
    (
        "The numbers are right\\. The result is a list; a tensor is wanted\\.",
        lambda t, s: ([[s] + r[:-1] for r in t.tolist()]),
    ),
    ("Sentence 1 is right; the others did not move\\.", lambda t, s: torch.cat([rollm(t, s)[:1], t[1:]])),
    (
        "Sentence 1 is right; the others have their last word in front, and no",
        lambda t, s: torch.cat([rollm(t, s)[:1], t.roll(1, 1)[1:]]),
    ),
    (
        "The places stand in reverse order; before that the result was right\\.",
        lambda t, s: rollm(t, s).flip(1),
    ),
    ("stops with an error", lambda t, s: torch.cat([C(t, s), t[:, :-1]], 0)),
    ("stops with an error", lambda t, s: torch.cat([torch.tensor([s]), t[:, :-1]], 1)),
    (
        "The result should have shape `\\(b, n\\)` = `\\(3, 5\\)`; yours has `\\(1, 3,",
        lambda t, s: rollm(t, s)[None],
    ),
    (
        "Place 0 holds 5, which is n, in every sentence; the start belongs",
        lambda t, s: torch.cat([C(t, t.shape[1]), t[:, :-1]], 1),
    ),
    (
        "Place 0 holds 3, which is b, in every sentence; the start belongs",
        lambda t, s: torch.cat([C(t, t.shape[0]), t[:, :-1]], 1),
    ),
    (
        "Place 0 holds word 0; the start belongs there\\. Place 1 holds the",
        lambda t, s: torch.cat([t[:, :1], C(t, s), t[:, 1:-1]], 1),
    ),
    (
        "Place 1 holds a word by the size of its id \\(sorted\\); word 0 belongs",
        lambda t, s: torch.cat([C(t, s), t[:, :-1].sort(1).values], 1),
    ),
    (
        "Place 1 holds word 4; word 0 belongs there\\. Place 2 holds word 3;",
        lambda t, s: torch.cat([C(t, s), t.flip(1)[:, :-1]], 1),
    ),
    (
        "Place 0 holds word 0 with a number added to its id; the start belongs",
        lambda t, s: torch.cat([t[:, :1] + s, t[:, :-1]], 1),
    ),
    ("It returns 2 things; it should return one thing: result\\.", lambda t, s: ((C(t, s), t[:, :-1]))),
]
