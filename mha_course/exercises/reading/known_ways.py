"""Known mistakes about one step as ways of a recipe, so that each is tried beside others."""

from __future__ import annotations

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise
from mha_course.exercises.reading.recipes import Way


def ways_of(mistakes: tuple[Mistake, ...], slot: str) -> tuple[Way, ...]:
    """The ways to do the step `slot` that mistakes about that step alone hold."""
    known = [(m, m.wrong.steps) for m in mistakes if isinstance(m.wrong, Otherwise)]
    return tuple(Way(m.says, steps[slot], m.look) for m, steps in known if set(steps) == {slot})
