"""progress_report: what is done in each lesson and what comes next, for a notebook and for a terminal."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from mha_course import progress
from mha_course.exercises.panel import marked, panel, paragraph
from mha_course.exercises.tallies import LessonTally, Tally, tallies

_COLUMNS = ("Exercises", "Predictions", "Questions", "Puzzles")


@dataclass(frozen=True)
class ProgressReport:
    """One row for each lesson; `next_step` says where to go on, `remarks` what can't be read or written."""

    rows: tuple[LessonTally, ...]
    remarks: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """Totals in one sentence; what the course has none of is left out."""
        parts, begun = [], any(row.begun for row in self.rows)
        for i, column in enumerate(_COLUMNS):
            done, of = (sum(len(getattr(r.kinds[i], part)) for r in self.rows) for part in ("done", "names"))
            if of:
                parts.append(f"{done} of {of} {column.lower()}" if begun else f"{of} {column.lower()}")
        if not parts:
            return "the folder notebooks/ holds no lessons."
        return ("" if begun else "nothing done yet. The lessons hold ") + ", ".join(parts)

    @property
    def next_step(self) -> str:
        """Where to go on: in the last lesson that was begun, then after it, then in what was left out."""
        begun = [i for i, row in enumerate(self.rows) if row.begun]
        if not begun:
            return _leads_to(self.rows[0], "Begin with") if self.rows else ""
        last = begun[-1]
        for row in (*self.rows[last:], *self.rows[:last]):
            if not row.begun:
                return _leads_to(row, "Next:")
            if row.exercises.open or row.puzzles.open:
                return _leads_to(row, "Next:")
        for row in self.rows:
            if row.questions.open or row.predictions.open:
                return _leads_to(row, "Still open:")
        return "Everything in these lessons is done."

    def __repr__(self) -> str:
        names = [f"{row.lesson.number}  {row.lesson.title}" for row in self.rows]
        wide = max(map(len, (*names, "Lesson")))
        lines = ["  ".join(["Lesson".ljust(wide), *(c.ljust(11) for c in _COLUMNS)])]
        for name, row in zip(names, self.rows, strict=True):
            cells = (f"{kind} ✓" if kind.complete else str(kind) for kind in row.kinds)
            lines.append("  ".join([name.ljust(wide), *(cell.ljust(11) for cell in cells)]))
        ends = [
            f"Progress: {self.summary}",
            *(line.rstrip() for line in lines),
            self.next_step,
            *self.remarks,
        ]
        return "\n".join(ends).replace("`", "")

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{column}</th>' for column in ("Lesson", *_COLUMNS))
        body = "".join(_row(row) for row in self.rows)
        return panel(
            paragraph(f"Progress: {self.summary}", "title")
            + '<div class="mhx-wide" tabindex="0" role="group" aria-label="Progress by lesson">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            + paragraph(self.next_step)
            + "".join(paragraph(remark, "note") for remark in self.remarks),
            label="Progress",
        )


def progress_report() -> ProgressReport:
    """What is done in each lesson and what comes next, from what my_course/ remembers. Never raises."""
    return ProgressReport(tuple(tallies()), tuple(_remarks()))


def _remarks() -> Sequence[str]:
    found = [progress.trouble(), *progress.unreadable()]
    return [sentence for sentence in found if sentence]


def _leads_to(row: LessonTally, lead: str) -> str:
    """A sentence that names the lesson and the first thing in it that is open."""
    where = f"{lead} lesson {row.lesson.number} · {row.lesson.title}"
    if row.begun and row.exercises.open:
        name = row.tried[0] if row.tried else row.exercises.open[0]
        return f"{where}, exercise `{name}`" + (" (tried, not yet right)." if row.tried else ".")
    if row.begun and row.puzzles.open:
        return f"{where}, the puzzle `{row.puzzles.open[0]}`."
    left = [_counted(len(row.questions.open), "question"), _counted(len(row.predictions.open), "prediction")]
    left = [part for part in left if part] if row.begun else []
    return f"{where}, {' and '.join(left)}." if left else f"{where}."


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}" if count else ""


def _row(row: LessonTally) -> str:
    # The student's copies lie side by side, so that the file's name is the way there.
    link = f'<a href="{html.escape(row.lesson.file)}">{row.lesson.number} · {marked(row.lesson.title)}</a>'
    share = row.done / row.of if row.of else 0.0
    whole = " mhx-full" if row.of and row.done == row.of else ""
    bar = f'<span class="mhx-bar{whole}" aria-hidden="true"><i style="width:{100 * share:.0f}%"></i></span>'
    cells = "".join(f"<td>{_cell(kind)}</td>" for kind in row.kinds)
    return f'<tr><th scope="row">{link}{bar}</th>{cells}</tr>'


def _cell(kind: Tally) -> str:
    if not kind.names:
        return '<span class="mhx-note" aria-label="none">–</span>'
    if kind.complete:
        return f'<span class="mhx-done">✓ {kind}</span>'
    return str(kind) if kind.done else f'<span class="mhx-note">{kind}</span>'
