"""check: run an answer on the drawn inputs, and say what is wrong by what it computes."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from mha_course import progress
from mha_course.exercises.describing import Evidence, Finding, describe
from mha_course.exercises.exercise import Case, Exercise, Mistake
from mha_course.exercises.handing_in import calls_twin, is_stub, own_function, read_from_outside
from mha_course.exercises.outcome import Outcome, agree, close, run
from mha_course.exercises.registry import EXERCISES, find
from mha_course.exercises.verdict import Verdict
from mha_course.exercises.witness import witness

_MISSING = object()
_NOT_ATTEMPTED = (
    "Nothing to check so far: the function still returns `...`. Replace it and run both cells again."
)


def check(name: str, fn: Any = _MISSING) -> Verdict:
    """Judge the student's function for the exercise `name`, and say what happened.

    Whatever the function does (errors, wrong types, endless recursion, exit) becomes a verdict; only
    KeyboardInterrupt gets through, so that an endless loop can be stopped. A pass is noted in my_course/.
    """
    if callable(name) and isinstance(fn, str):
        name, fn = fn, name
    exercise = find(name)
    if exercise is None:
        return Verdict("", False, "unknown-exercise", unknown_name(name))
    try:
        verdict = _judge(exercise, fn)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        says = f"The check itself could not go on ({type(error).__name__}). Your answer was not judged."
        return Verdict(exercise.name, False, "not-judged", says)
    return _noted(exercise, verdict)


def unknown_name(name: Any) -> str:
    """A sentence for a name that no exercise has, with the nearest ones."""
    if not isinstance(name, str):
        return 'The name of the exercise comes first, in quotes: `check("split_heads", split_heads)`.'
    near = difflib.get_close_matches(name.lower(), list(EXERCISES), n=3, cutoff=0.5)
    near = near or [known for known in EXERCISES if name.lower() and name.lower() in known][:3]
    tail = f"The nearest: {', '.join(f'`{n}`' for n in near)}." if near else "`catalogue()` lists them all."
    return f"There is no exercise called `{name.replace('`', '')[:60]}`. {tail}"


@functools.cache
def prepared(name: str, seed: int = 0) -> tuple[tuple[Case, ...], tuple[Outcome, ...]]:
    """The cases of an exercise with the reference's outcomes; computed once."""
    exercise = EXERCISES[name]
    cases = tuple(exercise.cases(seed))
    return cases, tuple(outcome(exercise, exercise.reference, case) for case in cases)


@functools.cache
def mistaken(name: str, seed: int = 0) -> tuple[tuple[Outcome, ...], ...]:
    """What each known mistake of an exercise gives in each of its cases; computed once."""
    exercise = EXERCISES[name]
    cases, _ = prepared(name, seed)
    return tuple(tuple(outcome(exercise, m.wrong, case) for case in cases) for m in exercise.mistakes)


def outcome(exercise: Exercise, fn: Callable[..., Any], case: Case, quiet: bool = True) -> Outcome:
    """One call of a function for the exercise."""
    results = 0 if exercise.returns[0].kind == "numbers" else len(exercise.returns)
    return run(fn, case.fresh(), results, quiet)


def _judge(exercise: Exercise, fn: Any) -> Verdict:
    def no(finding: Finding, *remarks: str) -> Verdict:
        shown = tuple(remark for remark in remarks if remark)
        return Verdict(exercise.name, False, finding.id, finding.says, finding.witness, finding.look, shown)

    refusal = _not_a_function(exercise, fn)
    if refusal:
        return no(refusal)
    cases, expected = prepared(exercise.name)
    first = outcome(exercise, fn, cases[0], quiet=False)
    if is_stub(fn, first):
        return no(Finding("not-attempted", _NOT_ATTEMPTED))
    got = [first, *(outcome(exercise, fn, case) for case in cases[1:])]
    if any("ellipsis" in out.odd or is_stub(fn, out) for out in got):
        return no(Finding("not-attempted", "A `...` is still in there. Replace it and run both cells again."))
    twin = calls_twin(exercise, fn, cases[0])
    if twin:
        says = (
            f"Your function calls the course's own `{twin}`. Write it without; it is shorter than it looks."
        )
        return no(Finding("course-function", says))
    right = [_right(case, want, have) for case, want, have in zip(cases, expected, got, strict=True)]
    counts = [_counts(exercise, case) for case in cases]
    if _passes(exercise, cases, right):
        complaint = _side_effects(exercise, fn, cases, expected, got)
        if complaint:
            return no(complaint)
        return Verdict(exercise.name, True, None, "", remarks=_remarks(cases, expected, got, right))
    evidence = Evidence(exercise, cases, expected, got, right, counts)
    remarks = [] if any(out.error for out in got) else _changed_remark(exercise, got)
    finding = _known(evidence) or _in_pairs(evidence)
    if finding is None:
        finding = _repeatable(exercise, fn, cases[0], first) or describe(evidence)
        remarks.append(read_from_outside(fn))
    return no(finding, *remarks)


