"""What queries, keys and values are, and why they come from three matrices."""

from __future__ import annotations

import torch

from mha_course.attention import scaled_dot_product_attention, scaled_scores
from mha_course.interview.proof import Shown, proof


@proof
def only_products_of_q_and_k_count() -> Shown:
    """Turn queries by any G and keys by its inverse: no score changes. And no fit brings home the mean."""
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 7, 6, generator=generator, dtype=torch.float64)
    v = torch.randn(7, 5, generator=generator, dtype=torch.float64)
    g = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    turned_q, turned_k = q @ g, k @ torch.linalg.inv(g).T
    score = (scaled_scores(turned_q, turned_k) - scaled_scores(q, k)).abs().max().item()
    assert score < 1e-9 < 0.1 < (turned_q - q).abs().max(), "other queries should give the same scores"

    output, weights = scaled_dot_product_attention(torch.zeros(1, 6).double(), k, v)
    assert torch.allclose(output[0], v.mean(dim=0)), "a query that fits no key should bring home the mean"
    numbers = {
        "a query moved by": (turned_q - q).abs().max().item(),
        "a score moved by": score,
        "each weight of a query without fit": weights.max().item(),
    }
    return Shown("Single axes of q and k mean nothing; and a head can't say “nothing found”.", numbers)


@proof
def tied_queries_and_keys_look_at_themselves() -> Shown:
    """With W_Q = W_K scores are symmetric and tokens look at themselves; drawn apart they don't."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, 10, 48, generator=generator)
    w_q, w_k = torch.randn(2, 200, 48, 16, generator=generator) / 48**0.5
    on_itself = {}
    for name, keys in (("two matrices", x @ w_k), ("one matrix for both", x @ w_q)):
        scores = scaled_scores(x @ w_q, keys)
        symmetric = torch.allclose(scores, scores.transpose(1, 2), atol=1e-4)
        assert symmetric == (name == "one matrix for both"), "tied scores, and only those, are symmetric"
        on_itself[name] = scores.softmax(dim=-1).diagonal(dim1=1, dim2=2).mean().item()
    apart, tied = on_itself.values()
    assert abs(apart - 0.1) < 0.02 and tied > 0.5, "apart: chance, 1 of 10; tied: mostly itself"
    return Shown("Mean weight of a token on itself, chance is 0.1.", on_itself)
