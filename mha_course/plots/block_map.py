"""block_map: the layer inside a Transformer block, with its residual paths and LayerNorms."""

from __future__ import annotations

import numpy as np

from mha_course.layers import AttentionTrace
from mha_course.plots import layer_stages as stages
from mha_course.plots.attention_map import rgb_table
from mha_course.plots.canvas import Canvas
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed

_ROOM = WIDEST - 2 * PADDING
_HEIGHT = 150.0
_LEVEL = 88.0
_BLOCK = stages.D_MODEL * stages.CELL


def block_map() -> Picture:
    """Draw x → attention → add and norm → feed-forward → add and norm, from the numbers of a small block.

    Each part's input also goes around it and is added to its output (residual), and LayerNorm follows, as
    in Vaswani et al. 2017.
    """

    def paint(canvas: Canvas, x: float, y: float) -> None:
        inputs, trace = stages.small_trace()
        first, last = stages.block_outputs()
        level = y + _LEVEL
        _cells(canvas, x, level, inputs[0].numpy(), "x")
        start, end = x + 104, x + 310
        canvas.arrow(x + _BLOCK + 6, level, start - 4, level)
        canvas.rect(start, y + 22, end - start, 128, "raised", "ink", 2, radius=8, z=0.4)
        canvas.text((start + end) / 2, y + 35, "multi-head attention", 12, "ink", ha="center", bold=True)
        _inside(canvas, start, level + 6, trace)
        after = _add_and_norm(canvas, end, level, x + 82, y + 8)
        _cells(canvas, after, level, first.numpy(), "")
        start, end = after + _BLOCK + 40, after + _BLOCK + 116
        canvas.arrow(after + _BLOCK + 6, level, start - 4, level)
        canvas.rect(start, level - 30, end - start, 60, "surface", "edge", 1.2, radius=8, z=0.4)
        for i, word in enumerate(("feed-", "forward")):
            canvas.text((start + end) / 2, level - 8 + 16 * i, word, 12, "ink2", ha="center", bold=True)
        final = _add_and_norm(canvas, end, level, after + _BLOCK + 21, level - 48)
        _cells(canvas, final, level, last.numpy(), "output")

    alt = (
        "The layer inside a Transformer block, from left to right. x goes through multi-head attention, "
        "which is lit, and also around it; both are added and LayerNorm follows. The result goes through a "
        "feed-forward network and also around it; both are added and LayerNorm follows. Every stage has the "
        "shape (b, n, d_model)."
    )
    return framed(paint, _ROOM, _HEIGHT, alt)


def _cells(canvas: Canvas, left: float, level: float, values: np.ndarray, name: str) -> None:
    """A block of (n, d_model) numbers in grey, with its left edge at `left` and its middle at `level`."""
    grey = rgb_table([canvas.colour("edge")])[0].astype(float)
    ground = rgb_table([canvas.colour("surface")])[0].astype(float)
    rgb = stages.tinted(stages.shades(values, 0.3), np.broadcast_to(grey, (*values.shape, 3)), ground)
    stages.grid(canvas, left, level - stages.N * stages.CELL / 2, rgb, "surface")
    canvas.text(left + _BLOCK / 2, level - 26, name, 13, "ink2", ha="center", bold=True)


def _inside(canvas: Canvas, left: float, level: float, trace: AttentionTrace) -> None:
    """The heads' weights and the mixed output, small, inside the attention box."""
    heads = stages.head_rgb(canvas.theme)
    ground = rgb_table([canvas.colour("raised")])[0].astype(float)
    for i, weights in enumerate(trace.weights[0].numpy()):
        colours = np.broadcast_to(heads[i], (*weights.shape, 3))
        rgb = stages.tinted(stages.shades(weights, 0.0), colours, ground)
        top = level - 12.5 + 33 * (i - 1)
        canvas.chip(left + 14, top + 4.5, i)
        stages.grid(canvas, left + 38, top, rgb, "raised", frame=True)
        canvas.arrow(left + 70, top + 12.5, left + 118, level + (i - 1) * 7, "edge", 1.2)
    middle = left + 128 + _BLOCK / 2
    stages.mixed(canvas, middle, level - 12.5, trace, 1.0, "raised")
    canvas.text(middle, level - 26, "concat · W_O", 11, "ink2", ha="center")


def _add_and_norm(canvas: Canvas, left: float, level: float, branch: float, over: float) -> float:
    """After a part's right edge: a plus that the path around the part joins, then LayerNorm.

    branch: where the path leaves the line before the part; over: its height. Returns the px after it all.
    """
    plus = left + 31
    norm = plus + 31
    canvas.arrow(left + 4, level, plus - 12, level)
    canvas.circle(plus, level, 8.5, "surface", "ink2", 1.5)
    canvas.line([plus - 4, plus + 4], [level, level], "ink", 1.5, z=5)
    canvas.line([plus, plus], [level - 4, level + 4], "ink", 1.5, z=5)
    canvas.line([branch, branch, plus, plus], [level, over, over, level - 14], "ink2", 1.5)
    canvas.arrow(plus, level - 20, plus, level - 12)
    canvas.arrow(plus + 12, level, norm - 4, level)
    canvas.rect(norm, level - 36, 22, 72, "surface", "edge", 1.2, radius=6, z=0.4)
    canvas.text(norm + 15, level, "LayerNorm", 11, "ink2", ha="center", turn=90)
    canvas.arrow(norm + 26, level, norm + 43, level)
    return norm + 49
