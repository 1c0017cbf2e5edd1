"""Every step of the search for the best fixed offset, and what people put in its place."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from mha_course.exercises.reading.recipes import Way, rare


def nearest_first(largest: int, n: int) -> list[int]:
    """The distances in the order in which equals are chosen: -1, 1, -2, 2, ..."""
    return sorted((k for k in range(-largest, largest + 1) if k), key=abs)


def asked(targets: Sequence[int]) -> list[int]:
    """The words that have a target."""
    return [i for i, target in enumerate(targets) if target >= 0]


def first(ks: Sequence[int], counts: Sequence[float], targets: Sequence[int], largest: int) -> int:
    """The first of the distances with the most hits."""
    return ks[counts.index(max(counts))]


def _by(key: Callable[[int], object], zero: bool = False) -> Callable[..., list[int]]:
    return lambda largest, n: sorted((k for k in range(-largest, largest + 1) if k or zero), key=key)


def _distances(targets: Sequence[int]) -> list[int]:
    return [target - i for i, target in enumerate(targets) if target >= 0]


def _most_frequent(ks: Sequence[int], counts: object, targets: Sequence[int], largest: int) -> int:
    distances = _distances(targets)
    return max(distances, key=lambda d: (distances.count(d), -abs(d), -d))


def _clamped(value: float, largest: int) -> int:
    return max(-largest, min(largest, round(value)))


def _pushed_together(ks: Sequence[int], counts: object, targets: Sequence[int], largest: int) -> int:
    distances = _distances([target for target in targets if target >= 0])
    return max(ks, key=distances.count)


def _place_in_range(ks: Sequence[int], counts: Sequence[float], targets: object, largest: int) -> int:
    best = min(k for k, count in zip(ks, counts, strict=True) if count == max(counts))
    return best + largest


def _place_without_zero(ks: Sequence[int], counts: Sequence[float], targets: object, largest: int) -> int:
    best = min(k for k, count in zip(ks, counts, strict=True) if count == max(counts))
    return best + largest - (best > 0)


TRIED = (
    Way("Of k and -k the one after the word comes first.", _by(lambda k: (abs(k), -k))),
    Way(
        "Distances are tried from the left: of equally good ones the farthest back is taken.",
        _by(int),
    ),
    rare(
        "Distances are tried from the right: of equally good ones the farthest ahead is taken.",
        _by(lambda k: -k),
    ),
    rare("The farthest distances are tried first.", _by(lambda k: -abs(k))),
    rare("The nearest distances come last, ahead before back.", _by(lambda k: (-abs(k), -k))),
    Way("0 is among the distances.", _by(abs, zero=True)),
    Way("Only distances to the left are tried.", lambda L, n: range(-1, -L - 1, -1)),
    Way("Only distances to the right are tried.", lambda L, n: range(1, L + 1)),
    Way("Distances go up to `largest` - 1 only, on both sides.", lambda L, n: nearest_first(L - 1, n)),
    rare(
        "Distances go up to `largest` + 1, one too far, on both sides.", lambda L, n: nearest_first(L + 1, n)
    ),
    Way(
        "To the right distances end at `largest` - 1: `range` leaves its end out.",
        lambda L, n: [k for k in nearest_first(L, n) if k < L],
    ),
    rare(
        "To the left distances end at `largest` - 1.",
        lambda L, n: [k for k in nearest_first(L, n) if k > -L],
    ),
    rare(
        "To the right distances go up to `largest` + 1, one too far.",
        lambda L, n: [k for k in nearest_first(L + 1, n) if k > -L - 1],
    ),
    rare(
        "To the left distances go up to `largest` + 1, one too far.",
        lambda L, n: [k for k in nearest_first(L + 1, n) if k <= L],
    ),
    rare(
        "To the right distances go beyond `largest`, up to 2 · `largest`.",
        lambda L, n: [k for k in nearest_first(2 * L, n) if k >= -L],
    ),
    Way("All distances are tried, not only those up to `largest`.", lambda L, n: nearest_first(n, n)),
    rare(
        "To the right all distances are tried, not only those up to `largest`.",
        lambda L, n: [k for k in nearest_first(n, n) if k >= -L],
    ),
    rare(
        "To the left all distances are tried, not only those up to `largest`.",
        lambda L, n: [k for k in nearest_first(n, n) if k <= L],
    ),
    rare(
        "To the right distances end at `largest` - 2.",
        lambda L, n: [k for k in nearest_first(L, n) if k < L - 1],
    ),
    rare("Only the distance `largest` is tried.", lambda L, n: [L]),
    rare("Only the distance -`largest` is tried.", lambda L, n: [-L]),
    rare("Only the distance n is tried.", lambda L, n: [n]),
    rare("Only 0 is tried as a distance.", lambda L, n: [0]),
)


ASKED = (
    Way("Words without a target count: -1 is taken for a position.", lambda t: range(len(t))),
    Way(
        "Words whose target is word 0 are left out: 0 is a position.",
        lambda t: [i for i, x in enumerate(t) if x > 0],
    ),
    rare("Only words without a target are looked at.", lambda t: [i for i, x in enumerate(t) if x < 0]),
    rare(
        "Only words without a target, or with word 0, are looked at.",
        lambda t: [i for i, x in enumerate(t) if x <= 0],
    ),
    rare(
        "The targets' places are looked at, not the words that have one.", lambda t: [x % len(t) for x in t]
    ),
    rare("The first word is left out.", lambda t: [i for i in asked(t) if i]),
    rare("The last word is left out.", lambda t: [i for i in asked(t) if i < len(t) - 1]),
)


HITS = (
    Way("The sign is turned round: word minus target.", lambda t, i, k, n, L: t == i - k),
    Way("Words are counted from 1, targets from 0.", lambda t, i, k, n, L: t == i + 1 + k),
    rare("Targets are taken as if they were counted from 1.", lambda t, i, k, n, L: t - 1 == i + k),
    rare(
        "Both sides count as a hit: the sign of the distance is lost.",
        lambda t, i, k, n, L: abs(t - i) == abs(k),
    ),
    rare("Beyond an end it goes on at the other end (`%`).", lambda t, i, k, n, L: t == (i + k) % n),
    rare("Beyond an end the last position is taken.", lambda t, i, k, n, L: t == min(max(i + k, 0), n - 1)),
    Way("Misses are counted, not hits.", lambda t, i, k, n, L: t != i + k),
    rare("Every target at or before the place counts as a hit.", lambda t, i, k, n, L: t <= i + k),
    rare("Every target at or behind the place counts as a hit.", lambda t, i, k, n, L: t >= i + k),
    rare("A target one place off counts as a hit.", lambda t, i, k, n, L: abs(t - i - k) <= 1),
    rare(
        "The position of the word takes no part: targets are compared with k.", lambda t, i, k, n, L: t == k
    ),
    rare("The position is multiplied by k; k should be added.", lambda t, i, k, n, L: t == i * k),
    rare("The number of words stands for the position of the word.", lambda t, i, k, n, L: t == n + k),
    rare("k takes no part: targets are compared with the word's own position.", lambda t, i, k, n, L: t == i),
    rare(
        "Places are compared with 1, not with the targets.",
        lambda t, i, k, n, L: i + k == 1,
    ),
    rare("`largest` stands for the targets.", lambda t, i, k, n, L: i + k == L),
    rare("The number of words stands for the targets.", lambda t, i, k, n, L: i + k == n),
)


SCORES = (
    rare("The fewest hits are looked for.", lambda hits, k, asked, n: -hits),
    rare(
        "Hits are divided by the words that have such a place, so that far distances gain.",
        lambda hits, k, asked, n: hits / max(1, sum(0 <= i + k < n for i in asked)),
    ),
    rare(
        "Hits are divided by n - |k|, so that far distances gain.",
        lambda hits, k, asked, n: hits / (n - abs(k)) if n > abs(k) else 0.0,
    ),
    rare(
        "Hits are divided by |k|, so that near distances gain.",
        lambda hits, k, asked, n: hits / max(1, abs(k)),
    ),
    rare("It only matters whether there is any hit, not how many.", lambda hits, k, asked, n: bool(hits)),
)


CHOICES = (
    Way(
        "Of equally good distances the last one tried is kept.",
        lambda ks, c, t, L: ks[len(c) - 1 - c[::-1].index(max(c))],
    ),
    Way("The sign of the best distance is turned round.", lambda ks, c, t, L: -first(ks, c, t, L)),
    Way("The sign of the best distance is lost.", lambda ks, c, t, L: abs(first(ks, c, t, L))),
    Way("The number of hits is returned, not the distance.", lambda ks, c, t, L: max(c)),
    Way(
        "The place of the best distance in the list is returned, not the distance.",
        lambda ks, c, t, L: c.index(max(c)),
    ),
    rare(
        "The place of the best distance, counted from 1, is returned.",
        lambda ks, c, t, L: c.index(max(c)) + 1,
    ),
    Way(
        "The place of the best distance in the range from -largest on is returned, not the distance.",
        _place_in_range,
    ),
    rare(
        "The place of the best distance among -largest, ..., -1, 1, ... is returned, not the distance.",
        _place_without_zero,
    ),
    rare(
        "The largest distance is looked up among the counts.",
        lambda ks, c, t, L: ks[c.index(max(ks))],
    ),
    rare("The first distance with exactly one hit is returned.", lambda ks, c, t, L: ks[c.index(1)]),
    rare("The number of hits is used as an index.", lambda ks, c, t, L: ks[max(c)]),
    rare(
        "The index of the best distance is looked up among the targets.",
        lambda ks, c, t, L: t[c.index(max(c))],
    ),
    Way("The most frequent distance of all is returned, 0 and those beyond `largest` too.", _most_frequent),
    rare(
        "The most frequent distance, 0 and those beyond `largest` too, is cut off at `largest`.",
        lambda ks, c, t, L: _clamped(_most_frequent(ks, c, t, L), L),
    ),
    rare(
        "The most frequent distance, 0 and those beyond `largest` too, is cut off at `largest`.",
        lambda ks, c, t, L: _clamped(_first_most(_distances(t)), L),
    ),
    rare(
        "Words without a target are taken away first, so that the others get other positions.",
        _pushed_together,
    ),
    rare(
        "The most frequent distance of all is returned, words without a target too.",
        lambda ks, c, t, L: _first_most([x - i for i, x in enumerate(t)]),
    ),
    rare(
        "Of the most frequent distances of all, 0 and far ones too, the smallest is returned.",
        lambda ks, c, t, L: min(statistics.multimode(_distances(t))),
    ),
    rare(
        "Of the most frequent distances of all, 0 and far ones too, the first is returned.",
        lambda ks, c, t, L: _first_most(_distances(t)),
    ),
    rare(
        "Of equally frequent distances the first that comes up in the sentence is returned.",
        lambda ks, c, t, L: _first_most([d for d in _distances(t) if d and abs(d) <= L]),
    ),
    rare("The mean distance is returned.", lambda ks, c, t, L: round(statistics.fmean(_distances(t)))),
    rare(
        "The mean distance, cut off at `largest`, is returned.",
        lambda ks, c, t, L: _clamped(statistics.fmean(_distances(t)), L),
    ),
    rare(
        "The median of the distances is returned.", lambda ks, c, t, L: statistics.median_low(_distances(t))
    ),
    rare("The distance of the first word with a target is returned.", lambda ks, c, t, L: _distances(t)[0]),
    rare("The largest distance is returned.", lambda ks, c, t, L: max(_distances(t))),
    rare("The smallest distance is returned.", lambda ks, c, t, L: min(_distances(t))),
    rare(
        "The most frequent target is returned, not a distance.",
        lambda ks, c, t, L: min(statistics.multimode([x for x in t if x >= 0])),
    ),
    rare("The place of the largest target is returned.", lambda ks, c, t, L: t.index(max(t))),
    rare(
        "The first distance that hits anything is returned, not the one with the most hits.",
        lambda ks, c, t, L: next((k for k, x in zip(ks, c, strict=True) if x), ks[0]),
    ),
    rare("The first distance in the list is returned whatever it hits.", lambda ks, c, t, L: ks[0]),
    rare("The last distance in the list is returned whatever it hits.", lambda ks, c, t, L: ks[-1]),
    rare("The distance 1 is returned whatever it hits.", lambda ks, c, t, L: 1),
    rare("`largest` is returned.", lambda ks, c, t, L: L),
)


def _first_most(distances: Sequence[int]) -> int:
    return max(distances, key=distances.count)
