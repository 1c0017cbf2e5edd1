"""Which suspects of the bug hunt were found, after how many wrong names, and which were looked up.

Kept in my_course/progress.json, in the section `bugs` (see record_file.py for how). Standard library only.
"""

from __future__ import annotations

from typing import TypedDict

from mha_course import record_file
from mha_course.progress import PROGRESS, now

SECTION = "bugs"


class Hunted(TypedDict):
    """One suspect: when it was first named rightly ("" if never), wrong names before, looked up or not."""

    found: str
    wrong: list[str]
    shown: bool


def note_name(number: int, name: str, right: bool) -> str | None:
    """Note that a suspect was given a name. What is found stays found, and later names no longer count.

    A wrong name counts once, however often it is said.

    Returns: None, or one sentence when it is kept only until the notebook is closed.
    """
    when = now()

    def update(kept: record_file.Section) -> None:
        entry = _entry(kept, number)
        if _when(entry):
            return
        if right:
            entry["found"] = when
        elif name not in _wrong(entry):
            entry["wrong"] = [*_wrong(entry), name]
        kept[str(number)] = entry

    return record_file.change(PROGRESS, SECTION, update)


def note_shown(number: int) -> str | None:
    """Note that a suspect was looked up before it was found. Returns as `note_name`."""

    def update(kept: record_file.Section) -> None:
        entry = _entry(kept, number)
        if not _when(entry):
            entry["shown"] = True
            kept[str(number)] = entry

    return record_file.change(PROGRESS, SECTION, update)


def hunted() -> dict[int, Hunted]:
    """Every suspect of which something is kept, by its number."""
    return {
        int(key): Hunted(found=_when(entry), wrong=_wrong(entry), shown=entry.get("shown") is True)
        for key, entry in record_file.entries(PROGRESS, SECTION).items()
        if key.isascii() and key.isdecimal() and len(key) < 4 and isinstance(entry, dict)
    }


def found_bugs() -> list[int]:
    """The numbers of the suspects that were found, in order."""
    return sorted(number for number, entry in hunted().items() if entry["found"])


def _entry(kept: record_file.Section, number: int) -> dict[str, object]:
    """What is kept of a suspect, to be changed; whatever a later version noted there stays."""
    before = kept.get(str(number))
    return dict(before) if isinstance(before, dict) else {}


def _when(entry: dict[str, object]) -> str:
    when = entry.get("found")
    return when if isinstance(when, str) else ""


def _wrong(entry: dict[str, object]) -> list[str]:
    wrong = entry.get("wrong")
    return [name for name in wrong if isinstance(name, str)] if isinstance(wrong, list) else []
