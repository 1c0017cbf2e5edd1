"""matrix and matrices: small tables of numbers, orange below zero and blue above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mha_course import theme as themes
from mha_course.plots import labels, numerals
from mha_course.plots.attention_map import axis_names, gaps, hatch, rgb_table
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed

_ROOM = WIDEST - 2 * PADDING
_CELL = 26
_MOST_NUMBERS = 400
_FOOT = 34


def matrix(
    values: object,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    title: str | None = None,
    note: str | None = None,
    numbers: bool | str | None = None,
    row_name: str | None = None,
    column_name: str | None = None,
    decimals: int | None = None,
    vmax: float | None = None,
) -> Picture:
    """Draw a table of numbers on a scale that is symmetric about zero.

    values: (rows, columns), or one row. −∞ and, in a boolean table, False are hatched: not allowed.
    numbers: write them into the cells, True, False or a format such as "{:.4f}"; None = where they fit.
    row_name, column_name: what the axes are, for instance "query ↓" and "key →". vmax: end of the scale,
    None = the largest size in the table.
    Raises: ValueError when the table has not one or two axes, or labels don't fit it.
    """
    table = _Table(values, row_labels, column_labels, numbers, row_name, column_name, decimals, _ROOM)
    largest = _largest([table], vmax)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        table.paint(canvas, x, y, largest)
        _foot(canvas, x + table.left, y + table.height + 14, [table], largest)

    width = max(table.width, table.left + 230)
    return framed(paint, width, table.height + _FOOT, table.in_words(), title, note)


def matrices(
    tables: Mapping[str, object],
    between: str | Sequence[str] = "",
    title: str | None = None,
    note: str | None = None,
    numbers: bool | str | None = None,
    row_labels: Sequence[str] | None = None,
    decimals: int | None = None,
    vmax: float | None = None,
    column_labels: Sequence[str] | None = None,
) -> Picture:
    """Draw several tables beside each other on one scale, with signs such as "·" and "=" between them.

    tables: name -> values (rows, columns). between: one sign for every gap, or one for each. row_labels,
    column_labels: for every table with as many rows, or columns. Raises: ValueError as `matrix`, or when
    signs and gaps don't fit.
    """
    if not tables:
        raise ValueError("tables must hold at least one table.")
    signs = [between] * (len(tables) - 1) if isinstance(between, str) else list(between)
    if len(signs) != len(tables) - 1:
        raise ValueError(
            f"{len(tables)} tables have {len(tables) - 1} gaps, but there are {len(signs)} signs."
        )
    spaces = [max(20.0, text_width(sign, 18) + 24) for sign in signs]
    shapes = [np.atleast_2d(numerals.as_array(values, name)).shape for name, values in tables.items()]
    total = sum(columns for _, columns in shapes)
    names = list(tables)
    drawn = [
        _Table(
            tables[name],
            row_labels if row_labels is not None and rows == len(row_labels) else None,
            column_labels if column_labels is not None and columns == len(column_labels) else None,
            numbers,
            None,
            None,
            decimals,
            # The room is shared out by the number of columns, so that cells come out alike.
            (_ROOM - sum(spaces) - 30 * len(names)) * columns / total + 30,
        )
        for name, (rows, columns) in zip(names, shapes, strict=True)
    ]
    if len({table.numbers for table in drawn}) > 1 and numbers is None:
        return matrices(tables, between, title, note, False, row_labels, decimals, vmax)
    largest = _largest(drawn, vmax)
    widths = [
        max(t.width, t.left + text_width(n, 13, bold=True), t.left + text_width(t.shape_text, 11))
        for n, t in zip(names, drawn, strict=True)
    ]
    tallest = max(table.height for table in drawn)
    head = 40

    def paint(canvas: Canvas, x: float, y: float) -> None:
        left = x
        for i, (name, table) in enumerate(zip(names, drawn, strict=True)):
            upper = y + head + (tallest - table.height) / 2
            canvas.text(left + table.left, upper - head + 10, name, 13, "ink", bold=True)
            canvas.text(left + table.left, upper - head + 28, table.shape_text, 11, "ink3")
            table.paint(canvas, left, upper, largest)
            left += widths[i]
            if i < len(signs):
                middle = upper + table.top + table.rows * table.cell_height / 2
                canvas.text(left + spaces[i] / 2, middle, signs[i], 18, "ink", ha="center")
                left += spaces[i]
        _foot(canvas, x + drawn[0].left, y + head + tallest + 14, drawn, largest)

    alt = " ".join(
        f"{name} {sign}: {table.in_words()}"
        for name, table, sign in zip(
            names, drawn, [f"(then {s})" if s else "" for s in signs] + [""], strict=True
        )
    )
    width = max(sum(widths) + sum(spaces), drawn[0].left + 230)
    return framed(paint, width, head + tallest + _FOOT, alt, title, note)


class _Table:
    """One table with its labels: sizes first, then paint."""

    def __init__(
        self,
        values: object,
        row_labels: Sequence[str] | None,
        column_labels: Sequence[str] | None,
        numbers: bool | str | None,
        row_name: str | None,
        column_name: str | None,
        decimals: int | None,
        room: float,
    ) -> None:
        table = numerals.as_array(values, "values")
        table = table[None] if table.ndim == 1 else table
        if table.ndim != 2 or 0 in table.shape:
            raise ValueError(f"values must be (rows, columns); got {table.shape}. Pick one, as in x[0].")
        self.is_mask = table.dtype == bool
        self.values = table.astype(float)
        self.rows, self.columns = table.shape
        self.row_labels = _named(row_labels, self.rows, "row_labels")
        self.column_labels = _named(column_labels, self.columns, "column_labels")
        self.row_name, self.column_name = row_name, column_name
        self.hatched = np.isneginf(self.values) if not self.is_mask else ~table
        digits = numerals.column_decimals(self.values) if decimals is None else decimals
        self.texts = [[_written(v, digits, numbers) for v in row] for row in self.values]
        longest = max((text_width(text, 11) for row in self.texts for text in row), default=0)
        # A column's name that fits above its cells stays level.
        names = max((text_width(labels.shown(name), 11) for name in self.column_labels), default=0)
        self.left = labels.left_width(self.row_labels, longest=labels.LONGEST_ROW) + 8
        for name in filter(None, (row_name, column_name)):
            self.left = max(self.left, text_width(name, 12, bold=True) + 8)
        space = (room - self.left) / self.columns
        wide = max(_CELL, longest + 10)
        fits = wide <= space and self.rows * self.columns <= _MOST_NUMBERS and not self.is_mask
        self.numbers = fits if numbers is None else bool(numbers) and fits
        self.cell_width = float(int(wide)) if self.numbers else max(1.0, float(int(min(_CELL, space))))
        if self.numbers and self.cell_width < names + 8 <= min(space, 80):
            self.cell_width = float(int(names + 8))
        self.cell_height = float(
            _CELL if self.numbers else max(1.0, min(self.cell_width, int(560 / self.rows) or 1))
        )
        self.level = names + 4 <= self.cell_width or column_labels is None
        self.step = labels.every(self.columns, self.cell_width, names + 6 if self.level else 12)
        wide = self.cell_width
        self.tops = labels.top_labels(self.column_labels[:: self.step], wide * self.step)
        rise = 20.0 if self.level else max(label.rise for label in self.tops) + 6
        # Names of the axes stand in the corner above the row labels.
        self.top = max(rise, 36.0) if column_name or row_name else rise
        middles = [(i * self.step + 0.5) * wide for i in range(len(self.tops))]
        ends = [at + label.overhang for at, label in zip(middles, self.tops, strict=True)]
        lean = max(ends) - self.columns * wide
        self.width = self.left + self.columns * self.cell_width + (1 if self.level else max(lean, 1))
        self.height = self.top + self.rows * self.cell_height
        self.shape_text = f"({self.rows}, {self.columns})"

    def paint(self, canvas: Canvas, x: float, y: float, largest: float) -> None:
        left, upper = round(x + self.left), round(y + self.top)
        wide, high = self.cell_width, self.cell_height
        ramp = themes.diverging(canvas.theme)
        finite = np.where(np.isfinite(self.values), self.values, 0.0)
        shade = np.clip(np.round(255 * (finite / largest + 1) / 2), 0, 255).astype(int)
        rgb = rgb_table(ramp)[shade]
        # An even number of colours has no middle one: an exact zero is the ground itself.
        rgb[finite == 0] = rgb_table([canvas.colour("surface")])[0]
        if self.is_mask:
            rgb[~self.hatched] = rgb_table([themes.sequential(canvas.theme)[64]])[0]
        rgb[np.isnan(self.values)] = rgb_table([canvas.colour("warn_ground")])[0]
        canvas.cells(left, upper, wide * self.columns, high * self.rows, rgb)
        hatch(canvas, left, upper, wide, high, self.hatched)
        if min(wide, high) >= 8:
            gaps(canvas, left, upper, wide, high, self.rows, self.columns)
        canvas.rect(left, upper, wide * self.columns, high * self.rows, edge="edge", z=4)
        for i, row in enumerate(self.texts if self.numbers else ()):
            for j, text in enumerate(row):
                on = "#{:02X}{:02X}{:02X}".format(*rgb[i, j])
                ink = "warn" if text == "NaN" else themes.text_on(on)
                middle = (left + (j + 0.5) * wide, upper + (i + 0.5) * high)
                if self.hatched[i, j]:
                    pad = text_width(text, 11) / 2 + 2
                    canvas.rect(middle[0] - pad, middle[1] - 7, 2 * pad, 14, "surface", z=2.6)
                canvas.text(*middle, text, 11, ink, ha="center")
        for i in range(0, self.rows, labels.every(self.rows, high)):
            name = labels.shown(self.row_labels[i], labels.LONGEST_ROW)
            canvas.text(left - 6, upper + (i + 0.5) * high, name, 11, ha="right")
        for i, label in enumerate(self.tops):
            middle = left + (i * self.step + 0.5) * wide
            if self.level:
                canvas.text(middle, upper - 10, label.text, 11, ha="center")
            else:
                labels.draw_top_label(canvas, label, middle, upper)
        axis_names(canvas, left, upper, self.row_name or "", self.column_name or "")

    def in_words(self) -> str:
        what = "Mask" if self.is_mask else "Table"
        axes = f" ({self.row_name or 'rows'} by {self.column_name or 'columns'})"
        text = f"{what} of {self.rows} rows by {self.columns} columns{axes}."
        if self.is_mask:
            rows = [
                f"{name}: " + "".join("x" if cut else "1" for cut in row)
                for name, row in zip(self.row_labels, self.hatched, strict=True)
            ]
            count = f"{int((~self.hatched).sum())} of {self.hatched.size} cells are True"
            return f"{text} {count}; 1 = True, x = False: {numerals.listed(rows, 12)}."
        if self.values.size <= 64:
            rows = [f"{n}: {', '.join(row)}" for n, row in zip(self.row_labels, self.texts, strict=True)]
            return f"{text} {numerals.listed(rows, 16)}."
        finite = np.where(np.isfinite(self.values), self.values, np.nan)
        if np.isnan(finite).all():
            return f"{text} No finite numbers."
        low, high = np.nanargmin(finite), np.nanargmax(finite)
        ends = [
            f"{word} {numerals.number(self.values.flat[at])} at {self.row_labels[at // self.columns]}, "
            f"{self.column_labels[at % self.columns]}"
            for word, at in (("smallest", int(low)), ("largest", int(high)))
        ]
        cut = int(self.hatched.sum())
        return f"{text} The {' and the '.join(ends)}." + (f" {cut} cells are −∞, hatched." if cut else "")


def _written(value: float, digits: int, numbers: bool | str | None) -> str:
    """A number as it stands in its cell: with so many digits, or in the format asked for."""
    if isinstance(numbers, str) and np.isfinite(value):
        return numbers.format(value).replace("-", numerals.MINUS)
    return numerals.number(value, digits)


def _named(names: Sequence[str] | None, count: int, what: str) -> tuple[str, ...]:
    if names is None:
        return tuple(str(i) for i in range(count))
    if len(names) != count:
        raise ValueError(f"{what} has {len(names)} entries, but values need {count}.")
    return tuple(str(name) for name in names)


def _largest(tables: Sequence[_Table], vmax: float | None) -> float:
    """The end of the scale: one for all tables of a picture."""
    if vmax is not None:
        return float(vmax)
    sizes = [np.abs(t.values[np.isfinite(t.values)]) for t in tables if not t.is_mask]
    return max((float(s.max()) for s in sizes if s.size), default=0.0) or 1.0


def _foot(canvas: Canvas, x: float, y: float, tables: Sequence[_Table], largest: float) -> None:
    """The scale, or for masks what hatch and colour mean."""
    if all(table.is_mask for table in tables):
        canvas.rect(x, y, 14, 14, themes.sequential(canvas.theme)[64], "edge", z=3)
        canvas.text(x + 20, y + 7, "True, may attend", 11, "ink3")
        second = x + 40 + text_width("True, may attend", 11)
        canvas.rect(second, y, 14, 14, edge="edge", z=3)
        canvas.hatch(second, y, 14, 14)
        canvas.text(second + 20, y + 7, "False", 11, "ink3")
        return
    signed = any((table.values[np.isfinite(table.values)] < 0).any() for table in tables)
    ramp = rgb_table(themes.diverging(canvas.theme))
    # Without a number below zero the orange arm would be about nothing.
    low = numerals.number(-largest) if signed else "0"
    high = numerals.number(largest)
    start = x + text_width(low, 11) + 5
    canvas.text(x, y + 5, low, 11, "ink3")
    canvas.cells(start, y + 1, 120, 8, ramp[None, 0 if signed else 128 :])
    canvas.rect(start, y + 1, 120, 8, edge="edge", z=4)
    if signed:
        canvas.line([start + 60, start + 60], [y - 1, y + 11], "ink", 1, z=5)
    canvas.text(start + 125, y + 5, high, 11, "ink3")
