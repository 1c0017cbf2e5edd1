"""Inputs that nobody plans for: each is taken as it is meant, or refused with one sentence."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn

from mha_course import attention, cost, layers, masks, positions
from mha_course.annotated import MultiHeadedAttention
from mha_course.attention_maps import AttentionMaps

Q = torch.randn(2, 3, 4)


def test_numpy_integers_are_whole_numbers() -> None:
    layer = layers.MultiHeadAttention(np.int64(12), np.int64(3), n_kv_heads=np.int32(1))
    assert layer(torch.randn(2, 5, 12)).shape == (2, 5, 12)
    assert [type(size) for size in (layer.d_model, layer.h, layer.d_k, layer.n_kv_heads)] == [int] * 4
    assert attention.split_heads(torch.randn(2, 5, 12), np.int64(3)).shape == (2, 3, 5, 4)
    assert masks.causal_mask(np.int64(3), np.int64(5)).shape == (3, 5)
    assert cost.parameter_count(np.int64(12), np.int64(3)) == 576


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: layers.MultiHeadAttention("8", 2), "d_model='8'"),
        (lambda: layers.MultiHeadAttention(8, "2"), "h='2'"),
        (lambda: layers.MultiHeadAttention(8.0, 2), "d_model=8.0"),
        (lambda: layers.MultiHeadAttention(8, 2, dropout="0.1"), "dropout='0.1'"),
        (lambda: layers.MultiHeadAttention(8, 2, dropout=None), "dropout=None"),
        (lambda: attention.split_heads(torch.zeros(2, 3, 0), 2), "d_model=0"),
        (lambda: attention.split_heads(np.zeros((2, 3, 4)), 2), "ndarray"),
        (lambda: attention.merge_heads([[1.0]]), "list"),
        (lambda: attention.scaled_scores(np.zeros((3, 4)), np.zeros((5, 4))), "ndarray"),
        (lambda: attention.scaled_scores(torch.zeros(3, 0), torch.zeros(5, 0)), "d_k=0"),
        (lambda: attention.scaled_dot_product_attention(Q, Q, np.zeros((2, 3, 4))), "v must be"),
        (lambda: attention.scaled_dot_product_attention(Q, Q, Q, dropout_p=-0.5), "dropout_p=-0.5"),
        (lambda: attention.scaled_dot_product_attention(Q, Q, Q, dropout_p=float("nan")), "dropout_p=nan"),
        (lambda: attention.scaled_dot_product_attention(Q, Q, Q, dropout_p=1.0), "dropout_p=1.0"),
        (lambda: attention.masked_softmax(torch.ones(2, 3, dtype=torch.long)), "floating-point"),
        (lambda: attention.masked_softmax(torch.ones(3), torch.ones(3, dtype=torch.bool)), r"\(3,\)"),
        (lambda: masks.padding_mask([1, 2], 3.5), "n_k=3.5"),
        (lambda: masks.padding_mask([1, 2], "3"), "n_k='3'"),
        (lambda: masks.padding_mask([[1], [2, 3]]), "one whole number a sentence"),
        (lambda: masks.padding_mask(None), "one whole number a sentence"),
        (lambda: positions.sinusoidal_encoding(-1, 4), "n=-1"),
        (lambda: positions.sinusoidal_encoding(2, 4.0), "d_model=4.0"),
        (lambda: positions.sinusoidal_encoding(2, 4, dtype=torch.int64), "fractions"),
        (lambda: cost.parameter_count(8, 4, n_kv_heads=3), "n_kv_heads=3"),
        (lambda: cost.parameter_count(8, 4, d_k=-1), "d_k=-1"),
        (lambda: cost.attention_flops(-1, 8, 2), "n=-1"),
        (lambda: MultiHeadedAttention(0, 8), "h=0"),
        (lambda: MultiHeadedAttention(-2, 8), "h=-2"),
        (
            lambda: MultiHeadedAttention(2, 8)(*[torch.zeros(3, 5, 8)] * 3, masks.padding_mask([5, 4, 1])),
            "1, 1",
        ),
        (lambda: AttentionMaps(np.ones((1, 1, 2, 2)), "ab", "ab"), "ndarray"),
        (lambda: AttentionMaps(torch.ones(1, 1, 2, 2), "ab", "ab", allowed=torch.ones(2, 2)), "boolean"),
    ],
)
def test_refused_with_one_sentence(call, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


def test_a_mask_never_lands_on_the_wrong_axis_of_scores_with_five_axes() -> None:
    scores = torch.zeros(2, 3, 4, 5, 5)
    with pytest.raises(ValueError, match="two|scores of shape"):
        attention.masked_softmax(scores, torch.ones(4, 5, 5, dtype=torch.bool))
    assert torch.allclose(attention.masked_softmax(scores), torch.full_like(scores, 0.2))


def test_half_precision_products_do_not_overflow_before_they_are_scaled() -> None:
    # 40 * 40 * 64 = 102400 is infinite in float16; a quarter of an eighth of it is not.
    q = torch.full((1, 2, 64), 40.0, dtype=torch.float16)
    assert attention.scaled_scores(q, q).max().item() == 12800.0
    output, weights = attention.scaled_dot_product_attention(q, q, torch.ones_like(q))
    assert torch.equal(weights, torch.full((1, 2, 2), 0.5, dtype=torch.float16))
    assert torch.equal(output, torch.ones_like(output))


@pytest.mark.parametrize("dtype", [torch.float64, torch.long])
def test_what_autocast_leaves_alone_is_refused_under_autocast_too(dtype: torch.dtype) -> None:
    layer = layers.MultiHeadAttention(6, 2)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(torch.randn(2, 3, 6)).dtype == torch.bfloat16
        with pytest.raises(ValueError, match="dtype"):
            layer(torch.ones(2, 3, 6, dtype=dtype))


def test_wrapped_and_quantised_projections_still_run() -> None:
    layer, x = layers.MultiHeadAttention(12, 3).eval(), torch.randn(2, 5, 12)
    wrapped = copy.deepcopy(layer)
    wrapped.w_q = nn.Sequential(wrapped.w_q)
    assert torch.equal(wrapped(x), layer(x))


@pytest.mark.filterwarnings("ignore")
def test_the_layer_can_be_exported_and_compiled() -> None:
    layer, x = layers.MultiHeadAttention(12, 4, d_k=5, d_v=7, n_kv_heads=2, bias=True), torch.randn(3, 6, 12)
    sizes = {0: torch.export.Dim("b"), 1: torch.export.Dim("n")}
    exported = torch.export.export(layer, (x,), dynamic_shapes=(sizes,)).module()
    other = torch.randn(5, 4, 12)
    assert torch.allclose(exported(other), layer(other), atol=1e-5)


def test_traces_and_maps_can_be_compared_without_an_error() -> None:
    trace = layers.MultiHeadAttention(6, 2).trace(torch.randn(1, 3, 6))
    maps = AttentionMaps.from_trace(trace, "abc")
    assert trace == trace and trace != copy.copy(trace)
    assert maps == maps and maps != AttentionMaps.from_trace(trace, "abc")


def test_the_annotated_class_is_copied_after_a_training_step() -> None:
    layer, x = MultiHeadedAttention(3, 12), torch.randn(2, 5, 12)
    layer(x, x, x).sum().backward()
    assert copy.deepcopy(layer).attn.shape == (2, 3, 5, 5)
    assert layer.linears[0].weight.grad.abs().max() > 0
