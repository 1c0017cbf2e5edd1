"""Who sees whom behind a cache: a mask turned round is told as such, any other by the first wrong query."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from mha_course.exercises.evidence import Finding, in_a_row
from mha_course.exercises.mistakes.of_cached_attention import later

_LOOK = "the mask: its size, its diagonal, and where it takes effect."
_TURNED = "The mask is turned round: what should be seen is hidden, and what should be hidden is seen"


def who_sees_whom(seen: Tensor, blind: Tensor, n: int, length: int) -> Finding | None:
    """A wrong sight of n new tokens behind a cache of so many; None when each sees what it should.

    seen, blind: (n, length + n), where a query gives a key weight in some sentence or head, and where it
    gives none in any.
    """
    hidden = later(n, length + n)
    wrong = (seen & hidden) | (blind & ~hidden)
    if not bool(wrong.any()):
        return None
    for pattern, words in _turned_round(n, length):
        shows = pattern.any(-1)  # a query to whom nothing is open gets anything, even NaN or even weights
        if bool((seen == pattern)[shows].all()):
            says = f"{_TURNED}{words}."
            return Finding("mask-turned", says, look="what True means in the mask, and to whom it is given.")
    query = int(wrong.any(-1).nonzero()[0])
    sees, should = (_listed(row, query, length) for row in (seen[query], ~hidden[query]))
    key = int(wrong[query].nonzero()[0])
    which = "itself" if key - length == query else _named(key, length)
    verb = "sees" if bool(hidden[query, key]) else "does not see"
    says = (
        f"With {length} cached tokens and {n} new ones, new token {query} {verb} {which}. It sees {sees}; it "
    )
    says += f"should see {should}."
    return Finding("sight", says, look=_LOOK)


def _turned_round(n: int, length: int) -> Iterator[tuple[Tensor, str]]:
    """What is seen through masks turned round, each with what is to be said besides."""
    n_k = length + n
    cache = (torch.arange(n_k) < length).expand(n, n_k)
    for own in (1, 0):
        itself = "" if own else " (and each new token sees itself)"
        yield later(n, n_k, own), f". The whole cache is hidden{itself}"
        upper_left = torch.ones(n, n_k, dtype=torch.bool).triu(own)
        yield upper_left, ". And it is aligned at the upper left, as if there were no cache"
        yield cache | later(n, n_k, own), f" among the new tokens{itself}"


def _listed(row: Tensor, query: int, length: int) -> str:
    """The keys of one row in words: "cached tokens 0 to 3, itself and new token 2"."""
    cached = row[:length].nonzero()[:, 0].tolist()
    new = [key for key in row[length:].nonzero()[:, 0].tolist() if key != query]
    parts = []
    for name, keys in (("cached token", cached), ("new token", new)):
        if keys:
            parts.append(f"{name}{'s' if len(keys) > 1 else ''} {_range(keys)}")
    if bool(row[length + query]):
        parts.append("itself")
    return in_a_row(parts) if parts else "nothing"


def _named(key: int, length: int) -> str:
    return f"cached token {key}" if key < length else f"new token {key - length}"


def _range(keys: list[int]) -> str:
    if len(keys) > 2 and keys == list(range(keys[0], keys[-1] + 1)):
        return f"{keys[0]} to {keys[-1]}"
    return in_a_row([str(key) for key in keys])
