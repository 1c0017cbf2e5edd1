"""check: what a student calls. It hands the answer to the judge and notes what was solved."""

from __future__ import annotations

import dataclasses
import difflib
import sys
from typing import Any

from mha_course import progress, progress_clock
from mha_course.exercises.evidence import Finding
from mha_course.exercises.handing_in import MISSING
from mha_course.exercises.judging import judge
from mha_course.exercises.passed import passed
from mha_course.exercises.registry import EXERCISES, find
from mha_course.exercises.verdict import Verdict

# Nothing of the student's own was judged.
_NO_ATTEMPT = {"not-attempted", "no-function", "not-a-function", "course-function", "not-judged"}


def check(name: str, fn: Any = MISSING) -> Verdict:
    """Judge the student's function for the exercise `name`, and say what happened.

    Whatever the function does (errors, wrong types, endless recursion, exit) becomes a verdict; only
    KeyboardInterrupt gets through, so that an endless loop can be stopped. A pass is noted in my_course/, and
    told to whoever listens (passed.py).
    """
    __tracebackhide__ = True  # when a loop is interrupted, IPython shows the student's lines only
    if callable(name) and isinstance(fn, str):
        name, fn = fn, name  # the other way round is clear enough
    exercise = find(name)
    if exercise is None:
        return Verdict("", False, "unknown-exercise", unknown_name(name))
    try:
        verdict = judge(exercise, fn)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A result can be stranger than anything foreseen, and must not show the package's inside.
        strange = Finding("not-judged", f"This result could not be compared ({type(error).__name__}).")
        verdict = Verdict(exercise.name, False, strange.id, strange.says, look="what the function returns.")
    return _noted(_with_doubt(verdict))


def unknown_name(name: Any) -> str:
    """A sentence for a name that no exercise has, with the nearest ones."""
    if not isinstance(name, str):
        return 'The name of the exercise comes first, in quotes: `check("split_heads", split_heads)`.'
    wanted = name.lower().strip()
    near = difflib.get_close_matches(wanted, list(EXERCISES), n=3, cutoff=0.5)
    near = near or [known for known in EXERCISES if wanted and wanted in known][:3]
    tail = f"The nearest: {', '.join(f'`{n}`' for n in near)}." if near else "`catalogue()` lists them all."
    shown = " ".join(name.replace("`", "").split())[:60]
    return f"There is no exercise called `{shown or ' '}`. {tail}"


def _with_doubt(verdict: Verdict) -> Verdict:
    """A remark when the cell before stopped with an error: then an older version may have been judged."""
    if verdict.diagnosis in _NO_ATTEMPT or not _cell_before_failed():
        return verdict
    doubt = (
        "The cell that ran before this one stopped with an error. If it was the one with your function, an "
        "older version was checked."
    )
    return dataclasses.replace(verdict, remarks=(*verdict.remarks, doubt))


def _cell_before_failed() -> bool:
    """Whether the last cell that ended did so with an error; False outside of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "last_execution_succeeded", True) is False


def _noted(verdict: Verdict) -> Verdict:
    """Write the attempt down; say so when that is not possible."""
    if verdict.diagnosis in _NO_ATTEMPT:
        return verdict
    trouble = progress.mark_attempted(verdict.exercise)
    if verdict.passed:
        trouble = progress.mark_solved(verdict.exercise)
        trouble = progress_clock.note_pass(verdict.exercise) or trouble  # also where no clock is on the page
        passed(verdict.exercise)  # noted by now, so that whoever is told finds it among what is solved
    return dataclasses.replace(verdict, remarks=(*verdict.remarks, trouble)) if trouble else verdict
