"""Remarks on a wrong answer that only its code can tell: sizes written as numbers, print for return."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding, in_a_row

_COMMON = 3  # numbers up to here stand in many functions, as axes and exponents


def remark_on_code(evidence: Evidence, fn: Any, finding: Finding) -> str:
    """What stands in the code and explains the finding, or ""."""
    fn = inspect.unwrap(fn) if callable(fn) else fn
    code = getattr(fn, "__code__", None) or getattr(getattr(type(fn), "forward", None), "__code__", None)
    if not isinstance(code, CodeType):
        return ""
    if finding.id == "returned-nothing" and "print" in code.co_names:
        return "`print` shows something to you; `return` hands it to whoever called."
    if "input" in code.co_names:
        return "It asks for `input`. Everything it needs is in its arguments."
    return _written_sizes(evidence, code)


def _written_sizes(evidence: Evidence, code: CodeType) -> str:
    """Numbers in the code that are sizes where the answer is right, and are none where it is wrong."""
    wrong = evidence.cases[evidence.first_wrong()]
    cases = [
        (case, ok)
        for case, ok in zip(evidence.cases, evidence.right, strict=True)
        if case.sizes and case.required
    ]
    right = [case for case, ok in cases if ok]
    found: dict[int, str] = {}
    for n in dict.fromkeys(_numbers(code)):
        for name, size in wrong.sizes.items():
            with_it = [case for case, _ in cases if case.sizes.get(name) == n]
            # Every right case has this size; a common number must also be right wherever it fits.
            fits = bool(right) and all(case.sizes.get(name) == n for case in right)
            if size != n > 1 and fits and (n > _COMMON or (name == "h" and len(with_it) == len(right))):
                found.setdefault(n, name)
    if not found:
        return ""
    which, names = in_a_row([f"`{n}`" for n in found]), in_a_row([f"`{name}`" for name in found.values()])
    stand = "stands" if len(found) == 1 else "stand"
    there = f"{which} {stand} in the code. That is {names} {right[0].label}; {wrong.label} it is not"
    return f"{there}. Sizes come from the arguments."


def _numbers(code: CodeType) -> Iterator[int]:
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_CONST":
            for part in step.argval if isinstance(step.argval, tuple) else (step.argval,):
                if isinstance(part, int) and not isinstance(part, bool):
                    yield part
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _numbers(part)
