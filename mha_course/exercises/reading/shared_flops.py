"""What a wrong `collaborative_flops` counts: projections, scores, and what is no matrix product."""

from __future__ import annotations

from fractions import Fraction

import torch

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.reading.counted_otherwise import (
    Call,
    no_sum,
    times_too_much,
    whatever_the_sizes,
    with_formula,
    written_as_xor,
)
from mha_course.exercises.reading.counting import (
    Terms,
    common_factor,
    exchanged,
    product_in_symbols,
    read_count,
)

_SIZES = ("n", "d_model", "h", "width")
_PROJECTIONS, _SCORES = (1, 1, 0, 1), (2, 0, 1, 1)
_RIGHT: Terms = {_PROJECTIONS: Fraction(4), _SCORES: Fraction(2)}
_LOOK = "every matrix product up to the scores: its three sides, and how often it is made."

_MOST = 8  # so many different products are no count that somebody thought of

# What may stand in the place of one of the two, by the exponents of (n, d_model, h, width).
_IN_PLACE = {
    _PROJECTIONS: {
        (1, 2, 0, 0): "from d_model to d_model; W_Q and W_K go to the shared features",
        (1, 1, 1, 1): "once for every head; all heads share them",
        (1, 1, -1, 1): "as a head's share; they are made once, at full width",
        (0, 1, 0, 1): "for a single token",
        (1, 0, 0, 2): "from `width` to `width`; they start at d_model",
    },
    _SCORES: {
        (2, 1, 0, 0): "as those of plain heads; each head works in all shared features",
        (2, 1, 1, 0): "with d_model features a head; the shared queries and keys have `width`",
        (2, 0, 0, 1): "once for all heads; each head works in all shared features",
        (2, 0, -1, 1): "once, with width / h features; each head works in all shared features",
        (1, 0, 1, 1): "for one query; every token asks",
        (2, 0, 1, 0): "without the length of their sums",
        (2, 0, 0, 0): "for one head, without the length of their sums",
        (2, 0, 1, 2): "with the width twice",
        (1, 0, 1, 2): "with n and the width exchanged",
        (2, 0, 2, 1): "with h twice",
    },
}
# What stands for no such product beside the two.
_OTHER = {
    (0, 0, 1, 1): "the numbers in M",
    (1, 0, 1, 1): "the weighing of features by M, or the scores of one query",
    (2, 0, 1, 0): "one operation or more for each score: no matrix product",
    (2, 0, 0, 0): "operations for each pair of tokens, without a width",
    (1, 0, 0, 1): "operations for each number of a query or key: no matrix product",
    (0, 1, 0, 1): "the numbers in W_Q and W_K, or the projections of a single token",
    (1, 2, 0, 0): "projections from d_model to d_model",
    (2, 1, 0, 0): "the scores of plain heads",
    (2, 0, 0, 1): "scores once for all heads",
}


def read_shared_flops(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """A wrong count in words: which of the two parts is missing or counted otherwise, and what is there."""
    if evidence.got[i].leaves[0].dtype == torch.bool:
        return None
    xor = written_as_xor(call)
    if xor:
        return xor
    count = read_count(call, _SIZES, points=3)
    have = count.as_dict() if count else {}
    # Numbers that lie near 0 everywhere, as in other units, fit any polynomial.
    if count is None or len(have) > _MOST or max(map(abs, have.values()), default=0) < Fraction(1, 100):
        return no_sum(evidence, call, _SIZES, None, "")
    if have == _RIGHT:
        return None
    found = whatever_the_sizes((have,)) or _at_once(have)
    found = found or Finding("counted-otherwise", _in_parts(have), look=_LOOK)
    return with_formula(found, count, _SIZES)


def _at_once(have: Terms) -> Finding | None:
    """A single slip that explains the whole count."""
    pair = exchanged(have, _RIGHT, _SIZES)
    if pair:
        says = f"{pair[0]} and {pair[1]} have changed places."
        return Finding("sizes-exchanged", says, look="the order of the arguments.")
    factor = common_factor(have, _RIGHT)
    if factor:
        says = times_too_much(*factor, _SIZES)
        if factor[1] == 2 and not any(factor[0]):
            says += " A multiply-add is two operations, not four; and one sentence is asked for."
        return Finding("all-times", says, look="a factor in front of all of it.")
    return None


def _in_parts(have: Terms) -> str:
    """What is there in the place of each part; never the part as it should be."""
    said, rest = [], {key: c for key, c in have.items() if key not in _RIGHT}
    for key, part in ((_PROJECTIONS, "projections"), (_SCORES, "scores")):
        c = have.get(key, Fraction(0))
        in_place = [other for other in rest if other in _IN_PLACE[key] and rest[other] > 0]
        if not c and in_place:
            there = product_in_symbols(in_place[0], _SIZES, rest.pop(in_place[0]))
            said.append(f"The {part} are counted as `{there}`: {_IN_PLACE[key][in_place[0]]}.")
        elif not c:
            said.append(f"The {part} are missing.")
        elif c != _RIGHT[key]:
            there = product_in_symbols(key, _SIZES, c)
            said.append(f"The {part} are counted as `{there}`: {_times(c / _RIGHT[key])} what they take.")
    if len(said) == 0:
        said.append("Projections and scores are right.")
    for key, c in rest.items():
        what = _OTHER.get(key)
        if c < 0:
            what = "something is subtracted"
        elif not any(key):
            what = "a number that is there whatever the sizes are"
        elif what is None:
            what = f"no matrix product up to the scores has the sides {product_in_symbols(key, _SIZES)}"
        said.append(f"`{product_in_symbols(key, _SIZES, c)}` should not be there ({what}).")
    return " ".join(said)


def _times(factor: Fraction) -> str:
    return {Fraction(1, 2): "half", Fraction(2): "twice"}.get(factor, f"{factor} times")
