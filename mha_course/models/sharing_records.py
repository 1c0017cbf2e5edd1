"""What was measured for lesson 14: spectra of heads, conversions to collaborative heads, sparse maps.

    >>> from mha_course.models.sharing_records import conversions, sparse_heads, spectra
    >>> [(row.width, row.loss) for row in conversions("course", "shared")]
    >>> [layer.summed for layer in spectra("all-MiniLM-L6-v2")]
    >>> sparse_heads("course").correlation

Measured by `python -m mha_course.training.record_sharing`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch
from torch import Tensor

from mha_course.data_files import data_path
from mha_course.heads.rank_correlation import spearman
from mha_course.models.course_models import FOLDER

FILE = "sharing.json"
MODELS = ("course", "untrained course", "all-MiniLM-L6-v2", "untrained all-MiniLM-L6-v2")
WIDTHS = {"course": (128, 96, 64, 48, 32, 24, 16, 8, 4), "narrow": (48, 40, 32, 24, 16, 12, 8, 4)}
Way = Literal["shared", "cut"]


@dataclass(frozen=True)
class LayerSpectra:
    """How many dimensions hold 90 % of the squared length, for one layer.

    heads: of each head's W_Q^(i) W_K^(i)T, at most d_k; summed: of their sum, at most d_model; queries, keys:
    of W_Q and W_K with all heads beside one another. The names with _turned: the same heads, each in a random
    space of its own, mean of three.
    """

    heads: tuple[int, ...]
    d_k: int
    d_model: int
    summed: int
    summed_turned: float
    queries: int
    queries_turned: float
    keys: int
    keys_turned: float


@dataclass(frozen=True)
class Conversion:
    """One trained model with other W_Q and W_K in both layers, not trained afterwards.

    way: "shared" for collaborative heads, which all read `width` features; "cut" for width / h features of
    each head's own. loss, accuracy by part: on held-out sentences. weights_error, scores_error: by layer,
    length of what the products W_Q^(i) W_K^(i)T and the scores (without row means) miss, over their own
    length. turned_error: weights_error of the same heads turned apart, None for "cut".
    """

    way: str
    width: int
    loss: float
    accuracy: Mapping[str, float]
    weights_error: tuple[float, ...]
    scores_error: tuple[float, ...]
    turned_error: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Answers:
    """Loss and accuracy by part of a model on held-out sentences."""

    loss: float
    accuracy: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class SparseHeads:
    """near_zero, rank (layers, heads): the share of weights below 0.01, and effective rank over n, means over
    `sentences` of 8 words and more. correlation: Spearman's, of the two over all heads."""

    near_zero: Tensor
    rank: Tensor
    sentences: int

    @property
    def correlation(self) -> float:
        """From -1 to 1, nan where no weight is near zero; sparse maps of low rank would make it negative."""
        return float(spearman(self.near_zero.flatten(), self.rank.flatten()))


def spectra(model: str = "course") -> tuple[LayerSpectra, ...]:
    """The spectra of a model's layers, one of `MODELS`. Raises: ValueError for another name."""
    rows = _of(_record()["spectra"], model)
    return tuple(LayerSpectra(**(row | {"heads": tuple(row["heads"])})) for row in rows)


def sparse_heads(model: str = "course") -> SparseHeads:
    """Sparse and low rank, head by head, for one of `MODELS`. Raises: ValueError for another name."""
    read = _of(_record()["sparse"], model)
    return SparseHeads(torch.tensor(read["near_zero"]), torch.tensor(read["rank"]), read["sentences"])


def conversions(model: str = "course", way: Way | None = None) -> tuple[Conversion, ...]:
    """The conversions of a trained model, widest first.

    model: "course" (d_model 128, 8 heads) or "narrow", the leaderboard's plain row (d_model 48, 8 heads).
    way: one of them only. Raises: ValueError for another name."""
    rows = _of(_record()["conversions"], model)["rows"]
    lists = ("weights_error", "scores_error", "turned_error")
    found = (
        Conversion(**(row | {name: tuple(row[name]) for name in lists if row.get(name) is not None}))
        for row in rows
    )
    return tuple(row for row in found if way in (None, row.way))


def untouched(model: str = "course") -> Answers:
    """The model of `conversions` as it was trained. Raises: ValueError for another name."""
    return Answers(**_of(_record()["conversions"], model)["before"])


def without_scores(model: str = "course") -> Answers:
    """The model of `conversions` with all scores 0: every word gets the mean of all values.

    Raises: ValueError for another name."""
    return Answers(**_of(_record()["conversions"], model)["uniform"])


def _of(part: Mapping[str, object], model: str) -> object:
    if model not in part:
        raise ValueError(f"nothing was recorded of {model!r}; there are {', '.join(part)}.")
    return part[model]


@cache
def _record() -> Mapping[str, object]:
    return json.loads(data_path(f"{FOLDER}/{FILE}").read_text(encoding="utf-8"))
