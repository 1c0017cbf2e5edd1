"""split_picture: the features of each token fall into h heads."""

from __future__ import annotations

import torch

from mha_course import theme as themes
from mha_course.attention import split_heads
from mha_course.plots import labels
from mha_course.plots.blocks import draw_cells
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.numerals import listed
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed

_ROOM = WIDEST - 2 * PADDING
_LEFT = 62.0
_ARROW = 84.0
_ROW = 24.0


def split_picture(
    d_model: int, h: int, token: int = 2, n: int = 5, title: str | None = None, note: str | None = None
) -> Picture:
    """Draw how `split_heads` hands the features of each token to h heads, one token lit.

    The numbers are those of `torch.arange(n * d_model)` really split. token: counted from 0, as in code.
    Raises: ValueError when d_model can't be split into h heads, or the token isn't among the n.
    """
    if not 0 <= token < n:
        raise ValueError(f"token={token} is not among the n={n} tokens; it can be 0 to {n - 1}.")
    x = torch.arange(n * d_model).view(1, n, d_model)
    heads = split_heads(x, h)
    d_k = d_model // h
    texts = [[str(int(v)) for v in row] for row in x[0]]
    stacks = [[[str(int(v)) for v in row] for row in head] for head in heads[0]]
    # The owner of each input cell is read off the heads themselves.
    owner_of = {int(v): i for i, head in enumerate(heads[0]) for v in head.flatten()}
    owners = x[0].clone().apply_(lambda v: owner_of[v]).numpy()
    name_width = 24 + text_width(f"heads[0, {h - 1}]", 12, code=True)
    gap = max(6.0, min(18.0, 110 / max(1, h - 1)))

    def beside(cell: int) -> float:
        """Width of x and all stacks on one level with cells of this width."""
        pitch = max(d_k * cell + gap, name_width + 10)
        return _LEFT + d_model * cell + _ARROW + (h - 1) * pitch + max(d_k * cell, name_width)

    wide = next((cell for cell in range(28, 17, -1) if beside(cell) <= _ROOM), 0)
    level = wide > 0
    if level:
        stack_pitch = max(d_k * wide + gap, name_width + 10)
    else:
        wide = max(1, int(min(28, (_ROOM - _LEFT - gap * (h - 1)) / d_model)))
        stack_pitch = d_k * wide + gap
    numbers = wide >= text_width(str(n * d_model - 1), 12, bold=True) + 6
    row = _ROW if wide >= 12 else 16.0
    # Above the stacks x stands in their middle, so that no head's features fall far aside.
    start_x = _LEFT if level else _LEFT + (h - 1) * gap / 2
    stack_x = _LEFT + d_model * wide + _ARROW if level else _LEFT
    stack_y = 0.0 if level else 20 + n * row + 52
    lit = {token}

    def table(canvas: Canvas, at: float, top: float, cells: object, words: list, columns: int) -> None:
        step = labels.every(columns, wide, 16)
        for j in range(0, columns, step):
            canvas.text(at + (j + 0.5) * wide, top + 30, str(j), 11, "ink3", ha="center")
        draw_cells(canvas, at, top + 40, wide, row, cells, words if numbers else None, lit)

    def names(canvas: Canvas, at: float, top: float) -> None:
        for i in range(n):
            bold = i == token
            colour = "ink" if bold else "ink3"
            canvas.text(at - 8, top + 40 + (i + 0.5) * row, f"token {i}", 12, colour, "right", bold)

    def paint(canvas: Canvas, left: float, top: float) -> None:
        names(canvas, left + start_x, top)
        canvas.text(left + start_x, top + 8, "x[0]", 12, "ink", code=True)
        shape = f"(n, d_model) = ({n}, {d_model})"
        canvas.text(left + start_x + text_width("x[0]", 12, code=True) + 12, top + 8, shape, 12, "ink3")
        table(canvas, left + start_x, top, owners, texts, d_model)
        if level:
            tail, y = left + start_x + d_model * wide + 14, top + 40 + (token + 0.5) * row
            canvas.arrow(tail, y, left + stack_x - 14, y, "ink")
            canvas.text((tail + left + stack_x - 14) / 2, y - 12, "split", 12, "ink", ha="center", bold=True)
        else:
            _fall(canvas, left, top + 40 + n * row + 5, top + stack_y - 7)
            names(canvas, left + stack_x, top + stack_y)
        for i in range(h):
            at = left + stack_x + i * stack_pitch
            if d_k * wide >= 16 or i % 2 == 0:
                canvas.chip(at + 1, top + stack_y, i)
            if d_k * wide >= name_width - 4 or level:
                canvas.text(at + 24, top + stack_y + 8, f"heads[0, {i}]", 12, "ink", code=True)
            cells = owners[:, :d_k] * 0 + i
            table(canvas, at, top + stack_y, cells, stacks[i], d_k)

    def _fall(canvas: Canvas, left: float, top: float, bottom: float) -> None:
        """From each head's columns in x down to its own stack."""
        for i in range(h):
            above = left + start_x + (i + 0.5) * d_k * wide
            below = left + stack_x + i * stack_pitch + d_k * wide / 2
            canvas.arrow(above, top, below, bottom, themes.head_colour(i, canvas.theme))

    def spoken(i: int) -> str:
        first, last = int(heads[0, i, token, 0]), int(heads[0, i, token, -1])
        features = f"features {i * d_k} to {(i + 1) * d_k - 1} ({first} to {last})"
        return f"{features} are row {token} of heads[0, {i}], head {i + 1}"

    alt = (
        f"A table of {n} tokens by {d_model} features is split into {h} heads of {n} by {d_k}. "
        f"Of token {token}, {listed([spoken(i) for i in range(h)], 12)}."
    )
    if level:
        width = stack_x + (h - 1) * stack_pitch + max(d_k * wide, name_width)
    else:
        width = max(stack_x + (h - 1) * stack_pitch + d_k * wide, 430)
    height = stack_y + 40 + n * row + 2
    if title is None:
        title = f"Split: token {token} of the first sentence"
    if note is None:
        middle = min(1, h - 1)
        row_values = [int(v) for v in heads[0, middle, token]]
        listed_values = (
            ", ".join(map(str, row_values)) if d_k <= 8 else f"{row_values[0]} to {row_values[-1]}"
        )
        note = (
            f"Features {middle * d_k} to {(middle + 1) * d_k - 1} of token {token} ({listed_values}) are the "
            f"whole of row {token} of heads[0, {middle}]. No head got a piece of another token."
        )
    return framed(paint, width, height, alt, title, note)
