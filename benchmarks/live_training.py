"""How long the live training of lesson 10 takes until all heads of interest have their roles.

    python benchmarks/live_training.py [seeds]

As in the lesson: in a process of its own, on one thread, drawing its sentences first. The clock starts with
the click on Start. A role is there when its best head passes on held-out sentences (see `heads/roles.py`).
"""

from __future__ import annotations

import platform
import sys
import time

from mha_course.training.live import ROLES, LiveSettings
from mha_course.training.live_run import FINISHED, LiveRun


def timed(seed: int) -> tuple[dict[str, tuple[int, float]], float]:
    """When each role was there for good, as (step, seconds), and the seconds of the whole training."""
    run = LiveRun(LiveSettings(seed=seed))
    came: list[float] = []

    def look() -> None:
        came.extend([time.perf_counter() - began] * (len(run.measured()) - len(came)))

    began = time.perf_counter()
    run.watch(look)
    run.start()
    state = run.wait(600)
    whole = time.perf_counter() - began
    looks = run.measured()
    run.close()
    if state != FINISHED:
        raise RuntimeError(f"the training ended as {state!r} after {whole:.0f} s")
    there = {}
    for role in ROLES:
        held = [bool(look["roles"][role]["passed"]) for look in looks]
        if not held[-1]:
            raise RuntimeError(f"seed {seed}: no head has the role {role!r} at the end")
        first = len(held) - next((i for i, ok in enumerate(reversed(held)) if not ok), len(held))
        there[role] = (int(looks[first]["step"]), came[first])
    return there, whole


def main(seeds: int) -> None:
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    for seed in range(seeds):
        there, whole = timed(seed)
        told = ", ".join(f"{role} {seconds:.0f} s (step {step})" for role, (step, seconds) in there.items())
        last = max(seconds for _, seconds in there.values())
        print(f"seed {seed}: all roles after {last:.0f} s, the end after {whole:.0f} s; {told}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
