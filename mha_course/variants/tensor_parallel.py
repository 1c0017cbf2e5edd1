"""Heads over several devices: each holds a part of the heads, and the outputs are added up.

W_Q, W_K and W_V are split by columns, so every device computes whole heads and needs no other; W_O is split
by rows, so every device gets its heads' share of the output, and the all-reduce is the sum of these shares.
Source: Shoeybi et al. 2019; ColumnParallelLinear and RowParallelLinear of the LLaMA 3 code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from mha_course.layers import MultiHeadAttention
from mha_course.sizes import check_sizes
from mha_course.variants.some_heads import layer_of_heads


def shards(layer: MultiHeadAttention, devices: int) -> list[MultiHeadAttention]:
    """Cut a layer into one for each device: h / devices heads and n_kv_heads / devices key/value heads each.

    The bias of W_O stays with the first device, else it would be added once for each.
    Raises: ValueError when heads or key/value heads can't be shared out evenly.
    """
    (devices,) = check_sizes(devices=devices)
    for name in ("h", "n_kv_heads"):
        if (count := getattr(layer, name)) % devices:
            raise ValueError(f"{name}={count} can't be shared out evenly to {devices} devices.")
    each = layer.h // devices
    parts = [layer_of_heads(layer, range(i * each, (i + 1) * each)) for i in range(devices)]
    for part in parts[1:]:
        part.w_o.bias = None
    return parts


def all_reduce(partial: Sequence[Tensor]) -> Tensor:
    """The sum of what the devices computed, which after an all-reduce every one of them has.

    Raises: ValueError for no devices.
    """
    if not len(partial):
        raise ValueError("there is no device, so there is nothing to add up.")
    return torch.stack(list(partial)).sum(0)


def sharded_forward(parts: Sequence[MultiHeadAttention], x: Tensor, mask: Tensor | None = None) -> Tensor:
    """The layer's output, computed on simulated devices: each gets all of x, one sum at the end.

    x: (b, n, d_model). mask: as in `MultiHeadAttention.forward`; of a mask (b, h, n, n) each device gets the
    part of its heads. Returns: like x, equal to the whole layer's output up to rounding."""
    return all_reduce([part(x, mask=own) for part, own in zip(parts, _masks(parts, mask), strict=True)])


def _masks(parts: Sequence[MultiHeadAttention], mask: Tensor | None) -> list[Tensor | None]:
    heads = [part.h for part in parts]
    a_head = mask is not None and mask.ndim == 4 and mask.shape[1] == sum(heads) > 1
    return list(mask.split(heads, dim=1)) if a_head else [mask] * len(heads)


def all_reduce_bytes(b: int, n: int, d_model: int, devices: int, bytes_per_number: int = 2) -> int:
    """Bytes that each device sends when the outputs are added up in a ring.

    2 (devices - 1) / devices times b n d_model s: each part of the output goes round twice. Rounded up.
    Source: Patarasuk and Yuan 2009.
    """
    (devices,) = check_sizes(devices=devices)
    sizes = check_sizes(b=b, n=n, d_model=d_model, bytes_per_number=bytes_per_number)
    return -(-2 * (devices - 1) * math.prod(sizes) // devices)
