"""The certificate as a picture: name, date, numbers, the lessons in squares, and what it is."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

import numpy as np
import regex

from mha_course.certificate import squares, words
from mha_course.certificate.name_line import image_of
from mha_course.certificate.record import Record
from mha_course.plots import fonts
from mha_course.plots.canvas import SHARPNESS, Canvas, text_width, wrap
from mha_course.theme import Theme

MARGIN = 56.0
_NARROWEST = 760.0
_SMALL = 13.0  # a notebook shows it at about four fifths
_NAMES_TOP, _BELOW_NAMES = 132.0, 72.0
_NAME_SIZES = (34, 30, 26, 22, 19, 16)


def sheet_png(record: Record) -> bytes:
    """The whole certificate as PNG bytes, in light colours, two pixels to each CSS pixel."""
    return drawn_sheet(record).png()


def drawn_sheet(record: Record) -> Canvas:
    """The whole certificate on a canvas of its own, in light colours."""
    drawn, high = squares.size(record.rows)
    inner = max(_NARROWEST, drawn)
    notes = [line for note in (*words.WHAT_IT_IS, *record.remarks) for line in wrap(note, inner, _SMALL)]
    names = _name_lines(record.name, inner)
    facts = _laid_out(record, inner)
    numbers = _NAMES_TOP + _names_high(names) + _BELOW_NAMES
    lessons = numbers + _facts_high(facts) + 22
    foot = lessons + high + 26
    canvas = Canvas(inner + 2 * MARGIN, foot + 18 * len(notes) + 40)
    _frame(canvas)
    _head(canvas, record, names)
    _facts(canvas, facts, numbers)
    squares.draw_squares(canvas, MARGIN + (inner - drawn) / 2, lessons, record.rows)
    for i, line in enumerate(notes):
        canvas.text(MARGIN, foot + 18 * i, line, _SMALL, "ink3")
    return canvas


def squares_png(record: Record, theme: Theme) -> bytes:
    """The lessons in squares alone, as PNG bytes in the colours of a theme."""
    width, height = squares.size(record.rows)
    canvas = Canvas(width + 8, height + 8, theme)
    squares.draw_squares(canvas, 4, 4, record.rows)
    return canvas.png()


def _frame(canvas: Canvas) -> None:
    canvas.rect(18, 18, canvas.width - 36, canvas.height - 36, edge="edge", radius=10)
    canvas.rect(23, 23, canvas.width - 46, canvas.height - 46, edge="line", radius=7)


def _names_high(names: list[tuple[str, int]]) -> float:
    """The height of the name's lines, or of the line on which it is written by hand."""
    return sum(1.5 * size for _, size in names) if names else 60.0


def _head(canvas: Canvas, record: Record, names: list[tuple[str, int]]) -> None:
    """Title, name, finding and day."""
    middle, y = canvas.width / 2, _NAMES_TOP
    canvas.text(middle, 64, words.KIND, 14, "ink2", ha="center")
    canvas.text(middle, 96, words.TITLE, 26, "ink", ha="center", bold=True)
    if not names:
        canvas.line([middle - 170, middle + 170], [y + 34] * 2, "edge")
        canvas.text(middle, y + 46, "name", _SMALL, "ink3", ha="center")
    for name, size in names:
        _name(canvas, name, size, middle, y + 0.75 * size)
        y += 1.5 * size
    y = _NAMES_TOP + _names_high(names)
    canvas.text(middle, y + 20, words.summary(record), 15, "ink", ha="center")
    day = f"{words.date(record)} · course version {record.version}"
    canvas.text(middle, y + 44, day, _SMALL, "ink3", ha="center")


@dataclass(frozen=True)
class _Fact:
    """A number with the lines below it, and the width that both get."""

    much: str
    lines: list[str]
    width: float


def _laid_out(record: Record, inner: float) -> list[_Fact]:
    """The numbers side by side: each gets what its longest word needs, and an equal part of what is left."""
    found = words.facts(record)
    needs = [max(text_width(much, 18, bold=True), _widest_word(what)) for what, much in found]
    spare = (inner - sum(needs)) / len(found)
    facts = []
    for (what, much), need in zip(found, needs, strict=True):
        note = words.clock_note(record.clock) if what == words.CLOCK else ""
        told = [line for part in (what, note) if part for line in wrap(part, need + spare - 8, _SMALL)]
        facts.append(_Fact(much, told, need + spare))
    return facts


def _facts_high(facts: list[_Fact]) -> float:
    return 44 + 16 * max(len(fact.lines) for fact in facts)


def _facts(canvas: Canvas, facts: list[_Fact], y: float) -> None:
    """The numbers beside each other between two hairlines."""
    x = MARGIN
    for fact in facts:
        middle = x + fact.width / 2
        canvas.text(middle, y + 24, fact.much, 18, "ink", ha="center", bold=True)
        for i, line in enumerate(fact.lines):
            canvas.text(middle, y + 46 + 16 * i, line, _SMALL, "ink2", ha="center")
        x += fact.width
    for edge in (y, y + _facts_high(facts)):
        canvas.line([MARGIN, x], [edge, edge], "line")


def _widest_word(text: str) -> float:
    return max(text_width(word, _SMALL) for word in text.split())


def _name_lines(name: str, inner: float) -> list[tuple[str, int]]:
    """The name on one line, or where that would be small on two, each with its size in px."""
    if not name:
        return []
    size = next((s for s in _NAME_SIZES if _width(name, s) <= inner), 0)
    if size >= 22:
        return [(name, size)]
    lines = wrap(name, inner, 22, bold=True)
    if len(lines) == 2:
        return [(line, 22) for line in lines]
    return [(_cut(name, inner), _NAME_SIZES[-1])]


def _name(canvas: Canvas, name: str, size: int, middle: float, y: float) -> None:
    pixels = _pixels(name, size)
    if pixels is None:
        canvas.text(middle, y, name, size, "ink", ha="center", bold=True)
        return
    high, wide = (length / SHARPNESS for length in pixels.shape[:2])
    # On whole pixels, else each would be drawn across two.
    canvas.cells(round(middle - wide / 2), round(y - 1.04 * size), wide, high, pixels)


def _pixels(name: str, size: int) -> np.ndarray | None:
    """The name drawn with every font there is; None where plain text does, or nothing else would help."""
    if not fonts.drawable(name, bold=True).has_stand_in:
        return None
    return image_of(name, size * SHARPNESS, Canvas(1, 1).colour("ink"), Canvas(1, 1).colour("surface"))


def can_be_drawn(name: str) -> bool:
    """Whether the picture has the whole name, and no codes in place of characters without a font."""
    return not fonts.drawable(name, bold=True).has_stand_in or _pixels(name, _NAME_SIZES[0]) is not None


def _width(name: str, size: int) -> float:
    pixels = _pixels(name, size)
    return text_width(name, size, bold=True) if pixels is None else pixels.shape[1] / SHARPNESS


def _cut(name: str, inner: float) -> str:
    """As many letters of the name as fit, and an ellipsis where that is not all."""
    letters = regex.findall(r"\X", name)

    def shown(count: int) -> str:
        return name if count == len(letters) else "".join(letters[:count]) + "…"

    # How many is found by halving: a picture of a name takes its time.
    fits = bisect.bisect_right(
        range(len(letters) + 1), inner, key=lambda count: _width(shown(count), _NAME_SIZES[-1])
    )
    return shown(max(1, fits - 1))
