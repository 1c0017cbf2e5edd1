"""The attention layers of a BERT-like pretrained model as the course's own layers, with the same weights."""

from __future__ import annotations

import torch

from mha_course.layers import MultiHeadAttention
from mha_course.models.pretrained.model import PretrainedModel


@torch.no_grad()
def pretrained_layers(model: PretrainedModel) -> tuple[MultiHeadAttention, ...]:
    """One layer for each of the model's, weights copied.

    Raises: ValueError for a model whose attention isn't built as BERT's: W_Q, W_K, W_V and W_O with biases.
    """
    found = []
    for block in getattr(getattr(model.network, "encoder", None), "layer", ()):
        read, said = block.attention.self, block.attention.output.dense
        layer = MultiHeadAttention(said.out_features, model.n_heads, bias=True)
        for ours, theirs in zip(
            (layer.w_q, layer.w_k, layer.w_v, layer.w_o),
            (read.query, read.key, read.value, said),
            strict=True,
        ):
            ours.load_state_dict(theirs.state_dict())
        found.append(layer.requires_grad_(False).eval())
    if not found:
        raise ValueError(f"{model.name} has no attention layers that are built as BERT's.")
    return tuple(found)
