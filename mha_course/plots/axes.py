"""Axes for lines and bars: where numbers stand in px, and which of them get a tick."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator

from mha_course.plots import numerals
from mha_course.plots.canvas import text_width

# The largest share of a step between ticks that may lie empty beyond the last value.
_EMPTY = 0.75


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers low to high drawn from px `start` to `stop`, linear or logarithmic."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def at(self, value: float) -> float:
        """The px of a number."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(value) - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.stop - self.start)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value


def nice_limits(low: float, high: float, log: bool) -> tuple[float, float]:
    """Limits at round numbers that hold all values."""
    if log:
        if low <= 0:
            raise ValueError(f"A logarithmic axis needs values above 0; the smallest is {low:g}.")
        return 10.0 ** math.floor(math.log10(low) + 1e-9), 10.0 ** math.ceil(
            math.log10(high * (1 + 1e-9)) - 1e-9
        )
    if high - low < 1e-12 * max(1.0, abs(high)):
        margin = abs(high) * 0.5 or 1.0
        low, high = low - margin, high + margin
    places = round_ticks(low, high)
    step = places[1] - places[0]
    # A value barely above a tick (1.0000001, say) must not open a whole empty stretch up to the next one.
    first, last = (low - places[0]) / step, (places[-1] - high) / step
    margin = 0.04 * (high - low)
    lower = low - margin if first > _EMPTY and places[0] != 0 else places[0]
    upper = high + margin if last > _EMPTY and places[-1] != 0 else places[-1]
    return min(low, lower), max(high, upper)


def round_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers that reach at least from low to high."""
    return [float(v) for v in MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between low and high; with less than two of them also their 2- and 5-fold."""
    places = [float(v) for v in LogLocator(base=10).tick_values(low, high)]
    inside = [v for v in places if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
    if len(inside) >= 3:
        return inside
    finer = [float(v) for v in LogLocator(base=10, subs=(1, 2, 5)).tick_values(low, high)]
    return [v for v in finer if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]


def value_ticks(axis: Axis) -> list[float]:
    """The ticks that lie within an axis."""
    if axis.log:
        return log_ticks(axis.low, axis.high)
    span = axis.high - axis.low
    return [
        v for v in round_ticks(axis.low, axis.high) if axis.low - 1e-9 * span <= v <= axis.high + 1e-9 * span
    ]


def without_overlap(places: Sequence[float], texts: Sequence[str], size: float = 12) -> list[int]:
    """Indices of the labels to draw at places (px, rising) so that none touches its neighbour."""
    for step in range(1, len(places) + 1):
        chosen = list(range(0, len(places), step))
        spans = [(places[i], text_width(texts[i], size) / 2 + 4) for i in chosen]
        if all(b - a >= wa + wb for (a, wa), (b, wb) in zip(spans, spans[1:], strict=False)):
            return chosen
    return [0] if places else []


def spread(places: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """The places moved as little as needed to stand `least` apart between low and high, order kept."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    least = min(least, (high - low) / max(1, len(places) - 1)) if len(places) > 1 else least
    groups: list[list[float]] = []  # [sum of wished starts, count]
    for rank, i in enumerate(order):
        groups.append([places[i] - rank * least, 1])
        # Neighbours that would overlap move as one block to their common mean.
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    starts = [total / count for total, count in groups for _ in range(int(count))]
    top = high - least * (len(places) - 1)
    moved = [0.0] * len(places)
    for rank, i in enumerate(order):
        moved[i] = float(np.clip(starts[rank], low, max(low, top))) + rank * least
    return moved


def tick_texts(values: Sequence[float], log: bool = False) -> list[str]:
    """Labels of ticks; on a log axis each with its own decimals, or all as powers of ten if it is long."""
    if not log:
        return numerals.ticks(values)
    exponents = [math.log10(v) for v in values]
    whole = all(abs(e - round(e)) < 1e-9 for e in exponents)
    if whole and (max(values) >= 1e6 or min(values) < 1e-3):
        return [numerals.power_of_ten(round(e)) for e in exponents]
    return [f"{v:,.{max(0, -math.floor(e + 1e-9))}f}" for v, e in zip(values, exponents, strict=True)]
