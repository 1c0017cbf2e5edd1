"""A my_course/ of its own for each test, and ways to fill it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mha_course import record_file
from mha_course.bug_hunt.faults import suspects
from mha_course.exercises.shown.tallies import PUZZLE, tallies
from mha_course.interview.card import all_cards

WHEN = "2031-05-04T10:00:00+00:00"
STAGES = ["mask", "layer", "blocks", "block"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No squares in the page and a small sheet: for tests that are about words and files."""
    from mha_course.certificate import keeping, page
    from mha_course.plots.canvas import Canvas
    from mha_course.plots.png import encode

    dot = encode(Canvas(30, 20).figure)
    monkeypatch.setattr(page, "squares_png", lambda record, theme: dot)
    monkeypatch.setattr(keeping, "sheet_png", lambda record: dot)


def run(passed: dict[str, float], minutes: int = 45, breaks: int = 0, lesson: str = "16") -> dict:
    """A run against the clock as it is kept."""
    entry = {"lesson": lesson, "minutes": minutes, "stages": STAGES, "since": None, "breaks": breaks}
    return {**entry, "counted": max(passed.values()), "passed": passed}


def everything() -> dict:
    """A progress.json in which all of the course is done."""
    rows = tallies()
    puzzles = [PUZZLE + name for row in rows for name in row.puzzles.names]
    solved = [name for row in rows for name in row.exercises.names]
    right = {"choice": "x", "right": True, "tries": 1}
    knew = {"box": 2, "mark": "knew", "times": 1, "when": WHEN}
    return {
        "solved": dict.fromkeys([*solved, *puzzles], WHEN),
        "answers": {key: right for row in rows for key in row.questions.names},
        "cards": dict.fromkeys(all_cards(), knew),
        "bugs": {str(number): {"found": WHEN, "wrong": [], "shown": False} for number in suspects()},
        "clock": {WHEN: run({name: 500.0 * (i + 1) for i, name in enumerate(STAGES)})},
    }


def keep(home: Path, progress: dict) -> None:
    """Put it into my_course/."""
    (home / "progress.json").write_text(json.dumps(progress), encoding="utf-8")
