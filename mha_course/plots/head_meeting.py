"""head_meeting: how the heads of a layer meet, drawn from the numbers that link its stages."""

from __future__ import annotations

import numpy as np

from mha_course import theme as themes
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.numerals import listed, number
from mha_course.plots.picture import Picture, framed
from mha_course.variants.meeting import Box, Column, Meeting

LEAST = 0.01  # of the thickest line; what is smaller would be no line to see
_THICKEST, _THINNEST = 7.0, 0.6
_CHIP, _GAP, _HEAD, _FOOT = 18.0, 140.0, 34.0, 40.0
_TALLEST = 520.0


def head_meeting(meeting: Meeting, title: str | None = None, note: str | None = None) -> Picture:
    """Draw the stages of a layer from left to right, and a line wherever something goes into something.

    meeting: from `variants.meeting.meeting`. The width of a line is the size of its number, on one scale for
    the whole picture; it is dashed below 0, and there is none for 0 (nor for less than a hundredth of the
    largest number). A line has its head's colour. Hollow: a head that isn't computed.
    Raises: TypeError for anything but a Meeting.
    """
    if not isinstance(meeting, Meeting):
        raise TypeError(
            f"meeting must come from variants.meeting.meeting(layer); got {type(meeting).__name__}."
        )
    numbers = [np.asarray(links.numpy(), dtype=float) for links in meeting.links]
    largest = largest_number(numbers)
    pitches = [_pitch(column) for column in meeting.columns]
    height = max(pitch * len(column.boxes) for pitch, column in zip(pitches, meeting.columns, strict=True))
    widths = [_width(column) for column in meeting.columns]
    lefts = [sum(widths[:i]) + i * _GAP for i in range(len(widths))]
    # Names of the outer columns may be wider than their boxes.
    margin = max(0.0, text_width(meeting.columns[0].name, 12, bold=True) / 2 - widths[0] / 2)
    end = max(widths[-1], text_width(meeting.columns[-1].name, 12, bold=True) / 2 + widths[-1] / 2)
    width = margin + lefts[-1] + end

    def paint(canvas: Canvas, x: float, y: float) -> None:
        places = []
        for column, left, wide in zip(meeting.columns, lefts, widths, strict=True):
            middle = x + margin + left + wide / 2
            canvas.text(middle, y + 8, column.name, 12, "ink", ha="center", bold=True)
            step = height / len(column.boxes)
            places.append([(middle, y + _HEAD + (i + 0.5) * step) for i in range(len(column.boxes))])
        for i, links in enumerate(numbers):
            start, stop = places[i][0][0] + widths[i] / 2 + 2, places[i + 1][0][0] - widths[i + 1] / 2 - 2
            canvas.text((start + stop) / 2, y + 8, meeting.factors[i], 12, "ink3", ha="center")
            _lines(canvas, meeting, i, links, largest, places, (start, stop))
        _kinds(canvas, meeting.columns[1], places)
        for column, at in zip(meeting.columns, places, strict=True):
            _boxes(canvas, column, at, height / len(column.boxes))
        _legend(canvas, x, y + _HEAD + height + 24, numbers, largest)

    return framed(paint, max(width, 430), _HEAD + height + _FOOT, meeting_in_words(meeting), title, note)


def largest_number(links: list[np.ndarray]) -> float:
    """The number of the thickest line: the largest size there is, and at least 1."""
    return max(1.0, *(float(np.abs(one).max()) for one in links))


def stroke_of(value: float, largest: float) -> float:
    """Width in px of a number's line; 0 where nothing is drawn."""
    share = abs(value) / largest
    return 0.0 if share < LEAST else max(_THINNEST, _THICKEST * share)


def meeting_in_words(meeting: Meeting) -> str:
    """What the drawing shows, stage by stage, with its numbers."""
    said = [
        "From left to right: "
        + ", ".join(f"{column.name} ({len(column.boxes)})" for column in meeting.columns)
        + "."
    ]
    left_out = [box.head + 1 for box in meeting.columns[1].boxes if not box.used and box.head is not None]
    if left_out:
        said.append(f"Not computed: head{'s' * (len(left_out) > 1)} {', '.join(map(str, left_out))}.")
    gaps = zip(meeting.columns, meeting.columns[1:], meeting.links, meeting.factors, strict=False)
    for before, after, links, factor in gaps:
        values = links.numpy()
        there = [(i, j) for i, j in np.argwhere(values != 0)]
        by = f" ({factor})" if factor else ""
        names = f"{before.name} to {after.name}{by}"
        if not factor:
            said.append(
                f"{names}: each head for itself, factor 1." if len(after.boxes) > 1 else f"{names}: added up."
            )
            continue
        there.sort(key=lambda at: -abs(values[at]))
        strongest = [f"{_spoken(before, i)} to {_spoken(after, j)}: {number(values[i, j])}" for i, j in there]
        said.append(f"{names}: {len(there)} of {values.size} links, the largest {listed(strongest, 8)}.")
    return " ".join(said)


