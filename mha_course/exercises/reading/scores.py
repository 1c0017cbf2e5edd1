"""What wrong scores are: a factor, another way to compare, something done to them before or after."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, differing
from mha_course.exercises.reading.factors import scale_of, scores_factor
from mha_course.exercises.reading.scores_otherwise import changed, compared
from mha_course.exercises.reading.weights import near


def read_scores(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """A reading of scores from queries and keys, the two arguments."""
    q, k = evidence.cases[i].arguments
    got, want = evidence.got[i].leaves, evidence.expected[i].leaves[0].double()
    if len(got) != 1 or not got[0].is_floating_point():
        return None
    if got[0].shape != want.shape:
        return _of_another_shape(q, k, got[0])
    factor = scores_factor(evidence)
    if factor:
        return _made_of_numbers(evidence, i) or factor
    have, q, k = got[0].double(), q.double(), k.double()
    root = math.sqrt(q.shape[-1])
    ways = [(words, made) for words, made in compared(q, k) if made.shape == have.shape]
    for words, made in ways:
        for divided, other in (("", made / root), (", and not divided by anything", made)):
            if _alike(other, have):
                return Finding("compared-otherwise", f"{words}{divided}.", look="how a query meets a key.")
    for words, made in ways:
        scale = scale_of(made, have)
        if scale is not None:
            says = f"{words}; besides, the factor is {scale:.4g}."
            return Finding("compared-otherwise", says, look="how a query meets a key, and the factor.")
    for scores, lost in ((want, ""), (want * root, "The division by the root of d_k is missing. And: ")):
        for words, made in changed(scores, q.shape[-1]):
            if _alike(made, have, 5e-5):
                look = "what happens to the scores after the product."
                return Finding("scores-changed", f"{lost}{words}", look=look)
    return _places(want, have) or _one_axis_scaled(evidence, i) or _added(want, have, root)


def _made_of_numbers(evidence: Evidence, i: int) -> Finding | None:
    """A divisor that is made of the numbers and not of the sizes, such as a standard deviation."""
    q, k = (a.double() for a in evidence.cases[i].arguments)
    bare = q @ k.mT
    made = scale_of(bare, evidence.got[i].leaves[0])
    if made is None:
        return None
    scaled = bare / math.sqrt(q.shape[-1])
    for words, divisor in (
        ("the length of all of `q`", q.norm()),
        ("the length of all of `k`", k.norm()),
        ("the standard deviation of the scores", bare.std()),
        (
            "the standard deviation of the scores, besides the root of d_k",
            scaled.std() * math.sqrt(q.shape[-1]),
        ),
        ("the standard deviation of `q`", q.std()),
        ("the standard deviation of `k`", k.std()),
        ("the largest score", bare.max()),
        ("the largest absolute score", bare.abs().max()),
        ("the length of all scores", bare.norm()),
        ("the sum of all scores", bare.sum()),
    ):
        for by, extra in ((divisor, ""), (divisor * math.sqrt(q.shape[-1]), " times the root of d_k")):
            if abs(float(by) * made - 1) < 1e-3:
                says = (
                    f"The dot products are divided by {words}{extra}: by numbers that change with the input."
                )
                return Finding("wrong-scale", says, look="what the divisor is made of.")
    return None


def _of_another_shape(q: Tensor, k: Tensor, have: Tensor) -> Finding | None:
    """Products of other pairs than query and key."""
    for says, made in (
        ("Queries meet queries: the keys take no part.", q @ q.mT),
        ("Keys meet keys: the queries take no part.", k @ k.mT),
        ("Every sentence meets every sentence.", torch.tensordot(q, k, ([-1], [-1]))),
        ("All sentences are added up.", torch.einsum("...qd,...kd->qk", q, k)),
        ("Queries and keys have changed places.", k @ q.mT),
    ):
        scale = scale_of(made, have)
        if made.shape == have.shape and scale is not None:
            right = 1 / math.sqrt(q.shape[-1])
            if abs(scale - 1) < 1e-3 and q.shape[-1] != 1:
                says += " And: the product is not divided."
            elif abs(scale / right - 1) > 1e-3:
                says += f" And: the product is multiplied by {scale:.4g}."
            return Finding("other-pairs", says, look="what is multiplied with what.")
    return None


def _alike(a: Tensor, b: Tensor, rtol: float = 1e-3) -> bool:
    return a.shape == b.shape and bool(torch.isclose(a, b, rtol=rtol, atol=rtol / 50, equal_nan=True).all())


def _one_axis_scaled(evidence: Evidence, i: int) -> Finding | None:
    """A factor of its own for each row, column or sentence."""
    want, have = evidence.expected[i].leaves[0].double(), evidence.got[i].leaves[0].double()
    if not bool(have.isfinite().all()):
        return None
    ratio = have / torch.where(want.abs() < 1e-3, torch.nan, want)
    for axis, word in ((-1, "key"), (-2, "query")):
        flat = ratio.movedim(axis, 0).flatten(1)
        mean = flat.nanmedian(1).values
        spread = (flat - mean[:, None]).abs().nan_to_num(0.0).amax()
        if float(spread) < 2e-3 and float(mean.max() - mean.min()) > 1e-2:
            low, high = float(mean.min()), float(mean.max())
            says = (
                f"Each {word} has a factor of its own, from {low:.3g} to {high:.3g} times what it should be."
            )
            return Finding(
                "factor-by-axis",
                says,
                look=f"what is divided by, and along which axis; it differs by {word}.",
            )
    lead = ratio.flatten(1).nanmedian(1).values if want.ndim > 2 else None
    if lead is not None:
        spread = (ratio.flatten(1) - lead[:, None]).abs().nan_to_num(0.0).amax()
        if float(spread) < 2e-3 and float(lead.max() - lead.min()) > 1e-2:
            says = (
                f"Each sentence has a factor of its own: {', '.join(f'{float(x):.3g}' for x in lead)} times."
            )
            return Finding("factor-by-axis", says, look="what is divided by, and along which axis.")
    return None


def _places(want: Tensor, have: Tensor) -> Finding | None:
    """Right scores but for some entries that all hold one number, or for a row or column."""
    wrong = differing(want, have)
    low, high = float(have.min()), float(have.max())
    cut = int((have == high).sum()), int((have == low).sum())
    if max(cut) > 1 and near(want.clamp(low, high), have):
        ends = [f"above {high:.4g}"] * (cut[0] > 1) + [f"below {low:.4g}"] * (cut[1] > 1)
        says = f"Scores {' and '.join(ends)} are cut off there (a clamp)."
        return Finding("scores-clamped", says, look="what is done to large scores.")
    share = float(wrong.double().mean())
    if share > 0.7:
        return None
    n_q, n_k = want.shape[-2:]
    by_key = wrong.reshape(-1, n_k)
    by_query = wrong.reshape(-1, n_q, n_k).any(-1)
    values = have[wrong]
    same = bool((values == values[0]).all())
    value = f" (they hold `{float(values[0]):.4g}`)" if same else ""
    keys = by_key.any(0).nonzero().flatten().tolist()
    queries = by_query.any(0).nonzero().flatten().tolist()
    if len(keys) < n_k:
        which = f"key{'s' if len(keys) > 1 else ''} {', '.join(map(str, keys))}"
    elif len(queries) < n_q:
        which = f"quer{'ies' if len(queries) > 1 else 'y'} {', '.join(map(str, queries))}"
    elif bool((want[wrong] < 0).all()):
        which = "negative scores" if bool(wrong[want < -1e-4].all()) else "some negative scores"
    elif bool((want[wrong] > 0).all()):
        which = "positive scores" if bool(wrong[want > 1e-4].all()) else "some positive scores, the largest"
    else:
        return None
    says = f"All scores are right except for {which}{value}."
    return Finding("some-scores-wrong", says, look=f"what happens to {which}.")


def _added(want: Tensor, have: Tensor, root: float) -> Finding | None:
    """Something added: the same everywhere, by key, by query, by distance."""
    for scores, lost in ((want, ""), (want * root, "The division by the root of d_k is missing. And: ")):
        offset = have - scores
        if not bool(offset.isfinite().all()):
            return None
        n_q, n_k = offset.shape[-2:]
        look = "what is added to the scores."
        if float(offset.abs().max()) < 5e-3:
            return None  # too little to tell what it is
        if float(offset.max() - offset.min()) < 1e-3:
            says = f"{lost}Every score is off by the same amount, {float(offset.mean()):.4g}."
            return Finding("shifted", says, look=look)
        for axis, word in ((-2, "key"), (-1, "query")):
            if float((offset - offset.mean(axis, keepdim=True)).abs().max()) < 1e-3:
                says = f"{lost}Something is added to the scores that depends on the {word} alone."
                return Finding("shifted", says, look=look)
        place = (torch.arange(n_k) - torch.arange(n_q)[:, None]).double().expand_as(offset)
        for words, x in (
            ("place of the key, seen from the query", place),
            ("distance between query and key", place.abs()),
        ):
            slope = float((x * offset).sum() / (x * x).sum())
            if float((offset - slope * x).abs().max()) < 1e-3:
                says = (
                    f"{lost}Something is added to the scores that grows with the {words}, {slope:.3g} a step."
                )
                return Finding("shifted", says, look=look)
        flat = offset.reshape(-1, n_q, n_k)
        if float((flat - flat[:1]).abs().max()) < 1e-3:
            says = f"{lost}The same table is added to the scores of each sentence."
            return Finding("shifted", says, look=look)
    return None
