"""cost.py: FLOPs, bytes, intensity, caches and roofs, against hand counts and PyTorch's counter."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.variants.tensor_parallel import all_reduce_bytes

MATRIX = ("projections", "scores", "weighted_sum", "output_projection")


def test_stages_of_a_small_layer_counted_by_hand() -> None:
    # b=2 sequences, n=1 new token, 4 in the cache, so 5 keys; 6 query heads of 2, sharing 3; values of 7
    stages = cost.stage_costs(2, 1, 12, 6, 3, cached=4, bytes_per_number=4, d_k=2, d_v=7)
    assert stages["projections"].flops == 2 * 2 * 12 * (12 + 6 + 21)
    # W_Q is 12 x 12, W_K 12 x 6, W_V 12 x 21; x has 24 numbers and is read three times
    assert stages["projections"].bytes == 4 * (144 + 72 + 252 + 3 * 24 + 2 * (12 + 6 + 21))
    # 2 * 6 * 5 = 60 scores from 24 query numbers and 2 * 5 * 3 * 2 = 60 key numbers
    assert stages["scores"] == cost.StageCost(2 * 60 * 2, 4 * (24 + 60 + 60))
    assert stages["softmax"] == cost.StageCost(5 * 60, 4 * 120)
    # 2 * 5 * 3 * 7 = 210 value numbers, 2 * 6 * 7 = 84 results
    assert stages["weighted_sum"] == cost.StageCost(2 * 60 * 7, 4 * (60 + 210 + 84))
    assert stages["output_projection"] == cost.StageCost(2 * 2 * 42 * 12, 4 * (42 * 12 + 84 + 24))
    whole = cost.total_cost(stages)
    assert whole.flops == sum(one.flops for one in stages.values())
    fused = cost.stage_costs(2, 1, 12, 6, 3, cached=4, bytes_per_number=4, d_k=2, d_v=7, fused=True)
    assert list(fused) == ["projections", "attention", "output_projection"]
    assert fused["attention"] == cost.StageCost(2 * 60 * (2 + 7), 4 * (24 + 60 + 210 + 84))


@pytest.mark.parametrize("cached", [0, 9])
@pytest.mark.parametrize("options", [{}, {"n_kv_heads": 2, "d_k": 5, "d_v": 7}])
def test_matrix_products_as_pytorch_counts_them(cached: int, options: dict) -> None:
    b, n, d_model, h = 3, 5, 24, 4
    layer, g = MultiHeadAttention(d_model, h, **options), torch.Generator().manual_seed(1)
    x = torch.randn(b, n, d_model, generator=g)
    known = layer.keys_and_values(torch.randn(b, cached + n, d_model, generator=g))
    # The fused CPU kernel counts as 0, so the plain one is asked for.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(x, known)
        layer.w_k(x)
        layer.w_v(x)
    stages = cost.stage_costs(b, n, d_model, h, cached=cached, **options)
    assert sum(stages[name].flops for name in MATRIX) == counter.get_total_flops()


def test_without_a_cache_it_is_the_count_of_attention_flops() -> None:
    for h in (1, 4, 16):
        stages = cost.stage_costs(2, 7, 48, h)
        counted = cost.attention_flops(7, 48, h, b=2)
        assert {name: stages[name].flops for name in MATRIX} == {name: counted[name] for name in MATRIX}


@pytest.mark.parametrize(
    ("bytes_per_number", "batch", "expected"),
    [
        (4, 1, 0.4998),
        (2, 1, 0.9995),
        (1, 1, 1.999),
        (2, 8, 7.97),
        (2, 64, 62.1),
        (2, 256, 227.6),
        (4, 64, 31),
    ],
)
def test_intensity_of_a_projection(bytes_per_number: int, batch: int, expected: float) -> None:
    made = cost.product_cost(batch, 4096, 4096, bytes_per_number).intensity
    assert made == pytest.approx(expected, rel=2e-3)
    assert made == pytest.approx((2 * batch / bytes_per_number) / (1 + 2 * batch / 4096))


@pytest.mark.parametrize(
    ("n_kv_heads", "bytes_per_number", "fused", "expected"),
    [
        (32, 2, False, 0.992),
        (32, 4, False, 0.496),
        (32, 2, True, 0.9998),
        (8, 2, True, 4.0),
        (4, 2, True, 8.0),
        (1, 2, True, 31.8),
        (1, 4, True, 15.9),
        (1, 1, True, 63.5),
    ],
)
def test_intensity_of_decoding(n_kv_heads: int, bytes_per_number: int, fused: bool, expected: float) -> None:
    """d_model 4096, 32 heads of 128, 4096 keys."""
    for b in (1, 13):
        stages = cost.stage_costs(b, 1, 4096, 32, n_kv_heads, 4095, bytes_per_number, fused=fused)
        for name in ("attention",) if fused else ("scores", "weighted_sum"):
            assert stages[name].intensity == pytest.approx(expected, rel=3e-3)
    assert cost.stage_costs(1, 4096, 4096, 32, fused=True)["attention"].intensity == pytest.approx(2048)


def test_short_caches_make_it_worse() -> None:
    found = [
        cost.stage_costs(1, 1, 4096, 32, cached=n - 1)["scores"].intensity for n in (1, 16, 300, 4096, 10**6)
    ]
    assert found == sorted(found) and found[-1] < 1
    assert found[:2] == pytest.approx([0.498, 0.934], abs=1e-3)


def test_bytes_of_a_cache_and_of_kept_weights() -> None:
    llama = {"d_model": 4096, "h": 32, "n_layers": 32}
    assert cost.kv_cache_bytes(1, 1, n_kv_heads=8, **llama) == 131_072
    assert cost.kv_cache_bytes(1, 1, **llama) == 524_288
    assert cost.kv_cache_bytes(1, 1, 8192, 64, 8, n_layers=80) == 327_680
    assert cost.kv_cache_bytes(3, 11, 12, 6, 2, bytes_per_number=4, d_k=5, d_v=7) == 3 * 11 * 2 * 12 * 4
    assert cost.kv_cache_bytes(3, 0, 12, 6) == 0
    assert cost.kept_weights_bytes(2, 3, 5, 7) == 2 * 3 * 5 * 7 * 4


def test_roof_ridge_and_the_batch_that_reaches_it() -> None:
    machine = cost.Machine("toy", peak=100, bandwidth=20)
    assert machine.ridge == 5
    assert (machine.attainable(2), machine.attainable(5), machine.attainable(9)) == (40, 100, 100)
    assert machine.least_seconds(cost.StageCost(300, 20)) == 3
    assert machine.least_seconds(cost.StageCost(30, 40)) == 2
    a100, h100, h200 = cost.PUBLISHED
    assert [round(m.ridge) for m in cost.PUBLISHED] == [153, 295, 206]
    assert [int(cost.batch_at_the_ridge(m, 4096)) for m in (a100, h100, h200)] == [165, 344, 229]
    rows = cost.batch_at_the_ridge(h100, 4096)
    below, above = (cost.product_cost(r, 4096, 4096).intensity for r in (int(rows), int(rows) + 1))
    assert below < h100.ridge < above
    assert cost.batch_at_the_ridge(h100, 512) == math.inf
    assert all(m.source for m in cost.PUBLISHED)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cost.stage_costs(0, 5, 12, 3), "b=0"),
        (lambda: cost.stage_costs(2, 5, 12, 3, cached=-1), "cached=-1"),
        (lambda: cost.stage_costs(2, 5, 10, 3), "d_model=10"),
        (lambda: cost.stage_costs(2, 5, 12, 4, 3), "n_kv_heads=3"),
        (lambda: cost.kv_cache_bytes(1, -2, 12, 3), "length=-2"),
        (lambda: cost.product_cost(2, 0, 3), "d_in=0"),
        (lambda: cost.Machine("none", 0, 5), "peak=0"),
        (lambda: cost.Machine("none", 3, math.nan), "bandwidth=nan"),
        (lambda: cost.Machine("none", 3, math.inf), "bandwidth=inf"),
        (lambda: cost.Machine("none", "1e12", 5), "peak='1e12'"),
        (lambda: cost.Machine("none", None, 5), "peak=None"),
        (lambda: cost.Machine("none", True, 5), "peak=True"),
        (lambda: cost.PUBLISHED[0].attainable(math.nan), "intensity=nan"),
        (lambda: cost.PUBLISHED[0].attainable(-1), "intensity=-1"),
        (lambda: cost.batch_at_the_ridge(cost.PUBLISHED[0], 0), "d=0"),
        (lambda: cost.batch_at_the_ridge(cost.PUBLISHED[0], math.nan), "d=nan"),
        (lambda: cost.batch_at_the_ridge(cost.PUBLISHED[0], 4096, 0), "bytes_per_number=0"),
        (lambda: cost.kept_weights_bytes(2, 3, 5, 7, -1), "bytes_per_number=-1"),
        (lambda: cost.kept_weights_bytes(2, 3, 5, 7, "4"), "bytes_per_number='4'"),
        (lambda: cost.kept_weights_bytes(2, 3, 5, -7), "n_k=-7"),
    ],
)
def test_what_cannot_be_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
    assert math.isnan(cost.StageCost(0, 0).intensity)


@pytest.mark.parametrize(
    ("count", "sizes", "kind"),
    [
        (cost.stage_costs, (64, 4096, 8192, 32, 8, 2048, 2, 128, 256), np.int32),
        (cost.parameter_count, (120, 60, 100, 110, 30), np.int8),
        (cost.attention_flops, (100, 64, 16, 8, 90, 70, 50, 4), np.int8),
        (cost.product_cost, (100, 120, 110, 4), np.int8),
        (cost.kv_cache_bytes, (64, 30_000, 8192, 64, 8, 80, 2), np.int16),
        (cost.kept_weights_bytes, (100, 64, 120, 110, 4), np.int8),
        (lambda d: cost.batch_at_the_ridge(cost.PUBLISHED[1], d), (4096,), np.int16),
        (all_reduce_bytes, (100, 110, 120, 8, 4), np.int8),
    ],
)
def test_numpy_sizes_count_as_python_ones(count, sizes: tuple[int, ...], kind: type) -> None:
    got, expected = count(*map(kind, sizes)), count(*sizes)
    assert got == expected
    numbers = [got] if not isinstance(got, dict) else list(got.values())
    for number in numbers:
        parts = astuple(number) if isinstance(number, cost.StageCost) else (number,)
        assert all(type(part) in (int, float) for part in parts)
    assert (
        cost.stage_costs(*map(np.int32, (64, 4096, 4096, 32)))["projections"].flops == 3 * 2 * 2**18 * 2**24
    )


def test_biases_are_one_for_each_output() -> None:
    layer = MultiHeadAttention(12, 3, n_kv_heads=1, bias=True)
    assert cost.parameter_count(12, 3, n_kv_heads=1, bias=True) == sum(p.numel() for p in layer.parameters())
    assert cost.parameter_count(12, 3, n_kv_heads=1, bias=5) == cost.parameter_count(
        12, 3, None, None, 1, True
    )
