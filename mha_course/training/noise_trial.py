"""Are many heads an ensemble that noise can't harm? What was fixed before anything was measured:

- Models: h = 1 against h = 8 at d_model 128, three training runs each, everything else equal. Noise: normal,
  of `SHARES` times the size of what it is added to.
- Outcome: percentage points of accuracy lost, the mean over the four parts of the gloss, against the same
  model without noise.
- Verdict for one kind of noise at one size: "more robust" when each of the three runs with h = 8 loses less
  than each of those with h = 1, and a point less on average; "less robust" the other way round; else
  "undecided". By chance alone three and three lie apart in a given direction once in twenty times.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from mha_course.heads.ablation import Head, all_heads, attention_layers
from mha_course.heads.gating import noisy_heads
from mha_course.heads.noise import head_features, noise_in_concat, noise_into, noise_out_of
from mha_course.models.gloss_model import GlossModel
from mha_course.training.gloss_batches import GlossData
from mha_course.training.gloss_marks import gloss_marks, lost_points

SHARES = (0.25, 0.5, 1.0, 2.0)
DRAWS = 3  # of the noise, where it has a single place
GROUPS_A_LAYER = 4
SLICE = 16  # features, as many as a head has with h = 8

ONE_HEAD, TWO_HEADS, FOUR_HEADS = "one head, own size", "two heads, own size", "four heads, own size"
ALL_HEADS = "all heads, own size"
SPREAD, IN_ONE_HEAD, ACROSS = (
    "same power, all heads",
    "same power, one head",
    "same power, 16 features",
)
INTO, OUT_OF, EMBEDDING = "into attention", "out of attention", "into the model"
KINDS = (
    *(ONE_HEAD, TWO_HEADS, FOUR_HEADS, ALL_HEADS),
    *(SPREAD, IN_ONE_HEAD, ACROSS, INTO, OUT_OF, EMBEDDING),
)

Noise = Callable[[float, Generator], AbstractContextManager[None]]  # share and generator


@dataclass(frozen=True)
class NoiseCost:
    """What one kind of noise costs a model, for each of `SHARES`.

    points: by part, percentage points lost, the mean over places and draws. worst: of the place or draw that
    costs most, the mean over the parts.
    """

    kind: str
    points: Mapping[str, tuple[float, ...]]
    worst: tuple[float, ...]


def noise_costs(model: GlossModel, data: GlossData, kind: str) -> NoiseCost | None:
    """Add one kind of noise in all its places. None: the model has no such place (two heads, with h = 1)."""
    places = list(noise_places(model, kind))
    if not places:
        return None
    whole, points, worst = gloss_marks(model, data), {}, []
    for share in SHARES:
        lost = []
        for i, noise in enumerate(places):
            with noise(share, Generator().manual_seed(i)):
                lost.append(lost_points(whole, gloss_marks(model, data)))
        for part in lost[0]:
            points.setdefault(part, []).append(sum(one[part] for one in lost) / len(lost))
        worst.append(max(sum(one.values()) / len(one) for one in lost))
    return NoiseCost(kind, {part: tuple(row) for part, row in points.items()}, tuple(worst))


def noise_places(model: GlossModel, kind: str) -> Iterator[Noise]:
    """Every place of one kind of noise, several times where there are few. Raises: ValueError for an unknown
    kind.
    """
    layers = attention_layers(model)
    h, d_v = layers[0].h, layers[0].d_v
    everywhere = torch.ones(h * d_v, dtype=torch.bool)
    if kind in (ONE_HEAD, TWO_HEADS, FOUR_HEADS, ALL_HEADS):
        for heads in _groups(model, kind):
            yield lambda share, g, heads=heads: noisy_heads(model, heads, share, g)
    elif kind in (SPREAD, IN_ONE_HEAD, ACROSS):
        for number in range(1, len(layers) + 1):
            if kind == SPREAD:
                chosen = [everywhere] * DRAWS
            elif kind == IN_ONE_HEAD:
                chosen = [head_features(h, d_v, [i]) for i in range(1, h + 1)] if h > 1 else []
            else:
                # With one head these are neighbouring features, as many as a head of eight has.
                chosen = [_across(h, d_v, i) for i in range(h * d_v // SLICE)]
            for one in chosen:
                yield lambda share, g, at={number: one}: noise_in_concat(model, at, share, g)
    elif kind in (INTO, OUT_OF, EMBEDDING):
        add = noise_into if kind == INTO else noise_out_of
        modules = [model.read] if kind == EMBEDDING else layers
        for _ in range(DRAWS):
            yield lambda share, g: add(modules, share, g)
    else:
        raise ValueError(f"kind={kind!r} must be one of: {', '.join(KINDS)}.")


def _groups(model: GlossModel, kind: str) -> list[tuple[Head, ...]]:
    heads = all_heads(model)
    if kind == ALL_HEADS:
        return [tuple(heads)] * DRAWS
    size = {ONE_HEAD: 1, TWO_HEADS: 2, FOUR_HEADS: 4}[kind]
    layers = [[head for head in heads if head[0] == i] for i in range(1, model.sizes.n_layers + 1)]
    if size >= len(layers[0]):
        return []  # that would be all heads of a layer
    if size == 1:
        return [(head,) for head in heads]
    rng = random.Random(size)
    return [tuple(sorted(rng.sample(row, size))) for row in layers for _ in range(GROUPS_A_LAYER)]


def _across(h: int, d_v: int, i: int) -> Tensor:
    """(h * d_v,) bool: the same SLICE / h features of every head, for i = 0, 1 ... other ones."""
    each = SLICE // h
    on = torch.zeros(h, d_v, dtype=torch.bool)
    on[:, i * each : (i + 1) * each] = True
    return on.flatten()
