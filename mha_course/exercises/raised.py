"""What to say of an answer that stops with an error: which one, where, and what met there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from mha_course.exercises.asked_shapes import sizes_at_work
from mha_course.exercises.causes import cause
from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.exercise import Case
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.do_not_meet import do_not_meet
from mha_course.exercises.reading.failing_step import failing_step
from mha_course.exercises.refusing import badly_refused


def raised(
    evidence: Evidence, case: Case, got: Outcome, call: Callable[[tuple[Any, ...]], Outcome]
) -> Finding:
    """What to say of an error: its text, the student's own line, and what it means as far as that is seen."""
    at = f"\nIn your {_quoted(got.line)}" if got.line else ""
    name, sizes = evidence.exercise.name, f" ({case.in_words()})" if case.sizes else ""
    error = got.error
    if case.refuses and isinstance(error, (RecursionError, SystemExit)):
        return badly_refused(case, got, at)
    if isinstance(error, RecursionError):
        return Finding("endless-recursion", f"`{name}` calls itself without end.{at}")
    if isinstance(error, SystemExit):
        return Finding("exits", f"`{name}` ends the program (`exit`) instead of returning something.{at}")
    if isinstance(error, UnboundLocalError):
        says = f"A name is used before it has a value: `{_code(got.error_text)}`{at}"
        return Finding(
            "unknown-name", says, look="where that name gets its value, and whether it always does."
        )
    if isinstance(error, NameError):
        says = f"It stops because a name is not known here: `{_code(got.error_text)}`{at}"
        return Finding("unknown-name", says, look="the spelling of the name, and whether it is an argument.")
    if case.refuses:
        return badly_refused(case, got, at)
    right = [label for label in evidence.labels(True) if label not in evidence.labels(False)]
    only = f"\nIt is right {in_a_row(right)}." if right else ""
    when = f"{case.label[:1].upper()}{case.label[1:]}{sizes}"
    stop = f"{when} it stops with an error: `{_code(got.error_text)}`{at}{only}"
    means, look = cause(error, got.error_text)
    means = sizes_at_work(case, got.error_text) or means
    known, told = evidence.exercise.on_the_way, ""
    # What stood there is recognised by its numbers; whatever goes wrong with that, the sizes remain.
    with contextlib.suppress(Exception):
        told = do_not_meet(case, known, call) if known else ""
        means = told or means
    with contextlib.suppress(Exception):
        step, where = failing_step(evidence.exercise, case, call) if not told else ("", "")
        means, look = step or means, where or look
    look = look if got.line else look.replace("the line named", "the error's text")
    return Finding("raised", f"{stop}\n{means}" if means else stop, look=look)


def _quoted(line: str) -> str:
    place, _, text = line.partition(": ")
    return f"{place}: `{_code(text)}`" if text else place


def _code(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")
