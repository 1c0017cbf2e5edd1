"""Copying the numbers of PyTorch's own Transformer layers, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import nn

from mha_course.transformer.block import FeedForward

TorchLayer = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer
Layer = TypeVar("Layer", bound=nn.Module)


def of_equal_sizes(kind: Callable[..., Layer], layer: TorchLayer) -> Layer:
    """A new layer of the course's kind with the sizes, options, device and dtype of PyTorch's.

    Raises: ValueError for a layer whose activation is not ReLU, the one in the paper.
    """
    activation = layer.activation
    if activation is not F.relu and activation is not torch.relu and not isinstance(activation, nn.ReLU):
        name = getattr(activation, "__name__", type(activation).__name__)
        raise ValueError(f"this layer's feed-forward part uses ReLU; the one given uses {name}.")
    attention, first = layer.self_attn, layer.linear1
    norm = "pre" if layer.norm_first else "post"
    made = kind(
        attention.embed_dim,
        attention.num_heads,
        first.out_features,
        layer.dropout.p,
        norm,
        first.bias is not None,
    )
    return made.to(first.weight.device, first.weight.dtype)


def copy_feed_forward(layer: TorchLayer, to: FeedForward) -> None:
    """Copy the two linear maps."""
    to.w_1.load_state_dict(layer.linear1.state_dict())
    to.w_2.load_state_dict(layer.linear2.state_dict())


def copy_norm(norm: nn.LayerNorm, to: nn.LayerNorm) -> None:
    """Copy gain and bias, and the small number that keeps the root from 0."""
    to.load_state_dict(norm.state_dict())
    to.eps = norm.eps
