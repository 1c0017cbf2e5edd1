"""What was recorded about pruning the main model: gates at many prices, and heads removed by other rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from mha_course.data_files import data_path
from mha_course.heads.ablation import Head
from mha_course.models.course_models import FOLDER

GATES = "gates.json"


@dataclass(frozen=True)
class GateRun:
    """Gates learned on one training run of the main model.

    seed: of the training run. strength: the price of an open head. frozen: whether the model's weights stayed
    as they were. seconds: of processor time. kept: heads whose gate isn't 0; on_the_way: the same after every
    20 updates. gates: for each layer and head, without noise. accuracy: by part, of the pruned model on
    held-out sentences. heads: for each layer and head the role of a survivor afterwards (kind, name, score,
    baseline), None for a survivor without role and for a head that is gone.
    """

    seed: int
    strength: float
    frozen: bool
    seconds: float
    kept: int
    on_the_way: tuple[int, ...]
    gates: tuple[tuple[float, ...], ...]
    accuracy: Mapping[str, float]
    heads: tuple[tuple[Mapping[str, object] | None, ...], ...]

    @property
    def survivors(self) -> tuple[Head, ...]:
        """(layer, head) from 1 of the heads that are kept."""
        return tuple(
            (i, j) for i, row in enumerate(self.gates, 1) for j, gate in enumerate(row, 1) if gate > 0
        )


@dataclass(frozen=True)
class Removal:
    """Heads of one training run removed one after the other, the weights left as they are.

    by: "importance", "confidence", or "random 1" and so on. order: the first to go first. accuracy: by part,
    without the first 0, 1, 2 ... of them.
    """

    seed: int
    by: str
    order: tuple[Head, ...]
    accuracy: tuple[Mapping[str, float], ...]

    def with_kept(self, kept: int) -> Mapping[str, float]:
        """Accuracy with so many heads left. Raises: ValueError for more than there are, or less than 0."""
        if not 0 <= kept <= len(self.order):
            raise ValueError(f"kept={kept} must lie in 0..{len(self.order)}.")
        return self.accuracy[len(self.order) - kept]


@dataclass(frozen=True)
class Retrained:
    """Heads removed by a rule, `kept` of them left, then trained on as long as gates are learned."""

    seed: int
    by: str
    kept: int
    accuracy: Mapping[str, float]


@cache
def gate_runs(frozen: bool = False) -> tuple[GateRun, ...]:
    """All runs with learned gates, by price and seed. frozen: those in which only the gates learned.

    Raises: FileNotFoundError when data/ is missing.
    """
    runs = [
        GateRun(
            *(run["seed"], run["strength"], run["frozen"], run["seconds"], run["kept"]),
            tuple(run["on_the_way"]),
            tuple(map(tuple, run["gates"])),
            run["accuracy"],
            tuple(map(tuple, run["heads"])),
        )
        for run in _read()["gates"]
        if run["frozen"] == frozen
    ]
    return tuple(sorted(runs, key=lambda run: (run.strength, run.seed)))


@cache
def recorded_prices() -> tuple[float, ...]:
    """Every price of an open head at which gates were learned and recorded, from low to high."""
    return tuple(sorted({run.strength for run in gate_runs()}))


@cache
def removals() -> tuple[Removal, ...]:
    """All orders of removal, as they were recorded."""
    return tuple(
        Removal(run["seed"], run["by"], tuple(map(tuple, run["order"])), tuple(run["accuracy"]))
        for run in _read()["removed"]
    )


@cache
def retrained() -> tuple[Retrained, ...]:
    """All removals that were followed by training."""
    return tuple(Retrained(**run) for run in _read().get("retrained", ()))


@cache
def whole_accuracy(seed: int) -> Mapping[str, float]:
    """Accuracy by part of a training run with all its heads. Raises: ValueError for an unknown one."""
    known = {run["seed"]: run["accuracy"] for run in _read()["whole"]}
    if seed not in known:
        raise ValueError(f"no training run with seed={seed} was recorded; there are {sorted(known)}.")
    return known[seed]


def lost(run: GateRun) -> dict[str, float]:
    """Percentage points that a run lost in each part."""
    whole = whole_accuracy(run.seed)
    return {part: 100 * (whole[part] - share) for part, share in run.accuracy.items()}


def strongest_price(points: float = 2.0, frozen: bool = False) -> float | None:
    """The highest recorded price at which every run keeps every part of the gloss within so many points.

    A price counts when all lower ones do as well. None: not even the lowest does.
    """
    found = None
    by_price: dict[float, list[GateRun]] = {}
    for run in gate_runs(frozen):
        by_price.setdefault(run.strength, []).append(run)
    for strength, runs in by_price.items():
        if any(max(lost(run).values()) > points for run in runs):
            break
        found = strength
    return found


def _read() -> Mapping[str, list[dict]]:
    return json.loads(data_path(f"{FOLDER}/{GATES}").read_text(encoding="utf-8"))
