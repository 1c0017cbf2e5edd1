"""What the heads of all trained settings look like, for every seed, beside untrained ones of the same size.

    >>> from mha_course.models.head_patterns import head_patterns, over_seeds
    >>> over_seeds(128, 1, "self_weight"), over_seeds(128, 8, "self_weight")
    >>> over_seeds(128, 8, "self_weight", trained=False)
    >>> [head.role for head in head_patterns(128, 8)[0].heads]

Measured on 1,000 sentences that no model was trained on, by `python -m mha_course.training patterns`.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from mha_course.data_files import data_path
from mha_course.models.course_models import FOLDER

FILE = "patterns.json"
# By name: what a number of `HeadPattern.measures` says, in words for a table or an axis.
MEASURES = {
    "self_weight": "weight on the word itself",
    "self_share": "words whose largest weight lies on themselves",
    "previous_share": "words whose largest weight lies on the word before",
    "next_share": "words whose largest weight lies on the word after",
    "previous_weight": "weight on the word before",
    "next_weight": "weight on the word after",
    "below_hundredth": "weights below 0.01",
    "below_tenth_of_even": "weights below a tenth of 1/n",
    "spread": "entropy over log n",
    "confidence": "largest weight of a row",
    "apart": "divergence from the other heads of the layer (Jensen-Shannon, nats)",
}
STUDENT_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}  # by number of runs


@dataclass(frozen=True)
class HeadPattern:
    """One head. layer, head: from 1. measures: name -> number, the names of `MEASURES`; None where there is
    nothing to measure (`apart` of a single head). role: the kind of the role that the head passes on both
    halves of the sentences ("positional", "syntactic", "rare"), with its name, or None for both.

    previous_share and next_share leave a word's own weight out first, as the scores of roles do; self_share
    keeps it. Where a head has several roles, position comes first, then the rarest word.
    """

    layer: int
    head: int
    measures: Mapping[str, float | None]
    role: str | None
    role_name: str | None


@dataclass(frozen=True)
class ModelPatterns:
    """All heads of one model, layer after layer; trained False: never trained, drawn from another seed."""

    d_model: int
    h: int
    seed: int
    trained: bool
    heads: tuple[HeadPattern, ...]

    def mean(self, measure: str, layer: int | None = None) -> float | None:
        """The mean over heads, of one layer (from 1) or of all; None where no head has the measure."""
        values = [head.measures[measure] for head in self.heads if layer in (None, head.layer)]
        known = [value for value in values if value is not None]
        return statistics.fmean(known) if known else None

    def with_role(self, kind: str, layer: int | None = None) -> int:
        """How many heads pass a role of this kind, in one layer or in all."""
        return sum(head.role == kind and layer in (None, head.layer) for head in self.heads)


@dataclass(frozen=True)
class OverSeeds:
    """One number of each run. low, high: the 95 % interval of the mean over runs by Student's t; with three
    runs it reaches 2.5 standard deviations to either side, and it may leave the range of the measure."""

    values: tuple[float, ...]
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class PatternRecord:
    """Everything in the file. chance: the mean of 1/n over the words, what `self_weight` and `self_share`
    would be for a head that looks anywhere. sentences, words: how many were measured."""

    models: tuple[ModelPatterns, ...]
    chance: float
    sentences: int
    words: int


@cache
def pattern_record() -> PatternRecord:
    """The recorded patterns. Raises: FileNotFoundError when data/ is missing."""
    read = json.loads(data_path(f"{FOLDER}/{FILE}").read_text(encoding="utf-8"))
    models = tuple(_model(run) for run in read["runs"])
    return PatternRecord(models, read["chance"], read["sentences"], read["words"])


def head_patterns(
    d_model: int | None = None, h: int | None = None, trained: bool = True
) -> tuple[ModelPatterns, ...]:
    """One entry a run, for one setting or, where None is given, for all; ordered by d_model, h and seed.

    trained: False for the untrained controls of the same sizes.
    Raises: ValueError for a setting that was not recorded.
    """
    found = tuple(
        model
        for model in pattern_record().models
        if model.trained == trained and d_model in (None, model.d_model) and h in (None, model.h)
    )
    if not found:
        raise ValueError(f"no patterns were recorded for d_model={d_model}, h={h}.")
    return found


def over_seeds(
    d_model: int, h: int, measure: str, layer: int | None = None, trained: bool = True
) -> OverSeeds:
    """A measure, averaged over heads, for every run of a setting; see `interval`.

    measure: one of `MEASURES`. layer: from 1, None for both.
    Raises: ValueError for an unknown measure, a setting that was not recorded, and where nothing is measured.
    """
    if measure not in MEASURES:
        raise ValueError(f"measure={measure!r} must be one of {', '.join(MEASURES)}.")
    values = [model.mean(measure, layer) for model in head_patterns(d_model, h, trained)]
    if None in values:
        raise ValueError(f"{measure} of d_model={d_model}, h={h} can't be measured: one head in a layer.")
    return interval(values)


def interval(values: list[float] | tuple[float, ...]) -> OverSeeds:
    """Mean of runs that differ in their seed, with its 95 % interval. Source: Student 1908.

    Raises: ValueError unless there are two to five runs.
    """
    if len(values) not in STUDENT_95:
        raise ValueError(f"an interval needs two to five runs; got {len(values)}.")
    mean = statistics.fmean(values)
    reach = STUDENT_95[len(values)] * statistics.stdev(values) / len(values) ** 0.5
    return OverSeeds(tuple(values), mean, mean - reach, mean + reach)


def _model(run: Mapping[str, object]) -> ModelPatterns:
    heads = []
    for layer, row in enumerate(run["roles"]):
        for head, role in enumerate(row):
            measures = {name: run["measures"][name][layer][head] for name in MEASURES}
            kind, name = role or (None, None)
            heads.append(HeadPattern(layer + 1, head + 1, measures, kind, name))
    return ModelPatterns(run["d_model"], run["h"], run["seed"], run["trained"], tuple(heads))
