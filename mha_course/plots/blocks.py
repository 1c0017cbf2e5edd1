"""blocks: cells coloured by the head that owns them, with their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mha_course import theme as themes
from mha_course.plots import labels, numerals
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed

_ROOM = WIDEST - 2 * PADDING
_GROUP_GAP = 22.0


def blocks(
    values: object,
    owners: object = None,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    title: str | None = None,
    note: str | None = None,
    numbers: bool | None = None,
    highlight: object = None,
    names: Sequence[str] | None = None,
) -> Picture:
    """Draw cells in the colour of the head that each belongs to.

    values: (rows, columns), one row, or (h, n, d_k), which becomes h tables beside each other.
    owners: head of each cell counted from 0, -1 for none; (rows, columns), (columns,) or, for h tables, (h,)
    or None. highlight: rows to fill with colour (an index or several); the others are outlined. None: all.
    numbers: write them into the cells, None = where they fit. names: a code name over each table.
    Raises: ValueError when shapes, owners and labels don't go together.
    """
    table = numerals.as_array(values, "values").astype(float)
    table = table[None, None] if table.ndim == 1 else table[None] if table.ndim == 2 else table
    if table.ndim != 3 or 0 in table.shape:
        raise ValueError(f"values must be (rows, columns) or (h, n, d_k); got {table.shape}.")
    tables, rows, columns = table.shape
    heads = _owners(owners, table.shape, tables)
    if names is not None and len(names) != tables:
        raise ValueError(f"names has {len(names)} entries, but there are {tables} tables.")
    lit = set(range(rows)) if highlight is None else {int(i) % rows for i in np.atleast_1d(highlight)}
    digits = numerals.column_decimals(table)
    texts = [[[numerals.number(v, digits) for v in row] for row in one] for one in table]
    longest = max(text_width(text, 12, bold=True) for one in texts for row in one for text in row)
    row_labels = [str(i) for i in range(rows)] if row_labels is None else [str(r) for r in row_labels]
    column_labels = (
        [str(j) for j in range(columns)] if column_labels is None else [str(c) for c in column_labels]
    )
    if len(row_labels) != rows or len(column_labels) != columns:
        raise ValueError(
            f"{len(row_labels)} row labels and {len(column_labels)} column labels don't fit "
            f"{rows} x {columns} cells."
        )
    left = labels.left_width(row_labels, 12, labels.LONGEST_ROW) + 10
    space = (_ROOM - left - _GROUP_GAP * (tables - 1)) / (tables * columns)
    cell = max(24.0, longest + 9)
    shown = (cell <= space) if numbers is None else bool(numbers) and cell <= space
    cell = float(int(cell)) if shown else float(max(2, int(min(22, space))))
    high = 26.0 if shown else min(cell, 22.0)
    above = (24.0 if names or tables > 1 else 0.0) + 20.0
    owned = sorted({int(i) for i in heads[heads >= 0]})
    legend = 28.0 if tables == 1 and owned else 0.0
    width = left + tables * columns * cell + _GROUP_GAP * (tables - 1)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        step = labels.every(columns, cell, 16)
        for t in range(tables):
            start = round(x + left + t * (columns * cell + _GROUP_GAP))
            if names or tables > 1:
                _table_name(canvas, start, y, heads[t], names[t] if names else None)
            for j in range(0, columns, step):
                canvas.text(
                    start + (j + 0.5) * cell, y + above - 10, column_labels[j], 11, "ink3", ha="center"
                )
            draw_cells(
                canvas, start, round(y + above), cell, high, heads[t], texts[t] if shown else None, lit
            )
        for i in range(0, rows, labels.every(rows, high)):
            bold = i in lit and len(lit) < rows
            name = labels.shown(row_labels[i], labels.LONGEST_ROW)
            colour = "ink" if bold else "ink2"
            canvas.text(x + left - 8, y + above + (i + 0.5) * high, name, 12, colour, "right", bold)
        at = x + left
        for head in owned if legend else ():
            canvas.chip(at, y + above + rows * high + 10, head)
            canvas.text(at + 22, y + above + rows * high + 18, f"head {head + 1}", 12, "ink")
            at += 22 + text_width(f"head {head + 1}") + 18

    enough = left + sum(40 + text_width(f"head {head + 1}") for head in owned) if legend else 0
    alt = _in_words(heads, texts, row_labels, lit, rows)
    return framed(paint, max(width, enough), above + rows * high + legend, alt, title, note)


def draw_cells(
    canvas: Canvas,
    x: float,
    y: float,
    cell: float,
    high: float,
    heads: np.ndarray,
    texts: list[list[str]] | None,
    lit: set[int],
) -> None:
    """A table of cells at (x, y); rows in `lit` are filled with their head's colour, the others outlined."""
    rows, columns = heads.shape
    for i in range(rows):
        for j in range(columns):
            head = int(heads[i, j])
            colour = themes.head_colour(head, canvas.theme) if head >= 0 else canvas.colour("mute")
            inset = 1.0 if cell >= 10 else 0.5
            box = (x + j * cell + inset, y + i * high + inset, cell - 2 * inset, high - 2 * inset)
            radius = 3 if cell >= 18 else 0
            if i in lit:
                canvas.rect(*box, colour, radius=radius)
            else:
                canvas.rect(*box, edge=colour, stroke=1.2, radius=radius)
            if texts is not None:
                ink = themes.text_on(colour) if i in lit else "ink2"
                centre = (x + (j + 0.5) * cell, y + (i + 0.5) * high)
                canvas.text(*centre, texts[i][j], 12, ink, ha="center", bold=i in lit)


