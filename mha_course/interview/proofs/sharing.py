"""Heads that share: narrow heads and their rank, collaborative heads, overlapping heads."""

from __future__ import annotations

import torch
from torch.linalg import matrix_rank

from mha_course import cost
from mha_course.attention import masked_softmax
from mha_course.interview.drawn import drawn
from mha_course.interview.proof import Shown, proof
from mha_course.layers import MultiHeadAttention
from mha_course.models.random_layer import random_layer
from mha_course.variants.collaborative import CollaborativeHeads, starting_mixing
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.variant_costs import variant_cost


@proof
def scores_are_narrow_weights_are_not() -> Shown:
    """Rank at most d_k before the softmax, mostly full after it; and two features can be exact."""
    x = torch.randn(1, 9, 24, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ranks = {}
    for h in (4, 12):
        t = random_layer(d_model=24, h=h).double().trace(x)
        ranks[f"scores, d_k = {24 // h}"] = int(matrix_rank(t.scores[0, 0]))
        ranks[f"weights, d_k = {24 // h}"] = int(matrix_rank(t.weights[0, 0]))
    assert list(ranks.values()) == [6, 9, 2, 9], f"ranks are {ranks}"
    place = torch.arange(9, dtype=torch.float64)
    q, k = torch.stack([2 * place, -torch.ones(9)], 1), torch.stack([place, place**2], 1)
    off = (masked_softmax(q @ k.T) - (-((place[:, None] - place) ** 2)).softmax(-1)).abs().max().item()
    assert off < 1e-9, "two features don't make the bell"
    kept = cost.parameter_count(24, 12, d_k=6, d_v=6) / cost.parameter_count(24, 12)
    assert kept == 3, "wide heads have another price"
    numbers = ranks | {"bell from two features, off by": off, "parameters, 12 heads of 6 for 12 of 2": kept}
    return Shown("Nine tokens: the scores are limited by d_k, the map mostly isn't.", numbers)


@proof
def blocks_of_ones_are_plain_heads() -> Shown:
    """Collaborative heads with blocks of ones are plain; fewer features save weights and cost FLOPs."""
    plain, collab = random_layer(d_model=24, h=4), drawn(lambda: CollaborativeHeads(24, 4))
    collab.load_state_dict(plain.state_dict() | {"mixing": starting_mixing(4, 24)})
    x = torch.randn(2, 9, 24, generator=torch.Generator().manual_seed(0))
    off = (collab(x) - plain(x)).abs().max().item()
    assert off < 1e-5, "blocks of ones are not plain heads"
    makers = (lambda: MultiHeadAttention(96, 12)), (lambda: CollaborativeHeads(96, 12, width=32))
    wide, narrow = (variant_cost(drawn(make), 128) for make in makers)
    saved = 1 - narrow.parameters / wide.parameters
    flops = narrow.stages["scores"] / wide.stages["scores"]
    assert 0.32 < saved < 0.34 and flops == 4, f"saved {saved:.2f}, FLOPs of scores times {flops:.2f}"
    numbers = {"off by": off, "attention's parameters saved": saved, "FLOPs of scores, times": flops}
    return Shown("A third of the features, shared by 12 heads: fewer weights, dearer scores.", numbers)


@proof
def neighbours_share_an_edge() -> Shown:
    """No overlap is the plain layer; with it, heads have neighbours, and their order matters."""
    x = torch.randn(2, 9, 24, generator=torch.Generator().manual_seed(0))

    def exchanged(layer: MultiHeadAttention) -> float:
        before, order, w_o = layer(x), [2, 1, 0, 3], layer.w_o.weight
        for w in (layer.w_q.weight, layer.w_k.weight, layer.w_v.weight):
            w.copy_(w.view(4, 6, 24)[order].flatten(0, 1))
        w_o.copy_(w_o.view(24, 4, -1)[:, order].flatten(1))
        return (layer(x) - before).abs().max().item()

    lapped, none = (drawn(lambda o=o: OverlappingHeads(24, 4, overlap=o)) for o in (2, 0))
    assert torch.allclose(none(x), drawn(lambda: MultiHeadAttention(24, 4))(x), atol=1e-5), "not plain"
    stays, moves, more = exchanged(none), exchanged(lapped), lapped.w_o.weight.numel() - 24**2
    assert stays < 1e-5 < 0.01 < moves, f"plain heads moved by {stays}, overlapping ones by {moves}"
    assert lapped.d_k == 6 + 2 * 2 and more == 2 * 2 * 4 * 24, "another width, or another W_O"
    numbers = {"plain: output moved by": stays, "overlapping": moves, "more weights": more}
    return Shown("Heads 1 and 3 exchanged: only overlapping heads notice.", numbers)
