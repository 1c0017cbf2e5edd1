"""Published variants against reference vectors: every stage, authors' weights through a weight map."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from mha_course.layers import MultiHeadAttention
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads

VECTORS = Path(__file__).parents[1] / "vectors"


def vector(name: str) -> dict[str, Tensor]:
    return load_file(VECTORS / f"{name}.safetensors")


@torch.no_grad()
def fill(linear: nn.Linear, weight: Tensor, bias: Tensor | None = None) -> None:
    linear.weight.copy_(weight)
    if linear.bias is not None:
        linear.bias.copy_(torch.zeros_like(linear.bias) if bias is None else bias)


def near(ours: Tensor, theirs: Tensor, within: float = 1e-5) -> bool:
    return ours.shape == theirs.shape and bool(((ours - theirs).abs() < within).all())


def collaborative(t: dict[str, Tensor], width: int) -> CollaborativeHeads:
    name = "collab" if width == 16 else "rank6"
    layer = CollaborativeHeads(16, 4, width, content_bias=True, bias=True)
    fill(layer.w_q, t[f"{name}.query.weight"])
    fill(layer.w_k, t[f"{name}.key.weight"])
    fill(layer.content_bias, t[f"{name}.content_bias.weight"])
    fill(layer.w_v, t[f"{name}.value.weight"], t[f"{name}.value.bias"])
    fill(layer.w_o, torch.eye(16))
    layer.mixing.data = t[f"{name}.mixing"]
    return layer


def test_collaborative_heads() -> None:
    t = vector("collaborative_attention")
    mask = t["additive_mask"] == 0
    for width, name in ((16, "collab"), (6, "rank6")):
        layer = collaborative(t, width)
        layer.scale = (width / 4) ** -0.5  # as their code has it, whatever the layer was converted from
        trace = layer.trace(t["x"], mask=mask)
        assert near(trace.output, t[f"y_{name}"]) and near(trace.weights, t[f"attn_{name}"])
        assert near(layer(t["x"], mask=mask), t[f"y_{name}"])


def test_collaborative_conversion_of_a_layer_with_biases() -> None:
    t = vector("collaborative_attention")
    plain = MultiHeadAttention(16, 4, bias=True)
    for ours, theirs in (("w_q", "query"), ("w_k", "key"), ("w_v", "value")):
        fill(getattr(plain, ours), t[f"bert.{theirs}.weight"], t[f"bert.{theirs}.bias"])
    fill(plain.w_o, torch.eye(16))
    layer = CollaborativeHeads.from_layer(plain)
    assert near(layer.content_bias.weight, t["collab.content_bias.weight"])
    assert near(layer.mixing, t["collab.mixing"])
    mask = t["additive_mask"] == 0
    assert near(layer(t["x"], mask=mask), t["y_concat"]) and near(plain(t["x"], mask=mask), t["y_concat"])


def test_overlapping_heads() -> None:
    t = vector("mohsa_attention")
    layer = OverlappingHeads(12, 3, overlap=1, bias=True)
    for part, weight in zip((layer.w_q, layer.w_k, layer.w_v), t["w.to_qkv.weight"].chunk(3), strict=True):
        fill(part, weight)
    fill(layer.w_o, t["w.to_out.0.weight"], t["w.to_out.0.bias"])
    trace = layer.trace(t["x"])
    pairs = (("q", "q"), ("k", "k"), ("v", "v"), ("weights", "attn"), ("heads", "head_out"), ("output", "y"))
    for ours, theirs in pairs:
        assert near(getattr(trace, ours), t[theirs]), ours
    assert near(layer(t["x"]), t["y"])


def test_talking_heads() -> None:
    t = vector("talking_heads")
    layer = TalkingHeads(12, 3, bias=True)
    weights = (t["w.to_q.weight"], *t["w.to_kv.weight"].chunk(2))
    for part, weight in zip((layer.w_q, layer.w_k, layer.w_v), weights, strict=True):
        fill(part, weight)
    fill(layer.w_o, t["w.to_out.0.weight"], t["w.to_out.0.bias"])
    layer.p_scores.data, layer.p_weights.data = t["w.mix_heads_pre_attn"], t["w.mix_heads_post_attn"]
    trace = layer.trace(t["x"])
    for ours, theirs in (
        ("raw_scores", "scores"),
        ("scores", "scores_mixed"),
        ("weights", "weights"),
        ("composed_weights", "weights_mixed"),
        ("output", "y"),
    ):
        assert near(getattr(trace, ours), t[theirs]), ours


def mixture(t: dict[str, Tensor], gates: str) -> MixtureOfHeads:
    layer = MixtureOfHeads(24, 6, shared=2, chosen=2, gates=gates, bias=True)
    parts = zip(
        (layer.w_q, layer.w_k, layer.w_v), t["w.qkv.weight"].chunk(3), t["w.qkv.bias"].chunk(3), strict=True
    )
    for part, weight, bias in parts:
        fill(part, weight, bias)
    fill(layer.w_o, t["w.proj.weight"], t["w.proj.bias"])
    fill(layer.router_routed, t["w.wg.weight"])
    fill(layer.router_shared, t["w.wg_1.weight"])
    fill(layer.router_types, t["w.wg_0.weight"])
    return layer


@pytest.mark.parametrize(("gates", "y", "balance"), [("code", "y", "code"), ("paper", "y_paper", "paper")])
def test_mixture_of_heads(gates: str, y: str, balance: str) -> None:
    t = vector("moh_shared2_top2of4")
    layer = mixture(t, gates)
    routing = layer.routing(t["x"])
    assert near(routing.gates, t[f"gates_{gates}"]) and near(routing.balance, t[f"aux_{balance}"])
    assert near(routing.probabilities, t["router_probs"]) and near(2 * routing.types, t["alpha_times2"])
    assert torch.equal(routing.chosen.float(), t["topk_mask"])
    trace = layer.trace(t["x"])
    assert near(trace.weights, t["attn"])
    assert near(trace.output, t[y]) and near(layer(t["x"]), t[y])


def composable(t: dict[str, Tensor]) -> DynamicallyComposableHeads:
    layer = DynamicallyComposableHeads(32, 4, static=False, rotary=500_000.0)
    for part, weight in zip((layer.w_q, layer.w_k, layer.w_v), t["w.wqkv.weight"].chunk(3), strict=True):
        fill(part, weight)
    fill(layer.w_o, t["w.wo.weight"])
    with torch.no_grad():
        for part, first in ((layer.before, 0), (layer.after, 2)):
            for side in (0, 1):  # theirs: pre-query, pre-key, post-query, post-key
                part.w_1[side] = t["w.dw1"][:, 0, first + side]
                part.w_2[side] = t["w.qkw"][0, first + side]
                part.d[side] = t["w.dd"][:, 0].view(32, 4, 4)[:, first + side]
    return layer


def test_dynamically_composable_heads() -> None:
    t = vector("dcmha_compose")
    layer = composable(t)
    mask = t["mask"][0, 0]
    trace = layer.trace(t["x"], mask=mask)
    hidden = ~mask.expand_as(t["scores"])
    assert near(trace.raw_scores, t["scores"], 2e-5)
    assert near(trace.scores.masked_fill(hidden, 0), t["scores_composed"].masked_fill(hidden, 0), 2e-5)
    assert near(trace.weights, t["attn"]) and near(trace.composed_weights, t["attn_composed"])
    assert near(trace.output, t["y"]) and near(layer(t["x"], mask=mask), t["y"])
    plain = layer.identity()
    assert near(plain(t["x"], mask=mask), t["y_plain_mha"])


def test_its_branches_and_its_dense_matrices() -> None:
    t = vector("dcmha_compose")
    layer = composable(t)
    of_query, of_key = layer.before.side(t["x"], 0), layer.before.side(t["x"], 1)
    for side, letter in ((of_query, "q"), (of_key, "k")):
        assert near(side.w_1, t[f"pre_{letter}w1"]) and near(side.w_2, t[f"pre_{letter}w2"])
        assert near(side.g, t[f"pre_{letter}dd"])
    dense = torch.einsum("bits,btsij->bjts", t["scores"], layer.before.matrices(t["x"], t["x"]))
    assert near(dense, t["scores_composed"], 2e-5)
