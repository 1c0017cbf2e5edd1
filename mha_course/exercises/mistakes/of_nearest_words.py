"""Known mistakes of `nearest_with_tag`: the word itself, ties, one side, what stands for none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]
Tags = Sequence[str]


def _others(i: int, places: Sequence[int], tags: Tags) -> list[int]:
    return [j for j in places if j != i]


def _nearest(i: int, places: Sequence[int], n: int) -> int:
    return min(places, key=lambda j: abs(j - i))  # of equals the first: the one before


def nearest_with(
    tags: Tags,
    wanted: str,
    *,
    has: Step = lambda tag, wanted, own: tag == wanted,
    among: Step = _others,
    pick: Step = _nearest,
    give: Step = lambda i, j, n: j,
    none: Step = lambda i, n: -1,
    finish: Step = lambda found, tags, wanted: found,
) -> list[int]:
    """For each word the nearest other one with the tag, with the steps given; right without any."""
    n, found = len(tags), []
    for i, own in enumerate(tags):
        places = [j for j, tag in enumerate(tags) if has(tag, wanted, own)]
        left = among(i, places, tags)
        found.append(give(i, pick(i, left, n), n) if left else none(i, n))
    return finish(found, tags, wanted)


def _wrapping(tags: Tags, wanted: str) -> list[int]:
    """The nearest word as it is found with indices that may be below 0."""
    n, found = len(tags), []
    for i in range(n):
        near = -1
        for step in range(n - 1, 0, -1):
            if i + step < n and tags[i + step] == wanted:
                near = i + step
            if tags[i - step] == wanted:
                near = i - step
        found.append(near)
    return found


_with = partial(Otherwise, nearest_with)

NEAREST_MISTAKES = (
    Mistake(
        "itself-counts",
        _with(among=lambda i, places, tags: places),
        "A word that has the tag itself gets itself. The nearest *other* word is asked for.",
        "words that have the tag themselves.",
    ),
    Mistake(
        "the-one-after-of-equals",
        _with(pick=lambda i, places, n: min(places, key=lambda j: (abs(j - i), -j))),
        "Of two that are equally near the one after the word is taken.",
        "`<=` in place of `<`, or the order in which words are tried.",
    ),
    Mistake(
        "only-before",
        _with(among=lambda i, places, tags: [j for j in places if j < i]),
        "Only words before the word are looked at.",
        "the other side.",
    ),
    Mistake(
        "only-after",
        _with(among=lambda i, places, tags: [j for j in places if j > i]),
        "Only words after the word are looked at.",
        "the other side.",
    ),
    Mistake(
        "first-in-the-sentence",
        _with(pick=lambda i, places, n: places[0]),
        "It is the first other word with the tag, not the nearest.",
        "whether the distance plays a part.",
    ),
    Mistake(
        "last-in-the-sentence",
        _with(pick=lambda i, places, n: places[-1]),
        "It is the last other word with the tag, not the nearest.",
        "what becomes of a word that was found before.",
    ),
    Mistake(
        "farthest",
        _with(pick=lambda i, places, n: max(places, key=lambda j: abs(j - i))),
        "It is the farthest word with the tag.",
        "`max` and `min`, or the sign of the distance.",
    ),
    Mistake(
        "distance-for-index",
        _with(give=lambda i, j, n: abs(j - i)),
        "These are distances. The index of the word is asked for.",
        "what is put into the list.",
    ),
    Mistake(
        "offset-for-index",
        _with(give=lambda i, j, n: j - i),
        "These are distances with a sign. The index of the word is asked for.",
        "what is put into the list.",
    ),
    Mistake(
        "counted-from-1",
        _with(give=lambda i, j, n: j + 1),
        "Words are counted from 1. An index counts from 0.",
        "where the numbering starts.",
    ),
    Mistake(
        "itself-for-none",
        _with(none=lambda i, n: i),
        "Where no other word has the tag, the word gets itself. -1 is asked for.",
        "what stands for none.",
    ),
    Mistake(
        "zero-for-none",
        _with(none=lambda i, n: 0),
        "Where no other word has the tag it says 0, and 0 is a word. -1 is asked for.",
        "what stands for none.",
    ),
    Mistake(
        "first-word-taken-for-none",
        _with(give=lambda i, j, n: j or -1),
        "Where the nearest one is word 0 it says -1. In an `if` or an `or`, 0 counts as false.",
        "how it is asked whether a word was found.",
    ),
    Mistake(
        "index-below-0",
        _wrapping,
        "Before the first word it goes on at the end of the sentence: `tags[-1]` is the last word.",
        "indices that get below 0.",
    ),
    Mistake(
        "without-the-tag",
        _with(has=lambda tag, wanted, own: tag != wanted),
        "It is the nearest word that doesn't have the tag.",
        "the comparison with `wanted`.",
    ),
    Mistake(
        "own-tag",
        _with(has=lambda tag, wanted, own: tag == own),
        "It is the nearest word with the same tag as the word itself. `wanted` plays no part.",
        "which argument is never used.",
    ),
)
