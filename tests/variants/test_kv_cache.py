"""Decoding with a cache gives what computing everything again gives; the cache is as big as its formula."""

from __future__ import annotations

import pytest
import torch

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.transformer import Encoder
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.kv_cache import KVCache, attend_with_cache, decode, stack_with_caches

LAYERS = {
    "plain": lambda: MultiHeadAttention(12, 6, bias=True),
    "narrow": lambda: MultiHeadAttention(12, 6, d_k=5, d_v=7, n_kv_heads=2),
    "grouped": lambda: GroupedQueryAttention(24, 6, 3),
    "multi-query": lambda: GroupedQueryAttention(12, 3, 1, pairs="halves"),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("portions", [[1] * 8, [5, 1, 2], [3, 4, 1], [8]])
def test_in_portions_it_is_what_it_is_at_once(name: str, portions: list[int]) -> None:
    torch.manual_seed(len(name))
    layer = LAYERS[name]().double()
    x = torch.randn(2, 8, layer.d_model, dtype=torch.float64)
    cache = KVCache.for_layer(layer, b=2, longest=11)
    out = torch.cat([attend_with_cache(layer, part, cache) for part in x.split(portions, dim=1)], dim=1)
    assert torch.allclose(out, layer(x, mask=causal_mask(8)[None]), atol=1e-12)
    assert cache.length == 8
    assert cache.k.shape == (2, layer.n_kv_heads, 8, layer.d_k)
    sizes = (layer.d_model, layer.h, layer.n_kv_heads)
    widths = {"d_k": layer.d_k, "d_v": layer.d_v, "bytes_per_number": 8}
    assert cache.bytes_used == cost.kv_cache_bytes(2, 8, *sizes, **widths)
    assert cache.bytes_taken == cost.kv_cache_bytes(2, 11, *sizes, **widths)


def test_the_cache_holds_turned_keys_of_shared_heads() -> None:
    layer = GroupedQueryAttention(16, 4, 2).double()
    x = torch.randn(3, 5, 16, dtype=torch.float64)
    cache = KVCache.for_layer(layer, b=3, longest=5)
    for part in x.split([2, 3], dim=1):
        attend_with_cache(layer, part, cache)
    k, v = layer.shared_keys_and_values(x, x)
    assert torch.allclose(cache.k, k) and torch.allclose(cache.v, v)
    assert not torch.allclose(cache.k, MultiHeadAttention.shared_keys_and_values(layer, x, x)[0])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_stack_decodes_the_same_with_and_without(norm: str) -> None:
    torch.manual_seed(3)
    stack = Encoder(n_layers=3, d_model=20, h=4, d_ff=28, norm=norm).double().eval()
    words = torch.randn(31, 20, dtype=torch.float64)
    prompt = words[torch.tensor([[4, 7, 1, 9, 2], [3, 3, 8, 0, 6]])]

    def read_on(last: torch.Tensor) -> torch.Tensor:
        return words[(last @ words.T).argmax(-1)]

    with_cache = decode(stack, prompt, 13, read_on)
    assert with_cache.shape == (2, 13, 20)
    assert torch.allclose(with_cache, decode(stack, prompt, 13, read_on, cached=False), atol=1e-12)
    assert torch.allclose(with_cache[:, 0], stack(prompt, causal_mask(5)[None])[:, -1])
    with pytest.raises(ValueError, match="3 layers"):
        stack_with_caches(stack, prompt, [])


def test_what_does_not_fit_is_named_and_leaves_the_cache_alone() -> None:
    layer = MultiHeadAttention(12, 3)
    cache = KVCache.for_layer(layer, b=2, longest=4)
    attend_with_cache(layer, torch.randn(2, 3, 12), cache)
    with pytest.raises(ValueError, match=r"holds 4 tokens; 3 \+ 2"):
        attend_with_cache(layer, torch.randn(2, 2, 12), cache)
    with pytest.raises(ValueError, match="k must be"):
        attend_with_cache(layer, torch.randn(5, 1, 12), cache)
    with pytest.raises(ValueError, match="torch.float64"):
        cache.append(torch.zeros(2, 3, 1, 4).double(), torch.zeros(2, 3, 1, 4).double())
    with pytest.raises(ValueError, match="x has dtype torch.float64, the cache torch.float32"):
        attend_with_cache(layer, torch.randn(2, 1, 12).double(), cache)
    with pytest.raises(ValueError, match="one value"):
        cache.append(torch.zeros(2, 3, 1, 4), torch.zeros(2, 3, 0, 4))
    with pytest.raises(ValueError, match="d_model=12"):
        attend_with_cache(layer, torch.randn(2, 1, 8), cache)
    assert cache.length == 3
    with pytest.raises(ValueError, match="longest=0"):
        KVCache(2, 3, 0, 4)


def test_a_stack_whose_caches_have_no_room_leaves_all_as_they_were() -> None:
    stack = Encoder(3, 12, 4, 20).double().eval()
    caches = [
        KVCache.for_layer(layer.attention, 2, longest)
        for layer, longest in zip(stack.layers, (5, 3, 5), strict=True)
    ]
    x = torch.randn(2, 2, 12, dtype=torch.float64)
    stack_with_caches(stack, x, caches)
    with pytest.raises(ValueError, match="holds 3 tokens"):
        stack_with_caches(stack, x, caches)
    with pytest.raises(ValueError, match=r"\(b, n, d_model=12\); got \(1, 12\)"):
        stack_with_caches(stack, x[0, :1], caches)
    assert [cache.length for cache in caches] == [2, 2, 2]
