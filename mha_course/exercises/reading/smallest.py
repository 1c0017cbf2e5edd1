"""The shortest sentence for which a search for the best offset goes wrong."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import torch

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.fixed_offset import OFFSET, offset_with

Call = Callable[[tuple[Any, ...]], Outcome]


@functools.cache
def _short() -> tuple[tuple[tuple[int, ...], int, int, str], ...]:
    """Short sentences with the right answer and what is special about them, simplest first."""
    found = []
    for n in (2, 3, 4):
        for targets in itertools.product(range(-1, n), repeat=n):
            asked = [t - i for i, t in enumerate(targets) if t >= 0]
            largest = n - 1
            counts = sorted((asked.count(k) for k in set(asked) if 0 < abs(k) <= largest), reverse=True)
            if not counts or len(found) > 250:
                continue
            one = len(asked) == 1
            clear = one or len(counts) == 1 or counts[0] > counts[1]
            kind = "one target" if one else "a distance that hits most targets" if clear else "equals"
            best = offset_with(torch.tensor(targets), largest)
            found.append((targets, largest, best, kind))
    order = {"one target": 0, "a distance that hits most targets": 1, "equals": 2}
    return tuple(sorted(found, key=lambda f: (order[f[3]], len(f[0]), sum(t >= 0 for t in f[0]))))


def read_fixed_offset(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """The steps done otherwise where they are known; else the shortest example that goes wrong."""
    found = OFFSET.read(evidence, i, call)
    got = evidence.got[i].leaves
    if found or len(got) != 1 or got[0].numel() != 1 or got[0].is_floating_point():
        return found
    rates = {
        int(out.leaves[0]) / int(want.leaves[0]) for out, want in _pairs(evidence) if int(want.leaves[0])
    }
    if len(rates) == 1:
        return None  # one factor, which is told elsewhere
    right: set[str] = set()
    for targets, largest, best, kind in _chosen():
        out = call((torch.tensor(targets), largest))
        have = int(out.leaves[0]) if out.error is None and out.leaves and out.leaves[0].numel() == 1 else None
        if have == best:
            right.add(kind)
            continue
        yours = f"yours is {have}" if have is not None else "yours stops with an error"
        says = (
            f"A short example: for the targets {list(targets)} and largest = {largest} the answer is {best}; "
        )
        says += f"{yours}."
        if right - {kind}:
            says += f" With {' and with '.join(sorted(right - {kind}))} it can be right."
        return Finding("smallest-example", says, look="this example, step by step, on paper.")
    return None


def _pairs(evidence: Evidence) -> list[tuple[Outcome, Outcome]]:
    return [
        (out, want)
        for out, want in zip(evidence.got, evidence.expected, strict=True)
        if out.error is None and out.leaves[0].numel() == 1
    ]


@functools.cache
def _chosen() -> tuple[tuple[tuple[int, ...], int, int, str], ...]:
    """Some of each kind, so that few calls are needed."""
    short = _short()
    kinds = dict.fromkeys(kind for *_, kind in short)
    return tuple(example for kind in kinds for example in [s for s in short if s[3] == kind][:25])
