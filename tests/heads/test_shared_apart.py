"""Shared factors of heads that were turned apart: ranks as with shared features, and nothing in common."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.shared_apart import shared_apart
from mha_course.heads.shared_space import head_rotations, heads_turned, shared_space
from mha_course.layers import MultiHeadAttention
from mha_course.variants.three_factors import relative_error, three_factors


def drawn_layer(bias: bool = True) -> MultiHeadAttention:
    g = torch.Generator().manual_seed(5)
    layer = MultiHeadAttention(20, 4, d_k=3, d_v=6, bias=bias).double().requires_grad_(False)
    for parameter in layer.parameters():
        parameter.copy_(0.4 * torch.randn(parameter.shape, generator=g, dtype=torch.float64))
    return layer


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def products(layer: torch.nn.Module, width: int) -> torch.Tensor:
    w_q, w_k = (part.weight.view(4, width, 20) for part in (layer.w_q, layer.w_k))
    return w_q.transpose(1, 2) @ w_k


def test_rotations_are_those_of_the_turned_heads() -> None:
    layer = drawn_layer()
    of_queries, of_keys = head_rotations(layer, seed=2)
    assert torch.allclose(of_keys[3] @ of_keys[3].T, torch.eye(20, dtype=torch.float64))
    expected = of_queries.transpose(1, 2) @ shared_space(layer).products @ of_keys
    assert torch.allclose(shared_space(heads_turned(layer, 2)).products, expected)


@pytest.mark.parametrize("bias", [True, False])
def test_enough_factors_give_the_layer_back(bias: bool) -> None:
    layer = drawn_layer(bias)
    x = torch.randn(2, 7, 20, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    made = shared_apart(layer, 40, sweeps=60)
    assert torch.allclose(made(x), layer(x), atol=1e-2) and made.scale == 3**-0.5


def test_it_misses_what_the_decomposition_of_turned_heads_misses() -> None:
    layer, width = drawn_layer(), 5
    made = shared_apart(layer, width, seed=1, sweeps=40).requires_grad_(False)
    assert made.w_q.weight.shape == (4 * width, 20)
    whole = shared_space(layer).products
    missed = float((products(made, width) - whole).norm() / whole.norm())
    turned = shared_space(heads_turned(layer, 1)).products
    assert missed == pytest.approx(relative_error(turned, *three_factors(turned, width, 1, 40)), rel=1e-6)
    assert all(torch.linalg.matrix_rank(one) == width for one in products(made, width))


def test_what_cannot_be_turned_is_refused() -> None:
    with pytest.raises(ValueError, match="share 2 key heads"):
        shared_apart(MultiHeadAttention(24, 4, n_kv_heads=2), 5)
    with pytest.raises(ValueError, match="width"):
        shared_apart(drawn_layer(), 0)
