"""The questions of the lessons: each is asked once, each choice explained, no answer shows by its looks."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from mha_course.widgets.question_texts import FOLDER, Question, all_questions

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
PARAMETERS = [pytest.param(question, id=key) for key, question in all_questions().items()]


def asked_in(path: Path) -> list[tuple[str, str]]:
    """Key and the id of its cell, for each widgets.ask of a lesson, from top to bottom."""
    found = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "widgets.ask":
                found.append((ast.literal_eval(node.args[0]), cell["id"]))
    return found


def below_check_yourself(path: Path) -> list[str]:
    """The keys that are asked in the section "Check yourself"."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    heads = {cell["id"]: "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"}
    inside, ids = False, set()
    for cell in cells:
        if cell["id"] in heads and heads[cell["id"]].startswith("## "):
            inside = heads[cell["id"]].startswith("## Check yourself")
        if inside:
            ids.add(cell["id"])
    return [key for key, cell_id in asked_in(path) if cell_id in ids]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_asks_its_own_questions_each_once_and_in_order(path: Path) -> None:
    number = path.stem[:2]
    asked = [key for key, _ in asked_in(path)]
    assert asked == [key for key in all_questions() if key.startswith(f"{number}-")]
    assert 3 <= len(asked) <= 5
    for key, cell_id in asked_in(path):
        assert cell_id == f"l{number}-ask-{key[3:]}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_most_questions_stand_at_the_end_and_some_on_the_way(path: Path) -> None:
    asked, at_the_end = len(asked_in(path)), len(below_check_yourself(path))
    assert at_the_end > asked / 2
    assert 1 <= asked - at_the_end <= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_open_questions_have_one_pattern(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    (think,) = [c for c in cells if c["id"] == f"l{path.stem[:2]}-think"]
    lines = "".join(think["source"]).splitlines()
    numbered = [i for i, line in enumerate(lines) if line[:1].isdigit()]
    assert 2 <= len(numbered) <= 4
    for place, i in enumerate(numbered, start=1):
        assert lines[i].startswith(f"{place}. ") and lines[i].endswith(("?", ".")), lines[i]
        assert lines[i + 1].startswith("   <details><summary>Answer</summary>"), lines[i + 1]
        assert lines[i + 1].endswith("</details><br>"), lines[i + 1]
        # Inside HTML no Markdown is read: it would show as it is written.
        assert "`" not in lines[i + 1] and "$" not in lines[i + 1] and "**" not in lines[i + 1]
    whole = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    assert whole.count("<details>") == len(numbered), "answers stand in the last cell of Check yourself only"


@pytest.mark.parametrize("question", PARAMETERS)
def test_every_choice_is_explained(question: Question) -> None:
    assert len(question.choices) >= 3
    assert question.right and len(question.right) < len(question.choices)
    reasons = [choice.because for choice in question.choices]
    assert len(set(reasons)) == len(reasons), "each choice has a reason of its own"
    for choice in question.choices:
        assert len(choice.because.split()) >= 8, f"{choice.text}: says too little"
        assert len(choice.because) <= 400, f"{choice.text}: a reason is read at a glance"


@pytest.mark.parametrize("question", PARAMETERS)
def test_markup_is_what_the_widget_shows(question: Question) -> None:
    for text in (question.text, *(part for c in question.choices for part in (c.text, c.because))):
        assert text.count("`") % 2 == 0, f"a backtick is left open: {text}"
        plain = "".join(text.split("`")[::2])
        assert not any(sign in plain for sign in ("**", "$", "<", "_{", "\n")), text
        assert "!" not in plain, text


def test_keys_begin_with_the_number_of_their_lesson() -> None:
    for path in FOLDER.glob("lesson_*.json"):
        number = path.stem.removeprefix("lesson_")
        keys = json.loads(path.read_text(encoding="utf-8"))
        assert keys and all(key.startswith(f"{number}-") for key in keys), path.name
    assert {key[:2] for key in all_questions()} == {path.stem[:2] for path in NOTEBOOKS}


def test_no_answer_is_given_away_by_its_length() -> None:
    questions = list(all_questions().values())
    given_away = [q.key for q in questions if _longest(q) <= q.right]
    assert len(given_away) <= len(questions) / 2, given_away
    # Nor by being the shortest.
    shortest = [q.key for q in questions if _longest(q, sign=-1) <= q.right]
    assert len(shortest) <= len(questions) / 2, shortest


def test_no_answer_is_given_away_by_its_place() -> None:
    single = [q for q in all_questions().values() if not q.several]
    for place in range(4):
        hits = [q.key for q in single if place in q.right]
        assert len(hits) <= 0.4 * len(single), f"choice {place + 1} is right too often: {hits}"


def _longest(question: Question, sign: int = 1) -> frozenset[int]:
    lengths = [sign * len(choice.text) for choice in question.choices]
    return frozenset(i for i, length in enumerate(lengths) if length == max(lengths))
