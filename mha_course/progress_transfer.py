"""Taking one's progress along: everything that is remembered as one file, and such a file merged in.

The file: {"kind": "mha_course progress", "format": 2, "course": version, "written": time,
"predictions": {key: text}, "answers": {key: {"choice", "right", "tries"}},
"attempted": {name: time}, "solved": {name: time}, "cards": {key: {"box", "mark", "times", "when"}},
"bugs": {number: {"found", "wrong", "shown"}}, "clock": {start: run}, "more": {file: {section: ...}}},
where `more` holds what this version of the course doesn't know. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import mha_course
from mha_course import progress, progress_bugs, progress_cards, progress_clock, record_file
from mha_course.progress import PREDICTIONS, PROGRESS
from mha_course.record_file import Record, Section

KIND, FORMAT = "mha_course progress", 2
LONGEST_KEY, LONGEST_TEXT = 200, 10_000  # characters; what the course itself writes is far shorter
SECTIONS = {
    "predictions": PREDICTIONS,
    "answers": PROGRESS,
    "attempted": PROGRESS,
    "solved": PROGRESS,
    progress_cards.SECTION: PROGRESS,
    progress_bugs.SECTION: PROGRESS,
    progress_clock.SECTION: PROGRESS,
}


@dataclass(frozen=True)
class Merged:
    """What a merge brought: how many entries each section gained, and how many could not be used.

    newer: whether the file was written by a later version of the course. trouble: as `progress.trouble`.
    """

    gained: Mapping[str, int]
    unusable: int
    newer: bool
    trouble: str | None


def collected() -> Record:
    """Everything that is remembered, in the form described above."""
    found: Record = {
        "kind": KIND,
        "format": FORMAT,
        "course": mha_course.__version__,
        "written": progress.now(),
    }
    more: dict[str, Record] = {}
    for file in (PREDICTIONS, PROGRESS):
        for section, kept in record_file.whole(file).items():
            if SECTIONS.get(section) == file and isinstance(kept, dict):
                found[section] = kept
            else:
                more.setdefault(file, {})[section] = kept
    return {**found, **{section: found.get(section, {}) for section in SECTIONS}, "more": more}


def write(path: Path) -> None:
    """Write everything that is remembered to one file, in one step. Raises OSError."""
    record_file.replace(path, record_file.serialised(collected()))


def merge(path: Path) -> Merged:
    """Add what an exported file holds (or a progress.json or predictions.json from another my_course/).

    Nothing that is here is lost: of two times the earlier one stays, a right answer stays before a wrong
    one, of two predictions for one question the one that is here, of two marks of a card the better one, and
    of each clock what was passed first. A clock that ran elsewhere stands still here. Raises OSError when the
    file can't be read, ValueError with a sentence when it is none of these.
    """
    if path.exists() and not path.is_file():
        raise ValueError("it is no file")
    if path.stat().st_size > record_file.LARGEST_BYTES:
        raise ValueError(f"it is larger than {record_file.LARGEST_BYTES // 1_000_000} MB")
    record = record_file.parsed(path.read_bytes())
    if record is None:
        raise ValueError("it is not JSON, or only a part of the file is there")
    if record.get("kind", KIND) != KIND or not any(isinstance(record.get(s), dict) for s in SECTIONS):
        raise ValueError("it holds no progress of this course")
    before, unusable = known(), 0
    for section, file in SECTIONS.items():
        usable, refused = _usable(section, record.get(section, {}))
        if section == progress_clock.SECTION:
            written = record.get("written")
            usable = {key: progress_clock.stopped(key, run, written) for key, run in usable.items()}
        unusable += refused
        if usable:
            record_file.change(file, section, _adding(_BETTER[section], usable))
    more = record.get("more")
    for file in (PREDICTIONS, PROGRESS):
        sections = more.get(file) if isinstance(more, dict) else None
        for section, kept in sections.items() if isinstance(sections, dict) else ():
            # A section that stands here as something else than an object is left as it is.
            here = record_file.whole(file).get(section, {})
            if section not in SECTIONS and isinstance(kept, dict) and isinstance(here, dict):
                record_file.change(file, section, _adding(_ours, kept))
    gained = {section: len(names - before[section]) for section, names in known().items()}
    newer = isinstance(record.get("format"), int) and record["format"] > FORMAT
    return Merged(gained, unusable, newer, progress.trouble())


def known() -> dict[str, set[object]]:
    """What counts in each section, of which an export tells the number.

    An answer that turns from wrong to right is another one, and so are a card that is known now, a suspect
    that is found and a run with one more stage.
    """
    cards, runs = progress_cards.kept_cards(), progress_clock.all_runs()
    return {
        "predictions": set(progress.predictions()),
        "answers": {(key, answer["right"]) for key, answer in progress.answers().items()},
        "attempted": set(progress.attempted()),
        "solved": set(progress.solved()),
        progress_cards.SECTION: {(key, card["mark"] == "knew") for key, card in cards.items()},
        progress_bugs.SECTION: set(progress_bugs.found_bugs()),
        progress_clock.SECTION: {(run.key, len(run.passed)) for run in runs if run.passed},
    }


def _usable(section: str, found: object) -> tuple[Section, int]:
    """The entries that look as the course writes them, and the number of the others."""
    if not isinstance(found, dict):
        return {}, 1
    fits = _FITS[section]
    usable = {key: value for key, value in found.items() if 0 < len(key) <= LONGEST_KEY and fits(key, value)}
    return usable, len(found) - len(usable)


def _is_text(key: str, value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def _is_answer(key: str, value: object) -> bool:
    right = isinstance(value, dict) and isinstance(value.get("right"), bool)
    return right and _is_text(key, value.get("choice"))


def _is_card(key: str, value: object) -> bool:
    if not isinstance(value, dict) or value.get("mark") not in progress_cards.MARKS:
        return False
    counts = (value.get("box"), value.get("times", 1))
    whole = all(isinstance(count, int) and not isinstance(count, bool) for count in counts)
    return whole and all(0 <= count < 10**9 for count in counts) and _is_text(key, value.get("when", ""))


def _is_bug(key: str, value: object) -> bool:
    if not isinstance(value, dict) or not (key.isascii() and key.isdecimal() and len(key) < 4):
        return False
    wrong = value.get("wrong", [])
    named = isinstance(wrong, list) and len(wrong) < 100 and all(_is_text(key, name) for name in wrong)
    return named and _is_text(key, value.get("found", "")) and isinstance(value.get("shown", False), bool)


def _is_run(key: str, value: object) -> bool:
    return progress_clock.run_of(key, value) is not None


_FITS: dict[str, Callable[[str, object], bool]] = {
    "predictions": _is_text,
    "answers": _is_answer,
    "attempted": _is_text,
    "solved": _is_text,
    progress_cards.SECTION: _is_card,
    progress_bugs.SECTION: _is_bug,
    progress_clock.SECTION: _is_run,
}


def _adding(better: Callable[[object, object], object], theirs: Section) -> record_file.Change:
    """A change that adds entries, and lets `better(ours, theirs)` decide where both have one."""

    def update(kept: Section) -> None:
        for key, value in theirs.items():
            kept[key] = better(kept[key], value) if key in kept else value

    return update


def _ours(ours: object, theirs: object) -> object:
    return ours


def _earlier(ours: object, theirs: object) -> object:
    return theirs if _moment(theirs) < _moment(ours) else ours


def _moment(when: object) -> datetime:
    """The time that is meant; the end of all times when it can't be read."""
    try:
        moment = datetime.fromisoformat(str(when))
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        # A day less: the very last moment can't be put into another time zone.
        return datetime.max.replace(tzinfo=UTC) - timedelta(days=1)