def _table_name(canvas: Canvas, x: float, y: float, heads: np.ndarray, name: str | None) -> None:
    """The chip of the head that owns all of a table, and the table's name in code."""
    only = {int(i) for i in heads.flat}
    if len(only) == 1 and min(only) >= 0:
        canvas.chip(x + 1, y, min(only))
        canvas.text(x + 24, y + 8, name or f"head {min(only) + 1}", 12, "ink", code=name is not None)
    elif name:
        canvas.text(x + 1, y + 8, name, 12, "ink", code=True)


def _owners(owners: object, shape: tuple[int, int, int], tables: int) -> np.ndarray:
    """The head of each cell, (tables, rows, columns)."""
    if owners is None:
        heads = np.arange(tables) if tables > 1 else np.array([-1])
        return np.broadcast_to(heads[:, None, None], shape)
    heads = numerals.as_array(owners, "owners").astype(int)
    if tables > 1 and heads.ndim == 1:
        heads = heads[:, None, None]
    try:
        return np.broadcast_to(heads, shape)
    except ValueError:
        raise ValueError(f"owners of shape {heads.shape} don't fit values of shape {shape}.") from None


def _in_words(heads: np.ndarray, texts: list, row_labels: list[str], lit: set[int], rows: int) -> str:
    """The rows, each with the heads that own its cells from left to right."""
    parts = []
    for i in range(rows):
        pieces = []
        for one, table in zip(heads, texts, strict=True):
            edges = [0, *(np.flatnonzero(np.diff(one[i])) + 1), one.shape[1]]
            for start, stop in zip(edges[:-1], edges[1:], strict=True):
                owner = f"head {one[i, start] + 1}" if one[i, start] >= 0 else "no head"
                pieces.append(f"{owner}: {', '.join(table[i][start:stop])}")
        parts.append(
            f"{row_labels[i]}{' (lit)' if i in lit and len(lit) < rows else ''}: {'; '.join(pieces)}"
        )
    tables, _, columns = heads.shape
    lead = f"{tables} tables of {rows} by {columns} cells" if tables > 1 else f"{rows} by {columns} cells"
    return f"{lead}, coloured by head. {numerals.listed(parts, 12)}."
