"""Learning gates and taking heads out for good: the smaller model computes what the gated one did."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from mha_course.heads.ablation import attention_layers
from mha_course.heads.gating import FixedGates, gated
from mha_course.heads.pruning import (
    GateRecipe,
    NoHeads,
    attention_size,
    gates_for,
    learn_gates,
    pruned_layer,
    pruned_model,
    survivors,
)
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.transformer import DecoderLayer, Encoder
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.kv_cache import decode

LAYERS = {
    "plain": lambda: MultiHeadAttention(24, 6, bias=True),
    "odd widths, groups": lambda: MultiHeadAttention(24, 6, d_k=3, d_v=5, n_kv_heads=2),
    "one key head": lambda: MultiHeadAttention(24, 6, n_kv_heads=1),
    "rotary groups": lambda: GroupedQueryAttention(24, 6, 3),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("gate", [[0, 1, 0, 0.3, 1, 0], [0, 0, 0, 0.7, 0, 0], [1, 0.5, 0, 0, 1, 1], [1] * 6])
def test_the_smaller_layer_computes_what_the_gated_one_did(name: str, gate: list[float]) -> None:
    torch.manual_seed(len(name))
    layer, x = LAYERS[name]().double(), torch.randn(2, 7, 24).double()
    gate, mask = torch.tensor(gate), causal_mask(7)
    small = pruned_layer(layer, gate)
    with gated(layer, [FixedGates(gate)]):
        expected, again = layer(x, mask=mask), pruned_layer(layer, gate)(x, mask=mask)
        shares = layer.trace(x).contributions[:, gate > 0]
    assert torch.allclose(small(x, mask=mask), expected, atol=1e-12)
    assert torch.equal(small(x, mask=mask), again)
    assert torch.allclose(small.trace(x).contributions, shares)
    assert small.h == int((gate > 0).sum()) and small.w_o.weight.shape == (24, small.h * layer.d_v)
    assert small.w_q.weight.shape == (small.h * layer.d_k, 24)
    numbers = [sum(p.numel() for p in one.parameters()) for one in (small, layer)]
    assert [attention_size(one, 7).parameters for one in (small, layer)] == numbers


def test_a_layer_without_heads_leaves_its_bias() -> None:
    x, closed = torch.randn(2, 5, 12), torch.zeros(3)
    for bias in (True, False):
        layer = MultiHeadAttention(12, 3, bias=bias)
        if bias:
            nn.init.normal_(layer.w_o.bias)
        small = pruned_layer(layer, closed)
        with gated(layer, [FixedGates(closed)]):
            assert torch.allclose(small(x, x), layer(x))
        trace = small.trace(x, torch.randn(2, 7, 12))
        assert trace.weights.shape == (2, 0, 5, 7) and trace.contributions.shape == (2, 0, 5, 12)
        assert torch.equal(trace.output, small(x))
        assert attention_size(small, 5).parameters == (12 if bias else 0)
    with pytest.raises(ValueError, match="h=3"):
        pruned_layer(layer, torch.ones(4))
    with pytest.raises(ValueError, match=r"gate=\[1.0, nan, 0.0\]"):
        pruned_layer(layer, torch.tensor([1, torch.nan, 0]))


def test_a_pruned_model_is_equal_smaller_and_a_copy() -> None:
    torch.manual_seed(1)
    model, x = Encoder(n_layers=3, d_model=24, h=4, d_ff=20).eval(), torch.randn(2, 7, 24)
    gates = (torch.tensor([0, 1, 0, 0.5]), torch.zeros(4), torch.ones(4))
    before = model(x)
    small = pruned_model(model, gates)
    with gated(model, [FixedGates(gate) for gate in gates]):
        assert torch.allclose(small(x), model(x), atol=1e-6)
    assert [layer.h for layer in attention_layers(small)] == [2, 4]
    assert isinstance(small.layers[1].attention, NoHeads)
    whole, left = attention_size(model, 7, b=2), attention_size(small, 7, b=2)
    assert (whole.heads, left.heads) == (12, 6)
    # a head of width 6: 4 * 24 * 6 weights and 3 * 6 biases; W_O's bias of 24 stays in all layers
    assert whole.parameters - left.parameters == 6 * (4 * 24 * 6 + 3 * 6)
    assert left.flops * 2 == whole.flops == 3 * 2 * (8 * 7 * 24**2 + 4 * 7**2 * 24)
    assert survivors(gates) == [(1, 2), (1, 4), (3, 1), (3, 2), (3, 3), (3, 4)]
    for p in small.parameters():
        nn.init.zeros_(p)
    assert torch.equal(model(x), before)
    with pytest.raises(ValueError, match="3 attention layers"):
        pruned_model(model, gates[:2])


def test_a_model_may_be_a_layer_and_a_layer_may_have_two_names() -> None:
    torch.manual_seed(3)
    layer, x, gate = MultiHeadAttention(12, 3), torch.randn(2, 5, 12), torch.tensor([0, 0.5, 1])
    pair = nn.Sequential(layer, layer)
    with gated(layer, [FixedGates(gate)]):
        expected, both = layer(x), pair(x)
    small = pruned_model(layer, [gate])
    assert small.h == 2 and layer.h == 3 and torch.allclose(small(x), expected, atol=1e-6)
    assert torch.allclose(pruned_model(pair, [gate])(x), both, atol=1e-6)


def planted() -> tuple[MultiHeadAttention, torch.Tensor, torch.Tensor]:
    """Four heads, of which the loss needs the second only."""
    torch.manual_seed(6)
    layer, x = MultiHeadAttention(16, 4), torch.randn(8, 5, 16)
    return layer.requires_grad_(False), x, layer.trace(x).contributions[:, 1]


@pytest.mark.parametrize("weight_rate", [0.0, 1e-3])
def test_the_head_that_is_needed_survives(weight_rate: float) -> None:
    layer, x, wanted = planted()
    before = layer.w_o.weight.clone()
    recipe = GateRecipe(0.02, steps=160, gate_rate=0.1, weight_rate=weight_rate, ramp=10, settle=20)
    gates = gates_for(layer, recipe.start, seed=3)
    state = torch.get_rng_state()
    layer.w_o.eval()
    modes = [part.training for part in layer.modules()]

    def loss(model: nn.Module, batch: torch.Tensor) -> torch.Tensor:
        return (model(batch) - wanted).pow(2).mean()

    steps = list(learn_gates(layer, gates, itertools.repeat(x), loss, recipe))
    assert torch.equal(torch.get_rng_state(), state)
    assert [step.number for step in steps] == list(range(1, 161))
    assert survivors(steps[-1].gates) == [(1, 2)] and steps[-1].kept == 1
    assert steps[0].expected_open > 3.5 and steps[-1].expected_open < 1.5
    assert torch.equal(steps[-1].gates[0], steps[-20].gates[0])
    assert torch.equal(layer.w_o.weight, before) == (weight_rate == 0)
    assert layer.gate is None and not any(p.requires_grad for p in layer.parameters())
    assert [part.training for part in layer.modules()] == modes and not all(modes)


def test_without_a_price_nothing_useful_goes_and_with_a_high_one_all_goes() -> None:
    layer, x, wanted = planted()

    def loss(model: nn.Module, batch: torch.Tensor) -> torch.Tensor:
        return (model(batch) - wanted).pow(2).mean()

    kept = []
    for strength in (0.0, 5.0):
        recipe = GateRecipe(strength, steps=90, gate_rate=0.1, weight_rate=0, ramp=0, settle=0)
        *_, last = learn_gates(layer, gates_for(layer), itertools.repeat(x), loss, recipe)
        kept.append(survivors(last.gates))
    assert (1, 2) in kept[0] and kept[1] == []


def test_the_price_grows_holds_and_ends() -> None:
    recipe = GateRecipe(strength=0.6, steps=10, ramp=3, settle=2)
    expected = [0.2, 0.4, *[0.6] * 6, 0, 0]
    assert [recipe.price(step) for step in range(1, 11)] == pytest.approx(expected)
    with pytest.raises(ValueError, match="strength=-1"):
        GateRecipe(strength=-1)
    with pytest.raises(ValueError, match="steps=10"):
        GateRecipe(steps=10, ramp=6, settle=5)
    for wrong in ({"start": "a"}, {"strength": torch.inf}, {"gate_rate": True}, {"weight_rate": "1"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}=.* finite number"):
            GateRecipe(**wrong)


def test_a_loss_that_is_nan_ends_the_learning() -> None:
    layer, x, _ = planted()
    steps = learn_gates(
        layer, gates_for(layer), [x, x * torch.nan], lambda m, one: m(one).mean(), GateRecipe()
    )
    assert next(steps).kept == 4
    with pytest.raises(ValueError, match="the loss of step 2 is nan"):
        next(steps)
    assert layer.gate is None and layer.training


def test_a_layer_without_heads_decodes_with_a_cache() -> None:
    stack = Encoder(3, 12, 4, 20).double().eval()
    pruned = pruned_model(stack, [torch.tensor([1.0, 0, 0.5, 1]), torch.zeros(4), torch.ones(4)]).double()
    prompt = torch.randn(2, 5, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    outputs = [decode(pruned, prompt, 3, lambda row: row.tanh(), cached) for cached in (True, False)]
    assert torch.allclose(*outputs, atol=1e-12)
    assert not torch.allclose(decode(stack, prompt, 3, lambda row: row.tanh()), outputs[0], atol=1e-3)


def test_a_decoder_whose_cross_attention_lost_all_heads_still_remembers() -> None:
    layer = DecoderLayer(12, 4, 20).double().eval()
    layer.cross_attention = pruned_layer(layer.cross_attention, torch.zeros(4))
    x, memory = (torch.randn(2, n, 12, dtype=torch.float64) for n in (5, 7))
    known = layer.cross_attention.keys_and_values(memory)
    assert known.k.shape == (2, 0, 7, 3)
    assert torch.equal(layer(x, layer.remember(memory)), layer(x, memory))
    assert layer.cross_attention.trace(x, known).weights.shape == (2, 0, 5, 7)


def test_sizes_of_few_bits_are_counted_in_full() -> None:
    layer = MultiHeadAttention(24, 6)
    assert attention_size(layer, np.int32(2**20), np.int32(2**10)) == attention_size(layer, 2**20, 2**10)
    assert attention_size(layer, np.int32(2**20), np.int32(2**10)).flops > 2**56
    for sizes in ((-1,), (5, -2), (5.0,)):
        with pytest.raises(ValueError, match="must be a whole number"):
            attention_size(layer, *sizes)
