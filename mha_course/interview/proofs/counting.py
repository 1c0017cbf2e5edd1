"""What h changes and what it doesn't, and the number of parameters by heart."""

from __future__ import annotations

import torch

from mha_course import cost
from mha_course.interview.drawn import drawn
from mha_course.interview.proof import Shown, proof
from mha_course.layers import MultiHeadAttention
from mha_course.models.random_layer import random_layer


@proof
def h_changes_maps_not_products() -> Shown:
    """From 2 to 16 heads: parameters and products stay, maps grow eightfold, ranks of scores fall."""
    x = torch.randn(1, 20, 48, generator=torch.Generator().manual_seed(0)).double()
    numbers, of = {}, {}
    for h in (2, 16):
        layer = random_layer(48, h).double()
        trace = layer.trace(x)
        rank = int(torch.linalg.matrix_rank(trace.scores[0, 0]))
        parameters = sum(p.numel() for p in layer.parameters())
        of[h] = parameters, cost.attention_flops(20, 48, h)["total"], trace.weights.numel(), rank
        names = ("parameters", "FLOPs of products", "weights in the maps", "rank of a head's scores")
        numbers |= {f"h = {h}: {name}": n for name, n in zip(names, of[h], strict=True)}
    assert of[2][:2] == of[16][:2] == (4 * 48**2, 8 * 20 * 48**2 + 4 * 20**2 * 48), "these don't know h"
    assert of[16][2] == 8 * of[2][2], "every head has a map"
    assert (of[2][3], of[16][3]) == (20, 3), "the rank is at most min(n, d_k)"
    return Shown("d_model = 48, n = 20: h changes the maps and the ranks, nothing else here.", numbers)


@proof
def four_square_matrices() -> Shown:
    """Count the numbers of real layers and compare with the formulas that one keeps in mind."""
    sizes = {"plain": {}, "biases": {"bias": True}, "two key/value heads": {"n_kv_heads": 2}}
    sizes["free widths"] = {"d_k": 20, "d_v": 30}
    wanted = {"plain": 4 * 512**2, "biases": 4 * 512**2 + 4 * 512}
    wanted["two key/value heads"] = 2 * 512**2 + 2 * 512**2 * 2 // 8
    wanted["free widths"] = 512 * 8 * (2 * 20 + 2 * 30)
    counted = {}
    for name, options in sizes.items():
        layer = drawn(lambda options=options: MultiHeadAttention(512, 8, **options))
        counted[name] = sum(p.numel() for p in layer.parameters())
        assert counted[name] == wanted[name], f"{name}: {counted[name]:,}, not {wanted[name]:,}"
    return Shown("Counted in real layers, d_model = 512, h = 8.", counted)
