"""What the gloss loses without single heads, pairs and groups of the main model: points and loss, by part.

>>> from mha_course.models import load_course_model
>>> from mha_course.training.removed_heads import removed_singly
>>> removed_singly(load_course_model())[6].points["stem"]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from mha_course.heads.ablation import Head, all_heads, random_groups, without_heads
from mha_course.heads.gating import head_means, heads_at_their_mean
from mha_course.models.gloss_model import GlossModel
from mha_course.models.one_thread import one_thread
from mha_course.training.gloss_batches import GlossData
from mha_course.training.gloss_marks import (
    ALL,
    GlossMarks,
    equal_lengths,
    gloss_marks,
    lost_points,
)
from mha_course.training.gloss_without_heads import held_out_glosses


@dataclass(frozen=True)
class RemovalCost:
    """What it costs to remove some heads.

    heads: (layer, head) from 1. points: by part, percentage points of accuracy lost; below 0 something was
    gained. nats: by how much the loss rises, summed over the four parts, a word.
    """

    heads: tuple[Head, ...]
    points: Mapping[str, float]
    nats: float

    @property
    def worst(self) -> tuple[str, float]:
        """The part that loses most, and how many points."""
        part = max(self.points, key=self.points.get)
        return part, self.points[part]


@dataclass(eq=False)
class Remover:
    """Removes heads of a model and holds what is left against the whole.

    model: not changed. data: None takes 300 held-out sentences. In the whole, all heads work.
    """

    model: GlossModel
    data: GlossData | None = None

    def __post_init__(self) -> None:
        self.data = held_out_glosses() if self.data is None else self.data
        self.whole: GlossMarks = gloss_marks(self.model, self.data)
        self._means: list[Tensor] | None = None

    def marks_without(self, heads: Iterable[Head], at_mean: bool = False) -> GlossMarks:
        """The answers without these heads. at_mean: they say their mean instead of nothing.

        Raises: ValueError for a head that the model doesn't have.
        """
        heads = list(heads)
        removed = heads_at_their_mean(self.model, heads, self.means) if at_mean else None
        with removed or without_heads(self.model, heads):
            return gloss_marks(self.model, self.data)

    def cost(self, heads: Iterable[Head], at_mean: bool = False, judge: slice = ALL) -> RemovalCost:
        """What these heads cost together. judge: which of the sentences count."""
        heads = tuple(heads)
        return self.cost_of(heads, self.marks_without(heads, at_mean), judge)

    def cost_of(self, heads: tuple[Head, ...], left: GlossMarks, judge: slice = ALL) -> RemovalCost:
        """The same from answers that are there already."""
        risen = left.total_loss(judge) - self.whole.total_loss(judge)
        return RemovalCost(heads, lost_points(self.whole, left, judge), risen)

    @property
    def means(self) -> list[Tensor]:
        """For each layer (h, d_v): the mean output of every head over all words of the sentences."""
        if self._means is None:
            ids = [self.data.batch(chosen).ids for chosen in equal_lengths(self.data)]
            self._means = head_means(self.model, [(one, torch.ones_like(one).bool()) for one in ids])
        return self._means


def removed_singly(
    model: GlossModel, data: GlossData | None = None, at_mean: bool = False
) -> list[RemovalCost]:
    """Each head of a model removed alone, layer after layer.

    data: None takes 300 held-out sentences, for 16 heads about five seconds. at_mean: a head says its mean
    instead of nothing.
    """
    with one_thread():
        remover = Remover(model, data)
        return [remover.cost([head], at_mean) for head in all_heads(model)]


def removed_at_random(
    remover: Remover, heads: Collection[Head], draws: int = 10, seed: int = 0
) -> list[RemovalCost]:
    """What random groups cost, of as many heads as these but none of them."""
    return [
        remover.cost(group) for group in random_groups(remover.model, len(heads), draws, seed, but_not=heads)
    ]


def removed_in_pairs(remover: Remover) -> Iterator[RemovalCost]:
    """Every two heads of a model removed together."""
    for pair in combinations(all_heads(remover.model), 2):
        yield remover.cost(pair)


def mean_share(remover: Remover) -> list[list[float]]:
    """For each layer and head: which share of its output's size (mean square) lies in its mean.

    0: outputs that cancel each other out on average, so that the mean is as good as nothing. 1: a head that
    says the same to every word.
    """
    sizes = head_squares(remover.model, remover.data)
    pairs = zip(remover.means, sizes, strict=True)
    return [(means.square().sum(-1) / size).tolist() for means, size in pairs]


@torch.no_grad()
def head_squares(model: GlossModel, data: GlossData) -> list[Tensor]:
    """For each layer (h,): the mean over all words of a head's squared length."""
    total: list[Tensor | float] = [0.0] * model.sizes.n_layers
    for chosen in equal_lengths(data):
        kept: list = []
        model(data.batch(chosen).ids, kept)
        total = [sum_ + trace.heads.square().sum((0, 2, 3)) for sum_, trace in zip(total, kept, strict=True)]
    return [one / len(data.ids) for one in total]
