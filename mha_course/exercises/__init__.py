"""The exercises: `check` an answer, ask for a `hint`, see a `solution`, list them all in the `catalogue`."""

from mha_course.exercises.checking import check
from mha_course.exercises.showing import catalogue, hint, solution

__all__ = ["catalogue", "check", "hint", "solution"]
