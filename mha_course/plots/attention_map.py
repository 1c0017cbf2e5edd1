"""One attention map on a canvas: cells, hatch, frame, labels. Heatmaps and head grids are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mha_course import theme as themes
from mha_course.plots import labels, numerals
from mha_course.plots.canvas import Canvas, text_width

NOTHING = 0.004
# Maps up to this many tokens print every weight, larger ones only those of one half and more.
ALL_NUMBERS = 9
LARGEST_LABELLED = 24


@dataclass(frozen=True)
class Map:
    """One head's weights with the cells that may not be used. weights, hatched: (n_q, n_k)."""

    weights: np.ndarray
    hatched: np.ndarray
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]

    @property
    def broken(self) -> np.ndarray:
        """(n_q, n_k) bool: weights that are not a number, as softmax gives for a row of −∞ alone."""
        return ~np.isfinite(self.weights) & ~self.hatched


def build(
    weights: np.ndarray,
    query_tokens: Sequence[str] | None,
    key_tokens: Sequence[str] | None,
    allowed: np.ndarray | None,
) -> Map:
    """Check one map's parts against each other. weights, allowed: (n_q, n_k).

    Raises: ValueError for token counts that don't fit, and for weights outside 0 to 1.
    """
    n_q, n_k = weights.shape
    queries = tuple(str(i) for i in range(n_q)) if query_tokens is None else tuple(map(str, query_tokens))
    same = key_tokens is None and query_tokens is not None
    if same and n_q != n_k:
        raise ValueError(f"weights are ({n_q}, {n_k}): with n_q and n_k unequal, give key_tokens as well.")
    keys = tuple(str(i) for i in range(n_k)) if key_tokens is None else tuple(map(str, key_tokens))
    keys = queries if same else keys
    if (len(queries), len(keys)) != (n_q, n_k):
        raise ValueError(
            f"weights have n_q={n_q}, n_k={n_k}, but there are {len(queries)} query tokens "
            f"and {len(keys)} key tokens."
        )
    finite = weights[np.isfinite(weights)]
    if finite.size and (finite.min() < -1e-6 or finite.max() > 1 + 1e-4):
        raise ValueError(
            f"weights must lie between 0 and 1, but run from {finite.min():.3g} to {finite.max():.3g}; "
            "for scores and other numbers use plots.matrix."
        )
    hatched = np.zeros((n_q, n_k), dtype=bool) if allowed is None else ~allowed
    # A row without any weight is a query with nothing to attend to: hatched as a whole.
    with np.errstate(invalid="ignore"):
        hatched = hatched | (np.nan_to_num(weights, nan=1.0).sum(axis=1, keepdims=True) < 1e-6)
    return Map(weights, hatched, queries, keys)


def check_scale(vmax: float) -> None:
    """Raises ValueError unless the weight at the dark end of the scale lies above 0 and at most at 1."""
    if not 0 < vmax <= 1:
        raise ValueError(f"vmax={vmax}: the weight at the end of the scale lies above 0 and at most at 1.")


def allowed_cells(
    mask: object, shape: tuple[int, int, int], sentence: int | None = None
) -> np.ndarray | None:
    """A mask as (h, n_q, n_k) bool, True = may attend; None stays None.

    mask: (n_q, n_k), (b, n_q, n_k), or four axes that broadcast to (b, h, n_q, n_k), of which `sentence`
    is taken. sentence=None: the weights have no sentences, and three axes are (h, n_q, n_k).
    Raises: ValueError for masks that aren't boolean or don't fit.
    """
    if mask is None:
        return None
    mask = numerals.as_array(mask, "mask")
    if mask.dtype != bool:
        raise ValueError(
            f"mask must be boolean, True = may attend; got {mask.dtype}. Write mask.bool() or mask > 0."
        )
    if mask.ndim == 4 or (mask.ndim == 3 and sentence is not None):
        if len(mask) > 1 and sentence is None:
            raise ValueError(
                f"mask holds {len(mask)} sentences; give the one of these weights, as in mask[0]."
            )
        if len(mask) > 1 and sentence >= len(mask):
            raise ValueError(f"mask holds {len(mask)} sentences; sentence={sentence} is not among them.")
        mask = mask[sentence if len(mask) > 1 else 0]
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(
            f"mask of shape {mask.shape} doesn't fit weights of shape (h, n_q, n_k)={shape}."
        ) from None


