"""Shared key/value heads are plain attention with equal ones; what sharing saves."""

from __future__ import annotations

import pytest
import torch

from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.unshared import compare_sharing, unshared

LAYERS = {
    "grouped": lambda: GroupedQueryAttention(24, 6, 3),
    "one for all": lambda: GroupedQueryAttention(24, 6, 1, pairs="halves"),
    "biased": lambda: MultiHeadAttention(12, 6, d_k=5, d_v=7, n_kv_heads=2, bias=True),
    "plain": lambda: MultiHeadAttention(20, 4),
}


@pytest.mark.parametrize("name", LAYERS)
def test_the_same_function_with_a_key_head_for_each(name: str) -> None:
    torch.manual_seed(len(name))
    layer = LAYERS[name]().double().eval()
    if layer.w_k.bias is not None:
        torch.nn.init.normal_(layer.w_k.bias)
        torch.nn.init.normal_(layer.w_v.bias)
    plain = unshared(layer)
    x, mask = torch.randn(2, 9, layer.d_model, dtype=torch.float64), causal_mask(9)
    assert torch.allclose(plain(x, mask=mask), layer(x, mask=mask), atol=1e-12)
    assert torch.allclose(plain.trace(x).weights, layer.trace(x).weights, atol=1e-12)
    assert (type(plain), plain.n_kv_heads, plain.training) == (type(layer), layer.h, False)
    assert plain.w_k.weight.shape == (layer.h * layer.d_k, layer.d_model)
    assert plain.w_v.out_features == layer.h * layer.d_v
    assert sum(p.numel() for p in plain.parameters()) >= sum(p.numel() for p in layer.parameters())


def test_the_twin_has_weights_of_its_own() -> None:
    layer = GroupedQueryAttention(24, 6, 2)
    plain = unshared(layer)
    before = layer.w_k.weight.clone()
    with torch.no_grad():
        plain.w_k.weight.zero_()
        plain.w_q.weight.zero_()
    assert torch.equal(layer.w_k.weight, before) and layer.w_q.weight.abs().sum() > 0
    assert all(p.requires_grad for p in plain.parameters())


def test_what_sharing_saves() -> None:
    state = torch.random.get_rng_state()
    rows = compare_sharing(48, 6, (6, 3, 1), n=7, n_k=500)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(row.apart < 1e-12 for row in rows)
    assert [row.parameters for row in rows] == [2 * 48**2 + 2 * 48 * kv * 8 for kv in (6, 3, 1)]
    assert [row.cache_bytes for row in rows] == [2 * kv * 8 * 2 for kv in (6, 3, 1)]
    expected = [g / (1 + g / 500) for g in (1, 2, 6)]
    assert [row.intensity for row in rows] == pytest.approx(expected)
    with pytest.raises(ValueError, match="n_kv_heads=4"):
        compare_sharing(48, 6, (4,))
    with pytest.raises(ValueError, match="n=0"):
        compare_sharing(48, 6, (3,), n=0)
