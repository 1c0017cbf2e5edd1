"""One question asked of every head, with all that the answers have to be seen beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from mha_course.heads.role_names import role_in_full, role_in_short
from mha_course.heads.roles import FEWEST_ASKED, POSITIONAL_SHARE, SYNTACTIC_GAIN

KINDS = ("positional", "syntactic", "rare", "special", "broad")
RARE_SHARE, SPECIAL_SHARE, BROAD_SHARE = 0.3, 0.5, 0.9  # where a slider starts, no law


@dataclass(frozen=True, eq=False)
class Measured:
    """One question, asked of every head.

    name: as in `criteria.py` ("previous", "obj: dependent → head", "rarest"), or "special tokens", "broad".
    kind: one of KINDS. All tensors are (layers, heads), from 0 to 1. values: on the sentences that judge;
    picked: on those that pick; total: on all. low, high: the 95 % interval of `values` (bootstrap over
    sentences). control: an untrained model on the sentences that judge, None without one. baseline: of the
    best simple rule on the sentences that judge, rule: its name; nan where the control is the baseline.
    total_baseline: of the best simple rule on all sentences. nearest: on the sentences that judge, what the
    nearest word of the right part of speech hits, nan where nobody asked. asked: questions on the sentences
    that judge; total_asked: on all.
    """

    name: str
    kind: str
    values: Tensor
    picked: Tensor
    total: Tensor
    low: Tensor
    high: Tensor
    control: Tensor | None
    baseline: float
    rule: str
    total_baseline: float
    nearest: float
    asked: int
    total_asked: int

    @property
    def short(self) -> str:
        """For a caption: "obj → verb"."""
        return role_in_short(self.name) if self.kind in ("positional", "syntactic", "rare") else self.name

    @property
    def full(self) -> str:
        """In words that need no glossary: "object → its verb"."""
        return role_in_full(self.name) if self.kind in ("positional", "syntactic", "rare") else self.name

    @property
    def gain(self) -> Tensor:
        """(layers, heads): values above the baseline."""
        return self.values - self.baseline

    @property
    def relation(self) -> str:
        """The dependency relation, "" for other kinds."""
        return self.name.partition(": ")[0] if self.kind == "syntactic" else ""


@dataclass(frozen=True)
class HeadScore:
    """One head and one question. layer, head: count from 1. control: that of the best untrained head.

    value, low, high, baseline, rule, nearest, asked: as in `Measured`, on the sentences that judge; total,
    total_baseline, total_asked: on all. verdict: "yes", "no" or "too few"; for a relation "yes" asks for ten
    points above the best offset both on all sentences and on those that judge.
    """

    layer: int
    head: int
    name: str
    short: str
    full: str
    value: float
    low: float
    high: float
    baseline: float
    rule: str
    nearest: float
    control: float
    asked: int
    total: float
    total_baseline: float
    total_asked: int
    verdict: str

    @property
    def gain(self) -> float:
        """Value above the baseline."""
        return self.value - self.baseline

    @property
    def total_gain(self) -> float:
        """The same on all sentences."""
        return self.total - self.total_baseline


def score_of(measure: Measured, layer: int, head: int) -> HeadScore:
    """One head's score for one question; layer and head count from 1."""
    at = (layer - 1, head - 1)
    value = float(measure.values[at])
    limits = {
        "positional": POSITIONAL_SHARE,
        "syntactic": measure.baseline + SYNTACTIC_GAIN,
        "rare": RARE_SHARE,
        "special": SPECIAL_SHARE,
        "broad": BROAD_SHARE,
    }
    total = float(measure.total[at])
    passes = value >= limits[measure.kind]
    if measure.kind == "syntactic":
        passes = passes and total >= measure.total_baseline + SYNTACTIC_GAIN
    return HeadScore(
        layer,
        head,
        measure.name,
        measure.short,
        measure.full,
        value,
        float(measure.low[at]),
        float(measure.high[at]),
        measure.baseline,
        measure.rule,
        measure.nearest,
        float("nan") if measure.control is None else float(measure.control.nan_to_num(-1.0).max()),
        measure.asked,
        total,
        measure.total_baseline,
        measure.total_asked,
        "too few" if measure.asked < FEWEST_ASKED else "yes" if passes else "no",
    )


def written(measure: Measured) -> dict[str, object]:
    """Lists and numbers for a JSON file, rounded to five places."""
    form = {}
    for field in fields(measure):
        value = getattr(measure, field.name)
        if isinstance(value, Tensor):
            value = [[_rounded(number) for number in row] for row in value.tolist()]
        form[field.name] = _rounded(value) if isinstance(value, float) else value
    return form


def _rounded(number: float) -> float | None:
    """Five places, so that a threshold met exactly stays met; None for nan, which JSON doesn't know."""
    return None if number != number else round(number, 5)


def read(form: Mapping[str, object]) -> Measured:
    """What `written` wrote. Raises: KeyError when something is missing."""
    values = {}
    for field in fields(Measured):
        value = form[field.name]
        if isinstance(value, list):
            value = torch.tensor([[float("nan") if x is None else x for x in row] for row in value])
        elif value is None and field.name != "control":
            value = float("nan")
        values[field.name] = value
    return Measured(**values)
