"""Rules that every lesson keeps. Each failure says what to do about it."""

from __future__ import annotations

import ast
import json
import re
import statistics
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
EDITED = (
    "If you are a student and edited this file: work in my_course/ instead, and restore this one with "
    "git checkout -- notebooks."
)
OPENING = ["Where we are", "Aims"]
CLOSING = ["Write it yourself", "Check yourself", "Recap", "Sources", "Next"]
LEADS = ["**Predict.**", "**Run.**", "**See.**", "**Tweak.**"]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def notebook(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def sources(notebook: dict, kind: str) -> list[str]:
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def calls(notebook: dict) -> list[ast.Call]:
    """Every call in the code cells, from top to bottom."""
    trees = [ast.parse(source) for source in sources(notebook, "code")]
    return [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]


def headings(notebook: dict) -> list[str]:
    prose = "\n".join(sources(notebook, "markdown"))
    return re.findall(r"^## (.+?)\s*$", prose, flags=re.MULTILINE)


def test_the_lessons_are_all_there() -> None:
    numbers = [path.stem[:2] for path in NOTEBOOKS]
    assert numbers == [f"{i:02d}" for i in range(len(numbers))]
    assert len(numbers) >= 8


def test_stripped_of_outputs_and_widget_state(notebook: dict) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], f"cell {cell['id']} holds outputs: clear all outputs. {EDITED}"
            assert cell["execution_count"] is None, f"cell {cell['id']} is numbered: clear outputs. {EDITED}"
        assert cell["metadata"] == {}, f"cell {cell['id']} holds metadata: {cell['metadata']}. {EDITED}"
    assert set(notebook["metadata"]) <= {"kernelspec", "language_info"}, f"extra metadata. {EDITED}"
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


def test_every_cell_has_a_stable_readable_id(path: Path, notebook: dict) -> None:
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids)), f"two cells share an id. {EDITED}"
    for cell_id in ids:
        assert re.fullmatch(rf"l{path.stem[:2]}-[a-z0-9-]{{2,56}}", cell_id), (
            f"cell id {cell_id!r} should read like l{path.stem[:2]}-split-by-hand. {EDITED}"
        )


def test_code_cells_are_short(notebook: dict) -> None:
    lengths = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            lengths[cell["id"]] = len([x for x in "".join(cell["source"]).splitlines() if x.strip()])
    too_long = {cell_id: n for cell_id, n in lengths.items() if n > 20}
    assert not too_long, f"cells above 20 lines: {too_long}; move code into the package. {EDITED}"
    assert statistics.median(lengths.values()) <= 5, (
        f"the median code cell should have at most 5 lines. {EDITED}"
    )
    assert 0 not in lengths.values(), f"there is an empty code cell. {EDITED}"


def test_the_same_rhythm_of_headings(path: Path, notebook: dict) -> None:
    first = "".join(notebook["cells"][0]["source"])
    assert re.match(rf"# {path.stem[:2]} · \S", first), (
        f"the title should read '# {path.stem[:2]} · …'. {EDITED}"
    )
    found = headings(notebook)
    assert found[:2] == OPENING, f"starts with {found[:2]}, expected {OPENING}. {EDITED}"
    assert found[-5:] == CLOSING, f"ends with {found[-5:]}, expected {CLOSING}. {EDITED}"
    for i, heading in enumerate(found[2:-5], start=1):
        assert heading.startswith(f"{i} · "), f"section {i} is headed {heading!r}. {EDITED}"
    assert len(found) > 8, "a lesson has at least two numbered sections"
    prose = "\n".join(sources(notebook, "markdown"))
    for lead in LEADS:
        assert lead in prose, f"the lesson never says {lead}. {EDITED}"
    assert "**Minutes:" in prose, f"the aims should say the minutes. {EDITED}"


def test_every_exercise_can_be_checked_hinted_and_solved(path: Path, notebook: dict) -> None:
    from mha_course.exercises.registry import EXERCISES

    code = "\n".join(sources(notebook, "code"))
    prose = "\n".join(sources(notebook, "markdown"))
    asked = re.findall(r"^### Exercise: `?(\w+)`?\s*$", prose, flags=re.MULTILINE)
    here = [name for name, exercise in EXERCISES.items() if exercise.lesson == path.stem[:2]]
    assert sorted(asked) == sorted(here), "the lesson and the catalogue name different exercises"
    assert asked, "a lesson has at least one exercise"
    for name in asked:
        assert f'check("{name}"' in code, f"no check cell for {name}"
        assert f'hint("{name}"' in code, f"no hint cell for {name}"
        assert f'solution("{name}")' in prose + code, f"the way to the solution of {name} is not said"
        assert f"def {name}(" in code, f"no stub for {name}"


def test_every_prediction_is_revealed_and_not_before(notebook: dict) -> None:
    from mha_course.widgets.prediction import outcomes

    asked, revealed = {}, []
    for call in calls(notebook):
        if ast.unparse(call.func) == "widgets.predict":
            choices = [k.value for k in call.keywords if k.arg == "choices"] or call.args[2:]
            asked[ast.literal_eval(call.args[0])] = ast.literal_eval(choices[0]) if choices else None
        elif ast.unparse(call.func) == "widgets.reveal":
            assert len(call.args) == 1, "the outcome stands in widgets/outcomes.json, not in the lesson"
            revealed.append(ast.literal_eval(call.args[0]))
            assert revealed[-1] in asked, f"{revealed[-1]} is revealed before it is asked"
    assert sorted(asked) == sorted(revealed), "every prediction is revealed once"
    for key, choices in asked.items():
        assert key in outcomes(), f"outcomes.json lacks {key}"
        assert choices is None or outcomes()[key] in choices, f"the outcome of {key} is none of its choices"


def test_prose_keeps_to_the_voice(notebook: dict) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        text = re.sub(r"```.*?```|`[^`]*`|\$[^$]*\$|<[^>]+>", "", "".join(cell["source"]), flags=re.DOTALL)
        assert not re.search(r"\w!(?!\=|\[)", text), f"cell {cell['id']} shouts. {EDITED}"
        for word in ("simply", "obviously", "of course", "trivial", "easy", "just "):
            assert not re.search(rf"\b{word}", text, re.IGNORECASE), (
                f"cell {cell['id']} says {word!r}. {EDITED}"
            )


def test_links_between_lessons_lead_somewhere(path: Path, notebook: dict) -> None:
    for target in re.findall(r"\]\(([^)#\s]+\.ipynb)", "\n".join(sources(notebook, "markdown"))):
        # Only the last lesson may point past the end of what is written.
        exists = (path.parent / target).exists()
        assert exists or path == NOTEBOOKS[-1], f"{path.name} links to {target}, which is not there"


def test_nothing_of_this_machine_is_named(notebook: dict) -> None:
    text = json.dumps(notebook)
    # Folders in which people and machines keep their files, on Linux, macOS and Windows.
    assert not re.search(r"/(home|root|work|tmp|Users)/|[A-Z]:\\\\", text)
