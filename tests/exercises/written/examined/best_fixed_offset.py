"""best_fixed_offset: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

from collections import Counter

import numpy as np
import torch


def K(t, L, zero=False):
    return sorted((k for k in range(-L, L + 1) if k or zero), key=lambda k: (abs(k), k))


def hits(t, k):
    return sum((1 for i, x in enumerate(t.tolist()) if x >= 0 and x == i + k))


def loop(t, L):
    best, bk = (-1, 0)
    for k in K(t, L):
        if hits(t, k) > best:
            best, bk = (hits(t, k), k)
    return bk


def cnt(t, L):
    c = Counter((x - i for i, x in enumerate(t.tolist()) if x >= 0))
    return min(K(t, L), key=lambda k: (-c[k], abs(k), k))


def npx(t, L):
    t = t.numpy()
    d = (t - np.arange(len(t)))[t != -1]
    ks = np.array(K(t, L))
    return int(ks[np.argmax((d[None] == ks[:, None]).sum(1))])


def tie_last(t, L):
    best, bk = (-1, 0)
    for k in K(t, L):
        if hits(t, k) >= best:
            best, bk = (hits(t, k), k)
    return bk


def rng(t, L):
    best, bk = (-1, 0)
    for k in range(-L, L + 1):
        if k and hits(t, k) > best:
            best, bk = (hits(t, k), k)
    return bk


def pad(t, L):
    return max(K(t, L), key=lambda k: sum((1 for i, x in enumerate(t.tolist()) if x == i + k)))


def avgd(t, L):
    d = [x - i for i, x in enumerate(t.tolist()) if x >= 0]
    return round(sum(d) / len(d))


def mode(t, L):
    return Counter((x - i for i, x in enumerate(t.tolist()) if x >= 0)).most_common(1)[0][0]


def mode_pad(t, L):
    return Counter((x - i for i, x in enumerate(t.tolist()))).most_common(1)[0][0]


def mode_in(t, L):
    return Counter((x - i for i, x in enumerate(t.tolist()) if x >= 0 and 0 < abs(x - i) <= L)).most_common(
        1
    )[0][0]


def tmode(t, L):
    d = (t - torch.arange(len(t)))[t >= 0]
    return int(d.mode().values)


WRONG = [
    ("the-last-of-equals", tie_last),
    ("farthest-first", rng),
    ("none-counts-as-target", pad),
    ("mean-distance", avgd),
    ("itself-allowed", lambda t, L: max(K(t, L, True), key=lambda k: hits(t, k))),
    ("other-direction", lambda t, L: -loop(t, L)),
    ("only-before", lambda t, L: max([k for k in K(t, L) if k < 0], key=lambda k: hits(t, k))),
    ("only-after", lambda t, L: max([k for k in K(t, L) if k > 0], key=lambda k: hits(t, k))),
    ("no-limit", lambda t, L: max(K(t, len(t)), key=lambda k: hits(t, k))),
    ("count-for-offset", lambda t, L: max(hits(t, k) for k in K(t, L))),
    ("index-for-offset", lambda t, L: max(range(2 * L), key=lambda i: hits(t, K(t, L)[i]))),
    ("the-last-of-equals", lambda t, L: max(K(t, L)[::-1], key=lambda k: hits(t, k))),
    ("middle-distance", lambda t, L: int((t - torch.arange(len(t)))[t >= 0].median())),
    ("mean-distance", lambda t, L: max(-L, min(L, avgd(t, L)))),
]

RIGHT = [
    loop,
    cnt,
    npx,
    lambda t, L: max(K(t, L), key=lambda k: hits(t, k)),
    lambda t, L: K(t, L)[
        int(torch.stack([((t - torch.arange(len(t)) == k) & (t >= 0)).sum() for k in K(t, L)]).argmax())
    ],
    lambda t, L: sorted(K(t, L), key=lambda k: -hits(t, k))[0],
]

UNLISTED = [
    ("Of the most frequent distances of all, 0 and far ones too, the first", mode),
    ("The most frequent distance of all is returned, words without a target", mode_pad),
    ("Of the most frequent distances of all, 0 and far ones too, the", tmode),
    (
        "The sign is turned round: word minus target\\.",
        lambda t, L: max(
            K(t, L), key=lambda k: sum((1 for i, x in enumerate(t.tolist()) if x >= 0 and i == x + k))
        ),
    ),
    (
        "Of k and -k the one after the word comes first\\.",
        lambda t, L: max(sorted(K(t, L), key=lambda k: (abs(k), -k)), key=lambda k: hits(t, k)),
    ),
    (
        "Distances go up to `largest` - 1 only, on both sides\\.",
        lambda t, L: max(K(t, L - 1), key=lambda k: hits(t, k)),
    ),
    (
        "Distances go up to `largest` \\+ 1, one too far, on both sides\\.",
        lambda t, L: max(K(t, L + 1), key=lambda k: hits(t, k)),
    ),
    (
        "To the right distances end at `largest` - 1: `range` leaves its end",
        lambda t, L: max([k for k in K(t, L) if k < L], key=lambda k: hits(t, k)),
    ),
    (
        "To the left distances end at `largest` - 1\\.",
        lambda t, L: max([k for k in K(t, L) if k > -L], key=lambda k: hits(t, k)),
    ),
    (
        "A whole number \\(`int`\\) is wanted; yours is the float `0\\.1667`\\.",
        lambda t, L: max(hits(t, k) for k in K(t, L)) / int((t >= 0).sum()),
    ),
    (
        "0 is among the distances\\. And: The place of the best distance in the",
        lambda t, L: int(torch.tensor([hits(t, k) for k in range(-L, L + 1)]).argmax()),
    ),
    ("The sign of the best distance is lost\\.", lambda t, L: abs(loop(t, L))),
    ("Misses are counted, not hits\\.", lambda t, L: min(K(t, L), key=lambda k: hits(t, k))),
    (
        "It returns a tuple of 2 numbers, `\\(-2, 1\\)`; one whole number is",
        lambda t, L: ((loop(t, L), hits(t, loop(t, L)))),
    ),
    ("A whole number \\(`int`\\) is wanted; yours is the float `-2\\.0`\\.", lambda t, L: float(loop(t, L))),
    (
        "Words whose target is word 0 are left out: 0 is a position\\.",
        lambda t, L: max(
            K(t, L), key=lambda k: sum((1 for i, x in enumerate(t.tolist()) if x > 0 and x == i + k))
        ),
    ),
    (
        "Both sides count as a hit: the sign of the distance is lost\\.",
        lambda t, L: max(
            K(t, L),
            key=lambda k: sum((1 for i, x in enumerate(t.tolist()) if x >= 0 and abs(x - i) == abs(k))),
        ),
    ),
    (
        "Words are counted from 1, targets from 0\\.",
        lambda t, L: max(
            K(t, L), key=lambda k: sum((1 for i, x in enumerate(t.tolist(), 1) if x >= 0 and x == i + k))
        ),
    ),
    (
        "Beyond an end it goes on at the other end \\(`%`\\)\\.",
        lambda t, L: max(
            K(t, L),
            key=lambda k: sum((1 for i, x in enumerate(t.tolist()) if x >= 0 and x == (i + k) % len(t))),
        ),
    ),
    (
        "Beyond an end the last position is taken\\.",
        lambda t, L: max(
            K(t, L),
            key=lambda k: sum(
                (1 for i, x in enumerate(t.tolist()) if x >= 0 and x == min(max(i + k, 0), len(t) - 1))
            ),
        ),
    ),
    ("The first distance in the list is returned whatever it hits\\.", lambda t, L: -1),
    ("The distance 1 is returned whatever it hits\\.", lambda t, L: 1),
    (
        "Hits are divided by the words that have such a place, so that far",
        lambda t, L: max(
            K(t, L),
            key=lambda k: (
                hits(t, k)
                / max(1, sum((1 for i, x in enumerate(t.tolist()) if x >= 0 and 0 <= i + k < len(t))))
            ),
        ),
    ),
    (
        "The farthest distances are tried first\\.",
        lambda t, L: max(K(t, L), key=lambda k: hits(t, k) / (len(t) - abs(k))),
    ),
    ("The place of the largest target is returned\\.", lambda t, L: int(t.argmax())),
    ("The most frequent target is returned, not a distance\\.", lambda t, L: int(t[t >= 0].mode().values)),
    (
        "Words without a target are taken away first, so that the others get",
        lambda t, L: max(
            K(t, L),
            key=lambda k: sum((1 for i, x in enumerate([x for x in t.tolist() if x >= 0]) if x == i + k)),
        ),
    ),
    ("Of equally frequent distances the first that comes up in the sentence", mode_in),
    ("So far the function returns `\\.\\.\\.` or nothing\\. Write it, then run both", lambda t, L: None),
    (
        "It returns a list; one whole number is wanted\\.",
        lambda t, L: ([k for k in K(t, L) if hits(t, k) == hits(t, loop(t, L))]),
    ),
    ("It returns something of type `str`; one whole number is wanted\\.", lambda t, L: str(loop(t, L))),
    (
        "Every target at or before the place counts as a hit\\.",
        lambda t, L: max(
            K(t, L), key=lambda k: sum((1 for i, x in enumerate(t.tolist()) if x >= 0 and x <= i + k))
        ),
    ),
    (
        "The distance of the first word with a target is returned\\.",
        lambda t, L: [int(x) - i for i, x in enumerate(t) if x >= 0][0],
    ),
    (
        "The most frequent distance, 0 and those beyond `largest` too, is cut",
        lambda t, L: max(-L, min(L, mode(t, L))),
    ),
    (
        "0 is among the distances\\. And: Words without a target count: -1 is",
        lambda t, L: max(
            K(t, L, True), key=lambda k: sum((1 for i, x in enumerate(t.tolist()) if x == i + k))
        ),
    ),
]
