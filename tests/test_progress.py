"""Predictions and progress survive two notebooks at once, broken files and folders that can't be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mha_course import progress, record_file
from mha_course.file_lock import file_lock


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    return tmp_path / "mine"


def test_a_prediction_comes_back_as_it_was_written_and_a_later_one_replaces_it(home: Path) -> None:
    assert progress.load_prediction("03-shape") is None
    text = "(2, 3, 5, 4)\n三月 العربية 👩‍🚀 <b> \ud800"
    assert progress.save_prediction("03-shape", text) is None
    assert progress.load_prediction("03-shape") == text
    progress.save_prediction("03-shape", "no")
    progress.save_prediction("03-other", "yes")
    assert progress.load_prediction("03-shape") == "no"
    assert json.loads((home / "predictions.json").read_text(encoding="utf-8")) == {
        "predictions": {"03-shape": "no", "03-other": "yes"}
    }
    assert not list(home.glob("*.part"))


def test_the_first_solution_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "now", lambda: "first")
    progress.mark_solved("split_heads")
    monkeypatch.setattr(progress, "now", lambda: "second")
    progress.mark_solved("split_heads")
    progress.mark_solved("merge_heads")
    progress.mark_attempted("attention")
    assert progress.solved() == {"split_heads": "first", "merge_heads": "second"}
    assert progress.attempted() == {"attention": "second"}


def test_several_kernels_at_once_lose_nothing(home: Path) -> None:
    program = (
        "import sys; from mha_course import progress\n"
        "for i in range(40): assert progress.save_prediction(f'{sys.argv[1]}-{i}', 'x') is None\n"
    )
    kernels = [subprocess.Popen([sys.executable, "-c", program, name], env=os.environ) for name in "abc"]
    assert [kernel.wait(timeout=60) for kernel in kernels] == [0, 0, 0]
    kept = json.loads((home / "predictions.json").read_text(encoding="utf-8"))["predictions"]
    assert sorted(kept) == sorted(f"{name}-{i}" for name in "abc" for i in range(40))


@pytest.mark.parametrize(
    "broken", [b"{", b"", b"[1, 2]", b'{"solved": 3}', b"\xff\xfe\x00", b"[" * 100_000], ids=repr
)
def test_a_broken_file_is_kept_beside_and_started_afresh(home: Path, broken: bytes) -> None:
    home.mkdir()
    (home / "progress.json").write_bytes(broken)
    assert progress.solved() == {}
    assert progress.mark_solved("split_heads") is None
    assert list(progress.solved()) == ["split_heads"]
    beside = list(home.glob("progress.broken-*.json"))
    assert [path.read_bytes() for path in beside] == [broken]


def test_sections_of_a_later_version_are_left_alone(home: Path) -> None:
    home.mkdir()
    (home / "progress.json").write_text('{"badges": {"a": 1}}', encoding="utf-8")
    progress.mark_solved("split_heads")
    assert json.loads((home / "progress.json").read_text(encoding="utf-8"))["badges"] == {"a": 1}


def test_without_a_folder_it_works_in_memory_and_catches_up_later(home: Path) -> None:
    home.write_text("a file where the folder should be", encoding="utf-8")
    sentence = progress.save_prediction("00-a", "one")
    assert sentence is not None and "until the notebook is closed" in sentence
    assert progress.trouble() == sentence
    assert progress.mark_solved("split_heads") is not None
    assert progress.load_prediction("00-a") == "one"
    assert list(progress.solved()) == ["split_heads"]
    home.unlink()
    assert progress.save_prediction("00-b", "two") is None and progress.trouble() is None
    kept = json.loads((home / "predictions.json").read_text(encoding="utf-8"))["predictions"]
    assert kept == {"00-a": "one", "00-b": "two"}


def test_a_lock_that_is_never_freed_costs_seconds_not_forever(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_file, "PATIENCE_SECONDS", 0.05)
    home.mkdir()
    with file_lock(home / record_file.LOCK):
        sentence = progress.save_prediction("00-a", "one")
    assert sentence is not None and "another notebook" in sentence
    assert progress.load_prediction("00-a") == "one"


def test_broken_files_get_short_names_and_nothing_but_text_is_kept(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    monkeypatch.setattr(record_file.time, "strftime", lambda *_: "2026-05-04-101112")
    for _ in range(4):
        (tmp_path / "predictions.json").write_text("{", encoding="utf-8")
        assert progress.save_prediction("03-x", "a") is None
    broken = sorted(path.name.partition("101112")[2] for path in tmp_path.glob("*.broken-*"))
    assert broken == ["-2.json", "-3.json", "-4.json", ".json"]
    with pytest.raises(ValueError, match="strings"):
        progress.save_prediction(None, "b")
    assert progress.save_prediction("03-y", "c") is None


def test_a_home_that_does_not_exist_is_one_sentence(monkeypatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", "~nobody-of-this-name/course")
    assert "no such home folder" in progress.save_prediction("03-z", "a")
    assert progress.load_prediction("03-z") == "a"


def test_answers_count_tries_and_a_right_one_stays(home: Path) -> None:
    assert progress.answers() == {}
    assert progress.save_answer("03-where", "in head 1", False) is None
    assert progress.answers() == {"03-where": {"choice": "in head 1", "right": False, "tries": 1}}
    progress.save_answer("03-where", "in head 2", True)
    progress.save_answer("03-where", "in head 1", False)
    progress.save_answer("03-other", "<b>", False)
    progress.save_answer("03-other", "三月", False)
    assert progress.answers() == {
        "03-where": {"choice": "in head 2", "right": True, "tries": 3},
        "03-other": {"choice": "三月", "right": False, "tries": 2},
    }
    with pytest.raises(ValueError, match="strings"):
        progress.save_answer("03-where", 3, True)


def test_no_try_is_lost_between_kernels(home: Path) -> None:
    program = (
        "from mha_course import progress\nfor i in range(25): progress.save_answer('03-a', str(i), False)"
    )
    kernels = [subprocess.Popen([sys.executable, "-c", program], env=os.environ) for _ in range(3)]
    assert [kernel.wait(timeout=60) for kernel in kernels] == [0, 0, 0]
    assert progress.answers()["03-a"]["tries"] == 75
    assert {path.name for path in home.iterdir()} == {"progress.json", record_file.LOCK}


def test_what_a_later_version_wrote_stays(home: Path) -> None:
    home.mkdir()
    later = {
        "format": 7,
        "badges": {"a": [1, {"deep": None}]},
        "note": "text, not an object",
        "solved": {"attention": {"when": "2031-02-03", "tries": 2}},
        "answers": {"03-a": {"choice": "x", "right": False, "tries": 4, "seconds": 12.5}, "03-b": "x"},
    }
    (home / "progress.json").write_text(json.dumps(later), encoding="utf-8")
    assert progress.solved() == {"attention": ""} and list(progress.answers()) == ["03-a"]
    progress.mark_solved("attention")
    progress.mark_solved("split_heads")
    progress.save_answer("03-a", "y", True)
    progress.save_answer("03-b", "y", False)
    kept = json.loads((home / "progress.json").read_text(encoding="utf-8"))
    assert kept["solved"].pop("split_heads")
    later["answers"]["03-a"] |= {"choice": "y", "right": True, "tries": 5}
    later["answers"]["03-b"] = {"choice": "y", "right": False, "tries": 1}
    assert kept == later
    assert not list(home.glob("*broken*"))


def test_a_damaged_section_costs_no_other_one(home: Path) -> None:
    home.mkdir()
    content = b'{"solved": [1], "answers": {"03-a": {"choice": "x", "right": true, "tries": 1}}}'
    (home / "progress.json").write_bytes(content)
    progress.mark_solved("split_heads")
    assert progress.answers()["03-a"]["right"] and list(progress.solved()) == ["split_heads"]
    assert [path.read_bytes() for path in home.glob("progress.broken-*.json")] == [content]


def test_a_byte_order_mark_is_no_damage(home: Path) -> None:
    home.mkdir()
    (home / "progress.json").write_bytes(b"\xef\xbb\xbf" + b'{"solved": {"attention": "then"}}')
    progress.mark_solved("split_heads")
    assert set(progress.solved()) == {"attention", "split_heads"} and not list(home.glob("*broken*"))


def test_a_clock_that_goes_back_changes_nothing_that_was_noted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "now", lambda: "2031-01-01T00:00:00+00:00")
    progress.mark_attempted("attention")
    progress.mark_solved("attention")
    monkeypatch.setattr(progress, "now", lambda: "1970-01-01T00:00:00+00:00")
    progress.mark_attempted("attention")
    progress.mark_solved("attention")
    progress.mark_solved("split_heads")
    assert progress.solved() == {
        "attention": "2031-01-01T00:00:00+00:00",
        "split_heads": "1970-01-01T00:00:00+00:00",
    }
    assert progress.attempted() == {"attention": "2031-01-01T00:00:00+00:00"}


def test_a_huge_file_is_put_aside_unread(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_file, "LARGEST_BYTES", 2000)
    home.mkdir()
    (home / "progress.json").write_text(json.dumps({"solved": {"a": "x" * 3000}}), encoding="utf-8")
    assert progress.solved() == {} and "damaged" in progress.unreadable()[0]
    assert progress.mark_solved("split_heads") is None and progress.unreadable() == []
    assert list(progress.solved()) == ["split_heads"] and len(list(home.glob("*broken*"))) == 1
    # What would be too large to be read again is not written; the file that is there stays good.
    sentence = progress.save_answer("03-a", "y" * 3000, True)
    assert "larger than" in sentence and progress.answers()["03-a"]["right"]
    assert list(json.loads((home / "progress.json").read_text(encoding="utf-8"))) == ["solved"]


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_folder_that_becomes_read_only_keeps_what_is_there(
    home: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    progress.mark_solved("attention")
    before = (home / "progress.json").read_bytes()

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, step, refused)
    for _ in range(2):
        sentence = progress.mark_solved("split_heads")
        assert "until the notebook is closed" in sentence and "Permission denied" in sentence
    assert set(progress.solved()) == {"attention", "split_heads"}
    assert (home / "progress.json").read_bytes() == before
    monkeypatch.undo()
    monkeypatch.setenv("MHA_COURSE_HOME", str(home))
    assert {path.name for path in home.iterdir()} == {"progress.json", record_file.LOCK}


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own there")
def test_a_file_that_lives_elsewhere_goes_on_living_there(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    elsewhere = tmp_path / "synchronised.json"
    elsewhere.write_text('{"solved": {"attention": "then"}}', encoding="utf-8")
    (home / "progress.json").symlink_to(elsewhere)
    progress.mark_solved("split_heads")
    assert (home / "progress.json").is_symlink()
    assert set(json.loads(elsewhere.read_text(encoding="utf-8"))["solved"]) == {"attention", "split_heads"}


def test_a_folder_in_the_files_place_is_a_sentence(home: Path) -> None:
    (home / "progress.json").mkdir(parents=True)
    assert progress.solved() == {}
    assert "until the notebook is closed" in progress.mark_solved("split_heads")
    assert list(progress.solved()) == ["split_heads"]
    assert "can't be read" in progress.unreadable()[0]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_change_that_fails_by_itself_is_made_once_and_never_again(
    error: type[BaseException], home: Path
) -> None:
    progress.mark_solved("split_heads")

    def update(kept: dict) -> None:
        raise error

    with pytest.raises(error):
        record_file.change("progress.json", "cards", update)
    assert list(progress.solved()) == ["split_heads"]
    assert progress.mark_solved("merge_heads") is None
    assert set(progress.solved()) == {"split_heads", "merge_heads"}
