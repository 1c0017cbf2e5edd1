"""Switching heads off: exactly their share is missing, and everything is as it was afterwards."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.ablation import all_heads, attention_layers, random_groups, without_heads
from mha_course.layers import MultiHeadAttention
from mha_course.transformer import Encoder


def layer_of(h: int = 3, **sizes) -> tuple[MultiHeadAttention, torch.Tensor]:
    torch.manual_seed(h)
    return MultiHeadAttention(d_model=12, h=h, **sizes), torch.randn(2, 5, 12)


@pytest.mark.parametrize("sizes", [{}, {"d_k": 2, "d_v": 7}, {"n_kv_heads": 1}, {"bias": True}])
@pytest.mark.parametrize("off", [[2], [1, 3], [1, 2, 3]])
def test_what_is_missing_is_the_share_of_those_heads(off: list[int], sizes: dict) -> None:
    layer, x = layer_of(**sizes)
    trace = layer.trace(x)
    shares = trace.contributions[:, [head - 1 for head in off]].sum(1)
    with without_heads(layer, [(1, head) for head in off]):
        torch.testing.assert_close(layer(x), trace.output - shares, atol=1e-6, rtol=1e-5)
        assert layer.trace(x).contributions[:, [head - 1 for head in off]].abs().max() == 0


def test_a_planted_head_takes_its_known_share_with_it() -> None:
    layer = MultiHeadAttention(d_model=4, h=2, d_v=3).requires_grad_(False)
    layer.w_v.weight.zero_()
    layer.w_o.weight.zero_()
    layer.w_v.weight[3:, 0] = 1  # head 2 copies feature 0 of what it looks at into its three values,
    layer.w_o.weight[2, 3:] = torch.tensor([5.0, 7.0, 11.0])  # and writes 5 + 7 + 11 times it to feature 2
    layer.w_o.weight[1, :3] = 9  # head 1 would write to feature 1, but has nothing to say
    x = torch.zeros(1, 6, 4)
    x[..., 0] = 2
    assert layer(x)[0, :, 2].tolist() == pytest.approx([46.0] * 6)
    with without_heads(layer, [(1, 1)]):
        assert layer(x)[0, :, 2].tolist() == pytest.approx([46.0] * 6)
    with without_heads(layer, [(1, 2)]):
        assert layer(x).abs().max() == 0


def test_layers_count_from_one_in_the_order_of_the_model() -> None:
    encoder = Encoder(n_layers=3, d_model=8, h=2, d_ff=20).eval()
    assert all_heads(encoder) == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]
    with without_heads(encoder, [(2, 1), (3, 2)]):
        empty = [layer.w_o.weight.abs().sum(0).view(2, 4).sum(1) == 0 for layer in attention_layers(encoder)]
        assert [e.tolist() for e in empty] == [[False, False], [True, False], [False, True]]


def test_everything_is_restored_to_the_last_bit_even_after_an_error() -> None:
    layer, x = layer_of()
    before, output = layer.w_o.weight.detach().clone(), layer(x)
    with pytest.raises(RuntimeError, match="stop"), without_heads(layer, [(1, 2), (1, 2)]):
        raise RuntimeError("stop")
    with without_heads(layer, [(1, 1)]):
        with without_heads(layer, [(1, 1), (1, 3)]):
            pass
        assert layer.trace(x).contributions[:, 0].abs().max() == 0
        assert layer.trace(x).contributions[:, 2].abs().max() > 0
    assert torch.equal(layer.w_o.weight, before) and torch.equal(layer(x), output)
    assert layer.w_o.weight.requires_grad


@pytest.mark.parametrize("head", [(1, 0), (1, 4), (0, 1), (2, 1)])
def test_a_head_that_is_not_there_is_named_and_nothing_changes(head: tuple[int, int]) -> None:
    layer, _ = layer_of()
    before = layer.w_o.weight.detach().clone()
    with pytest.raises(ValueError, match="layer 1 has 3"), without_heads(layer, [(1, 1), head]):
        raise AssertionError("the block must not run")
    assert torch.equal(layer.w_o.weight, before)


def test_random_groups_differ_and_keep_out_of_the_chosen_one() -> None:
    encoder = Encoder(n_layers=2, d_model=12, h=4, d_ff=20)
    groups = random_groups(encoder, size=3, count=5, seed=1, but_not=[(1, 2), (2, 4)])
    assert len(set(groups)) == 5 and all(len(set(group)) == 3 for group in groups)
    assert not {(1, 2), (2, 4)} & {head for group in groups for head in group}
    assert groups == random_groups(encoder, size=3, count=5, seed=1, but_not=[(1, 2), (2, 4)])
    assert len(random_groups(encoder, size=8, count=5, seed=1)) == 1
    with pytest.raises(ValueError, match="groups of 7 heads can't be drawn from 6"):
        random_groups(encoder, size=7, count=1, seed=1, but_not=[(1, 1), (1, 2)])
