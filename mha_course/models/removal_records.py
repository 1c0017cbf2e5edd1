"""What was recorded about removing heads of the main model: alone, at their mean, in pairs and in groups.

    >>> from mha_course.models.removal_records import single_removals, group_removals
    >>> max(single_removals(seed=0), key=lambda one: one.worst[1]).head
    >>> {one.role: one.points for one in group_removals(seed=0)}

Written by `python -m mha_course.training.record_removals`. Points are percentage points of accuracy lost,
nats the rise of the loss a word, summed over the four parts of the gloss.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import torch
from torch import Tensor

from mha_course.data_files import data_path
from mha_course.heads.ablation import Head
from mha_course.heads.importance import normalised
from mha_course.heads.rank_correlation import RankCorrelation, rank_correlation
from mha_course.models.course_models import FIRST_SEED, FOLDER

FILE = "removed_heads.json"
SCORES = ("importance", "normalised importance", "confidence", "random")
LAYERS, H = 2, 8
HEADS: tuple[Head, ...] = tuple((i, j) for i in range(1, LAYERS + 1) for j in range(1, H + 1))


@dataclass(frozen=True)
class Cost:
    """points: by part; below 0 something was gained. nats: see above."""

    points: Mapping[str, float]
    nats: float

    @property
    def worst(self) -> tuple[str, float]:
        """The part that loses most, and how many points."""
        part = max(self.points, key=self.points.get)
        return part, self.points[part]


@dataclass(frozen=True)
class SingleRemoval(Cost):
    """One head removed alone.

    head: (layer, head) from 1. interval: by part, the middle 95 % of the points over redrawn sentences.
    picks, judges: on every second sentence, and on the others. at_mean: the head says its mean instead of
    nothing. mean_share: how much of the head's mean square lies in its mean.
    """

    head: Head
    interval: Mapping[str, tuple[float, float]]
    picks: Cost
    judges: Cost
    at_mean: Cost
    mean_share: float


@dataclass(frozen=True)
class GroupRemoval(Cost):
    """All heads of one role removed together.

    random: what random groups of as many other heads cost. but_one: for each head of the group what the
    others cost without it; what this head adds is the difference.
    """

    role: str
    heads: tuple[Head, ...]
    random: tuple[Cost, ...]
    but_one: Mapping[Head, Cost]

    def added_by(self, head: Head) -> float:
        """Points of the group's own part that this head's removal adds when the rest is gone already."""
        part = self.worst[0]
        return self.points[part] - self.but_one[head].points[part]


@dataclass(frozen=True)
class PairRemoval:
    """Two heads removed together. nats: what both cost; alone: the sum of what each costs by itself, on the
    same sentences. points: of the part that loses most."""

    heads: tuple[Head, Head]
    nats: float
    alone: float
    points: float

    @property
    def excess(self) -> float:
        """How much more both cost together: what one of them had made up for."""
        return self.nats - self.alone


@dataclass(frozen=True)
class PatternFound:
    """A head with a clear pattern, by the rule in `heads/clear_patterns.py`.

    name: of the pattern, as in `heads/criteria.py`. picked: its share on the sentences that pick; value, low,
    high: on those that judge, with the 95 % interval; baseline, rule: of the best simple rule there; control:
    of the best head of an untrained model; asked: questions. holds: whether it is as clear there.
    """

    head: Head
    name: str
    picked: float
    value: float
    low: float
    high: float
    baseline: float
    rule: str
    control: float
    asked: int
    holds: bool


@cache
def single_removals(seed: int = FIRST_SEED) -> tuple[SingleRemoval, ...]:
    """Every head of a training run alone, layer after layer, on 1,500 held-out sentences.

    Raises: ValueError for a run that was not recorded; FileNotFoundError when data/ is missing.
    """
    shares = _of("mean_share", seed)["share"]
    found = []
    for one in _all("single", seed):
        i, j = one["head"]
        interval = {part: tuple(ends) for part, ends in one["interval"].items()}
        parts = (Cost(**one[name]) for name in ("picks", "judges", "at_mean"))
        found.append(
            SingleRemoval(one["points"], one["nats"], (i, j), interval, *parts, shares[i - 1][j - 1])
        )
    return tuple(found)


@cache
def group_removals(seed: int = FIRST_SEED) -> tuple[GroupRemoval, ...]:
    """Every role's heads together, on 600 held-out sentences. Raises: as `single_removals`."""
    return tuple(
        GroupRemoval(
            one["points"],
            one["nats"],
            one["role"],
            tuple(map(tuple, one["heads"])),
            tuple(Cost(other["points"], other["nats"]) for other in one["random"]),
            {tuple(left["head"]): Cost(left["points"], left["nats"]) for left in one["but_one"]},
        )
        for one in _all("group", seed)
    )


