"""Judging one answer: call it on every case, and decide whether it passes, or what it did wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from mha_course.exercises.combining import several_known_mistakes
from mha_course.exercises.describing import describe
from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.exercise import Case, Exercise
from mha_course.exercises.gradients import way_back
from mha_course.exercises.handing_in import (
    calls_twin,
    is_stub,
    names_in_another_order,
    not_a_function,
    read_from_outside,
)
from mha_course.exercises.in_the_code import remark_on_code, remark_on_mask, remark_on_refusing
from mha_course.exercises.outcome import Outcome, agree, run
from mha_course.exercises.recognising import Calls, known_mistake
from mha_course.exercises.refusing import refused_well
from mha_course.exercises.registry import EXERCISES
from mha_course.exercises.side_effects import changed_input, not_repeatable, wrong_container
from mha_course.exercises.structure import arrangement
from mha_course.exercises.verdict import Verdict
from mha_course.exercises.world import world_saved_once

_RAISED_SO_FAR = "So far the function raises `NotImplementedError`. Write it, then run both cells."
_NOTHING_YET = "So far the function returns `...` or nothing. Write it, then run both cells."
_DTYPE_ADVICE = "Tensors that you make need `dtype=x.dtype`."
_DOTS_LEFT = "A `...` is still in there. Replace it, then run both cells."


@functools.cache
def prepared(name: str, seed: int = 0) -> tuple[tuple[Case, ...], tuple[Outcome, ...]]:
    """The cases of an exercise with the reference's outcomes; computed once."""
    exercise = EXERCISES[name]
    cases = tuple(exercise.cases(seed))
    return cases, tuple(outcome(exercise, exercise.reference, case) for case in cases)


@functools.cache
def mistaken(name: str, seed: int = 0) -> tuple[tuple[Calls, ...], ...]:
    """For each known mistake, for each way to make it: its outcomes, each computed when asked for."""
    exercise = EXERCISES[name]
    cases, _ = prepared(name, seed)
    return tuple(
        tuple(Calls(way, cases, exercise.results) for way in exercise.ways(mistake))
        for mistake in exercise.mistakes
    )


def outcome(exercise: Exercise, fn: Callable[..., Any], case: Case, quiet: bool = True) -> Outcome:
    """One call of a function for the exercise. quiet: what it prints is not shown."""
    __tracebackhide__ = True
    return run(fn, case.fresh(), exercise.results, quiet)


def judge(exercise: Exercise, fn: Any) -> Verdict:
    """The verdict on a student's function; KeyboardInterrupt gets through, and nothing else of theirs."""
    __tracebackhide__ = True
    threads = torch.get_num_threads()
    # The cases are tiny: on a busy machine, waiting for a second thread costs more than all the sums.
    torch.set_num_threads(1)
    try:
        return _judge(exercise, fn)
    finally:
        torch.set_num_threads(threads)


def _judge(exercise: Exercise, fn: Any) -> Verdict:
    __tracebackhide__ = True
    cases, expected = prepared(exercise.name)
    refusal = not_a_function(exercise, fn, cases[0].arguments)
    if refusal:
        return _no(exercise, refusal)
    got = _called(exercise, fn, cases)
    raised = isinstance(got[0].error, NotImplementedError)
    # A case that is left out makes no stub of an answer that gives results elsewhere.
    if is_stub(fn, got[0]) and not (raised and any(out.error is None for out in got)):
        return _no(exercise, Finding("not-attempted", _RAISED_SO_FAR if raised else _NOTHING_YET))
    # After the first case a NotImplementedError is an error like others: a case left out, or a refusal.
    if any(is_stub(fn, out) for out in got if not isinstance(out.error, NotImplementedError)):
        return _no(exercise, Finding("not-attempted", _DOTS_LEFT))
    twin = calls_twin(exercise, fn, cases[0])
    if twin:
        says = f"Your function calls the course's own `{twin}`. The exercise is to write that yourself."
        return _no(exercise, Finding("course-function", says))
    evidence = _evidence(exercise, got)
    again = functools.partial(run, fn, cases[0].fresh(), exercise.results, quiet=True, seed=8_191)
    if evidence.passes():
        finding, *remarks = _how(evidence, fn, again)
        return _no(exercise, finding) if finding else _yes(evidence, *remarks)
    # Nothing can be said about one of several results before it is clear which is which.
    finding = arrangement(evidence)
    if finding:
        return _no(exercise, finding)
    known = mistaken(exercise.name)
    with world_saved_once():
        finding = known_mistake(evidence, known) or several_known_mistakes(evidence, known)
    if finding:
        in_code = remark_on_refusing(evidence, fn) or remark_on_mask(fn, finding)
        return _no(exercise, finding, _aside(evidence, finding), in_code)
    call = functools.partial(run, fn, results=exercise.results, quiet=True)
    finding = not_repeatable(got[0], again) or _read(evidence, call) or describe(evidence, call)
    remarks = (names_in_another_order(exercise, fn), read_from_outside(fn))
    return _no(exercise, finding, _aside(evidence, finding), *remarks, remark_on_code(evidence, fn, finding))


