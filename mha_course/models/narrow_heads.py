"""What a head of a single column, d_k = 1, can do at best.

Its scores are a_p * b_s, one number of the query times one number of the key. So every query ranks the
keys in one order or in its reverse, and only the two keys at the ends can win a row outright; the key
third from an end gets at most a third of any row. No W_Q and W_K of this width hold "the previous word".
What is left is to get as much weight to the right place as can be.

Measured on "previous word", 11 tokens, 32 position columns, mean share on the target, each with its
best factor: a straight ramp of the position for query and key 0.19; the best rank-1 approximation of a
wide head's scores 0.23; that of the wanted matrix with its row and column means taken off 0.27; the
search below 0.34. With a_p and b_s free for every token the search ends at 0.36: the limit is the
single column, not the position vectors. (`tests/test_hand_set.py` measures them again.)
"""

from __future__ import annotations

import torch
from torch import Tensor

STEPS = 200
TRIES = 8
RATE = 0.6


def best_one_column(features: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Columns u, v so that softmax((F u)(F v)^T) puts as much of each row as possible on its target.

    features: F (n, f) float64; target: (n, n), rows that sum to 1, or to 0 where no key is wanted.
    Gradient ascent (Adam: Kingma and Ba 2015) from eight starts drawn with a fixed seed, on the mean log
    share first, so that no row is given up early, then on the mean share.
    Returns: u and v, (f,). Zeros when there is nothing to read or nothing to want.
    """
    basis, back = _span(features)
    live = (target.sum(-1) > 0).to(features.dtype)
    if basis.shape[1] == 0 or live.sum() == 0:
        return torch.zeros(2, features.shape[1], dtype=features.dtype).unbind()
    inside = (target > 0).to(features.dtype)
    generator = torch.Generator().manual_seed(0)
    columns = 2 * torch.randn(2, TRIES, basis.shape[1], generator=generator, dtype=features.dtype)
    mean, square = torch.zeros_like(columns), torch.zeros_like(columns)
    best, best_share = columns[:, 0], -1.0
    for step in range(1, STEPS + 1):
        a, b = columns @ basis.T
        weights = (a[:, :, None] * b[:, None, :]).softmax(dim=-1)
        share = (weights * inside).sum(-1) * live
        reached, which = (share.sum(-1) / live.sum()).max(dim=0)
        if float(reached) > best_share:
            best, best_share = columns[:, which].clone(), float(reached)
        slope = weights * (inside - share[..., None]) * live[:, None]
        if step <= STEPS // 2:
            slope = slope / share.clamp_min(1e-4)[..., None]
        down_a, down_b = (slope * b[:, None, :]).sum(-1), (slope * a[:, :, None]).sum(-2)
        gradient = torch.stack([down_a @ basis, down_b @ basis]) / live.sum()
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        columns = columns + RATE * (mean / (1 - 0.9**step)) / ((square / (1 - 0.99**step)).sqrt() + 1e-12)
    return tuple(best @ back.T)


def _span(features: Tensor) -> tuple[Tensor, Tensor]:
    """An orthonormal basis of what the features can express, and the way back to their columns.

    Directions that are 1000 times weaker than the strongest are left out: they would need huge weights.
    """
    if 0 in features.shape:
        return features.new_zeros(features.shape[0], 0), features.new_zeros(features.shape[1], 0)
    u, s, v = torch.linalg.svd(features, full_matrices=False)
    strong = s > max(1e-3 * float(s[0]), 1e-12)
    return u[:, strong], v.T[:, strong] / s[strong]
