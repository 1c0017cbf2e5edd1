"""Recognising a known mistake by what it computes, and what to say of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.exercise import Case, Mistake
from mha_course.exercises.outcome import Outcome, agree, close, run
from mha_course.exercises.refusing import in_text
from mha_course.exercises.witness import witness


class Calls(Sequence[Outcome]):
    """What a function gives in each case; a case is called when it is first asked for."""

    def __init__(self, fn: Callable[..., Any], cases: Sequence[Case], results: int) -> None:
        self._fn, self._cases, self._results = fn, cases, results
        self._outcomes: dict[int, Outcome] = {}
        self._idle: dict[int, tuple[Outcome, bool]] = {}

    def __len__(self) -> int:
        return len(self._cases)

    def __getitem__(self, i: int) -> Outcome:
        if i not in self._outcomes:
            self._outcomes[i] = run(self._fn, self._cases[i].fresh(), self._results, quiet=True)
        return self._outcomes[i]

    def idle(self, i: int, expected: Outcome) -> bool:
        """Whether case i comes out as it should. What is expected there hardly ever changes."""
        if i not in self._idle or self._idle[i][0] is not expected:
            self._idle[i] = (expected, agree(self[i], expected))
        return self._idle[i][1]


def known_mistake(evidence: Evidence, outcomes: Sequence[Sequence[Calls]]) -> Finding | None:
    """The mistake that gives what the answer gives, in every case that counts; None when there is none.

    outcomes: for each mistake of the exercise, for each way to make it, what it gives in each case.
    """
    # In a special case one and the same mistake can look different: hidden by -inf or by -1e9, say.
    for special in (True, False) if any(case.edge for case in evidence.cases) else (True,):
        for mistake, ways in zip(evidence.exercise.mistakes, outcomes, strict=True):
            if any(matches(evidence, given, special) for given in ways):
                return findings_of(evidence, mistake)
    whole = _as_whole_numbers(evidence)
    found = known_mistake(whole, outcomes) if whole else None
    if found is None:
        return None
    # A count is told by its number, however it was divided; that it is no whole number comes second.
    says = f"{found.says} And it is a float; a whole number is wanted."
    return Finding(f"{found.id}+float", says, seen(evidence), found.look)


def _as_whole_numbers(evidence: Evidence) -> Evidence | None:
    """The same evidence, where floats hold whole numbers that should be `int`; None elsewhere."""
    numbers = all(returned.kind == "number" for returned in evidence.exercise.returns)
    # Where some sizes are to be refused, a float tells of the division itself; the exercise has words for it.
    if not numbers or any(case.refuses for case in evidence.cases):
        return None
    floats = [out for out in evidence.got if any(leaf.is_floating_point() for leaf in out.leaves)]
    if not floats or not all(_nearly_whole(leaf) for out in floats for leaf in out.leaves):
        return None
    got = [_whole(out) for out in evidence.got]
    right = [
        ok or agree(want, out) for ok, want, out in zip(evidence.right, evidence.expected, got, strict=True)
    ]
    whole = dataclasses.replace(evidence, got=got, right=right)
    return None if whole.passes() else whole


def _nearly_whole(leaf: Tensor) -> bool:
    if not leaf.is_floating_point():
        return True
    return bool(leaf.isfinite().all() and torch.isclose(leaf, leaf.round(), rtol=1e-7, atol=1e-6).all())


def _whole(out: Outcome) -> Outcome:
    leaves = tuple(leaf.round().long() if leaf.is_floating_point() else leaf for leaf in out.leaves)
    return dataclasses.replace(out, leaves=leaves)


def matches(evidence: Evidence, given: Calls, special: bool = False) -> bool:
    """Whether an answer gives the same in every case that counts, and something wrong in one of them.

    special: in special cases, too; else only where the answer is wrong in nothing but such a case.
    """
    differs, first = False, evidence.first_wrong()
    # Where the answer is wrong most mistakes can be told from it, without calling them elsewhere.
    for i in evidence.order:
        case = evidence.cases[i]
        got = evidence.got[i]
        # Of several groups one is enough: an answer may stop in the others.
        optional = case.label in evidence.exercise.one_of and got.error is not None
        if case.edge and not special and i != first:
            continue
        if not evidence.counts[i] or (optional and given[i].error is None):
            continue
        # Elsewhere than in the case looked at, all errors are alike: each style words them in its own way.
        stops = (case.refuses or i != first) and got.error is not None and given[i].error is not None
        if not stops and not agree(given[i], got):
            return False
        differs = differs or not evidence.right[i]
    return differs


def findings_of(evidence: Evidence, *mistakes: Mistake) -> Finding:
    """What to say of one or several known mistakes."""
    case = evidence.cases[evidence.first_wrong()]
    says = " And: ".join(_filled(m.says, case.sizes) for m in mistakes)
    if len(mistakes) == 1 and mistakes[0].alone:
        says = f"{_filled(mistakes[0].alone, case.sizes)} {says}"
    look = " And: ".join(_filled(m.look, case.sizes) for m in mistakes)
    return Finding("+".join(m.id for m in mistakes), says, seen(evidence), look)


def seen(evidence: Evidence) -> str:
    """One thing that shows the difference: an entry, a shape, or the error."""
    i = evidence.first_wrong()
    exercise, case = evidence.exercise, evidence.cases[i]
    expected, got = evidence.expected[i], evidence.got[i]
    if got.error is not None:
        error, line = got.error_text.replace("`", "'"), got.line.replace("`", "'")
        return f"It stops with `{error}`" + (f", in your {line}" if line else "")
    if case.refuses:
        return f"`{exercise.name}({', '.join(map(str, case.arguments))})` gives `{in_text(got)}`."
    if len(expected.leaves) != len(got.leaves):
        return f"{len(expected.leaves)} things are wanted; yours: {len(got.leaves)}."
    for returned, want, have in zip(exercise.returns, expected.leaves, got.leaves, strict=True):
        if want.shape != have.shape and "nothing" not in got.odd:
            when = f"{case.label[:1].upper()}{case.label[1:]}"
            return f"{when} the shape should be `{tuple(want.shape)}`; yours is `{tuple(have.shape)}`."
        if want.shape == have.shape and not close(want, have):
            return witness(case, returned, want, have, len(exercise.returns) > 1)
        if want.dtype != have.dtype:
            if returned.kind == "number":
                return f"`{exercise.name}({', '.join(map(str, case.arguments))})` gives `{in_text(got)}`."
            return f"The dtype should be `{want.dtype}`; yours is `{have.dtype}`."
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
