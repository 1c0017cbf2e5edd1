"""Parsons problems: any order that works is right, and what is wrong is named."""

from __future__ import annotations

import ast
import itertools
import json
import random
import sys
from pathlib import Path

import pytest
import torch

from mha_course import progress
from mha_course.exercises.shown.parsons import PUZZLES, find_puzzle
from mha_course.exercises.shown.parsons_judge import Judged, assembled, judge_lines
from mha_course.exercises.shown.parsons_lines import LAYER_LINES, SPLIT_LINES
from mha_course.widgets import parsons
from mha_course.widgets.line_puzzle import ParsonsPuzzle

SPLIT = [line.text for line in SPLIT_LINES if not line.because]
LAYER = [line.text for line in LAYER_LINES if not line.because]
STRANGERS = [
    (name, i)
    for name, lines in (("split_heads", SPLIT_LINES), ("multi_head_attention", LAYER_LINES))
    for i, line in enumerate(lines)
    if line.because
]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "my_course"))
    return tmp_path / "my_course"


def indices(name: str, texts: list[str]) -> list[int]:
    shown = [line.text for line in PUZZLES[name].lines]
    return [shown.index(text) for text in texts]


def judged(name: str, texts: list[str]) -> Judged:
    return judge_lines(PUZZLES[name], indices(name, texts))


def check(form: ParsonsPuzzle, texts: list[str]) -> dict:
    """What the view does: the order and the next stamp in one message."""
    form.set_state({"chosen": indices(form.name, texts), "stamp": form.stamp + 1})
    return form.answer


def test_lines_are_shuffled_the_same_way_each_time_and_all_there() -> None:
    for name, lines in (("split_heads", SPLIT_LINES), ("multi_head_attention", LAYER_LINES)):
        shown = PUZZLES[name].lines
        assert set(shown) == set(lines) and shown != lines
        wanted = [line.text for line in shown if not line.because]
        right = [line.text for line in lines if not line.because]
        assert wanted != right
        assert find_puzzle(name).lines == shown
        assert len({line.text for line in shown}) == len(shown)


def test_the_first_line_is_the_exercises_own() -> None:
    assert PUZZLES["split_heads"].header == "def split_heads(x, h):"
    header = "def multi_head_attention(x, w_q, w_k, w_v, w_o, h, mask=None):"
    assert PUZZLES["multi_head_attention"].header == header


def test_the_right_order_is_solved() -> None:
    assert judged("split_heads", SPLIT).solved
    assert judged("multi_head_attention", LAYER).solved


def test_every_order_of_the_split_that_runs_right_is_solved() -> None:
    x = torch.arange(2 * 5 * 12).view(2, 5, 12)
    solved = []
    for order in itertools.permutations(SPLIT):
        fn = assembled(PUZZLES["split_heads"], indices("split_heads", list(order)))
        try:
            works = torch.equal(fn(x, 3), x.view(2, 5, 3, 4).transpose(1, 2))
        except (NameError, TypeError):
            works = False
        assert judged("split_heads", list(order)).solved == works, order
        solved.append(works)
    assert sum(solved) == 1


def test_other_orders_of_the_layer_that_work_are_solved() -> None:
    sizes, split, project = LAYER[0], LAYER[1], LAYER[2]
    for start in ([project, sizes, split], [sizes, project, split]):
        assert judged("multi_head_attention", [*start, *LAYER[3:]]).solved


@pytest.mark.parametrize(("name", "i"), STRANGERS)
def test_a_line_that_does_not_belong_is_named_with_its_reason(name: str, i: int) -> None:
    lines = SPLIT_LINES if name == "split_heads" else LAYER_LINES
    right, stranger = (SPLIT if name == "split_heads" else LAYER), lines[i]
    makes = stranger.text.split(" =")[0].split()[-1]
    if stranger.text.startswith("if"):  # in place of the block that hides scores, but after the softmax
        place = next(j for j, text in enumerate(right) if text.startswith("if"))
        order = [text for j, text in enumerate(right) if j != place]
        order.insert(place + 1, stranger.text)
    else:
        place = next(j for j, text in enumerate(right) if text.startswith(stranger.text.split(" ")[0])
                     and (makes in text.split("=")[0] or text.startswith("return")))  # fmt: skip
        order = [stranger.text if j == place else text for j, text in enumerate(right)]
    found = judged(name, order)
    said = " ".join(found.says)
    assert not found.solved
    assert stranger.because in said and stranger.text.splitlines()[-1].strip() in said
    assert found.marks == (indices(name, [stranger.text])[0],)
    # The judge of the exercise speaks as well: it works by what the lines compute.
    assert len(found.says) >= 2
    reasons = [line.because for line in lines if line.because and line != stranger]
    assert not any(reason in said for reason in reasons)


