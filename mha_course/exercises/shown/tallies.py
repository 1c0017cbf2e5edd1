"""How much of each lesson is done: what the lessons hold against what my_course/ remembers."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from mha_course import progress
from mha_course.exercises.registry import EXERCISES
from mha_course.exercises.shown.lesson_contents import LessonContents, lessons

PUZZLE = "parsons-"  # a solved puzzle is noted under this and its name


@dataclass(frozen=True)
class Tally:
    """Names of one kind, in the lesson's order: all of them, and those that are done."""

    names: tuple[str, ...]
    done: frozenset[str]

    @property
    def open(self) -> tuple[str, ...]:
        """What is left, in order."""
        return tuple(name for name in self.names if name not in self.done)

    @property
    def complete(self) -> bool:
        """Whether there is something, and nothing of it is left."""
        return bool(self.names) and not self.open

    def __str__(self) -> str:
        return f"{len(self.done)} of {len(self.names)}" if self.names else "–"


@dataclass(frozen=True)
class LessonTally:
    """One lesson with its exercises, predictions, quick questions and puzzles.

    tried: exercises to which an answer was handed in that wasn't right yet.
    """

    lesson: LessonContents
    exercises: Tally
    predictions: Tally
    questions: Tally
    puzzles: Tally
    tried: tuple[str, ...]

    @property
    def kinds(self) -> tuple[Tally, ...]:
        """The four tallies, in the order in which they are shown."""
        return (self.exercises, self.predictions, self.questions, self.puzzles)

    @property
    def done(self) -> int:
        """How many things are done."""
        return sum(len(kind.done) for kind in self.kinds)

    @property
    def of(self) -> int:
        """How many things there are."""
        return sum(len(kind.names) for kind in self.kinds)

    @property
    def begun(self) -> bool:
        """Whether anything was done or tried."""
        return bool(self.done or self.tried)


def tallies() -> list[LessonTally]:
    """One row for each lesson, in order."""
    solved, attempted = progress.solved(), progress.attempted()
    predicted = progress.predictions()
    right = {key for key, answer in progress.answers().items() if answer["right"]}
    puzzles = {name.removeprefix(PUZZLE) for name in solved if name.startswith(PUZZLE)}
    rows = []
    for lesson in lessons():
        here = tuple(e.name for e in EXERCISES.values() if e.lesson == lesson.number)
        rows.append(
            LessonTally(
                lesson,
                exercises=_tally(here, solved.keys()),
                predictions=_tally(lesson.predictions, predicted.keys()),
                questions=_tally(lesson.questions, right),
                puzzles=_tally(lesson.puzzles, puzzles),
                tried=tuple(name for name in here if name in attempted and name not in solved),
            )
        )
    return rows


def _tally(names: Iterable[str], done: Set[str]) -> Tally:
    names = tuple(names)
    return Tally(names, frozenset(names) & done)
