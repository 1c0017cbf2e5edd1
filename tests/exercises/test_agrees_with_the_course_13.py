"""What lesson 13 asks to be written computes what the course's own functions do."""

from __future__ import annotations

import pytest
import torch

from mha_course import cost
from mha_course.attention import repeat_kv_heads, scaled_dot_product_attention
from mha_course.exercises.registry import EXERCISES
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.variants import continuous_batching, rotary, tensor_parallel


def written(name: str):
    return EXERCISES[name].reference


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_the_roof_is_that_of_a_machine() -> None:
    machine = cost.PUBLISHED[1]
    stages = cost.stage_costs(b=2, n=1, d_model=96, h=8, n_kv_heads=2, cached=300).values()
    flops, moved = (
        torch.tensor([float(getattr(stage, part)) for stage in stages]) for part in ("flops", "bytes")
    )
    roof = written("attainable_flops")(flops, moved, machine.peak, machine.bandwidth)
    assert roof.tolist() == pytest.approx([machine.attainable(stage.intensity) for stage in stages], rel=1e-5)


@pytest.mark.parametrize(
    ("b", "length", "h", "n_kv_heads", "d_k", "s"), [(3, 40, 8, 2, 16, 4), (7, 9, 6, 6, 5, 2)]
)
def test_intensity_and_bytes_are_those_of_the_cost_model(
    b: int, length: int, h: int, n_kv_heads: int, d_k: int, s: int
) -> None:
    stages = cost.stage_costs(b, 1, h * d_k, h, n_kv_heads, length - 1, s, fused=True)
    mine = written("cached_intensity")(b, length, h, n_kv_heads, d_k, s)
    assert mine == pytest.approx(stages["attention"].intensity, rel=1e-12)
    count = written("kv_cache_bytes")(b, length, h * d_k, h, n_kv_heads, 11, s)
    assert count == cost.kv_cache_bytes(b, length, h * d_k, h, n_kv_heads, 11, s)


def test_a_cache_gives_the_last_rows_of_the_whole() -> None:
    q, k, v = drawn(2, 3, 9, 4), drawn(2, 3, 9, 4, seed=1), drawn(2, 3, 9, 5, seed=2)
    whole, _ = scaled_dot_product_attention(q, k, v, causal_mask(9))
    out, keys, values = written("attend_with_cache")(
        q[:, :, 6:], k[:, :, 6:], v[:, :, 6:], k[:, :, :6], v[:, :, :6]
    )
    torch.testing.assert_close(out, whole[:, :, 6:])
    assert torch.equal(keys, k) and torch.equal(values, v)


def test_shared_keys_and_rotated_pairs_are_the_course_s() -> None:
    k = drawn(2, 3, 5, 8)
    assert torch.equal(written("share_keys")(k, 12), repeat_kv_heads(k, 12))
    torch.testing.assert_close(written("rotate_pairs")(k, 7, rotary.LLAMA_BASE), rotary.rotated(k, 7))


@pytest.mark.parametrize("seats", [1, 2, 4])
def test_steps_of_serving_are_those_of_the_simulation(seats: int) -> None:
    answers = [3, 1, 7, 2, 2, 5, 1, 4, 6]
    requests = [continuous_batching.Request(prompt=5, answer=answer) for answer in answers]
    served = continuous_batching.serve(requests, seats, "continuous", decoding=lambda cached: 1.0)
    assert written("finish_steps")(answers, seats) == [round(end) for end in served.done]


def test_shares_are_those_of_devices_and_sum_to_the_layer() -> None:
    layer = MultiHeadAttention(24, 6).double()
    x, weights = drawn(2, 5, 24), [w.weight.T for w in (layer.w_q, layer.w_k, layer.w_v, layer.w_o)]
    shares = written("partial_outputs")(x, *weights, 6, 3)
    parts = tensor_parallel.shards(layer, 3)
    torch.testing.assert_close(shares, torch.stack([part(x) for part in parts]))
    torch.testing.assert_close(shares.sum(0), layer(x), atol=1e-12, rtol=0)
