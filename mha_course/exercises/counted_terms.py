"""What a wrong count of parameters or operations holds, term by term, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from mha_course.exercises.counting import (
    Count,
    Terms,
    common_factor,
    difference,
    exchanged,
    in_symbols,
    product_in_symbols,
    read_count,
)
from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome

Call = Callable[[tuple[Any, ...]], Outcome]

_ONE = {"n": "token", "h": "head"}

_SIZES = ("d_model", "h")
_WEIGHTS: Terms = {(2, 0): Fraction(4)}
_BIASES: Terms = {(1, 0): Fraction(4)}

# Exponents of (d_model, h): what such a term counts. {c} is its coefficient.
_OF_WEIGHTS = {
    (2, 0): "matrices of d_model by d_model",
    (2, -1): "a head's own matrices, d_model by d_k, for one head only",
    (2, 1): "matrices of d_model by d_model for every head; but a head's are narrower",
    (2, -2): "matrices of d_k by d_k, which no part of the layer has",
    (1, 0): "rows of d_model numbers, biases or not; weights are matrices",
    (1, 1): "d_model numbers for every head; no weights have that shape",
    (1, -1): "rows of d_k numbers, biases or not; weights are matrices",
    (0, 0): "a number that is there whatever the sizes are",
    (0, 1): "a number for every head; h is no side of a matrix",
    (0, 2): "h by h numbers; h is no side of a matrix",
}
_OF_BIASES = {
    (1, 0): "biases of d_model numbers",
    (1, -1): "biases as wide as one head, d_k numbers, for one head only",
    (1, 1): "biases of d_model numbers for every head; but a head's are narrower",
    (0, 0): "single numbers; a bias has one for each feature that comes out",
    (0, 1): "single numbers, one a head; a bias has one for each feature that comes out",
    (2, 0): "whole matrices; a bias is one row",
    (2, -1): "whole matrices; a bias is one row",
    (2, 1): "whole matrices; a bias is one row",
}

_FLOP_SIZES = ("n", "d_model", "h")
_FLOPS: Terms = {(1, 2, 0): Fraction(8), (2, 1, 0): Fraction(4)}
_OF_FLOPS = {
    (1, 2, 0): "the products outside the heads",
    (2, 1, 0): "the products inside the heads",
    (1, 2, -1): "products with d_model by d_k matrices, for one head only",
    (1, 2, -2): "products with d_k by d_k matrices, which no part of the layer has",
    (1, 2, 1): "products at full width for every head; but a head's matrices are narrower",
    (2, 1, -1): "the products inside one head only",
    (2, 1, 1): "products of full width inside every head; but a head is narrower",
    (2, 0, 1): "one operation a score (as a softmax, a division, a mask); that is no matrix product",
    (2, 0, 0): "one operation a pair of tokens; every matrix product has a width as well",
    (1, 1, 0): "one operation for each number of a token (a bias, a sum); that is no matrix product",
    (1, 1, 1): "n times d_model times h: no product has these three sides",
    (0, 2, 0): "the numbers in the matrices, or the projections of a single token",
    (1, 0, 1): "one operation for every token and head; that is no matrix product",
    (2, 2, 0): "n² and d_model² at once: a product has three sides, not four",
    (2, 2, 1): "n² and d_model² at once: a product has three sides, not four",
    (2, 2, -1): "n² and d_model² at once: a product has three sides, not four",
    (3, 0, 0): "three times n as sides; each product here has a width as well",
    (2, 1, -2): "d_k with h below it once more: a head is cut twice",
    (0, 0, 0): "a number that is there whatever the sizes are",
}


def read_parameters(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """A wrong `parameter_count` as weights and biases, each term by term; None when it is no such sum."""
    bare, full = read_count(call, _SIZES, False), read_count(call, _SIZES, True)
    if bare is None or full is None:
        return _no_sum(call, _SIZES, bare, full)
    weights, biases = bare.as_dict(), difference(full.as_dict(), bare.as_dict())
    right = {key: _WEIGHTS.get(key, 0) + _BIASES.get(key, 0) for key in (*_WEIGHTS, *_BIASES)}
    if weights == _WEIGHTS and biases == _BIASES:
        return None  # right on every size tried: what is wrong is something else
    more = f" without biases, and with them `{in_symbols(full.as_dict(), _SIZES)}`" if biases else ""
    more = more or " with and without biases"
    start = f"Your count reads as `{in_symbols(weights, _SIZES)}`{more}."
    whole = bare.whole and full.whole
    look = "each term: which matrices or rows of the layer does it stand for?"
    pair = exchanged(full.as_dict(), right, _SIZES)
    if pair:
        return _told("sizes-exchanged", start, f"{pair[0]} and {pair[1]} have changed places.", whole, look)
    factor = common_factor(weights, _WEIGHTS) if common_factor(biases, _BIASES) else None
    if factor and factor == common_factor(biases, _BIASES):
        return _told("all-times", start, _times(factor, _SIZES), whole, look)
    parts = []
    if weights == _WEIGHTS:
        parts.append("The weights are right; the biases aren't.")
    elif biases == _BIASES:
        parts.append("The biases are right; the weights aren't.")
    parts += _terms(weights, _WEIGHTS, _OF_WEIGHTS, _SIZES, "weights", "The weights are missing.")
    parts += _terms(biases, _BIASES, _OF_BIASES, _SIZES, "biases", "The biases are missing.")
    id_ = "weights-miscounted" if weights != _WEIGHTS else "biases-miscounted"
    return _told(id_, start, " ".join([*parts, _with_h(full.as_dict(), -1)]), whole, look)


def read_operations(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """A wrong `flop_count`, term by term; None when it is no sum of products of the sizes."""
    count = read_count(call, _FLOP_SIZES)
    if count is None:
        return _no_sum(call, _FLOP_SIZES, count, count)
    have = count.as_dict()
    if have == _FLOPS:
        return None
    start = f"Your count reads as `{in_symbols(have, _FLOP_SIZES)}`."
    look = "each term: which matrix product does it stand for, and is every product there?"
    pair = exchanged(have, _FLOPS, _FLOP_SIZES)
    if pair:
        says = f"{pair[0]} and {pair[1]} have changed places."
        return _told("sizes-exchanged", start, says, count.whole, look)
    factor = common_factor(have, _FLOPS)
    if factor:
        return _told("all-times", start, _times(factor, _FLOP_SIZES), count.whole, look)
    parts = _terms(have, _FLOPS, _OF_FLOPS, _FLOP_SIZES, "operations", "Nothing is counted.")
    pairs, lone = have.get((2, 1, 0)), have.get((1, 1, 0))
    if pairs and pairs == lone and pairs < _FLOPS[2, 1, 0]:
        parts = [
            "n (n + 1) / 2 pairs of tokens are counted, as under a causal mask. The products compute all "
            "pairs; a mask hides some afterwards."
        ]
    return _told("operations-miscounted", start, " ".join([*parts, _with_h(have, -1)]), count.whole, look)


def _terms(
    have: Terms, want: Terms, words: dict[tuple[int, ...], str], names: Sequence[str], what: str, none: str
) -> list[str]:
    """A sentence for every term that is not as it should be."""
    if not have:
        return [none] if want else []
    said = []
    for key, c in have.items():
        if c == want.get(key):
            if have != want:
                said.append(f"`{product_in_symbols(key, names, c)}` is right.")
            continue
        meaning = words.get(key, _strange(key, names, what))
        which = f"`{product_in_symbols(key, names, c)}` ({meaning})"
        if c < 0:
            said.append(f"{which} is taken away; nothing is to be subtracted.")
        elif key in want:
            whole = f", {'once' if c == 1 else f'{c} times'}" if c.denominator == 1 else ""
            whole = "" if what == "operations" else whole
            said.append(f"{which[:-1]}{whole}): too {'few' if c < want[key] else 'many'}.")
        else:
            said.append(f"{which} should not be there.")
    for key in want:
        if key not in have and have:
            said.append(f"Missing: {words[key]}.")
    return said


def _strange(key: tuple[int, ...], names: Sequence[str], what: str) -> str:
    product = product_in_symbols(key, names)
    if what == "operations":
        return f"no matrix product of the layer has the sides {product}"
    return f"nothing in the layer holds {product} numbers"


def _times(factor: tuple[tuple[int, ...], Fraction], names: Sequence[str]) -> str:
    exponents, c = factor
    sizes = {name: e for name, e in zip(names, exponents, strict=True) if e}
    if not sizes and c == 3:
        return (
            "All of it is counted 3 times, as for a forward and a backward pass. One forward pass is asked."
        )
    if c == 1 and sizes in ({"n": -1}, {"h": -1}):
        name = next(iter(sizes))
        return f"All of it is divided by {name}: this is the share of one {_ONE[name]}."
    text = product_in_symbols(exponents, names, c)
    if any(e > 0 for e in exponents) or (not sizes and c > 1):
        return f"All of it is multiplied by {text}: what is counted too often?"
    below = product_in_symbols([-e for e in exponents], names, 1 / c)
    return f"All of it is divided by {below}: what is counted too seldom?"


def _with_h(have: Terms, h: int) -> str:
    if any(key[h] for key in have):
        return "It changes with h. All heads together are as wide as d_model, however many there are."
    return ""


def _told(id_: str, start: str, says: str, whole: bool, look: str) -> Finding:
    tail = "" if whole else " And it comes as a float; a count is a whole number."
    return Finding(id_, f"{start} {says.strip()}{tail}", look=look)


def _no_sum(call: Call, names: Sequence[str], bare: Count | None, full: Count | None) -> Finding | None:
    """What can be said of a count that is no sum of products: which sizes it takes no notice of."""
    more = (True,) if len(names) == 2 else ()
    base = {"n": 5, "d_model": 48, "h": 4}
    first = call((*(base[name] for name in names), *more))
    if first.error is not None or len(first.leaves) != 1 or first.leaves[0].numel() != 1:
        return None
    idle = []
    for name, other in (("n", 9), ("d_model", 96)):
        if name in names:
            sizes = base | {name: other}
            new = call((*(sizes[n] for n in names), *more))
            if new.error is None and len(new.leaves) == 1 and new.leaves[0].numel() == 1:
                if float(new.leaves[0]) == float(first.leaves[0]):
                    idle.append(name)
    if idle:
        which = " and ".join(idle)
        says = f"{which} {'makes' if len(idle) == 1 else 'make'} no difference to your count."
        return Finding("size-unused", says, look=f"where {which} should take part.")
    if bare is not None or full is not None:
        seen, when = (bare, "Without") if bare is not None else (full, "With")
        says = f"{when} biases your count reads as `{in_symbols(seen.as_dict(), names)}`, "
        return Finding("no-sum-of-products", f"{says}otherwise as no sum of products of the sizes.")
    says = (
        f"Your count is no sum of products of {', '.join(names[:-1])} and {names[-1]}. Every matrix holds, "
        "and every matrix product takes, a product of its sides."
    )
    look = "roots, logarithms, powers, rounding, and conditions on the sizes."
    return Finding("no-sum-of-products", says, look=look)
