"""Reading a wrong head size: what it computes where h divides d_model, and what it does where it does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.refusing import in_text

_Rule = Callable[[int, int], float]


# What a number may be, in words; a rule that fits all pairs of one kind is said.
def _largest_divisor(d_model: int, h: int) -> int:
    return max(k for k in range(1, h + 1) if d_model % k == 0)


_RULES: tuple[tuple[str, _Rule], ...] = (
    ("the quotient cut down", lambda d, h: d // h),
    ("the quotient rounded up", lambda d, h: -(-d // h)),
    ("the quotient rounded", lambda d, h: round(d / h)),
    ("the quotient with its fraction", lambda d, h: d / h),
    ("the quotient by a smaller h, one that divides d_model", lambda d, h: d // _largest_divisor(d, h)),
    ("the quotient, but at least 1", lambda d, h: max(1, d // h)),
    ("h, the number of heads", lambda d, h: h),
    ("d_model, the whole width", lambda d, h: d),
    ("the remainder, d_model % h", lambda d, h: d % h),
    ("h % d_model", lambda d, h: h % d),
    ("d_model * h", lambda d, h: d * h),
    ("d_model - h", lambda d, h: d - h),
    ("d_model + h", lambda d, h: d + h),
    ("h / d_model, the division upside down", lambda d, h: h / d),
    ("h // d_model, the division upside down", lambda d, h: h // d),
    ("1 more than the quotient", lambda d, h: d // h + 1),
    ("1 less than the quotient", lambda d, h: d // h - 1),
    ("the quotient with the wrong sign", lambda d, h: -(d // h)),
    ("the greatest common divisor of both", math.gcd),
    ("the least common multiple of both", math.lcm),
    ("d_model to the power of h", lambda d, h: d**h if h * math.log(d) < 40 else math.nan),
    ("h to the power of d_model", lambda d, h: h**d if d * math.log(h) < 40 else math.nan),
    ("the root of d_model", lambda d, h: math.sqrt(d)),
    ("the root of d_model, cut off", lambda d, h: math.isqrt(d)),
    ("the root of the quotient", lambda d, h: math.sqrt(d / h)),
    ("1 divided by the root of the quotient", lambda d, h: math.sqrt(h / d)),
    ("d_model divided by h * h", lambda d, h: d / h**2),
    ("d_model // (h * h)", lambda d, h: d // h**2),
    ("d_model // (h + 1)", lambda d, h: d // (h + 1)),
    ("d_model // (h - 1)", lambda d, h: d // (h - 1) if h > 1 else math.nan),
    ("(d_model - 1) // h", lambda d, h: (d - 1) // h),
    ("(d_model + 1) // h", lambda d, h: (d + 1) // h),
)
_NUMBERS = (*range(2, 129), 256, 512, 768, 1024)
_TIMES = (2, 3, 4, 8, 0.5, 1 / 3, 0.25)


def read_size(evidence: Evidence, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """What a wrong answer to head_size does with pairs that fit and with pairs that don't, or None."""
    fits = [i for i, case in enumerate(evidence.cases) if not case.refuses]
    others = [i for i, case in enumerate(evidence.cases) if case.refuses]
    wrong = [i for i in fits if not evidence.right[i]]
    if not wrong:
        return _taken(evidence, others)
    stopped = [i for i in wrong if isinstance(evidence.got[i].error, ValueError | AssertionError)]
    if stopped and len(stopped) == len(wrong):
        return _refused(evidence, fits, stopped)
    values = {i: _value(evidence.got[i]) for i in fits if i not in stopped}
    if any(value is None for value in values.values()):
        return None
    taken = [i for i in others if evidence.got[i].error is None]
    known = {i: value for i, value in values.items() if value is not None}
    more = {i: value for i in taken if (value := _value(evidence.got[i])) is not None}
    # Where several rules fit the pairs that can be split, the others may tell which it is.
    rule = _rule(evidence, known | more) or _rule(evidence, known)
    first = next(i for i in wrong if i not in stopped)
    pair, value = _pair(evidence, first), in_text(evidence.got[first])
    says = f"What comes out is {rule}." if rule else f"What comes out is {_listed(evidence, list(known))}."
    if not rule and stopped:
        return _refused(evidence, fits, stopped)
    if all(math.isclose(_quotient(evidence, i), value) for i, value in known.items()):
        says = "The number is right, but it is a float; a whole number (`int`) is wanted."
    if taken:
        gives = in_text(evidence.got[taken[0]])
        says += f" And {_pair(evidence, taken[0])} is not refused: it gives `{gives}`."
    look = "the operation, and what goes into it."
    return Finding("another-number", says, f"{pair} gives `{value}`.", look)


