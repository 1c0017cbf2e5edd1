"""Writing token by token: the cache, shared keys, and why decoding waits for memory."""

from __future__ import annotations

import torch

from mha_course import cost
from mha_course.attention import repeat_kv_heads, scaled_dot_product_attention
from mha_course.interview.proof import Shown, proof
from mha_course.masks import causal_mask
from mha_course.models.random_layer import random_layer
from mha_course.variants.grouped_query import grouped_attention
from mha_course.variants.kv_cache import KVCache, attend_with_cache


@proof
def a_cache_changes_no_number() -> Shown:
    """Token by token with kept keys and values: the same rows as reading the whole text."""
    layer = random_layer(d_model=24, h=4)
    x = torch.randn(1, 9, 24, generator=torch.Generator().manual_seed(0))
    cache = KVCache.for_layer(layer, b=1, longest=9)
    rows = torch.cat([attend_with_cache(layer, token, cache) for token in x.split(1, dim=1)], dim=1)
    off = (rows - layer(x, mask=causal_mask(9))).abs().max().item()
    assert off < 1e-5, "the cache changes the output"
    kept = cost.kv_cache_bytes(b=1, length=9, d_model=24, h=4, bytes_per_number=4)
    assert cache.bytes_used == kept, "the formula counts other bytes than the cache takes"
    llama = {"d_model": 4096, "h": 32, "n_layers": 32, "bytes_per_number": 2}
    plain = cost.kv_cache_bytes(1, 131_072, **llama) / 2**30
    grouped = cost.kv_cache_bytes(1, 1, n_kv_heads=8, **llama) / 2**10
    assert plain == 64 and grouped == 128, "another model's cache"
    numbers = {"difference": off, "GiB, 131,072 tokens, plain heads": plain, "KiB a token, grouped": grouped}
    return Shown(f"Nine steps with a cache of {kept:,} bytes give the rows of one pass.", numbers)


@proof
def shared_keys_shrink_the_cache() -> Shown:
    """Eight query heads on two key heads: copies in thought only, a quarter of the cache, the same scores."""
    g = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(3, heads, 9, 6, generator=g) for heads in (8, 2, 2))
    copied, _ = scaled_dot_product_attention(q, repeat_kv_heads(k, 8), repeat_kv_heads(v, 8))
    off = (grouped_attention(q, k, v) - copied).abs().max().item()
    assert off < 1e-5, "sharing isn't plain attention with repeated keys"
    share = {}
    for name, count in (
        ("cache", lambda n_kv: cost.kv_cache_bytes(1, 1, 4096, 32, n_kv)),
        ("parameters", lambda n_kv: cost.parameter_count(4096, 32, n_kv_heads=n_kv)),
        ("FLOPs of scores", lambda n_kv: cost.attention_flops(99, 4096, 32, n_kv_heads=n_kv)["scores"]),
    ):
        share[f"{name}, 8 of 32 key heads"] = count(8) / count(32)
    assert list(share.values()) == [0.25, 0.625, 1.0], f"shares are {share}"
    return Shown("A quarter of the cache, 62.5 % of the parameters, all of the scores.", share)


@proof
def decoding_waits_for_bytes() -> Shown:
    """One token has about one FLOP a byte, a long text hundreds; the ridge of a device lies in between."""
    a100 = cost.PUBLISHED[0]
    sizes = {"b": 1, "d_model": 4096, "h": 32, "bytes_per_number": 2, "fused": True}
    writing = cost.total_cost(cost.stage_costs(n=1, cached=4095, **sizes))
    reading = cost.total_cost(cost.stage_costs(n=4096, **sizes))
    assert writing.intensity < 1.1 < a100.ridge < reading.intensity, "on the wrong side of the ridge"
    waiting = writing.bytes / a100.bandwidth
    assert a100.least_seconds(writing) == waiting, "arithmetic is the limit"
    idle = 1 - writing.flops / a100.peak / waiting
    assert idle > 0.99, f"arithmetic is busy {1 - idle:.0%} of the time"
    numbers = {
        "FLOP/byte, writing a token": writing.intensity,
        "FLOP/byte, reading 4,096": reading.intensity,
        "ridge of an A100": a100.ridge,
    }
    return Shown(f"While one token is written, {idle:.1%} of the arithmetic waits for memory.", numbers)


@proof
def a_batch_lifts_projections_only() -> Shown:
    """More requests at once: weights are read once for all, caches once for each."""

    def intensity(stage: str, b: int, n_kv: int = 32) -> float:
        sizes = {"cached": 4095, "bytes_per_number": 2, "fused": True}
        return cost.stage_costs(b, 1, 4096, 32, n_kv, **sizes)[stage].intensity

    lifted = intensity("projections", 256) / intensity("projections", 1)
    same = intensity("attention", 256) / intensity("attention", 1)
    shared = intensity("attention", 1, n_kv=8) / intensity("attention", 1)
    assert lifted > 200 and same == 1 and shared > 3.9, f"times {lifted:.0f}, {same:.1f} and {shared:.1f}"
    need, a100 = cost.batch_at_the_ridge(cost.PUBLISHED[0], d=4096), cost.PUBLISHED[0]
    assert intensity("projections", round(need) + 1) > a100.ridge, "the ridge is not reached"
    numbers = {"projections, 256 requests": lifted, "attention": same, "attention, 8 key heads": shared}
    return Shown(f"FLOPs a byte, times; projections reach an A100's ridge at {need:.0f} requests.", numbers)
