"""Two or three known mistakes at once, where all are settings of one and the same function."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.exercise import Case, Exercise, Mistake
from mha_course.exercises.mistakes.workbench import steps_shared
from mha_course.exercises.outcome import Outcome, agree
from mha_course.exercises.recognising import Calls, findings_of, matches


@dataclass
class _Together:
    """What combinations of mistakes give in one case: a row of numbers each, grouped by shapes."""

    case: Case
    made: dict[Any, list[tuple[tuple[Mistake, ...], Callable[..., Any]]]] = field(default_factory=dict)
    rows: dict[Any, list[tuple[Tensor, ...]]] = field(default_factory=dict)
    stacked: dict[Any, Tensor] = field(default_factory=dict)

    def add(self, mistakes: tuple[Mistake, ...], fn: Callable[..., Any]) -> None:
        """Call one combination, and keep what it gives; nothing where it stops with an error."""
        try:
            result = fn(*self.case.arguments)
        except (RuntimeError, ValueError, TypeError, IndexError):
            return
        leaves = result if isinstance(result, tuple) else (result,)
        shapes = tuple(leaf.shape for leaf in leaves)
        self.made.setdefault(shapes, []).append((mistakes, fn))
        self.rows.setdefault(shapes, []).append(leaves)

    def like(self, got: Outcome) -> Iterator[tuple[tuple[Mistake, ...], Callable[..., Any]]]:
        """The combinations that give what the answer gave, as far as one case shows."""
        shapes = tuple(leaf.shape for leaf in got.leaves)
        if shapes not in self.rows or any(leaf.is_complex() for leaf in got.leaves):
            return
        if shapes not in self.stacked:
            columns = [torch.stack(leaves) for leaves in zip(*self.rows[shapes], strict=True)]
            self.stacked[shapes] = _in_a_row(columns)
        mine = _in_a_row([leaf.unsqueeze(0) for leaf in got.leaves])
        near = (self.stacked[shapes] - mine).abs() <= 1e-4 + 1e-3 * mine.abs()
        for i in near.all(-1).nonzero()[:, 0].tolist():
            yield self.made[shapes][i]


# With more mistakes than these, of two at once one has to be made often.
_MANY = 25
# Repairs that a mistake about another step carries along, so as to be right elsewhere.
_REPAIR = "hide_late"

# Of each case: the mistakes never change, so what they give together is computed once.
_KNOWN: dict[tuple[str, int, int, int | None], _Together] = {}
# By exercise and mistakes: the cases, the mistakes (an id holds while they live), and what comes of them.
_CALLS: dict[tuple[Any, ...], tuple[Sequence[Case], tuple[Mistake, ...], list[Calls]]] = {}
_MOST_CALLS = 2_000


def several_known_mistakes(evidence: Evidence, outcomes: Sequence[Sequence[Calls]]) -> Finding | None:
    """Two known mistakes at once, or three of those that are made often; or None.

    Where some mistakes are marked as made often, one of two has to be such a one.

    outcomes: for each mistake of the exercise, for each way to make it, what it gives in each case.
    """
    i = evidence.first_wrong()
    got = evidence.got[i]
    if got.error is not None:
        return None  # an error hides what was computed
    if not any(bool(leaf.any()) for leaf in got.leaves):
        return None  # nothing but 0 comes from so many things that it tells of none
    settings = [
        (mistake, ways)
        for mistake, ways in zip(evidence.exercise.mistakes, outcomes, strict=True)
        if isinstance(mistake.wrong, functools.partial)
    ]
    settings, right = _harmless_where_right(evidence, settings)
    idle = {id(m) for m, ways in settings if all(way.idle(i, evidence.expected[i]) for way in ways)}
    for count in (2, 3):
        chosen = [s for s in settings if count == 2 or s[0].often]
        found = _beside_idle(evidence, i, chosen, idle) if count == 2 else None
        for mistakes, fn in [] if found else _together(evidence, i, count, chosen, idle, right).like(got):
            if matches(evidence, Calls(fn, evidence.cases, evidence.exercise.results)):
                return findings_of(evidence, *mistakes)
            found = found or _and_idle(evidence, mistakes, [m for m, _ in settings if id(m) in idle])
        if found:
            return found
    return None


def _harmless_where_right(
    evidence: Evidence, settings: list[tuple[Mistake, Sequence[Calls]]]
) -> tuple[list[tuple[Mistake, Sequence[Calls]]], int | None]:
    """The mistakes that do nothing in an ordinary case that the answer gets right, and that case.

    Two mistakes that both show there don't undo each other, so that others need not be combined.
    """
    for k, case in enumerate(evidence.cases):
        ordinary = not case.edge and not case.refuses and min(case.sizes.values(), default=1) > 1
        if ordinary and evidence.counts[k] and evidence.right[k]:
            kept = [(m, ways) for m, ways in settings if any(w.idle(k, evidence.expected[k]) for w in ways)]
            return kept, k
    return settings, None


def _beside_idle(
    evidence: Evidence, i: int, settings: Sequence[tuple[Mistake, Sequence[Calls]]], idle: set[int]
) -> Finding | None:
    """A mistake that changes nothing in this case (one about masks, where there is none) beside another."""
    if not idle:
        return None
    alone = [
        m for m, ways in settings if id(m) not in idle and any(agree(w[i], evidence.got[i]) for w in ways)
    ]
    if not alone:
        return None
    for (one, _), (other, _) in combinations(settings, 2):
        if (id(one) in idle) == (id(other) in idle) or not any(m is one or m is other for m in alone):
            continue
        if any(matches(evidence, both) for both in _calls_of(evidence, one, other)):
            return findings_of(evidence, one, other)
    return None


def _and_idle(evidence: Evidence, mistakes: tuple[Mistake, ...], idle: Sequence[Mistake]) -> Finding | None:
    """The same mistakes and one more, that changes nothing in the case looked at."""
    if len(mistakes) > 2 or not any(m.often for m in mistakes):
        return None
    for other in idle:
        if any(matches(evidence, all_of_them) for all_of_them in _calls_of(evidence, *mistakes, other)):
            return findings_of(evidence, *mistakes, other)
    return None


def _calls_of(evidence: Evidence, *mistakes: Mistake) -> list[Calls]:
    """What the mistakes give together, in every style; kept, since they are asked for again and again."""
    key = (evidence.exercise.name, *map(id, mistakes))
    kept = _CALLS.get(key)
    if kept is None or kept[0] is not evidence.cases:
        if len(_CALLS) >= _MOST_CALLS:
            _CALLS.clear()
        ways = combined(evidence.exercise, *mistakes)
        calls = [Calls(fn, evidence.cases, evidence.exercise.results) for fn in ways]
        kept = _CALLS[key] = (evidence.cases, mistakes, calls)
    return kept[2]


def _together(
    evidence: Evidence,
    i: int,
    count: int,
    settings: Sequence[tuple[Mistake, Sequence[Calls]]],
    idle: set[int],
    right: int | None,
) -> _Together:
    case = evidence.cases[i]
    key = (evidence.exercise.name, i, count, right)
    known = _KNOWN.get(key)
    if known is not None and known.case is case:
        return known
    # A style that makes no difference for any mistake here makes none for two.
    styles_matter = any(not agree(w[i], ways[0][i]) for _, ways in settings for w in ways[1:])
    table = _Together(case)
    # Where some are made often, two that are both rare hardly meet; and looking for all pairs takes long.
    marked = any(m.often for m, _ in settings)
    with steps_shared():
        for some in combinations([m for m, _ in settings if id(m) not in idle], count):
            if marked and len(settings) > _MANY and not any(m.often for m in some):
                continue
            for fn in combined(evidence.exercise, *some)[: None if styles_matter else 1]:
                table.add(some, fn)
    _KNOWN[key] = table
    return table


def combined(exercise: Exercise, *mistakes: Mistake) -> list[Callable[..., Any]]:
    """All the mistakes in one function, in every style; empty when two of them concern the same step."""
    settings: dict[str, Any] = {}
    # The mistake about masking itself comes last: it says what becomes of hidden keys in the end.
    for mistake in sorted(mistakes, key=_only_repairs, reverse=True):
        shared = set(mistake.wrong.keywords) & set(settings)
        if mistake.wrong.func is not mistakes[0].wrong.func or shared - {_REPAIR}:
            return []
        if shared and sum(map(_only_repairs, mistakes)) != len(mistakes) - 1:
            return []
        settings |= mistake.wrong.keywords
    return exercise.ways(Mistake("", functools.partial(mistakes[0].wrong.func, **settings), "", ""))


def _only_repairs(mistake: Mistake) -> bool:
    """Whether a mistake is about another step than masking, and masks late only to be right besides."""
    return _REPAIR in mistake.wrong.keywords and bool(
        {"factor", "soften", "mix"} & set(mistake.wrong.keywords)
    )


def _in_a_row(leaves: Sequence[Tensor]) -> Tensor:
    """All numbers of each result beside each other: (results, numbers)."""
    flat = torch.cat([leaf.detach().flatten(1).to(torch.float32) for leaf in leaves], 1)
    return flat.nan_to_num(nan=1e30, posinf=2e30, neginf=-2e30)
