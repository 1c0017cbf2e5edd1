"""Numbers that other implementations computed, recomputed here from their weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from mha_course.annotated import MultiHeadedAttention
from mha_course.layers import MultiHeadAttention

VECTORS = Path(__file__).parent / "vectors"
D_MODEL, H = 16, 4


@pytest.fixture(scope="module")
def annotated() -> dict[str, torch.Tensor]:
    return load_file(VECTORS / "annotated_mha.safetensors")


@pytest.fixture(scope="module")
def by_torch() -> dict[str, torch.Tensor]:
    return load_file(VECTORS / "torch_multihead_attention.safetensors")


@pytest.fixture(scope="module")
def ours(annotated: dict[str, torch.Tensor]) -> MultiHeadAttention:
    layer = MultiHeadAttention(D_MODEL, H, bias=True)
    layer.load_state_dict(
        {
            f"{ours}.{part}": annotated[f"w.linears.{theirs}.{part}"]
            for theirs, ours in enumerate(("w_q", "w_k", "w_v", "w_o"))
            for part in ("weight", "bias")
        }
    )
    return layer


@pytest.fixture(scope="module")
def eight_steps(annotated: dict[str, torch.Tensor]) -> MultiHeadedAttention:
    layer = MultiHeadedAttention(H, D_MODEL).eval()
    layer.load_state_dict({name[2:]: value for name, value in annotated.items() if name.startswith("w.")})
    return layer


@pytest.mark.parametrize(("mask", "case"), [("pad_mask", "pad"), ("causal_pad_mask", "causal")])
def test_self_attention_of_the_annotated_class(annotated, ours, eight_steps, mask: str, case: str) -> None:
    x, keep = annotated["x"], annotated[mask]
    trace = ours.trace(x, mask=keep)
    alive = keep.any(-1).expand(x.shape[:2])
    for y in (ours(x, mask=keep), trace.output, eight_steps(x, x, x, keep)):
        assert torch.allclose(y[alive], annotated[f"y_{case}"][alive], atol=1e-5)
    assert torch.allclose(trace.weights, annotated[f"attn_{case}"], atol=1e-5)
    assert torch.allclose(eight_steps.attn, annotated[f"attn_{case}"], atol=1e-5)


def test_cross_attention_of_the_annotated_class(annotated, ours, eight_steps) -> None:
    x, memory, keep = annotated["x"], annotated["memory"], annotated["memory_mask"]
    assert torch.allclose(ours(x, memory, mask=keep), annotated["y_cross"], atol=1e-5)
    assert torch.allclose(ours.trace(x, memory, mask=keep).weights, annotated["attn_cross"], atol=1e-5)
    assert torch.allclose(eight_steps(x, memory, memory, keep), annotated["y_cross"], atol=1e-5)


def test_a_blocked_row_is_uniform_there_and_zero_here(annotated, ours, eight_steps) -> None:
    x, keep = annotated["x"], annotated["dead_mask"]
    assert torch.allclose(eight_steps(x, x, x, keep), annotated["y_dead"], atol=1e-5)
    assert torch.allclose(annotated["attn_dead"][:, :, 0], torch.tensor(1 / 5), atol=1e-6)
    weights = ours.trace(x, mask=keep).weights
    assert (weights[:, :, 0] == 0).all()
    assert torch.allclose(weights[:, :, 1:], annotated["attn_dead"][:, :, 1:], atol=1e-5)


def test_torch_multihead_attention(by_torch) -> None:
    theirs = nn.MultiheadAttention(D_MODEL, H, batch_first=True).eval()
    theirs.load_state_dict({name[2:]: value for name, value in by_torch.items() if name.startswith("w.")})
    ours, x = MultiHeadAttention.from_torch(theirs), by_torch["x"]
    padding = ~by_torch["key_padding_mask"][:, None, None, :]
    causal = ~by_torch["attn_mask"][None, None]
    assert torch.allclose(ours(x), by_torch["y_nomask"], atol=1e-5)
    assert torch.allclose(ours.trace(x).weights.mean(1), by_torch["attn_nomask_avg"], atol=1e-5)
    assert torch.allclose(ours(x, mask=padding), by_torch["y_pad"], atol=1e-5)
    assert torch.allclose(ours.trace(x, mask=padding).weights, by_torch["attn_pad"], atol=1e-5)
    reported = ours.trace(x, mask=causal & padding)  # the vector has both masks on
    assert torch.allclose(reported.output, by_torch["y_causal"], atol=1e-5)
    assert torch.allclose(reported.weights, by_torch["attn_causal"], atol=1e-5)


def test_the_row_that_is_nan_there_is_finite_here(by_torch) -> None:
    theirs = nn.MultiheadAttention(D_MODEL, H, batch_first=True).eval()
    theirs.load_state_dict({name[2:]: value for name, value in by_torch.items() if name.startswith("w.")})
    ours, x = MultiHeadAttention.from_torch(theirs), by_torch["x"]
    keep = ~by_torch["dead_attn_mask"][None]
    assert torch.isnan(by_torch["y_dead"][:, 0]).all()
    y = ours(x, mask=keep)
    assert torch.allclose(y[:, 0], ours.w_o.bias.expand(2, -1), atol=1e-6)
    assert torch.allclose(y[:, 1:], by_torch["y_dead"][:, 1:], atol=1e-5)


def test_the_annotated_class_drops_weights_in_training() -> None:
    torch.manual_seed(0)
    layer, x = MultiHeadedAttention(3, 12, dropout=0.5), torch.randn(2, 5, 12)
    layer(x, x, x)
    assert (layer.attn == 0).any()
    assert (layer.attn.sum(-1) - 1).abs().max() > 0.1
    with pytest.raises(ValueError, match="d_model=10"):
        MultiHeadedAttention(3, 10)
