"""Recipes: a right answer as steps, with what people put in the place of each; tried alone, then in pairs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.workbench import steps_shared
from mha_course.exercises.outcome import Outcome, agree, run
from mha_course.exercises.reading.changed_afterwards import changed_afterwards
from mha_course.exercises.reading.factors import times_right
from mha_course.exercises.recognising import Calls, matches

Step = Callable[..., Any]
Arguments = tuple[Any, ...]
_ERRORS = (RuntimeError, ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError)


class Way(NamedTuple):
    """What may stand in the place of a step. says: in a sentence; look: where, unless the slot's serves.

    alone: too rare, or too like others, to be tried beside a second fault.
    """

    says: str
    step: Step
    look: str = ""
    alone: bool = False


def rare(says: str, step: Step, look: str = "") -> Way:
    """A way that is tried alone only."""
    return Way(says, step, look, alone=True)


@dataclass(frozen=True)
class Slot:
    """One step of a recipe, by the name of its keyword. look: where to look when it is done otherwise."""

    name: str
    look: str
    ways: tuple[Way, ...]


@dataclass(frozen=True)
class Recipe:
    """All that is tried for one exercise.

    make: takes the exercise's arguments and a step for each slot by its keyword; right without any.
    more: other arguments, on which an answer must agree with what it is taken for. For results in which
    chance can play a part, as in a whole number.
    beyond: how many slots may be done otherwise at once.
    """

    make: Step
    slots: tuple[Slot, ...]
    more: Callable[[], Sequence[Arguments]] = tuple
    beyond: int = 2

    def read(self, evidence: Evidence, i: int, call: Callable[[Arguments], Outcome]) -> Finding | None:
        """The ways that give what the answer gives in every case that counts; None when none do."""
        got = evidence.got[i]
        if len(got.leaves) != len(evidence.expected[i].leaves) or any(a.is_complex() for a in got.leaves):
            return None
        if got.leaves[0].is_floating_point() and not any(bool(leaf.any()) for leaf in got.leaves):
            return None  # nothing but 0 comes from so many things that it tells of none
        asked: list[tuple[Arguments, Outcome]] | None = None
        for count in range(1, self.beyond + 1):
            if count == 2 and of_the_whole(evidence, i):
                return None  # one thing done to a right result says more than two faults
            for chosen in _tried(self, evidence, i, count).like(got.leaves):
                fn = functools.partial(self.make, **{slot.name: way.step for slot, way in chosen})
                given = Calls(fn, evidence.cases, evidence.exercise.results)
                if not (matches(evidence, given, True) or matches(evidence, given)):
                    continue
                if asked is None:
                    asked = [(arguments, call(_copied(arguments))) for arguments in self.more()]
                if all(_same(fn, arguments, out) for arguments, out in asked):
                    return _finding(chosen, evidence.cases[i].sizes)
        return None


def beyond_recipes(evidence: Evidence, i: int) -> bool:
    """Whether an answer has the shape and the kind that is wanted, and nothing simple explains it."""
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    alike = want.shape == have.shape and have.is_floating_point() == want.is_floating_point()
    return alike and len(evidence.got[i].leaves) == 1 and not of_the_whole(evidence, i)


def of_the_whole(evidence: Evidence, i: int) -> bool:
    """Whether one thing was done to a right result at the end, which is told elsewhere."""
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    if len(evidence.expected[i].leaves) > 1 or want.shape != have.shape or want.numel() < 2:
        return False
    axes = evidence.exercise.returns[0].axes
    if want.is_floating_point() and want.numel() > 3 and have.is_floating_point():
        off = (have.double() - want.double()).flatten()
        if torch.allclose(off, off.mean().expand_as(off), atol=1e-5):
            return True
    return times_right(evidence) is not None or changed_afterwards(want, have, axes) is not None


Chosen = tuple[tuple[Slot, Way], ...]


@dataclass
class _Tried:
    """What a recipe gives in one case with so many ways at once, grouped by the shapes of the results."""

    made: dict[Any, list[Chosen]] = field(default_factory=dict)
    rows: dict[Any, list[Tensor]] = field(default_factory=dict)
    stacked: dict[Any, Tensor] = field(default_factory=dict)

    def add(self, chosen: Chosen, result: Any) -> None:
        parts = result if isinstance(result, tuple) else (result,)
        leaves = [part if isinstance(part, Tensor) else torch.as_tensor(part) for part in parts]
        shapes = tuple(leaf.shape for leaf in leaves)
        self.made.setdefault(shapes, []).append(chosen)
        self.rows.setdefault(shapes, []).append(_flat(leaves))

    def like(self, leaves: Sequence[Tensor]) -> Iterator[Chosen]:
        shapes = tuple(leaf.shape for leaf in leaves)
        if shapes not in self.rows:
            return
        if shapes not in self.stacked:
            self.stacked[shapes] = torch.stack(self.rows[shapes])
        mine = _flat(leaves)
        near = (self.stacked[shapes] - mine).abs() <= 1e-4 + 1e-3 * mine.abs()
        for k in near.all(-1).nonzero()[:, 0].tolist():
            yield self.made[shapes][k]


_KNOWN: dict[tuple[int, str, int, int], _Tried] = {}


def _tried(recipe: Recipe, evidence: Evidence, i: int, count: int) -> _Tried:
    key = (id(recipe), evidence.exercise.name, i, count)
    if key not in _KNOWN:
        table, arguments = _Tried(), evidence.cases[i].fresh()
        with steps_shared(), torch.no_grad():
            for slots in combinations(recipe.slots, count):
                for chosen in _ways(slots, count):
                    with contextlib.suppress(*_ERRORS):
                        steps = {slot.name: way.step for slot, way in chosen}
                        table.add(chosen, recipe.make(*arguments, **steps))
        _KNOWN[key] = table
    return _KNOWN[key]


def _ways(slots: Sequence[Slot], count: int) -> Iterator[Chosen]:
    if not slots:
        yield ()
        return
    for way in slots[0].ways:
        if count > 1 and way.alone:
            continue
        for rest in _ways(slots[1:], count):
            yield ((slots[0], way), *rest)


def _same(fn: Step, arguments: Arguments, out: Outcome) -> bool:
    made = run(fn, _copied(arguments), quiet=True)
    return agree(made, out) or (made.error is not None and out.error is not None)


def _copied(arguments: Arguments) -> Arguments:
    return tuple(a.clone() if isinstance(a, Tensor) else a for a in arguments)


def _finding(chosen: Chosen, sizes: dict[str, int]) -> Finding:
    says = " And: ".join(way.says for _, way in chosen)
    look = " And: ".join(dict.fromkeys(way.look or slot.look for slot, way in chosen))
    for name, size in sizes.items():
        says = says.replace("{" + name + "}", str(size))
    return Finding("+".join(f"other-{slot.name}" for slot, _ in chosen), says, look=look)


def _flat(leaves: Sequence[Tensor]) -> Tensor:
    flat = torch.cat([leaf.detach().to(torch.float64).flatten() for leaf in leaves])
    return flat.nan_to_num(nan=1e30, posinf=2e30, neginf=-2e30)
