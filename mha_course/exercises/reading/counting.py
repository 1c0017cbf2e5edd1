"""Reading a wrong count: as a sum of products of the sizes, found by counting on many sizes.

A count of parameters or operations is a polynomial in the sizes, with h below the fraction line where a
head's width d_k = d_model / h takes part. On a full grid of sizes its coefficients follow exactly, one size
after the other; other sizes then show whether the count is such a polynomial at all.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mha_course.exercises.outcome import Outcome

Terms = dict[tuple[int, ...], Fraction]

# Every d_model of the grid can be split by every h of it.
_GRID = {"n": (1, 2, 3, 5), "d_model": (12, 24, 36, 60), "h": (1, 2, 3, 4, 6), "width": (12, 24, 48)}
_LOWEST = {"n": 0, "d_model": 0, "h": -2, "width": 0}
_ELSEWHERE = (
    {"n": 7, "d_model": 40, "h": 5, "width": 20},
    {"n": 11, "d_model": 56, "h": 7, "width": 28},
    {"n": 4, "d_model": 30, "h": 10, "width": 50},
    {"n": 8, "d_model": 48, "h": 4, "width": 16},
)


@dataclass(frozen=True)
class Count:
    """A count as a polynomial: its terms, by the exponents of the sizes.

    names: the sizes, in the order of the exponents. whole: whether every number came as a whole number.
    """

    names: tuple[str, ...]
    terms: tuple[tuple[tuple[int, ...], Fraction], ...]
    whole: bool

    def as_dict(self) -> Terms:
        """The coefficient of each product of sizes."""
        return dict(self.terms)


def read_count(
    call: Callable[[tuple[Any, ...]], Outcome], names: tuple[str, ...], *more: Any, points: int = 5
) -> Count | None:
    """The count as a polynomial in the sizes `names`; None when it is none, or stops somewhere.

    call: the answer, called with the sizes in this order and `more` behind them. points: how many values of
    each width are tried at most, one more than the highest power that can be found.
    """
    axes = [_GRID[name][: points if name in ("d_model", "width") else None] for name in names]
    whole, values = True, []
    for sizes in itertools.product(*axes):
        seen = _number(call((*sizes, *more)))
        if seen is None:
            return None
        values.append(seen[0])
        whole = whole and seen[1]
    terms = _interpolated(values, names, axes)
    for elsewhere in _ELSEWHERE:
        sizes = tuple(elsewhere[name] for name in names)
        seen = _number(call((*sizes, *more)))
        if seen is None or abs(seen[0] - value_at(terms, sizes)) > Fraction(1, 1000):
            return None
    return Count(names, tuple(terms.items()), whole)


def value_at(terms: Terms, sizes: Sequence[int]) -> Fraction:
    """The polynomial's value at the sizes given."""
    total = Fraction(0)
    for exponents, coefficient in terms.items():
        for size, exponent in zip(sizes, exponents, strict=True):
            coefficient = coefficient * Fraction(size) ** exponent
        total += coefficient
    return total


def difference(one: Terms, other: Terms) -> Terms:
    """The first polynomial without the second, terms that cancel left out."""
    keys = [*one, *(key for key in other if key not in one)]
    rest = {key: one.get(key, Fraction(0)) - other.get(key, Fraction(0)) for key in keys}
    return {key: c for key, c in rest.items() if c}


def common_factor(have: Terms, want: Terms) -> tuple[tuple[int, ...], Fraction] | None:
    """The one product of sizes, with its coefficient, that makes `have` from `want`; or None."""
    if not have or len(have) != len(want):
        return None
    (a, x), (b, y) = max(have.items()), max(want.items())
    exponents = tuple(i - j for i, j in zip(a, b, strict=True))
    made = {tuple(i + j for i, j in zip(key, exponents, strict=True)): c * x / y for key, c in want.items()}
    return (exponents, x / y) if made == have else None


def exchanged(have: Terms, want: Terms, names: Sequence[str]) -> tuple[str, str] | None:
    """The two sizes that have changed places, when that explains the count."""
    for i, j in itertools.combinations(range(len(names)), 2):
        turned = {_swapped(key, i, j): c for key, c in have.items()}
        if turned == want:
            return names[i], names[j]
    return None


def in_symbols(terms: Terms, names: Sequence[str]) -> str:
    """The polynomial as it reads: "8 n d_model² + 4 n² d_model"."""
    if not terms:
        return "0"
    ordered = sorted(terms.items(), key=lambda item: [-sum(map(abs, item[0])), *(-e for e in item[0])])
    text = " + ".join(product_in_symbols(key, names, c) for key, c in ordered)
    return text.replace("+ -", "- ")


def product_in_symbols(exponents: Sequence[int], names: Sequence[str], c: Fraction | None = None) -> str:
    """One product of sizes, with its coefficient: "3 d_model² / h"."""
    above = [_power(name, e) for name, e in zip(names, exponents, strict=True) if e > 0]
    below = [_power(name, -e) for name, e in zip(names, exponents, strict=True) if e < 0]
    if c is not None and c.denominator > 1:
        below = [str(c.denominator), *below]
    top = 1 if c is None else c.numerator
    sign, top = ("-" if top < 0 else ""), abs(top)
    if top != 1 or not above:
        above = [str(top), *above]
    under = f" / {below[0]}" if len(below) == 1 else f" / ({' '.join(below)})" if below else ""
    return f"{sign}{' '.join(above)}{under}"


def _power(name: str, exponent: int) -> str:
    return name + {1: "", 2: "²", 3: "³"}.get(exponent, f"^{exponent}")


def _swapped(key: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    turned = list(key)
    turned[i], turned[j] = turned[j], turned[i]
    return tuple(turned)


def _number(out: Outcome) -> tuple[Fraction, bool] | None:
    """The one number of a call, and whether it is a whole number; None when there is no such."""
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].numel() != 1:
        return None
    leaf = out.leaves[0]
    if leaf.is_complex():
        return None
    value = leaf.item()
    if isinstance(value, int):
        return Fraction(int(value)), True
    if value != value or abs(value) == float("inf"):
        return None
    return Fraction(value).limit_denominator(10_000), False


def _interpolated(values: list[Fraction], names: tuple[str, ...], axes: Sequence[tuple[int, ...]]) -> Terms:
    """Coefficients from the values on the full grid: one size after the other."""
    lengths = [len(axis) for axis in axes]
    table = {key: v for key, v in zip(itertools.product(*map(range, lengths)), values, strict=True) if v}
    for axis, name in enumerate(names):
        solve, new = _solved(axes[axis], _LOWEST[name]), {}
        for key, value in table.items():
            for power in range(lengths[axis]):
                to = (*key[:axis], power, *key[axis + 1 :])
                new[to] = new.get(to, Fraction(0)) + solve[power][key[axis]] * value
        table = new
    lowest = [_LOWEST[name] for name in names]
    return {tuple(p + low for p, low in zip(key, lowest, strict=True)): c for key, c in table.items() if c}


@functools.cache
def _solved(points: tuple[int, ...], low: int) -> tuple[tuple[Fraction, ...], ...]:
    """The inverse of the matrix of powers of a size's grid: row = power, column = place on the grid."""
    count = len(points)
    rows = [
        [Fraction(x) ** (low + p) for p in range(count)] + [Fraction(int(i == j)) for j in range(count)]
        for i, x in enumerate(points)
    ]
    for i in range(count):
        pivot = next(r for r in range(i, count) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for r in range(count):
            if r != i and rows[r][i]:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    return tuple(tuple(row[count:]) for row in rows)
