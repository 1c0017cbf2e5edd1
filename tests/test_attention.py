"""attention.py: the formula itself, against PyTorch's kernel, and its edge cases."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from mha_course import attention
from mha_course.masks import causal_mask, padding_mask

B, H, N_Q, N_K, D_K, D_V = 2, 3, 5, 7, 4, 6


def make_qkv(
    dtype: torch.dtype = torch.float64, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    q = torch.randn(B, H, N_Q, D_K, generator=g, dtype=torch.float64)
    k = torch.randn(B, H, N_K, D_K, generator=g, dtype=torch.float64)
    v = torch.randn(B, H, N_K, D_V, generator=g, dtype=torch.float64)
    return q.to(dtype), k.to(dtype), v.to(dtype)


def test_the_worked_example_by_hand() -> None:
    identity = torch.eye(2)
    output, weights = attention.scaled_dot_product_attention(identity, identity, identity)
    near, far = 0.66976155, 0.33023845  # e^(1/sqrt 2) / (1 + e^(1/sqrt 2)) and the rest
    expected = torch.tensor([[near, far], [far, near]])
    assert torch.allclose(weights, expected, atol=1e-6)
    assert torch.allclose(output, expected, atol=1e-6)


def test_entry_by_entry_in_plain_python() -> None:
    q, k, v = make_qkv()
    output, weights = attention.scaled_dot_product_attention(q, k, v)
    for t in range(N_Q):
        scores = [
            sum(q[1, 2, t, c] * k[1, 2, s, c] for c in range(D_K)).item() / math.sqrt(D_K) for s in range(N_K)
        ]
        total = sum(math.exp(x) for x in scores)
        for s in range(N_K):
            assert weights[1, 2, t, s].item() == pytest.approx(math.exp(scores[s]) / total)
        for c in range(D_V):
            mixed = sum(math.exp(scores[s]) / total * v[1, 2, s, c].item() for s in range(N_K))
            assert output[1, 2, t, c].item() == pytest.approx(mixed)


@settings(max_examples=60, deadline=None)
@given(
    b=st.integers(1, 4),
    h=st.integers(1, 5),
    n_q=st.integers(1, 9),
    n_k=st.integers(1, 9),
    d_k=st.integers(1, 8),
    d_v=st.integers(1, 8),
    kind=st.sampled_from(["none", "random", "causal", "padding"]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    scale=st.sampled_from([None, 0.37]),
    seed=st.integers(0, 2**16),
)
def test_agrees_with_the_fused_kernel(b, h, n_q, n_k, d_k, d_v, kind, dtype, scale, seed) -> None:
    g = torch.Generator().manual_seed(seed)
    q, k, v = (
        torch.randn(b, h, n, d, generator=g, dtype=torch.float64).to(dtype).requires_grad_()
        for n, d in ((n_q, d_k), (n_k, d_k), (n_k, d_v))
    )
    mask = None
    if kind == "random":
        mask = torch.rand(b, h, n_q, n_k, generator=g) < 0.6
    elif kind == "causal":
        mask = causal_mask(n_q, n_k)[None, None]
    elif kind == "padding":
        mask = padding_mask(torch.randint(0, n_k + 1, (b,), generator=g), n_k)
    ours, weights = attention.scaled_dot_product_attention(q, k, v, mask, scale)
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-10
    assert torch.allclose(ours, theirs, atol=tolerance)
    alive = torch.ones(b, h, n_q, dtype=torch.bool) if mask is None else mask.expand(b, h, n_q, n_k).any(-1)
    assert torch.allclose(weights.sum(-1), alive.to(dtype), atol=tolerance)
    ours.pow(2).sum().backward()
    assert all(torch.isfinite(x.grad).all() for x in (q, k, v))


def test_gradients_are_right() -> None:
    q, k, v = (x.requires_grad_() for x in make_qkv())
    mask = torch.rand(B, H, N_Q, N_K, generator=torch.Generator().manual_seed(3)) < 0.5
    mask[0, 1, 2] = False
    assert torch.autograd.gradcheck(lambda *x: attention.scaled_dot_product_attention(*x, mask)[0], (q, k, v))


def test_empty_rows_give_zeros_and_finite_gradients() -> None:
    q, k, v = (x.requires_grad_() for x in make_qkv())
    mask = torch.ones(N_Q, N_K, dtype=torch.bool)
    mask[3] = False
    output, weights = attention.scaled_dot_product_attention(q, k, v, mask)
    assert (weights[:, :, 3] == 0).all()
    assert (output[:, :, 3] == 0).all()
    assert (weights[:, :, 2].sum(-1) - 1).abs().max() < 1e-12
    output.sum().backward()
    assert torch.isfinite(q.grad).all()
    assert (q.grad[:, :, 3] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_stays_finite_with_masks(dtype: torch.dtype) -> None:
    q, k, v = make_qkv(dtype)
    mask = causal_mask(N_Q, N_K)
    output, weights = attention.scaled_dot_product_attention(q * 30, k * 30, v, mask)
    assert output.dtype == weights.dtype == dtype
    assert torch.isfinite(output).all()
    assert (weights.float()[:, :, ~mask] == 0).all()


def test_reported_weights_are_those_before_dropout() -> None:
    q, k, v = make_qkv()
    torch.manual_seed(5)
    output, weights = attention.scaled_dot_product_attention(q, k, v, dropout_p=0.5)
    plain_output, plain_weights = attention.scaled_dot_product_attention(q, k, v)
    assert torch.equal(weights, plain_weights)
    assert not torch.allclose(output, plain_output)


def test_adding_a_constant_to_a_row_of_scores_changes_nothing() -> None:
    q, k, _ = make_qkv()
    scores = attention.scaled_scores(q, k)
    shifted = scores + torch.randn(B, H, N_Q, 1, dtype=torch.float64)
    assert torch.allclose(attention.masked_softmax(scores), attention.masked_softmax(shifted), atol=1e-12)


def test_scale_keeps_the_variance_of_scores_near_one() -> None:
    g = torch.Generator().manual_seed(0)
    for d_k in (4, 64, 512):
        q, k = torch.randn(2, 1, 150, d_k, generator=g).unbind(0)
        assert attention.scaled_scores(q, k).var().item() == pytest.approx(1, abs=0.12)
        assert attention.scaled_scores(q, k, scale=1.0).var().item() == pytest.approx(d_k, rel=0.12)


def test_split_puts_neighbouring_features_into_one_head() -> None:
    b, n, d_model, h = 2, 5, 12, 3
    x = torch.arange(b * n * d_model).view(b, n, d_model)
    heads = attention.split_heads(x, h)
    assert heads.shape == (2, 3, 5, 4)
    for sentence in range(b):
        for head in range(h):
            for token in range(n):
                assert torch.equal(heads[sentence, head, token], x[sentence, token, head * 4 : head * 4 + 4])
    assert torch.equal(attention.merge_heads(heads), x)


@settings(max_examples=40, deadline=None)
@given(b=st.integers(1, 4), n=st.integers(1, 7), h=st.integers(1, 6), d_k=st.integers(1, 5))
def test_merge_undoes_split_whatever_the_sizes(b: int, n: int, h: int, d_k: int) -> None:
    x = torch.randn(b, n, h * d_k)
    assert torch.equal(attention.merge_heads(attention.split_heads(x, h)), x)
    strided = torch.randn(b, h * d_k, n).transpose(1, 2)
    assert torch.equal(attention.merge_heads(attention.split_heads(strided, h)), strided)


def test_the_big_worked_example_of_shapes() -> None:
    assert attention.merge_heads(torch.zeros(5, 8, 10, 64)).shape == (5, 10, 512)


def test_impossible_splits_name_both_numbers_and_what_works() -> None:
    with pytest.raises(
        ValueError, match=r"d_model=10 cannot be split into h=3 equal heads; h can be 1, 2, 5 or 10"
    ):
        attention.split_heads(torch.zeros(2, 5, 10), 3)
    for h in (0, -2, 2.0, True):
        with pytest.raises(ValueError, match="h can be 1, 2, 5 or 10"):
            attention.head_size(10, h)
    with pytest.raises(ValueError, match="1600"):
        attention.head_size(1600, 48)
    with pytest.raises(ValueError, match=r"\(5, 12\)"):
        attention.split_heads(torch.zeros(5, 12), 3)
    with pytest.raises(ValueError, match=r"\(2, 5, 12\)"):
        attention.merge_heads(torch.zeros(2, 5, 12))


@pytest.mark.parametrize(
    ("q", "k", "v", "says"),
    [
        ((5, 4), (7, 3), (7, 6), "width d_k"),
        ((5, 4), (7, 4), (6, 6), "n_k must agree"),
        ((2, 5, 4), (3, 7, 4), (3, 7, 6), "before the last two"),
        ((2, 5, 4), (7, 4), (7, 6), "number of axes"),
    ],
)
def test_shapes_that_do_not_go_together_are_refused(q, k, v, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        attention.scaled_dot_product_attention(torch.zeros(q), torch.zeros(k), torch.zeros(v))


def test_mixed_and_whole_number_dtypes_are_refused() -> None:
    q, k, v = make_qkv(torch.float32)
    with pytest.raises(ValueError, match=r"float64"):
        attention.scaled_dot_product_attention(q, k.double(), v)
    with pytest.raises(ValueError, match="floating-point"):
        attention.scaled_dot_product_attention(q.long(), k.long(), v.long())


def test_shared_heads_are_repeated_in_blocks() -> None:
    x = torch.arange(2.0)[None, :, None, None].expand(1, 2, 3, 4)
    assert attention.repeat_kv_heads(x, 6)[0, :, 0, 0].tolist() == [0, 0, 0, 1, 1, 1]


def test_divisors_read_as_a_sentence() -> None:
    assert attention.divisors(12) == [1, 2, 3, 4, 6, 12]
    assert attention.divisors_in_words(36) == "1, 2, 3, 4, 6, 9, 12, 18 or 36"
    assert attention.divisors_in_words(1) == "1"


def test_an_impossible_h_moves_down_to_the_next_divisor() -> None:
    assert attention.divisor_at_most(36, 8) == 6
    assert attention.divisor_at_most(36, 9) == 9
    assert attention.divisor_at_most(7, 6) == attention.divisor_at_most(7, -3) == 1
