"""What maps show and what they don't: other weights with the same output, lucky heads, the two circuits."""

from __future__ import annotations

import torch

from mha_course.heads.circuits import circuit_rank, ov_circuit, qk_circuit
from mha_course.interview.proof import Shown, proof
from mha_course.models.random_layer import random_layer


@proof
def other_weights_same_output() -> Shown:
    """More tokens than a value is wide: other weights, each row summing to 1, give the same output."""
    g, layer = torch.Generator().manual_seed(0), random_layer(d_model=24, h=6).double()
    t = layer.trace(torch.randn(1, 11, 24, generator=g, dtype=torch.float64))
    weights, v = t.weights[0, 0], t.v[0, 0]  # (11, 11) and (11, 4)
    _, _, directions = torch.linalg.svd(torch.cat([v, torch.ones(11, 1)], dim=1).T)
    unseen = directions[5:]  # (6, 11): changes that no value and no sum notices
    change = torch.randn(500, 11, 6, generator=g, dtype=torch.float64) @ unseen
    change *= (weights / (-change).clamp_min(1e-9)).amin(-1, keepdim=True)  # as far as weights stay positive
    moved = change.abs().sum(-1) / 2  # of 500 changes, the furthest for each row
    other = weights + change[moved.argmax(0), torch.arange(11)]
    off = (other @ v - t.heads[0, 0]).abs().max().item()
    share = moved.amax(0).mean().item()
    assert other.min() > -1e-12 and torch.allclose(other.sum(-1), weights.sum(-1)), "no weights any more"
    assert off < 1e-9 and share > 0.15, f"output off by {off}, weight moved {share}"
    numbers = {"share of a row's weight that moved": share, "output changed by": off}
    return Shown("Another map, and not one number of the output has changed.", numbers)


@proof
def the_best_of_many_is_lucky() -> Shown:
    """72 heads that guess: the best one looks skilled on the words that picked it, and on no others."""
    g = torch.Generator().manual_seed(0)
    hits = (torch.rand(60, 40, 72, generator=g) < 0.2).float()  # trials, words, heads
    picking, judging = hits[:, 0::2].mean(1), hits[:, 1::2].mean(1)
    best = picking.argmax(-1, keepdim=True)
    same, other = picking.gather(-1, best).mean().item(), judging.gather(-1, best).mean().item()
    of_more = (torch.rand(60, 400, 72, generator=g) < 0.2).float().mean(1).amax(-1).mean().item()
    assert same > 0.4 and abs(other - 0.2) < 0.05, f"picked {same:.2f}, judged {other:.2f}"
    assert of_more < 0.3, "more words don't help"
    numbers = {
        "on the 20 words that picked it": same,
        "on other words": other,
        "on 400 that picked it": of_more,
    }
    return Shown(
        "Every head hits 0.20 by chance. The best of 72 on 20 words seems to hit twice as often.", numbers
    )


@proof
def two_circuits_are_the_head() -> Shown:
    """Scores are x W_QK xᵀ, what a head adds is A x W_OV; both circuits have the head's small rank."""
    layer = random_layer(d_model=24, h=4)
    x = torch.randn(1, 9, 24, generator=torch.Generator().manual_seed(0))
    t = layer.trace(x)
    off, ranks = [], []
    for head in range(4):
        qk, ov = qk_circuit(layer, head), ov_circuit(layer, head)
        off.append((x[0] @ qk @ x[0].T - t.scores[0, head]).abs().max().item())
        off.append((t.weights[0, head] @ x[0] @ ov - t.contributions[0, head]).abs().max().item())
        ranks += [circuit_rank(qk), circuit_rank(ov)]
    assert max(off) < 1e-4, "the circuits are not the head"
    assert set(ranks) == {6}, f"ranks are {ranks}; d_k = 6"
    return Shown(
        "Four heads, eight circuits of 24 × 24 and rank 6.", {"largest difference": max(off), "rank": 6}
    )
