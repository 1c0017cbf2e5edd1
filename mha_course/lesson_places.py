"""Places in the lessons that something points to: a cell by its id, with its file and its section.

Standard library only.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mha_course.workspace import project_root

_SECTION = re.compile(r"^##+ +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """A cell of a lesson: its id, the number ("03") and file of the lesson, the heading, kind and text."""

    cell: str
    lesson: str
    file: str
    section: str
    kind: str
    source: str

    def label(self) -> str:
        """How it is named in a link: "lesson 03, section 2"; without a number where the heading has none."""
        number = re.match(r"(\d+) · ", self.section)
        return f"lesson {self.lesson}, " + (f"section {number[1]}" if number else f"“{self.section}”")

    def link(self, shows: str = "") -> dict[str, str]:
        """What lesson_link.js needs; shows: what is to be seen there."""
        return {"file": self.file, "cell": self.cell, "label": self.label(), "shows": shows}


def place_of(cell: str) -> Place:
    """The place of that cell id. Raises: ValueError with the nearest ids when no lesson has it."""
    known = all_places()
    if isinstance(cell, str) and cell in known:
        return known[cell]
    near = difflib.get_close_matches(str(cell), known, n=3)
    raise ValueError(
        f"No lesson has a cell {cell!r}." + (f" The nearest: {', '.join(near)}." if near else "")
    )


@lru_cache
def all_places(folder: Path | None = None) -> dict[str, Place]:
    """Every cell of every lesson by its id, in reading order; the published lessons when left out."""
    found: dict[str, Place] = {}
    for path in sorted((folder or project_root() / "notebooks").glob("[0-9]*_*.ipynb")):
        section = ""
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown" and (headings := _SECTION.findall(source)):
                section = headings[0]
            found[cell["id"]] = Place(
                cell["id"], path.name[:2], path.name, section, cell["cell_type"], source
            )
    return found
