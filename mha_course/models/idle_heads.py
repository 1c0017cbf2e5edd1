"""Heads whose pattern is nearly perfect and whose removal costs next to nothing, by the rule of
`heads/clear_patterns.py`; and the reverse, heads without a pattern that matter.

    >>> from mha_course.models.idle_heads import clearest_idle
    >>> one = clearest_idle(seed=0)
    >>> one.head, one.pattern.value, one.removal.judges.worst, one.added, one.dropped_at

Everything is read from what was recorded (`removal_records`, `pruning_records`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mha_course.heads.ablation import Head
from mha_course.heads.clear_patterns import IDLE_POINTS
from mha_course.models.course_models import FIRST_SEED
from mha_course.models.pruning_records import gate_runs
from mha_course.models.removal_records import (
    PairRemoval,
    PatternFound,
    SingleRemoval,
    group_removals,
    pair_removals,
    patterns_found,
    single_removals,
)
from mha_course.models.training_records import forming

BACKUP_NATS = 0.03  # by which a pair must cost more than its two heads alone


@dataclass(frozen=True)
class IdleHead:
    """A head with a clear pattern that is idle, both on the sentences that pick.

    pattern, removal: also on the sentences that judge. role: the group in which it stands, with the others of
    it (twins); added: points of the group's own part that it costs when all its twins are gone already, None
    without twins. dropped_at: the prices at which learned gates closed it, of `prices`.
    """

    pattern: PatternFound
    removal: SingleRemoval
    role: str
    twins: tuple[Head, ...]
    added: float | None
    dropped_at: tuple[float, ...]
    prices: tuple[float, ...]

    @property
    def head(self) -> Head:
        return self.pattern.head

    @property
    def holds(self) -> bool:
        """Whether pattern and idleness are found on the sentences that judge, too."""
        return self.pattern.holds and self.removal.judges.worst[1] <= IDLE_POINTS


def idle_heads(seed: int = FIRST_SEED) -> tuple[IdleHead, ...]:
    """All of a training run, the clearest pattern first (hits above the simple rule, where it was picked).

    Raises: ValueError for a run that was not recorded; FileNotFoundError when data/ is missing.
    """
    alone = {one.head: one for one in single_removals(seed)}
    idle = [one for one in patterns_found(seed) if alone[one.head].picks.worst[1] <= IDLE_POINTS]
    idle.sort(key=lambda one: (one.baseline - one.picked, alone[one.head].picks.worst[1]))
    return tuple(_idle(one, alone[one.head], seed) for one in idle)


def clearest_idle(seed: int = FIRST_SEED) -> IdleHead:
    """The first of `idle_heads`. Raises: as there, and ValueError when there is none."""
    found = idle_heads(seed)
    if not found:
        raise ValueError(f"no head of seed={seed} has a clear pattern and is idle.")
    return found[0]


def without_role(seed: int = FIRST_SEED) -> tuple[SingleRemoval, ...]:
    """The heads that pass no role at all, the one that costs most (worst part) first."""
    roles = forming(seed)[-1].heads
    found = [one for one in single_removals(seed) if roles[one.head[0] - 1][one.head[1] - 1] is None]
    return tuple(sorted(found, key=lambda one: -one.worst[1]))


def backups(seed: int = FIRST_SEED) -> tuple[tuple[Head, PairRemoval], ...]:
    """Heads without a role that cost nothing alone and a good deal once another head is gone.

    Returns: such a head, and the pair in which that shows, the largest excess first.
    """
    idle = {one.head for one in without_role(seed) if one.worst[1] <= IDLE_POINTS}
    found = [
        (head, pair)
        for pair in pair_removals(seed)
        for head in pair.heads
        if head in idle and pair.excess >= BACKUP_NATS
    ]
    return tuple(sorted(found, key=lambda one: -one[1].excess))


def _idle(pattern: PatternFound, removal: SingleRemoval, seed: int) -> IdleHead:
    head = pattern.head
    group = next((one for one in group_removals(seed) if head in one.heads), None)
    twins = tuple(one for one in group.heads if one != head) if group else ()
    added = group.added_by(head) if twins else None
    closed = dict(_closed_at(head, seed))
    dropped = tuple(price for price, gone in closed.items() if gone)
    return IdleHead(pattern, removal, group.role if group else "", twins, added, dropped, tuple(closed))


def _closed_at(head: Head, seed: int) -> Iterator[tuple[float, bool]]:
    for run in gate_runs():
        if run.seed == seed:
            yield run.strength, head not in run.survivors
