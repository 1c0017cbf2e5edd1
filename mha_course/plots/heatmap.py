"""heatmap: the attention map of one head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mha_course.plots import attention_map
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.numerals import as_array
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed

_LARGEST_CELL = 34
_TALLEST = 560
MOST_TOKENS = 320
MOST_PX_A_CELL = 200


def heatmap(
    weights: object,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
    mask: object = None,
    note: str | None = None,
    vmax: float = 1.0,
    cell: int | None = None,
    numbers: bool | None = None,
) -> Picture:
    """Draw the weights of one head: a row for each query, a column for each key.

    weights: (n_q, n_k), or with leading axes of size 1; from 0 to 1. query_tokens, key_tokens: the words
    (key_tokens=None: the same as the queries). mask: bool, True = may attend; what is not allowed is
    hatched. vmax: the weight at the dark end of the scale. cell: px of a cell, None = what fits.
    numbers: True prints every weight, False none, None = all up to 9 x 9, those from 0.5 on in larger maps
    (where cells have room).
    Raises: ValueError when shapes, tokens and mask don't fit, or weights lie outside 0 to 1.
    """
    attention_map.check_scale(vmax)
    if cell is not None and not 1 <= cell <= MOST_PX_A_CELL:
        raise ValueError(f"cell={cell}: a cell has 1 to {MOST_PX_A_CELL} px.")
    table = as_array(weights, "weights").astype(float)
    while table.ndim > 2 and table.shape[0] == 1:
        table = table[0]
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"weights must be (n_q, n_k) of one head; got {table.shape}. For all heads: plots.head_grid."
        )
    allowed = attention_map.allowed_cells(mask, (1, *table.shape))
    one = attention_map.build(table, query_tokens, key_tokens, None if allowed is None else allowed[0])
    one, cut = first_tokens(one)
    n_q, n_k = one.weights.shape
    room = WIDEST - 2 * PADDING - 130
    cell = cell or max(1, min(_LARGEST_CELL, int(room / n_k), int(_TALLEST / n_q)))
    around = attention_map.margins(one, cell)
    bar = 24.0
    top = around.top
    width = max(around.left + cell * n_k + around.right, around.left + 220)
    # The scale stands below, so that a small map isn't pushed aside by it.
    height = top + cell * n_q + 14 + bar

    def paint(canvas: Canvas, x: float, y: float) -> None:
        left, upper = round(x + around.left), round(y + top)
        attention_map.draw(canvas, left, upper, cell, one, vmax, numbers=numbers)
        attention_map.axis_names(canvas, left, upper)
        bar_y = upper + cell * n_q + 18
        canvas.text(left, bar_y + 4, "weight", 11, "ink3")
        attention_map.colour_bar(canvas, left + text_width("weight", 11) + 22, bar_y, vmax)

    alt = f"Attention map of {n_q} queries (rows) by {n_k} keys (columns). {attention_map.in_words(one)}"
    extra = " ".join(part for part in (note, cut, attention_map.thinned(one, cell)) if part)
    return framed(paint, width, height, alt, title, extra or None)


def first_tokens(one: attention_map.Map) -> tuple[attention_map.Map, str]:
    """At most the first 320 queries and keys, and a sentence that says so when some were left out."""
    n_q, n_k = one.weights.shape
    if max(n_q, n_k) <= MOST_TOKENS:
        return one, ""
    most = MOST_TOKENS
    kept = attention_map.Map(
        one.weights[:most, :most], one.hatched[:most, :most], one.query_tokens[:most], one.key_tokens[:most]
    )
    return kept, f"Shown: the first {most} of {np.max([n_q, n_k])} tokens."