def _quotient(evidence: Evidence, i: int) -> float:
    d_model, h = evidence.cases[i].arguments
    return d_model / h


def _listed(evidence: Evidence, fits: list[int]) -> str:
    """What each pair gives, where no rule is known."""
    return in_a_row([f"{in_text(evidence.got[i])} for {_pair(evidence, i)}" for i in fits])


def _taken(evidence: Evidence, others: list[int]) -> Finding | None:
    """Right where h divides d_model; a number where it should refuse."""
    taken = [i for i in others if evidence.got[i].error is None]
    values = {i: _value(evidence.got[i]) for i in taken}
    if not taken or any(value is None for value in values.values()):
        return None
    rule = _rule(evidence, {i: value for i, value in values.items() if value is not None})
    pairs = in_a_row([_pair(evidence, i) for i in taken])
    gives = f"it gives {rule}" if rule else f"it gives `{in_text(evidence.got[taken[0]])}`"
    refused = [_pair(evidence, i) for i in others if i not in taken]
    says = f"Nothing is refused: where h does not divide d_model {gives}."
    if refused:
        says = f"It refuses {in_a_row(refused)}, as it should, but takes {pairs}: {gives}."
    value = in_text(evidence.got[taken[0]])
    seen = f"{_pair(evidence, taken[0])} should raise a `ValueError`, and gives `{value}`."
    return Finding("not-refused", says, seen, "the condition under which nothing can be split.")


def _refused(evidence: Evidence, fits: list[int], stopped: list[int]) -> Finding:
    """Pairs that can be split are refused."""
    pairs = in_a_row([_pair(evidence, i) for i in stopped])
    error = evidence.got[stopped[0]].error_text.replace("`", "'")
    place, _, line = evidence.got[stopped[0]].line.replace("`", "'").partition(": ")
    seen = f"{_pair(evidence, stopped[0])} stops with `{error}`"
    seen += f"\nIn your {place}: `{line}`" if line else ""
    says = f"It refuses {pairs}, which can be split into equal heads."
    taken = [i for i, case in enumerate(evidence.cases) if case.refuses and evidence.got[i].error is None]
    if len(stopped) == len(fits):
        says = f"It refuses every pair that can be split: {pairs}."
    if taken:
        says += f" {_pair(evidence, taken[0])}, which can't, is not refused."
    return Finding("refuses-what-fits", says, seen, "the condition in front of `raise`, and its order.")


def _rule(evidence: Evidence, values: dict[int, float]) -> str:
    """In words, what all these numbers have in common; "" when nothing is known."""
    pairs = {i: evidence.cases[i].arguments for i in values}
    for words, rule in _RULES:
        if all(math.isclose(rule(*pairs[i]), value, rel_tol=1e-6) for i, value in values.items()):
            return words
    if len(set(values.values())) == 1 and len(values) > 1:
        return f"{next(iter(values.values())):.6g}, whatever the sizes are"
    for times in _TIMES:
        if all(math.isclose(times * d / h, values[i], rel_tol=1e-6) for i, (d, h) in pairs.items()):
            return f"{times:.4g} times the quotient"
    for n in _NUMBERS:
        if all(d // n == values[i] for i, (d, h) in pairs.items()):
            return f"d_model divided by {n}: h is not used"
        if len(pairs) > 1 and all(n // h == values[i] for i, (d, h) in pairs.items()):
            return f"{n} divided by h: d_model is not used"
    gaps = {round(values[i] - d / h, 6) for i, (d, h) in pairs.items()}
    return f"the quotient and {gaps.pop():+.4g}" if len(gaps) == 1 and len(pairs) > 1 else ""


def _value(out: Outcome) -> float | None:
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].numel() != 1:
        return None
    if set(out.odd) - {"", "number", "numpy"} or out.leaves[0].is_complex():
        return None
    return float(out.leaves[0])


def _pair(evidence: Evidence, i: int) -> str:
    return f"`{evidence.exercise.name}({', '.join(map(str, evidence.cases[i].arguments))})`"
