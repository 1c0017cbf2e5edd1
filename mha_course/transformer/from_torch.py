"""Copying the numbers of PyTorch's own Transformer layers, part by part."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from mha_course.transformer.block import FeedForward, Norm

TorchLayer = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer


def refuse_other_options(layer: TorchLayer) -> None:
    """Raises ValueError for a layer whose activation is not ReLU, the one in the paper."""
    activation = layer.activation
    if activation is not F.relu and activation is not torch.relu and not isinstance(activation, nn.ReLU):
        name = getattr(activation, "__name__", type(activation).__name__)
        raise ValueError(f"this layer's feed-forward part uses ReLU; the one given uses {name}.")


def norm_place(layer: TorchLayer) -> Norm:
    """Where the layer given normalises."""
    return "pre" if layer.norm_first else "post"


def copy_feed_forward(layer: TorchLayer, to: FeedForward) -> None:
    """Copy the two linear maps."""
    to.w_1.load_state_dict(layer.linear1.state_dict())
    to.w_2.load_state_dict(layer.linear2.state_dict())


def copy_norm(norm: nn.LayerNorm, to: nn.LayerNorm) -> None:
    """Copy gain and bias, and the small number that keeps the root from 0."""
    to.load_state_dict(norm.state_dict())
    to.eps = norm.eps
