"""Circuits: they give the scores and the outputs of real layers, and their ranks."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mha_course.heads.circuits import (
    circuit_rank,
    composed_qk_circuit,
    ov_circuit,
    qk_circuit,
    read_through,
)
from mha_course.layers import MultiHeadAttention
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads


def draw(*shape: int, seed: int = 5) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def filled(layer: torch.nn.Module, bias: float = 0.0) -> torch.nn.Module:
    g = torch.Generator().manual_seed(8)
    layer.double()
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            size = bias if name.endswith("bias") else 0.4
            parameter.copy_(size * torch.randn(parameter.shape, generator=g, dtype=torch.float64))
    return layer


LAYERS = {
    "plain": lambda: MultiHeadAttention(12, 3, 5, 2),
    "own scale": lambda: MultiHeadAttention(12, 3, bias=True),
    "grouped": lambda: MultiHeadAttention(12, 6, n_kv_heads=2),
    "collaborative": lambda: CollaborativeHeads(12, 3, width=7, mixing="normal"),
    "overlapping": lambda: OverlappingHeads(12, 3, 2),
}


@pytest.mark.parametrize("name", LAYERS)
def test_circuits_give_scores_and_contributions(name: str) -> None:
    layer = filled(LAYERS[name]())
    if name == "own scale":
        layer.scale = 0.7
    x = draw(1, 9, 12)
    trace = layer.trace(x)
    for head in range(layer.h):
        scores = x[0] @ qk_circuit(layer, head) @ x[0].T
        torch.testing.assert_close(scores, trace.scores[0, head], atol=1e-12, rtol=0)
        written = trace.weights[0, head] @ x[0] @ ov_circuit(layer, head)
        torch.testing.assert_close(written, trace.contributions[0, head], atol=1e-12, rtol=0)


def test_biases_are_left_out() -> None:
    biased, plain = filled(LAYERS["own scale"](), 0.9), filled(LAYERS["own scale"](), 0.0)
    for circuit in (qk_circuit, ov_circuit):
        for head in range(3):
            torch.testing.assert_close(circuit(biased, head), circuit(plain, head), atol=1e-12, rtol=0)
    assert biased.w_q.bias.abs().max().item() > 0.1


def test_ranks_are_those_of_the_widths_and_composing_lifts_them() -> None:
    layer = filled(TalkingHeads(16, 4, 3, 2))
    for head in range(4):
        assert circuit_rank(qk_circuit(layer, head)) == 3
        assert circuit_rank(ov_circuit(layer, head)) == 2
    assert circuit_rank(composed_qk_circuit(layer, layer.p_scores, 1)) == 12
    assert circuit_rank(composed_qk_circuit(layer, torch.eye(4).double(), 1)) == 3
    assert circuit_rank(torch.zeros(3, 4)) == 0


def test_before_the_softmax_circuits_are_summed() -> None:
    layer = filled(TalkingHeads(12, 4))
    x = draw(1, 6, 12)
    for head in range(4):
        scores = x[0] @ composed_qk_circuit(layer, layer.p_scores, head) @ x[0].T
        torch.testing.assert_close(scores, layer.trace(x).scores[0, head], atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", ["talking", "composable"])
def test_after_the_softmax_every_map_is_read_through_every_ov(kind: str) -> None:
    if kind == "talking":
        layer = filled(TalkingHeads(12, 3, bias=True), 0.3)
    else:
        layer = filled(DynamicallyComposableHeads(12, 3, bias=True), 0.3)
    x = draw(7, 12)
    shares = layer.p_weights if kind == "talking" else layer.after.matrices(x[None], x[None])[0]
    trace = layer.trace(x[None])
    parts = read_through(layer, x, trace.weights[0], shares)
    assert parts.shape == (3, 3, 7, 12)
    torch.testing.assert_close(parts.sum((0, 1)) + layer.w_o.bias, trace.output[0], atol=1e-12, rtol=0)
    if kind == "talking":
        # Read off the circuits alone, where there is no bias.
        layer.w_v.bias.data.zero_()
        one = read_through(layer, x, trace.weights[0], shares)[2, 1]
        expected = shares[2, 1] * trace.weights[0, 2] @ x @ ov_circuit(layer, 1)
        torch.testing.assert_close(one, expected, atol=1e-12, rtol=0)


def test_what_is_refused() -> None:
    layer = MultiHeadAttention(12, 3)
    for circuit in (qk_circuit, ov_circuit):
        with pytest.raises(TypeError, match="Linear"):
            circuit(torch.nn.Linear(2, 2), 0)
        for head in (3, -1, 1.0, True):
            with pytest.raises(ValueError, match="3 heads"):
                circuit(layer, head)
    for rotary in (GroupedQueryAttention(12, 3), DynamicallyComposableHeads(12, 3, rotary=100.0)):
        with pytest.raises(ValueError, match="rotary"):
            qk_circuit(rotary, 0)
        assert ov_circuit(rotary, 0).shape == (12, 12)
    with pytest.raises(ValueError, match="matrix"):
        circuit_rank(torch.zeros(3))
    with pytest.raises(ValueError, match="shares"):
        composed_qk_circuit(layer, torch.eye(2), 0)
    x, weights = torch.randn(4, 12), torch.rand(3, 4, 4)
    with pytest.raises(ValueError, match="weights"):
        read_through(layer, x, weights[:2], torch.eye(3))
    with pytest.raises(ValueError, match="shares"):
        read_through(layer, x, weights, torch.eye(4))
