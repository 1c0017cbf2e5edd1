"""lines: series over a common axis, each named at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mha_course import theme as themes
from mha_course.plots import axes, numerals
from mha_course.plots.canvas import Canvas, text_width, wrap
from mha_course.plots.picture import PADDING, Picture, cut, framed

# A series is told by dash and marker as well as by colour.
_DASHES = (None, (7, 3), (2, 2.5), (8, 2.5, 2, 2.5), (12, 3), (4, 2, 1, 2, 1, 2), (1, 2), (10, 2, 4, 2))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
_NAME_LEAST, _NAME_MOST = 40.0, 190.0
_NAME_LETTERS = 120
_LEADER = 16.0  # px that lead from ends that crowd to names that stand apart


def lines(
    x: Sequence[float] | Sequence[str],
    series: Mapping[str, Sequence[float]],
    title: str | None = None,
    x_label: str = "",
    y_label: str = "",
    note: str | None = None,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    y_limits: tuple[float, float] | None = None,
    markers: bool | None = None,
    width: float = 640,
    height: float = 300,
    share: bool = False,
    bridge: bool = False,
) -> Picture:
    """Draw one line for each series, in dash, marker and colour of its own.

    x: numbers that rise, or names. series: name -> values, as many as x; NaN leaves a gap. bands:
    name -> (lower, upper), shaded around the series of that name. y_limits: None = round numbers that
    hold all. width, height: px of the drawing inside title and note. share: the values are shares of 1,
    and the axis runs from 0 to 1 with a little room above. bridge: lines go on over NaN, where they have no
    marker.
    Raises: ValueError for lengths that differ, unknown bands, values at or below 0 on a log axis, and
    shares outside 0 to 1.
    """
    bands = bands or {}
    places, x_names = _read_x(x)
    values = {cut(name, _NAME_LETTERS): _row(row, str(name), len(places)) for name, row in series.items()}
    if not values:
        raise ValueError("series must hold at least one line.")
    if unknown := {cut(name, _NAME_LETTERS) for name in bands} - set(values):
        raise ValueError(f"bands {sorted(unknown)} have no series of that name.")
    ranges = {
        cut(k, _NAME_LETTERS): [_row(edge, f"band of {k}", len(places)) for edge in pair]
        for k, pair in bands.items()
    }
    every = np.concatenate([*values.values(), *(edge for pair in ranges.values() for edge in pair)])
    finite = every[np.isfinite(every)]
    if not finite.size:
        raise ValueError("series hold no finite number.")
    if y_limits and not y_limits[0] < y_limits[1]:
        raise ValueError(f"y_limits must be (low, high) with low < high; got {y_limits}.")
    if share:
        if log_y or y_limits:
            raise ValueError("share=True sets the axis; leave out log_y and y_limits.")
        if finite.min() < -1e-6 or finite.max() > 1 + 1e-6:
            raise ValueError(
                f"shares lie between 0 and 1, but run from {finite.min():.3g} to {finite.max():.3g}."
            )
        y_limits = (0.0, 1.05)
    low, high = y_limits or axes.nice_limits(float(finite.min()), float(finite.max()), log_y)
    if log_x and places[0] <= 0:
        raise ValueError(f"A logarithmic axis needs x above 0; the smallest is {places[0]:g}.")
    names = [wrap(name, _NAME_MOST, 12) for name in values]
    right = max(_NAME_LEAST, *(text_width(line, 12) for name in names for line in name)) + 18
    up = axes.Axis(low, high, height - _bottom(x_label), 8, log_y)
    crowded = _crowded(values, up, 15 * max(len(name) for name in names) + 1)
    right += _LEADER if crowded else 0
    y_ticks = axes.value_ticks(axes.Axis(low, high, 0, 1, log_y))
    y_texts = axes.tick_texts(y_ticks, log_y)
    left = max(text_width(text, 12) for text in y_texts) + 8 + (22 if y_label else 0)
    bottom = _bottom(x_label)
    draw_markers = markers if markers is not None else len(places) <= 24
    inset = 8 if draw_markers else 0

    def paint(canvas: Canvas, x0: float, y0: float) -> None:
        across = axes.Axis(places[0], places[-1], x0 + left + inset, x0 + width - right - inset, log_x)
        up = axes.Axis(low, high, y0 + height - bottom, y0 + 8, log_y)
        frame_left, frame_right = round(x0 + left), round(x0 + width - right)
        floor = round(up.start)
        for value, text in zip(y_ticks, y_texts, strict=True):
            level = round(up.at(value))
            if level != floor:
                canvas.line([frame_left, frame_right], [level, level], "line", 1, z=0.5)
            canvas.text(frame_left - 8, up.at(value), text, 12, ha="right")
        canvas.line([frame_left, frame_left], [up.stop, floor], "edge", 1)
        canvas.line([frame_left, frame_right], [floor, floor], "edge", 1)
        _x_axis(canvas, across, floor, places, x_names)
        if x_label:
            canvas.text((frame_left + frame_right) / 2, floor + 37, x_label, 12, ha="center")
        if y_label:
            canvas.text(x0 + 12, (up.start + up.stop) / 2, y_label, 12, ha="center", turn=90)
        ends = []
        for i, (name, row) in enumerate(values.items()):
            colour = themes.head_colour(i, canvas.theme)
            if name in ranges:
                _band(canvas, across, up, places, *ranges[name], colour)
            ends.append(_line(canvas, across, up, places, row, i, colour, draw_markers, bridge))
        _names(canvas, names, ends, frame_right + 6, up.stop - 4, floor, crowded)

    alt = _in_words(places, x_names, values, ranges, x_label, y_label)
    return framed(paint, width, height, alt, title, note, widest=max(838, width + 2 * PADDING))


def _bottom(x_label: str) -> float:
    """Room below the axis for ticks and, if there is one, its name."""
    return 26 + (20 if x_label else 0)


def _read_x(x: Sequence) -> tuple[np.ndarray, list[str] | None]:
    """x as rising numbers, or names at 0, 1, 2, ... ."""
    entries = list(x)
    if not entries:
        raise ValueError("x must hold at least one place.")
    if any(isinstance(entry, str) for entry in entries):
        return np.arange(len(entries), dtype=float), [str(entry) for entry in entries]
    places = numerals.as_array(x if hasattr(x, "detach") else entries, "x").astype(float)
    if places.ndim != 1 or not np.isfinite(places).all() or (np.diff(places) <= 0).any():
        raise ValueError("x must be one row of finite numbers that rise.")
    return places, None


def _row(row: object, name: str, count: int) -> np.ndarray:
    values = numerals.as_array(row if hasattr(row, "detach") else list(row), name).astype(float)
    if values.shape != (count,):
        raise ValueError(f"{name!r} has shape {values.shape}, but x has {count} places.")
    return values


def _x_axis(
    canvas: Canvas, axis: axes.Axis, floor: float, places: np.ndarray, names: list[str] | None
) -> None:
    if names is not None:
        at, texts = list(places), names
    elif len(places) <= 12 and len(
        axes.without_overlap([axis.at(v) for v in places], axes.tick_texts(places))
    ) == len(places):
        at, texts = list(places), axes.tick_texts(places)
    else:
        at = axes.value_ticks(axis)
        texts = axes.tick_texts(at, axis.log)
    spots = [axis.at(v) for v in at]
    for i in axes.without_overlap(spots, texts):
        canvas.text(spots[i], floor + 15, texts[i], 12, ha="center")


def _band(
    canvas: Canvas,
    across: axes.Axis,
    up: axes.Axis,
    places: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    colour: str,
) -> None:
    good = np.isfinite(lower) & np.isfinite(upper)
    there = [(across.at(p), up.at(v)) for p, v in zip(places[good], upper[good], strict=True)]
    back = [(across.at(p), up.at(v)) for p, v in zip(places[good], lower[good], strict=True)]
    if len(there) > 1:
        canvas.area(there + back[::-1], colour, 0.22)


def _line(
    canvas: Canvas,
    across: axes.Axis,
    up: axes.Axis,
    places: np.ndarray,
    row: np.ndarray,
    i: int,
    colour: str,
    draw_markers: bool,
    bridge: bool,
) -> tuple[float, float, str]:
    """Draw one series; returns the px of its last point and its colour."""
    good = np.isfinite(row)
    if up.log and (row[good] <= 0).any():
        raise ValueError("A logarithmic axis needs values above 0.")
    xs = [across.at(p) for p in places]
    ys = [up.at(v) if ok else float("nan") for v, ok in zip(row, good, strict=True)]
    drawn = [(x, y) for x, y, ok in zip(xs, ys, good, strict=True) if ok or not bridge]
    canvas.line([x for x, _ in drawn], [y for _, y in drawn], colour, 2.5, _DASHES[i % len(_DASHES)], z=4)
    if draw_markers:
        for px, py in ((a, b) for a, b, ok in zip(xs, ys, good, strict=True) if ok):
            canvas.marker(px, py, _MARKERS[i % len(_MARKERS)], 8, colour)
    if not good.any():
        return across.stop, up.start, colour
    last = int(np.flatnonzero(good)[-1])
    return xs[last], ys[last], colour


def _names(
    canvas: Canvas,
    names: list[list[str]],
    ends: list[tuple[float, float, str]],
    x: float,
    low: float,
    high: float,
    crowded: bool,
) -> None:
    """Each series' name beside its end; where ends crowd, names move apart and thin lines lead back."""
    least = 15 * max(len(name) for name in names) + 1
    # More air than names in a list need, if the picture is high enough for it.
    apart = min(least + 5, max(least, (high - low) / max(1, len(names) - 1))) if crowded else least
    spots = axes.spread([y for _, y, _ in ends], apart, low, high)
    reach = x + 6 + (_LEADER if crowded else 0)
    for name, (end_x, end_y, colour), spot in zip(names, ends, spots, strict=True):
        if abs(spot - end_y) > 3 or x - end_x > 20:
            canvas.line([max(end_x + 6, x - 8), reach], [end_y, spot], colour, 1)
        for i, line in enumerate(name):
            canvas.text(reach + 4, spot + 15 * (i - (len(name) - 1) / 2), line, 12, "ink")


