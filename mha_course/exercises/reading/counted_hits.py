"""Shares of hits asked with plain maps: does each word's hit count, and how much?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.probing import probe
from mha_course.exercises.reading.offset_shares import OFFSET_SHARES
from mha_course.exercises.reading.offsets import read_offsets
from mha_course.exercises.reading.recipes import Recipe, beyond_recipes
from mha_course.exercises.reading.shares import SHARES
from mha_course.exercises.witness import number

Call = Callable[[tuple[Any, ...]], Outcome]


def read_shares(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """`argmax_share`: the steps done otherwise, or which word's hit counts how much."""
    targets = evidence.cases[i].arguments[1]
    places = [int(t) if t >= 0 else None for t in targets]
    return _read(SHARES, evidence, i, call, places, targets)


def read_offset_shares(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """`offset_scores`: the same, with a target at the offset."""
    weights, offset = evidence.cases[i].arguments
    n = weights.shape[-1]
    places = [q + offset if 0 <= q + offset < n else None for q in range(n)]
    found = OFFSET_SHARES.read(evidence, i, call) or read_offsets(evidence, i, call)
    return found or _read(OFFSET_SHARES, evidence, i, call, places, offset)


def _read(
    recipe: Recipe, evidence: Evidence, i: int, call: Call, places: list[int | None], second: Any
) -> Finding | None:
    found = recipe.read(evidence, i, call)
    if found or not beyond_recipes(evidence, i):
        return found
    unused = probe(evidence, i, call)
    if unused:
        return unused
    n = len(places)

    def asked(looks: list[int]) -> Tensor | None:
        maps = torch.full((2, n, n), 0.1)
        maps[:, torch.arange(n), torch.tensor(looks)] = 2.0
        maps = maps / maps.sum(-1, keepdim=True)
        out = call((maps, second.clone() if isinstance(second, Tensor) else second))
        fits = out.error is None and len(out.leaves) == 1 and out.leaves[0].shape == (2,)
        return out.leaves[0].double() if fits else None

    # Everybody looks beside the target, and then one word at it.
    beside = [next(k for k in range(n) if k not in (t, q)) for q, t in enumerate(places)]
    nothing, all_ = asked(beside), asked([b if t is None else t for b, t in zip(beside, places, strict=True)])
    if nothing is None or all_ is None:
        return None
    live = [q for q, t in enumerate(places) if t is not None]
    if not close(nothing, torch.zeros(2, dtype=torch.float64)):
        says = f"Where no word looks at its target the share should be 0; yours is {number(nothing[0])}."
        return Finding("hits-without-any", says, look="what counts as a hit.")
    if not close(all_, torch.ones(2, dtype=torch.float64)):
        shares = []
        for q in live:
            looks = list(beside)
            looks[q] = places[q]
            one = asked(looks)
            shares.append(0.0 if one is None else float(one[0]))
        none = [str(q) for q, share in zip(live, shares, strict=True) if abs(share) < 1e-6]
        says = (
            f"Where every word with a target looks at it the share should be 1; yours is {number(all_[0])}."
        )
        if none and len(none) < len(live):
            says += f" The hits of word{'s' if len(none) > 1 else ''} {in_a_row(none)} don't count."
        elif len({round(share, 6) for share in shares}) == 1 and shares[0]:
            share = 1 / len(live)
            says += f" One hit counts {shares[0]:.4g}; with {len(live)} such words it should be {share:.4g}."
        return Finding("hits-counted-otherwise", says, look="which words are counted, and what divides.")
    says = (
        "With maps that have one large weight a row it is right: hits count as they should. On the maps of "
        "the case it is not: the place where a word looks is found in another way than by its largest weight."
    )
    return Finding("looks-found-otherwise", says, look="how the place of the largest weight is found.")
