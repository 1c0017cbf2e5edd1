"""The certificate as a picture: as many squares as exercises, nothing outside, nothing over each other."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, FancyBboxPatch
from matplotlib.text import Text

from mha_course.certificate import squares
from mha_course.certificate.record import record
from mha_course.certificate.sheet import drawn_sheet, sheet_png, squares_png
from mha_course.exercises.shown.tallies import tallies
from mha_course.plots.canvas import SHARPNESS, Canvas
from mha_course.theme import colours
from tests.certificate.conftest import STAGES, WHEN, everything, keep, run

LONG = "Maximilian Theophrastus Bombastus von Hohenheim-Wolkenstein the Elder of Nowhere"
NAMES = ["", "Ada Lovelace", LONG, "W" * 90, "张三 🎉", "محمد بن عبد الله", "\U000e0abc"]


def test_one_square_an_exercise_and_one_dot_a_question(home: Path) -> None:
    keep(home, {"solved": {"split_heads": "x", "merge_heads": "x"}, "answers": {
        "03-where-feature-14": {"choice": "x", "right": True, "tries": 1}}})  # fmt: skip
    rows = tallies()
    canvas = Canvas(*squares.size(rows))
    squares.draw_squares(canvas, 0, 0, rows)
    ok = colours("light")["ok"].lower()
    for kind, shape, done in (("exercises", FancyBboxPatch, 2), ("questions", Circle, 1)):
        drawn = [patch for patch in canvas.figure.axes[0].get_children() if isinstance(patch, shape)]
        assert len(drawn) == sum(len(getattr(row, kind).names) for row in rows)
        assert sum(to_hex(patch.get_facecolor()) == ok for patch in drawn) == done


@pytest.mark.parametrize(("name", "damaged"), [*((name, False) for name in NAMES), (LONG, True)])
def test_nothing_is_clipped_and_no_words_run_into_others(home: Path, name: str, damaged: bool) -> None:
    done = everything()
    # The longest that can stand below the time.
    done["clock"] = {WHEN: run(dict.fromkeys(STAGES, 36_000.0), minutes=600, breaks=12)}
    keep(home, done)
    if damaged:
        (home / "progress.json").write_bytes(b"{")
        (home / "predictions.json").write_bytes(b"{")
    canvas = drawn_sheet(record(name))
    canvas.figure.canvas.draw()
    boxes = []
    for artist in canvas.figure.axes[0].get_children():
        if isinstance(artist, Text) and artist.get_text():
            box = artist.get_window_extent()
            boxes.append((artist.get_text(), box.x0, box.x1, box.y0, box.y1))
    frame = 23 * SHARPNESS
    wide, high = canvas.width * SHARPNESS, canvas.height * SHARPNESS
    for text, x0, x1, y0, y1 in boxes:
        assert x0 > frame and x1 < wide - frame and y0 > frame and y1 < high - frame, text
    for line in canvas.figure.axes[0].get_lines():
        (left, level), (right, _) = line.get_transform().transform(line.get_xydata()[[0, -1]])
        for text, x0, x1, y0, y1 in boxes:
            # The middle of the letters' height stands for them: the box is as high as the font.
            crossed = left < x1 and right > x0 and y0 + 8 < level < y1 - 8
            assert not crossed, f"{text!r} and a line"
    for one, other in itertools.combinations(boxes, 2):
        # A line of text is given the whole height of its font, of which a little may be shared.
        apart = one[1] >= other[2] or other[1] >= one[2] or one[3] >= other[4] - 6 or other[3] >= one[4] - 6
        assert apart, (one[0], other[0])
    assert sum("damaged" in text for text, *_ in boxes) == 2 * damaged


def test_the_name_and_the_words_are_drawn(home: Path) -> None:
    texts = {
        a.get_text() for a in drawn_sheet(record("Ada")).figure.axes[0].get_children() if isinstance(a, Text)
    }
    assert {
        "Ada",
        "A record of work",
        "Multi-head attention, built step by step",
        "exercises solved",
    } <= texts
    assert "name" not in texts
    texts = {a.get_text() for a in drawn_sheet(record()).figure.axes[0].get_children() if isinstance(a, Text)}
    assert "name" in texts


def test_pictures_have_two_pixels_to_a_pixel_and_both_themes() -> None:
    found = record("Ada")
    png = sheet_png(found)
    canvas = drawn_sheet(found)
    assert png.startswith(b"\x89PNG") and int.from_bytes(png[16:20], "big") == canvas.width * SHARPNESS
    light, dark = squares_png(found, "light"), squares_png(found, "dark")
    assert light != dark and light[16:24] == dark[16:24]


def test_names_of_other_scripts_are_pixels_where_text_cannot_draw_them() -> None:
    from matplotlib.image import AxesImage

    from mha_course.certificate.name_line import image_of
    from mha_course.plots import fonts

    if not fonts.drawable("三 🎉").has_stand_in or image_of("三 🎉", 40, "#000000", "#ffffff") is None:
        pytest.skip("this machine draws them as text, or has no font for them")
    images = [
        a for a in drawn_sheet(record("三 🎉")).figure.axes[0].get_children() if isinstance(a, AxesImage)
    ]
    assert len(images) == 1 and np.asarray(images[0].get_array()).min() < 100
