"""What was recorded about noise in heads and models, and about ensembles: is h = 8 more robust than h = 1?

    >>> from mha_course.models.noise_records import noise_lost, verdicts, votes
    >>> noise_lost("out of attention", h=8)
    >>> [(one.kind, one.share, one.says) for one in verdicts()]

Written by `python -m mha_course.training.record_noise`; what was fixed before measuring stands in
`training/noise_trial.py`.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from mha_course.data_files import data_path
from mha_course.heads.ablation import Head
from mha_course.models.course_models import FIRST_SEED, FOLDER

FILE = "noise.json"
LEAST_DIFFERENCE = 1.0  # percentage points between the means of h = 1 and h = 8
MORE, LESS, UNDECIDED = "more robust", "less robust", "undecided"


@dataclass(frozen=True)
class NoiseRun:
    """One kind of noise in one model. points: by part, percentage points lost at each of `shares()`; worst:
    the mean over parts in the place (head, draw) that costs most.
    """

    h: int
    seed: int
    kind: str
    points: Mapping[str, tuple[float, ...]]
    worst: tuple[float, ...]

    @property
    def lost(self) -> tuple[float, ...]:
        """At each share the mean over the four parts."""
        return tuple(statistics.fmean(row) for row in zip(*self.points.values(), strict=True))


@dataclass(frozen=True)
class Verdict:
    """Many heads against one under one kind of noise. few, many: points lost by each run with h = 1, and with
    the other h. says: "more robust", "less robust" or "undecided", of many heads, by the rule fixed before.
    """

    kind: str
    share: float
    few: tuple[float, ...]
    many: tuple[float, ...]
    says: str

    @property
    def difference(self) -> float:
        """Points that the many heads lose less, on average; below 0 they lose more."""
        return statistics.fmean(self.few) - statistics.fmean(self.many)


@dataclass(frozen=True)
class Ensemble:
    """Runs of one h alone and with averaged logits, accuracy by part.

    noise: "embedding", of `share` times its size, each run its own; or "hidden words", a share of the words,
    the same for all. one: each run alone. together: the logits of all averaged. read_again: each run alone,
    its logits for as many noisy readings averaged as there are runs.
    """

    h: int
    noise: str
    share: float
    one: tuple[Mapping[str, float], ...]
    together: Mapping[str, float]
    read_again: tuple[Mapping[str, float], ...]


@dataclass(frozen=True)
class Votes:
    """Heads of one run as members of an ensemble, accuracy by part.

    whole: the model as it is. alone: a single head of the whole model speaks. voting: the logits of all those
    averaged; pairs_voting: the same with one head of each layer speaking, for all pairs.
    """

    seed: int
    whole: Mapping[str, float]
    alone: Mapping[Head, Mapping[str, float]]
    voting: Mapping[str, float]
    pairs_voting: Mapping[str, float]


def shares() -> tuple[float, ...]:
    """The sizes of the noise, as shares of the size of what it is added to."""
    return tuple(_read()["settings"][0]["shares"])


@cache
def whole_accuracy(h: int, seed: int = FIRST_SEED) -> Mapping[str, float]:
    """Accuracy by part without noise. Raises: ValueError for a model that was not tried."""
    for one in _read()["models"]:
        if (one["h"], one["seed"]) == (h, seed):
            return one["accuracy"]
    raise ValueError(f"no model with h={h}, seed={seed} was tried.")


@cache
def noise_runs() -> tuple[NoiseRun, ...]:
    """Everything that was tried, except kinds of noise for which a model has no place."""
    return tuple(
        NoiseRun(one["h"], one["seed"], one["kind"], _tuples(one["points"]), tuple(one["worst"]))
        for one in _read()["noise"]
        if one["points"] is not None
    )


@cache
def early_runs() -> tuple[NoiseRun, ...]:
    """Some kinds of noise in the runs with h = 8 halfway through training, when they answer about as well as
    h = 1 does at the end (`early_accuracy`).
    """
    return tuple(
        NoiseRun(8, one["seed"], one["kind"], _tuples(one["points"]), tuple(one["worst"]))
        for one in _read()["early"]
    )


def early_accuracy(seed: int = FIRST_SEED) -> Mapping[str, float]:
    """Accuracy by part of these without noise. Raises: ValueError for a run that was not tried."""
    for one in _read()["early models"]:
        if one["seed"] == seed:
            return one["accuracy"]
    raise ValueError(f"no early model with seed={seed} was tried.")


def noise_lost(kind: str, h: int) -> tuple[tuple[float, ...], ...]:
    """For each training run the points lost at each share, the mean over parts.

    Raises: ValueError for a kind and h that were not tried.
    """
    found = tuple(one.lost for one in noise_runs() if (one.kind, one.h) == (kind, h))
    if not found:
        known = sorted({(one.kind, one.h) for one in noise_runs()})
        raise ValueError(f"no noise {kind!r} with h={h} was tried; there are {known}.")
    return found


def verdicts(few: int = 1, many: int = 8) -> tuple[Verdict, ...]:
    """Many heads against few, for every kind of noise that both can have, and every share."""
    kinds = [{one.kind: None for one in noise_runs() if one.h == h} for h in (few, many)]
    found = []
    for kind in kinds[0]:
        if kind in kinds[1]:
            columns = [zip(*noise_lost(kind, h), strict=True) for h in (few, many)]
            for share, one, other in zip(shares(), *columns, strict=True):
                found.append(Verdict(kind, share, one, other, _verdict(one, other)))
    return tuple(found)


def _verdict(few: tuple[float, ...], many: tuple[float, ...]) -> str:
    difference = statistics.fmean(few) - statistics.fmean(many)
    if max(many) < min(few) and difference >= LEAST_DIFFERENCE:
        return MORE
    if min(many) > max(few) and -difference >= LEAST_DIFFERENCE:
        return LESS
    return UNDECIDED


@cache
def ensembles(h: int = 8, noise: str = "embedding") -> tuple[Ensemble, ...]:
    """By share, the smallest first. Raises: ValueError for what was not tried."""
    found = [one for one in _read()["ensemble"] if (one["h"], one["noise"]) == (h, noise)]
    if not found:
        raise ValueError(f"no ensemble of h={h} with noise={noise!r} was tried.")
    return tuple(
        Ensemble(h, noise, one["share"], tuple(one["one"]), one["together"], tuple(one["read_again"]))
        for one in sorted(found, key=lambda one: one["share"])
    )


@cache
def votes(seed: int = FIRST_SEED) -> Votes:
    """Heads as voters, h = 8. Raises: ValueError for a run that was not recorded."""
    for one in _read()["votes"]:
        if one["seed"] == seed:
            alone = {tuple(head["head"]): head["accuracy"] for head in one["alone"]}
            return Votes(seed, one["whole"], alone, one["voting"], one["pairs_voting"])
    raise ValueError(f"no training run with seed={seed} was recorded.")


def _tuples(points: Mapping[str, list[float]]) -> dict[str, tuple[float, ...]]:
    return {part: tuple(row) for part, row in points.items()}


@cache
def _read() -> Mapping[str, list[Mapping]]:
    return json.loads(data_path(f"{FOLDER}/{FILE}").read_text(encoding="utf-8"))
