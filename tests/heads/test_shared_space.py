"""Spectra of query-key products, their control, and effective rank: on layers whose answer is known."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.shared_space import (
    dimensions_needed,
    effective_rank,
    heads_turned,
    shared_space,
    variance_by_dimension,
)
from mha_course.layers import MultiHeadAttention
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.talking_heads import TalkingHeads


def layer_of(d_model: int, h: int, seed: int = 1, **more: int) -> MultiHeadAttention:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return MultiHeadAttention(d_model, h, **more).double()


def test_products_make_the_scores() -> None:
    layer = layer_of(10, 5, d_k=3)
    x = torch.randn(2, 7, 10, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    scores = torch.einsum("bta,hac,bsc->bhts", x, shared_space(layer).products, x) / 3**0.5
    assert torch.allclose(scores, layer.trace(x).scores)


def test_shapes_and_ranks_of_the_spectra() -> None:
    space = shared_space(layer_of(20, 4, d_k=3))
    assert space.heads.shape == (4, 3) and space.summed.shape == (20,)
    assert (space.heads > 1e-6).all()
    assert int((space.summed > 1e-9).sum()) == 12  # four heads of rank 3 in spaces of their own
    assert (space.heads.diff() <= 0).all() and (space.summed.diff() <= 0).all()


def test_heads_that_share_a_space_need_no_more_dimensions_than_one() -> None:
    layer = layer_of(20, 4, d_k=3)
    with torch.no_grad():
        for linear in (layer.w_q, layer.w_k):
            rows = linear.weight.view(4, 3, 20)
            rows[1:] = torch.randn(3, 3, 3, generator=torch.Generator().manual_seed(3)).double() @ rows[0]
    space, turned = shared_space(layer), shared_space(heads_turned(layer, 5))
    assert int((space.summed > 1e-9).sum()) == 3 and int((space.keys > 1e-9).sum()) == 3
    assert int((turned.summed > 1e-9).sum()) == 12
    assert torch.allclose(space.heads, turned.heads)  # each head alone is as it was


def test_turning_depends_on_the_seed_and_leaves_the_layer_alone() -> None:
    layer = layer_of(12, 3)
    before = layer.w_q.weight.clone()
    one, again, other = (heads_turned(layer, seed).w_q.weight for seed in (1, 1, 2))
    assert torch.equal(one, again) and not torch.allclose(one, other)
    assert torch.equal(layer.w_q.weight, before)
    for own, turned in zip(before.view(3, 4, 12), one.view(3, 4, 12), strict=True):
        assert torch.allclose(own @ own.T, turned @ turned.T)


def test_shared_key_heads_are_read_by_their_group() -> None:
    layer = layer_of(12, 6, n_kv_heads=2)
    products = shared_space(layer).products
    q, k = layer.w_q.weight.view(6, 2, 12), layer.w_k.weight.view(2, 2, 12)
    for head in range(6):
        assert torch.allclose(products[head], q[head].T @ k[head // 3])
    with pytest.raises(ValueError, match="6 heads share 2 key heads"):
        heads_turned(layer)


def test_heads_that_meet_have_no_product() -> None:
    with pytest.raises(ValueError, match="TalkingHeads"):
        shared_space(TalkingHeads(8, 2))
    assert shared_space(GroupedQueryAttention(8, 2)).heads.shape == (2, 4)


def test_variance_and_dimensions_needed() -> None:
    values = torch.tensor([[3.0, 1.0, 0.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
    shares = variance_by_dimension(values)
    assert torch.allclose(shares[0], torch.tensor([0.9, 1.0, 1.0], dtype=torch.float64))
    assert dimensions_needed(values, 0.9).tolist() == [1, 3]
    assert dimensions_needed(values, 0.91).tolist() == [2, 3]
    assert dimensions_needed(values, 1.0).tolist() == [2, 3]
    assert dimensions_needed(torch.ones(7), 1.0).item() == 7
    for share in (0.0, -0.5, 1.1, float("nan")):
        with pytest.raises(ValueError, match="share="):
            dimensions_needed(values, share)


def test_effective_rank_of_sparse_and_dense_maps() -> None:
    identity, even = torch.eye(8), torch.full((8, 8), 1 / 8)
    assert effective_rank(identity).item() == pytest.approx(8)
    assert effective_rank(even).item() == pytest.approx(1)
    both = effective_rank(torch.stack([identity, even]))
    assert both.shape == (2,)
    assert effective_rank(identity.roll(1, 0)).item() == pytest.approx(8)  # a head that looks one back
    halves = torch.block_diag(even[:4, :4], even[:4, :4])
    assert effective_rank(halves).item() == pytest.approx(2)


def test_a_matrix_of_zeros_has_rank_zero() -> None:
    found = effective_rank(torch.stack([torch.zeros(4, 3), torch.eye(4, 3)]))
    assert found.tolist() == pytest.approx([0, 3])
