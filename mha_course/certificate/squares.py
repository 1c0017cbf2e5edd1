"""The lessons as rows: one square an exercise, one dot a question, filled when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mha_course.exercises.shown.tallies import LessonTally, Tally
from mha_course.plots.canvas import Canvas, text_width

ROW = 25.0
HEAD = 24.0
_SQUARE, _STEP = 11.0, 15.0
_DOT, _DOT_STEP = 4.5, 13.0
_GAP, _COLUMNS_APART = 16.0, 36.0
_TITLE_SIZE, _HEAD_SIZE = 13.5, 12.5  # a notebook shows them at about four fifths


@dataclass(frozen=True)
class _Widths:
    title: float
    squares: float
    dots: float

    @property
    def row(self) -> float:
        return 26 + self.title + _GAP + self.squares + _GAP + self.dots


def _widths(rows: Sequence[LessonTally]) -> _Widths:
    most = max((len(row.exercises.names) for row in rows), default=0)
    asked = max((len(row.questions.names) for row in rows), default=0)
    return _Widths(
        title=max((text_width(row.lesson.title, _TITLE_SIZE) for row in rows), default=0.0),
        squares=max(_STEP * most, text_width("exercises", _HEAD_SIZE) + 4),
        dots=max(_DOT_STEP * asked, text_width("questions", _HEAD_SIZE)),
    )


def size(rows: Sequence[LessonTally], columns: int = 2) -> tuple[float, float]:
    """Width and height in px of the drawing, in so many columns."""
    each = -(-len(rows) // columns)
    return columns * _widths(rows).row + (columns - 1) * _COLUMNS_APART, HEAD + ROW * each


def draw_squares(canvas: Canvas, x: float, y: float, rows: Sequence[LessonTally], columns: int = 2) -> None:
    """Draw the lessons, with what is done of each, so that the upper left corner is at (x, y)."""
    widths, each = _widths(rows), -(-len(rows) // columns)
    for i, row in enumerate(rows):
        left = x + (i // each) * (widths.row + _COLUMNS_APART)
        if i % each == 0:
            _head(canvas, left, y, widths)
        _row(canvas, left, y + HEAD + ROW * (i % each), row, widths)


def _head(canvas: Canvas, x: float, y: float, widths: _Widths) -> None:
    squares = x + 26 + widths.title + _GAP
    canvas.text(x, y + 8, "lesson", _HEAD_SIZE, "ink3")
    canvas.text(squares, y + 8, "exercises", _HEAD_SIZE, "ink3")
    canvas.text(squares + widths.squares + _GAP, y + 8, "questions", _HEAD_SIZE, "ink3")
    canvas.line([x, x + widths.row], [y + HEAD - 5] * 2, "line")


def _row(canvas: Canvas, x: float, y: float, row: LessonTally, widths: _Widths) -> None:
    middle, begun = y + ROW / 2 - 4, bool(row.exercises.done or row.questions.done)
    canvas.text(x, middle, row.lesson.number, 13, "ink3")
    canvas.text(x + 26, middle, row.lesson.title, _TITLE_SIZE, "ink" if begun else "ink3")
    squares = x + 26 + widths.title + _GAP
    for i, done in enumerate(_done(row.exercises)):
        fill, edge = ("ok", "ok") if done else (None, "edge")
        canvas.rect(squares + _STEP * i, middle - _SQUARE / 2, _SQUARE, _SQUARE, fill, edge, radius=2)
    dots = squares + widths.squares + _GAP
    for i, done in enumerate(_done(row.questions)):
        fill, edge = ("ok", "ok") if done else ("surface", "edge")
        canvas.circle(dots + _DOT_STEP * i + _DOT, middle, _DOT, fill, edge)


def _done(kind: Tally) -> list[bool]:
    """What is done first, so that a row reads as a bar as well."""
    return [True] * len(kind.done) + [False] * len(kind.open)
