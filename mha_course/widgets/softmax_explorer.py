"""SoftmaxExplorer: what softmax does to one row of scores, under sliders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import traitlets

from mha_course.widgets.base import CourseWidget, Text
from mha_course.widgets.softmax_numbers import SoftmaxNumbers, softmax_numbers

__all__ = ["SoftmaxExplorer"]

MOST_SCORES = 12
# 0, then 1/sqrt(d_k) for d_k = 256, 64, 16 and 4, then factors that sharpen.
FACTORS = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)


class SoftmaxExplorer(CourseWidget):
    """Bars of softmax(factor · scores), a slider for each score and one for the factor.

    Read out: the weights, their sum, the largest, entropy / log n, and the gradient's size, the Frobenius
    norm of diag(a) - a aᵀ. labels name the scores ("score 1", ... without them).
    Raises: ValueError for no score, more than 12, numbers that are not finite, a negative factor, or labels
    that do not fit. Source: Vaswani et al. 2017, section 3.2.1.
    """

    js = ("svg_pieces.js", "softmax_math.js", "softmax_explorer.js")
    css = ("pieces.css", "softmax_explorer.css")
    root = "mha-soft"
    settings = ("scores", "factor")

    scores = traitlets.List(traitlets.Float()).tag(sync=True)
    factor = traitlets.Float(1.0).tag(sync=True)
    labels = traitlets.List(Text()).tag(sync=True)
    start = traitlets.List(traitlets.Float()).tag(sync=True)
    start_factor = traitlets.Float(1.0).tag(sync=True)
    factors = traitlets.List(traitlets.Float()).tag(sync=True)
    limit = traitlets.Float(8.0).tag(sync=True)

    def __init__(
        self,
        scores: Sequence[float] = (2.0, 1.0, 0.1),
        labels: Sequence[str] | None = None,
        factor: float = 1.0,
    ) -> None:
        row = [float(score) for score in scores]
        softmax_numbers(row, factor)
        if len(row) > MOST_SCORES:
            raise ValueError(f"{len(row)} scores: at most {MOST_SCORES} sliders fit in one picture")
        if factor < 0:
            raise ValueError(f"factor={factor}: a factor is not negative")
        names = (
            [str(label) for label in labels]
            if labels is not None
            else [f"score {i + 1}" for i in range(len(row))]
        )
        if len(names) != len(row):
            raise ValueError(f"{len(names)} labels for {len(row)} scores: one label a score")
        limit = float(max(8, math.ceil(max(abs(score) for score in row))))
        super().__init__(
            scores=row,
            factor=float(factor),
            labels=names,
            start=row,
            start_factor=float(factor),
            factors=sorted({*FACTORS, float(factor)}),
            limit=limit,
        )

    @traitlets.validate("scores")
    def _as_many_as_labels(self, proposal: Mapping) -> list[float]:
        row = proposal["value"]
        softmax_numbers(row)
        if self.labels and len(row) != len(self.labels):
            raise ValueError(f"{len(row)} scores for {len(self.labels)} labels: one score a label")
        return row

    @traitlets.validate("factor")
    def _not_negative(self, proposal: Mapping) -> float:
        softmax_numbers([0.0], proposal["value"])
        if proposal["value"] < 0:
            raise ValueError(f"factor={proposal['value']}: a factor is not negative")
        return proposal["value"]

    @traitlets.validate("labels")
    def _as_many_as_scores(self, proposal: Mapping) -> list[str]:
        if self.scores and len(proposal["value"]) != len(self.scores):
            raise ValueError(
                f"{len(proposal['value'])} labels for {len(self.scores)} scores: one label a score"
            )
        return proposal["value"]

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """The row's numbers from torch; the view computes its own, at once, and they agree."""
        found = self.readout()
        weights = ", ".join(
            f"{label} {weight:.2f}" for label, weight in zip(self.labels, found.weights, strict=True)
        )
        self.alt = (
            f"Softmax of {len(self.scores)} scores times {self.factor:.3g}: {weights}; how even (1 = all "
            f"alike) {found.spread:.2f}, how much a change of the scores would do {found.gradient:.3f}."
        )
        return {"weights": list(found.weights), "spread": found.spread, "gradient": found.gradient}, b""

    def still_png(self) -> bytes | None:
        """The weights as bars."""
        from mha_course.plots import bars

        note = f"Scores {', '.join(f'{score:.1f}' for score in self.scores)} times {self.factor:.3g}."
        weights = list(self.readout().weights)
        return bars(self.labels, weights, "Softmax of one row", "weight", note, high=1.0, decimals=2).png()

    def readout(self) -> SoftmaxNumbers:
        """Return the numbers of the row as it stands, computed with torch."""
        return softmax_numbers(self.scores, self.factor)
