"""A layer as it is before training, drawn from a generator of its own."""

from __future__ import annotations

import torch
from torch import nn

from mha_course.layers import MultiHeadAttention


def empty_layer(d_model: int, h: int) -> MultiHeadAttention:
    """A layer without bias whose weights are not set yet. The global random state is not touched.

    Raises: ValueError when h does not divide d_model.
    """
    # On the meta device the layer's own initialisation draws no random numbers.
    with torch.device("meta"):
        layer = MultiHeadAttention(d_model, h)
    return layer.to_empty(device="cpu").eval().requires_grad_(False)


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
