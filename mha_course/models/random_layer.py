"""A layer as it is before training, drawn from a generator of its own."""

from __future__ import annotations

import torch
from torch import nn

from mha_course.layers import MultiHeadAttention
from mha_course.own_chance import OwnChance


def empty_layer(d_model: int, h: int) -> MultiHeadAttention:
    """A layer without bias whose weights are to be set. The global random state is not touched.

    Raises: ValueError when h does not divide d_model.
    """
    # The meta device would draw nothing at all, but its first use loads 500 modules and lasts a second.
    with OwnChance(torch.Generator()):
        layer = MultiHeadAttention(d_model, h)
    return layer.eval().requires_grad_(False)


def random_layer(d_model: int, h: int, seed: int = 0) -> MultiHeadAttention:
    """A layer with Xavier-uniform weights, fixed by the seed.

    The four matrices don't depend on h: the same numbers are cut into more or fewer heads.
    Raises: ValueError when h does not divide d_model.
    Source: Glorot and Bengio 2010.
    """
    layer = empty_layer(d_model, h)
    generator = torch.Generator().manual_seed(seed)
    for projection in (layer.w_q, layer.w_k, layer.w_v, layer.w_o):
        nn.init.xavier_uniform_(projection.weight, generator=generator)
    return layer
