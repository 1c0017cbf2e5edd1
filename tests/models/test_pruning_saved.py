"""What pruning saves, counted, and that the smaller model computes the same."""

from __future__ import annotations

import pytest
import torch

from mha_course.layers import MultiHeadAttention
from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.models.pruning_saved import HELD_AT_ZERO, TAKEN_OUT, WHOLE, layer_savings, model_savings


def test_counts_of_a_layer_and_the_same_output() -> None:
    torch.manual_seed(1)
    layer = MultiHeadAttention(20, 5, bias=True).double()
    whole, held, small = layer_savings(layer, torch.tensor([0.0, 1.0, 0.5, 0.0, 0.0]), b=3, n=7, seconds=0.01)
    assert [row.what for row in (whole, held, small)] == [WHOLE, HELD_AT_ZERO, TAKEN_OUT]
    assert [row.heads for row in (whole, held, small)] == [5, 5, 2]
    # four matrices of 20 x 20 and four biases, then of 20 x 8; the last bias stays whole
    assert whole.parameters == held.parameters == whole.all_parameters == 4 * 400 + 80
    assert small.parameters == 4 * 160 + 3 * 8 + 20 and small.bytes == 4 * small.parameters
    assert whole.flops == held.flops and 0.35 < small.flops / whole.flops < 0.45
    assert small.difference < 1e-12 < 0.01 < whole.difference
    assert layer.gate is None


def test_a_model_without_most_heads_is_smaller_by_their_share_of_attention() -> None:
    torch.manual_seed(2)
    model = GlossModel(GlossSizes(d_model=24, h=4, n_layers=2, d_ff=40)).requires_grad_(False).eval()
    gates = [torch.tensor([1.0, 0, 0, 0]), torch.tensor([0, 0.0, 1.0, 1.0])]
    whole, held, small = model_savings(model, gates, b=5, n=6, seconds=0.01)
    assert (whole.heads, held.heads, small.heads) == (8, 8, 3)
    saved = whole.parameters - small.parameters
    assert saved == whole.all_parameters - small.all_parameters == 5 * (4 * 24 * 6 + 3 * 6)
    assert small.difference < 1e-5
    with pytest.raises(ValueError, match="2 attention layers"):
        model_savings(model, gates[:1], seconds=0.01)
    with pytest.raises(ValueError, match="b=0"):
        model_savings(model, gates, b=0)


def test_only_taking_heads_out_saves_time() -> None:
    """A quarter of the heads of a wide layer; the limits leave room for a busy machine."""
    gate = torch.tensor([1.0, 1.0] + [0.0] * 6)
    for _ in range(3):
        whole, held, small = layer_savings(MultiHeadAttention(256, 8), gate, b=2, n=96, seconds=0.1)
        if small.milliseconds < 0.6 * min(whole.milliseconds, held.milliseconds):
            return
    pytest.fail(f"took {small.milliseconds:.2f} ms, with all heads {whole.milliseconds:.2f} ms")
