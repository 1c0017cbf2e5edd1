"""Reading a wrong number of several sizes by doubling one size after the other: how each takes part."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.counting import product_in_symbols

_FIRST = 3  # so many sizes are named; who has more wrong looks there first


@dataclass(frozen=True)
class Doubled:
    """A reader of one number made of sizes.

    names, base: the sizes in the order of the arguments, and a value for each that may be doubled, alone or
    together with others. right: the number itself. look: where to look.
    """

    names: tuple[str, ...]
    base: tuple[int, ...]
    right: Callable[..., float]
    look: str

    def read(self, evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
        """How a size takes part otherwise than it should; None when the answer stops or gives no number."""

        def yours(*sizes: int) -> float | None:
            return _number(call(sizes))

        if not float(evidence.got[i].leaves[0]):
            says = (
                "The number is 0: one of its factors is. (`//` gives 0 where the divisor is the larger one.)"
            )
            return Finding("zero", says, look="divisions, and what is multiplied.")
        digits = _last_digits(evidence, i)
        if digits:
            return digits
        have, want = self._ratios(yours), self._ratios(self.right)
        first = yours(*self.base)
        if have is None or want is None or not first:
            return None
        off = self._offset(yours, first)
        if off:
            says = (
                f"Whatever the sizes are, the number is {abs(off):.6g} too {'large' if off > 0 else 'small'}."
            )
            return Finding("shifted", says, look="what is added or subtracted at the end.")
        wrong = [k for k in range(len(self.names)) if not math.isclose(have[k], want[k], rel_tol=1e-5)]
        if not wrong:
            factor = first / self.right(*self.base)
            if math.isclose(factor, 1, rel_tol=1e-6):
                return self._one_size(yours, evidence.cases[i].arguments)
            says = f"Every size takes part, and yet everything is {factor:.4g} times what it should be."
            if not 0.01 < factor < 100:
                says += " Are these other units?"
            if factor < 0:
                says = "The number is negative."
            return Finding("scaled", says, look="a factor: what is counted twice, or left out?")
        powers, wanted = self._powers(yours, have, first), self._powers(self.right, want)
        if powers is None or wanted is None:
            says = " ".join(self._changes(k, have[k], want[k]) for k in self._telling(wrong, want))
            return Finding("sizes-otherwise", says, look=self.look)
        coefficient, exponents = powers
        product = product_in_symbols(exponents, self.names, coefficient)
        parts = [_takes_part(self.names[k], exponents[k], wanted[1][k]) for k in wrong[:_FIRST]]
        says = f"Your number is `{product}`. {' '.join(parts)}"
        if coefficient != wanted[0]:
            says += f" And the factor in front is {coefficient}, not {wanted[0]}."
        return Finding("sizes-otherwise", says, look=self.look)

    def _offset(self, fn: Callable[..., float | None], first: float) -> float:
        """By how much the number is off, where that is the same for twice each size; else 0."""
        off = first - self.right(*self.base)
        for k in range(len(self.base)):
            sizes = [size * (2 if j == k else 1) for j, size in enumerate(self.base)]
            value = fn(*sizes)
            if value is None or not math.isclose(value - self.right(*sizes), off, rel_tol=1e-4, abs_tol=1e-9):
                return 0.0
        return off if abs(off) > 1e-6 * abs(first) else 0.0

    def _one_size(self, fn: Callable[..., float | None], case: tuple[int, ...]) -> Finding | None:
        """The size whose value makes the number wrong, where others leave it right."""
        for k, name in enumerate(self.names):
            sizes = [case[k] if j == k else size for j, size in enumerate(self.base)]
            value = fn(*sizes)
            if value is not None and not math.isclose(value, self.right(*sizes), rel_tol=1e-6):
                says = f"With `{name}` = {case[k]} the number is wrong; with {self.base[k]} it is right."
                return Finding("one-size", says, look=f"rounding, and conditions on `{name}`.")
        return None

    def _ratios(self, fn: Callable[..., float | None], by: int = 2) -> list[float] | None:
        """For each size: how many times as large the number is with `by` times the size."""
        start, found = fn(*self.base), []
        for k in range(len(self.base)):
            sizes = [size * (by if j == k else 1) for j, size in enumerate(self.base)]
            value = fn(*sizes)
            if value is None or not start:
                return None
            found.append(value / start)
        return found

    def _powers(
        self, fn: Callable[..., float | None], twice: list[float], first: float | None = None
    ) -> tuple[Fraction, list[int]] | None:
        """The number as one product, its factor and its exponents; None when it is none."""
        if any(ratio <= 0 for ratio in twice):
            return None
        exponents = [round(math.log2(ratio)) for ratio in twice]
        if any(not math.isclose(2.0**e, r, rel_tol=1e-6) for e, r in zip(exponents, twice, strict=True)):
            return None
        four_times = self._ratios(fn, 4)
        if four_times is None or any(
            not math.isclose(4.0**e, r, rel_tol=1e-6) for e, r in zip(exponents, four_times, strict=True)
        ):
            return None
        start = fn(*self.base) if first is None else first
        made = math.prod(float(s) ** e for s, e in zip(self.base, exponents, strict=True))
        return Fraction(start / made).limit_denominator(1000), exponents

    def _telling(self, wrong: list[int], want: list[float]) -> list[int]:
        """Of the wrong sizes those with a round ratio first: what should double, or change nothing."""
        return sorted(wrong, key=lambda k: math.log2(want[k]) != round(math.log2(want[k])))[:_FIRST]

    def _changes(self, k: int, have: float, want: float) -> str:
        return (
            f"With twice the `{self.names[k]}` the number {_times(have)}; it should {_times(want, 'should')}."
        )


def _last_digits(evidence: Evidence, i: int) -> Finding | None:
    """A whole number whose last digits are wrong: a float on the way that keeps too few of them."""
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    if want.is_floating_point() or have.is_floating_point() or have.shape != want.shape:
        return None
    off = int(have) - int(want)
    if not 0 < abs(off) < 1e-6 * abs(int(want)):
        return None
    says = f"It is off by {abs(off):,} of {int(want):,}: a float on the way keeps too few digits. "
    says += "A count is exact."
    return Finding(
        "last-digits", says, look="floats, `/` and NumPy numbers; `*` and `//` keep whole numbers."
    )


def _times(ratio: float, form: str = "") -> str:
    words = {1.0: ("stays the same", "stay the same"), 2.0: ("doubles", "double"), 0.5: ("halves", "halve")}
    near = next((both for value, both in words.items() if math.isclose(ratio, value, rel_tol=1e-6)), None)
    if near:
        return near[bool(form)]
    return f"{'get' if form else 'gets'} {ratio:.4g} times as large"


def _takes_part(name: str, have: int, want: int) -> str:
    ways = {0: "not at all", 1: "as a factor", 2: "squared", -1: "as a divisor"}
    is_, should = (ways.get(e, f"to the power of {e}") for e in (have, want))
    return f"`{name}` takes part {is_}; it should {should}."


def _number(out: Outcome) -> float | None:
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].numel() != 1:
        return None
    leaf = out.leaves[0]
    if leaf.is_complex() or not math.isfinite(float(leaf)):
        return None
    return float(leaf)
