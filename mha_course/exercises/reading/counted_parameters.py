"""What a wrong `parameter_count` counts: matrices and biases, read from its numbers."""

from __future__ import annotations

from fractions import Fraction

import torch

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.reading.counted_otherwise import (
    Call,
    how_many,
    no_sum,
    times_too_much,
    whatever_the_sizes,
    written_as_xor,
)
from mha_course.exercises.reading.counting import (
    Terms,
    common_factor,
    difference,
    exchanged,
    in_symbols,
    product_in_symbols,
    read_count,
)

_SIZES = ("d_model", "h")
_WEIGHTS: Terms = {(2, 0): Fraction(4)}
_BIASES: Terms = {(1, 0): Fraction(4)}
_LOOK = "which matrices and biases the layer has, and their shapes."

# Exponents of (d_model, h): the shape, and what is to be said about it.
_MATRICES = {
    (2, 0): ("of d_model by d_model", ""),
    (2, -1): ("of d_model by d_k", "one head's alone; or d_k by d_k for every head"),
    (2, 1): ("of d_model by d_model for every head", "a head's are only d_model / h wide"),
    (2, -2): ("of d_k by d_k", "no part of the layer has that shape"),
}
_ROWS = {
    (1, 0): ("of d_model numbers", ""),
    (1, -1): ("of d_k numbers", "one head's alone"),
    (1, 1): ("of d_model numbers for every head", "a head's are only d_model / h wide"),
    (1, -2): ("of d_k / h numbers", "nothing is so small"),
    (0, 0): ("of one number", "a bias has one for each feature that comes out"),
    (0, 1): ("of one number for every head", "a bias has one for each feature that comes out"),
}


def read_parameters(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """A wrong `parameter_count` in words: which matrices and biases are counted, and how often."""
    if evidence.got[i].leaves[0].dtype == torch.bool:
        return None
    xor = written_as_xor(call)
    if xor:
        return xor
    bare, full = read_count(call, _SIZES, False), read_count(call, _SIZES, True)
    if bare is None or full is None:
        return no_sum(evidence, call, _SIZES, bare or full, "Without" if bare else "With")
    weights, all_of_it = bare.as_dict(), full.as_dict()
    biases = difference(all_of_it, weights)
    if weights == _WEIGHTS and biases == _BIASES:
        return None  # right on every size tried: what is wrong is something else
    found = whatever_the_sizes((weights, all_of_it)) or _at_once(weights, all_of_it, biases)
    found = found or Finding("counted-otherwise", _in_parts(weights, biases), look=_LOOK)
    formula = f"`{in_symbols(weights, _SIZES)}`"
    if biases:
        formula += f" without biases, `{in_symbols(all_of_it, _SIZES)}` with them"
    tail = f" As a formula: {formula}." if any(any(key) for key in all_of_it) else ""
    tail += "" if bare.whole and full.whole else " And it is a float; a count is a whole number."
    return Finding(found.id, f"{found.says}{tail}", look=found.look)


def _at_once(weights: Terms, all_of_it: Terms, biases: Terms) -> Finding | None:
    """A single slip that explains the whole count."""
    right = _WEIGHTS | _BIASES
    pair = exchanged(all_of_it, right, _SIZES)
    if pair:
        says = f"{pair[0]} and {pair[1]} have changed places."
        return Finding("sizes-exchanged", says, look="the order of the arguments.")
    if not weights and all_of_it:
        says = "Without biases the count is 0, as if there were no weights either."
        if all_of_it == right:
            says += " With biases it is right: does `... if bias else 0` cover more than the biases?"
        return Finding("nothing-without-biases", says, look="brackets around the condition.")
    factor = common_factor(all_of_it, right)
    often = factor and factor[1] in (-1, 2, 4, Fraction(1, 2), *((1,) if any(factor[0]) else ()))
    if factor and often and weights:
        return Finding("all-times", times_too_much(*factor, _SIZES), look="a factor in front of all of it.")
    return None


def _in_parts(weights: Terms, biases: Terms) -> str:
    """Which matrices and which biases are counted."""
    if weights == _WEIGHTS:
        if not biases:
            return "The weights are right. Biases make no difference."
        return f"The weights are right. For the biases, you count {_rows(biases)}."
    each = {(key[0] - 1, key[1]): c for key, c in weights.items()}
    said = f"You count {_matrices(weights)}"
    if biases == _BIASES:
        said += ". The biases are right"
    elif biases == each:
        said += ", each with its bias"
    elif biases:
        said += f"; for the biases, {_rows(biases)}"
    else:
        said += ", and no biases"
    lone = weights.get((2, 0)) if len(weights) == 1 else None
    if lone == 12:
        return f"{said}. The layer has four; a feed-forward part is not in it."
    return f"{said}." + (" The layer has four matrices." if lone else "")


def _matrices(terms: Terms) -> str:
    parts = []
    for key, c in sorted(terms.items(), key=lambda item: (-item[0][0], -item[0][1])):
        if key in _MATRICES and c > 0:
            shape, remark = _MATRICES[key]
            parts.append(f"{how_many(c, 'matrix', 'matrices')} {shape}" + (f" ({remark})" if remark else ""))
        elif key == (1, 0) and c > 0:
            parts.append(f"{how_many(c, 'row', 'rows')} {_ROWS[key][0]}, biases or not")
        else:
            parts.append(_strange(key, c))
    return in_a_row(parts)


def _rows(terms: Terms) -> str:
    parts = []
    for key, c in sorted(terms.items(), key=lambda item: (-item[0][0], -item[0][1])):
        if key in _ROWS and c > 0:
            shape, remark = _ROWS[key]
            parts.append(f"{how_many(c, 'row', 'rows')} {shape}" + (f" ({remark})" if remark else ""))
        elif key[0] == 2 and c > 0:
            parts.append(
                f"`{product_in_symbols(key, _SIZES, c)}` numbers (whole matrices; a bias is one row)"
            )
        else:
            parts.append(_strange(key, c))
    return in_a_row(parts)


def _strange(key: tuple[int, ...], c: Fraction) -> str:
    if c < 0:
        return f"`{product_in_symbols(key, _SIZES, -c)}` numbers less (something is subtracted)"
    if not any(key):
        return f"{c} more, whatever the sizes are"
    return f"`{product_in_symbols(key, _SIZES, c)}` numbers (no part of the layer has that shape)"
