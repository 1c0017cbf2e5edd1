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