def rgb_table(ramp: Sequence[str]) -> np.ndarray:
    """A list of hex colours as an array (colours, 3) of 0 to 255."""
    return np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in ramp], dtype=np.uint8)


def draw(
    canvas: Canvas,
    x: float,
    y: float,
    cell: float,
    attention: Map,
    vmax: float = 1.0,
    left: bool = True,
    top: bool = True,
    numbers: bool | None = None,
) -> None:
    """Draw a map whose upper left corner is (x, y), with square cells of `cell` px.

    numbers: True prints every weight that isn't nothing, False none, None all of them in small maps and
    those from one half on in others; never where cells are too small.
    """
    n_q, n_k = attention.weights.shape
    width, height = cell * n_k, cell * n_q
    ramp = rgb_table(themes.sequential(canvas.theme))
    weights = np.where(attention.hatched | attention.broken, 0.0, attention.weights)
    shade = np.where(weights < NOTHING, 0, np.clip(np.round(255 * weights / vmax), 0, 255)).astype(int)
    rgb = ramp[shade]
    rgb[attention.broken] = rgb_table([canvas.colour("warn_ground")])[0]
    canvas.cells(x, y, width, height, rgb)
    hatch(canvas, x, y, cell, cell, attention.hatched)
    if cell >= 10:
        gaps(canvas, x, y, cell, cell, n_q, n_k)
    canvas.rect(x, y, width, height, edge="edge", z=4)
    for q, k in np.argwhere(attention.broken) if cell >= 16 else ():
        canvas.text(
            x + (k + 0.5) * cell, y + (q + 0.5) * cell, "NaN", min(11, cell / 2.6), "warn", ha="center"
        )
    if numbers is not False and cell >= 22:
        # Judged as they are printed: a half that came out as 0.4999999 is a half.
        least = 0.005 if numbers or prints_all(n_q, n_k, cell) else 0.495
        for q, k in np.argwhere(weights >= least):
            middle = (x + (k + 0.5) * cell, y + (q + 0.5) * cell)
            text = numerals.in_cell(weights[q, k])
            ink = themes.text_on(themes.sequential(canvas.theme)[shade[q, k]])
            size = 11 if cell >= _widest_number() else 10
            canvas.text(*middle, text, size, ink, ha="center")
    step = labels.every(n_q, cell)
    for q in range(0, n_q, step) if left else ():
        text = labels.shown(attention.query_tokens[q])
        canvas.text(x - 6, y + (q + 0.5) * cell, text, labels.SIZE, ha="right")
    step = labels.every(n_k, cell)
    named = labels.top_labels(attention.key_tokens[::step], cell * step) if top else ()
    for i, label in enumerate(named):
        labels.draw_top_label(canvas, label, x + (i * step + 0.5) * cell, y)


def prints_all(n_q: int, n_k: int, cell: float) -> bool:
    """Whether a map of this size shows the number of every cell."""
    return max(n_q, n_k) <= ALL_NUMBERS and cell >= _widest_number()


@lru_cache
def _widest_number() -> float:
    return text_width("1.00", 11) + 2


def hatch(canvas: Canvas, x: float, y: float, width: float, height: float, cells: np.ndarray) -> None:
    """Hatch the cells marked True, run by run, so that the lines go on from cell to cell."""
    for q, row in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(np.int8), [0]))))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            canvas.hatch(x + start * width, y + q * height, (stop - start) * width, height)


