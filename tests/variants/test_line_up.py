"""The line-up of variants: each makes a layer of the sizes asked for, with the cache that its keys need."""

from __future__ import annotations

import pytest
import torch

from mha_course.layers import MultiHeadAttention
from mha_course.transformer import EncoderLayer
from mha_course.variants.line_up import VARIANTS, cached_numbers, variant

CACHED = {  # d_model 48, h 8, d_k 6
    "plain": 2 * 48,
    "wide": 2 * 96,
    "grouped": 2 * 2 * 6,
    "multi-query": 2 * 6,
    "collaborative": 48 + 8 + 48,
    "collaborative, half": 24 + 8 + 48,
    "overlapping": 2 * 48,
    "mixture": 2 * 48,
    "talking": 2 * 48,
    "composable": 2 * 48 + 2 * (2 * 2 * 8 + 8),
}


@pytest.mark.parametrize("name", [each.name for each in VARIANTS])
def test_each_stands_in_an_encoder_layer(name: str) -> None:
    layer = EncoderLayer(48, 8, 20)
    layer.attention = variant(name).make(48, 8, 0.1)
    assert isinstance(layer.attention, MultiHeadAttention) and layer.attention.h == 8
    assert cached_numbers(layer.attention) == CACHED[name]
    x = torch.randn(3, 7, 48, generator=torch.Generator().manual_seed(0))
    kept: list = []
    layer.eval()
    assert torch.allclose(layer(x), layer(x, kept=kept), atol=1e-5)
    assert kept[0].weights.shape == (3, 8, 7, 7)
    assert layer.attention.w_o.bias is not None and layer.attention.dropout == 0.1
    assert variant(name).words and variant(name).source[-4:].isdigit()


@pytest.mark.parametrize("h", [1, 2, 3, 5])
def test_each_can_have_few_heads(h: int) -> None:
    x = torch.randn(2, 4, 30, generator=torch.Generator().manual_seed(1))
    for each in VARIANTS:
        assert each.make(30, h, 0.0)(x).shape == x.shape


def test_names_are_known() -> None:
    assert len({each.name for each in VARIANTS}) == len(VARIANTS)
    with pytest.raises(ValueError, match="talking"):
        variant("listening")
