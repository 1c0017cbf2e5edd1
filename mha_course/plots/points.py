"""points: places in a plane, each a small numbered chip coloured by its group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mha_course import theme as themes
from mha_course.plots import numerals
from mha_course.plots.canvas import Canvas, text_width
from mha_course.plots.picture import Picture, framed
from mha_course.text.readable import readable

_CHIP = 18.0
_LEGEND_ROW = 24.0
_MOST_LETTERS = 24


def points(
    places: object,
    labels: Sequence[str],
    groups: Sequence[int],
    title: str | None = None,
    note: str | None = None,
    group_name: str = "group",
    width: float = 640,
    height: float = 420,
) -> Picture:
    """Draw each place as a chip with its label; near chips are near places, so both axes have one scale.

    Chips that would cover each other are moved apart, as little as that takes.

    places: (n, 2), finite; the axes carry no numbers. labels: what stands on each chip, short. groups: (n,)
    for each the index of its group from 0, shown from 1 in the legend as group_name 1, group_name 2, ...
    width, height: px of the drawing inside title and note.
    Raises: ValueError for shapes that don't fit, no place, and groups below 0.
    """
    xy = numerals.as_array(places if hasattr(places, "detach") else list(places), "places").astype(float)
    if xy.ndim != 2 or xy.shape[1] != 2 or not len(xy) or not np.isfinite(xy).all():
        raise ValueError(f"places must be (n, 2) finite numbers, n at least 1; got shape {xy.shape}.")
    names = [readable(str(label))[:_MOST_LETTERS] for label in labels]
    of = [int(group) for group in groups]
    if not len(names) == len(of) == len(xy):
        raise ValueError(f"{len(xy)} places need as many labels and groups: {len(names)} and {len(of)}.")
    if min(of) < 0:
        raise ValueError(f"groups count from 0; got {min(of)}.")
    present = sorted(set(of))
    widths = [max(_CHIP, text_width(name, 11, bold=True) + 8) for name in names]
    legend = _legend([f"{group_name} {group + 1}" for group in present], width)
    room = height - 10 - _LEGEND_ROW * len(legend)
    low, high = xy.min(0), xy.max(0)
    inner = np.array([width - max(widths) - 4, room - _CHIP - 4])
    span = np.maximum(high - low, 1e-12)
    scale = float((inner / span).min())
    middle = (low + high) / 2
    flat = np.stack([(xy[:, 0] - middle[0]) * scale, (middle[1] - xy[:, 1]) * scale], 1)
    half = np.array([width - 4, room - 4]) / 2 - np.stack(
        [np.array(widths) / 2, np.full(len(xy), _CHIP / 2)], 1
    )
    spots = _apart(flat, np.array(widths), half) + np.array([width / 2, room / 2])

    def paint(canvas: Canvas, x0: float, y0: float) -> None:
        canvas.rect(x0, y0, width, room, "raised", "line", 1, radius=6, z=0.5)
        for i, (px, py) in enumerate(spots):
            _chip(canvas, x0 + px, y0 + py, widths[i], names[i], of[i])
        for row, entries in enumerate(legend):
            at, level = x0, y0 + room + 22 + _LEGEND_ROW * row
            for place, words in entries:
                _chip(canvas, at + _CHIP / 2, level, _CHIP, "", present[place])
                canvas.text(at + _CHIP + 6, level, words, 12)
                at += _entry(words)

    return framed(paint, width, height, _in_words(xy, names, of, present, group_name), title, note)


def _chip(canvas: Canvas, x: float, y: float, width: float, text: str, group: int) -> None:
    fill = themes.head_colour(group, canvas.theme)
    canvas.rect(x - width / 2, y - _CHIP / 2, width, _CHIP, fill, "surface", 1.5, radius=4, z=4)
    if text:
        canvas.text(x, y, text, 11, themes.text_on(fill), ha="center", bold=True)


def _apart(places: np.ndarray, widths: np.ndarray, half: np.ndarray, rounds: int = 300) -> np.ndarray:
    """Centres of chips (n, 2) pushed apart, along the axis on which less is needed, until none overlap.

    half: (n, 2), how far from the middle each centre may lie. Equal places part by their order.
    """
    found = places.astype(float).copy()
    for _ in range(rounds):
        step = found[:, None] - found
        room = np.stack([(widths[:, None] + widths) / 2 + 1, np.full((len(found),) * 2, _CHIP + 1)], -1)
        missing = room - np.abs(step)
        overlap = (missing > 0.01).all(-1) & ~np.eye(len(found), dtype=bool)
        if not overlap.any():
            break
        order = np.sign(np.arange(len(found))[:, None] - np.arange(len(found)))[..., None]
        way = np.where(np.abs(step) > 1e-9, np.sign(step), order)
        across = (missing[..., 0] <= missing[..., 1])[..., None] == np.array([True, False])
        push = np.where(across & overlap[..., None], way * missing / 2, 0)
        found += push.sum(1) / np.maximum(1, overlap.sum(1))[:, None]
        found = np.clip(found, -half, half)
    return found


def _entry(words: str) -> float:
    return _CHIP + 6 + text_width(words, 12) + 18


def _legend(words: Sequence[str], width: float) -> list[list[tuple[int, str]]]:
    """The entries of the legend in as many rows as they need."""
    rows: list[list[tuple[int, str]]] = [[]]
    used = 0.0
    for i, entry in enumerate(words):
        if rows[-1] and used + _entry(entry) > width:
            rows.append([])
            used = 0.0
        rows[-1].append((i, entry))
        used += _entry(entry)
    return rows


def _in_words(
    xy: np.ndarray, names: Sequence[str], of: Sequence[int], present: Sequence[int], group_name: str
) -> str:
    """How far the members of each group lie apart, as a share of the mean distance of all pairs."""
    distance = np.linalg.norm(xy[:, None] - xy, axis=-1)
    pairs = ~np.eye(len(xy), dtype=bool)
    mean = float(distance[pairs].mean()) if len(xy) > 1 else 0.0
    told = []
    for group in present:
        here = np.array(of) == group
        inside = distance[np.ix_(here, here)][~np.eye(int(here.sum()), dtype=bool)]
        said = f"{group_name} {group + 1}: {int(here.sum())}"
        if inside.size and mean > 0:
            said += f", apart by {numerals.number(float(inside.mean()) / mean)} of the mean distance"
        told.append(said)
    return f"{len(xy)} points in a plane, {', '.join(names[:12])} and so on. {numerals.listed(told, 12)}."
