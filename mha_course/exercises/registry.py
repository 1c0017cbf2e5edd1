"""All exercises by name, in the order of the lessons: every module in lessons/ brings its own."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from mha_course.exercises import lessons
from mha_course.exercises.exercise import Exercise


def _of_all_lessons() -> list[Exercise]:
    names = sorted(module.name for module in pkgutil.iter_modules(lessons.__path__))
    modules = [importlib.import_module(f"{lessons.__name__}.{name}") for name in names]
    return [exercise for module in modules for exercise in module.EXERCISES]


EXERCISES: dict[str, Exercise] = {exercise.name: exercise for exercise in _of_all_lessons()}
_OTHER_NAMES = {name: exercise.name for exercise in EXERCISES.values() for name in exercise.also}


def find(name: Any) -> Exercise | None:
    """The exercise of that name (or of another name for it), or None."""
    if not isinstance(name, str):
        return None
    return EXERCISES.get(_OTHER_NAMES.get(name, name))
