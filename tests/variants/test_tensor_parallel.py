"""Some heads of a layer as a layer of their own, and heads over simulated devices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.some_heads import layer_of_heads
from mha_course.variants.tensor_parallel import all_reduce, all_reduce_bytes, sharded_forward, shards


@pytest.mark.parametrize("devices", [1, 2, 4])
@pytest.mark.parametrize(
    "make",
    [
        lambda: MultiHeadAttention(24, 8, bias=True),
        lambda: MultiHeadAttention(24, 8, d_k=5, d_v=7, n_kv_heads=4),
        lambda: GroupedQueryAttention(32, 8, 4),
    ],
)
def test_sharded_equals_whole(make, devices: int) -> None:
    torch.manual_seed(devices)
    layer = make().double()
    x = torch.randn(3, 5, layer.d_model, dtype=torch.float64)
    parts = shards(layer, devices)
    assert len(parts) == devices and all(type(part) is type(layer) for part in parts)
    mask = causal_mask(5)
    assert (sharded_forward(parts, x, mask) - layer(x, mask=mask)).abs().max() < 1e-12
    assert torch.allclose(all_reduce([part.trace(x).output for part in parts]), layer(x))
    numbers = [sum(p.numel() for p in part.parameters()) for part in parts]
    assert sum(numbers) == sum(p.numel() for p in layer.parameters())
    assert [part.h for part in parts] == [8 // devices] * devices


def test_a_share_is_the_contribution_of_its_heads() -> None:
    layer, x = MultiHeadAttention(12, 6, bias=True).double(), torch.randn(2, 5, 12, dtype=torch.float64)
    torch.nn.init.normal_(layer.w_o.bias)
    shares = layer.trace(x).contributions
    first, second = shards(layer, 2)
    assert torch.allclose(first(x), shares[:, :3].sum(1) + layer.w_o.bias)
    assert torch.allclose(second(x), shares[:, 3:].sum(1))
    assert second.w_o.bias is None


@pytest.mark.parametrize(
    ("heads", "n_kv_heads", "key_heads"),
    [
        ([0, 1, 4, 5], 3, 2),
        ([1, 4], 3, 2),
        ([2, 5, 0], 6, 3),
        ([0, 1, 2], 3, 3),
        ([3], 1, 1),
        ([1, 0, 5], 1, 1),
    ],
)
def test_heads_taken_out_of_a_layer(heads: list[int], n_kv_heads: int, key_heads: int) -> None:
    torch.manual_seed(5)
    layer = MultiHeadAttention(24, 6, d_k=3, d_v=5, n_kv_heads=n_kv_heads, dropout=0.25).double().eval()
    layer.requires_grad_(False)
    x = torch.randn(2, 7, 24, dtype=torch.float64)
    before = layer(x)
    small = layer_of_heads(layer, heads)
    assert torch.allclose(small(x), layer.trace(x).contributions[:, heads].sum(1))
    assert torch.allclose(small.trace(x).weights, layer.trace(x).weights[:, heads])
    assert (small.h, small.n_kv_heads, small.dropout, small.training) == (len(heads), key_heads, 0.25, False)
    counted = cost.parameter_count(24, len(heads), d_k=3, d_v=5, n_kv_heads=key_heads)
    assert sum(p.numel() for p in small.parameters()) == counted
    assert not any(p.requires_grad for p in small.parameters())
    small.w_q.weight.zero_()
    small.w_o.weight.zero_()
    assert torch.equal(layer(x), before)


def test_what_cannot_be_is_named() -> None:
    layer = MultiHeadAttention(24, 6, n_kv_heads=3)
    with pytest.raises(ValueError, match="n_kv_heads=3"):
        shards(layer, 2)
    with pytest.raises(ValueError, match="h=6"):
        shards(layer, 4)
    for heads in ([], [1, 1], [6], [-1], [0.0], [[0]], torch.tensor([6]), [True, False]):
        with pytest.raises(ValueError, match="heads="):
            layer_of_heads(layer, heads)
    for call in (lambda: all_reduce([]), lambda: sharded_forward([], torch.zeros(2, 5, 24))):
        with pytest.raises(ValueError, match="no device"):
            call()
    layer.gate = torch.nn.Identity()
    with pytest.raises(ValueError, match="gate"):
        layer_of_heads(layer, [0])


def test_bytes_of_an_all_reduce() -> None:
    assert all_reduce_bytes(3, 5, 16, devices=1) == 0
    assert all_reduce_bytes(3, 5, 16, devices=2, bytes_per_number=4) == 3 * 5 * 16 * 4
    assert all_reduce_bytes(3, 5, 16, devices=4) == 3 * 5 * 16 * 3


@pytest.mark.parametrize("heads", [torch.tensor([9, 2]), np.array([9, 2]), [np.int8(9), np.int8(2)], (9, 2)])
def test_heads_may_come_in_a_tensor_or_an_array(heads) -> None:
    layer, x = MultiHeadAttention(240, 10), torch.randn(2, 5, 240)
    assert torch.equal(layer_of_heads(layer, heads)(x), layer_of_heads(layer, [9, 2])(x))
