"""What a wrong `flop_count` counts: projections, products inside the heads, and what is no product."""

from __future__ import annotations

from fractions import Fraction

import torch

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.reading.counted_otherwise import (
    Call,
    how_many,
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

_SIZES = ("n", "d_model", "h")
_RIGHT: Terms = {(1, 2, 0): Fraction(8), (2, 1, 0): Fraction(4)}
_LOOK = "every matrix product from x to the output: its three sides, and how often it is made."

# How wide products outside and inside the heads are taken, by the exponent of h.
_OUTSIDE = {
    1: "at full width for every head; a head's matrices are only d_model / h wide",
    -1: "of one head only (or with d_k by d_k matrices for every head)",
    -2: "with d_k by d_k matrices; no part of the layer has these",
}
_INSIDE = {
    1: "at full width for every head; each is only d_model / h wide",
    -1: "of one head only",
    -2: "of a part of one head only",
}
# What stands for no matrix product, by the exponents of (n, d_model, h).
_OTHER = {
    (2, 0, 1): "one operation or more for each score (a softmax, a division, a mask): no matrix product",
    (2, 0, 0): "operations for each pair of tokens, without a width: no matrix product",
    (1, 1, 0): "operations for each number of a token (a bias, a sum): no matrix product",
    (0, 2, 0): "the projections of a single token, or the numbers in the matrices",
    (1, 0, 1): "operations for every token and head: no matrix product",
    (1, 1, 1): "n times d_model times h: no product has these three sides",
    (3, 0, 0): "n three times as a side: each product has a width, too",
}


def read_operations(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """A wrong `flop_count` in words: which products are counted, how wide, and how many operations each."""
    if evidence.got[i].leaves[0].dtype == torch.bool:
        return None
    xor = written_as_xor(call)
    if xor:
        return xor
    count = read_count(call, _SIZES)
    if count is None:
        return _thousands(evidence) or no_sum(evidence, call, _SIZES, None, "")
    have = count.as_dict()
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
        if factor[1] == 3 and not any(factor[0]):
            says += " That is a forward and a backward pass; one forward pass is asked for."
        return Finding("all-times", says, look="a factor in front of all of it.")
    pairs, lone = have.get((2, 1, 0)), have.get((1, 1, 0))
    if pairs and pairs == lone and pairs < _RIGHT[2, 1, 0]:
        says = (
            "n (n + 1) / 2 pairs of tokens are counted, as under a causal mask. The products compute all "
            "pairs; a mask hides some afterwards."
        )
        return Finding("counted-otherwise", says, look=_LOOK)
    if have == {(1, 2, 0): Fraction(24)}:
        says = (
            "This is 6 for each parameter and token, as for training, without the products inside the heads."
        )
        return Finding("counted-otherwise", says, look=_LOOK)
    return None


def _in_parts(have: Terms) -> str:
    outside = {key[2]: c for key, c in have.items() if key[:2] == (1, 2)}
    inside = {key[2]: c for key, c in have.items() if key[:2] == (2, 1)}
    rest = {key: c for key, c in have.items() if key[:2] not in ((1, 2), (2, 1))}
    misread = _sides(outside, inside, rest)
    if misread:
        return misread
    unit, said = _unit(outside, inside), []
    if unit == 1:
        said.append("A multiply-add is counted as one operation; it is two.")
    said += _group(outside, unit, "projection", 4, _OUTSIDE)
    said += _group(inside, unit, "product inside the heads", 2, _INSIDE)
    for key, c in rest.items():
        what = _OTHER.get(key)
        if c < 0:
            what = "something is subtracted"
        elif not any(key):
            what = "a number that is there whatever the sizes are"
        elif key[0] == key[1] == 2:
            what = "n² and d_model² at once: a product has three sides, not four"
        elif what is None:
            what = f"no matrix product of the layer has the sides {product_in_symbols(key, _SIZES)}"
        said.append(f"`{product_in_symbols(key, _SIZES, c)}` should not be there ({what}).")
    return " ".join(said)


def _sides(outside: dict[int, Fraction], inside: dict[int, Fraction], rest: Terms) -> str:
    """Right projections, and two products inside the heads whose sides are other ones; "" elsewhere."""
    right = "The projections are right, and inside the heads there are two products."
    if inside or outside.get(0) != _RIGHT[1, 2, 0]:
        return ""
    if set(outside) == {0, -1} and not rest and outside[-1] in (2, 4):
        return (
            f"{right} Their sides are not: `n * d_k * d_k` for each head. Every token meets every token, so "
            "n is a side twice."
        )
    if set(outside) != {0} or len(rest) != 1:
        return ""
    ((key, count),) = rest.items()
    if key == (1, 1, 0) and count in (2, 4):
        return f"{right} But n is a side of each only once: every token meets every token."
    if key == (2, 0, 1) and count in (2, 4):
        there = product_in_symbols(key, _SIZES, count)
        return (
            f"The projections are right. Inside the heads a width is missing, and h stands there: `{there}`. "
            "(Or these are operations for each score; then the two products are missing.)"
        )
    return ""


def _thousands(evidence: Evidence) -> Finding | None:
    """The right number in another unit, cut off."""
    for size, words in ((10**3, "thousands"), (10**6, "millions"), (10**9, "billions")):
        pairs = list(zip(evidence.expected, evidence.got, strict=True))
        counts = [(int(a.leaves[0]), float(b.leaves[0])) for a, b in pairs if b.error is None and b.leaves]
        if len(counts) == len(pairs) and all(b in (a // size, round(a / size)) for a, b in counts):
            if any(b for _, b in counts):
                says = f"This is the right number in {words}, with the rest cut off. All of it is asked for."
                return Finding("in-thousands", says, look="a division at the end.")
    return None


def _unit(outside: dict[int, Fraction], inside: dict[int, Fraction]) -> int:
    """Operations a multiply-add: what makes the numbers of products come out right, or nearly."""

    def far(unit: int) -> Fraction:
        gap = Fraction(0)
        for group, wanted in ((outside, 4), (inside, 2)):
            products = sum(group.values(), Fraction(0)) / unit
            gap += abs(products - wanted) + 3 * (products.denominator > 1) + 2 * (products > wanted)
        return gap

    return 1 if far(1) < far(2) else 2


def _group(
    group: dict[int, Fraction], unit: int, what: str, wanted: int, widths: dict[int, str]
) -> list[str]:
    """What is to be said about the projections, or about the products inside the heads."""
    plural = what + "s" if what == "projection" else "products inside the heads"
    if not group:
        return [f"The {plural} are missing."]
    products = sum(group.values(), Fraction(0)) / unit
    said = []
    if products != wanted:
        if what == "projection" and products == 3 and set(group) == {0}:
            said.append("W_O is missing: three projections are counted.")
        elif (
            unit == 2 and products.denominator == 2 and set(group) == {0} and 0 < wanted - products <= wanted
        ):
            number = how_many(2 * (wanted - products), what, plural)
            verb = "is" if products == wanted - Fraction(1, 2) else "are"
            said.append(f"{number[:1].upper()}{number[1:]} {verb} counted with one operation a multiply-add.")
        elif what == "projection" and products == 12:
            said.append("The feed-forward part is counted, too (or something is counted three times).")
        else:
            number = how_many(products, what, plural)
            verb = "is" if products == 1 else "are"
            other = (
                " (Or a multiply-add counts as one there.)"
                if products == wanted / 2 and unit == 2 and set(group) == {0}
                else ""
            )
            said.append(f"{number[:1].upper()}{number[1:]} {verb} counted; there are {_word(wanted)}.{other}")
    for h, c in group.items():
        if h:
            number = how_many(c / unit, what, plural)
            width = widths.get(h, f"with `h` to the power of {h}")
            verb = "is" if c == unit else "are"
            said.append(f"{number[:1].upper()}{number[1:]} {verb} counted {width}.")
    return said


def _word(number: int) -> str:
    return {2: "two", 4: "four"}[number]
