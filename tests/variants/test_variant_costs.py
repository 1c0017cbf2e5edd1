"""Costs of the variants by formula: parameters that are there, FLOPs that PyTorch's counter finds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.composed import ComposedAttention
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.line_up import VARIANTS, cached_numbers
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads
from mha_course.variants.variant_costs import variant_cost

N, N_K = 7, 5
LAYERS: dict[str, Callable[[], MultiHeadAttention]] = {
    "plain": lambda: MultiHeadAttention(24, 4, bias=True),
    "plain, own widths": lambda: MultiHeadAttention(20, 3, d_k=5, d_v=6),
    "multi-query": lambda: MultiHeadAttention(24, 4, n_kv_heads=1),
    "grouped": lambda: GroupedQueryAttention(24, 6, 3, causal=False),
    "collaborative": lambda: CollaborativeHeads(24, 4),
    "collaborative, narrow": lambda: CollaborativeHeads(24, 4, 9, content_bias=True, bias=True),
    "overlapping": lambda: OverlappingHeads(24, 4, overlap=2, bias=True),
    "overlapping by nothing": lambda: OverlappingHeads(24, 4, overlap=0),
    "mixture": lambda: MixtureOfHeads(32, 8, 2, 3, bias=True),
    "mixture, none shared": lambda: MixtureOfHeads(24, 6, 0, 2),
    "mixture, none chosen": lambda: MixtureOfHeads(24, 6, 2, 0),
    "talking": lambda: TalkingHeads(24, 4, d_k=5, d_v=7),
    "composable": lambda: DynamicallyComposableHeads(24, 4, bias=True),
    "composable, not static": lambda: DynamicallyComposableHeads(24, 4, rank=3, static=False),
}


def made(name: str) -> MultiHeadAttention:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return LAYERS[name]().eval()


@torch.no_grad()
def counted(layer: nn.Module, n: int, n_k: int) -> int:
    """What PyTorch finds, less what composing layers compute twice for their traces: the output by head."""
    g = torch.Generator().manual_seed(2)
    x, y = (torch.randn(1, length, layer.d_model, generator=g) for length in (n, n_k))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(x, y)
    twice = 2 * n * layer.h * layer.d_v * layer.d_model if isinstance(layer, ComposedAttention) else 0
    return counter.get_total_flops() - twice


@pytest.mark.parametrize("name", LAYERS)
def test_formulas_count_what_is_there(name: str) -> None:
    layer = made(name)
    # Rotary queries are the last of the keys' tokens, so there are no more of them than keys.
    n, n_k = (N_K, N) if isinstance(layer, GroupedQueryAttention) else (N, N_K)
    found = variant_cost(layer, n, n_k)
    assert found.flops == counted(layer, n, n_k) == sum(found.stages.values())
    assert found.parameters == sum(p.numel() for p in layer.parameters())
    assert found.cached == cached_numbers(layer)
    assert variant_cost(layer, n).flops == counted(layer, n, n) != found.flops


@pytest.mark.parametrize("each", VARIANTS, ids=lambda each: each.name)
def test_every_variant_of_the_line_up_is_known(each) -> None:
    layer = each.make(48, 8, 0.0).eval()
    found = variant_cost(layer, N)
    assert found.parameters == sum(p.numel() for p in layer.parameters())
    assert found.flops == counted(layer, N, N)


def test_plain_heads_agree_with_the_formula_of_the_layer() -> None:
    found = variant_cost(made("plain"), N, N_K)
    assert found.stages == {
        **{k: v for k, v in cost.attention_flops(N, 24, 4, n_k=N_K).items() if k != "total"},
        "meeting": 0,
    }
    assert found.cache_bytes(10) == cost.kv_cache_bytes(1, 10, 24, 4) == 10 * 48 * 2
    assert found.cache_bytes(3, 4) == 3 * 48 * 4 and found.cache_bytes(0) == 0


def test_collaboration_costs_more_scores_and_fewer_parameters() -> None:
    plain, half = MultiHeadAttention(48, 8), CollaborativeHeads(48, 8, 24)
    assert variant_cost(half, N).parameters < variant_cost(plain, N).parameters
    # h times width in place of h times d_k: 24 / 6.
    assert variant_cost(half, N).stages["scores"] == 4 * variant_cost(plain, N).stages["scores"]


def test_no_tokens_and_odd_arguments() -> None:
    assert variant_cost(made("mixture"), 0).flops == 0
    for wrong in ({"n": -1}, {"n": 2.5}, {"n": 3, "n_k": "five"}):
        with pytest.raises(ValueError, match="n"):
            variant_cost(made("plain"), **wrong)
    with pytest.raises(TypeError, match="Linear"):
        variant_cost(nn.Linear(3, 4), 5)
    with pytest.raises(ValueError, match="tokens"):
        variant_cost(made("plain"), 5).cache_bytes(-1)