def gaps(canvas: Canvas, x: float, y: float, width: float, height: float, rows: int, columns: int) -> None:
    """Lines in the ground's colour between cells, 1 px wide."""
    across = [((x, y + i * height), (x + columns * width, y + i * height)) for i in range(1, rows)]
    down = [((x + j * width, y), (x + j * width, y + rows * height)) for j in range(1, columns)]
    canvas.lines(across + down, "surface", 1.0, z=2.5)


@dataclass(frozen=True)
class Margins:
    """Room around a map for its labels, in px."""

    left: float
    top: float
    right: float


def margins(attention: Map, cell: float, left: bool = True) -> Margins:
    """The room that a map's labels need; nothing is clipped within it."""
    n_q, n_k = attention.weights.shape
    step = labels.every(n_k, cell)
    top, right = 0.0, 0.0
    for i, label in enumerate(labels.top_labels(attention.key_tokens[::step], cell * step)):
        top = max(top, label.rise)
        middle = (i * step + 0.5) * cell
        right = max(right, middle + label.overhang - n_k * cell)
    side = labels.left_width(list(attention.query_tokens[:: labels.every(n_q, cell)])) + 8 if left else 0.0
    if left:
        # The corner holds the words "query ↓" and "key →".
        side, top = max(side, text_width("query ↓", 12, bold=True) + 8), max(top, 34.0)
    return Margins(side, top + 4, max(right, 1.0))


def axis_names(
    canvas: Canvas, left: float, upper: float, rows: str = "query ↓", columns: str = "key →"
) -> None:
    """What rows and columns are, in the corner that the labels leave free."""
    canvas.text(left - 6, upper - 27, columns, 12, "ink", ha="right", bold=True)
    canvas.text(left - 6, upper - 10, rows, 12, "ink", ha="right", bold=True)


def thinned(attention: Map, cell: float) -> str:
    """A sentence for the note when not every token could be named, else an empty string."""
    step = max(labels.every(n, cell) for n in attention.weights.shape)
    if step == 1:
        return ""
    n_q, n_k = attention.weights.shape
    count = f"{n_k}" if n_q == n_k else f"{n_q} queries and {n_k} keys"
    nth = {2: "every second", 3: "every third", 4: "every fourth"}.get(step, f"one in {step}")
    return f"{count} tokens: {nth} is named." if n_q == n_k else f"{count}: {nth} is named."


def colour_bar(canvas: Canvas, x: float, y: float, vmax: float = 1.0, width: float = 120) -> None:
    """The scale of the weights, level, with its ends; (x, y) is the bar's upper left corner."""
    ramp = rgb_table(themes.sequential(canvas.theme))
    canvas.cells(x, y, width, 8, ramp[None])
    canvas.rect(x, y, width, 8, edge="edge", z=4)
    canvas.text(x - 5, y + 4, "0", 11, "ink3", ha="right")
    canvas.text(x + width + 5, y + 4, numerals.number(vmax, None if vmax == 1 else 2), 11, "ink3")


def in_words(attention: Map, limit: int = LARGEST_LABELLED) -> str:
    """For each query the key with its largest weight, and how many cells are not allowed."""
    parts = []
    for q, name in enumerate(attention.query_tokens):
        row = np.where(attention.hatched[q], -1.0, np.nan_to_num(attention.weights[q], nan=-1.0))
        if attention.hatched[q].all():
            parts.append(f"{name}: nothing to attend to")
        elif row.max() < 0:
            parts.append(f"{name}: not a number")
        else:
            best = int(row.argmax())
            parts.append(f"{name} → {attention.key_tokens[best]} {numerals.weight(row[best])}")
    text = "Largest weight of each query: " + numerals.listed(parts, limit) + "."
    blocked = int(attention.hatched.sum())
    if blocked:
        text += (
            f" {blocked} of {attention.hatched.size} cells are hatched: not allowed or nothing to attend to."
        )
    broken = int(attention.broken.sum())
    if broken:
        text += f" {broken} weights are NaN, not a number."
    return text
