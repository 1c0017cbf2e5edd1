"""The report of progress: counted from the lessons themselves, true at every stage, readable anywhere."""

from __future__ import annotations

import ast
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mha_course import progress, record_file
from mha_course.exercises.registry import EXERCISES
from mha_course.exercises.shown import tallies as counting
from mha_course.exercises.shown.lesson_contents import lessons
from mha_course.exercises.shown.progress_report import progress_report
from mha_course.exercises.shown.tallies import tallies

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    return tmp_path / "mine"


class Page(HTMLParser):
    """Text, cells and links of a piece of HTML; complains about tags that are not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text, self.links, self.rows = "", [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.open.append(tag)
        if tag == "a":
            self.links.append(dict(attrs)["href"])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data
            if {"td", "th"} & set(self.open):
                self.rows[-1][-1] += data


def asked(path: Path, name: str) -> list[str]:
    """The keys that a lesson hands to widgets.<name>, read as Python and not as text."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    trees = [ast.parse("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [ast.literal_eval(c.args[0]) for c in calls if ast.unparse(c.func) == f"widgets.{name}"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_lessons_are_counted_as_they_are(path: Path) -> None:
    [lesson] = [lesson for lesson in lessons() if lesson.file == path.name]
    first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    assert f"# {lesson.number} · {lesson.title}" == first.splitlines()[0]
    for kind in ("predict", "ask", "parsons"):
        found = {"predict": lesson.predictions, "ask": lesson.questions, "parsons": lesson.puzzles}[kind]
        assert list(found) == list(dict.fromkeys(asked(path, kind)))
    assert len(lesson.predictions) >= 2


def test_every_exercise_has_its_row() -> None:
    rows = tallies()
    assert [row.lesson.file for row in rows] == [path.name for path in NOTEBOOKS]
    assert sorted(name for row in rows for name in row.exercises.names) == sorted(EXERCISES)


def test_an_untouched_course_reads_well() -> None:
    report = progress_report()
    text, page = repr(report), Page(report._repr_html_())
    assert "nothing done yet" in text and f"{len(EXERCISES)} exercises" in text
    assert "Begin with lesson 00 · Start here." in text and "Begin with lesson 00" in page.text
    assert "✓" not in text + page.text and "0 of 3" in text
    assert report.remarks == ()
    assert page.links == [path.name for path in NOTEBOOKS]


def test_what_was_done_is_counted_where_it_belongs() -> None:
    progress.mark_solved("split_heads")
    progress.mark_attempted("merge_heads")
    progress.save_prediction(asked(NOTEBOOKS[3], "predict")[0], "x")
    progress.save_prediction("03-of-another-version", "x")
    progress.mark_solved("an_exercise_of_another_version")
    report = progress_report()
    row = report.rows[3]
    assert (str(row.exercises), row.exercises.open) == ("1 of 3", ("head_size", "stack_heads"))
    assert str(row.predictions) == f"1 of {len(row.predictions.names)}"
    assert report.rows[5].tried == ("merge_heads",) and report.rows[5].done == 0
    assert [r.done for r in report.rows] == [2 if i == 3 else 0 for i in range(len(NOTEBOOKS))]
    assert f"1 of {len(EXERCISES)} exercises" in report.summary
    line = next(line for line in repr(report).splitlines() if line.startswith("03"))
    assert "1 of 3" in line and "Split" in line
    cells = next(cells for cells in Page(report._repr_html_()).rows if cells[0].startswith("03"))
    assert cells[1:3] == ["1 of 3", f"1 of {len(row.predictions.names)}"]


def test_questions_count_when_right_and_puzzles_when_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = 'widgets.ask(\n    "00-a",\n)\nwidgets.ask("00-b"); widgets.parsons(\'split_heads\')'
    cells = [
        {"cell_type": "markdown", "source": ["# 00 · <b>Title</b>\n", "# second"]},
        {"cell_type": "code", "source": code},
    ]
    (tmp_path / "00_x.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    (tmp_path / "07_the_layer.ipynb").write_text("{broken", encoding="utf-8")
    found = lessons(tmp_path)
    assert [(lesson.title, lesson.questions, lesson.puzzles) for lesson in found] == [
        ("<b>Title</b>", ("00-a", "00-b"), ("split_heads",)),
        ("The layer", (), ()),
    ]
    monkeypatch.setattr(counting, "lessons", lambda: found)
    progress.save_answer("00-a", "x", False)
    progress.save_answer("00-b", "x", True)
    row = tallies()[0]
    assert (str(row.questions), str(row.puzzles), row.questions.open) == ("1 of 2", "0 of 1", ("00-a",))
    progress.mark_solved("parsons-split_heads")
    row = tallies()[0]
    assert row.puzzles.complete and not row.questions.complete
    html = progress_report()._repr_html_()
    assert "<b>Title" not in html and "<b>Title</b>" in Page(html).text
    assert "1 of 2 questions" in repr(progress_report()) and "1 of 1 puzzles" in repr(progress_report())


def test_the_next_step_follows_the_student() -> None:
    def step() -> str:
        return progress_report().next_step

    # Whoever begins in the middle is not sent back before that lesson is done.
    progress.mark_solved("split_heads")
    assert step() == "Next: lesson 03 · Split, exercise `head_size`."
    progress.mark_attempted("stack_heads")
    assert step() == "Next: lesson 03 · Split, exercise `stack_heads` (tried, not yet right)."
    progress.mark_solved("stack_heads")
    progress.mark_solved("head_size")
    row = progress_report().rows[3]
    for name in row.puzzles.open:
        progress.mark_solved(f"parsons-{name}")
    assert step() == "Next: lesson 04 · Per-head attention."
    for name, exercise in EXERCISES.items():
        if exercise.lesson >= "04":
            progress.mark_solved(name)
    for row in progress_report().rows:
        for name in row.puzzles.open:
            progress.mark_solved(f"parsons-{name}")
    assert step() == "Next: lesson 00 · Start here."
    for name in EXERCISES:
        progress.mark_solved(name)
    assert step().startswith("Still open: lesson 00 · Start here, ") and "2 predictions" in step()
    for row in progress_report().rows:
        for key in row.predictions.names:
            progress.save_prediction(key, "x")
        for key in row.questions.names:
            progress.save_answer(key, "x", True)
    report = progress_report()
    assert step() == "Everything in these lessons is done."
    assert all(row.done == row.of for row in report.rows)
    assert all(str(row.exercises) + " ✓" in repr(report) for row in report.rows)
    assert report._repr_html_().count("mhx-full") == len(report.rows) + report._repr_html_().count(
        ".mhx-full"
    )


def test_damaged_and_unwritable_files_are_said(home: Path) -> None:
    home.mkdir()
    (home / "progress.json").write_text("{", encoding="utf-8")
    report = progress_report()
    assert "progress.json is damaged" in repr(report) and "damaged" in Page(report._repr_html_()).text
    assert (home / "progress.json").read_text(encoding="utf-8") == "{"
    progress.mark_solved("split_heads")
    assert progress_report().remarks == ()
    for path in home.iterdir():
        path.unlink()
    home.rmdir()
    home.write_text("a file in its place", encoding="utf-8")
    progress.mark_solved("merge_heads")
    report = progress_report()
    assert "until the notebook is closed" in repr(report)
    assert f"1 of {len(EXERCISES)} exercises" in report.summary


def test_without_lessons_it_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "lessons", lambda: [])
    for text in (repr(progress_report()), Page(progress_report()._repr_html_()).text):
        assert "holds no lessons" in text
