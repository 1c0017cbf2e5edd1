"""For each wanted pattern and each width d_k: the head that comes nearest to it.

    >>> from mha_course.models.low_rank_fits import nearest_head
    >>> nearest_head("soft identity", 4).divergence

Below the width that a pattern needs heads were searched for with `pattern_fit.fit_scores`, and their queries
and keys kept: `python -m mha_course.training.record_pattern_fits` makes them anew. From that width on nothing
has to be searched: the logarithm of the weights, rows shifted, is a product of that width.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from mha_course.data_files import data_path
from mha_course.models.wanted_patterns import centred, free_scores, wanted_pattern, width_needed
from mha_course.sizes import check_sizes

FILE = "models/pattern_fits.json"
N = 8  # queries and keys


@dataclass(frozen=True, eq=False)
class NearestHead:
    """A head of width d_k beside what was wanted. wanted, weights (n, n): patterns; scores (n, n): rank d_k
    at most, rows of mean 0; divergence: Kullback-Leibler, of the wanted rows from the head's, mean in nats;
    searched: whether it was found by a search, which may miss a nearer one.
    """

    wanted: Tensor
    scores: Tensor
    divergence: float
    searched: bool

    @property
    def weights(self) -> Tensor:
        """The head's pattern: softmax of its scores."""
        return self.scores.softmax(-1)


@cache
def nearest_head(pattern: str, d_k: int) -> NearestHead:
    """The head of width d_k that comes nearest to a pattern of `wanted_patterns`, 8 queries by 8 keys.

    Raises: ValueError for a pattern that there isn't and for a width below 1.
    """
    (d_k,) = check_sizes(d_k=d_k)
    wanted = wanted_pattern(pattern).make(N)
    if d_k >= width_needed(wanted):
        scores, searched = free_scores(wanted), False
    else:
        kept = _record()["fits"][pattern][d_k - 1]
        q, k = (torch.tensor(kept[part], dtype=torch.float64) for part in ("q", "k"))
        scores, searched = centred(q @ k.T), True
    return NearestHead(wanted, scores, divergence(wanted, scores), searched)


def divergence(wanted: Tensor, scores: Tensor) -> float:
    """Kullback-Leibler divergence of wanted rows from the softmax of scores, both (n_q, n_k), in nats."""
    apart = (wanted * (wanted.log() - scores.log_softmax(-1))).sum(-1).mean()
    # Rounding can leave -1e-17, which would read as better than equal.
    return max(float(apart), 0.0)


@cache
def _record() -> dict:
    return json.loads(data_path(FILE).read_text(encoding="utf-8"))