def _righter(ours: object, theirs: object) -> object:
    """One answer from two: what was right stays, tries are not added up (it may be the same history)."""
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return ours if isinstance(ours, dict) else theirs
    first, second = ours, theirs
    if theirs.get("right") is True and ours.get("right") is not True:
        first, second = theirs, ours
    return {**second, **first, "tries": max(progress.tries_of(ours), progress.tries_of(theirs))}


def _better_card(ours: object, theirs: object) -> object:
    """The mark that says more, with its box; how often it was marked is not added up."""
    if not _is_card("", ours) or not isinstance(ours, dict) or not isinstance(theirs, dict):
        return theirs

    def rank(card: Section) -> tuple[int, int]:
        return (progress_cards.MARKS.index(card["mark"]), card["box"])

    first, second = (theirs, ours) if rank(theirs) > rank(ours) else (ours, theirs)
    return {**second, **first, "times": max(card.get("times", 1) for card in (ours, theirs))}


def _better_bug(ours: object, theirs: object) -> object:
    """Found, if either has found it, at the earlier time; looked up, if both have looked.

    Of wrong names before two finds the fewer count, otherwise those of both.
    """
    if not _is_bug("1", ours) or not isinstance(ours, dict) or not isinstance(theirs, dict):
        return theirs
    found = [bug for bug in (ours, theirs) if bug.get("found")]
    names = [bug.get("wrong", []) for bug in (ours, theirs)]
    wrong = min(names, key=len) if len(found) == 2 else list(dict.fromkeys(names[0] + names[1]))
    both = {
        **theirs,
        **ours,
        "wrong": wrong,
        "shown": all(bug.get("shown") is True for bug in (ours, theirs)),
    }
    return both | {"found": min((bug["found"] for bug in found), key=_moment)} if found else both


_BETTER: dict[str, Callable[[object, object], object]] = {
    "predictions": _ours,
    "answers": _righter,
    "attempted": _earlier,
    "solved": _earlier,
    progress_cards.SECTION: _better_card,
    progress_bugs.SECTION: _better_bug,
    progress_clock.SECTION: progress_clock.joined,
}
