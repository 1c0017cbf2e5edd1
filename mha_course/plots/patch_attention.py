"""patch_attention: a picture, and what one of its patches attends to in every head, over the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mha_course import theme as themes
from mha_course.plots import attention_map
from mha_course.plots.canvas import Canvas
from mha_course.plots.numerals import as_array, listed, number, weight
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed

_ROOM = WIDEST - 2 * PADDING
_GAP, _CAPTION, _LAYER, _SCALE = 14, 22, 24, 26
_LARGEST, _SMALLEST, _LOW = 112, 56, 300
_FAINT = 0.12  # less ink than this is not drawn: paper


def patch_attention(
    image: object,
    maps: object,
    patch: int | None = None,
    layer: int | None = None,
    vmax: float | None = None,
    title: str | None = None,
    note: str | None = None,
) -> Picture:
    """Draw a picture and, head by head, how much weight each of its patches gets.

    image: (side, side), ink from 0 to 1. maps: `AttentionMaps` over the patches, or weights (h, n, n) or
    (layers, h, n, n), where n is the number of patches, row by row. patch: whose row of weights is shown,
    from 0; None is the mean over all patches. layer: one of them only, from 0. vmax: the weight at the end of
    the scale, None = the largest one shown; the scale is the same for all heads.

    Every head is a map of the patches in the colours of weights, with the picture's ink drawn over it.
    Raises: ValueError for shapes that don't fit, a patch or layer that isn't there, and weights outside 0
    to 1.
    """
    ink = as_array(image, "image").astype(float)
    if ink.ndim != 2 or ink.shape[0] != ink.shape[1] or not ink.size:
        raise ValueError(f"image must be (side, side); got {ink.shape}.")
    rows, names, told = _rows(maps, patch)
    per_side = math.isqrt(rows.shape[-1])
    if per_side**2 != rows.shape[-1] or len(ink) % per_side:
        raise ValueError(
            f"{rows.shape[-1]} patches can't be the squares of a picture of {len(ink)} x {len(ink)} pixels."
        )
    layers = range(len(rows))
    if layer is not None:
        if layer not in layers:
            raise ValueError(f"layer={layer}: there are {len(rows)}, from 0 to {len(rows) - 1}.")
        layers = (layer,)
    shown = rows[list(layers)]
    vmax = max(float(shown.max()), 1e-3) if vmax is None else vmax
    attention_map.check_scale(vmax)
    names = names or tuple(f"row {i // per_side + 1} column {i % per_side + 1}" for i in range(per_side**2))
    place = _Places.fitting(len(layers), rows.shape[1], named=len(rows) > 1)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        canvas.text(x, y + 8, "the picture", 12, "ink", bold=True)
        _picture(canvas, x, y + _SCALE, place.side, ink, per_side, patch)
        _scale(canvas, x + place.left, y, vmax)
        for i, each in enumerate(layers):
            for head, weights in enumerate(rows[each]):
                left, top = place.of(i, head)
                if head == 0 and len(rows) > 1:
                    canvas.text(x + left, y + top - _LAYER / 2 + 2, f"layer {each + 1}", 12, "ink", bold=True)
                _head(canvas, x + left, y + top, place.side, weights.reshape(per_side, -1), ink, vmax, patch)
                canvas.chip(x + left, y + top + place.side + 4, head)
                if place.side >= 70:
                    canvas.text(x + left + 22, y + top + place.side + 12, f"head {head + 1}", 12, "ink")

    alt = _alt(rows, list(layers), names, patch, per_side)
    words = " ".join(part for part in (note, told) if part)
    return framed(paint, place.width, place.height, alt, title, words or None)


@dataclass(frozen=True)
class _Places:
    """Where the panels stand: the picture at the left, then heads in rows, layer below layer."""

    side: int
    columns: int
    lines: int
    layers: int
    named: bool

    @classmethod
    def fitting(cls, layers: int, h: int, named: bool) -> _Places:
        """The largest panels that keep the drawing low, else the lowest drawing."""
        found = []
        for columns in range(1, h + 1):
            lines = -(-h // columns)
            side = min(_LARGEST, int((_ROOM - columns * _GAP - 8) / (columns + 1)))
            tall = layers * lines * (side + _CAPTION)
            if side >= _SMALLEST:
                found.append(
                    (
                        tall <= _LOW,
                        side if tall <= _LOW else -tall,
                        -columns,
                        cls(side, columns, lines, layers, named),
                    )
                )
        return max(found, key=lambda one: one[:3])[-1]

    @property
    def left(self) -> float:
        return self.side + _GAP + 8

    @property
    def head(self) -> float:
        return _LAYER if self.named else 0

    def of(self, layer: int, head: int) -> tuple[float, float]:
        block = self.head + self.lines * (self.side + _CAPTION + 6)
        top = _SCALE + layer * block + self.head + head // self.columns * (self.side + _CAPTION + 6)
        return self.left + head % self.columns * (self.side + _GAP), top

    @property
    def width(self) -> float:
        return max(self.left + self.columns * (self.side + _GAP) - _GAP, 430)

    @property
    def height(self) -> float:
        return _SCALE + self.layers * (self.head + self.lines * (self.side + _CAPTION + 6))


def _rows(maps: object, patch: int | None) -> tuple[np.ndarray, tuple[str, ...], str]:
    """Weights of the shown row, (layers, h, n); names of the patches, where known; a note."""
    weights = as_array(getattr(maps, "weights", maps), "maps").astype(float)
    weights = weights[None] if weights.ndim == 3 else weights
    if weights.ndim != 4 or weights.shape[-1] != weights.shape[-2] or 0 in weights.shape:
        raise ValueError(f"maps must be (layers, h, n, n) or (h, n, n); got {weights.shape}.")
    if weights.min() < -1e-6 or weights.max() > 1 + 1e-4:
        raise ValueError(
            f"weights must lie between 0 and 1, but run from {weights.min():.3g} to {weights.max():.3g}."
        )
    n = weights.shape[-1]
    if patch is not None and not 0 <= patch < n:
        raise ValueError(f"patch={patch}: there are {n}, from 0 to {n - 1}.")
    row = weights.mean(-2) if patch is None else weights[:, :, patch]
    names: Sequence[str] = getattr(maps, "key_tokens", ())
    return row, tuple(names), getattr(maps, "note", "")


def _picture(
    canvas: Canvas, x: float, y: float, side: float, ink: np.ndarray, per_side: int, patch: int | None
) -> None:
    """The picture alone: ink in grey, the patches' borders, the chosen patch ringed."""
    paper, full = (attention_map.rgb_table([canvas.colour(c)])[0].astype(float) for c in ("surface", "ink"))
    share = np.clip(ink, 0, 1)[..., None]
    canvas.cells(x, y, side, side, np.round(paper + share * (full - paper)))
    step = side / per_side
    across = [((x, y + i * step), (x + side, y + i * step)) for i in range(1, per_side)]
    down = [((x + i * step, y), (x + i * step, y + side)) for i in range(1, per_side)]
    canvas.lines(across + down, "edge", 1.0)
    canvas.rect(x, y, side, side, edge="edge", z=4)
    _ring(canvas, x, y, step, per_side, patch)


