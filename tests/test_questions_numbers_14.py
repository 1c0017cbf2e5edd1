"""The numbers in the questions of lesson 14, computed again."""

from __future__ import annotations

import torch

from mha_course.layers import MultiHeadAttention
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.line_up import cached_numbers
from mha_course.variants.variant_costs import variant_cost
from mha_course.widgets.question_texts import find_question


def right(key: str) -> set[str]:
    """The texts of the right choices."""
    question = find_question(key)
    return {question.choices[i].text for i in question.right}


def test_two_rows_that_share_a_feature() -> None:
    layer = CollaborativeHeads(10, 2, 3).double().requires_grad_(False)
    layer.mixing.copy_(torch.tensor([[1.0, 1, 0], [0, 1, 1]]))
    x = torch.randn(1, 5, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    q, k = layer.w_q(x), layer.w_k(x)
    each = torch.einsum("btr,bsr->brts", q, k)[0] * layer.scale
    scores = layer.trace(x).scores[0]
    assert torch.allclose(scores[0], each[0] + each[1]) and torch.allclose(scores[1], each[1] + each[2])
    assert not torch.allclose(scores[0], scores[1])
    (found,) = right("14-two-rows-of-m")
    assert found.startswith("Both compare")


def test_what_half_the_features_make_smaller() -> None:
    plain, half = MultiHeadAttention(512, 8), CollaborativeHeads(512, 8, 256)
    one, other = (variant_cost(layer, 40) for layer in (plain, half))
    of_scores = [sum(w.weight.numel() for w in (layer.w_q, layer.w_k)) for layer in (plain, half)]
    assert of_scores == [2 * 512 * 512, 2 * 512 * 256] and half.mixing.numel() == 8 * 256
    assert other.stages["scores"] == 4 * one.stages["scores"]
    assert cached_numbers(plain) - cached_numbers(half) == 512 - 256  # keys; values are as before
    assert right("14-half-the-features") == {"the parameters of W_Q and W_K", "the keys in the cache"}


def test_the_order_of_rows_of_m_is_free() -> None:
    g = torch.Generator().manual_seed(1)
    layer = CollaborativeHeads(12, 3, 7, mixing="normal").double().requires_grad_(False)
    moved, order = CollaborativeHeads(12, 3, 7).double().requires_grad_(False), [2, 0, 1]
    moved.load_state_dict(layer.state_dict())
    moved.mixing.copy_(layer.mixing[order])
    moved.w_v.weight.copy_(layer.w_v.weight.view(3, 4, 12)[order].flatten(0, 1))
    moved.w_o.weight.copy_(layer.w_o.weight.view(12, 3, 4)[:, order].flatten(1))
    x = torch.randn(2, 6, 12, generator=g, dtype=torch.float64)
    assert torch.allclose(moved(x), layer(x), atol=1e-12)
    assert right("14-who-is-next") == {"in overlapping heads"}


def test_what_a_width_of_four_limits() -> None:
    g = torch.Generator().manual_seed(2)
    q, k = (torch.randn(30, 4, generator=g, dtype=torch.float64) for _ in range(2))
    scores = q @ k.T / 2
    weights = scores.softmax(-1)
    assert torch.linalg.matrix_rank(scores) == 4 and torch.linalg.matrix_rank(weights) > 4
    centred = weights.log() - weights.log().mean(-1, keepdim=True)
    assert torch.linalg.matrix_rank(centred) <= 4
    (found,) = right("14-what-rank-limits")
    assert found.startswith("the log weights")
    # "On a circle each of 30 queries can look at a key of its own."
    angle = torch.arange(30, dtype=torch.float64) * 2 * torch.pi / 30
    circle = torch.stack([angle.cos(), angle.sin()], 1)
    assert (5000 * circle @ circle.T).softmax(-1).diagonal().min() > 0.999
