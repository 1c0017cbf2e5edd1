"""Slips of one letter in the terms of a divergence: q where p should be, m where q should, a log left out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_divergence import apart
from mha_course.exercises.reading.recipes import Way, rare

Terms = tuple[Tensor, Tensor]


def _part(own: str, first: str, second: str, p: Tensor, q: Tensor, m: Tensor) -> Terms:
    """The part of p or q with the two terms given: "p log m", or "p" where there is no logarithm."""
    named = {"p": p, "q": q, "m": m}

    def term(text: str) -> Tensor:
        weight, _, under = text.partition(" log ")
        return torch.xlogy(named[weight], named[under]) if under else named[weight]

    mine = term(first) - term(second)
    return (mine, apart(q, m)) if own == "p" else (apart(p, m), mine)


def _terms() -> list[str]:
    return [f"{a} log {b}" for a, b in itertools.product("pqm", repeat=2)] + ["p", "q", "m"]


def _one_term_otherwise() -> Iterator[Way]:
    for own in "pq":
        for place, right in enumerate((f"{own} log {own}", f"{own} log m")):
            for other in _terms():
                if other == right:
                    continue
                pair = [f"{own} log {own}", f"{own} log m"]
                pair[place] = other

                def step(p: Tensor, q: Tensor, m: Tensor, own: str = own, pair: tuple = tuple(pair)) -> Terms:
                    return _part(own, *pair, p, q, m)

                yield rare(f"In {own}'s part `{other}` stands in the place of `{right}`.", step)


def _part_otherwise() -> Iterator[Way]:
    for at, letter in enumerate("pqm"):

        def for_p(p: Tensor, q: Tensor, m: Tensor, at: int = at) -> Terms:
            return (p, q, m)[at], apart(q, m)

        def for_q(p: Tensor, q: Tensor, m: Tensor, at: int = at) -> Terms:
            return apart(p, m), (p, q, m)[at]

        yield rare(f"`{letter}` itself stands in the place of p's part.", for_p)
        yield rare(f"`{letter}` itself stands in the place of q's part.", for_q)


LETTERS = (
    *_one_term_otherwise(),
    *_part_otherwise(),
    rare(
        "p's part and q's are multiplied at each place; they should be added.",
        lambda p, q, m: (apart(p, m) * apart(q, m), 0 * q),
    ),
    rare(
        "q's part is subtracted in the place of `q log q`'s own.",
        lambda p, q, m: (apart(p, m), apart(p, m) - torch.xlogy(q, m)),
    ),
    rare(
        "q's part and p's are multiplied at each place, and q's is added.",
        lambda p, q, m: (apart(p, m) * apart(q, m), apart(q, m)),
    ),
)
