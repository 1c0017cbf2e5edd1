"""What is kept of the bug hunt: the first right name, wrong names once each, and what was looked up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mha_course import progress, progress_bugs, record_file


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    return tmp_path / "mine"


def kept(home: Path) -> dict:
    return json.loads((home / "progress.json").read_text(encoding="utf-8"))


def test_wrong_names_count_once_and_what_is_found_stays_found(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert progress_bugs.hunted() == {} and progress_bugs.found_bugs() == []
    for name in ("mask-added", "view-alone", "mask-added"):
        assert progress_bugs.note_name(3, name, False) is None
    assert progress_bugs.hunted() == {3: {"found": "", "wrong": ["mask-added", "view-alone"], "shown": False}}
    monkeypatch.setattr(progress_bugs, "now", lambda: "first")
    progress_bugs.note_name(3, "empty-row-nan", True)
    monkeypatch.setattr(progress_bugs, "now", lambda: "second")
    progress_bugs.note_name(3, "empty-row-nan", True)
    progress_bugs.note_name(3, "without-w-o", False)
    progress_bugs.note_shown(3)
    progress_bugs.note_name(12, "mask-reversed", True)
    assert progress_bugs.hunted()[3] == {
        "found": "first",
        "wrong": ["mask-added", "view-alone"],
        "shown": False,
    }
    assert progress_bugs.found_bugs() == [3, 12]


def test_what_was_looked_up_stays_so_when_it_is_named_later(home: Path) -> None:
    progress_bugs.note_shown(5)
    progress_bugs.note_name(5, "scaled-by-d-model", True)
    found = progress_bugs.hunted()[5]
    assert found["shown"] is True and found["found"]


def test_other_sections_and_entries_of_later_versions_stay(home: Path) -> None:
    progress.mark_solved("split_heads")
    record_file.change("progress.json", "bugs", lambda bugs: bugs.update({"7": {"stars": 3}, "x": "later"}))
    progress_bugs.note_name(7, "mask-added", False)
    assert kept(home)["bugs"] == {"7": {"stars": 3, "wrong": ["mask-added"]}, "x": "later"}
    assert progress.solved().keys() == {"split_heads"}


@pytest.mark.parametrize(
    "entry", [3, None, [], {"found": 3, "wrong": 5, "shown": "yes"}, {"wrong": [1, None]}, {"found": ""}]
)
def test_damaged_entries_count_as_nothing(home: Path, entry: object) -> None:
    record_file.change("progress.json", "bugs", lambda bugs: bugs.update({"2": entry, "٣": {}, "1234": {}}))
    nothing = {"found": "", "wrong": [], "shown": False}
    assert progress_bugs.hunted() == ({2: nothing} if isinstance(entry, dict) else {})
    assert progress_bugs.found_bugs() == []
    progress_bugs.note_name(2, "heads-averaged", True)
    assert progress_bugs.found_bugs() == [2]


def test_a_folder_that_cannot_be_written_says_so_and_counts_until_the_end(home: Path) -> None:
    home.write_text("a file", encoding="utf-8")
    assert "only until the notebook is closed" in progress_bugs.note_name(1, "view-alone", True)
    assert progress_bugs.found_bugs() == [1]
