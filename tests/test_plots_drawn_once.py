"""A picture with the same marks is drawn once; with any other mark, size or theme it is another picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from mha_course import theme
from mha_course.plots import canvas as canvas_module
from mha_course.plots import drawn_once
from mha_course.plots.canvas import Canvas
from mha_course.plots.picture import framed

COLOURS = (np.arange(2 * 3 * 3).reshape(2, 3, 3) * 14) % 255
OTHERS = COLOURS.copy()
OTHERS[1, 2] = 255
# A mark, and the same one changed in one thing.
MARKS: dict[str, tuple[Callable[[Canvas], None], Callable[[Canvas], None]]] = {
    "words": (lambda c: c.text(5, 9, "query"), lambda c: c.text(5, 9, "key")),
    "size": (lambda c: c.text(5, 9, "query", 12), lambda c: c.text(5, 9, "query", 13)),
    "bold": (lambda c: c.text(5, 9, "query"), lambda c: c.text(5, 9, "query", bold=True)),
    "rect": (lambda c: c.rect(4, 5, 20, 9, "ink"), lambda c: c.rect(4, 5, 20, 9, "ink", radius=3)),
    "circle": (lambda c: c.circle(20, 15, 4, "ink", "edge"), lambda c: c.circle(20, 15, 5, "ink", "edge")),
    "line": (lambda c: c.line([1, 30], [2, 20], "ink"), lambda c: c.line([1, 30], [2, 21], "ink")),
    "dash": (lambda c: c.line([1, 30], [2, 9]), lambda c: c.line([1, 30], [2, 9], dash=(3, 2))),
    "lines": (lambda c: c.lines([((1, 2), (30, 20))]), lambda c: c.lines([((1, 2), (30, 22))])),
    "marker": (lambda c: c.marker(9, 9, "o", 8, "ink"), lambda c: c.marker(9, 9, "s", 8, "ink")),
    "area": (
        lambda c: c.area([(1, 2), (30, 2), (9, 20)], "ink", 0.5),
        lambda c: c.area([(1, 2), (30, 2), (9, 20)], "ink", 0.7),
    ),
    "cells": (lambda c: c.cells(2, 3, 30, 20, COLOURS), lambda c: c.cells(2, 3, 30, 20, OTHERS)),
    "chip": (lambda c: c.chip(4, 5, head=1), lambda c: c.chip(4, 5, head=2)),
    "hatch": (lambda c: c.hatch(4, 5, 20, 20), lambda c: c.hatch(4, 5, 28, 20)),
}


@pytest.fixture(autouse=True)
def nothing_drawn_yet() -> Iterator[None]:
    drawn_once.forget()
    yield
    drawn_once.forget()


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each figure that is drawn."""
    drawn: list[int] = []
    encode = canvas_module.encode
    monkeypatch.setattr(canvas_module, "encode", lambda figure: (drawn.append(1), encode(figure))[1])
    return drawn


def drawn_with(
    paint: Callable[[Canvas], None], size: tuple[int, int] = (44, 31), dark: bool = False
) -> bytes:
    canvas = Canvas(*size, "dark" if dark else "light")
    paint(canvas)
    return canvas.png()


@pytest.mark.parametrize("what", MARKS)
def test_the_same_marks_are_drawn_once_and_others_by_themselves(what: str, figures: list[int]) -> None:
    one, other = MARKS[what]
    first = drawn_with(one)
    assert drawn_with(one) == first and len(figures) == 1
    assert drawn_with(other) != first and len(figures) == 2
    assert drawn_with(one, dark=True) != first and len(figures) == 3
    assert drawn_with(one, size=(45, 31)) != first and len(figures) == 4
    # Drawn anew it is the same picture.
    drawn_once.forget()
    assert drawn_with(one) == first and len(figures) == 5


def test_marks_after_the_figure_was_asked_for_are_drawn_on_it() -> None:
    whole, later = Canvas(44, 31), Canvas(44, 31)
    for canvas in (whole, later):
        canvas.rect(4, 5, 20, 9, "ink")
        figure = later.figure
        canvas.chip(22, 8, head=3)
    assert later.figure is figure
    assert canvas_module.encode(later.figure) == whole.png()


def test_a_new_font_is_seen(monkeypatch: pytest.MonkeyPatch, figures: list[int]) -> None:
    drawn_with(MARKS["words"][0])
    monkeypatch.setattr(canvas_module.fonts, "_fonts_installed", lambda: -1)
    drawn_with(MARKS["words"][0])
    assert len(figures) == 2


def test_the_oldest_pictures_go_and_what_was_asked_for_again_stays(figures: list[int]) -> None:
    most = drawn_once.MOST_KEPT
    files = [f"picture {i}".encode() for i in range(most)]
    drawn_once._kept.update({bytes([i // 256, i % 256]): file for i, file in enumerate(files)})
    first = drawn_with(MARKS["rect"][0])
    assert len(drawn_once._kept) == most and files[0] not in drawn_once._kept.values()
    drawn_with(MARKS["line"][0])
    assert drawn_with(MARKS["rect"][0]) == first and len(figures) == 2
    assert list(drawn_once._kept.values())[-1] == first


def test_a_picture_asks_for_its_two_themes_once(figures: list[int]) -> None:
    for _ in range(2):
        picture = framed(lambda canvas, x, y: canvas.rect(x, y, 30, 20, "ink"), 40, 30, "A box.", "A title")
        assert picture.png("light") != picture.png("dark")
    assert len(figures) == 2
    assert theme.colours("light") != theme.colours("dark")
