"""Cards of the interview: boxes, marks that survive other kernels, broken files and closed folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mha_course import progress, progress_cards, record_file
from mha_course.progress_cards import FIRST_BOX, LAST_BOX, box_after, kept_cards, put_back, save_mark


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    return tmp_path / "mine"


def boxes_after(*marks: progress_cards.Mark) -> list[int]:
    boxes = [FIRST_BOX]
    for mark in marks:
        boxes.append(box_after(boxes[-1], mark))
    return boxes[1:]


def test_what_is_known_climbs_and_what_is_missed_falls() -> None:
    assert boxes_after("knew", "knew", "knew", "knew") == [2, 3, 3, 3] and LAST_BOX == 3
    assert boxes_after("missed", "partly", "partly", "knew", "missed") == [0, 1, 1, 2, 0]
    # Known at once stands above what had to be missed first.
    assert boxes_after("missed", "knew")[-1] < boxes_after("knew")[-1]
    with pytest.raises(ValueError, match="missed, partly, knew"):
        box_after(1, "known")


def test_marks_are_kept_with_their_box_and_counted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept_cards() == {} and progress_cards.known_cards() == set()
    for when, mark in (("one", "knew"), ("two", "missed"), ("three", "knew")):
        monkeypatch.setattr(progress, "now", lambda when=when: when)
        assert save_mark("why-scaling", mark) is None
    save_mark("mask-polarity", "partly")
    assert kept_cards() == {
        "why-scaling": {"box": 1, "mark": "knew", "times": 3, "when": "three"},
        "mask-polarity": {"box": 1, "mark": "partly", "times": 1, "when": "three"},
    }
    assert progress_cards.known_cards() == {"why-scaling"}
    kept = json.loads((home / "progress.json").read_text(encoding="utf-8"))
    assert kept == {"cards": kept_cards()}


def test_a_mark_that_is_taken_back_leaves_what_was_there(home: Path) -> None:
    save_mark("three-uses", "knew")
    before = kept_cards()["three-uses"]
    save_mark("three-uses", "missed")
    save_mark("cache-bytes", "missed")
    assert put_back("three-uses", before) is None and put_back("cache-bytes", None) is None
    assert kept_cards() == {"three-uses": before}
    assert put_back("never-marked", None) is None


@pytest.mark.parametrize("mark", ["known", "", None, 3])
def test_what_is_no_mark_is_refused_and_nothing_is_written(home: Path, mark: object) -> None:
    with pytest.raises(ValueError, match="one of missed"):
        save_mark("three-uses", mark)
    with pytest.raises(ValueError, match="a card's key"):
        save_mark(7, "knew")
    assert not (home / "progress.json").exists()


def test_no_mark_is_lost_between_kernels(home: Path) -> None:
    program = (
        "import sys; from mha_course import progress_cards\n"
        "for i in range(20): progress_cards.save_mark('shared', 'knew'); "
        "progress_cards.save_mark(f'{sys.argv[1]}-{i}', 'missed')\n"
    )
    kernels = [subprocess.Popen([sys.executable, "-c", program, name], env=os.environ) for name in "abc"]
    assert [kernel.wait(timeout=60) for kernel in kernels] == [0, 0, 0]
    kept = kept_cards()
    assert kept.pop("shared") == {**kept_cards()["shared"], "times": 60, "box": 3}
    assert len(kept) == 60 and {card["box"] for card in kept.values()} == {0}


def test_what_a_later_version_notes_stays_and_what_is_no_card_is_left_out(home: Path) -> None:
    home.mkdir()
    later = {
        "a": {"box": 2, "mark": "knew", "times": 5, "when": "then", "seconds": 41},
        "b": {"box": 9, "mark": "partly"},
        "c": {"box": True, "mark": "knew"},
        "d": {"box": 1, "mark": "forgot"},
        "e": "knew",
        "f": {"box": -1, "mark": "missed"},
        "g": {"box": 1, "mark": ["knew"]},
    }
    (home / "progress.json").write_text(json.dumps({"cards": later, "badges": 3}), encoding="utf-8")
    assert set(kept_cards()) == {"a", "b"}
    assert kept_cards()["b"] == {"box": LAST_BOX, "mark": "partly", "times": 1, "when": ""}
    save_mark("a", "missed")
    save_mark("e", "knew")
    put_back("a", {"box": 2, "mark": "knew", "times": 5, "when": "then"})
    kept = json.loads((home / "progress.json").read_text(encoding="utf-8"))
    assert kept["badges"] == 3 and kept["cards"]["a"] == later["a"]
    assert kept["cards"]["e"]["box"] == 2 and kept["cards"]["d"] == later["d"]


@pytest.mark.parametrize("broken", [b"{", b"[]", b'{"cards": 3}', b'{"cards": [1]}'], ids=repr)
def test_a_broken_record_is_kept_beside_and_started_afresh(home: Path, broken: bytes) -> None:
    home.mkdir()
    (home / "progress.json").write_bytes(broken)
    assert kept_cards() == {}
    assert save_mark("three-uses", "partly") is None
    assert list(kept_cards()) == ["three-uses"]
    assert [path.read_bytes() for path in home.glob("progress.broken-*.json")] == [broken]


def test_without_a_folder_marks_are_kept_in_memory_and_written_later(home: Path) -> None:
    home.write_text("a file where the folder should be", encoding="utf-8")
    assert "until the notebook is closed" in save_mark("three-uses", "missed")
    save_mark("three-uses", "knew")
    assert kept_cards()["three-uses"]["box"] == 1 and kept_cards()["three-uses"]["times"] == 2
    home.unlink()
    assert save_mark("cache-bytes", "knew") is None
    kept = json.loads((home / "progress.json").read_text(encoding="utf-8"))["cards"]
    assert (kept["three-uses"]["box"], kept["cache-bytes"]["box"]) == (1, 2)
