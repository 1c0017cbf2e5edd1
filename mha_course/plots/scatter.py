"""scatter: two numbers of each thing as a point between two axes, told by shape and colour of its group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mha_course import theme as themes
from mha_course.plots import axes, numerals
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import Picture, framed
from mha_course.text.readable import readable

_MARKERS = ("o", "s", "^", "D", "v", "P")
_SIZE, _HEIGHT = 9.0, 13.0  # px of a marker and of a label's line
_MOST_LETTERS = 24
_LEGEND = 26.0
_LEADER = 14.0  # px from which on a line leads from a point to its label
_FARTHER = (22, -22, 36, -36, 50, -50)
Box = tuple[float, float, float, float]  # left, top, right, bottom


def scatter(
    x: Sequence[float],
    y: Sequence[float],
    labels: Sequence[str],
    groups: Sequence[str],
    title: str | None = None,
    x_label: str = "",
    y_label: str = "",
    note: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    width: float = 640,
    height: float = 340,
) -> Picture:
    """Draw each point exactly where its numbers put it, with its label beside it where there is room.

    x, y: (n,), finite, above 0 on a log axis. labels: short, "" for none. groups: (n,) names; each gets a
    shape and a colour, in the order in which they first come. width, height: px inside title and note.
    Raises: ValueError for lengths that differ, no point, numbers that aren't finite or not above 0 on a log
    axis, and more than six groups.
    """
    across, up = _row(x, "x"), _row(y, "y")
    names = [readable(str(label))[:_MOST_LETTERS] for label in labels]
    of = [readable(str(group))[:_MOST_LETTERS] for group in groups]
    if not len(across) == len(up) == len(names) == len(of):
        raise ValueError(f"x, y, labels, groups differ: {len(across)}, {len(up)}, {len(names)}, {len(of)}.")
    kinds = list(dict.fromkeys(of))
    if len(kinds) > len(_MARKERS):
        raise ValueError(f"at most {len(_MARKERS)} groups can be told apart; got {len(kinds)}.")
    limits = [
        axes.nice_limits(float(v.min()), float(v.max()), log) for v, log in ((across, log_x), (up, log_y))
    ]
    ticks = [
        axes.value_ticks(axes.Axis(*ends, 0, 1, log))
        for ends, log in zip(limits, (log_x, log_y), strict=True)
    ]
    texts = [axes.tick_texts(t, log) for t, log in zip(ticks, (log_x, log_y), strict=True)]
    left = max(text_width(text, 12) for text in texts[1]) + 8 + (22 if y_label else 0)
    bottom = _LEGEND + 26 + (20 if x_label else 0)

    def paint(canvas: Canvas, x0: float, y0: float) -> None:
        frame = (round(x0 + left), round(y0 + 8), round(x0 + width - 8), round(y0 + height - bottom))
        level = axes.Axis(*limits[0], frame[0] + 8, frame[2] - 8, log_x)
        upright = axes.Axis(*limits[1], frame[3] - 6, frame[1] + 6, log_y)
        for value, text in zip(ticks[1], texts[1], strict=True):
            canvas.line([frame[0], frame[2]], [round(upright.at(value))] * 2, "line", 1, z=0.5)
            canvas.text(frame[0] - 8, upright.at(value), text, 12, ha="right")
        spots = [level.at(value) for value in ticks[0]]
        for i in axes.without_overlap(spots, texts[0]):
            canvas.line([round(spots[i])] * 2, [frame[1], frame[3]], "line", 1, z=0.5)
            canvas.text(spots[i], frame[3] + 15, texts[0][i], 12, ha="center")
        canvas.line([frame[0], frame[0]], [frame[1], frame[3]], "edge", 1)
        canvas.line([frame[0], frame[2]], [frame[3], frame[3]], "edge", 1)
        if x_label:
            canvas.text((frame[0] + frame[2]) / 2, frame[3] + 37, x_label, 12, ha="center")
        if y_label:
            canvas.text(x0 + 12, (frame[1] + frame[3]) / 2, y_label, 12, ha="center", turn=90)
        places = [(level.at(a), upright.at(b)) for a, b in zip(across, up, strict=True)]
        for (px, py), group in zip(places, of, strict=True):
            _mark(canvas, px, py, kinds.index(group))
        for (px, py), text, spot in zip(places, names, _beside(places, names, frame), strict=True):
            if spot is None:
                continue
            nearest = min(max(px, spot[0] - 2), spot[0] + text_width(text, 11) + 2)
            if max(abs(nearest - px), abs(spot[1] - py)) > _LEADER:
                edge = spot[1] + (6 if spot[1] < py - 6 else -6 if spot[1] > py + 6 else 0)
                canvas.line([px, nearest], [py, edge], "ink3", 0.8, z=1)
            canvas.text(*spot, text, 11, "ink")
        at = x0 + left
        for i, kind in enumerate(kinds):
            _mark(canvas, at + 6, y0 + height - 10, i)
            canvas.text(at + 18, y0 + height - 10, kind, 12)
            at += 36 + text_width(kind, 12)

    return framed(paint, width, height, _in_words(across, up, names, of, x_label, y_label), title, note)


def _row(values: object, name: str) -> np.ndarray:
    row = numerals.as_array(values if hasattr(values, "detach") else list(values), name).astype(float)
    if row.ndim != 1 or not len(row) or not np.isfinite(row).all():
        raise ValueError(f"{name} must be one row of finite numbers; got shape {row.shape}.")
    return row


def _mark(canvas: Canvas, x: float, y: float, kind: int) -> None:
    canvas.marker(x, y, _MARKERS[kind], _SIZE, themes.head_colour(kind, canvas.theme))


def _beside(
    places: Sequence[tuple[float, float]], names: Sequence[str], frame: Box
) -> list[tuple[float, float] | None]:
    """Where each label starts (left, middle), so that it covers no point and no other label; None: nowhere.

    Right of its point if there is room, else left of it, above, below, or at a corner,
    else farther away, with a thin line that leads back.
    """
    half = _SIZE / 2 + 1
    taken: list[Box] = [(x - half, y - half, x + half, y + half) for x, y in places]
    found: list[tuple[float, float] | None] = []
    for (x, y), name in zip(places, names, strict=True):
        wide, far = text_width(name, 11), half + 2
        right, left = x + far, x - far - wide
        starts = [(right, y), (left, y), (x - wide / 2, y - 13), (x - wide / 2, y + 13)]
        starts += [(side, y + step) for step in (-9, 9) for side in (right - 3, left + 3)]
        starts += [(side, y + step) for step in _FARTHER for side in (right + 12, left - 12)]
        free = None
        for start in starts if name else ():
            box = (start[0], start[1] - _HEIGHT / 2, start[0] + wide, start[1] + _HEIGHT / 2)
            inside = frame[0] < box[0] and box[2] < frame[2] and frame[1] <= box[1] and box[3] <= frame[3]
            if inside and not any(_meet(box, other) for other in taken):
                free = start
                taken.append(box)
                break
        found.append(free)
    return found


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _in_words(
    x: np.ndarray, y: np.ndarray, names: Sequence[str], of: Sequence[str], x_label: str, y_label: str
) -> str:
    told = [
        f"{name or 'a point'} ({group}): {numerals.number(a)}, {numerals.number(b)}"
        for a, b, name, group in zip(x, y, names, of, strict=True)
    ]
    axes_named = f"across: {x_label or 'x'}; up: {y_label or 'y'}"
    return f"{len(x)} points, {axes_named}. {numerals.listed(told, 24)}."
