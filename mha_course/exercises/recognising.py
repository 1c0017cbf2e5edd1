"""Recognising a known mistake by what it computes, alone or together with a second one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.exercise import Case, Exercise, Mistake
from mha_course.exercises.outcome import Outcome, agree, close
from mha_course.exercises.witness import witness

Outcomes = Sequence[Outcome]


def known_mistake(evidence: Evidence, outcomes: Sequence[Outcomes]) -> Finding | None:
    """The mistake that gives what the answer gives, in every case that counts; None when there is none.

    outcomes: what each mistake of the exercise gives in each case.
    """
    for mistake, given in zip(evidence.exercise.mistakes, outcomes, strict=True):
        if matches(evidence, given):
            return _said(evidence, mistake)
    return None


def two_known_mistakes(
    evidence: Evidence, call: Callable[[Callable[..., Any], Case], Outcome]
) -> Finding | None:
    """Two known mistakes at once, where both are settings of one and the same function; or None."""
    i = evidence.first_wrong()
    if evidence.got[i].error is not None:
        return None  # an error hides what was computed
    for one, other, both in pairs(evidence.exercise):
        if agree(call(both, evidence.cases[i]), evidence.got[i]):
            if matches(evidence, [call(both, case) for case in evidence.cases]):
                return _said(evidence, one, other)
    return None


def pairs(exercise: Exercise) -> list[tuple[Mistake, Mistake, Callable[..., Any]]]:
    """Every two mistakes that are settings of different steps of one function, with that function."""
    settings = [m for m in exercise.mistakes if isinstance(m.wrong, functools.partial)]
    return [
        (one, other, functools.partial(one.wrong.func, **one.wrong.keywords, **other.wrong.keywords))
        for one, other in combinations(settings, 2)
        if one.wrong.func is other.wrong.func and not set(one.wrong.keywords) & set(other.wrong.keywords)
    ]


def matches(evidence: Evidence, given: Outcomes) -> bool:
    """Whether an answer gives the same in every case that counts, and something wrong in one of them."""
    differs = False
    for i, case in enumerate(evidence.cases):
        got = evidence.got[i]
        # Of several groups one is enough: an answer may stop in the others.
        optional = case.label in evidence.exercise.one_of and got.error is not None
        if not evidence.counts[i] or (optional and given[i].error is None):
            continue
        refused = case.refuses and got.error is not None and given[i].error is not None
        if not refused and not agree(given[i], got):
            return False
        differs = differs or not evidence.right[i]
    return differs


def _said(evidence: Evidence, *mistakes: Mistake) -> Finding:
    case = evidence.cases[evidence.first_wrong()]
    says = " And: ".join(_filled(m.says, case.sizes) for m in mistakes)
    look = " And: ".join(_filled(m.look, case.sizes) for m in mistakes)
    return Finding("+".join(m.id for m in mistakes), says, _seen(evidence), look)


def _seen(evidence: Evidence) -> str:
    """One thing that shows the difference: an entry, a shape, or the error."""
    i = evidence.first_wrong()
    exercise, case = evidence.exercise, evidence.cases[i]
    expected, got = evidence.expected[i], evidence.got[i]
    if got.error is not None:
        error, line = got.error_text.replace("`", "'"), got.line.replace("`", "'")
        return f"It stops with `{error}`" + (f", in your {line}" if line else "")
    if case.refuses:
        given = got.leaves[0] if got.leaves and got.leaves[0].numel() == 1 else None
        shown = given.item() if given is not None else "something"
        return f"`{exercise.name}({', '.join(map(str, case.arguments))})` gives `{shown}`."
    for returned, want, have in zip(exercise.returns, expected.leaves, got.leaves, strict=False):
        if want.shape != have.shape and "nothing" not in got.odd:
            when = f"{case.label[:1].upper()}{case.label[1:]}"
            return f"{when} the shape should be `{tuple(want.shape)}`; yours is `{tuple(have.shape)}`."
        if want.shape == have.shape and not close(want, have):
            return witness(case, returned, want, have, len(exercise.returns) > 1)
    return ""


def _filled(text: str, sizes: dict[str, int]) -> str:
    known = {**sizes}
    if "n" in known:
        known |= {"n_q": known["n"], "n_k": known["n"]}
    if "h" in known and "d_model" in known:
        known.setdefault("d_k", known["d_model"] // known["h"])
    for name, size in known.items():
        text = text.replace("{" + name + "}", str(size))
    return text
