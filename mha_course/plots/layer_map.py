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
    # How far its blocks reach from the middle of the column, to the left and to the right.
    left: float
    right: float
    words: str


_STEPS = (
    _Step("x", "tokens as rows", "(b, n, d_model)", 98, 30, 30, "the input x, one row for each token"),
    _Step(
        "project",
        "q, k, v = x · W",
        "3 × (b, n, d_model)",
        122,
        44,
        30,
        "x times three matrices gives q, k and v",
    ),
    _Step(
        "split",
        "view, transpose",
        "3 × (b, h, n, d_k)",
        117,
        46,
        46,
        "the features of q, k and v go to the heads, one row of blocks for each head",
    ),
    _Step(
        "scores", "q · kᵀ / √d_k", "(b, h, n, n)", 91, 32, 13, "each head compares every query with every key"
    ),
    _Step(
        "weights",
        "softmax",
        "(b, h, n, n)",
        91,
        32,
        13,
        "softmax turns each row of scores into weights that sum to 1",
    ),
    _Step(
        "heads", "weights · v", "(b, h, n, d_k)", 88, 29, 10, "each head adds up the values with its weights"
    ),
    _Step(
        "concat",
        "transpose, view",
        "(b, n, d_model)",
        102,
        30,
        30,
        "the heads' results stand side by side again",
    ),
    _Step("output", "concat · W_O", "(b, n, d_model)", 97, 30, 30, "W_O mixes the heads into the result"),
)
STEPS = tuple(step.name for step in _STEPS)
_ROOM = WIDEST - 2 * PADDING
_HEIGHT = 150.0
_BLOCKS = 31.0
_STACK = 30.0
_INSET = 4.0
_SPLIT_PITCH = 25.0
# Dark colours on a dark ground need more of themselves to be seen than on white.
_QUIET = {"light": 0.6, "dark": 0.8}
_WEAKEST = {"light": 0.3, "dark": 0.5}
_OF_NO_HEAD = {"light": "edge", "dark": "ink3"}


def layer_map(step: str | None = None, *more: str) -> Picture:
    """Draw multi-head attention from x to output, the given steps lit and the others quiet.

    step, more: "x", "project", "split", "scores", "weights", "heads", "concat" or "output"; None lights
    all of it; "block" shows the layer inside a Transformer block (residual and LayerNorm after each part, as
    in Vaswani et al. 2017). The cells are the numbers of a small traced layer, stronger where larger, in the
    colour of the head they belong to.
    Several steps: layer_map("scores", "weights", "heads"); neighbours share one frame.
    Raises: ValueError for any other step, and for block or None together with others.
    """
    if step == "block" and not more:
        return block_map()
    for one in (step, *more):
        if one not in STEPS and (one is not None or more):
            raise ValueError(
                f"step={one!r} is not in the layer; it can be {', '.join(STEPS)}, or alone block or None."
            )
    lit = sorted(STEPS.index(one) for one in {step, *more} if one)
    # In bold only where every lit shape fits into its frame so.
    bold = all(text_width(_STEPS[i].shape, 11, bold=True) <= _STEPS[i].width - 14 for i in lit)
    lefts = [sum(one.width for one in _STEPS[:i]) for i in range(len(_STEPS) + 1)]

    def paint(canvas: Canvas, x: float, y: float) -> None:
        for first, last in _runs(lit):
            start, end = x + lefts[first] + _INSET, x + lefts[last + 1] - _INSET
            canvas.rect(start, y - 5, end - start, _HEIGHT + 10, "raised", "ink", 2, radius=8, z=0.4)
        for i, one in enumerate(_STEPS):
            _column(canvas, x + lefts[i] + one.width / 2, y, i, i in lit, not lit, bold and i in lit)
        for i in range(1, len(_STEPS)):
            middle, level = x + lefts[i] + _chevron(i, lit), y + _BLOCKS + 43
            tip = [middle - 2, middle + 2, middle - 2]
            canvas.line(tip, [level - 4, level, level + 4], "ink2", 1.5, z=5)

    here = ", ".join(f"step {i + 1}, {STEPS[i]}" for i in lit)
    here = f" Lit: {here}." if lit else ""
    listed = "; ".join(f"{i + 1} {one.name}: {one.words}, {one.shape}" for i, one in enumerate(_STEPS))
    alt = f"Multi-head attention in eight steps from left to right.{here} {listed}."
    return framed(paint, _ROOM, _HEIGHT, alt)


def _runs(lit: list[int]) -> list[tuple[int, int]]:
    """The first and last of each run of neighbours."""
    starts = [i for i in lit if i - 1 not in lit]
    return [(i, next(j for j in range(i, len(STEPS)) if j + 1 not in lit)) for i in starts]