@cache
def pair_removals(seed: int = FIRST_SEED) -> tuple[PairRemoval, ...]:
    """Every two heads together, on 600 held-out sentences. Raises: as `single_removals`."""
    pairs = _of("pairs", seed)
    alone = dict(zip(HEADS, pairs["alone"], strict=True))
    return tuple(
        PairRemoval((a, b), nats, alone[a] + alone[b], points)
        for (a, b), nats, points in zip(combinations(HEADS, 2), pairs["nats"], pairs["points"], strict=True)
    )


@cache
def patterns_found(seed: int = FIRST_SEED) -> tuple[PatternFound, ...]:
    """All heads with a clear pattern. Raises: as `single_removals`."""
    return tuple(
        PatternFound(**{**one, "head": tuple(one["head"])}) for one in _of("patterns", seed)["heads"]
    )


@cache
def head_scores(seed: int = FIRST_SEED) -> Mapping[str, Tensor]:
    """By name, (2, 8): importance (Michel et al. 2019) as it is and over its layer's norm, confidence (Voita
    et al. 2019), and random numbers for comparison. Raises: as `single_removals`.
    """
    read = _of("scores", seed)
    importance, sure = (torch.tensor(read[name]) for name in ("importance", "confidence"))
    chance = torch.rand(LAYERS, H, generator=torch.Generator().manual_seed(seed))
    return dict(zip(SCORES, (importance, normalised(importance), sure, chance), strict=True))


def score_against_removal(
    name: str, seed: int = FIRST_SEED, size: int = 1, draws: int = 2_000
) -> RankCorrelation:
    """How well a score foretells what removal costs (nats), as a rank correlation.

    name: one of `SCORES`, or "sum of singles": for groups, what their heads cost alone. size: 1 for single
    heads, 2 for all pairs, 4 and 8 for groups drawn at random; a group's score is the sum of its heads'. The
    pairs share their heads, so for size 2 take rho alone: interval and p hold for things drawn independently.
    draws: of the interval and of p.

    Raises: ValueError for an unknown name or size, and as `single_removals`.
    """
    alone = torch.tensor(_of("pairs", seed)["alone"])
    if name == "sum of singles":
        scores = alone
    elif name in SCORES:
        scores = head_scores(seed)[name].flatten()
    else:
        raise ValueError(f"name={name!r} must be one of: {', '.join(SCORES)}, sum of singles.")
    if size == 1:
        groups, nats = [(head,) for head in HEADS], [one.nats for one in single_removals(seed)]
    elif size == 2:
        groups, nats = list(combinations(HEADS, 2)), _of("pairs", seed)["nats"]
    else:
        drawn = _of("drawn", seed, size=size)
        groups, nats = [[tuple(head) for head in group] for group in drawn["groups"]], drawn["nats"]
    sums = [float(sum(scores[HEADS.index(head)] for head in group)) for group in groups]
    return rank_correlation(torch.tensor(sums), torch.tensor(nats), draws)


def _all(kind: str, seed: int) -> list[Mapping]:
    found = [one for one in _read()[kind] if one["seed"] == seed]
    if not found:
        known = sorted({one["seed"] for one in _read()[kind]})
        raise ValueError(f"no training run with seed={seed} was recorded; there are {known}.")
    return found


def _of(kind: str, seed: int, **key: object) -> Mapping:
    found = [one for one in _all(kind, seed) if all(one[name] == value for name, value in key.items())]
    if not found:
        raise ValueError(f"nothing of the kind {kind!r} was recorded with {key}.")
    return found[0]


@cache
def _read() -> Mapping[str, list[Mapping]]:
    return json.loads(data_path(f"{FOLDER}/{FILE}").read_text(encoding="utf-8"))
