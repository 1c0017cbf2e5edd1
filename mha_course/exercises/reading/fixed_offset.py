"""What a wrong search for the best fixed offset did: which distances, which words, what counts as a hit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from mha_course.exercises.reading.fixed_offset_ways import (
    ASKED,
    CHOICES,
    HITS,
    SCORES,
    TRIED,
    asked,
    first,
    nearest_first,
)
from mha_course.exercises.reading.recipes import Recipe, Slot

Hits = Callable[..., Sequence[bool]]


def _hit(target: int, i: int, k: int, n: int, largest: int) -> bool:
    return target == i + k


def _count(hits: int, k: int, asked: Sequence[int], n: int) -> float:
    return hits


def offset_with(
    targets: Tensor,
    largest: int,
    *,
    tried: Callable[..., Iterable[int]] = nearest_first,
    asked: Callable[..., Sequence[int]] = asked,
    hit: Callable[..., bool] = _hit,
    score: Callable[..., float] = _count,
    choose: Callable[..., int] = first,
) -> int:
    """The best offset with the steps given; without any it is right: one number."""
    places = targets.tolist()
    n = len(places)
    words = asked(places)
    ks = list(tried(largest, n))
    counts = [score(sum(hit(places[i], i, k, n, largest) for i in words), k, words, n) for k in ks]
    return choose(ks, counts, places, largest)


@functools.cache
def _more() -> tuple[tuple[Tensor, int], ...]:
    """Sentences in which most ways give something else: near and far targets, some missing."""
    g = torch.Generator().manual_seed(29)
    drawn = []
    for n, largest in (
        (13, 3),
        (9, 2),
        (16, 4),
        (11, 3),
        (14, 2),
        (10, 4),
        (12, 3),
        (15, 4),
        (8, 3),
        (17, 2),
    ):
        distances = torch.randint(-largest - 1, largest + 2, (n,), generator=g)
        places = (torch.arange(n) + distances).clamp(0, n - 1)
        missing = torch.rand(n, generator=g) < 0.25
        drawn.append((places.masked_fill(missing, -1), largest))
    return tuple(drawn)


OFFSET = Recipe(
    offset_with,
    (
        Slot("tried", "the list of distances, and its order.", TRIED),
        Slot("choose", "what is returned.", CHOICES),
        Slot("asked", "which words are looked at.", ASKED),
        Slot("hit", "the comparison of a target with a place.", HITS),
        Slot("score", "what is compared between distances.", SCORES),
    ),
    _more,
)
