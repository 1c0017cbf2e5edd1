"""How long `check` takes, and how often it names what was done, over every answer that the tests hold.

    python benchmarks/check_speed.py

Each exercise is checked in a fresh process: the first check there (nothing is prepared yet), then every
written answer, right, wrong in a known way, wrong in an unlisted one, and every small change (mutant) of the
reference. A verdict is called vague when all it says is that numbers differ, or where.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from importlib import import_module

VAGUE = ("different-numbers", "right-in-some-cases", "numbers-in-wrong-places", "some-", "not-judged")


def of_one(name: str) -> None:
    """Print, for one exercise: first check, number of answers, median and longest time, vague verdicts."""
    import torch

    from mha_course.exercises import check
    from mha_course.exercises.outcome import run
    from mha_course.exercises.registry import EXERCISES
    from tests.exercises.mutants import mutants

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    written = import_module(f"tests.exercises.written.{name}")
    start = time.perf_counter()
    check(name, written.UNLISTED[0][1])
    first = time.perf_counter() - start
    answers = [*written.RIGHT, *(fn for _, fn in [*written.WRONG, *written.UNLISTED])]
    made = [mutant.fn for mutant in mutants(EXERCISES[name].reference)]
    times, vague, changed = [], 0, 0
    cases = EXERCISES[name].cases()
    for i, fn in enumerate([*answers, *made]):
        # What an answer loads of PyTorch when it is first called is its own time.
        for case in cases:
            run(fn, case.fresh(), EXERCISES[name].results, quiet=True)
        start = time.perf_counter()
        verdict = check(name, fn)
        times.append(time.perf_counter() - start)
        if i >= len(answers) and not verdict.passed:
            changed += 1
            vague += (verdict.diagnosis or "").startswith(VAGUE)
    print(first, len(times), statistics.median(times), max(times), changed, vague)


def main() -> None:
    """Run every exercise in a process of its own and print a table."""
    from mha_course.exercises.registry import EXERCISES

    machine = platform.processor() or platform.machine()
    print(f"{machine}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{'exercise':<22}{'first':>8}{'median':>9}{'longest':>9}{'answers':>9}{'mutants':>9}{'vague':>7}")
    worst, mutants_in_all, vague_in_all = 0.0, 0, 0
    with tempfile.TemporaryDirectory() as home:
        for name in EXERCISES:
            done = subprocess.run(
                [sys.executable, __file__, name],
                capture_output=True,
                text=True,
                encoding="utf-8",
                env={**os.environ, "MHA_COURSE_HOME": home, "PYTHONPATH": os.getcwd()},
                check=True,
            )
            first, count, median, longest, changed, vague = map(float, done.stdout.split("\n")[-2].split())
            worst, mutants_in_all, vague_in_all = (
                max(worst, first, longest),
                mutants_in_all + int(changed),
                vague_in_all + int(vague),
            )
            print(
                f"{name:<22}{first:>7.2f}s{median * 1000:>7.0f}ms{longest * 1000:>7.0f}ms"
                f"{int(count):>9}{int(changed):>9}{int(vague):>7}",
                flush=True,
            )
    print(
        f"slowest check {worst:.2f} s; {vague_in_all} of {mutants_in_all} wrong mutants get a vague verdict"
    )


if __name__ == "__main__":
    of_one(sys.argv[1]) if len(sys.argv) > 1 else main()
