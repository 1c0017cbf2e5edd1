"""bars: one number for each name, from zero, with what it is to be measured against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mha_course import theme as themes
from mha_course.plots import axes, numerals
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import PADDING, Picture, framed
from mha_course.text.readable import readable

_PITCH = 30.0
_LONGEST_NAME = 240.0
_MOST_LETTERS = 80


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    title: str | None = None,
    y_label: str = "",
    note: str | None = None,
    baseline: float | Sequence[float] | None = None,
    errors: Sequence[float] | Sequence[Sequence[float]] | None = None,
    baseline_label: str = "baseline",
    heads: Sequence[int] | None = None,
    decimals: int | None = None,
    high: float | None = None,
    width: float = 640,
) -> Picture:
    """Draw a level bar for each label; the axis always starts at zero.

    labels: names; values: numbers, below zero allowed. y_label: what the length means, with its unit.
    baseline: a dashed tick, one for all or one for each. errors: half-widths, or (lower, upper) ends.
    heads: head of each bar counted from 0, for chips and colours. decimals: of the values written at
    the right. high: end of the axis (1 for shares). width: px.
    Raises: ValueError for lengths that differ.
    """
    names = [readable(name) for name in labels]
    row = numerals.as_array(values if hasattr(values, "detach") else list(values), "values").astype(float)
    if row.shape != (len(names),) or not names:
        raise ValueError(f"There are {len(names)} labels, but values have shape {row.shape}.")
    ticks_at = _each(baseline, len(names), "baseline")
    whiskers = _whiskers(errors, row)
    if heads is not None and len(heads) != len(names):
        raise ValueError(f"There are {len(names)} labels, but {len(heads)} heads.")
    seen = np.concatenate([row, [0.0], *([ticks_at] if ticks_at is not None else []), *whiskers])
    seen = seen[np.isfinite(seen)]
    top = high if high is not None else float(seen.max())
    low, top = axes.nice_limits(min(0.0, float(seen.min())), max(0.0, top), False)
    if decimals is None:
        decimals = numerals.column_decimals(row)
        if decimals == 2 and np.nanmax(np.abs(row)) < 0.1:
            decimals = 4
    texts = [numerals.number(v, decimals) for v in row]
    chip = 22.0 if heads is not None else 0.0
    left = min(_LONGEST_NAME, max(text_width(_cut(name), 12) for name in names)) + 10 + chip
    right = max(text_width(text, 12, bold=True) for text in texts) + 16
    above = 22.0 if ticks_at is not None else 6.0
    floor = above + _PITCH * len(names) + 4
    height = floor + 24 + (20 if y_label else 0)

    def paint(canvas: Canvas, x0: float, y0: float) -> None:
        axis = axes.Axis(low, top, round(x0 + left), round(x0 + width - right))
        places = axes.value_ticks(axis)
        tick_words = axes.tick_texts(places)
        spots = [axis.at(v) for v in places]
        for spot in spots:
            canvas.line([round(spot)] * 2, [y0 + above, y0 + floor], "line", 1, z=0.5)
        for i in axes.without_overlap(spots, tick_words):
            canvas.text(spots[i], y0 + floor + 14, tick_words[i], 12, ha="center")
        zero = round(axis.at(0.0))
        plain = themes.sequential(canvas.theme)[160]
        for i, name in enumerate(names):
            middle = y0 + above + (i + 0.5) * _PITCH
            fill = plain if heads is None else themes.head_colour(heads[i], canvas.theme)
            if heads is not None:
                canvas.chip(x0, middle - 8, heads[i])
            canvas.text(x0 + left - 10, middle, _cut(name), 12, ha="right")
            if np.isfinite(row[i]):
                end = axis.at(float(np.clip(row[i], low, top)))
                canvas.rect(min(zero, end), middle - 9, abs(end - zero), 18, fill)
            if ticks_at is not None and np.isfinite(ticks_at[i]):
                at = axis.at(ticks_at[i])
                # A surface line under the dashes lifts the tick off its bar.
                canvas.line([at, at], [middle - 12, middle + 12], "surface", 5, (24, 1), z=4)
                canvas.line([at, at], [middle - 12, middle + 12], "ink", 2, (5, 3), z=4.1)
            if whiskers and np.isfinite(whiskers[0][i]) and np.isfinite(whiskers[1][i]):
                _whisker(canvas, axis.at(whiskers[0][i]), axis.at(whiskers[1][i]), middle)
            canvas.text(x0 + width, middle, texts[i], 12, "ink", ha="right", bold=True)
        canvas.line([zero, zero], [y0 + above, y0 + floor], "edge", 1, z=4.5)
        canvas.line([axis.start, axis.stop], [y0 + floor] * 2, "edge", 1)
        if y_label:
            canvas.text((axis.start + axis.stop) / 2, y0 + floor + 35, y_label, 12, ha="center")
        if ticks_at is not None:
            at = axis.at(ticks_at[0]) if np.isfinite(ticks_at[0]) else axis.start
            half = text_width(baseline_label, 11) / 2
            at = min(max(at, axis.start + half), max(axis.stop, x0 + width) - half)
            canvas.text(at, y0 + 8, baseline_label, 11, ha="center")

    alt = _in_words(names, texts, ticks_at, whiskers, y_label, baseline_label, decimals)
    return framed(paint, width, height, alt, title, note, widest=max(838, width + 2 * PADDING))


def _cut(name: str) -> str:
    short = name[:_MOST_LETTERS]
    while text_width(short if short == name else short + "…", 12) > _LONGEST_NAME:
        short = short[:-1]
    return short if short == name else short + "…"


def _each(value: object, count: int, what: str) -> np.ndarray | None:
    """One number for all bars, or one for each."""
    if value is None:
        return None
    numbers = numerals.as_array(value, what).astype(float)
    if numbers.ndim > 1 or numbers.ndim == 1 and len(numbers) != count:
        raise ValueError(f"{what} must be one number or {count}; got shape {numbers.shape}.")
    return np.broadcast_to(numbers, (count,))


def _whiskers(errors: object, row: np.ndarray) -> list[np.ndarray]:
    """Lower and upper ends of every whisker, or an empty list."""
    if errors is None:
        return []
    ends = numerals.as_array(errors, "errors").astype(float)
    if ends.shape == row.shape:
        return [row - ends, row + ends]
    if ends.shape == (2, len(row)):
        return [ends[0], ends[1]]
    raise ValueError(f"errors must have {len(row)} half-widths or be (lower, upper); got shape {ends.shape}.")


def _whisker(canvas: Canvas, low: float, high: float, middle: float) -> None:
    for colour, stroke in (("surface", 4.0), ("ink", 1.6)):
        canvas.line([low, high], [middle, middle], colour, stroke, z=4.2)
        for end in (low, high):
            canvas.line([end, end], [middle - 4, middle + 4], colour, stroke, z=4.2)


def _in_words(
    names: list[str],
    texts: list[str],
    ticks_at: np.ndarray | None,
    whiskers: list[np.ndarray],
    y_label: str,
    baseline_label: str,
    decimals: int,
) -> str:
    parts = []
    for i, (name, text) in enumerate(zip(names, texts, strict=True)):
        words = f"{name} {text}"
        if whiskers:
            ends = " to ".join(numerals.number(end[i], max(decimals, 2)) for end in whiskers)
            words += f" ({ends})"
        if ticks_at is not None:
            words += f", {baseline_label} {numerals.number(ticks_at[i], max(decimals, 2))}"
        parts.append(words)
    return f"Bars of {y_label or 'values'}: {numerals.listed(parts, 40)}."