def _not_a_function(exercise: Exercise, fn: Any) -> Finding | None:
    call = f'`check("{exercise.name}", {exercise.name})`'
    if fn is _MISSING:
        return Finding("no-function", f"Hand your function over as well: {call}.")
    own = own_function(fn)
    if own:
        says = f"This is the course's own function (`{own}`). It works; the exercise is to write yours."
        return Finding(
            "course-function", says, look="the name that you hand over: it should be one that you defined."
        )
    if not callable(fn):
        kind = "nothing (`None`)" if fn is None else "`...`" if fn is ... else f"a `{type(fn).__name__}`"
        return Finding(
            "not-a-function",
            f"You handed over {kind}. Hand over the function itself, without calling it: {call}.",
        )
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return None
    arguments = prepared(exercise.name)[0][0].arguments
    try:
        signature.bind(*arguments)
    except TypeError:
        takes = ", ".join(str(p) for p in signature.parameters.values())
        yours = f"takes `({takes})`" if takes else "takes no arguments"
        return Finding(
            "wrong-arguments",
            f"It is called as `{exercise.signature.split(' ->')[0]}`; yours {yours}.",
            look="the `def` line.",
        )
    return None


def _right(case: Case, expected: Outcome, got: Outcome) -> bool:
    if case.refuses:
        return isinstance(got.error, (ValueError, AssertionError))
    return agree(expected, got)


def _counts(exercise: Exercise, case: Case) -> bool:
    return case.required or case.label in exercise.one_of


def _passes(exercise: Exercise, cases: Sequence[Case], right: Sequence[bool]) -> bool:
    must = all(
        ok
        for case, ok in zip(cases, right, strict=True)
        if case.required and case.label not in exercise.one_of
    )
    return must and (not exercise.one_of or any(_group(cases, right, label) for label in exercise.one_of))


def _group(cases: Sequence[Case], right: Sequence[bool], label: str) -> bool:
    return all(ok for case, ok in zip(cases, right, strict=True) if case.label == label)


def _known(evidence: Evidence) -> Finding | None:
    exercise = evidence.exercise
    for mistake, outcomes in zip(exercise.mistakes, mistaken(exercise.name), strict=True):
        if matches(evidence, outcomes):
            return _said(evidence, (mistake,), outcomes)
    return None


def _in_pairs(evidence: Evidence) -> Finding | None:
    """Two known mistakes at once, where both are settings of one and the same function."""
    exercise, cases = evidence.exercise, evidence.cases
    settings = [m for m in exercise.mistakes if isinstance(m.wrong, functools.partial)]
    for one, other in combinations(settings, 2):
        if one.wrong.func is not other.wrong.func or set(one.wrong.keywords) & set(other.wrong.keywords):
            continue
        both = functools.partial(one.wrong.func, **one.wrong.keywords, **other.wrong.keywords)
        i = evidence.first_wrong()
        if not agree(outcome(exercise, both, cases[i]), evidence.got[i]):
            continue
        outcomes = tuple(outcome(exercise, both, case) for case in cases)
        if matches(evidence, outcomes):
            return _said(evidence, (one, other), outcomes)
    return None


def matches(evidence: Evidence, outcomes: Sequence[Outcome]) -> bool:
    """Whether an answer gives what a mistake gives, in every case that counts and differs from right "
    "there."""
    differs = False
    for i, case in enumerate(evidence.cases):
        optional = case.label in evidence.exercise.one_of
        if not evidence.counts[i] or (
            optional and evidence.got[i].error is not None and outcomes[i].error is None
        ):
            continue
        if case.refuses and evidence.right[i] and _right(case, evidence.expected[i], outcomes[i]):
            continue
        if not agree(outcomes[i], evidence.got[i]):
            return False
        differs = differs or not evidence.right[i]
    return differs


def _said(evidence: Evidence, mistakes: Sequence[Mistake], outcomes: Sequence[Outcome]) -> Finding:
    i = evidence.first_wrong()
    case, expected, got = evidence.cases[i], evidence.expected[i], evidence.got[i]
    fill = {"n_q": "n", "n_k": "n", **case.sizes}
    says = " And: ".join(_filled(m.says, fill) for m in mistakes)
    look = " And: ".join(_filled(m.look, fill) for m in mistakes)
    seen = _seen(evidence.exercise, case, expected, got)
    return Finding("+".join(m.id for m in mistakes), says, seen, look)


