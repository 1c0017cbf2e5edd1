"""What was recorded about training: how the main model's heads formed, and what other tasks gave."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from mha_course.data_files import data_path
from mha_course.models.course_models import FIRST_SEED, FOLDER, MAIN, card_of

FORMING, CONTROLS = "forming.json", "controls.json"


@dataclass(frozen=True)
class Checkpoint:
    """The main model after `step` updates.

    name: for `load_course_model(step=name)`, None for the finished model. accuracy: by part, held out. best:
    the best head of each role (name, layer, head, score, baseline, rule, passed). heads: for each layer and
    head the role that it passes (kind, name, score, baseline), or None.
    """

    step: int
    name: int | None
    accuracy: Mapping[str, float]
    best: Mapping[str, Mapping[str, object]]
    heads: tuple[tuple[Mapping[str, object] | None, ...], ...]


@cache
def forming(seed: int = FIRST_SEED) -> tuple[Checkpoint, ...]:
    """The main model's checkpoints in order, the finished model last.

    seed: of the training run; the weights at a checkpoint are kept of the first only.
    Raises: ValueError for a run that was not recorded; FileNotFoundError when data/ is missing.
    """
    recorded = _read(FORMING)
    if seed not in (seeds := sorted({_seed_of(one) for one in recorded})):
        raise ValueError(f"no training run with seed={seed} was recorded; there are {seeds}.")
    last = card_of(MAIN.d_model, MAIN.h).steps
    return tuple(
        Checkpoint(
            last if one["step"] is None else one["step"],
            one["step"],
            one["accuracy"],
            one["best"],
            tuple(tuple(row) for row in one["heads"]),
        )
        for one in recorded
        if _seed_of(one) == seed
    )


@cache
def controls() -> Mapping[str, tuple[Mapping[str, object], ...]]:
    """What the same model learns from another task: name -> one run a seed.

    A run has seed, seconds, accuracy by part, and roles: the best head of each, as in `Checkpoint`.
    """
    return {name: tuple(runs) for name, runs in _read(CONTROLS).items()}


def _read(name: str) -> object:
    return json.loads(data_path(f"{FOLDER}/{name}").read_text(encoding="utf-8"))


def _seed_of(recorded: Mapping[str, object]) -> int:
    return recorded.get("seed", FIRST_SEED)
