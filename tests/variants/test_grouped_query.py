"""Grouped-query attention: LLaMA's numbers, the plain layer as a special case, both layouts of pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from mha_course.attention import repeat_kv_heads, scaled_dot_product_attention
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask, padding_mask
from mha_course.variants.grouped_query import GroupedQueryAttention, grouped_attention
from mha_course.variants.rotary import rotated, to_neighbours

VECTORS = Path(__file__).parents[1] / "vectors"


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def made(*sizes: int, seed: int = 0, **options) -> GroupedQueryAttention:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return GroupedQueryAttention(*sizes, **options).double()


def llama() -> tuple[GroupedQueryAttention, dict[str, torch.Tensor]]:
    t = load_file(VECTORS / "llama_gqa.safetensors")
    layer = GroupedQueryAttention(32, 4, 2, base=10_000, pairs="halves")
    layer.load_state_dict({f"w_{name}.weight": t[f"w.{name}_proj.weight"] for name in "qkvo"})
    return layer, t


def test_every_stage_of_llama_attention() -> None:
    layer, t = llama()
    trace = layer.trace(t["x"])
    for ours, theirs in (
        (layer(t["x"]), t["y"]),
        (trace.output, t["y"]),
        (trace.weights, t["attn"]),
        (trace.q, t["q_rot"]),
        (trace.k, t["k_rot"].repeat_interleave(2, 1)),
        (trace.v, t["v"].repeat_interleave(2, 1)),
        (trace.contributions.sum(1), t["y"]),
    ):
        assert torch.allclose(ours, theirs, atol=1e-5, rtol=0)
    k, v = layer.shared_keys_and_values(t["x"], t["x"])
    assert torch.allclose(k, t["k_rot"], atol=1e-5) and torch.allclose(v, t["v"], atol=1e-5)
    assert (t["additive_mask"][0, 0] == 0).equal(causal_mask(6))
    assert layer.w_q.bias is None and layer.w_o.bias is None


def test_pairs_of_neighbours_give_the_same_after_reordering() -> None:
    theirs, t = llama()
    ours = GroupedQueryAttention(32, 4, 2, base=10_000)
    state = theirs.state_dict()
    for name, heads in (("w_q.weight", 4), ("w_k.weight", 2)):
        state[name] = to_neighbours(state[name], heads)
    ours.load_state_dict(state)
    assert torch.allclose(ours(t["x"]), t["y"], atol=1e-5, rtol=0)
    assert not torch.allclose(ours.trace(t["x"]).q, t["q_rot"], atol=1e-2)
    with pytest.raises(ValueError, match="12 rows"):
        to_neighbours(torch.zeros(12, 5), 4)


@pytest.mark.parametrize("pairs", ["neighbours", "halves"])
def test_scores_depend_on_the_distance_only_and_lengths_stay(pairs: str) -> None:
    q, k = drawn(1, 10, seed=1).expand(9, 10), drawn(1, 10, seed=2).expand(9, 10)
    scores = rotated(q, pairs=pairs) @ rotated(k, pairs=pairs).T
    for offset in range(-8, 9):
        line = scores.diagonal(offset)
        assert torch.allclose(line, line[:1].expand_as(line))
    assert scores.diagonal(1)[0] != pytest.approx(float(scores.diagonal(-1)[0]))
    assert torch.allclose(rotated(q, pairs=pairs).norm(dim=-1), q.norm(dim=-1))
    assert torch.equal(rotated(q, pairs=pairs)[3:], rotated(q[3:], start=3, pairs=pairs))


@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
def test_groups_are_a_plain_layer_with_turned_queries_and_keys(n_kv_heads: int) -> None:
    layer, x = made(24, 6, n_kv_heads, seed=n_kv_heads), drawn(2, 7, 24)
    trace = layer.trace(x)
    d_k, group = 4, 6 // n_kv_heads
    for i in range(6):
        kv = i // group
        q = rotated(x @ layer.w_q.weight[i * d_k : (i + 1) * d_k].T)
        k = rotated(x @ layer.w_k.weight[kv * d_k : (kv + 1) * d_k].T)
        v = x @ layer.w_v.weight[kv * d_k : (kv + 1) * d_k].T
        head, weights = scaled_dot_product_attention(q, k, v, causal_mask(7))
        assert torch.allclose(trace.heads[:, i], head) and torch.allclose(trace.weights[:, i], weights)
    assert torch.allclose(layer(x), trace.output)
    plain = MultiHeadAttention(24, 6, n_kv_heads=n_kv_heads).double()
    plain.load_state_dict(layer.state_dict())
    assert (plain(x, mask=causal_mask(7)) - layer(x)).abs().max() > 1e-3


def test_a_mask_is_joined_to_the_causal_one() -> None:
    layer, x, padding = made(16, 4, 2), drawn(3, 5, 16), padding_mask([5, 2, 3])
    trace = layer.trace(x, mask=padding)
    allowed = causal_mask(5) & padding
    assert torch.equal(trace.weights > 0, allowed.expand(3, 4, 5, 5))
    assert torch.allclose(layer(x, mask=padding), trace.output)
    free = made(16, 4, 2, causal=False)
    assert (free.trace(x).weights > 0).all()


def test_the_last_queries_alone_give_the_last_rows() -> None:
    layer, x = made(16, 4, 2), drawn(3, 9, 16)
    known = layer.keys_and_values(x)
    for n_q in (1, 4):
        assert torch.allclose(layer(x[:, -n_q:], known), layer(x)[:, -n_q:])
        assert torch.allclose(layer(x[:, -n_q:], x), layer(x)[:, -n_q:])
    with pytest.raises(ValueError, match="more queries than keys"):
        layer(x, x[:, :4])


@pytest.mark.parametrize("n_kv_heads", [1, 3, 6])
def test_grouped_attention_is_attention_to_copies(n_kv_heads: int) -> None:
    q, k, v = (
        drawn(2, 6, 4, 8, seed=1),
        drawn(2, n_kv_heads, 7, 8, seed=2),
        drawn(2, n_kv_heads, 7, 5, seed=3),
    )
    for mask in (None, causal_mask(4, 7)):
        expected = scaled_dot_product_attention(q, repeat_kv_heads(k, 6), repeat_kv_heads(v, 6), mask)[0]
        assert torch.allclose(grouped_attention(q, k, v, mask), expected)
    with pytest.raises(ValueError, match="h=5"):
        grouped_attention(q[:, :5], drawn(2, 2, 7, 8), v)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d_k": 5}, "d_k=5"),
        ({"n_kv_heads": 3}, "n_kv_heads=3"),
        ({"pairs": "quarters"}, "quarters"),
        ({"base": 1}, "base=1"),
        ({"base": "a"}, "base='a'"),
        ({"base": None}, "base=None"),
        ({"base": float("inf")}, "base=inf"),
    ],
)
def test_what_cannot_be_is_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GroupedQueryAttention(16, 4, **options)
    with pytest.raises(ValueError, match="d_model=10"):
        GroupedQueryAttention(10, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rotated(torch.ones(3, 4), base=0), "base=0"),
        (lambda: rotated(torch.ones(3, 4), base=-2, pairs="halves"), "base=-2"),
        (lambda: rotated(torch.ones(3, 4), base=float("nan")), "base=nan"),
        (lambda: rotated(torch.ones(3, 4), base="a"), "base='a'"),
        (lambda: rotated(torch.ones(4)), r"\(4,\)"),
        (lambda: rotated(torch.ones(4), pairs="halves"), r"\(4,\)"),
        (lambda: rotated(torch.ones(3, 4, dtype=torch.int64)), "torch.int64"),
        (lambda: rotated(torch.ones(3, 4, dtype=torch.int64), pairs="halves"), "torch.int64"),
        (lambda: to_neighbours(torch.zeros(12, 5), 0), "h=0"),
        (lambda: to_neighbours(torch.zeros(12, 5), -1), "h=-1"),
        (lambda: to_neighbours(torch.zeros(12, 5), "2"), "h='2'"),
    ],
)
def test_a_turn_that_cannot_be_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("pairs", ["neighbours", "halves"])
@pytest.mark.parametrize(
    ("dtype", "apart"), [(torch.bfloat16, 0.05), (torch.float16, 0.01), (torch.float32, 1e-5)]
)
def test_late_positions_keep_their_angles_in_every_dtype(
    pairs: str, dtype: torch.dtype, apart: float
) -> None:
    x = drawn(3, 8, seed=4)
    for start in (0, 5_000, 100_000):
        got, want = rotated(x.to(dtype), start, pairs=pairs), rotated(x, start, pairs=pairs)
        assert got.dtype == dtype and (got.double() - want).abs().max() < apart


def test_a_start_of_few_bits_is_a_number_like_any_other() -> None:
    x = drawn(10, 6)
    for pairs in ("neighbours", "halves"):
        assert torch.equal(rotated(x, np.int8(120), pairs=pairs), rotated(x, 120, pairs=pairs))


def test_grouped_attention_says_what_does_not_fit() -> None:
    q, k, v = drawn(2, 6, 4, 8), drawn(2, 3, 7, 8), drawn(2, 3, 7, 5)
    mask = causal_mask(4, 7)
    for call, message in (
        (lambda: grouped_attention(q, k[:, :0], v[:, :0]), "n_kv_heads=0"),
        (lambda: grouped_attention(q[0], k, v), "q must have four axes"),
        (lambda: grouped_attention(q, k, v[0]), "v must have four axes"),
        (lambda: grouped_attention(q, k, v, mask.double()), "must be boolean"),
        (lambda: grouped_attention(q, k, v, mask.expand(2, 4, 7)), r"\(2, 4, 7\)"),
        (lambda: grouped_attention(q, k, v, mask[:3]), r"\(3, 7\)"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
