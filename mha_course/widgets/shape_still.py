"""The ShapeTracer as a still picture: one line a step, for places where no live view runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mha_course.plots.canvas import Canvas
from mha_course.plots.picture import Picture, framed

__all__ = ["shape_still"]

_ROW, _WIDTH = 30.0, 700.0
_COLUMNS = {"name": 34.0, "formula": 120.0, "symbols": 290.0, "shape": 450.0}


def shape_still(frame: Mapping[str, Any], step: int) -> Picture:
    """Draw the eight steps with their shapes in symbols and in numbers; `step`, counted from 1, is lit.

    frame is what `shape_frame` returns. Raises: ValueError for a step that is not among them.
    """
    steps = frame["steps"]
    if not 1 <= step <= len(steps):
        raise ValueError(f"step={step}: there are {len(steps)} steps, counted from 1")
    lit = steps[step - 1]

    def paint(canvas: Canvas, left: float, top: float) -> None:
        for i, entry in enumerate(steps):
            y, chosen = top + i * _ROW, entry is lit
            if chosen:
                canvas.rect(left, y + 1, _WIDTH, _ROW - 2, "raised", "ink", stroke=1.5, radius=6)
            ink = "ink" if chosen else "ink2"
            canvas.text(left + 18, y + _ROW / 2, str(i + 1), 12, ink, ha="center", bold=chosen)
            for key, x in _COLUMNS.items():
                canvas.text(left + x, y + _ROW / 2, entry[key], 12, ink, bold=chosen)

    sizes = ", ".join(f"{name} = {frame[name]}" for name in ("b", "n", "d_model", "h", "d_k"))
    alt = (
        f"Eight steps of the layer with {sizes}. Lit: {lit['name']}, shape {lit['symbols']} = {lit['shape']}."
    )
    return framed(
        paint, _WIDTH, len(steps) * _ROW, alt, "Shapes through the layer", f"{sizes}. {lit['code']}"
    )
