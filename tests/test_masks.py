"""masks.py: one polarity, documented shapes, everything else refused by name."""

from __future__ import annotations

import pytest
import torch

from mha_course.attention import masked_softmax, scaled_dot_product_attention
from mha_course.masks import causal_mask, expand_mask, fit_mask, padding_mask

B, H, N_Q, N_K = 2, 3, 5, 7


def test_causal_mask_of_a_square() -> None:
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(3).dtype == torch.bool


def test_causal_mask_is_aligned_at_the_lower_right() -> None:
    assert causal_mask(2, 5).tolist() == [[True, True, True, True, False], [True] * 5]
    assert causal_mask(4, 2).tolist() == [[False, False], [False, False], [True, False], [True, True]]


def test_future_tokens_do_not_matter() -> None:
    g = torch.Generator().manual_seed(1)
    q, k, v = torch.randn(3, H, N_K, 4, generator=g).unbind(0)
    before, _ = scaled_dot_product_attention(q, k, v, causal_mask(N_K))
    k[:, 4:], v[:, 4:] = 9.0, -9.0
    after, _ = scaled_dot_product_attention(q, k, v, causal_mask(N_K))
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_padding_mask_shows_the_real_tokens() -> None:
    mask = padding_mask([2, 0, 3], 4)
    assert mask.shape == (3, 1, 1, 4)
    assert mask[:, 0, 0].tolist() == [[True, True, False, False], [False] * 4, [True, True, True, False]]
    assert padding_mask(torch.tensor([1, 6])).shape == (2, 1, 1, 6)


@pytest.mark.parametrize(
    ("lengths", "n_k"),
    [([2, 5], 4), ([-1, 2], 4), ([1.5, 2.0], 4), ([], 4), ([[1, 2]], 4), ([True, False], 4)],
)
def test_impossible_lengths_are_refused(lengths, n_k: int) -> None:
    with pytest.raises(ValueError, match="lengths"):
        padding_mask(lengths, n_k)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_impossible_sizes_are_refused(n) -> None:
    with pytest.raises(ValueError, match="n_q"):
        causal_mask(n)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((N_Q, N_K), (1, 1, N_Q, N_K)),
        ((B, N_Q, N_K), (B, 1, N_Q, N_K)),
        ((B, 1, N_K), (B, 1, 1, N_K)),
        ((B, 1, 1, N_K), (B, 1, 1, N_K)),
        ((1, H, N_Q, N_K), (1, H, N_Q, N_K)),
        ((B, H, N_Q, 1), (B, H, N_Q, 1)),
    ],
)
def test_documented_shapes_are_accepted(shape, expected) -> None:
    mask = torch.rand(shape) < 0.5
    got = expand_mask(mask, B, H, N_Q, N_K)
    assert got.shape == expected
    assert torch.equal(got.reshape(shape), mask)


@pytest.mark.parametrize(
    "shape", [(B, N_K), (N_K,), (N_K, N_Q), (H, N_Q, N_K), (B, N_Q, N_K, 1), (B, N_Q), (1, 1, 1, B, N_K)]
)
def test_other_shapes_are_refused(shape) -> None:
    with pytest.raises(ValueError, match="mask of shape"):
        expand_mask(torch.ones(shape, dtype=torch.bool), B, H, N_Q, N_K)


def test_one_row_a_sentence_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"\(b, n_k\)"):
        expand_mask(torch.ones(B, N_K, dtype=torch.bool), B, H, N_Q, N_K)


def test_one_row_a_sentence_is_refused_even_when_b_equals_n_q() -> None:
    b = n_q = 4
    rows = padding_mask([2, 7, 3, 5], N_K)[:, 0, 0]
    with pytest.raises(ValueError, match=r"\(b, n_k\)"):
        expand_mask(rows, b, H, n_q, N_K)
    assert torch.equal(expand_mask(rows[None], b, H, n_q, N_K)[0, 0], rows)
    assert torch.equal(expand_mask(rows[:, None, None, :], b, H, n_q, N_K)[:, 0, 0], rows)


def test_the_causal_mask_still_passes_when_b_equals_n_q() -> None:
    b = n_q = 4
    assert torch.equal(expand_mask(causal_mask(n_q, N_K), b, H, n_q, N_K)[0, 0], causal_mask(n_q, N_K))
    alike = torch.tensor([True, False, True, True, True, False, True]).expand(n_q, N_K)
    assert torch.equal(expand_mask(alike, b, H, n_q, N_K)[0, 0], alike)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
def test_numbers_are_refused_with_the_reason(dtype: torch.dtype) -> None:
    mask = torch.ones(N_Q, N_K).to(dtype)
    with pytest.raises(ValueError, match=r"must be boolean.*hides nothing"):
        masked_softmax(torch.zeros(N_Q, N_K), mask)
    with pytest.raises(ValueError, match="boolean tensor"):
        masked_softmax(torch.zeros(N_Q, N_K), mask.tolist())


def test_a_mask_takes_the_rank_of_the_scores() -> None:
    mask = torch.rand(N_Q, N_K) < 0.5
    assert fit_mask(mask, (N_Q, N_K)).shape == (N_Q, N_K)
    assert fit_mask(mask, (B, N_Q, N_K)).shape == (1, N_Q, N_K)
    assert fit_mask(mask, (B, H, N_Q, N_K)).shape == (1, 1, N_Q, N_K)
    assert fit_mask(None, (N_Q, N_K)) is None
