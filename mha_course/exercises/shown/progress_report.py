"""progress_report: what is done in each lesson and what comes next, for a notebook and for a terminal."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mha_course import progress
from mha_course.exercises.shown.panel import marked, panel, paragraph
from mha_course.exercises.shown.tallies import LessonTally, Tally, tallies

_COLUMNS = ("Exercises", "Predictions", "Questions", "Puzzles")


@dataclass(frozen=True)
class ProgressReport:
    """One row for each lesson; `next_step` says where to go on, `remarks` what can't be read or written."""

    rows: tuple[LessonTally, ...]
    remarks: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What is done of what there is, in one line; what the course has none of is left out."""
        if not self.rows:
            return "the folder notebooks/ holds no lessons."
        if not any(row.begun for row in self.rows):
            return "nothing done yet"
        return ", ".join(f"{done} of {of} {kind}" for kind, done, of in self._totals())

    @property
    def next_step(self) -> str:
        """Where to go on: in the last lesson that was begun, then after it, then in what was left out."""
        begun = [i for i, row in enumerate(self.rows) if row.begun]
        if not self.rows:
            return ""
        if not begun:
            holds = ", ".join(f"{of} {kind}" for kind, _, of in self._totals())
            return f"{_leads_to(self.rows[0], 'Begin with')} There are {holds} in all."
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

    def _columns(self) -> dict[str, int]:
        """The columns with their place in `kinds`; one is left out while no lesson holds anything for it."""
        return {c: i for i, c in enumerate(_COLUMNS) if any(row.kinds[i].names for row in self.rows)}

    def _totals(self) -> list[tuple[str, int, int]]:
        totals = []
        for column, i in self._columns().items():
            kinds = [row.kinds[i] for row in self.rows]
            done, of = sum(len(kind.done) for kind in kinds), sum(len(kind.names) for kind in kinds)
            totals.append((column.lower(), done, of))
        return totals

    def __repr__(self) -> str:
        table = [["Lesson", *self._columns()]]
        for row in self.rows:
            kinds = [row.kinds[i] for i in self._columns().values()]
            cells = [f"{kind} ✓" if kind.complete else str(kind) for kind in kinds]
            table.append([f"{row.lesson.number}  {row.lesson.title}", *cells])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["   ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]
        ends = [f"Progress: {self.summary}", *lines, self.next_step, *self.remarks]
        return "\n".join(ends).replace("`", "")

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f'<th scope="col">{column}</th>' for column in ("Lesson", *columns))
        body = "".join(_row(row, columns) for row in self.rows)
        return panel(
            paragraph(f"Progress: {self.summary}", "title")
            + f'<div class="mhx-rows"><table><thead><tr>{head}</tr></thead>'
            + f"<tbody>{body}</tbody></table></div>"
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


def _row(row: LessonTally, columns: Mapping[str, int]) -> str:
    # The student's copies lie side by side, so that the file's name is the way there.
    link = f'<a href="{html.escape(row.lesson.file)}">{row.lesson.number} · {marked(row.lesson.title)}</a>'
    share = row.done / row.of if row.of else 0.0
    whole = " mhx-full" if row.of and row.done == row.of else ""
    bar = f'<span class="mhx-bar{whole}" aria-hidden="true"><i style="width:{100 * share:.0f}%"></i></span>'
    cells = "".join(_cell(column, row.kinds[i]) for column, i in columns.items())
    return f'<tr><th scope="row">{link}{bar}</th>{cells}</tr>'


def _cell(column: str, kind: Tally) -> str:
    if not kind.names:
        return '<td data-none><span class="mhx-note">–</span></td>'
    shown = f'<span class="mhx-note">{kind}</span>' if not kind.done else str(kind)
    shown = f'<span class="mhx-done">✓ {kind}</span>' if kind.complete else shown
    return f'<td data-column="{column}">{shown}</td>'
