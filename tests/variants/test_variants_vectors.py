"""Published variants against reference vectors: every stage, authors' weights through a weight map."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from mha_course.variants import weight_maps
from mha_course.variants.collaborative import CollaborativeHeads

VECTORS = Path(__file__).parents[1] / "vectors"


def vector(name: str) -> dict[str, Tensor]:
    return load_file(VECTORS / f"{name}.safetensors")


def near(ours: Tensor, theirs: Tensor, within: float = 1e-5) -> bool:
    return ours.shape == theirs.shape and bool(((ours - theirs).abs() < within).all())


def test_plain_heads() -> None:
    t = vector("annotated_mha")
    layer = weight_maps.plain_from_annotated(t, h=4)
    assert near(layer.trace(t["x"], mask=t["pad_mask"]).weights, t["attn_pad"])
    assert near(layer(t["x"], t["memory"], mask=t["memory_mask"]), t["y_cross"])
    t = vector("torch_multihead_attention")
    layer = weight_maps.plain_from_torch(t, h=4)
    assert near(layer(t["x"]), t["y_nomask"])
    allowed = ~t["attn_mask"] & ~t["key_padding_mask"][:, None]
    assert near(layer.trace(t["x"], mask=allowed).weights, t["attn_causal"])


def test_grouped_heads() -> None:
    t = vector("llama_gqa")
    layer = weight_maps.grouped_from_llama(t, h=4)
    trace = layer.trace(t["x"])
    assert (layer.n_kv_heads, layer.d_k) == (2, 8)
    assert near(trace.q, t["q_rot"]) and near(trace.k[:, ::2], t["k_rot"]) and near(trace.v[:, ::2], t["v"])
    assert near(trace.weights, t["attn"]) and near(trace.output, t["y"])
    assert near(layer(t["x"], mask=t["additive_mask"] == 0), t["y"])


@pytest.mark.parametrize("name", ["collab", "rank6"])
def test_collaborative_heads(name: str) -> None:
    t = vector("collaborative_attention")
    mask = t["additive_mask"] == 0
    layer = weight_maps.collaborative_from_authors(t, f"{name}.")
    trace = layer.trace(t["x"], mask=mask)
    assert near(trace.output, t[f"y_{name}"]) and near(trace.weights, t[f"attn_{name}"])
    assert near(layer(t["x"], mask=mask), t[f"y_{name}"])


def test_collaborative_conversion_of_a_layer_with_biases() -> None:
    t = vector("collaborative_attention")
    plain = weight_maps.plain_from_bert(t, h=4)
    layer = CollaborativeHeads.from_layer(plain)
    assert near(layer.content_bias.weight, t["collab.content_bias.weight"])
    assert near(layer.mixing, t["collab.mixing"])
    mask = t["additive_mask"] == 0
    assert near(layer(t["x"], mask=mask), t["y_concat"]) and near(plain(t["x"], mask=mask), t["y_concat"])


def test_overlapping_heads() -> None:
    t = vector("mohsa_attention")
    layer = weight_maps.overlapping_from_authors(t, h=3)
    assert layer.overlap == 1
    trace = layer.trace(t["x"])
    pairs = (("q", "q"), ("k", "k"), ("v", "v"), ("weights", "attn"), ("heads", "head_out"), ("output", "y"))
    for ours, theirs in pairs:
        assert near(getattr(trace, ours), t[theirs]), ours
    assert near(layer(t["x"]), t["y"])


def test_talking_heads() -> None:
    t = vector("talking_heads")
    layer = weight_maps.talking_from_authors(t)
    trace = layer.trace(t["x"])
    for ours, theirs in (
        ("raw_scores", "scores"),
        ("scores", "scores_mixed"),
        ("weights", "weights"),
        ("composed_weights", "weights_mixed"),
        ("output", "y"),
    ):
        assert near(getattr(trace, ours), t[theirs]), ours


@pytest.mark.parametrize(("gates", "y", "balance"), [("code", "y", "code"), ("paper", "y_paper", "paper")])
def test_mixture_of_heads(gates: str, y: str, balance: str) -> None:
    t = vector("moh_shared2_top2of4")
    layer = weight_maps.mixture_from_authors(t, h=6, chosen=2, gates=gates)
    assert layer.shared == 2
    routing = layer.routing(t["x"])
    assert near(routing.gates, t[f"gates_{gates}"]) and near(routing.balance, t[f"aux_{balance}"])
    assert near(routing.probabilities, t["router_probs"]) and near(2 * routing.types, t["alpha_times2"])
    assert torch.equal(routing.chosen.float(), t["topk_mask"])
    trace = layer.trace(t["x"])
    assert near(trace.weights, t["attn"])
    assert near(trace.output, t[y]) and near(layer(t["x"]), t[y])


def test_dynamically_composable_heads() -> None:
    t = vector("dcmha_compose")
    layer = weight_maps.composable_from_authors(t)
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
    layer = weight_maps.composable_from_authors(t)
    of_query, of_key = layer.before.side(t["x"], 0), layer.before.side(t["x"], 1)
    for side, letter in ((of_query, "q"), (of_key, "k")):
        assert near(side.w_1, t[f"pre_{letter}w1"]) and near(side.w_2, t[f"pre_{letter}w2"])
        assert near(side.g, t[f"pre_{letter}dd"])
    dense = torch.einsum("bits,btsij->bjts", t["scores"], layer.before.matrices(t["x"], t["x"]))
    assert near(dense, t["scores_composed"], 2e-5)
