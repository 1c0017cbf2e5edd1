"""LowRank: which patterns a head of width d_k can show, and what the softmax changes about its rank."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import traitlets

from mha_course.models.low_rank_fits import N, NearestHead, nearest_head
from mha_course.models.wanted_patterns import (
    PATTERNS,
    centred,
    numerical_rank,
    singular_values,
    wanted_pattern,
    width_needed,
)
from mha_course.plots import numerals
from mha_course.sizes import check_sizes
from mha_course.widgets.base import CourseWidget, Text

__all__ = ["LowRank"]

# Relative to the largest singular value; what is below is rounding of 64-bit numbers.
ROUNDING = 1e-12
NEAR = 0.01  # nats: a pattern that is missed by less looks like the wanted one
REMARKS = {
    "soft identity": "To give all other tokens exactly equal weights takes n − 1 features; to choose one "
    "token takes far fewer, as the sharp identity shows.",
    "sharp identity": "A hard choice is cheap: long keys on a circle make it with 2 features. What is missed "
    "is the exact size of the tiny weights.",
    "neighbours": "Two equal weights a row, and equal ones elsewhere: n − 1 features here, too.",
    "bell": "(i − j)² = i² − 2 i j + j²: i² is the same along a row, so 2 features are enough, for any n.",
    "two words": "Every row is the same: 1 feature is enough, and the query has no say.",
    "random": "Nothing in the rows agrees, and every feature helps a little.",
}


class LowRank(CourseWidget):
    """The head of width d_k that is nearest to a wanted pattern of 8 tokens, its scores and its rank.

    pattern: a name of `models.wanted_patterns.PATTERNS`. d_k: 1 to 8. Seen: the wanted map, the nearest one
    and their difference; the divergence for every d_k; singular values of the scores, of which d_k at most
    are not 0, and of the map, which the softmax gives another rank. Rows of the scores are shifted to mean 0,
    which changes no weight. `head()` gives the head on show.
    Raises: ValueError for a pattern that there isn't and for a d_k outside 1 to 8.
    Source: Bhojanapalli et al. 2020.
    """

    js = ("svg_pieces.js", "cell_tips.js", "shaded_matrix.js", "rank_charts.js", "low_rank.js")
    css = ("pieces.css", "shaded_matrix.css", "low_rank.css")
    root = "mha-rank"
    settings = ("pattern", "d_k")

    pattern = Text("soft identity").tag(sync=True)
    d_k = traitlets.Int(2).tag(sync=True)
    patterns = traitlets.List(read_only=True).tag(sync=True)

    def __init__(self, pattern: str = "soft identity", d_k: int = 2) -> None:
        wanted_pattern(pattern)
        _check_d_k(d_k)
        self.set_trait("patterns", [[one.name, one.words] for one in PATTERNS])
        super().__init__(pattern=pattern, d_k=int(d_k))

    @traitlets.validate("pattern")
    def _is_there(self, proposal: Mapping) -> str:
        return wanted_pattern(proposal["value"]).name

    @traitlets.validate("d_k")
    def _fits(self, proposal: Mapping) -> int:
        _check_d_k(proposal["value"])
        return int(proposal["value"])

    def head(self) -> NearestHead:
        """The head on show: its scores and weights, the wanted ones, and the divergence."""
        return nearest_head(self.pattern, self.d_k)

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Maps, divergences over d_k, and singular values before and after the softmax."""
        head, widths = self.head(), range(1, N + 1)
        needed = width_needed(head.wanted)
        weights, scores = head.weights, centred(head.scores)
        enough = next(d for d in widths if nearest_head(self.pattern, d).divergence < NEAR)
        ranks = {
            "scores": numerical_rank(scores, ROUNDING),
            "map": numerical_rank(weights, ROUNDING),
        }
        words = self._in_words(head, needed, enough, ranks)
        self.alt = (
            f"Wanted: {wanted_pattern(self.pattern).words} ({self.pattern}), {N} tokens. Nearest head of "
            f"width d_k = {self.d_k}: divergence {numerals.number(head.divergence)} nats, rank of the scores "
            f"{ranks['scores']}, rank of the map {ranks['map']}. {words}"
        )
        return {
            "pattern": self.pattern,
            "d_k": self.d_k,
            "n": N,
            "needed": needed,
            "enough": enough,
            "wanted": _rounded(head.wanted),
            "nearest": _rounded(weights),
            "divergence": [nearest_head(self.pattern, width).divergence for width in widths],
            "scores": singular_values(scores).tolist(),
            "map": singular_values(weights).tolist(),
            "rounding": ROUNDING,
            "ranks": ranks,
            "now": numerals.number(head.divergence) if head.divergence > ROUNDING else "0",
            "words": words,
            "remark": REMARKS[self.pattern],
        }, b""

    def still_png(self) -> bytes | None:
        """Wanted and nearest map beside each other."""
        from mha_course.plots import matrices

        head = self.head()
        tables = {"wanted": head.wanted, f"nearest, d_k = {self.d_k}": head.weights}
        note = f"Rows are queries, columns keys. Divergence {numerals.number(head.divergence)} nats."
        title = f"What a head of width {self.d_k} can look like: {self.pattern}"
        places = [str(i + 1) for i in range(N)]
        return matrices(
            tables,
            title=title,
            note=note,
            row_labels=places,
            column_labels=places,
            decimals=2,
            vmax=1.0,
        ).png()

    def _in_words(self, head: NearestHead, needed: int, enough: int, ranks: Mapping[str, int]) -> str:
        softmax = (
            f"The softmax makes rank {ranks['map']} of rank {ranks['scores']}."
            if ranks["map"] != ranks["scores"]
            else f"Scores and map both have rank {ranks['map']}."
        )
        nearly = f", to {NEAR:g} nats from {enough} on" if enough < needed else ""
        if not head.searched:
            fits = "exactly enough" if self.d_k == needed else "more than enough"
            return (
                f"d_k = {self.d_k} is {fits}: the head's weights are the wanted ones. This pattern needs "
                f"d_k = {needed} to be met exactly{nearly}. {softmax}"
            )
        return (
            f"The nearest head of width {self.d_k} that was found misses the pattern by "
            f"{numerals.number(head.divergence)} nats; exactly it is met from d_k = {needed} on{nearly}. "
            f"{softmax}"
        )


def _check_d_k(d_k: object) -> None:
    (size,) = check_sizes(d_k=d_k)
    if size > N:
        raise ValueError(f"d_k={size}: a pattern of {N} tokens never needs more than {N}.")


def _rounded(values: torch.Tensor) -> list:
    return [[float(f"{value:.5g}") for value in row] for row in values.tolist()]