def _head(
    canvas: Canvas,
    x: float,
    y: float,
    side: float,
    weights: np.ndarray,
    ink: np.ndarray,
    vmax: float,
    patch: int | None,
) -> None:
    ramp = attention_map.rgb_table(themes.sequential(canvas.theme))
    shade = np.clip(np.round(255 * weights / vmax), 0, 255).astype(int)
    shade[weights < attention_map.NOTHING] = 0
    canvas.cells(x, y, side, side, ramp[shade])
    per_side = len(weights)
    attention_map.gaps(canvas, x, y, side / per_side, side / per_side, per_side, per_side)
    # Ink as squares that are larger the darker the pixel, so that the weight below stays visible.
    pixel = side / len(ink)
    for row, column in np.argwhere(ink >= _FAINT):
        size = 0.56 * pixel * math.sqrt(min(1.0, ink[row, column]))
        corner = (x + (column + 0.5) * pixel - size / 2, y + (row + 0.5) * pixel - size / 2)
        canvas.rect(*corner, size, size, "ink", "surface", 0.8, z=3)
    canvas.rect(x, y, side, side, edge="edge", z=4)
    _ring(canvas, x, y, side / per_side, per_side, patch)


def _ring(canvas: Canvas, x: float, y: float, step: float, per_side: int, patch: int | None) -> None:
    if patch is None:
        return
    left, top = x + patch % per_side * step, y + patch // per_side * step
    canvas.rect(left + 1.5, top + 1.5, step - 3, step - 3, edge="surface", stroke=3, z=4.5)
    canvas.rect(left, top, step, step, edge="ink", stroke=1.8, z=4.6)


def _scale(canvas: Canvas, x: float, y: float, vmax: float) -> None:
    canvas.text(x, y + 8, "weight of a patch, all heads", 11, "ink3")
    attention_map.colour_bar(canvas, x + 182, y + 4, vmax)


def _alt(rows: np.ndarray, layers: list[int], names: Sequence[str], patch: int | None, per_side: int) -> str:
    """Each head's three heaviest patches, and how even its row is."""
    n = rows.shape[-1]
    parts = []
    for layer in layers:
        for head, weights in enumerate(rows[layer]):
            best = np.argsort(-weights, kind="stable")[:3]
            most = ", ".join(f"{names[i]} {weight(weights[i])}" for i in best)
            where = f"layer {layer + 1} head {head + 1}" if len(layers) > 1 else f"head {head + 1}"
            parts.append(f"{where}: {most}")
    whose = "the mean of all patches" if patch is None else f"patch {names[patch]}, which is ringed"
    return (
        f"A picture cut into {per_side} by {per_side} patches, and for every head how much weight each patch "
        f"gets from {whose}. An even share would be {number(1 / n, 2)}. The three largest weights of "
        f"{listed(parts, 16)}."
    )