def _seen(exercise: Exercise, case: Case, expected: Outcome, got: Outcome) -> str:
    if got.error is not None:
        line = got.line.replace("`", "'")
        return f"It stops with `{got.error_text.replace('`', chr(39))}`" + (
            f"\nIn your {line}" if line else ""
        )
    if case.refuses:
        return f"`{exercise.name}({', '.join(map(str, case.arguments))})` gives `{_short(got)}`."
    if len(expected.leaves) != len(got.leaves):
        return ""
    for returned, want, have in zip(exercise.returns, expected.leaves, got.leaves, strict=True):
        if want.shape != have.shape:
            return f"The shape should be `{tuple(want.shape)}`; yours is `{tuple(have.shape)}`."
        if not close(want, have):
            return witness(case, returned, want, have, len(exercise.returns) > 1)
    return ""


def _short(got: Outcome) -> str:
    leaf = got.leaves[0] if got.leaves else torch.empty(0)
    return str(leaf.item()) if leaf.numel() == 1 else str(tuple(leaf.shape))


def _filled(text: str, sizes: dict[str, Any]) -> str:
    for name, size in sizes.items():
        text = text.replace("{" + name + "}", str(size))
    return text


def _side_effects(
    exercise: Exercise, fn: Any, cases: Sequence[Case], expected: Sequence[Outcome], got: Sequence[Outcome]
) -> Finding | None:
    """What is wrong with an answer whose numbers are right."""
    for out in got:
        for returned, word in zip(exercise.returns, out.odd, strict=False):
            if word == "numpy" and returned.kind in ("float", "bool"):
                return Finding(
                    "numpy-array",
                    "The numbers are right. It is a NumPy array; a tensor is wanted.",
                    look="`torch.from_numpy`.",
                )
            if word == "list" and returned.kind in ("float", "bool"):
                return Finding(
                    "a-list",
                    "The numbers are right. It is a list; a tensor is wanted.",
                    look="`torch.stack`, `torch.cat` or `torch.tensor`.",
                )
    for case, want, have in zip(cases, expected, got, strict=True):
        for a, b in zip(want.leaves, have.leaves, strict=True) if case.required and not case.refuses else ():
            if a.is_floating_point() and a.dtype != b.dtype:
                says = f"The numbers are right. The dtype is `{b.dtype}`; the inputs are `{a.dtype}`."
                return Finding("wrong-dtype", says, look="conversions, and NumPy's float64 numbers.")
    remark = _changed_remark(exercise, got)
    if remark:
        says = f"The result is right. {remark[0]} Whoever called it loses the original."
        return Finding(
            "changed-input", says, look="methods that end in `_`, `+=`, and assignments into an argument."
        )
    return _repeatable(exercise, fn, cases[0], got[0])


def _repeatable(exercise: Exercise, fn: Any, case: Case, first: Outcome) -> Finding | None:
    if agree(outcome(exercise, fn, case), first):
        return None
    says = "Two calls with the same arguments give different results."
    return Finding(
        "not-repeatable", says, look="random numbers, dropout, and names outside the function that change."
    )


def _changed_remark(exercise: Exercise, got: Sequence[Outcome]) -> list[str]:
    names = list(inspect.signature(exercise.reference).parameters)
    changed = next((out.changed for out in got if out.changed is not None), None)
    return [] if changed is None else [f"The function changes its argument `{names[changed]}`."]


def _remarks(
    cases: Sequence[Case], expected: Sequence[Outcome], got: Sequence[Outcome], right: Sequence[bool]
) -> tuple[str, ...]:
    remarks: list[str] = []
    for case, want, have, ok in zip(cases, expected, got, right, strict=True):
        if not ok:
            what = (
                f"it stops with `{have.error_text.replace('`', chr(39))}`"
                if have.error
                else "it gives something else"
            )
            remarks.append(f"One remark: {case.label} {what}. That is not asked for here.")
        elif not case.refuses and any(
            a.dtype != b.dtype for a, b in _pairs(want, have) if a.is_floating_point()
        ):
            remarks.append(
                f"One remark: {case.label} the result is `{have.leaves[0].dtype}`; `dtype=x.dtype` "
                f"keeps the input's."
            )
    return tuple(dict.fromkeys(remarks))


def _pairs(want: Outcome, have: Outcome) -> list[tuple[Tensor, Tensor]]:
    return list(zip(want.leaves, have.leaves, strict=False))


def _noted(exercise: Exercise, verdict: Verdict) -> Verdict:
    if verdict.diagnosis in ("not-attempted", "no-function", "not-a-function", "course-function"):
        return verdict
    sentence = progress.mark_attempted(exercise.name)
    if verdict.passed:
        sentence = progress.mark_solved(exercise.name) or sentence
    if not sentence:
        return verdict
    return Verdict(
        verdict.exercise,
        verdict.passed,
        verdict.diagnosis,
        verdict.says,
        verdict.witness,
        verdict.look,
        (*verdict.remarks, sentence),
    )
