"""best_fixed_offset as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import statistics
from collections import Counter
from functools import partial

import torch

from tests.exercises.written.examined import best_fixed_offset as examined


def distances(targets, *, live=lambda t: t >= 0):
    return [int(t) - i for i, t in enumerate(targets) if live(int(t))]


def by_counter(targets, largest, *, order=None, live=lambda t: t >= 0, low=None, high=None, zero=False):
    low, high = -largest if low is None else low, largest if high is None else high
    found = Counter(k for k in distances(targets, live=live) if low <= k <= high and (k or zero))
    return min(found, key=lambda k: (-found[k], *(order(k) if order else (abs(k), k))))


def tried(targets, largest, *, offsets=None, last=False, sign=1, give=lambda k, best: k):
    where, best, kept = distances(targets), -1, 0
    for k in offsets(largest, len(targets)) if offsets else nearest_first(largest, len(targets)):
        hits = where.count(sign * k)
        if hits > best or (last and hits == best):
            best, kept = hits, k
    return give(kept, best)


def nearest_first(largest, n):
    return [sign * size for size in range(1, largest + 1) for sign in (-1, 1)]


def by_tensors(targets, largest, *, offsets=nearest_first):
    ks = torch.tensor(offsets(largest, len(targets)))
    hits = (torch.arange(len(targets)) + ks[:, None] == targets) & (targets >= 0)
    counts = hits.sum(1).tolist()
    return int(ks[counts.index(max(counts))])


def raw(targets, largest):
    ks = torch.tensor(nearest_first(largest, len(targets)))
    counts = (torch.arange(len(targets)) + ks[:, None] == targets).sum(1).tolist()
    return int(ks[counts.index(max(counts))])


def turned(targets, largest):
    found = Counter(i - int(t) for i, t in enumerate(targets) if t >= 0 and 0 < abs(i - int(t)) <= largest)
    return min(found, key=lambda k: (-found[k], abs(k), -k))


def scores(targets, largest):
    where = distances(targets)
    return {k: where.count(k) for k in nearest_first(largest, 0)}


WRONG = [
    ("other-direction", lambda targets, largest: -by_counter(targets, largest)),
    ("other-direction", turned),
    ("none-counts-as-target", partial(by_counter, live=lambda t: True)),
    ("none-counts-as-target", raw),
    ("itself-allowed", partial(by_counter, zero=True)),
    ("itself-allowed", partial(tried, offsets=lambda largest, n: [0, *nearest_first(largest, n)])),
    ("count-for-offset", lambda targets, largest: max(scores(targets, largest).values())),
    ("count-for-offset", partial(tried, give=lambda k, best: best)),
    (
        "index-for-offset",
        lambda targets, largest: int(torch.tensor([*scores(targets, largest).values()]).argmax()),
    ),
    ("index-for-offset", lambda t, largest: nearest_first(largest, 0).index(tried(t, largest))),
    ("farthest-first", partial(by_counter, order=lambda k: (k,))),
    ("farthest-first", partial(tried, offsets=lambda m, n: [*range(-m, 0), *range(1, m + 1)])),
    ("the-last-of-equals", partial(tried, last=True)),
    ("the-last-of-equals", partial(by_counter, order=lambda k: (-abs(k), -k))),
    ("only-before", partial(by_counter, high=-1)),
    ("only-before", partial(tried, offsets=lambda m, n: range(-1, -m - 1, -1))),
    ("only-after", partial(by_counter, low=1)),
    ("only-after", partial(tried, offsets=lambda m, n: range(1, m + 1))),
    ("no-limit", partial(by_counter, low=-99, high=99)),
    ("no-limit", partial(by_tensors, offsets=lambda m, n: nearest_first(n - 1, n))),
    ("mean-distance", lambda targets, largest: round(statistics.mean(distances(targets)))),
    ("mean-distance", lambda t, largest: int(torch.tensor(distances(t)).double().mean().round())),
    ("middle-distance", lambda targets, largest: statistics.median_low(distances(targets))),
    ("middle-distance", lambda t, m: sorted(distances(t))[(len(distances(t)) - 1) // 2]),
]

RIGHT = [
    by_counter,
    tried,
    by_tensors,
    lambda targets, largest: max(scores(targets, largest), key=scores(targets, largest).get),
    lambda t, m: min(nearest_first(m, 0), key=lambda k: -distances(t).count(k)),
    lambda t, m: sorted(scores(t, m).items(), key=lambda pair: (-pair[1], abs(pair[0]), pair[0]))[0][0],
]

UNLISTED = [
    ("yours is `3`", lambda targets, largest: largest),
    ("yours is `-3`", lambda targets, largest: -largest),
    ("3 times what it should be", lambda targets, largest: 3 * tried(targets, largest)),
    ("2 times what it should be", lambda targets, largest: 2 * tried(targets, largest)),
    ("yours is `5`", lambda targets, largest: tried(targets, largest) + 7),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
