"""The student's copies: made, updated, reset, and never lost."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from mha_course import workspace
from mha_course.workspace import RECORD_NAME, Workspace, content_hash

CLOCK = time.strptime("2026-11-29 17:30", "%Y-%m-%d %H:%M")


def notebook(
    *sources: str, outputs: bool = False, count: int | None = None, metadata: dict | None = None
) -> str:
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{place}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
            "execution_count": count,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": "ran"}] if outputs else [],
        }
        for place, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    pristine, home = tmp_path / "notebooks", tmp_path / "my_course"
    pristine.mkdir()
    home.mkdir()
    (pristine / "00_start_here.ipynb").write_text(notebook("print(0)"), encoding="utf-8")
    (pristine / "03_split.ipynb").write_text(notebook("x = 3", "h = 2"), encoding="utf-8")
    (pristine / "13_what_it_costs.ipynb").write_text(notebook("cost = 5"), encoding="utf-8")
    return pristine, home


def refresh(folders: tuple[Path, Path]) -> dict[str, str]:
    return {change.lesson: change.what for change in Workspace(*folders, clock=CLOCK).refresh()}


def reset(folders: tuple[Path, Path], *numbers: str) -> dict[str, str | None]:
    return {c.lesson: c.beside for c in Workspace(*folders, clock=CLOCK).reset(numbers) if c.what == "reset"}


def names(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()} - {RECORD_NAME}


def test_first_start_copies_all_and_the_second_does_nothing(folders):
    assert set(refresh(folders).values()) == {"copied"}
    pristine, home = folders
    assert names(home) == {path.name for path in pristine.iterdir()}
    before = {path: path.stat().st_mtime_ns for path in home.glob("*.ipynb")}
    assert refresh(folders) == {}
    assert before == {path: path.stat().st_mtime_ns for path in home.glob("*.ipynb")}


def test_a_copy_that_was_only_run_counts_as_unchanged(folders):
    refresh(folders)
    pristine, home = folders
    ran = notebook("x = 3", "h = 2", "", outputs=True, count=7, metadata={"widgets": {"state": {}}})
    (home / "03_split.ipynb").write_text(ran, encoding="utf-8")
    assert refresh(folders) == {}
    assert (home / "03_split.ipynb").read_text(encoding="utf-8") == ran, "its outputs are still there"
    (pristine / "03_split.ipynb").write_text(notebook("x = 4", "h = 2"), encoding="utf-8")
    assert refresh(folders) == {"03_split.ipynb": "updated"}
    assert content_hash(home / "03_split.ipynb") == content_hash(pristine / "03_split.ipynb")
    assert len(names(home)) == 3


def test_an_update_leaves_a_changed_copy_alone_and_offers_the_new_version_once(folders):
    refresh(folders)
    pristine, home = folders
    mine = notebook("x = 3", "h = 2", "my = 'answer'")
    (home / "03_split.ipynb").write_text(mine, encoding="utf-8")
    assert refresh(folders) == {}, "changed, but there is nothing new to offer"
    (pristine / "03_split.ipynb").write_text(notebook("x = 4"), encoding="utf-8")
    assert refresh(folders) == {"03_split.ipynb": "offered"}
    assert (home / "03_split.ipynb").read_text(encoding="utf-8") == mine
    beside = home / "03_split.new-version.ipynb"
    assert content_hash(beside) == content_hash(pristine / "03_split.ipynb")
    beside.unlink()
    assert refresh(folders) == {}, "a new version that was thrown away doesn't come back"
    assert not beside.exists()


def test_a_new_version_that_the_student_worked_in_is_theirs_too(folders):
    refresh(folders)
    pristine, home = folders
    (home / "03_split.ipynb").write_text(notebook("mine = 1"), encoding="utf-8")
    (pristine / "03_split.ipynb").write_text(notebook("x = 4"), encoding="utf-8")
    refresh(folders)
    worked = notebook("x = 4", "mine = 2")
    (home / "03_split.new-version.ipynb").write_text(worked, encoding="utf-8")
    (pristine / "03_split.ipynb").write_text(notebook("x = 5"), encoding="utf-8")
    assert refresh(folders) == {"03_split.ipynb": "offered"}
    assert (home / "03_split.new-version.ipynb").read_text(encoding="utf-8") == worked
    newest = home / "03_split.new-version-2026-11-29-1730.ipynb"
    assert content_hash(newest) == content_hash(pristine / "03_split.ipynb")


def test_reset_keeps_a_changed_copy_beside_even_twice_in_a_minute(folders):
    refresh(folders)
    pristine, home = folders
    for count, name in enumerate(
        ("03_split.mine-2026-11-29-1730.ipynb", "03_split.mine-2026-11-29-1730-2.ipynb")
    ):
        mine = notebook(f"mine = {count}")
        (home / "03_split.ipynb").write_text(mine, encoding="utf-8")
        assert reset(folders, "3") == {"03_split.ipynb": name}
        assert (home / name).read_text(encoding="utf-8") == mine
        assert content_hash(home / "03_split.ipynb") == content_hash(pristine / "03_split.ipynb")


def test_reset_of_a_copy_that_was_only_run_keeps_nothing_beside(folders):
    refresh(folders)
    _, home = folders
    (home / "03_split.ipynb").write_text(notebook("x = 3", "h = 2", outputs=True, count=1), encoding="utf-8")
    assert reset(folders, "03") == {"03_split.ipynb": None}
    assert "ran" not in (home / "03_split.ipynb").read_text(encoding="utf-8")
    assert len(names(home)) == 3


def test_reset_all_and_unknown_numbers(folders):
    refresh(folders)
    _, home = folders
    (home / "13_what_it_costs.ipynb").write_text(notebook("mine = 13"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"no lesson '1'\. The lessons are: 00, 03, 13\."):
        reset(folders, "13", "1")
    assert "mine" in (home / "13_what_it_costs.ipynb").read_text(encoding="utf-8"), "nothing was done"
    assert len(reset(folders, "all")) == 3
    assert "13_what_it_costs.mine-2026-11-29-1730.ipynb" in names(home)


HOSTILE = [
    b"",
    b"not json",
    b"\xff\xfe\x00",
    b"[1, 2]",
    b"null",
    b'{"cells": 3}',
    b'{"cells": [null]}',
    b'{"cells": [{"cell_type": "code", "source": [1]}]}',
    b"[" * 50_000,
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_an_unreadable_copy_is_never_overwritten(folders, content):
    refresh(folders)
    pristine, home = folders
    (home / "03_split.ipynb").write_bytes(content)
    assert refresh(folders) == {"03_split.ipynb": "unreadable"}
    (pristine / "03_split.ipynb").write_text(notebook("x = 4"), encoding="utf-8")
    assert refresh(folders) == {"03_split.ipynb": "offered"}
    assert (home / "03_split.ipynb").read_bytes() == content
    beside = reset(folders, "03")["03_split.ipynb"]
    assert (home / beside).read_bytes() == content


@pytest.mark.parametrize("record", [None, "{", "[]", '{"lessons": {"03_split.ipynb": 5}}'])
def test_without_a_record_every_copy_that_differs_is_kept(folders, record):
    refresh(folders)
    pristine, home = folders
    (pristine / "03_split.ipynb").write_text(notebook("x = 4"), encoding="utf-8")
    old = (home / "03_split.ipynb").read_text(encoding="utf-8")
    if record is None:
        (home / RECORD_NAME).unlink()
    else:
        (home / RECORD_NAME).write_text(record, encoding="utf-8")
    assert refresh(folders)["03_split.ipynb"] == "offered"
    assert (home / "03_split.ipynb").read_text(encoding="utf-8") == old


def test_a_renamed_lesson_leaves_no_second_copy_unless_it_was_changed(folders):
    refresh(folders)
    pristine, home = folders
    (pristine / "03_split.ipynb").rename(pristine / "03_splitting.ipynb")
    (pristine / "13_what_it_costs.ipynb").rename(pristine / "13_costs.ipynb")
    (home / "13_what_it_costs.ipynb").write_text(notebook("mine = 1"), encoding="utf-8")
    changes = refresh(folders)
    assert changes["03_split.ipynb"] == "removed"
    assert names(home) == {
        "00_start_here.ipynb",
        "03_splitting.ipynb",
        "13_costs.ipynb",
        "13_what_it_costs.ipynb",
    }


def test_an_empty_notebooks_folder_takes_nothing_away(folders):
    refresh(folders)
    pristine, home = folders
    for path in pristine.iterdir():
        path.unlink()
    assert refresh(folders) == {}
    assert len(names(home)) == 3


def test_a_folder_in_the_place_of_one_copy_stops_only_that_lesson(folders):
    _, home = folders
    (home / "03_split.ipynb").mkdir()
    (home / "03_split.ipynb" / "work.txt").write_text("mine", encoding="utf-8")
    changes = refresh(folders)
    assert changes["00_start_here.ipynb"] == changes["13_what_it_costs.ipynb"] == "copied"
    assert changes["03_split.ipynb"] == "offered"
    beside = reset(folders, "03")["03_split.ipynb"]
    assert (home / beside / "work.txt").read_text(encoding="utf-8") == "mine"


def test_what_counts_as_a_change(tmp_path):
    def of(text: str) -> str | None:
        path = tmp_path / "one.ipynb"
        path.write_text(text, encoding="utf-8")
        return content_hash(path)

    base = of(notebook("a = 1", "b = 2"))
    assert base is not None
    assert base == of(notebook("a = 1\n", "b = 2", "   \n", count=3, outputs=True))
    as_string = json.loads(notebook("a = 1", "b = 2"))
    for cell in as_string["cells"]:
        cell["source"] = "".join(cell["source"])
    assert base == of(json.dumps(as_string)), "a source may be one string or a list of lines"
    as_string["cells"][0]["cell_type"] = "markdown"
    different = [
        of(json.dumps(as_string)),
        of(notebook("b = 2", "a = 1")),
        of(notebook("a = 1b = 2")),
        of(notebook("a = 1")),
        of(notebook("a = 1", "b = 2", "# mine")),
    ]
    assert len({base, *different}) == 6


def test_my_course_dir_honours_the_variable(monkeypatch, tmp_path):
    monkeypatch.setenv(workspace.HOME_VARIABLE, str(tmp_path / "a" / "b"))
    assert workspace.my_course_dir() == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").is_dir()
    monkeypatch.delenv(workspace.HOME_VARIABLE)
    monkeypatch.setattr(workspace, "project_root", lambda: tmp_path / "root")
    assert workspace.my_course_dir() == tmp_path / "root" / "my_course"


def test_every_change_has_a_sentence():
    for what in ("copied", "updated", "removed", "offered", "reset", "unreadable", "failed"):
        sentence = workspace.Change("03_split.ipynb", what, "03_split.x.ipynb", "a reason").sentence()
        assert sentence.startswith("03_split.ipynb: ")
        assert sentence.isascii(), "a console of any encoding can show it"
