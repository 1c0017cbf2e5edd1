"""Positions: order blindness, the shift as a rotation, what short sentences leave open, rotary scores."""

from __future__ import annotations

import torch

from mha_course.interview.proof import Shown, proof
from mha_course.masks import causal_mask
from mha_course.models.random_layer import random_layer
from mha_course.positions import position_kernel, rotate_by_position, shift_matrix, sinusoidal_encoding
from mha_course.variants.rotary import rotated


@proof
def order_is_invisible() -> Shown:
    """Shuffled words give shuffled outputs, until positions are added."""
    g, layer = torch.Generator().manual_seed(0), random_layer(d_model=24, h=4)
    x, order = torch.randn(1, 7, 24, generator=g), torch.randperm(7, generator=g)
    unplaced = (layer(x[:, order]) - layer(x)[:, order]).abs().max().item()
    assert unplaced < 1e-5, "order is visible"
    places = sinusoidal_encoding(7, 24)
    placed = (layer(x[:, order] + places) - layer(x + places)[:, order]).abs().max().item()
    assert placed > 0.1, "positions change nothing"
    early = torch.tensor([3, 0, 2, 1, 5, 4, 6])  # the last word stays last
    moved = layer(x[:, early], mask=causal_mask(7)) - layer(x, mask=causal_mask(7))[:, early]
    last = moved[0, -1].abs().max().item()
    assert last < 1e-5 and moved[0, :-1].abs().max() > 0.1, "the last word notices, or no word does"
    numbers = {"difference": unplaced, "with positions": placed, "last word, causal, one layer": last}
    return Shown("Without positions order is invisible, up to rounding.", numbers)


@proof
def a_shift_is_one_rotation() -> Shown:
    """One matrix moves all positions three back; it is a rotation, and products know the distance only."""
    pe = sinusoidal_encoding(n=500, d_model=32, dtype=torch.float64)
    back = shift_matrix(-3, 32, dtype=torch.float64)
    shift = (pe[3:] @ back.T - pe[:-3]).abs().max().item()
    turn = (back @ back.T - torch.eye(32)).abs().max().item()
    kernel = position_kernel(torch.arange(250), 32)
    products = pe @ pe.T
    ahead, behind = products[249, 249:499], products[249, :250].flip(0)  # by distance 0 to 249
    even = torch.stack([ahead - kernel, behind - kernel]).abs().max().item()
    assert max(shift, turn, even) < 1e-9, "no rotation, or products that know more than the distance"
    looked = (pe @ back.T @ pe.T).argmax(-1)
    assert (looked[3:] == torch.arange(497)).all(), "the turned query looks elsewhere"
    numbers = {"shift off by": shift, "R Rᵀ − 1": turn, "products off κ(distance) by": even}
    return Shown("R(−3) moves 497 positions alike; each turned query fits its target best.", numbers)


@proof
def short_training_leaves_weights_open() -> Shown:
    """Two matrices that agree on positions 0 to 19; from 40 on only one of them still looks one back."""
    pe = sinusoidal_encoding(n=80, d_model=64, dtype=torch.float64)
    w_q = shift_matrix(-1, 64, dtype=torch.float64).T  # looks one back, at any position
    _, _, directions = torch.linalg.svd(pe[:20])
    unseen = directions[20:]  # (44, 64): what positions 0 to 19 have nothing of
    g = torch.Generator().manual_seed(0)
    other = w_q + 1e4 * unseen.T @ torch.randn(44, 64, generator=g, dtype=torch.float64)
    short = ((pe[:20] @ other - pe[:20] @ w_q) @ pe.T).abs().max().item()
    looks = [(pe @ w @ pe.T).argmax(-1)[40:] for w in (w_q, other)]
    right, wrong = ((at == torch.arange(39, 79)).double().mean().item() for at in looks)
    assert short < 1e-6, f"the two differ at positions 0 to 19, by {short}"
    assert right == 1 and wrong < 0.2, f"from 40 on {right:.2f} and {wrong:.2f} look one back"
    numbers = {"difference up to 19": short, "one back from 40 on, rotation": right, "the other": wrong}
    return Shown("Positions 0 to 19 can't tell the two apart; further on one of them is lost.", numbers)


@proof
def rotary_scores_know_the_distance() -> Shown:
    """The same two vectors at all positions: the score depends on the distance, and on its direction."""
    g = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 10, generator=g, dtype=torch.float64)
    turned_q, turned_k = (rotate_by_position(one.expand(40, 10)) for one in (q, k))
    met = turned_q @ turned_k.T
    same = max((met.diagonal(m) - met.diagonal(m)[0]).abs().max().item() for m in range(-39, 40))
    assert same < 1e-12, "one distance has several scores"
    back, ahead = met[9, 7].item(), met[9, 11].item()
    assert abs(back - ahead) > 0.01, "two back and two ahead are alike"
    alone = rotate_by_position(k[None], start=39)[0]  # as a cache keeps it
    assert torch.allclose(alone, turned_k[39]) and torch.allclose(alone.norm(), k.norm()), "k was changed"
    order = torch.arange(10).view(2, 5).T.flatten()  # 0, 5, 1, 6, …: halves side by side
    halves = rotated(k.expand(40, 10), base=10_000, pairs="halves")[:, order]
    assert torch.allclose(halves, rotate_by_position(k[order].expand(40, 10))), "two kinds of turning"
    numbers = {"two back": back, "two ahead": ahead, "largest spread on a diagonal": same}
    return Shown("One score for each distance, wherever the two stand.", numbers)
