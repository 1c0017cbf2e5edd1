"""Split and merge: what view and transpose do, what is split, and whether heads need a loop."""

from __future__ import annotations

import torch

from mha_course.attention import merge_heads, scaled_dot_product_attention, split_heads
from mha_course.interview.drawn import drawn
from mha_course.interview.proof import Shown, proof
from mha_course.layers import MultiHeadAttention
from mha_course.models.random_layer import random_layer


@proof
def view_alone_mixes_tokens() -> Shown:
    """view(b, h, n, d_k) has the right shape and the wrong rows; all ones can't tell, all different can."""
    x = torch.arange(2 * 5 * 12).view(2, 5, 12)
    right, wrong = x.view(2, 5, 3, 4).transpose(1, 2), x.view(2, 3, 5, 4)
    assert right.data_ptr() == x.data_ptr(), "the split should move no number"
    assert right.shape == wrong.shape, "the shapes should agree"
    owner = wrong[0] // 12  # (h, n, d_k): the token that each number belongs to
    by_slices = torch.stack([x[:, :, 4 * i : 4 * i + 4] for i in range(3)], dim=1)
    assert torch.equal(right, by_slices) and not torch.equal(wrong, by_slices), "slices should tell"
    ones = torch.ones(2, 5, 12)
    fooled = torch.equal(ones.view(2, 3, 5, 4), ones.view(2, 5, 3, 4).transpose(1, 2))
    assert fooled, "a test with all ones should pass either way"
    seen = [len(owner[i].unique()) for i in range(3)]
    assert max(seen) < 5, "with view alone no head should see all tokens"
    numbers = {f"tokens in head {i + 1}, view alone": count for i, count in enumerate(seen)}
    return Shown("Five tokens, three heads; a right split gives every head all five.", numbers)


@proof
def every_head_reads_every_feature() -> Shown:
    """Split the projection and a head answers to all inputs; slice the input and it answers to its slice."""
    layer = random_layer(12, h=3)
    x = torch.randn(1, 5, 12, generator=torch.Generator().manual_seed(0))
    own = slice(4, 8)  # head 2; nn.Linear stores (out, in), so a head owns rows
    small = x @ layer.w_q.weight[own].T
    assert torch.allclose(split_heads(layer.w_q(x), 3)[:, 1], small, atol=1e-6), "big matrix ≠ small ones"
    sliced = x[..., own] @ layer.w_q.weight[own, own].T
    assert sliced.shape == small.shape and not torch.allclose(sliced, small), "same shape, other numbers"
    numbers = {}
    for name, query in (("projection split", lambda z: z @ layer.w_q.weight[own].T),
                        ("input sliced", lambda z: z[own] @ layer.w_q.weight[own, own].T)):  # fmt: skip
        slopes = torch.autograd.functional.jacobian(query, x[0, 0])
        numbers[f"{name}: inputs that head 2 reads"] = int(slopes.any(dim=0).sum())
    assert list(numbers.values()) == [12, 4], "a head should read all features of its token"
    return Shown("Head 2 of three, d_model = 12: how many features reach it.", numbers)


@proof
def a_loop_over_heads_equals_one_product() -> Shown:
    """Heads one by one, all at once, and laid into the batch axis: the same numbers."""
    q, k, v = torch.randn(3, 2, 4, 7, 6, generator=torch.Generator().manual_seed(1))
    looped = torch.stack([scaled_dot_product_attention(q[:, i], k[:, i], v[:, i])[0] for i in range(4)], 1)
    at_once, _ = scaled_dot_product_attention(q, k, v)
    flat, _ = scaled_dot_product_attention(*(t.flatten(0, 1) for t in (q, k, v)))  # (b · h, n, d_k)
    gap = max((other - at_once).abs().max().item() for other in (looped, flat.view(2, 4, 7, 6)))
    assert gap < 1e-5, "the three ways should agree"
    sentence = torch.tensor([1, 2])
    assert sentence.repeat_interleave(4).tolist() == [1, 1, 1, 1, 2, 2, 2, 2], "the order of flatten"
    wrong = int((sentence.repeat(4) != sentence.repeat_interleave(4)).sum())
    assert wrong == 4, "repeat should hand half of the tasks the other sentence's mask"
    numbers = {"largest difference": gap, "tasks with a wrong mask after repeat, of 8": wrong}
    return Shown("Two sentences, four heads: eight independent tasks.", numbers)


@proof
def merging_needs_a_transpose_and_a_copy() -> Shown:
    """transpose, then view is refused; contiguous copies; reshape alone scrambles; merge_heads is cat."""
    heads = torch.arange(2 * 3 * 5 * 4).view(2, 3, 5, 4)
    turned = heads.transpose(1, 2)
    try:
        refused = turned.view(2, 5, 12) is None
    except RuntimeError:
        refused = True
    assert refused and not turned.is_contiguous(), "view should refuse a tensor in another order"
    merged = turned.contiguous().view(2, 5, 12)
    assert torch.equal(merged, torch.cat(heads.unbind(1), dim=-1)), "concat is torch.cat of the heads"
    assert torch.equal(merged, merge_heads(heads)), "merge_heads should do the same"
    assert torch.equal(split_heads(merged, 3), heads), "the split should undo it"
    misplaced = (heads.reshape(2, 5, 12) != merged).float().mean().item()
    assert misplaced > 0.5, "without the transpose most numbers should be misplaced"
    copies = {"many tokens": turned, "one token": heads[:, :, :1].contiguous().transpose(1, 2)}
    copied = {f"copies made, {n}": int(t.contiguous().data_ptr() != t.data_ptr()) for n, t in copies.items()}
    return Shown("A copy is made only where needed.", {"misplaced by reshape alone": misplaced} | copied)


@proof
def rounding_the_head_size_down_loses_features() -> Shown:
    """d_model // h loses features in silence; a check refuses; widths chosen freely work."""
    lost = 1600 - 48 * (1600 // 48)
    assert lost == 16, "48 heads of 33 should leave 16 features over"
    try:
        MultiHeadAttention(1600, 48)
    except ValueError as error:
        assert "1600" in str(error) and "48" in str(error), "the error should name both numbers"
    else:
        raise AssertionError("the course's layer should refuse 48 heads of 1600 features")
    free = drawn(lambda: MultiHeadAttention(d_model=10, h=3, d_k=4, d_v=6))
    output = free(torch.ones(2, 5, 10))
    assert output.shape == (2, 5, 10), "W_O should bring h · d_v = 18 back to 10"
    return Shown(
        "1600 features in 48 heads: some are lost without a word.",
        {"features lost by rounding down": lost, "d_k": 1600 // 48},
    )