@pytest.mark.parametrize(("order", "said", "marked"), [
    ([1, 0, 2, 3, 4], "Line 2, `d_k = d_model // h`, uses `d_model`, and it is made in line 3 only.", 1),
    ([0, 2, 1, 3, 4], "Line 3, `cut = x.view(b, n, h, d_k)`, uses `d_k`, and it is made in line 4 only.", 2),
    ([0, 2, 3, 4], "Line 3, `cut = x.view(b, n, h, d_k)`, uses `d_k`, and no line above makes it.", 2),
    ([4], "Line 2, `return heads`, uses `heads`, and no line above makes it.", 4),
    ([4, 0, 1, 2, 3], "Line 2, `return heads`, uses `heads`, and it is made in line 6 only.", 4),
])  # fmt: skip
def test_the_first_name_that_is_used_too_early_is_named(order: list[int], said: str, marked: int) -> None:
    found = judged("split_heads", [SPLIT[i] for i in order])
    assert not found.solved and found.says[0].startswith(said)
    assert found.marks[0] == indices("split_heads", [SPLIT[marked]])[0]


def test_only_a_name_that_is_used_too_early_is_called_so() -> None:
    # The generator's own t, and names that are there from the start, are no reason.
    said = " ".join(judged("multi_head_attention", LAYER[:9]).says)
    assert (
        "returns nothing" in said and "`t`" not in said and "makes `concat`, and no line below uses" in said
    )
    assert "Of the lines left out, 1 is needed." in said


def test_a_block_has_its_numbers_and_a_useless_line_is_found() -> None:
    late = [*LAYER[:5], LAYER[6], LAYER[5], *LAYER[7:]]
    found = judged("multi_head_attention", late)
    assert "mask is ignored" in found.says[0]
    assert any(text.startswith("Line 9, `scores = scores.masked_fill(") for text in found.says)
    assert found.marks == (indices("multi_head_attention", [LAYER[5]])[0],)
    place = {i: n for n, i in enumerate(indices("multi_head_attention", LAYER))}
    numbers = PUZZLES["multi_head_attention"].numbers(list(place))
    assert list(numbers.values()) == [2, 3, 4, 5, 6, 7, 9, 10, 11, 12]


def test_a_line_too_many_is_not_solved_though_it_works() -> None:
    extra = SPLIT_LINES[5].text
    found = judged("split_heads", [SPLIT[0], extra, *SPLIT[1:]])
    assert not found.solved and "a line too many" in found.title and extra in found.says[0]
    below = judged("split_heads", [*SPLIT, SPLIT_LINES[7].text])
    assert not below.solved and "does not belong" in below.says[0]
    everything = judged("multi_head_attention", [line.text for line in LAYER_LINES])
    assert not everything.solved and len(everything.says) == 4 and "2 more lines" in everything.says[-1]


def test_any_arrangement_gets_a_verdict_and_few_pass() -> None:
    draw = random.Random(5)
    for name in PUZZLES:
        count = len(PUZZLES[name].lines)
        for _ in range(40):
            chosen = draw.sample(range(count), draw.randint(0, count))
            found = judge_lines(PUZZLES[name], chosen)
            assert not found.solved and found.title and all(found.says)
            assert "Traceback" not in " ".join(found.says) and set(found.marks) <= set(chosen)


