"""nearest_with_tag as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import torch


def two_loops(tags, wanted, *, own=False, tie=False, before=True, after=True, none=-1, test=None, far=False):
    result = []
    for i in range(len(tags)):
        best, distance = None, None
        for j in range(len(tags)):
            if (tags[j] != wanted) if test is None else not test(tags[i], tags[j], wanted):
                continue
            if (j == i and not own) or (j < i and not before) or (j > i and not after):
                continue
            d = abs(j - i)
            if best is None or (d > distance if far else d < distance or (tie and d == distance)):
                best, distance = j, d
        fallback = none(i) if callable(none) else none
        result.append(fallback if best is None else best)
    return result


def outwards(tags, wanted, *, sides=(-1, 1), start=1, none=-1, put=None):
    n, result = len(tags), []
    for i in range(n):
        found = none if none != "i" else i
        for step in range(start, n):
            near = [i + s * step for s in sides if 0 <= i + s * step < n and tags[i + s * step] == wanted]
            if near:
                found = near[0] if put is None else put(i, near[0])
                break
        result.append(found)
    return result


def by_sorting(tags, wanted, *, key=lambda j, i: abs(j - i), which=0, shift=0):
    result = []
    for i, _ in enumerate(tags):
        places = sorted(
            (j for j in range(len(tags)) if tags[j] == wanted and j != i), key=lambda j: key(j, i)
        )
        result.append(places[which] + shift if places else -1)
    return result


def by_matrix(tags, wanted):
    n = len(tags)
    has = torch.tensor([t == wanted for t in tags])
    at = torch.arange(n)
    distance = (at[:, None] - at).abs().float()
    distance[:, ~has] = float("inf")
    distance.fill_diagonal_(float("inf"))
    nearest = distance.argmin(1)
    nearest[distance.amin(1) == float("inf")] = -1
    return nearest.tolist()


def by_halves(tags, wanted):
    result = []
    for i in range(len(tags)):
        left = next((j for j in reversed(range(i)) if tags[j] == wanted), None)
        right = next((j for j in range(i + 1, len(tags)) if tags[j] == wanted), None)
        if left is None and right is None:
            result.append(-1)
        elif right is None or (left is not None and i - left <= right - i):
            result.append(left)
        else:
            result.append(right)
    return result


def as_tensor(tags, wanted):
    return torch.tensor(by_halves(tags, wanted))


def as_tuple(tags, wanted):
    return tuple(by_sorting(tags, wanted))


def first_index(tags, wanted, *, last=False):
    result = []
    for i in range(len(tags)):
        places = [j for j, tag in enumerate(tags) if tag == wanted and j != i]
        result.append(places[-1 if last else 0] if places else -1)
    return result


def overwritten(tags, wanted, *, stop):
    result = [-1] * len(tags)
    for i in range(len(tags)):
        for j, tag in enumerate(tags):
            if i != j and tag == wanted:
                result[i] = j
                if stop:
                    break
    return result


def truthy(tags, wanted):
    result = []
    for at in by_halves(tags, wanted):
        result.append(at if at > 0 else -1)
    return result


def truthy_or(tags, wanted):
    return [max(j, 0) or -1 for j in two_loops(tags, wanted)]


def with_distance(tags, wanted, *, sign):
    return [(j - i if sign else abs(j - i)) if j >= 0 else -1 for i, j in enumerate(by_halves(tags, wanted))]


def nothing_found(tags, wanted, *, put):
    return [put(i) if j < 0 else j for i, j in enumerate(by_matrix(tags, wanted))]


def below_0(tags, wanted):
    result = []
    for i in range(len(tags)):
        for step in range(1, len(tags)):
            if tags[i - step] == wanted:
                result.append(i - step)
                break
            if i + step < len(tags) and tags[i + step] == wanted:
                result.append(i + step)
                break
        else:
            result.append(-1)
    return result


def below_0_again(tags, wanted):
    n = len(tags)
    near = ((j for k in range(1, n) for j in (i - k, i + k) if j < n and tags[j] == wanted) for i in range(n))
    return [next(places, -1) for places in near]


WRONG = [
    ("itself-counts", partial(two_loops, own=True)),
    ("itself-counts", partial(outwards, start=0)),
    ("the-one-after-of-equals", partial(two_loops, tie=True)),
    ("the-one-after-of-equals", partial(outwards, sides=(1, -1))),
    ("only-before", partial(two_loops, after=False)),
    ("only-before", partial(outwards, sides=(-1,))),
    ("only-after", partial(two_loops, before=False)),
    ("only-after", partial(outwards, sides=(1,))),
    ("first-in-the-sentence", first_index),
    ("first-in-the-sentence", partial(overwritten, stop=True)),
    ("last-in-the-sentence", partial(first_index, last=True)),
    ("last-in-the-sentence", partial(overwritten, stop=False)),
    ("farthest", partial(two_loops, far=True)),
    ("farthest", partial(by_sorting, key=lambda j, i: -abs(j - i))),
    ("distance-for-index", partial(with_distance, sign=False)),
    ("distance-for-index", partial(outwards, put=lambda i, j: abs(i - j))),
    ("offset-for-index", partial(with_distance, sign=True)),
    ("offset-for-index", partial(outwards, put=lambda i, j: j - i)),
    ("counted-from-1", partial(by_sorting, shift=1)),
    ("counted-from-1", partial(outwards, put=lambda i, j: j + 1)),
    ("itself-for-none", partial(two_loops, none=lambda i: i)),
    ("itself-for-none", partial(nothing_found, put=lambda i: i)),
    ("zero-for-none", partial(two_loops, none=0)),
    ("zero-for-none", partial(nothing_found, put=lambda i: 0)),
    ("first-word-taken-for-none", truthy),
    ("first-word-taken-for-none", truthy_or),
    ("index-below-0", below_0),
    ("index-below-0", below_0_again),
    ("without-the-tag", partial(two_loops, test=lambda own, tag, wanted: tag != wanted)),
    (
        "without-the-tag",
        lambda tags, wanted: by_halves(["other" if t == wanted else wanted for t in tags], wanted),
    ),
    ("own-tag", partial(two_loops, test=lambda own, tag, wanted: tag == own)),
    ("own-tag", lambda tags, wanted: [by_halves(tags, tag)[i] for i, tag in enumerate(tags)]),
]

RIGHT = [two_loops, outwards, by_sorting, by_matrix, by_halves, as_tensor, as_tuple]

UNLISTED = [
    ("right of way", lambda tags, wanted: _left_first(tags, wanted)),
    ("left out of the list", lambda tags, wanted: [j for j in by_halves(tags, wanted) if j >= 0]),
    ("have the tag", lambda tags, wanted: [j for j, tag in enumerate(tags) if tag == wanted]),
    (
        "get -1",
        lambda tags, wanted: [
            -1 if t == wanted else j for j, t in zip(by_halves(tags, wanted), tags, strict=True)
        ],
    ),
    ("`None`|NaN", lambda tags, wanted: [None if j < 0 else j for j in by_halves(tags, wanted)]),
    (
        "from the end",
        lambda tags, wanted: [len(tags) - 1 - j if j >= 0 else -1 for j in by_halves(tags, wanted)],
    ),
    ("whether there is", lambda tags, wanted: [int(j >= 0) for j in by_halves(tags, wanted)]),
    ("[Tt]ext|word", lambda tags, wanted: [tags[j] for j in by_halves(tags, wanted)]),
]


def _left_first(tags, wanted):
    left, right = outwards(tags, wanted, sides=(-1,)), outwards(tags, wanted, sides=(1,))
    return [a if a >= 0 else b for a, b in zip(left, right, strict=True)]
