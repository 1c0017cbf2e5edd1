"""The certificate's sentences: the same in the picture, on the page and for a screen reader."""

from __future__ import annotations

from mha_course.certificate.record import Record
from mha_course.exercises.shown.tallies import LessonTally
from mha_course.progress_clock import Run, in_minutes

TITLE = "Multi-head attention, built step by step"
KIND = "A record of work"
KEY = "One square an exercise, one dot a question; filled when it is done."
CLOCK = "from scratch, timed"
WHAT_IT_IS = (
    "The course kept this record on the learner’s own machine. The exercises were judged by checks that ran "
    "there; which cards of the interview were known is the learner’s own word.",
    "It is no examination: nobody looked on, help was allowed, and the solutions ship with the course.",
)


def facts(record: Record) -> list[tuple[str, str]]:
    """The numbers in the order of the course: what is counted, and how much of it."""
    found = [
        ("exercises solved", str(record.exercises)),
        ("questions answered right", str(record.questions)),
        ("puzzles solved", str(record.puzzles)),
        ("interview cards known", str(record.cards)),
        ("bugs found", str(record.bugs)),
    ]
    return [*found, (CLOCK, clock(record.clock))]


def clock(run: Run | None) -> str:
    """The best run, as it stands among the numbers: "4 of 4 in 38:12"; "not taken" without one."""
    if run is None:
        return "not taken"
    return f"{len(run.passed)} of {len(run.stages)} in {in_minutes(run.seconds)}"


def clock_note(run: Run | None) -> str:
    """What belongs to the best run: the time that was set, and breaks; empty without a run."""
    if run is None:
        return ""
    within = "within" if run.in_time else "after"
    breaks = f", {run.breaks} break{'' if run.breaks == 1 else 's'}" if run.breaks else ""
    return f"{within} {run.minutes} minutes{breaks}"


def summary(record: Record) -> str:
    """The finding, in a sentence."""
    if record.empty:
        return "Nothing is solved yet: this certificate is empty."
    if record.complete:
        return "Every exercise, question, puzzle, card and bug of the course is done."
    if record.exercises.complete:
        return "Every exercise of the course is solved."
    begun = sum(bool(row.exercises.done) for row in record.rows)
    lessons = f"{begun} lesson{'' if begun == 1 else 's'}"
    return f"{record.exercises} exercises solved, in {lessons}."


def date(record: Record) -> str:
    """The day, in words."""
    return f"{record.when.day} {record.when:%B %Y}"


def alt(record: Record) -> str:
    """All of it in words, for whoever does not see the picture."""
    who = f" of {record.name}" if record.name else ""
    numbers = "; ".join(f"{what}: {much}" for what, much in facts(record))
    return f"{KIND}{who}: {TITLE}, {date(record)}. {summary(record)} {numbers}. {squares_alt(record)}"


def squares_alt(record: Record) -> str:
    """The picture of the lessons in words: what is done of each that was begun."""
    begun = [row for row in record.rows if row.exercises.done or row.questions.done]
    if not begun:
        return "No square is filled."
    each = "; ".join(f"{row.lesson.number} {row.lesson.title}: {_shares(row)}" for row in begun)
    return f"By lesson: {each}."


def _shares(row: LessonTally) -> str:
    kinds = ((row.exercises, "exercises"), (row.questions, "questions"))
    return ", ".join(f"{kind} {word}" for kind, word in kinds if kind.names)
