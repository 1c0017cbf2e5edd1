"""One line of the leaderboard with its seeds, and what counts as a difference between two of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from mha_course.training.leaderboard import Row, steps_to

THRESHOLD = 1.5  # held-out loss of a word; the "steps to" of the gloss are steps to this
BYTES = 4  # of a number in float32

# By measure: whether more is better, and words of a difference, with its size.
MEASURES = {
    "loss": (False, "better by {:.3f}", "worse by {:.3f}"),
    "right": (True, "better by {:.1f} points", "worse by {:.1f} points"),
    "steps": (False, "faster by {:,.0f} steps", "slower by {:,.0f} steps"),
    "seconds": (False, "shorter by {:.1f} s", "longer by {:.1f} s"),
}


@dataclass(frozen=True)
class RunRecord:
    """One training run. losses: held out, every `look` steps, of the digits at the end only.

    parameters: of the whole model. accuracy: by part of the gloss, empty for digits; right: share of digits,
    None for the gloss; seconds: of processor time."""

    seed: int
    losses: tuple[float, ...]
    parameters: int
    seconds: float
    accuracy: Mapping[str, float]
    right: float | None = None

    @property
    def loss(self) -> float:
        """Held-out loss at the end."""
        return self.losses[-1]


@dataclass(frozen=True)
class RowRecord:
    """One line of the leaderboard, with a run for every seed.

    row: variant and h; words: what the variant is called; source: author and year. flops: of the encoder, for
    one sentence of 16 words or one picture of 16 patches. cached: numbers kept of a token in one layer, if
    the layer wrote word by word; layers: of the model. look: steps between two held-out losses."""

    task: str
    row: Row
    words: str
    source: str
    runs: tuple[RunRecord, ...]
    flops: int
    cached: int
    layers: int
    look: int

    @property
    def h(self) -> int:
        return self.row.h

    @property
    def name(self) -> str:
        """Variant and heads, short: "plain, h = 8"."""
        return f"{self.row.variant}, h = {self.h}"

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(run.seed for run in self.runs)

    @property
    def losses(self) -> tuple[float, ...]:
        """Held-out loss at the end, one a seed."""
        return tuple(run.loss for run in self.runs)

    @property
    def loss(self) -> float:
        """Held-out loss at the end, mean over the seeds."""
        # A sum's last binary digits must not turn the rounding of what is shown: 1.0255 is 1.026 everywhere.
        return round(fmean(self.losses), 9)

    @property
    def spread(self) -> float | None:
        """Largest minus smallest loss over the seeds; None with fewer than two."""
        return _spread(self.losses)

    @property
    def right(self) -> float | None:
        """Share of digits told right, mean over the seeds; None for the gloss."""
        return None if self.task == "gloss" else fmean(run.right for run in self.runs)

    @property
    def right_spread(self) -> float | None:
        """Largest minus smallest share of digits told right; None for the gloss and for one seed."""
        return None if self.task == "gloss" else _spread(tuple(run.right for run in self.runs))

    @property
    def accuracy(self) -> dict[str, float]:
        """By part of the gloss, mean over the seeds; empty for digits."""
        return {part: fmean(run.accuracy[part] for run in self.runs) for part in self.runs[0].accuracy}

    @property
    def parameters(self) -> int:
        """Of the whole model."""
        return self.runs[0].parameters

    @property
    def cache_bytes(self) -> int:
        """Of one token over all layers, in float32."""
        return BYTES * self.layers * self.cached

    @property
    def seconds(self) -> float:
        """Of processor time for one run, mean over the seeds."""
        return fmean(run.seconds for run in self.runs)

    @property
    def curve(self) -> tuple[tuple[int, float], ...]:
        """(step, held-out loss), mean over the seeds, at every look; of digits the end only."""
        return tuple(
            (self.look * (i + 1), fmean(losses))
            for i, losses in enumerate(zip(*(run.losses for run in self.runs), strict=True))
        )

    def steps_to(self, threshold: float = THRESHOLD) -> tuple[int | None, ...]:
        """For every seed the first step with a held-out loss at or below the threshold; None for never."""
        return tuple(steps_to(run.losses, threshold, self.look) for run in self.runs)

    def values(self, measure: str) -> tuple[float | None, ...]:
        """One number a seed: "loss", "right" (in percent), "steps" to `THRESHOLD`, or "seconds".

        None: the threshold was never reached. Raises: ValueError for a measure that the task hasn't."""
        there = ("loss", "steps", "seconds") if self.task == "gloss" else ("right", "loss", "seconds")
        if measure not in there:
            raise ValueError(f"measure={measure!r}: {', '.join(map(repr, there))} for the {self.task}.")
        if measure == "steps":
            return self.steps_to()
        if measure == "right":
            return tuple(100 * run.right for run in self.runs)
        return self.losses if measure == "loss" else tuple(run.seconds for run in self.runs)


@dataclass(frozen=True)
class Difference:
    """One row against another. amount: of the means, above 0 where the first is better.

    It is nan where a threshold was never reached. spread: the larger one of both, None when a row has fewer
    than two seeds. measure: a key of `MEASURES`;
    shares told right differ in percentage points."""

    measure: str
    amount: float
    spread: float | None

    @property
    def told(self) -> bool:
        """Whether the difference is at least as large as the spread over seeds."""
        return self.spread is not None and abs(self.amount) >= self.spread and self.amount != 0

    @property
    def words(self) -> str:
        """Such as "better by 0.105", "worse by 1.2 points", "no difference", or why none can be told."""
        if math.isnan(self.amount):
            return "not reached with every seed"
        if self.spread is None:
            return "too few seeds"
        if not self.told:
            return "no difference"
        return MEASURES[self.measure][1 if self.amount > 0 else 2].format(abs(self.amount))


def difference(one: RowRecord, other: RowRecord, measure: str | None = None) -> Difference:
    """How the first row does against the second. A difference of means below the larger spread is none.

    measure: as of `RowRecord.values`; None: what the task is ranked by, the share right of digits, the loss
    of the gloss. Raises: ValueError for rows of two tasks and for a measure that the task hasn't."""
    if one.task != other.task:
        raise ValueError(f"rows of two tasks can't be compared: {one.task} and {other.task}.")
    chosen = ("loss" if one.task == "gloss" else "right") if measure is None else measure
    least = one.look if chosen == "steps" else 0.0  # steps are known as exactly as one looked
    return difference_of(one.values(chosen), other.values(chosen), chosen, least)


def difference_of(
    ones: Sequence[float | None], others: Sequence[float | None], measure: str, least: float = 0.0
) -> Difference:
    """The same of bare numbers, one a seed; None is a threshold that was never reached.

    least: the spread counts as no smaller than this."""
    if None in ones or None in others:
        return Difference(measure, math.nan, None)
    amount = fmean(ones) - fmean(others)
    spreads = _spread(ones), _spread(others)
    return Difference(
        measure,
        amount if MEASURES[measure][0] else -amount,
        None if None in spreads else max(*spreads, least),
    )


def _spread(values: Sequence[float]) -> float | None:
    return max(values) - min(values) if len(values) > 1 else None
