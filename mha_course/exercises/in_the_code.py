"""Remarks on a wrong answer that only its code can tell: sizes written as numbers, print for return."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding, in_a_row

_EVERYWHERE = 2  # 0, 1 and 2 stand in every function, as axes and exponents


def remark_on_code(evidence: Evidence, fn: Any, finding: Finding) -> str:
    """What stands in the code and explains the finding, or ""."""
    fn = inspect.unwrap(fn) if callable(fn) else fn
    code = getattr(fn, "__code__", None) or getattr(getattr(type(fn), "forward", None), "__code__", None)
    if not isinstance(code, CodeType):
        return ""
    if finding.id == "returned-nothing" and "print" in code.co_names:
        return "`print` shows something to you; `return` hands it to whoever called."
    return _written_sizes(evidence, code)


def _written_sizes(evidence: Evidence, code: CodeType) -> str:
    """Numbers in the code that are sizes where the answer is right, and are none where it is wrong."""
    i = evidence.first_wrong()
    wrong = evidence.cases[i]
    for case, right in zip(evidence.cases, evidence.right, strict=True):
        if not right or case.refuses:
            continue
        sizes: dict[int, str] = {}
        for name, size in case.sizes.items():
            if size > _EVERYWHERE and wrong.sizes.get(name, size) != size:
                sizes.setdefault(size, name)
        found = [n for n in dict.fromkeys(_numbers(code)) if n in sizes]
        if found:
            which = in_a_row([f"`{n}`" for n in found])
            names = in_a_row([sizes[n] for n in found])
            stand = "stands" if len(found) == 1 else "stand"
            there = f"{which} {stand} in the code. That is {names} {case.label}; {wrong.label} it is not"
            return f"{there}. Sizes come from the arguments."
    return ""


def _numbers(code: CodeType) -> Iterator[int]:
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_CONST":
            for part in step.argval if isinstance(step.argval, tuple) else (step.argval,):
                if isinstance(part, int) and not isinstance(part, bool):
                    yield part
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _numbers(part)
