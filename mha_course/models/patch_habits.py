"""What the heads of a digit model look at, over many pictures: ink or paper, few patches or all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.layers import AttentionTrace
from mha_course.models.digit_model import DigitModel, patches

INKED = 0.25  # a patch counts as inked from this mean ink on


@dataclass(frozen=True, eq=False)
class PatchHabits:
    """Means over pictures and patches, each (layers, heads).

    on_ink: weight on inked patches. spread: entropy of a patch's row over its largest, 1 for even weights.
    by_patch: how far a patch's row lies from the mean row of its picture, from 0 to 1 (total variation); near
    0 all patches of a picture look at the same ones. even: the share of inked patches, which is `on_ink` of a
    head with even weights.
    """

    on_ink: Tensor
    spread: Tensor
    by_patch: Tensor
    even: float


@torch.no_grad()
def patch_habits(model: DigitModel, images: Tensor) -> PatchHabits:
    """Measure the heads of every layer on pictures (b, 8, 8); take ones that the model did not learn from.

    Beside a trained model, ask an untrained one: where there is ink, queries and keys are longer, and their
    scores larger, before anything is learned."""
    kept: list[AttentionTrace] = []
    training, _ = model.training, model.eval()
    model(images, kept)
    model.train(training)
    weights = torch.stack([trace.weights for trace in kept])
    inked = (patches(images).mean(-1) >= INKED).to(weights)
    rows = weights.mean(-2, keepdim=True)
    n = weights.shape[-1]
    return PatchHabits(
        torch.einsum("lbhqk,bk->lh", weights, inked) / (len(images) * n),
        torch.special.entr(weights).sum(-1).mean((1, 3)) / math.log(n),
        (weights - rows).abs().sum(-1).mean((1, 3)) / 2,
        float(inked.mean()),
    )
