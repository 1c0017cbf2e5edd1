"""Lessons run from top to bottom: each by itself in a fresh kernel, or several in one kernel that lives on.

A lesson run by itself is kept as a file of this test session: every worker and every test reads one run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.util import run_sync
from nbformat import NotebookNode

from mha_course.file_lock import file_lock
from tests.warm_kernels import warm_kernels

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
LESSONS = [path.stem for path in NOTEBOOKS]

# The setting for a quick look that the README documents: fewer updates for what is trained live.
SHORT_TRAINING = {"MHA_COURSE_STEPS": "300"}
# In the browser tests some lessons draw their dark pictures, too.
LIGHT_PICTURES = {"MHA_COURSE_PICTURES": "light"}
# Trainings that start by themselves and last: cell -> what stands there, and what is run instead. Whole, they
# are run by tests of what lessons say of them (tests/test_lesson_*_told.py, tests/test_two_targets.py,
# tests/test_split_trial.py, tests/test_beyond_length.py, tests/test_depth_trial.py) and by
# benchmarks/lesson_times.py. Where a picture asks for the loss of every step, one seed stands for all three.
SHORTER = {
    "l02-train": ("train_neighbours(h=h, seed=seed)", "train_neighbours(h=h, seed=0)"),
    "l02-train-see-numbers": ("seed=seed, weights", "seed=seed, steps=20, weights"),
    "l03-train-copy": ('train_reader(way, "copy", seed=seed)', 'train_reader(way, "copy", seed=0)'),
    "l03-train-others": (
        "train_reader(way, task, seed=seed)",
        "train_reader(way, task, steps=15, seed=seed)",
    ),
    "l08-beyond-run": ("train_on_short(k, seed)", "train_on_short(k, seed, steps=30)"),
    "l09-train": ("train_stack(kind, seed=seed)", "train_stack(kind, layers=1, seed=0)"),
    "l12-learn": ("steps=600)", "steps=60, ramp=5, settle=10)"),
    "l12-learn-curve": ("range(1, 601)", "range(1, 61)"),
    "l15-live": ("DigitSetting()", "DigitSetting(steps=60)"),
    # Measured long enough for a steady figure, which is no matter here.
    "l12-prune-saves": ("seconds=1.5)", "seconds=0.2)"),
    "l13-pairs": ("(0, 10, 13, 15)", "(10,)"),
    "l12-prune-larger": ("% 2).float())", "% 2).float(), seconds=0.03)"),
    "l13-batch-measured": ("time_over_batches(mine)", "time_over_batches(mine, seconds=0.005)"),
    "l13-gqa-time": ("seconds=0.05)", "seconds=0.01)"),
    "l13-h-time": ("time_over_heads()", "time_over_heads(seconds=0.005)"),
    "l13-race": ("(16, 64, 256, 1024, 4096)", "(16, 64, 256, 1024)"),
}

# IPython keeps 1,000 results (Out[1], _1, ...) and warns when it drops some; four rounds make more than that.
MANY_RESULTS = "--InteractiveShell.cache_size=100000"

# In the kernel: a cell that is the same as the one before it draws from the state of the generator of then.
SAME_DRAWS = """
def _same_draws():
    import torch
    last = {}
    def before(info):
        if last.get("source") == info.raw_cell:
            torch.set_rng_state(last["state"])
        else:
            last.update(source=info.raw_cell, state=torch.get_rng_state())
    get_ipython().events.register("pre_run_cell", before)
_same_draws()
del _same_draws
"""


def lesson(stem: str) -> NotebookNode:
    """A lesson as it is handed out, with the trainings of `SHORTER` cut down."""
    notebook = nbformat.read(next(path for path in NOTEBOOKS if path.stem == stem), as_version=4)
    for cell in notebook.cells:
        if cell.id in SHORTER:
            whole, fewer = SHORTER[cell.id]
            assert cell.source.count(whole) == 1, f"{cell.id} no longer says {whole!r}"
            cell.source = cell.source.replace(whole, fewer)
    return notebook


def run_by_itself(stem: str, session: Path) -> NotebookNode:
    """The lesson after Run All in a fresh kernel and an empty folder; run once in a session of tests.

    session: a folder that all workers know. A cell that fails keeps its error as an output. The kernel is
    forked from a process that has imported the course; that a plain one imports it is seen by `OneKernel`.
    """
    plain = lesson(stem)
    kept = session / f"{stem}.ipynb"
    with file_lock(kept.with_suffix(".lock")):
        if not kept.exists():
            folder = session / f"{kept.stem}-folder"
            folder.mkdir()
            with pytest.MonkeyPatch.context() as patch:
                _set(patch, folder, warm_kernels().settings)
                client = NotebookClient(plain, timeout=600, resources=_started_in(folder), allow_errors=True)
                client.execute()
            half = kept.with_suffix(".half")
            nbformat.write(plain, half)
            os.replace(half, kept)
    return nbformat.read(kept, as_version=4)


class OneKernel:
    """A kernel in which one lesson after the other is run, as by a student who never restarts it."""

    def __init__(self, folder: Path) -> None:
        self._my_course = folder / "my_course"
        self._resources = _started_in(folder)
        self._client = NotebookClient(nbformat.v4.new_notebook(), timeout=600, resources=self._resources)
        with pytest.MonkeyPatch.context() as patch:
            _set(patch, folder)
            self._client.extra_arguments = [MANY_RESULTS]
            self._client.create_kernel_manager()
            self._client.start_new_kernel(cwd=str(folder))
            self._client.start_new_kernel_client()
        self._client.kc.execute(SAME_DRAWS, silent=True)

    def run(self, notebook: NotebookNode) -> NotebookNode:
        """Run All, once more in the same kernel; errors are kept as outputs. Returns the notebook.

        A cell that follows its double draws from the same state of the generator as the double did. What
        earlier lessons wrote into my_course/ is gone: a lesson may show which files are there.
        """
        shutil.rmtree(self._my_course, ignore_errors=True)
        client = NotebookClient(
            notebook, km=self._client.km, timeout=600, resources=self._resources, allow_errors=True
        )
        client.kc = self._client.kc
        client.reset_execution_trackers()
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
        return notebook

    def close(self) -> None:
        """End the kernel."""
        self._client.kc.stop_channels()
        run_sync(self._client.km.shutdown_kernel)(now=True)


def _set(patch: pytest.MonkeyPatch, folder: Path, more: Mapping[str, str] = MappingProxyType({})) -> None:
    """The environment of a kernel: a my_course/ of its own, short trainings, and what more it needs."""
    settings = SHORT_TRAINING | LIGHT_PICTURES | more
    for name, value in {"MHA_COURSE_HOME": str(folder / "my_course"), **settings}.items():
        patch.setenv(name, value)


def _started_in(folder: Path) -> dict[str, dict[str, str]]:
    return {"metadata": {"path": str(folder)}}
