"""Cases that have no answer: a ValueError is wanted, with the numbers that don't fit in its message."""

from __future__ import annotations

import re

from mha_course.exercises.causes import cause
from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.exercise import Case
from mha_course.exercises.outcome import Outcome


def refused_well(case: Case, got: Outcome) -> bool:
    """Whether a call raised a ValueError that names every argument of the case."""
    return isinstance(got.error, ValueError) and not _missing(case, got)


def badly_refused(case: Case, got: Outcome, at: str) -> Finding:
    """What is wrong with an error in a case that should be refused. at: the student's line, or ""."""
    numbers, kind = in_a_row([str(a) for a in case.arguments]), type(got.error).__name__
    text = got.error_text.replace("`", "'")
    if isinstance(got.error, (SystemExit, RecursionError)):
        what = "ends the program" if isinstance(got.error, SystemExit) else "calls itself without end"
        id_ = "exits" if isinstance(got.error, SystemExit) else "endless-recursion"
        return Finding(id_, f"{numbers}: it {what}; a `ValueError` is wanted.{at}", look="`raise`.")
    if not isinstance(got.error, ValueError):
        says = f"{numbers}: it raises `{kind}`; a `ValueError` is wanted."
        means, look = cause(got.error, got.error_text)
        if isinstance(got.error, AssertionError):
            means, look = "", "`assert`: it raises an error of one kind only."
        elif "raise" in got.line and "must derive" not in got.error_text:
            means, look = "", "the kind of error behind `raise`."
        seen = f"It stops with `{text}`{at}" + (f"\n{means}" if means else "")
        return Finding("refused-otherwise", says, seen, look)
    missing = _missing(case, got)
    which = "both numbers" if len(case.arguments) == 2 else "the numbers"
    lacks = f"{in_a_row(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    says = f"{numbers}: a `ValueError`, as it should be. The message doesn't name {which}: {lacks}."
    look = "the text inside `ValueError(...)`: whoever reads it wants to know what didn't fit."
    if re.search(r"\{\w+\}", got.error_text):
        says += " The braces are printed as they stand: the `f` in front of the text is missing."
    return Finding("numbers-not-named", says, f"It stops with `{text}`{at}", look)


def not_refused(evidence: Evidence, case: Case, got: Outcome) -> Finding:
    """What to say when such a call gives something instead."""
    call = f"`{evidence.exercise.name}({', '.join(map(str, case.arguments))})`"
    if "exception" in got.odd:
        says = f"{call} returns an error as if it were a value: `{in_text(got)}`. Nothing stops."
        return Finding("returned-error", says, look="`return` and `raise`.")
    says = f"{call} should raise a `ValueError`, and yours gives `{in_text(got)}`."
    return Finding("not-refused", says, look="the case in which no equal parts are possible.")


def in_text(got: Outcome) -> str:
    """What a call gave, as it reads in a sentence."""
    if got.shown:
        return got.shown.replace("`", "'")
    leaf = got.leaves[0] if got.leaves else None
    if leaf is not None and len(got.leaves) == 1:
        return str(leaf.item()) if leaf.numel() == 1 else f"a tensor of shape {tuple(leaf.shape)}"
    return f"{len(got.leaves)} things"


def _missing(case: Case, got: Outcome) -> list[str]:
    """The arguments that the error's message doesn't name; 1,600 and 1_600 name 1600."""
    try:
        text = re.sub(r"(?<=\d)[,_](?=\d{3}(?!\d))", "", str(got.error))
    except Exception:
        text = ""  # an error whose own text is broken
    return [str(a) for a in case.arguments if not re.search(rf"(?<![\d.]){a}(?!\d|\.\d)", text)]
