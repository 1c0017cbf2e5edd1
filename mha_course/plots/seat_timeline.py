"""seat_timeline: who sat in a batch, seat by seat and over time, for one way of serving below another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mha_course import theme as themes
from mha_course.plots import axes, numerals
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import Picture, cut, framed
from mha_course.variants.seat_runs import SeatRun, kept_share

SHADES = {"writing": 70, "reading": 170}  # of the 256 of the scale
KEY = "Strong: the prompt is read. Pale: tokens are written. Hatched: done, but computed all the same."
_ROW = 20.0
_NAME = 24.0
_GAP = 14.0
_LETTERS = 160


def seat_timeline(
    served: Mapping[str, Sequence[SeatRun]],
    title: str | None = None,
    note: str | None = None,
    seats: int | None = None,
    width: float = 640,
) -> Picture:
    """Draw each way of serving, its seats as rows over seconds; blocks carry their request's number.

    served: name -> the stretches of `seat_runs`. seats: rows of each; None: as many as were used. width: px.
    Strong: a prompt is read; pale: tokens are written; hatched: done, and computed all the same.
    Raises: ValueError where there is nothing to draw.
    """
    if not served or not all(served.values()):
        raise ValueError("served must hold stretches of at least one way of serving.")
    rows = max(seats or 1, *(run.seat + 1 for runs in served.values() for run in runs))
    end = max(run.stop for runs in served.values() for run in runs)
    ticks = axes.value_ticks(axes.Axis(0, end, 0, 1))
    texts = axes.tick_texts(ticks)
    left = text_width("seat 10", 11) + 8
    band = _NAME + _ROW * rows + _GAP
    height = band * len(served) - _GAP + 44

    def paint(canvas: Canvas, x0: float, y0: float) -> None:
        across = axes.Axis(0, end, round(x0 + left), round(x0 + width - 12))
        floor = y0 + band * len(served) - _GAP
        for i, (name, runs) in enumerate(served.items()):
            top = y0 + band * i
            for value in ticks:
                below = top + band - _GAP
                canvas.line([round(across.at(value))] * 2, [top + _NAME, below], "line", 1, z=0.5)
            canvas.text(x0, top + 10, cut(name, _LETTERS), 12, "ink", bold=True)
            for seat in range(rows):
                canvas.text(
                    across.start - 8, top + _NAME + _ROW * (seat + 0.5), f"seat {seat + 1}", 11, ha="right"
                )
            for run in runs:
                _block(canvas, across, top + _NAME + _ROW * run.seat, run)
        canvas.line([across.start, across.stop], [floor, floor], "edge", 1)
        spots = [across.at(value) for value in ticks]
        for i in axes.without_overlap(spots, texts):
            canvas.text(spots[i], floor + 15, texts[i], 12, ha="center")
        canvas.text((across.start + across.stop) / 2, floor + 35, "seconds", 12, ha="center")

    note = KEY if note is None else note
    return framed(paint, width, height, timeline_in_words(served), title, note)


def timeline_in_words(served: Mapping[str, Sequence[SeatRun]]) -> str:
    """How long each way of serving takes, and which share of the seats' time is wasted."""
    said = []
    for name, runs in served.items():
        requests = len({run.request for run in runs})
        last = numerals.prefixed(max(run.stop for run in runs), "s")
        wasted = numerals.number(100 * kept_share(list(runs)), 0)
        said.append(
            f"{name}: {requests} requests done after {last}, {wasted} % of the seats' time spent on answers "
            "that were done already"
        )
    return f"Seats of a batch over time. {numerals.listed(said, 6)}."


def _block(canvas: Canvas, across: axes.Axis, top: float, run: SeatRun) -> None:
    x, stop = across.at(run.start), across.at(run.stop)
    box = (x, top + 2, max(0.5, stop - x - 1), _ROW - 4)
    if run.doing == "kept":
        canvas.hatch(*box)
        canvas.rect(*box, None, "edge", 1)
        return
    fill = themes.sequential(canvas.theme)[SHADES[run.doing]]
    canvas.rect(*box, fill)
    number = str(run.request + 1)
    if run.doing == "writing" and box[2] >= text_width(number, 11, bold=True) + 4:
        canvas.text(x + box[2] / 2, top + _ROW / 2, number, 11, themes.text_on(fill), ha="center", bold=True)
