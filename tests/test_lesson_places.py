"""Places that cards and glossary point to: every cell of every lesson, under its section."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mha_course.lesson_places import all_places, place_of

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def test_every_cell_of_every_lesson_is_a_place() -> None:
    cells = [(path, cell) for path in NOTEBOOKS for cell in json.loads(path.read_text("utf-8"))["cells"]]
    assert len(all_places()) == len(cells)
    for path, cell in cells:
        place = place_of(cell["id"])
        assert (place.file, place.lesson, place.kind) == (path.name, path.name[:2], cell["cell_type"])
        assert place.source == "".join(cell["source"])


def test_a_place_names_its_section() -> None:
    clock = place_of("l15-clock")
    assert clock.section == "1 · A few heads for each token" and clock.label() == "lesson 15, section 1"
    assert place_of("l15-map").label() == "lesson 15, “Where we are”"
    assert clock.link("times") == {
        "file": "15_routing_and_composing.ipynb",
        "cell": "l15-clock",
        "label": "lesson 15, section 1",
        "shows": "times",
    }


@pytest.mark.parametrize("cell", ["l15-clok", "", None, "l99-nowhere", "<script>"])
def test_what_is_no_cell_is_refused(cell: object) -> None:
    with pytest.raises(ValueError, match="No lesson has a cell"):
        place_of(cell)
