"""layer_map: the whole layer in one low drawing, with the step of the lesson lit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mha_course.plots import layer_stages as stages
from mha_course.plots.attention_map import rgb_table
from mha_course.plots.block_map import block_map
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import PADDING, WIDEST, Picture, framed


@dataclass(frozen=True)
class _Step:
    """A step of the layer: what is done, the shape that results, px of its column, and words for it."""

    name: str
    operation: str
    shape: str
    width: float
    words: str


_STEPS = (
    _Step("x", "tokens as rows", "(b, n, d_model)", 96, "the input x, one row for each token"),
    _Step(
        "project", "q, k, v = x · W", "3 × (b, n, d_model)", 124, "x times three matrices gives q, k and v"
    ),
    _Step("split", "view, transpose", "(b, h, n, d_k)", 107, "the features of q, k and v go to the heads"),
    _Step("scores", "q · kᵀ / √d_k", "(b, h, n, n)", 91, "each head compares every query with every key"),
    _Step(
        "weights",
        "softmax",
        "(b, h, n, n)",
        98,
        "softmax turns each row of scores into weights that sum to 1",
    ),
    _Step("heads", "weights · v", "(b, h, n, d_k)", 88, "each head adds up the values with its weights"),
    _Step("concat", "transpose, view", "(b, n, d_model)", 104, "the heads' results stand side by side again"),
    _Step("output", "concat · W_O", "(b, n, d_model)", 98, "W_O mixes the heads into the result"),
)
STEPS = tuple(step.name for step in _STEPS)
_ROOM = WIDEST - 2 * PADDING
_HEIGHT = 150.0
_BLOCKS = 31.0
_STACK = 30.0


def layer_map(step: str | None = None) -> Picture:
    """Draw multi-head attention from x to output, the given step lit and the others quiet.

    step: "x", "project", "split", "scores", "weights", "heads", "concat" or "output"; None lights all of
    it; "block" shows the layer inside a Transformer block (residual and LayerNorm after each part, as in
    Vaswani et al. 2017). The cells are the numbers of a small traced layer, stronger where larger, in the
    colour of the head they belong to.
    Raises: ValueError for any other step.
    """
    if step == "block":
        return block_map()
    if step is not None and step not in STEPS:
        raise ValueError(f"step={step!r} is not in the layer; it can be {', '.join(STEPS)}, block or None.")

    def paint(canvas: Canvas, x: float, y: float) -> None:
        left = x
        for i, one in enumerate(_STEPS):
            lit = one.name == step
            if lit:
                box = (left + 5, y - 5, one.width - 10, _HEIGHT + 10)
                canvas.rect(*box, "raised", "ink", 2, radius=8, z=0.4)
            _column(canvas, left + one.width / 2, y, i, lit, step is None)
            if i:
                level = y + _BLOCKS + 43
                canvas.line([left - 2, left + 2, left - 2], [level - 4, level, level + 4], "ink2", 1.5, z=5)
            left += one.width

    here = f" Lit: step {STEPS.index(step) + 1}, {step}." if step else ""
    listed = "; ".join(f"{i + 1} {one.name}: {one.words}, {one.shape}" for i, one in enumerate(_STEPS))
    alt = f"Multi-head attention in eight steps from left to right.{here} {listed}."
    return framed(paint, _ROOM, _HEIGHT, alt)


def _column(canvas: Canvas, middle: float, y: float, i: int, lit: bool, all_lit: bool) -> None:
    """One step: number and name, its blocks, the operation and the shape, centred at `middle`."""
    step = _STEPS[i]
    start = middle - (21 + text_width(step.name, 13, bold=True)) / 2
    canvas.circle(start + 8, y + 8, 8, "ink" if lit else "surface", "ink" if lit else "edge", 1.2)
    canvas.text(start + 8, y + 8, str(i + 1), 10, "surface" if lit else "ink2", ha="center", bold=True)
    colour = "ink" if lit else "ink2"
    canvas.text(start + 21, y + 8, step.name, 13, colour, bold=True)
    _blocks(
        canvas, step.name, middle, y + _BLOCKS, 1.0 if lit or all_lit else 0.6, "raised" if lit else "surface"
    )
    canvas.text(middle, y + 129, step.operation, 11, colour, ha="center")
    fits = text_width(step.shape, 11, bold=True) <= step.width - 14
    canvas.text(middle, y + 145, step.shape, 11, colour, ha="center", bold=lit and fits)


def _blocks(canvas: Canvas, name: str, middle: float, y: float, strength: float, ground: str) -> None:
    """The numbers of a step as cells; three blocks where there are three heads or q, k and v."""
    x, trace = stages.small_trace()
    heads = stages.head_rgb(canvas.theme)
    back = rgb_table([canvas.colour(ground)])[0].astype(float)
    by_feature = np.repeat(heads, stages.D_MODEL // stages.H, axis=0)[None]

    def put(
        values: np.ndarray, colours: np.ndarray, row: int, least: float = 0.3, frame: bool = False
    ) -> None:
        shade = strength * stages.shades(values, least)
        rgb = stages.tinted(shade, np.broadcast_to(colours, (*values.shape, 3)), back)
        left = middle - values.shape[1] * stages.CELL / 2
        stages.grid(canvas, left, y + row * _STACK, rgb, ground, frame)

    if name == "x":
        put(x[0].numpy(), rgb_table([canvas.colour("edge")])[0], 1)
    elif name == "project":
        for row, letter in enumerate("qkv"):
            features = getattr(trace, letter)[0].transpose(0, 1).reshape(stages.N, stages.D_MODEL)
            put(features.numpy(), by_feature, row)
            canvas.text(middle - 39, y + row * _STACK + 12, letter, 11, ha="center", bold=True)
    elif name == "concat":
        put(trace.concat[0].numpy(), by_feature, 1)
    elif name == "output":
        stages.mixed(canvas, middle, y + _STACK, trace, strength, ground)
    else:
        values = {"split": trace.q, "scores": trace.scores, "weights": trace.weights, "heads": trace.heads}
        one = values[name][0]
        # Scores have no zero of their own: the smallest is the lightest.
        one = one - one.amin() if name == "scores" else one
        least = {"weights": 0.0, "scores": 0.15}.get(name, 0.3)
        for row in range(stages.H):
            put(one[row].numpy(), heads[row], row, least, name == "weights")
