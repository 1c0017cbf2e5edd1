"""Nothing of one lesson reaches into another: in one kernel each shows what it shows in a kernel of its own.

Two kernels, so that two workers can share the work. In the first the lessons run in order and then backwards,
in the second in a drawn order, every cell twice. Settings, seeds, names, caches and widgets of the lessons
before are all there when the next one begins.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tests.notebooks.executed import LESSONS, OneKernel, lesson, run_by_itself
from tests.notebooks.results import shown, troubles

WAYS = {
    "in order": LESSONS,
    "backwards": LESSONS[::-1],
    "drawn order twice": random.Random(16).sample(LESSONS, len(LESSONS)),
}
KERNELS = (("in order", "backwards"), ("drawn order twice",))
STEPS = [
    pytest.param(
        number,
        way,
        stem,
        id=f"kernel-{number}-{way.replace(' ', '-')}-{stem}",
        marks=pytest.mark.slow,
    )
    for number, ways in enumerate(KERNELS)
    for way in ways
    for stem in WAYS[way]
]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, OneKernel]]:
    """The kernels that were asked for so far, by number."""
    started: dict[int, OneKernel] = {}
    yield started
    for kernel in started.values():
        kernel.close()


@pytest.mark.parametrize(("number", "way", "stem"), STEPS)
def test_a_lesson_shows_the_same_after_others(
    number: int,
    way: str,
    stem: str,
    kernels: dict[int, OneKernel],
    session_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    alone = run_by_itself(stem, session_folder)
    if number not in kernels:
        kernels[number] = OneKernel(tmp_path_factory.mktemp(f"kernel-{number}"))
    again = lesson(stem)
    if way == "drawn order twice":
        again.cells = [cell for one in again.cells for cell in twice(one)]
    ran = kernels[number].run(again)
    assert troubles(ran) == []
    assert differences(alone, ran) == ""


def twice(cell: NotebookNode) -> list[NotebookNode]:
    """A code cell and its double, which draws the same random numbers (`OneKernel.run`). A text as it is."""
    return [cell] if cell.cell_type != "code" else [cell, nbformat.from_dict(cell)]


def differences(alone: NotebookNode, ran: NotebookNode) -> str:
    """Where the second run shows something else than the first, cell by cell; "" where nowhere."""
    expected = shown(alone)
    found = []
    for cell in ran.cells:
        if cell.id in expected:
            before, after = "\n".join(expected[cell.id]), "\n".join(shown_by(cell))
            if before != after:
                found.append(
                    f"{cell.id}\n    alone: {around(before, after)}\n    here:  {around(after, before)}"
                )
    return "\n\n".join(found)


def around(text: str, other: str) -> str:
    """The place where a text leaves another one, with what stands beside it."""
    at = len(os.path.commonprefix([text, other]))
    return repr(text[max(0, at - 80) : at + 120])


def shown_by(cell: NotebookNode) -> list[str]:
    """What one cell shows."""
    return shown(NotebookNode(cells=[cell]))[cell.id]


def test_a_difference_is_seen_and_a_time_is_not() -> None:
    def run(printed: str, cell: str = "l99-told") -> NotebookNode:
        output = nbformat.v4.new_output("stream", name="stdout", text=printed)
        return NotebookNode(cells=[nbformat.v4.new_code_cell(source="…", id=cell, outputs=[output])])

    assert differences(run("loss 0.31 after 12 ms"), run("loss 0.31 after 8.5 ms")) == ""
    assert differences(run("apart by 3.3e-16"), run("apart by 8.32e-16")) == ""
    told = differences(run("loss 0.31 of 7"), run("loss 0.38 of 7"))
    assert told == "l99-told\n    alone: 'stdout: loss 0.31 of 7'\n    here:  'stdout: loss 0.38 of 7'"
    warned = run("")
    warned.cells[0].outputs[0].name = "stderr"
    warned.cells[0].outputs[0].text = "UserWarning: no"
    assert troubles(warned) == ["l99-told warns: UserWarning: no"]
    assert [one.id for one in twice(warned.cells[0])] == ["l99-told", "l99-told"]


def test_a_double_draws_the_same_and_another_cell_goes_on(tmp_path: Path) -> None:
    draws = ["import torch; torch.manual_seed(3)", "torch.rand(1).item()", "torch.rand(1).item()", "5"]
    cells = [nbformat.v4.new_code_cell(source) for source in (*draws, draws[1])]
    kernel = OneKernel(tmp_path)
    ran = kernel.run(nbformat.v4.new_notebook(cells=cells))
    kernel.close()
    one, double, _, after = ([o.data["text/plain"] for o in cell.outputs] for cell in ran.cells[1:])
    assert one == double != after
