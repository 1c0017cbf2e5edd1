"""What can be said of any wrong count: powers written as XOR, numbers for sizes, no sum of products."""

from __future__ import annotations

import dis
import inspect
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import CodeType
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.counting import Count, Terms, in_symbols, product_in_symbols

Call = Callable[[tuple[Any, ...]], Outcome]

_LARGEST_LENGTH = 20  # so few tensors or layers may have been counted with `len`


def how_many(count: Fraction, thing: str, things: str) -> str:
    """ "one matrix", "three matrices", "7 / 2 matrices"."""
    words = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
    if count == 1:
        return f"one {thing}"
    return f"{words.get(int(count), count) if count.denominator == 1 else count} {things}"


def times_too_much(exponents: Sequence[int], c: Fraction, names: Sequence[str]) -> str:
    """All of a right count times one product of sizes, in words."""
    sizes = {name: e for name, e in zip(names, exponents, strict=True) if e}
    if c < 0:
        other = "" if c == -1 and not sizes else " Besides, there is a factor too much."
        return f"The count is negative: there is a minus.{other}"
    if not sizes and c == 2:
        return "Everything is counted twice."
    if not sizes and c == 4:
        return "Everything is counted 4 times (as bytes, 4 for each number?)."
    if not sizes and c == Fraction(1, 2):
        return "Everything is half of what it should be."
    if c == 1 and sizes == {"h": 1}:
        return "Everything is multiplied by h: each head is counted at full width. Heads share the width."
    if c == 1 and sizes in ({"n": -1}, {"h": -1}):
        name = next(iter(sizes))
        return (
            f"Everything is divided by {name}: this is the share of one {'token' if name == 'n' else 'head'}."
        )
    if any(e > 0 for e in exponents) or (not sizes and c > 1):
        return f"Everything is multiplied by {product_in_symbols(exponents, names, c)}."
    below = product_in_symbols([-e for e in exponents], names, 1 / c)
    return f"Everything is divided by {below}."


def whatever_the_sizes(counts: Sequence[Terms]) -> Finding | None:
    """Counts in which no size takes part, or None."""
    if any(any(any(key) for key in terms) for terms in counts):
        return None
    numbers = [int(next(iter(terms.values()), Fraction(0))) for terms in counts]
    shown = str(numbers[0]) if len(set(numbers)) == 1 else f"{numbers[0]}, with biases {numbers[1]},"
    says = f"Your count is {shown} whatever the sizes are."
    if 0 < max(numbers) <= _LARGEST_LENGTH:
        says += " That is as many as there are matrices or layers: their numbers are to be counted (`numel`)."
        return Finding("always-the-same", says, look="`len`, and what is counted one by one.")
    if max(numbers) > 0:
        says += " Numbers stand where sizes should, or an earlier result is kept."
    return Finding("always-the-same", says, look="where the sizes take part.")


def with_formula(found: Finding, count: Count, names: Sequence[str]) -> Finding:
    """The finding with the whole count behind it as a formula, and a word about a float."""
    have = count.as_dict()
    tail = f" As a formula: `{in_symbols(have, names)}`." if any(any(key) for key in have) else ""
    tail += "" if count.whole else " And it is a float; a count is a whole number."
    return Finding(found.id, f"{found.says}{tail}", look=found.look)


def written_as_xor(call: Call) -> Finding | None:
    """`^` in the code of the function that is called: it is no power."""
    fn = getattr(call, "args", (None,))[0]
    code = getattr(inspect.unwrap(fn) if callable(fn) else fn, "__code__", None)
    if not isinstance(code, CodeType) or not _has_xor(code):
        return None
    says = "`^` is no power in Python: it compares bits (XOR). A power is written `**`."
    return Finding("power-as-xor", says, look="`^` in your code.")


def no_sum(
    evidence: Evidence, call: Call, names: Sequence[str], seen: Count | None, when: str
) -> Finding | None:
    """What can be said of a count that is no sum of products.

    seen: the one of two counts that is one (without or with biases, see `when`), or None.
    """
    pairs = [
        (float(want.leaves[0]), float(have.leaves[0]))
        for want, have, counts in zip(evidence.expected, evidence.got, evidence.counts, strict=True)
        if counts and have.error is None and len(have.leaves) == 1 and have.leaves[0].numel() == 1
    ]
    if not pairs:
        return None
    if all(math.isnan(have) for _, have in pairs):
        return Finding("not-a-number", "The result is NaN.", look="0/0, inf - inf, or a float that was NaN.")
    ratios = [have / want for want, have in pairs]
    if max(ratios) - min(ratios) <= 1e-6 * abs(ratios[0]) and ratios[0] > 0 and ratios[0] != 1:
        says = f"Every count is {ratios[0]:.4g} times what it should be. Are these other units?"
        return Finding("scaled", says, look="the last step.")
    for words, bent in (("logarithm", math.log), ("binary logarithm", math.log2), ("root", math.sqrt)):
        if all(math.isclose(bent(want), have, rel_tol=1e-4) for want, have in pairs):
            return Finding("scaled", f"This is the {words} of the right number.", look="the last step.")
    idle = _idle(call, names)
    if idle:
        which = " and ".join(idle)
        says = f"{which} {'makes' if len(idle) == 1 else 'make'} no difference to your count."
        return Finding("size-unused", says, look=f"where {which} should take part.")
    if seen is not None:
        other = "without" if when == "With" else "with"
        says = f"{when} biases your count is a sum of products of the sizes, {other} them it is none."
        return Finding("no-sum-of-products", says, look=f"the case {other} biases.")
    says = (
        f"Your count is no sum of products of {', '.join(names[:-1])} and {names[-1]}. Every matrix holds, "
        "and every matrix product takes, a product of its sides."
    )
    look = "roots, logarithms, powers, rounding, and conditions on the sizes."
    return Finding("no-sum-of-products", says, look=look)


def _idle(call: Call, names: Sequence[str]) -> list[str]:
    """The sizes (h apart, which cancels out) that make no difference."""
    more = () if "n" in names else (True,)
    base = {"n": 5, "d_model": 48, "h": 4, "width": 24}
    first = _value(call((*(base[name] for name in names), *more)))
    idle = []
    for name, other in (("n", 9), ("d_model", 96), ("width", 72)):
        if first is not None and name in names:
            sizes = base | {name: other}
            if _value(call((*(sizes[n] for n in names), *more))) == first:
                idle.append(name)
    return idle


def _value(out: Outcome) -> float | None:
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].numel() != 1:
        return None
    return float(out.leaves[0])


def _has_xor(code: CodeType) -> bool:
    return any(
        "^" in step.argrepr for step in dis.get_instructions(code) if step.opname == "BINARY_OP"
    ) or any(_has_xor(part) for part in code.co_consts if isinstance(part, CodeType))