def test_assembled_text_is_python_and_carries_its_own_line_in_errors() -> None:
    for puzzle in PUZZLES.values():
        ast.parse(puzzle.source(list(range(len(puzzle.lines)))))
        ast.parse(puzzle.source([]))
    float_size = [SPLIT[0], SPLIT_LINES[5].text, *SPLIT[2:]]
    assert "In your line 4: `cut = x.view(b, n, h, d_k)`" in " ".join(judged("split_heads", float_size).says)


def test_judging_touches_nothing_that_a_running_cell_shares() -> None:
    torch.manual_seed(11)
    random.seed(11)
    before, python, out = torch.get_rng_state(), random.getstate(), sys.stdout
    seen = []

    name = "split_heads"
    puzzle = PUZZLES[name]
    view = torch.Tensor.view

    def watched(self: torch.Tensor, *sizes: int) -> torch.Tensor:
        seen.append(sys.stdout is out and torch.equal(torch.get_rng_state(), before))
        return view(self, *sizes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "view", watched)
        assert judge_lines(puzzle, indices(name, SPLIT)).solved
    assert seen and all(seen)
    assert torch.equal(torch.get_rng_state(), before) and random.getstate() == python


def test_the_widget_checks_and_keeps_what_was_solved() -> None:
    form = parsons("split_heads")
    assert not form.solved and "title" not in form.answer
    form.chosen = indices("split_heads", SPLIT[:2])  # moved, not checked
    assert "title" not in form.answer
    wrong = check(form, SPLIT[:4])
    assert wrong["solved"] is False and wrong["unused"] == [] and progress.solved() == {}
    right = check(form, SPLIT)
    assert right["solved"] is True and form.solved and right["trouble"] == ""
    assert sorted(texts["because"] for texts in right["unused"]) == sorted(
        line.because for line in SPLIT_LINES if line.because
    )
    assert list(progress.solved()) == ["parsons-split_heads"]
    assert parsons("split_heads").solved and not parsons("multi_head_attention").solved


def test_the_view_does_not_know_what_belongs_before_it_is_solved() -> None:
    form = parsons("multi_head_attention")
    check(form, LAYER[:9])
    sent = str(form.get_state()) + str(form._repr_mimebundle_()[0])
    assert not any(line.because in sent for line in LAYER_LINES if line.because)


def test_without_a_front_end_the_lines_are_folded_and_escaped() -> None:
    shown = parsons("multi_head_attention")._repr_mimebundle_()[0]["text/html"]
    assert shown.startswith("<details>") and "float(&quot;-inf&quot;)" in shown
    assert shown.index("return concat @ w_o") < shown.index("d_k = d_model // h")


@pytest.mark.parametrize("chosen", [[99, -3], [0, 0, 0]])
def test_what_no_view_sends_is_survived(chosen: list[int]) -> None:
    form = parsons("split_heads")
    form.set_state({"chosen": chosen, "stamp": 1})
    assert form.answer["solved"] is False and form.answer["chosen"] in ([], [0])


@pytest.mark.parametrize("name", ["split_head", "", None, 7, "merge_heads"])
def test_an_unknown_name_is_refused_with_the_nearest(name: object) -> None:
    with pytest.raises(ValueError, match="split_heads"):
        parsons(name)


def test_what_cannot_be_kept_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(name: str) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(progress, "mark_solved", full)
    assert check(parsons("split_heads"), SPLIT)["trouble"] == "This could not be kept: disk full"


@pytest.mark.parametrize(
    ("lesson", "name"), [("03_split", "split_heads"), ("07_the_full_layer", "multi_head_attention")]
)
def test_each_puzzle_stands_before_its_exercise(lesson: str, name: str) -> None:
    path = Path(__file__).parents[1] / "notebooks" / f"{lesson}.ipynb"
    cells = ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    puzzle = cells.index(f'widgets.parsons("{name}")')
    heading = next(i for i, text in enumerate(cells) if f"### Exercise: {name}" in text)
    write = next(i for i, text in enumerate(cells) if "## Write it yourself" in text)
    assert write < puzzle < heading
    # Who wants to write first is told that the lines are folded.
    assert "folded" in cells[puzzle - 1]