def _read(evidence: Evidence, call: Callable[..., Outcome]) -> Finding | None:
    """What the exercise's own reader makes of an unknown answer, or None."""
    if evidence.exercise.reads is None:
        return None
    # Its results can be stranger than a reader foresees; what `describe` says is true of all of them.
    with contextlib.suppress(RuntimeError, ValueError, TypeError, IndexError, OverflowError):
        return evidence.exercise.reads(evidence, call)
    return None


def _called(exercise: Exercise, fn: Callable[..., Any], cases: Sequence[Case]) -> list[Outcome]:
    """One call a case. What the student prints is shown for the first one, not for each of the others."""
    __tracebackhide__ = True
    got = []
    for case in cases:
        got.append(outcome(exercise, fn, case, quiet=bool(got)))
    return got


def passes(exercise: Exercise, fn: Callable[..., Any]) -> bool:
    """Whether an answer passes, without a word on why not: what `judge` decides first, and fast."""
    cases, expected = prepared(exercise.name)
    got = []
    for case, want in zip(cases, expected, strict=True):
        got.append(outcome(exercise, fn, case))
        needed = exercise.counts(case) and case.label not in exercise.one_of
        if needed and not is_right(case, want, got[-1]):
            return False  # whatever the other cases give
    evidence = _evidence(exercise, got)
    again = functools.partial(run, fn, cases[0].fresh(), exercise.results, quiet=True, seed=8_191)
    return evidence.passes() and _how(evidence, fn, again)[0] is None


def _evidence(exercise: Exercise, got: list[Outcome]) -> Evidence:
    cases, expected = prepared(exercise.name)
    right = [is_right(case, want, have) for case, want, have in zip(cases, expected, got, strict=True)]
    evidence = Evidence(exercise, cases, expected, got, right, [exercise.counts(case) for case in cases])
    if not evidence.passes():
        return evidence
    silent = [
        not ok and case.loud and _silent(case, want, have)
        for case, want, have, ok in zip(cases, expected, got, right, strict=True)
    ]
    counts = [a or b for a, b in zip(evidence.counts, silent, strict=True)]
    return dataclasses.replace(evidence, counts=counts)


def _silent(case: Case, expected: Outcome, got: Outcome) -> bool:
    """Whether a wrong result looks like a right one: no error, no NaN, the shape, and no narrower answer."""
    if got.error is not None or any(bool(leaf.isnan().any()) for leaf in got.leaves):
        return False
    if [leaf.shape for leaf in got.leaves] != [leaf.shape for leaf in expected.leaves]:
        return False
    return not any(agree(run(fn, case.fresh(), quiet=True), got) for fn in case.narrower)


def _spoilt(evidence: Evidence, again: Callable[[], Outcome]) -> Finding | None:
    """What keeps right numbers from passing: another container, a changed input, a result left to chance."""
    return wrong_container(evidence) or changed_input(evidence) or not_repeatable(evidence.got[0], again)


