"""A feed-forward part asked with simple matrices: what becomes of one number, and of each bias?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.probing import probe
from mha_course.exercises.reading.feed import FEED, feed_with
from mha_course.exercises.reading.recipes import beyond_recipes
from mha_course.exercises.witness import number

_WHICH = ("both matrices", "the first matrix", "the second matrix")
Call = Callable[[tuple[Any, ...]], Outcome]


def read_feed(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """The steps done otherwise where they are known; else what single parts do."""
    found = FEED.read(evidence, i, call)
    if found or not beyond_recipes(evidence, i):
        return found
    return probe(evidence, i, call) or _tokens(evidence, i, call) or _parts(call)


def _tokens(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """Whether tokens see each other."""
    x, *others = evidence.cases[i].fresh()
    if x.shape[1] < 2:
        return None
    x[:, -1] = x[:, -1] * 0.5 + 1
    out = call((x, *others))
    old = evidence.got[i].leaves[0]
    if (
        out.error is None
        and out.leaves[0].shape == old.shape
        and not close(out.leaves[0][:, :-1], old[:, :-1])
    ):
        says = "Tokens see each other: another last token changes the results of those before it."
        return Finding("tokens-mix", says, look="axis 1: each token is worked on alone.")
    return None


def _parts(call: Call) -> Finding | None:
    """With the identity for both matrices: the bend, number by number; then the biases."""
    eye, zero = torch.eye(3), torch.zeros(3)
    x = torch.tensor([[[-2.0, -0.5, 0.25], [1.0, 2.0, 8.0]]])

    def asked(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor) -> Tensor | None:
        out = call(tuple(a.clone() for a in (x, w_1, b_1, w_2, b_2)))
        fits = out.error is None and len(out.leaves) == 1 and out.leaves[0].shape == x.shape
        return out.leaves[0] if fits else None

    g = torch.Generator().manual_seed(4)
    w_1, w_2 = torch.randn(3, 3, generator=g), torch.randn(3, 3, generator=g)
    b_1, b_2 = torch.randn(3, generator=g), torch.randn(3, generator=g)
    both, first, second = (f"With the identity for {which} and" for which in _WHICH)
    for says, arguments, fine in (
        (f"{both} no bias", (x, eye, zero, eye, zero), ""),
        (f"{both} no second bias", (x, eye, b_1, eye, zero), " Without the first bias that is right."),
        (f"{both} no first bias", (x, eye, zero, eye, b_2), " Without the second bias that is right."),
        (
            f"{first} no bias",
            (x, eye, zero, w_2, zero),
            " With the identity for the second, too, it is right.",
        ),
        (
            f"{second} no bias",
            (x, w_1, zero, eye, zero),
            " With the identity for the first, too, it is right.",
        ),
    ):
        out, want = asked(*arguments), feed_with(*arguments)
        if out is None or close(out, want):
            continue
        t, f = (int(k) for k in (~torch.isclose(out, want, atol=1e-4))[0].nonzero()[0])
        before, wanted, after = (number(a[0, t, f]) for a in (x, want, out))
        seen = f"{says}, {before} should become {wanted}; it becomes {after}.{fine}"
        return Finding("part-by-part", seen, look="this one part.")
    return None
