"""With two workers, tests that share something run in one of them, one after the other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tests.conftest import belongs_to

SEVEN_TESTS = """
import time, pytest

@pytest.mark.parametrize("i", range(7))
def test_one(i):
    time.sleep(0.01)
"""


def test_what_belongs_together() -> None:
    assert belongs_to("tests/browser/test_restart.py::test_a[x]") == "browser"
    lesson = "tests/notebooks/test_run_all.py::{}[05_concat]"
    assert belongs_to(lesson.format("test_one")) == belongs_to(lesson.format("test_other")) == "05_concat"
    one = "tests/notebooks/test_one_kernel.py::test_a_lesson_shows_the_same[kernel-1-backwards-03_split]"
    assert belongs_to(one) == "kernel-1"
    assert belongs_to("tests/text/test_words.py::test_b[tests/browser/]") == "tests/text/test_words.py"


def test_two_workers_keep_together_what_belongs_together(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    for name in ("browser/test_a", "browser/test_b", "text/test_c", "text/test_d", "test_e"):
        file = tests / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SEVEN_TESTS, encoding="utf-8")
    shutil.copyfile(Path(__file__).parent / "conftest.py", tests / "conftest.py")
    # In its place: the real one takes seconds to load in each of three processes.
    (tmp_path / "torch.py").write_text("def manual_seed(seed): pass\n", encoding="utf-8")
    options = ["-v", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    told = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
    )
    assert told.returncode == 0, told.stdout[-2000:] + told.stderr[-2000:]
    ran = re.findall(r"^\[(gw\d)\] .*PASSED (\S+)", told.stdout, flags=re.MULTILINE)
    workers = defaultdict(set)
    for worker, nodeid in ran:
        workers[belongs_to(nodeid)].add(worker)
    assert len(ran) == 35 and len(workers) == 4
    assert all(len(used) == 1 for used in workers.values()), dict(workers)
    assert set.union(*workers.values()) == {"gw0", "gw1"}
