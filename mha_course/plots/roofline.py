"""roofline: what a machine can do at most, and where each stage of a layer meets that limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mha_course import cost
from mha_course.plots import axes, numerals
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import PADDING, Picture, cut, framed
from mha_course.sizes import check_number

STAGE_NAMES = {
    "projections": "projections",
    "scores": "scores",
    "softmax": "softmax",
    "weighted_sum": "weighted sum",
    "attention": "attention, fused",
    "output_projection": "W_O",
}
_LINE = 16.0  # px from one label to the next
_REACH = 18.0  # px from a point to its label
_NEAR = 34.0  # px: points closer than that share one list of labels
_ABOVE = 44.0  # px above the roof, for the names of ridge and peak
_BELOW = 46.0
_NAME_LETTERS = 60
NARROWEST, LOWEST, LARGEST = 320, 240, 4000  # px: where labels still find room, and memory suffices


@dataclass(frozen=True)
class Spot:
    """A point of the picture in px, and the width of its label."""

    x: float
    y: float
    width: float


def roofline(
    machine: cost.Machine,
    costs: Mapping[str, cost.StageCost],
    title: str | None = None,
    note: str | None = None,
    measured: Mapping[str, float] | None = None,
    width: float = 640,
    height: float = 340,
) -> Picture:
    """Draw the roof min(peak, intensity x bandwidth) on two logarithmic axes, and a named point a stage.

    costs: stage -> FLOPs and bytes, as `cost.stage_costs` gives; any other names do as well. A point stands
    on the roof, at the stage's intensity: hollow where memory is the limit, filled where arithmetic is.
    measured: stage -> seconds; a diamond shows the FLOPs a second that were reached, and the label which
    share of the roof that is. title: the machine's name when left out. width, height: px of the drawing
    inside title and note.
    Raises: ValueError for no stage, for stages without FLOPs or bytes, for names that `costs` doesn't have,
    for seconds that are not above 0, and for a width or height that no labels fit into, or above 4000.
    Source: Williams, Waterman and Patterson 2009.
    """
    if not costs:
        raise ValueError("costs must hold at least one stage.")
    for name, one in costs.items():
        check_number(above=0, **{f"costs[{name!r}].flops": one.flops, f"costs[{name!r}].bytes": one.bytes})
    check_number(NARROWEST, LARGEST, width=width)
    check_number(LOWEST, LARGEST, height=height)
    times = dict(measured or {})
    if unknown := sorted(set(times) - set(costs)):
        raise ValueError(f"measured has {unknown}, which are not stages; stages are {sorted(costs)}.")
    check_number(above=0, **{f"measured[{name!r}]": seconds for name, seconds in times.items()})
    reached = {name: costs[name].flops / seconds for name, seconds in times.items()}
    low_x, high_x = intensity_limits(machine, costs)
    low_y, high_y = speed_limits(machine, min(reached.values(), default=math.inf))
    labels = {name: _label(name, one, machine, reached.get(name)) for name, one in costs.items()}
    y_ticks = axes.log_ticks(low_y, high_y)
    y_texts = [numerals.prefixed(value) for value in y_ticks]
    left = max(text_width(text, 12) for text in y_texts) + 30

    def paint(canvas: Canvas, x0: float, y0: float) -> None:
        across = axes.Axis(low_x, high_x, round(x0 + left), round(x0 + width - 26), log=True)
        up = axes.Axis(low_y, high_y, round(y0 + height - _BELOW), round(y0 + 8), log=True)
        _frame(canvas, across, up, x0, y_ticks, y_texts)
        _roof(canvas, machine, across, up, [across.at(one.intensity) for one in costs.values()])
        spots = []
        for name, one in costs.items():
            at = Spot(
                across.at(one.intensity),
                up.at(machine.attainable(one.intensity)),
                text_width(labels[name], 12),
            )
            spots.append(at)
            if name in reached:
                below = up.at(reached[name])
                canvas.line([at.x, at.x], [at.y, below], "ink2", 1, (2, 2))
                canvas.marker(at.x, below, "D", 8, "ink")
            canvas.circle(
                at.x, at.y, 4.5, "ink" if bound_by(one, machine) == "compute" else "surface", "ink", 2, z=4.5
            )
        places = label_places(
            spots, lambda x: up.at(machine.attainable(_value(across, x))), across.stop, up.start
        )
        for text, at, (px, py) in zip(labels.values(), spots, places, strict=True):
            canvas.line([at.x + (3.5 if px > at.x else 0), px - 3], [at.y + 4, py], "edge", 1, z=2.5)
            # Over the grid and the ridge's line, under the thin lines.
            canvas.rect(px - 2, py - 7, at.width + 4, 14, "surface", z=2)
            canvas.text(px, py, text, 12, "ink")

    alt = roofline_in_words(machine, costs, reached)
    if note is None:
        note = roofline_note(machine, bool(reached))
    title = machine.name if title is None else title
    return framed(paint, width, height, alt, title, note, widest=max(838, width + 2 * PADDING))


def roofline_note(machine: cost.Machine, measured: bool = False) -> str:
    """What the marks mean, and where peak and bandwidth come from."""
    note = "Hollow: bound by memory. Filled: bound by compute."
    note += " Diamond: measured." if measured else ""
    return note + (f" Peak and bandwidth: {machine.source.removesuffix('.')}." if machine.source else "")


def bound_by(one: cost.StageCost, machine: cost.Machine) -> str:
    """What limits a stage on a machine: "memory" below the ridge, "compute" from it on."""
    return "memory" if one.intensity < machine.ridge else "compute"


def intensity_limits(machine: cost.Machine, costs: Mapping[str, cost.StageCost]) -> tuple[float, float]:
    """Limits of the axis in FLOPs a byte: powers of ten from 0.1 on, with room for labels at the right."""
    values = [machine.ridge, *(one.intensity for one in costs.values())]
    low, high = axes.nice_limits(min(values) / 1.5, max(values) * 15, log=True)
    return min(0.1, low), high


def speed_limits(machine: cost.Machine, slowest: float = math.inf) -> tuple[float, float]:
    """Limits of the axis in FLOPs a second: from far below what the bandwidth allows to above the peak."""
    low, high = axes.nice_limits(min(0.02 * machine.bandwidth, slowest / 2), machine.peak, log=True)
    # Above the peak there is room for two lines of words.
    return low, high * 10 if machine.peak > high / 2.5 else high


def label_places(
    spots: Sequence[Spot],
    roof: Callable[[float], float],
    right: float,
    bottom: float,
) -> list[tuple[float, float]]:
    """Where each label begins (px) and has its middle, so that none covers another or the roof.

    Points that stand close share a list of labels below and to the right of them, in the order of the points;
    lists further left make way downwards. roof(x): px of the roof at x; right, bottom: px where room ends.
    """
    order = sorted(range(len(spots)), key=lambda i: (spots[i].x, -spots[i].y))
    groups: list[list[int]] = []
    for i in order:
        if groups and spots[i].x - spots[groups[-1][-1]].x < _NEAR:
            groups[-1].append(i)
        else:
            groups.append([i])
    places: dict[int, tuple[float, float]] = {}
    taken: list[tuple[float, float, float, float]] = []
    for group in reversed(groups):
        wide = max(spots[i].width for i in group)
        start = min(max(spots[i].x for i in group) + _REACH, right - wide)
        tall = _LINE * len(group)
        top = max(min(spots[i].y for i in group) + 7, roof(start) + 8)
        first = min(start, *(spots[i].x for i in group))
        for x, y, w, high in sorted(taken, key=lambda box: box[1]):
            if x < start + wide + 8 and first < x + w and y < top + tall and top < y + high:
                top = y + high
        top = min(top, bottom - tall - 4)
        taken.append((first, top, start + wide - first, tall))
        # The rightmost point's label on top: then the thin lines don't cross.
        for line, i in enumerate(reversed(group)):
            places[i] = (start, top + _LINE * (line + 0.5))
    return [places[i] for i in range(len(spots))]


def roofline_in_words(
    machine: cost.Machine, costs: Mapping[str, cost.StageCost], reached: Mapping[str, float]
) -> str:
    """The picture as a sentence a stage."""
    parts = []
    for name, one in costs.items():
        most = numerals.prefixed(machine.attainable(one.intensity), "FLOP/s")
        said = f"{_name(name)}: {numerals.three_digits(one.intensity)} FLOP/byte, "
        said += f"bound by {bound_by(one, machine)}, at most {most}"
        if name in reached:
            said += f", measured {numerals.prefixed(reached[name], 'FLOP/s')}"
        parts.append(said)
    return (
        f"Roofline of {machine.name}: peak {numerals.prefixed(machine.peak, 'FLOP/s')}, "
        f"bandwidth {numerals.prefixed(machine.bandwidth, 'B/s')}, "
        f"ridge at {numerals.three_digits(machine.ridge)} FLOP/byte. {numerals.listed(parts, 12)}."
    )


def _name(stage: str) -> str:
    return STAGE_NAMES.get(stage, cut(stage, _NAME_LETTERS))


def _label(name: str, one: cost.StageCost, machine: cost.Machine, reached: float | None) -> str:
    if reached is None:
        return f"{_name(name)}  {numerals.three_digits(one.intensity)}"
    return f"{_name(name)}  {reached / machine.attainable(one.intensity):.2f} of the roof"


def _value(axis: axes.Axis, px: float) -> float:
    """The number at a px of a logarithmic axis."""
    share = (px - axis.start) / (axis.stop - axis.start)
    return axis.low * (axis.high / axis.low) ** share


def _frame(
    canvas: Canvas, across: axes.Axis, up: axes.Axis, x0: float, y_ticks: list[float], y_texts: list[str]
) -> None:
    floor = up.start
    for value, text in zip(y_ticks, y_texts, strict=True):
        level = round(up.at(value))
        if level != floor:
            canvas.line([across.start, across.stop], [level, level], "line", 1, z=0.5)
        canvas.text(across.start - 8, up.at(value), text, 12, ha="right")
    canvas.line([across.start, across.start], [up.stop, floor], "edge", 1)
    canvas.line([across.start, across.stop], [floor, floor], "edge", 1)
    places = axes.log_ticks(across.low, across.high)
    texts = axes.tick_texts(places, log=True)
    spots = [across.at(value) for value in places]
    for i in axes.without_overlap(spots, texts):
        canvas.text(spots[i], floor + 15, texts[i], 12, ha="center")
    middle = (across.start + across.stop) / 2
    canvas.text(middle, floor + 36, "arithmetic intensity, FLOP/byte", 12, ha="center")
    canvas.text(x0 + 12, (up.start + up.stop) / 2, "FLOP/s", 12, ha="center", turn=90)


def _roof(
    canvas: Canvas, machine: cost.Machine, across: axes.Axis, up: axes.Axis, points: Sequence[float]
) -> None:
    """The slope of the bandwidth, the level of the peak, and the ridge where they meet; points: their px."""
    corner, level = across.at(machine.ridge), up.at(machine.peak)
    # The slope leaves the frame at the side or at the floor.
    first = max(across.low, up.low / machine.bandwidth)
    begin = across.at(first), up.at(first * machine.bandwidth)
    canvas.line([begin[0], corner, across.stop], [begin[1], level, level], "ink2", 2.5, z=3.5)
    canvas.line([corner, corner], [level, up.start], "edge", 1, (3, 3), z=1.5)
    slope = math.degrees(math.atan2(begin[1] - level, corner - begin[0]))
    bandwidth = f"bandwidth {numerals.prefixed(machine.bandwidth, 'B/s')}"
    reach = text_width(bandwidth, 12) / 2 * math.cos(math.radians(slope)) + 8
    # Along the slope where no point stands, the middle first.
    places = [begin[0] + share * (corner - begin[0]) for share in (0.5, 0.62, 0.38, 0.74, 0.26)]
    middle = next((at for at in places if all(abs(px - at) > reach for px in points)), places[0])
    lift = 8 / math.cos(math.radians(slope))
    canvas.text(
        middle,
        up.at(_value(across, middle) * machine.bandwidth) - lift,
        bandwidth,
        12,
        ha="center",
        turn=slope,
    )
    peak = f"peak {numerals.prefixed(machine.peak, 'FLOP/s')}"
    canvas.text(across.stop, level - 12, peak, 12, ha="right")
    ridge = f"ridge {numerals.three_digits(machine.ridge)}"
    half = text_width(ridge, 12) / 2
    at = min(max(corner, across.start + half + 4), across.stop - half)
    # Beside the peak's words where they leave room, else above them.
    beside = at + half + 12 < across.stop - text_width(peak, 12)
    canvas.text(at, level - (12 if beside else 28), ridge, 12, ha="center")