def _spoken(column: Column, i: int) -> str:
    name = column.boxes[i].name
    return (
        f"head {name}"
        if _is_heads(column)
        else f"{column.name.split()[-1]} {name}"
        if name[0].isdigit()
        else name
    )


def _pitch(column: Column) -> float:
    least = (
        34.0 if any("," in box.name for box in column.boxes) else 30.0 if column.boxes[0].head == 0 else 24.0
    )
    return min(least, max(5.0, _TALLEST / len(column.boxes)))


def _is_heads(column: Column) -> bool:
    return all(box.head == i and box.name.split(",")[0] == str(i + 1) for i, box in enumerate(column.boxes))


def _width(column: Column) -> float:
    if _is_heads(column):
        return _CHIP
    return max(text_width(box.name, 11) for box in column.boxes) + 14


def _boxes(canvas: Canvas, column: Column, at: list[tuple[float, float]], step: float) -> None:
    wide, high = _width(column), min(20.0, step - 1)
    every = max(1, int(np.ceil(13 / step)))
    for i, (box, (x, y)) in enumerate(zip(column.boxes, at, strict=True)):
        if _is_heads(column):
            _head(canvas, box, i, x, y)
            continue
        plain = box.head is None or not box.used
        fill = "surface" if plain else themes.head_colour(box.head, canvas.theme)
        canvas.rect(x - wide / 2, y - high / 2, wide, high, fill, "edge", 1.0, min(4.0, high / 3), z=4)
        if i % every == 0 and high >= 11:
            ink = "ink3" if not box.used else "ink" if plain else themes.text_on(fill)
            canvas.text(x, y, box.name, 11, ink, ha="center")


def _kinds(canvas: Canvas, scores: Column, places: list[list[tuple[float, float]]]) -> None:
    """What kind of head each is, above its line, where heads are of several kinds."""
    for i, box in enumerate(scores.boxes):
        kind = box.name.partition(", ")[2]
        if kind:
            (x, _), (end, y) = places[0][min(i, len(places[0]) - 1)], places[1][i]
            left_out = "" if box.used else ", left out"
            canvas.text(
                (x + end) / 2 + 10, y - 10 if box.used else y, kind + left_out, 11, "ink3", ha="center"
            )


def _head(canvas: Canvas, box: Box, head: int, x: float, y: float) -> None:
    left, top = x - _CHIP / 2, y - _CHIP / 2
    if box.used:
        canvas.chip(left, top, head, _CHIP)
    else:
        canvas.rect(left, top, _CHIP, _CHIP, "surface", "edge", 1.0, 4.0, z=4)
        canvas.text(x, y, str(head + 1), 11, "ink3", ha="center")


def _lines(
    canvas: Canvas,
    meeting: Meeting,
    gap: int,
    links: np.ndarray,
    largest: float,
    places: list[list[tuple[float, float]]],
    ends: tuple[float, float],
) -> None:
    """The lines of one gap, thin ones first, so that thick ones stay whole."""
    before, after = meeting.columns[gap].boxes, meeting.columns[gap + 1].boxes
    order = sorted(np.argwhere(links != 0).tolist(), key=lambda at: abs(links[at[0], at[1]]))
    for z, (i, j) in enumerate(order):
        value = links[i, j]
        stroke = stroke_of(value, largest)
        if not stroke:
            continue
        owner = before[i].head if before[i].head is not None else after[j].head
        colour = "ink2" if owner is None else themes.head_colour(owner, canvas.theme)
        ys = [places[gap][i][1], places[gap + 1][j][1]]
        dash = (5.0, 4.0) if value < 0 else None
        canvas.line(ends, ys, colour, stroke, dash, z=2 + z / (len(order) + 1))
        if len(after) == 1 and meeting.factors[gap]:
            # One number a head: there is room to write it.
            text = number(value, 2)
            wide = text_width(text, 11) + 6
            at = ys[0] + (ys[1] - ys[0]) * 0.16
            middle = ends[0] + (ends[1] - ends[0]) * 0.16
            canvas.rect(middle - wide / 2, at - 8, wide, 16, "surface", z=4)
            canvas.text(middle, at, text, 11, "ink", ha="center")


def _legend(canvas: Canvas, x: float, y: float, links: list[np.ndarray], largest: float) -> None:
    x += 4
    samples = [largest, largest / 4]
    if any((one < 0).any() for one in links):
        samples.append(-largest / 2)
    for value in samples:
        stroke = stroke_of(value, largest)
        canvas.line([x, x + 34], [y, y], "ink2", stroke, (5.0, 4.0) if value < 0 else None)
        text = number(value, 2) if value != round(value) else number(value)
        canvas.text(x + 42, y, text, 11, "ink2")
        x += 42 + text_width(text, 11) + 18
    less = number(LEAST * largest, 2 if largest == 1 else None)
    canvas.text(x, y, f"a line's width is its number; none: less than {less}", 11, "ink3")
