"""Shares that are 0 everywhere: nothing ever counted, which says more than that numbers are 0."""

from __future__ import annotations

from collections.abc import Callable

from mha_course.exercises.evidence import Finding
from mha_course.exercises.exercise import Case, Returned
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.witness import witness


def never(returned: Returned, says: str, look: str) -> Callable[[Case, Outcome, Outcome], Finding | None]:
    """What an exercise says of a result in which every number is 0, in the right shape."""

    def special(case: Case, expected: Outcome, got: Outcome) -> Finding | None:
        if len(got.leaves) != 1 or got.leaves[0].shape != expected.leaves[0].shape:
            return None
        if bool(got.leaves[0].any()) or not bool(expected.leaves[0].any()):
            return None
        seen = witness(case, returned, expected.leaves[0], got.leaves[0], False)
        return Finding("never", says, seen, look)

    return special
