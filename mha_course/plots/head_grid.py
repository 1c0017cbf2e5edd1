"""head_grid: all heads of a layer side by side, or all heads of all layers, on one scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mha_course.plots import attention_map
from mha_course.plots.attention_map import Map
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.heatmap import first_tokens
from mha_course.plots.numerals import as_array, listed, number, weight
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed

_ROOM = WIDEST - 2 * PADDING
_LARGEST_CELL = 30
_LARGEST_OF_FOUR = 22
_TALLEST_MAP = 330
_GAP = 18
_HEADER = 26


def head_grid(
    maps_or_weights: object,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
    mask: object = None,
    note: str | None = None,
    sentence: int = 0,
    vmax: float = 1.0,
    columns: int | None = None,
    numbers: bool | None = None,
    spread: bool = True,
) -> Picture:
    """Draw every head's attention map with the same colours and the same labels.

    maps_or_weights: AttentionMaps; an AttentionTrace; or weights (b, h, n_q, n_k), of which one
    `sentence` is shown, or (h, n_q, n_k). tokens, key_tokens: the words of queries and keys (from
    AttentionMaps when left out). mask: bool, True = may attend, (n_q, n_k) or broadcasting to
    (b, h, n_q, n_k). vmax: the weight at the end of the scale. columns: maps in a row, None = what fits.
    numbers: as in `heatmap`. spread: whether captions and alt tell each head's spread (entropy / log n).
    Raises: ValueError when shapes, tokens and mask don't fit, or weights lie outside 0 to 1.
    """
    attention_map.check_scale(vmax)
    if columns is not None and columns < 1:
        raise ValueError(f"columns={columns}: there is at least one map in a row.")
    layers, tokens, key_tokens, inner_note = _read(maps_or_weights, tokens, key_tokens, mask, sentence)
    maps = [[attention_map.build(w, tokens, key_tokens, a) for w, a in layer] for layer in layers]
    cut = first_tokens(maps[0][0])[1]
    maps = [[first_tokens(one)[0] for one in layer] for layer in maps]
    notes = [part for part in (note, inner_note, cut) if part]
    if len(maps) > 1:
        return _layers_grid(maps, title, notes, vmax, spread)
    heads = maps[0]
    grid = _Grid.fitting(heads, columns)
    notes += [part for part in (attention_map.thinned(heads[0], grid.cell),) if part]
    rows = -(-len(heads) // grid.columns)
    height = _HEADER + rows * grid.row_height - _GAP / 2

    def paint(canvas: Canvas, x: float, y: float) -> None:
        _header(canvas, x, y, grid.width, vmax)
        for i, one in enumerate(heads):
            column, row = i % grid.columns, i // grid.columns
            left = round(x + grid.left + column * grid.pitch)
            upper = round(y + _HEADER + row * grid.row_height + grid.top)
            attention_map.draw(canvas, left, upper, grid.cell, one, vmax, left=column == 0, numbers=numbers)
            _caption(canvas, left, upper + grid.map_height + 6, i, one, grid.map_width, spread)

    parts = [f"head {i + 1}: {_told(one, spread)}" for i, one in enumerate(heads)]
    n_q, n_k = heads[0].weights.shape
    alt = (
        f"Attention maps of {len(heads)} heads, each {n_q} queries (rows) by {n_k} keys (columns), one "
        f"colour scale. {listed(parts, 16)}.{_hatched_words(heads)}"
    )
    return framed(paint, grid.width, height, alt, title, " ".join(notes) or None)


class _Grid:
    """Where the maps of a grid stand, in px."""

    def __init__(self, heads: list[Map], columns: int, cell: int) -> None:
        n_q, n_k = heads[0].weights.shape
        around = attention_map.margins(heads[0], cell)
        self.columns, self.cell = columns, cell
        self.left, self.top = around.left, around.top
        self.map_width, self.map_height = cell * n_k, cell * n_q
        self.narrow = self.map_width < 92
        # A caption needs room for "head 12", and labels that lean out need room up to the next map.
        self.pitch = max(self.map_width, 60 if self.narrow else 92) + max(_GAP, around.right + 2)
        self.row_height = self.top + self.map_height + (24 if not self.narrow else 38) + _GAP / 2
        last = max(self.map_width + around.right, 60 if self.narrow else 92)
        self.width = max(self.left + (columns - 1) * self.pitch + last, 430)

    @classmethod
    def fitting(cls, heads: list[Map], columns: int | None) -> _Grid:
        """As many maps in a row as keep their cells large enough to be labelled one by one."""
        n_q, n_k = heads[0].weights.shape
        h, largest = len(heads), _LARGEST_CELL
        wanted = [columns] if columns else [c for c in (4, 3, 2, 1) if c <= h]
        # Four in a row fill the page: at 150 % zoom they would shrink until no label can be read.
        if not columns and h == 4 and n_k > 8:
            wanted, largest = [2, 1], _LARGEST_OF_FOUR
        if not columns and h in (5, 6, 9):
            wanted = [c for c in (3, 2, 1) if c <= h]
        best = None
        for count in wanted:
            cell = min(largest, int(_TALLEST_MAP / n_q) or 1, int(_ROOM / count / n_k) or 1)
            while cell > 1 and cls(heads, count, cell).width > _ROOM:
                cell -= 1
            grid = cls(heads, count, cell)
            # Two in a row make eight heads a very long picture: then rather name every second token.
            enough = cell >= 12 or cell >= 6 and (count <= 2 or count <= 3 and h > 4)
            if best is None or best.cell < cell:
                best = grid
            if enough:
                return grid
        return best


def _read(
    source: object,
    tokens: Sequence[str] | None,
    key_tokens: Sequence[str] | None,
    mask: object,
    sentence: int,
) -> tuple[list[list[tuple[np.ndarray, np.ndarray | None]]], Sequence[str] | None, Sequence[str] | None, str]:
    """Weights and allowed cells of every head of every layer, the tokens, and the source's own note."""
    note, which = "", None
    if hasattr(source, "query_tokens") and hasattr(source, "weights"):
        weights = as_array(source.weights, "weights").astype(float)
        tokens = source.query_tokens if tokens is None else tokens
        key_tokens = source.key_tokens if key_tokens is None else key_tokens
        mask = getattr(source, "allowed", None) if mask is None else mask
        note = source.note
    else:
        if hasattr(source, "weights") and hasattr(source, "scores"):
            mask = source.mask if mask is None else mask
            source = source.weights
        weights = as_array(source, "weights").astype(float)
        if weights.ndim == 4:
            if not -len(weights) <= sentence < len(weights):
                raise ValueError(
                    f"weights hold {len(weights)} sentences; sentence={sentence} is not among them."
                )
            which = sentence % len(weights)
            weights = weights[which]
        if weights.ndim != 3:
            raise ValueError(
                f"weights must be (b, h, n_q, n_k) or (h, n_q, n_k); got {weights.shape}. "
                "For a single map: plots.heatmap."
            )
        weights = weights[None]
    if 0 in weights.shape:
        raise ValueError(f"weights are empty: shape {weights.shape}.")
    allowed = attention_map.allowed_cells(mask, weights.shape[1:], which)
    layers = [
        [(head, None if allowed is None else allowed[i]) for i, head in enumerate(layer)] for layer in weights
    ]
    return layers, tokens, key_tokens, note


