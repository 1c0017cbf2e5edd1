"""What wrong learning rates did: how they rise, how they fall, and where one gives way to the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.workbench import once
from mha_course.exercises.outcome import Outcome, close, differing
from mha_course.exercises.reading.rates_ways import CHOICES, COUNTS, DONES, FALLS, GIVEN, RISES, TURNS
from mha_course.exercises.reading.recipes import Recipe, Slot, Step, of_the_whole
from mha_course.exercises.witness import number as shown


def _rise(i: Tensor, w: int, s: int) -> Tensor:
    return i / w


def _done(i: Tensor, w: int, s: int, rise: Tensor) -> Tensor:
    return (i - w) / (s - w)


def _fall(d: Tensor, i: Tensor, w: int, s: int) -> Tensor:
    return 0.5 * (1 + torch.cos(math.pi * d))


def _rising(i: Tensor, w: int, s: int, rise: Tensor, done: Tensor, fall: Tensor) -> Tensor:
    return i <= w


def _choice(rising: Tensor, rise: Tensor, fall: Tensor, i: Tensor, done: Tensor) -> Tensor:
    return torch.where(rising, rise, fall)


def rates_with(
    steps: int,
    warm_up: int,
    *,
    given: Step = lambda steps, warm_up: (steps, warm_up),
    count: Step = lambda s: torch.arange(1, s + 1),
    rise: Step = _rise,
    done: Step = _done,
    fall: Step = _fall,
    rising: Step = _rising,
    choose: Step = _choice,
    finish: Step = lambda r: r,
) -> Tensor:
    """The learning rates with the steps given; without any they are right: (steps,)."""
    length, (steps, warm_up) = steps, given(steps, warm_up)
    i = once(count, length).float()
    up = once(rise, i, warm_up, steps) + torch.zeros_like(i)
    behind = once(done, i, warm_up, steps, up)
    down = once(fall, behind, i, warm_up, steps) + torch.zeros_like(i)
    first = once(rising, i, warm_up, steps, up, behind, down)
    return finish(choose(first, up, down, i, behind).to(torch.float32))


RATES = Recipe(
    rates_with,
    (
        Slot("rise", "the first updates, up to `warm_up`.", RISES),
        Slot("fall", "the updates after `warm_up`.", FALLS),
        Slot("done", "`done`: 0 at update `warm_up`, 1 at the last.", DONES),
        Slot("rising", "the condition that chooses between the two pieces.", TURNS),
        Slot("choose", "how the two pieces become one.", CHOICES),
        Slot("given", "where `steps` and `warm_up` are used.", GIVEN),
        Slot("count", "the number of the first update.", COUNTS),
    ),
)


def read_rates(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else which of the two pieces is wrong, and its ends."""
    found = RATES.read(evidence, i, call)
    if found:
        return found
    want, got = evidence.expected[i].leaves[0], evidence.got[i].leaves
    if len(got) != 1 or got[0].shape != want.shape or not got[0].is_floating_point():
        return None
    have, warm_up = got[0], int(evidence.cases[i].arguments[1])
    if not bool(have.isfinite().all()) or close(have.flip(0), want):
        return None
    if of_the_whole(evidence, i):
        return None  # of the whole, which is told elsewhere
    wrong = differing(want, have)
    rise, fall = wrong[:warm_up], wrong[warm_up:]
    if bool(rise.any()) and bool(fall.any()):
        if bool(rise.all()) and bool(fall[:-1].all()):
            return None
        places = [k + 1 for k in wrong.nonzero().flatten().tolist()]
        says = f"Both pieces are wrong: of the rise {int(rise.sum())} of {len(rise)} rates, of the fall "
        says += f"{int(fall.sum())} of {len(fall)}; the first at update {places[0]}."
        return Finding("both-pieces", says, look="one piece at a time.")
    first, last = (0, warm_up - 1) if bool(rise.any()) else (warm_up, len(want) - 1)
    piece, other = ("rise", "fall") if first == 0 else ("fall", "rise")
    says = (
        f"The {other} is right, the {piece} is not: from update {first + 1} to {last + 1} it should go from "
        f"{shown(want[first])} to {shown(want[last])}; yours goes from {shown(have[first])} to "
        f"{shown(have[last])}."
    )
    return Finding(f"wrong-{piece}", says, look=f"the {piece}: its first and its last rate.")
