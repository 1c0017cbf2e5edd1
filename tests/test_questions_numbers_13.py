"""The numbers in the questions of lesson 13, computed again."""

from __future__ import annotations

import torch

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.variants.tensor_parallel import shards
from mha_course.widgets.question_texts import find_question


def told(key: str) -> str:
    """All that a question says, as one text."""
    question = find_question(key)
    return " ".join([question.text, *(part for c in question.choices for part in (c.text, c.because))])


def right(key: str) -> set[str]:
    """The texts of the right choices."""
    question = find_question(key)
    return {question.choices[i].text for i in question.right}


def test_what_16_heads_in_place_of_8_make_smaller() -> None:
    n, d_model = 100, 512
    one_head = {h: cost.attention_flops(n, d_model, 1, d_k=d_model // h)["scores"] for h in (8, 16)}
    assert one_head[16] * 2 == one_head[8] == 2 * n**2 * 64
    whole = {h: cost.attention_flops(n, d_model, h)["total"] for h in (8, 16)}
    assert whole[8] == whole[16] == 8 * n * d_model**2 + 4 * n**2 * d_model
    assert cost.kept_weights_bytes(3, 16, n, n) == 2 * cost.kept_weights_bytes(3, 8, n, n)
    caches = [cost.kv_cache_bytes(1, n, d_model, h) for h in (8, 16)]
    assert caches[0] == caches[1] == 2 * 2 * n * d_model
    assert right("13-halve-width") == {
        "the FLOPs of one head's scores",
        "the largest rank that a head's scores can have",
    }
    assert "d_k falls from 64 to 32" in told("13-halve-width")


def test_fewer_flops_below_the_ridge_change_nothing() -> None:
    machine = cost.Machine("toy", peak=150e9, bandwidth=1e9)
    stage = cost.StageCost(flops=2_000_000, bytes=1_000_000)
    fewer, smaller = cost.StageCost(1_000_000, 1_000_000), cost.StageCost(2_000_000, 500_000)
    assert (stage.intensity, fewer.intensity, machine.ridge) == (2, 1, 150)
    assert machine.least_seconds(fewer) == machine.least_seconds(stage)
    assert machine.least_seconds(smaller) == machine.least_seconds(stage) / 2
    assert right("13-fewer-flops") == {"exactly as fast"}
    text = told("13-fewer-flops")
    assert "2 FLOP/byte on a machine whose ridge is 150" in text and "falls to 1 FLOP/byte" in text


def test_what_4_key_heads_for_32_divide_by_8() -> None:
    d_model, h = 4096, 32
    plain, grouped = (MultiHeadAttention(h * 2, h, n_kv_heads=n_kv) for n_kv in (32, 4))
    for name, factor in (("w_k", 8), ("w_v", 8), ("w_q", 1), ("w_o", 1)):
        sizes = [getattr(layer, name).weight.numel() for layer in (plain, grouped)]
        assert sizes[0] == factor * sizes[1], name
    caches = [cost.kv_cache_bytes(1, 10, d_model, h, n_kv) for n_kv in (32, 4)]
    assert caches[0] == 8 * caches[1]
    scores = [cost.attention_flops(10, d_model, h, n_kv_heads=n_kv)["scores"] for n_kv in (32, 4)]
    assert scores[0] == scores[1]
    assert grouped.trace(torch.randn(1, 5, 64)).weights.shape == (1, 32, 5, 5)
    assert right("13-group-of-eight") == {
        "parameters of W_K and of W_V",
        "bytes of the KV cache for each token",
    }


def test_a_bias_on_every_device_is_one_too_many() -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(24, 6, bias=True).double()
    torch.nn.init.normal_(layer.w_o.bias)
    x = torch.randn(2, 5, 24, dtype=torch.float64)
    for devices, surplus in ((2, 1), (6, 5)):
        parts = shards(layer, devices)
        for part in parts[1:]:
            assert part.w_o.bias is None
            part.w_o.bias = layer.w_o.bias
        wrong = sum(part(x) for part in parts) - layer(x)
        assert torch.allclose(wrong, surplus * layer.w_o.bias.expand_as(wrong), atol=1e-12)
    assert right("13-bias-on-devices") == {"wrong by one bias"}
    assert "With eight devices it would be wrong by seven biases" in told("13-bias-on-devices")
