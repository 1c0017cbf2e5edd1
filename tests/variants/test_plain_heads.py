"""What serves plain heads refuses layers whose heads meet, and keeps their scale and masks by head."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mha_course.heads.gating import FixedGates
from mha_course.heads.pruning import pruned_layer
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.kv_cache import KVCache, attend_with_cache
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.narrowed import narrowed
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.some_heads import layer_of_heads
from mha_course.variants.talking_heads import TalkingHeads
from mha_course.variants.tensor_parallel import sharded_forward, shards
from mha_course.variants.unshared import unshared

MEETING = [
    CollaborativeHeads(12, 4),
    OverlappingHeads(12, 4),
    TalkingHeads(12, 4),
    MixtureOfHeads(12, 4, 1, 2),
    DynamicallyComposableHeads(12, 4),
]


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("layer", MEETING, ids=lambda layer: type(layer).__name__)
def test_heads_that_meet_are_refused_in_a_sentence(layer: MultiHeadAttention) -> None:
    calls = (
        lambda: layer_of_heads(layer, [0, 2]),
        lambda: shards(layer, 2),
        lambda: pruned_layer(layer, torch.tensor([1.0, 0.0, 0.5, 1.0])),
        lambda: unshared(layer),
        lambda: attend_with_cache(layer, torch.zeros(2, 3, 12), KVCache(2, 4, 5, layer.d_k, layer.d_v)),
        lambda: CollaborativeHeads.from_layer(layer),
        lambda: narrowed(layer, 4),
    )
    for call in calls:
        with pytest.raises(ValueError, match=f"{type(layer).__name__} are more than slices"):
            call()


def test_heads_that_turn_or_stand_behind_gates_have_no_factors() -> None:
    gated = MultiHeadAttention(12, 4)
    gated.gate = FixedGates(torch.ones(4))
    for layer, told in ((GroupedQueryAttention(12, 6, 2), "turn with the position"), (gated, "behind gates")):
        for call in (CollaborativeHeads.from_layer, lambda layer: narrowed(layer, 6)):
            with pytest.raises(ValueError, match=told):
                call(layer)


@pytest.mark.parametrize("scale", [None, 0.9])
def test_a_cache_keeps_the_scale(scale: float | None) -> None:
    for layer in (MultiHeadAttention(12, 4), GroupedQueryAttention(12, 6, 2)):
        layer = layer.double()
        layer.scale = scale
        x, cache = drawn(2, 5, 12), KVCache.for_layer(layer, 2, 5)
        rows = [attend_with_cache(layer, part, cache) for part in x.split((1, 3, 1), dim=1)]
        assert torch.allclose(torch.cat(rows, 1), layer(x, mask=causal_mask(5)), atol=1e-12)
        with pytest.raises(ValueError, match="no token"):
            attend_with_cache(layer, x[:, :0], cache)


def test_devices_get_the_masks_of_their_heads() -> None:
    layer = MultiHeadAttention(12, 6, bias=True).double()
    x = drawn(2, 5, 12)
    a_head = torch.rand(2, 6, 5, 5, generator=torch.Generator().manual_seed(1)) < 0.5
    for mask in (a_head, a_head[:1], a_head[:, :1], a_head[0, 0], None):
        for devices in (1, 2, 3, 6):
            got = sharded_forward(shards(layer, devices), x, mask)
            assert torch.allclose(got, layer(x, mask=mask), atol=1e-12)
