"""All exercises by name, in the order of the lessons."""

from __future__ import annotations

from typing import Any

from mha_course.exercises import (
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04_heads,
    lesson_04_masks,
    lesson_05,
    lesson_06,
    lesson_07,
)
from mha_course.exercises.exercise import Exercise

_LESSONS = (
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04_heads,
    lesson_04_masks,
    lesson_05,
    lesson_06,
    lesson_07,
)

EXERCISES: dict[str, Exercise] = {e.name: e for lesson in _LESSONS for e in lesson.EXERCISES}
_OTHER_NAMES = {name: e.name for e in EXERCISES.values() for name in e.also}


def find(name: Any) -> Exercise | None:
    """The exercise of that name (or of another name for it), or None."""
    if not isinstance(name, str):
        return None
    return EXERCISES.get(_OTHER_NAMES.get(name, name))