def _how(
    evidence: Evidence, fn: Callable[..., Any], again: Callable[[], Outcome]
) -> tuple[Finding | None, str, str]:
    """What keeps right numbers from passing, from the plainest on, or None; and two remarks."""
    finding = _spoilt(evidence, again)
    if finding:
        return finding, "", ""
    finding, remark = way_back(evidence, fn)
    if finding or evidence.exercise.inspects is None:
        return finding, remark, ""
    finding, besides = evidence.exercise.inspects(evidence, fn)
    return finding, remark, besides


def is_right(case: Case, expected: Outcome, got: Outcome) -> bool:
    """Whether one call gave what it should; a refusal is a ValueError that names the numbers."""
    if case.refuses:
        return refused_well(case, got)
    return agree(expected, got)


def _aside(evidence: Evidence, finding: Finding) -> str:
    """In a wrong answer a changed input or a list for a tensor is worth a remark only."""
    out = evidence.got[evidence.first_wrong()]
    kinds = {returned.kind for returned in evidence.exercise.returns}
    if kinds <= {"float", "bool"} and {"list", "numpy"} & set(out.odd) and finding.id != "a-list":
        return (
            f"Besides: the result is a {'list' if 'list' in out.odd else 'NumPy array'}; a tensor is wanted."
        )
    changed = changed_input(evidence)
    return f"Besides: {changed.says}" if changed else ""


def _no(exercise: Exercise, finding: Finding, *remarks: str) -> Verdict:
    shown = tuple(remark for remark in remarks if remark)
    return Verdict(exercise.name, False, finding.id, finding.says, finding.witness, finding.look, shown)


def _yes(evidence: Evidence, *besides: str) -> Verdict:
    remarks = [
        _remark(case, want, have, ok)
        for case, want, have, ok in zip(
            evidence.cases, evidence.expected, evidence.got, evidence.right, strict=True
        )
    ]
    shown = tuple(dict.fromkeys(said for said in (*remarks, *besides) if said))
    wrong = evidence.labels(right=False)
    when = in_a_row([label for label in evidence.labels(right=True) if label not in wrong])
    rest = ", and refuses the rest" if any(case.refuses for case in evidence.cases) else ""
    says = f"It does what it should {when}{rest}."
    return Verdict(evidence.exercise.name, True, None, says, remarks=shown)


def _remark(case: Case, expected: Outcome, got: Outcome, ok: bool) -> str:
    """What is worth knowing about a call on which no pass depends."""
    if not ok:
        code = got.error_text.replace("`", "'")
        overflows = got.error is None and any(bool(leaf.isnan().any()) for leaf in got.leaves)
        what = (
            f"it stops with `{code}`"
            if got.error
            else "it gives NaN"
            if overflows
            else "it gives something else"
        )
        return f"One remark: {case.label} {what}. {_advice(case, got, overflows)}"
    narrower = [
        have.dtype
        for want, have in zip(expected.leaves, got.leaves, strict=True)
        if want.is_floating_point()
        and want.dtype != have.dtype
        and not _python_number(have)
        and "number" not in expected.odd
    ]
    if narrower:
        return f"One remark: {case.label} the result is `{narrower[0]}`. {_DTYPE_ADVICE}"
    return ""


def _python_number(leaf: torch.Tensor) -> bool:
    """Whether one number came with all the digits a Python float has; nobody made a tensor for it."""
    return leaf.ndim == 0 and leaf.dtype == torch.float64


def _advice(case: Case, got: Outcome, overflows: bool) -> str:
    if overflows:
        return "`exp` of a large number is too large for a float; lesson 01 takes the largest off first."
    if "float64" in case.label:
        coarse = got.error is not None or any(leaf.dtype != torch.float64 for leaf in got.leaves)
        return _DTYPE_ADVICE if coarse else "There more digits are looked at: a number in it is rounded."
    if "mask `(b, h, " in case.label:
        return "That would be a mask for each head. Here one for all heads is asked for."
    if "mask `(b, " in case.label:
        return "Such a mask has an axis for each one of the scores, so a complete layer takes it as it is."
    if "large scores" in case.label:
        return "Hidden keys need a score that no other comes near, however large scores get."
    if case.loud or "axis" in case.label or "batch" in case.label:
        return "The three dots in a shape stand for any axes in front; those counted from the end serve all."
    return "That is not asked for here."
