"""How long the lessons take, cell by cell, each in a fresh kernel.

python benchmarks/lesson_times.py            all lessons
python benchmarks/lesson_times.py 09 12      these two, with their slowest cells
python benchmarks/lesson_times.py --again    and what their cells take when they run again in the same kernel
"""

from __future__ import annotations

import copy
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
SLOWEST = 8

# Runs in the kernel before the lesson: notes the clock and the processor's time around every cell.
_WATCH = """
import os as _os, time as _time
_spent = []
def _clocks():
    return _time.perf_counter(), sum(_os.times()[:4])
def _before(info):
    _spent.append(_clocks())
def _after(result):
    if _spent and _spent[-1][0] > 0:
        _spent[-1] = tuple(before - now for before, now in zip(_spent[-1], _clocks()))
get_ipython().events.register("pre_run_cell", _before)
get_ipython().events.register("post_run_cell", _after)
"""
_TELL = "import json as _json\nprint(_json.dumps(_spent[:-1]))"


@dataclass(frozen=True)
class CellTime:
    """Seconds on the clock and of the processor that one cell took, child processes included."""

    cell: str
    clock: float
    processor: float


def time_lesson(path: Path, runs: int = 1) -> tuple[float, list[CellTime]]:
    """Seconds on the clock from the kernel's start to its end, and each code cell's, run by run."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [copy.deepcopy(cell) for _ in range(runs) for cell in notebook.cells]
    cells = [cell.id for cell in notebook.cells if cell.cell_type == "code"]
    watch, tell = (nbformat.v4.new_code_cell(source) for source in (_WATCH, _TELL))
    notebook.cells = [watch, *notebook.cells, tell]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MHA_COURSE_HOME"] = str(Path(folder) / "my_course")
        begin = time.perf_counter()
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=900, resources=resources).execute()
        whole = time.perf_counter() - begin
    spent = json.loads(tell.outputs[0].text)
    return whole, [CellTime(cell, -clock, -cpu) for cell, (clock, cpu) in zip(cells, spent, strict=True)]


def main(arguments: list[str]) -> None:
    """Print a line for each lesson, and for those that were named their slowest cells."""
    total, again = 0.0, "--again" in arguments
    numbers = [one for one in arguments if one != "--again"]
    for path in NOTEBOOKS:
        if numbers and path.stem[:2] not in numbers:
            continue
        whole, cells = time_lesson(path, runs=2 if again else 1)
        total += whole
        first = len(cells) // 2 if again else len(cells)
        spent = [sum(cell.processor for cell in run) for run in (cells[:first], cells[first:])]
        then = f", again {spent[1]:5.1f} s" if again else ""
        print(f"{path.stem:28s} {whole:6.1f} s, its cells {spent[0]:6.1f} s of processor{then}", flush=True)
        if numbers:
            for cell in sorted(cells, key=lambda one: -one.processor)[:SLOWEST]:
                print(f"    {cell.clock:6.2f} s, processor {cell.processor:6.2f} s  {cell.cell}")
    print(f"{'all of these':28s} {total:6.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
