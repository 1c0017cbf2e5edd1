"""Who sits where, and how long: the steps of a served batch as stretches of time on its seats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from mha_course.variants.continuous_batching import Scheduling, Served

Doing = Literal["reading", "writing", "kept"]


@dataclass(frozen=True)
class SeatRun:
    """A stretch of time on one seat, counted from 0. kept: its request is done, but computed all the same."""

    seat: int
    request: int
    start: float
    stop: float
    doing: Doing


def seat_runs(
    served: Served, scheduling: Scheduling, reading: Callable[[int], float] = lambda prompt: 0.0
) -> list[SeatRun]:
    """The stretches of all requests, by seat and time. A request keeps its seat; a new one takes a free one.

    scheduling, reading: as they were given to `serve`. A step's prompts are read before its tokens are
    written.
    """
    seated: dict[int, int] = {}
    open_runs: dict[int, SeatRun] = {}
    runs: list[SeatRun] = []
    for step in served.steps:
        working = [request for request in step.seats if request is not None]
        if scheduling == "continuous":
            seated = {seat: request for seat, request in seated.items() if request in working}
        elif step.joined:
            seated = {}
        new = [request for request in working if request not in seated.values()]
        free = (seat for seat in range(len(step.seats)) if seat not in seated)
        seated |= dict(zip(free, new, strict=False))
        read = step.start + sum(reading(served.requests[request].prompt) for request in new)
        for seat, request in seated.items():
            start = step.start
            if request in new and read > start:
                runs.append(SeatRun(seat, request, start, read, "reading"))
                start = read
            doing: Doing = "writing" if request in working else "kept"
            last = open_runs.get(seat)
            if last and (last.request, last.doing) == (request, doing):
                start = last.start
            elif last:
                runs.append(last)
            open_runs[seat] = SeatRun(seat, request, start, step.start + step.seconds, doing)
    return sorted([*runs, *open_runs.values()], key=lambda run: (run.seat, run.start))


def kept_share(runs: list[SeatRun]) -> float:
    """The share of all seats' busy time that goes to answers that are done already."""
    busy = sum(run.stop - run.start for run in runs)
    return sum(run.stop - run.start for run in runs if run.doing == "kept") / busy if busy else 0.0
