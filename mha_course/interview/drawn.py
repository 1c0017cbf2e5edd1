"""Layers for proofs, with weights from a generator of their own: nobody else's chance moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn

from mha_course.own_chance import OwnChance

Layer = TypeVar("Layer", bound=nn.Module)


def drawn(make: Callable[[], Layer], seed: int = 0) -> Layer:
    """A layer in eval mode whose parameters are normal numbers of standard deviation 1 / sqrt(width).

    make: builds it, such as `lambda: TalkingHeads(24, 4)`. width: the last axis of a parameter, over which a
    linear map sums. LayerNorms keep gains of 1 and biases of 0. The global random state is not touched.
    """
    g = torch.Generator().manual_seed(seed)
    with OwnChance(g):
        layer = make()
    layer = layer.eval().requires_grad_(False)
    for number in layer.parameters():
        number.normal_(0, number.shape[-1] ** -0.5, generator=g)
    for part in layer.modules():
        if isinstance(part, nn.LayerNorm):
            part.reset_parameters()
    return layer
