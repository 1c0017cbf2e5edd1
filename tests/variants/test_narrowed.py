"""Heads that are cut one by one: the nearest product of a given rank, everything else as it was."""

from __future__ import annotations

import pytest
import torch

from mha_course.layers import MultiHeadAttention
from mha_course.variants.narrowed import narrowed


def layer_of(bias: bool = True) -> MultiHeadAttention:
    with torch.random.fork_rng():
        torch.manual_seed(7)
        layer = MultiHeadAttention(18, 3, bias=bias).double()
        for part in (layer.w_q, layer.w_k, layer.w_v, layer.w_o):
            if part.bias is not None:
                torch.nn.init.normal_(part.bias)
    return layer


def products(layer: MultiHeadAttention, h: int) -> torch.Tensor:
    q, k = (part.weight.view(h, -1, 18) for part in (layer.w_q, layer.w_k))
    return torch.einsum("hka,hkb->hab", q, k)


@pytest.mark.parametrize("bias", [True, False])
def test_full_width_is_the_same_function(bias: bool) -> None:
    layer = layer_of(bias)
    x = torch.randn(2, 5, 18, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert torch.allclose(narrowed(layer, 18)(x), layer(x))


def test_each_head_keeps_its_largest_singular_values() -> None:
    layer = layer_of()
    made = narrowed(layer, 6)
    assert made.w_q.weight.shape == made.w_k.weight.shape == (6, 18)
    assert made.mixing.sum(1).tolist() == [2, 2, 2]
    before, after = (torch.linalg.svdvals(products(one, 3)) for one in (layer, made))
    assert torch.allclose(after[:, :2], before[:, :2])
    assert (after[:, 2:] < 1e-9).all()
    assert made.scale == pytest.approx(6**-0.5)


def test_what_is_missed_is_what_was_cut_off() -> None:
    layer = layer_of()
    missed = (products(layer, 3) - products(narrowed(layer, 12), 3)).square().sum((1, 2))
    cut = torch.linalg.svdvals(products(layer, 3))[:, 4:6].square().sum(1)
    assert torch.allclose(missed, cut)


def test_values_output_and_the_query_bias_stay() -> None:
    layer = layer_of()
    made = narrowed(layer, 3)
    for name in ("w_v", "w_o"):
        for ours, theirs in zip(
            getattr(made, name).parameters(), getattr(layer, name).parameters(), strict=True
        ):
            assert torch.equal(ours, theirs)
    bias = torch.einsum("hk,hkd->hd", layer.w_q.bias.view(3, 6), layer.w_k.weight.view(3, 6, 18))
    assert torch.allclose(made.content_bias.weight, bias)


@pytest.mark.parametrize("width", [0, 4, 21])
def test_widths_it_refuses(width: int) -> None:
    with pytest.raises(ValueError, match=f"width={width}"):
        narrowed(layer_of(), width)
