"""What the certificate says, in numbers: what my_course/ remembers against what the course holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import regex

import mha_course
from mha_course import progress, progress_bugs, progress_cards, progress_clock
from mha_course.bug_hunt.faults import suspects
from mha_course.exercises.shown.tallies import LessonTally, tallies
from mha_course.interview.card import all_cards
from mha_course.progress_clock import Run
from mha_course.text.readable import readable

CLOCK_LESSON = "16"
LONGEST_NAME = 80
# Letters and what belongs to them; no characters that would turn the text around them.
_TURNS = regex.compile(r"[\p{Cf}--\u200c\u200d\U000e0020-\U000e007f]", regex.V1)
_SEEN = regex.compile(r"[\p{L}\p{N}\p{P}\p{S}]")


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    done: int
    of: int

    def __str__(self) -> str:
        return f"{self.done} of {self.of}"

    @property
    def complete(self) -> bool:
        """Whether there is something, and nothing of it is left."""
        return 0 < self.of <= self.done


@dataclass(frozen=True)
class Record:
    """All that the certificate holds. name: "" when none was given; rows: one for each lesson, in order.

    clock: the best run against the clock, None without one; remarks: sentences on what could not be read.
    """

    name: str
    when: datetime
    rows: tuple[LessonTally, ...]
    cards: Share
    bugs: Share
    clock: Run | None
    remarks: tuple[str, ...]
    version: str

    @property
    def exercises(self) -> Share:
        """Exercises solved, of all lessons."""
        return _sum([row.exercises for row in self.rows])

    @property
    def questions(self) -> Share:
        """Quick questions answered right, of all lessons."""
        return _sum([row.questions for row in self.rows])

    @property
    def puzzles(self) -> Share:
        """Line puzzles solved, of all lessons."""
        return _sum([row.puzzles for row in self.rows])

    @property
    def empty(self) -> bool:
        """Whether there is nothing on it."""
        counts = (self.exercises, self.questions, self.puzzles, self.cards, self.bugs)
        return self.clock is None and not any(share.done for share in counts)

    @property
    def complete(self) -> bool:
        """Whether every exercise, question, puzzle, card and bug is done."""
        counts = (self.exercises, self.questions, self.puzzles, self.cards, self.bugs)
        return all(share.complete for share in counts if share.of)


def record(name: str = "") -> Record:
    """What is done up to now. name: as it should stand on the certificate; cut where it is very long."""
    known = progress_cards.known_cards()
    found = set(progress_bugs.found_bugs())
    return Record(
        name=clean_name(name),
        when=datetime.now().astimezone(),
        rows=tuple(tallies()),
        cards=_share(all_cards(), known),
        bugs=_share(suspects(), found),
        clock=next(iter(progress_clock.best(CLOCK_LESSON)), None),
        remarks=tuple(progress.unreadable()),
        version=mha_course.__version__,
    )


def clean_name(name: str) -> str:
    """The name on one line, without control characters; at most 80 letters as a reader counts them.

    "" where there is nothing to see.
    """
    text = " ".join(_TURNS.sub("", readable(name)).split())
    if not _SEEN.search(text):
        return ""
    letters = regex.findall(r"\X", text)
    return text if len(letters) <= LONGEST_NAME else "".join(letters[: LONGEST_NAME - 1]) + "…"


def _share(all_of_them: Sequence | dict, done: set) -> Share:
    every = set(all_of_them)
    return Share(len(every & done), len(every))


def _sum(kinds: list) -> Share:
    return Share(sum(len(kind.done) for kind in kinds), sum(len(kind.names) for kind in kinds))
