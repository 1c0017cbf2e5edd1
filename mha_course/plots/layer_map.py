"""layer_map: the whole layer in one low drawing, with the step of the lesson lit."""

from __future__ import annotations

import numpy as np

from mha_course.plots import layer_stages as stages
from mha_course.plots.attention_map import rgb_table
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed

STEPS = ("x", "project", "split", "scores", "weights", "heads", "concat", "output")
_OPERATIONS = (
    "tokens as rows",
    "q, k, v = x · W",
    "view, transpose",
    "q · kᵀ / √d_k",
    "softmax",
    "weights · v",
    "transpose, view",
    "concat · W_O",
)
_SHAPES = (
    "(b, n, d_model)",
    "3 × (b, n, d_model)",
    "(b, h, n, d_k)",
    "(b, h, n, n)",
    "(b, h, n, n)",
    "(b, h, n, d_k)",
    "(b, n, d_model)",
    "(b, n, d_model)",
)
_ALT = {
    "x": "the input x, one row for each token",
    "project": "project: x times three matrices gives q, k and v",
    "split": "split: the features of q, k and v are handed out to the heads",
    "scores": "scores: each head compares every query with every key",
    "weights": "weights: softmax turns each row of scores into weights that sum to 1",
    "heads": "heads: each head adds up the values with its weights",
    "concat": "concat: the heads' results are laid side by side again",
    "output": "output: W_O mixes the heads into the result",
}
_ROOM = WIDEST - 2 * PADDING
_HEIGHT = 150.0
_BLOCK_TOP = 30.0


def layer_map(step: str | None = None) -> Picture:
    """Draw multi-head attention from x to output, the given step lit and the others quiet.

    step: one of STEPS, None for all of it lit, or "block" for the layer inside a Transformer block (residual
    and LayerNorm after each part, as in Vaswani et al. 2017). The cells are the numbers of a small traced
    layer, darker where larger, in the colour of the head they belong to.
    Raises: ValueError for any other step.
    """
    if step == "block":
        from mha_course.plots.block_map import block_map

        return block_map()
    if step is not None and step not in STEPS:
        raise ValueError(
            f"step={step!r} is not part of the layer; it can be {', '.join(STEPS)}, block or None."
        )
    pitch = _ROOM / len(STEPS)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        for i, name in enumerate(STEPS):
            left = x + i * pitch
            lit = name == step
            if lit:
                canvas.rect(left + 1, y - 6, pitch - 2, _HEIGHT + 10, "raised", "ink", 2, radius=8, z=0.4)
            loud = lit or step is None
            _step_title(canvas, left, y, i, lit, pitch)
            middle = left + pitch / 2
            ground = "raised" if lit else "surface"
            _draw_stage(canvas, name, middle, y + _BLOCK_TOP, 1.0 if loud else 0.5, ground)
            colour = "ink" if lit else "ink2"
            canvas.text(middle, y + 127, _OPERATIONS[i], 11, colour, ha="center")
            canvas.text(
                middle,
                y + 143,
                _SHAPES[i],
                _fit(_SHAPES[i], pitch - 6),
                colour,
                ha="center",
                bold=lit and i != 1,
            )
            if i:
                at = y + _BLOCK_TOP + 43
                canvas.line(
                    [left - 2, left + 2, left - 2], [at - 4, at, at + 4], "ink2", 1.5, z=5
                ) if not lit else None

    steps = "; ".join(f"{i + 1} {_ALT[name]}" for i, name in enumerate(STEPS))
    here = f" Lit: step {STEPS.index(step) + 1}, {step}." if step else ""
    alt = f"Multi-head attention in eight steps, from left to right.{here} {steps}."
    return framed(paint, _ROOM, _HEIGHT, alt)


def _fit(text: str, room: float) -> float:
    """11 px, or a little less where a shape is wider than its column."""
    return min(11.0, 11.0 * room / text_width(text, 11, bold=True))


def _step_title(canvas: Canvas, left: float, y: float, i: int, lit: bool, pitch: float) -> None:
    name = STEPS[i]
    wide = 20 + text_width(name, 13, bold=True)
    start = left + (pitch - wide) / 2
    ring(canvas, start + 8, y + 8, i + 1, lit)
    canvas.text(start + 21, y + 8, name, 13, "ink" if lit else "ink2", bold=True)


def ring(canvas: Canvas, x: float, y: float, numeral: int, lit: bool) -> None:
    """A step's number in a circle, filled when lit."""
    canvas.rect(
        x - 8, y - 8, 16, 16, "ink" if lit else "surface", "ink" if lit else "edge", 1.2, radius=8, z=4
    )
    canvas.text(x, y, str(numeral), 10, "surface" if lit else "ink2", ha="center", bold=True)


def _draw_stage(canvas: Canvas, name: str, middle: float, y: float, strength: float, ground: str) -> None:
    x, trace = stages.small_trace()
    heads = stages.head_rgb(canvas.theme)
    back = rgb_table([canvas.colour(ground)])[0].astype(float)
    by_feature = np.repeat(heads, stages.D_MODEL // stages.H, axis=0)[None]
    stack = 30.0
    centre = y + stack

    def put(values: np.ndarray, colours: np.ndarray, top: float, least: float = 0.3) -> None:
        rgb = stages.tinted(
            strength * stages.shades(values, least), np.broadcast_to(colours, (*values.shape, 3)), back
        )
        stages.grid(canvas, middle - values.shape[1] * stages.CELL / 2, top, stages.CELL, rgb, ground)

    if name == "x":
        put(x[0].numpy(), rgb_table([canvas.colour("edge")])[0], centre)
    elif name == "project":
        for i, letter in enumerate("qkv"):
            whole = getattr(trace, letter)[0].transpose(0, 1).reshape(stages.N, stages.D_MODEL)
            put(whole.numpy(), by_feature, y + i * stack)
            canvas.text(middle - 38, y + i * stack + 12, letter, 11, ha="center", bold=True)
    elif name in ("split", "scores", "weights", "heads"):
        values = {"split": trace.q, "scores": trace.scores, "weights": trace.weights, "heads": trace.heads}[
            name
        ][0]
        if name == "scores":
            values = values - values.amin()
        for i in range(stages.H):
            put(
                values[i].numpy(),
                heads[i],
                y + i * stack,
                0.0 if name == "weights" else 0.15 if name == "scores" else 0.3,
            )
    elif name == "concat":
        put(trace.concat[0].numpy(), by_feature, centre)
    else:
        stages.mixed(canvas, middle, centre, trace, strength, ground)
