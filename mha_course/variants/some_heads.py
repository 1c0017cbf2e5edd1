"""A layer made of some heads of another: what one of several devices holds, or what pruning leaves."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from mha_course.layers import MultiHeadAttention
from mha_course.sizes import is_whole_number
from mha_course.variants.plain_heads import check_plain_heads


@torch.no_grad()
def layer_of_heads(layer: MultiHeadAttention, heads: Sequence[int] | Tensor) -> MultiHeadAttention:
    """A smaller layer with these heads (indices from 0) of the layer given, in this order, weights copied.

    W_Q, W_K and W_V keep the columns of these heads, W_O keeps their rows; d_model, d_k and d_v stay. The
    bias of W_O belongs to no head and stays whole. Key/value heads that nobody asks for any more go, too;
    where the heads that are left don't share them evenly, each gets its own.

    heads: a list, a NumPy array or a one-dimensional tensor.
    Returns: a layer of the same class, whose output is the sum of these heads' contributions, plus bias.
    Raises: ValueError for no heads, one named twice, one that isn't there, a layer with a gate, and one whose
    heads meet, as talking heads do.
    """
    heads = heads.tolist() if isinstance(heads, Tensor) else list(heads)
    if not all(is_whole_number(head) and 0 <= head < layer.h for head in heads):
        raise ValueError(f"heads={heads}: indices must be whole numbers in 0..{layer.h - 1}.")
    heads = [int(head) for head in heads]
    if not heads or len(set(heads)) < len(heads):
        raise ValueError(f"heads={heads}: at least one, and each once.")
    check_plain_heads(layer, "none can be taken out")
    if layer.gate is not None:
        raise ValueError("the layer has a gate, which stands for all of its heads; take it off first.")
    shared = _key_heads(layer, heads)
    made = deepcopy(layer)
    made.h, made.n_kv_heads = len(heads), len(shared)
    made.w_q = _rows(layer.w_q, heads, layer.d_k)
    made.w_k = _rows(layer.w_k, shared, layer.d_k)
    made.w_v = _rows(layer.w_v, shared, layer.d_v)
    made.w_o = _columns(layer.w_o, heads, layer.d_v)
    return made.train(layer.training)


def _key_heads(layer: MultiHeadAttention, heads: Sequence[int]) -> list[int]:
    """The key/value heads to take along, so that the new head i reads number i // (heads / key heads)."""
    group = layer.h // layer.n_kv_heads
    read = [head // group for head in heads]
    different = list(dict.fromkeys(read))
    each, rest = divmod(len(read), len(different))
    evenly = not rest and read == [one for one in different for _ in range(each)]
    return different if evenly else read


def _places(heads: Sequence[int], width: int) -> Tensor:
    return (torch.tensor(heads)[:, None] * width + torch.arange(width)).flatten()


def _rows(linear: nn.Linear, heads: Sequence[int], width: int) -> nn.Linear:
    """nn.Linear keeps W transposed: columns of W_Q are rows of its weight."""
    places = _places(heads, width).to(linear.weight.device)
    return _linear(linear, linear.weight[places], None if linear.bias is None else linear.bias[places])


def _columns(linear: nn.Linear, heads: Sequence[int], width: int) -> nn.Linear:
    places = _places(heads, width).to(linear.weight.device)
    return _linear(linear, linear.weight[:, places], linear.bias)


def _linear(like: nn.Linear, weight: Tensor, bias: Tensor | None) -> nn.Linear:
    made = nn.utils.skip_init(
        nn.Linear,
        weight.shape[1],
        weight.shape[0],
        bias=bias is not None,
        device=weight.device,
        dtype=weight.dtype,
    )
    made.weight.copy_(weight)
    if bias is not None:
        made.bias.copy_(bias)
    return made.requires_grad_(like.weight.requires_grad)