def _chevron(i: int, lit: list[int]) -> float:
    """Where the mark between step i - 1 and step i stands, in px from their border.

    In the middle between the blocks on both sides, or between blocks and a frame: never on a frame.
    """
    before, after = _STEPS[i - 1], _STEPS[i]
    end, start = before.right - before.width / 2, after.width / 2 - after.left
    if (i - 1 in lit) != (i in lit):
        end, start = (-_INSET, start) if i - 1 in lit else (end, _INSET)
    return (end + start) / 2


def _column(canvas: Canvas, middle: float, y: float, i: int, lit: bool, all_lit: bool, bold: bool) -> None:
    """One step: number and name, its blocks, the operation and the shape, centred at `middle`."""
    step = _STEPS[i]
    start = middle - (21 + text_width(step.name, 13, bold=True)) / 2
    canvas.circle(start + 8, y + 8, 8, "ink" if lit else "surface", "ink" if lit else "edge", 1.2)
    canvas.text(start + 8, y + 8, str(i + 1), 10, "surface" if lit else "ink2", ha="center", bold=True)
    colour = "ink" if lit else "ink2"
    canvas.text(start + 21, y + 8, step.name, 13, colour, bold=True)
    _blocks(
        canvas,
        step.name,
        middle,
        y + _BLOCKS,
        1.0 if lit or all_lit else _QUIET[canvas.theme],
        "raised" if lit else "surface",
    )
    canvas.text(middle, y + 129, step.operation, 11, colour, ha="center")
    canvas.text(middle, y + 145, step.shape, 11, colour, ha="center", bold=bold)


def _blocks(canvas: Canvas, name: str, middle: float, y: float, strength: float, ground: str) -> None:
    """The numbers of a step as cells; three blocks where there are three heads or q, k and v."""
    x, trace = stages.small_trace()
    heads = stages.head_rgb(canvas.theme)
    back = rgb_table([canvas.colour(ground)])[0].astype(float)
    by_feature = np.repeat(heads, stages.D_MODEL // stages.H, axis=0)[None]

    weakest = _WEAKEST[canvas.theme]

    def put(
        values: np.ndarray,
        colours: np.ndarray,
        row: int,
        least: float = weakest,
        frame: bool = False,
        shift: float = 0.0,
    ) -> None:
        shade = strength * stages.shades(values, least)
        rgb = stages.tinted(shade, np.broadcast_to(colours, (*values.shape, 3)), back)
        left = middle + shift - values.shape[1] * stages.CELL / 2
        stages.grid(canvas, left, y + row * _STACK, rgb, ground, frame)

    if name == "x":
        put(x[0].numpy(), rgb_table([canvas.colour(_OF_NO_HEAD[canvas.theme])])[0], 1)
    elif name == "project":
        for row, letter in enumerate("qkv"):
            features = getattr(trace, letter)[0].transpose(0, 1).reshape(stages.N, stages.D_MODEL)
            put(features.numpy(), by_feature, row)
            canvas.text(middle - 39, y + row * _STACK + 12, letter, 11, ha="center", bold=True)
    elif name == "concat":
        put(trace.concat[0].numpy(), by_feature, 1)
    elif name == "output":
        stages.mixed(canvas, middle, y + _STACK, trace, strength, ground)
    elif name == "split":
        # Columns q, k, v; rows the heads: not to be read as the rows q, k, v of the step before.
        for column, letter in enumerate("qkv"):
            shift = _SPLIT_PITCH * (column - 1) + 9
            canvas.text(middle + shift, y - 7, letter, 11, ha="center", bold=True)
            for row in range(stages.H):
                put(getattr(trace, letter)[0][row].numpy(), heads[row], row, shift=shift)
        _heads(canvas, middle - 46, y)
    else:
        values = {"scores": trace.scores, "weights": trace.weights, "heads": trace.heads}
        one = values[name][0]
        # Scores have no zero of their own: the smallest is the lightest.
        one = one - one.amin() if name == "scores" else one
        least = {"weights": 0.0, "scores": weakest / 2}.get(name, weakest)
        for row in range(stages.H):
            put(one[row].numpy(), heads[row], row, least, name == "weights")
        _heads(canvas, middle - one.shape[-1] * stages.CELL / 2 - 18, y)


def _heads(canvas: Canvas, x: float, y: float) -> None:
    """The number of each head beside its block."""
    for row in range(stages.H):
        canvas.chip(x, y + row * _STACK + stages.N * stages.CELL / 2 - 7, row, 14)
