"""The same words in another order: does a head go with the position, or with the word?"""

from __future__ import annotations

import random
from collections.abc import Sequence

from mha_course.widgets.head_map_examples import largest
from mha_course.widgets.head_sources import Reading


def permuted(n: int, seed: int) -> list[int]:
    """An order of n places, the same for the same seed, never the one they have."""
    order = list(range(n))
    rng = random.Random(seed)
    while n > 1:
        rng.shuffle(order)
        if order != sorted(order):
            break
    return order


def followed(straight: Reading, shuffled: Reading, order: Sequence[int]) -> dict[str, list[int]]:
    """For every head, layer after layer: rows that look as far away as before, and rows at the same word.

    order: for each place of the shuffled sentence the place that its word had. Rows count whose old distance
    still lies within the sentence; a word's own weight is left out.

    Returns: {"rows": [...], "places": [...], "words": [...]}.
    """
    n = len(order)
    words = [straight.maps.query_tokens[i] for i in straight.places]
    now = {old: place for place, old in enumerate(order)}
    before = largest(straight, itself=False).flatten(0, 1).tolist()
    after = largest(shuffled, itself=False).flatten(0, 1).tolist()
    found = {"rows": [], "places": [], "words": []}
    for old_answers, new_answers in zip(before, after, strict=True):
        rows = places = same = 0
        for i in range(n):
            distance = old_answers[i] - i
            if not 0 <= now[i] + distance < n:
                continue
            answer = new_answers[now[i]]
            rows += 1
            places += answer - now[i] == distance
            same += words[order[answer]] == words[old_answers[i]]
        for name, value in (("rows", rows), ("places", places), ("words", same)):
            found[name].append(value)
    return found
