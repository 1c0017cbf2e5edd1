"""A layer with shared key/value heads, written as a plain one: every key head as often as it is used.

So sharing is plain attention with equal heads of W_K and W_V, and what it saves is the copies.
Source: Ainslie et al. 2023; `repeat_kv` of the LLaMA 3 code does with the keys what is done here with W_K.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.sizes import check_sizes
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.plain_heads import check_plain_heads


@torch.no_grad()
def unshared(layer: MultiHeadAttention) -> MultiHeadAttention:
    """The same function with n_kv_heads = h: W_K and W_V (and their biases) repeated for every query head.

    Returns: a layer of the same class, with weights of its own. Raises: ValueError for a layer whose heads
    meet, as talking heads do."""
    check_plain_heads(layer, "they can't be written as plain ones")
    group = layer.h // layer.n_kv_heads
    made = deepcopy(layer)
    made.n_kv_heads = layer.h
    made.w_k = _repeated(layer.w_k, layer.n_kv_heads, layer.d_k, group)
    made.w_v = _repeated(layer.w_v, layer.n_kv_heads, layer.d_v, group)
    return made.train(layer.training)


def _repeated(linear: nn.Linear, heads: int, width: int, group: int) -> nn.Linear:
    def copies(numbers: Tensor) -> nn.Parameter:
        by_head = numbers.view(heads, width, *numbers.shape[1:])
        return nn.Parameter(by_head.repeat_interleave(group, dim=0).flatten(0, 1))

    made = deepcopy(linear)
    made.out_features = heads * group * width
    made.weight = copies(linear.weight)
    if linear.bias is not None:
        made.bias = copies(linear.bias)
    return made


@dataclass(frozen=True)
class Sharing:
    """A grouped layer beside the plain one that computes the same. apart: largest difference between their
    outputs; parameters: learned numbers; cache_bytes: a token's keys and values; intensity: of decoding one
    token in a fused kernel, FLOP per byte.
    """

    n_kv_heads: int
    apart: float
    parameters: int
    cache_bytes: int
    intensity: float


@torch.no_grad()
def compare_sharing(
    d_model: int = 64,
    h: int = 8,
    n_kv_heads: tuple[int, ...] = (8, 4, 2, 1),
    n: int = 12,
    n_k: int = 1024,
    bytes_per_number: int = 2,
) -> list[Sharing]:
    """For each n_kv_heads: is the layer equal to its unshared twin (in float64), and what does it save?

    n: tokens of the text that both read; n_k: tokens that are met when one is decoded, for the intensity.
    Raises: ValueError for an n_kv_heads that doesn't divide h, and sizes no rotary layer can have.
    """
    n, n_k = check_sizes(n=n, n_k=n_k)
    found = []
    for shared in n_kv_heads:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(shared)
            layer = GroupedQueryAttention(d_model, h, shared).double()
            x = torch.randn(2, n, d_model, dtype=torch.float64)
        stages = cost.stage_costs(1, 1, d_model, h, shared, n_k - 1, bytes_per_number, fused=True)
        found.append(
            Sharing(
                shared,
                float((layer(x) - unshared(layer)(x)).abs().max()),
                cost.parameter_count(d_model, h, n_kv_heads=shared),
                cost.kv_cache_bytes(1, 1, d_model, h, shared, bytes_per_number=bytes_per_number),
                stages["attention"].intensity,
            )
        )
    return found