def _crowded(values: Mapping[str, np.ndarray], up: axes.Axis, least: float) -> bool:
    """Whether the last points of two series stand closer than their names need."""
    lasts = [row[np.isfinite(row)][-1] for row in values.values() if np.isfinite(row).any()]
    if up.log and min(lasts, default=1.0) <= 0:
        return False  # refused with a reason when the line is drawn
    ends = sorted(up.at(value) for value in lasts)
    return any(b - a < least for a, b in zip(ends, ends[1:], strict=False))


def _in_words(
    places: np.ndarray,
    x_names: list[str] | None,
    values: dict[str, np.ndarray],
    ranges: dict[str, list[np.ndarray]],
    x_label: str,
    y_label: str,
) -> str:
    where = x_names if x_names is not None else axes.tick_texts(places)
    parts = []
    for name, row in values.items():
        good = np.flatnonzero(np.isfinite(row))
        if not good.size:
            parts.append(f"{name}: no numbers")
            continue
        if good.size <= 8:
            points = ", ".join(f"{numerals.number(row[i])} at {where[i]}" for i in good)
            parts.append(f"{name}: {points}")
        else:
            first, last = good[0], good[-1]
            low, high = good[row[good].argmin()], good[row[good].argmax()]
            start, end, least, most = (
                f"{numerals.number(row[i])} at {where[i]}" for i in (first, last, low, high)
            )
            parts.append(f"{name}: from {start} to {end}, lowest {least}, highest {most}")
    shaded = f" Shaded bands around {', '.join(ranges)}." if ranges else ""
    over = f" over {x_label}" if x_label else ""
    return f"Line plot of {y_label or 'values'}{over}. {numerals.listed(parts, 12)}.{shaded}"