def _header(canvas: Canvas, x: float, y: float, width: float, vmax: float) -> None:
    """How to read the maps, and the one scale of them all."""
    canvas.text(x, y + 8, "query ↓", 12, "ink", bold=True)
    canvas.text(x + text_width("query ↓", 12, bold=True) + 14, y + 8, "key →", 12, "ink", bold=True)
    end = text_width(number(vmax, None if vmax == 1 else 2), 11) + 6
    bar = x + width - end - 120
    canvas.text(bar - 20, y + 8, "weight, all heads", 11, "ink3", ha="right")
    attention_map.colour_bar(canvas, bar, y + 4, vmax)


def _caption(canvas: Canvas, x: float, y: float, head: int, one: Map, width: float, told: bool) -> None:
    canvas.chip(x, y, head)
    canvas.text(x + 22, y + 8, f"head {head + 1}", 12, "ink")
    if not told:
        return
    spread = f"spread {number(_spread(one), 2)}"
    if width < 92:
        canvas.text(x, y + 24, spread, 11, "ink3")
    elif 30 + text_width(f"head {head + 1}") + text_width(spread, 11) <= width:
        canvas.text(x + width, y + 8, spread, 11, "ink3", ha="right")


def _layers_grid(
    maps: list[list[Map]], title: str | None, notes: list[str], vmax: float, spread: bool
) -> Picture:
    """Layers down, heads across: maps without labels, for seeing the kinds of pattern at a glance."""
    n_layers, h = len(maps), len(maps[0])
    n_q, n_k = maps[0][0].weights.shape
    side = max(4 * max(1, n_q // 24), min(120, (_ROOM - 60) / h - 8))
    cell = side / max(n_q, n_k)
    cell = int(cell) if cell >= 3 else cell
    pitch_x, pitch_y = cell * n_k + 8, cell * n_q + 8
    width = max(60 + h * pitch_x - 8, 430)
    top = _HEADER + 24

    def paint(canvas: Canvas, x: float, y: float) -> None:
        _header(canvas, x, y, width, vmax)
        for j in range(h):
            canvas.chip(x + 60 + j * pitch_x + (cell * n_k - 16) / 2, y + _HEADER, j)
        for i, layer in enumerate(maps):
            upper = y + top + i * pitch_y
            canvas.text(x, upper + cell * n_q / 2, f"layer {i + 1}", 12)
            for j, one in enumerate(layer):
                attention_map.draw(canvas, x + 60 + j * pitch_x, upper, cell, one, vmax, False, False, False)

    parts = [
        f"layer {i + 1} head {j + 1}: {_told(one, spread)}"
        for i, layer in enumerate(maps)
        for j, one in enumerate(layer)
    ]
    alt = (
        f"Attention maps of {n_layers} layers (down) by {h} heads (across), each {n_q} queries by {n_k} "
        f"keys, one colour scale. {listed(parts, 24)}.{_hatched_words(maps[0])}"
    )
    return framed(paint, width, top + n_layers * pitch_y - 8, alt, title, " ".join(notes) or None)


def _spread(one: Map) -> float:
    """Mean entropy of the rows that have weight, over log n_k: 0 for one key, 1 for all alike."""
    rows = np.nan_to_num(one.weights)[one.weights.sum(axis=1) > 0.5]
    n_k = one.weights.shape[1]
    if n_k < 2 or not len(rows):
        return 0.0
    entropy = -(rows * np.log(np.where(rows > 0, rows, 1.0))).sum(axis=1)
    return float(entropy.mean() / np.log(n_k))


def _told(one: Map, spread: bool) -> str:
    return (f"spread {number(_spread(one), 2)}, " if spread else "") + _strongest(one)


def _strongest(one: Map) -> str:
    seen = np.where(one.hatched, -1.0, np.nan_to_num(one.weights, nan=-1.0))
    if seen.max() < 0:
        return "nothing to attend to"
    q, k = np.unravel_index(int(seen.argmax()), seen.shape)
    return f"largest {one.query_tokens[q]} → {one.key_tokens[k]} {weight(seen[q, k])}"


def _hatched_words(heads: list[Map]) -> str:
    blocked = int(heads[0].hatched.sum())
    broken = sum(int(one.broken.sum()) for one in heads)
    words = (
        f" In head 1, {blocked} of {heads[0].hatched.size} cells are hatched: not allowed." if blocked else ""
    )
    return words + (f" {broken} weights are NaN, not a number." if broken else "")
