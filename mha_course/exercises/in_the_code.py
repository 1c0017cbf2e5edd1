"""Remarks on a wrong answer that only its code can tell: sizes as numbers, a `raise` that never comes."""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.refusing import badly_refused

_COMMON = 3  # numbers up to here stand in many functions, as axes and exponents
_TELLING = {"print", "warn", "warning", "error", "info", "log"}


def remark_on_code(evidence: Evidence, fn: Any, finding: Finding) -> str:
    """What stands in the code and explains the finding, or ""."""
    code = _code(fn)
    if code is None:
        return ""
    if finding.id == "returned-nothing" and "print" in code.co_names:
        return "`print` shows something to you; `return` hands it to whoever called."
    if "input" in code.co_names:
        return "It asks for `input`. Everything it needs is in its arguments."
    if finding.id == "remembers":
        return ""
    if finding.id == "all-zeros" and any(
        step.argrepr in ("//", "//=") for step in dis.get_instructions(code)
    ):
        return "`//` gives whole numbers: 1 // 2 is 0."
    return remark_on_refusing(evidence, fn) or _written_sizes(evidence, code)


def remark_on_mask(fn: Any, finding: Finding) -> str:
    """Why a mask that is used has no effect, or no empty row was found, where the code shows it; or ""."""
    code = _code(fn)
    if code is None:
        return ""
    every = [code, *(part for part in code.co_consts if isinstance(part, CodeType))]
    called = {name for part in every for name in part.co_names} & {"any", "all", "amax"}
    if called and finding.id == "empty-rows-uniform":
        return (
            f"`{min(called)}` stands in it. Does it go along the keys, as the rows do, and are the rows that "
            "it finds set to 0 after the softmax?"
        )
    if called and finding.id == "mask-ignored":
        return (
            f"`{min(called)}` stands in it. If it goes over the queries, one row of the mask is left for "
            "all of them, and every key is open in it here. Each query has a row of its own."
        )
    numbers = [n for part in every for n in part.co_consts if isinstance(n, float) and 0 < abs(n) < 1e-3]
    if numbers and finding.id == "mask-ignored":
        return f"`{numbers[0]:g}` stands in it, and that is next to nothing: hidden scores hardly change."
    return ""


def remark_on_refusing(evidence: Evidence, fn: Any) -> str:
    """What is wrong with a refusal besides, or why there is none where the code has a trace of it, or ""."""
    calls = [
        (case, out, ok)
        for case, out, ok in zip(evidence.cases, evidence.got, evidence.right, strict=True)
        if case.refuses
    ]
    code = _code(fn)
    if code is None or not calls:
        return ""
    if all(out.error is not None for _, out, _ in calls):
        badly = next(((case, out) for case, out, ok in calls if not ok), None)
        # Where nothing else is wrong, this is what the verdict says already.
        if badly is None or evidence.cases[evidence.first_wrong()].refuses:
            return ""
        return f"Besides: {badly_refused(*badly, '').says}"
    every = [code, *(part for part in code.co_consts if isinstance(part, CodeType))]
    raises = any(step.opname == "RAISE_VARARGS" for part in every for step in dis.get_instructions(part))
    called = {name for part in every for name in part.co_names}
    if "CHECK_EXC_MATCH" in {step.opname for step in dis.get_instructions(code)}:
        return "What is raised inside `try` is caught by `except`, and the caller learns nothing."
    if raises:
        return "There is a `raise` in it, but its condition does not hold for these numbers."
    if re.search(r"^\s*(if .*:)?\s*raise\b", _source(fn), re.MULTILINE):
        return "The `raise` is never reached: it stands behind a `return`."
    if any(name.endswith("Error") for name in called):
        return "An error is made, but nothing raises it."
    if called & _TELLING:
        return "It says so, and goes on all the same. Only an error stops the caller."
    return ""


def _code(fn: Any) -> CodeType | None:
    fn = inspect.unwrap(fn) if callable(fn) else fn
    code = getattr(fn, "__code__", None) or getattr(getattr(type(fn), "forward", None), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _source(fn: Any) -> str:
    try:
        return inspect.getsource(fn)
    except (OSError, TypeError):
        return ""


def _written_sizes(evidence: Evidence, code: CodeType) -> str:
    """Numbers in the code that are sizes where the answer is right, and are none where it is wrong."""
    i = evidence.first_wrong()
    wrong, asked = evidence.cases[i], _shape_asked(evidence.got[i])
    wanted = [size for leaf in evidence.expected[i].leaves for size in leaf.shape]
    strange = [n for k, n in enumerate(asked) if k >= len(wanted) or wanted[k] != n]
    if evidence.got[i].error is not None:
        strange = [n for n in asked if n not in wrong.sizes.values()]
    judged = zip(evidence.cases, evidence.right, strict=True)
    right = [case for case, ok in judged if case.sizes and case.required and ok and not case.edge]
    numbers = list(dict.fromkeys(_numbers(code)))
    found: dict[int, str] = {}
    for n in numbers:
        for name, size in wrong.sizes.items():
            # Every right case has this size; a common number must also be wrong in the shape that came out.
            fits = bool(right) and all(case.sizes.get(name) == n for case in right)
            if size != n > 1 and fits and (n > _COMMON or n in strange):
                found.setdefault(n, name)
    if found:
        names = in_a_row([f"`{name}`" for name in found.values()])
        that = f"That is {names} {right[0].label}; {wrong.label} it is not."
        return f"{_stand(list(found))} {that} Sizes come from the arguments."
    fixed = [n for n in numbers if n > _COMMON and n in asked] if evidence.got[i].error else []
    return f"{_stand(fixed)} Sizes come from the arguments." if fixed else ""


def _stand(numbers: list[int]) -> str:
    listed = in_a_row([f"`{n}`" for n in numbers])
    return f"{listed} {'stands' if len(numbers) == 1 else 'stand'} in the code."


def _shape_asked(got: Outcome) -> list[int]:
    """The sizes of the result, or those that an error names."""
    if got.error is None:
        return [size for leaf in got.leaves for size in leaf.shape]
    named = re.search(r"\[([\d, -]+)\]", got.error_text)
    return [int(size) for size in named[1].split(",")] if named else []


def _numbers(code: CodeType) -> Iterator[int]:
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_CONST":
            for part in step.argval if isinstance(step.argval, tuple) else (step.argval,):
                if isinstance(part, int) and not isinstance(part, bool):
                    yield part
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _numbers(part)
