"""How near one head can come to a wanted pattern of weights, when its queries and keys are d_k wide.

Queries and keys are free here, so the width is the only limit: scores of rank at most d_k. No layer that
makes them from tokens can come nearer.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.attention import scaled_scores
from mha_course.models.trained_once import trained_once


def soft_identity(n: int, sharpness: float = 3.0) -> Tensor:
    """Weights of n queries that look mostly at themselves: softmax of sharpness times the identity, float64.

    Returns: (n, n), rows sum to 1.
    """
    return (sharpness * torch.eye(n, dtype=torch.float64)).softmax(dim=-1)


def fit_pattern(wanted: Tensor, d_k: int, seeds: int = 3) -> tuple[float, Tensor]:
    """The head of width d_k whose weights are nearest to the wanted ones, the best of several searches.

    wanted: (n_q, n_k), positive, rows sum to 1. Nearness is the Kullback-Leibler divergence from the wanted
    row to the head's row, in nats, averaged over rows; 0 means equal. L-BFGS in float64 with generators of
    its own; the gradient of the loss is taken whatever the caller's grad mode.

    Returns: the divergence and the head's weights (n_q, n_k).
    Raises: ValueError for a width below 1 and for a pattern with zeros or rows that don't sum to 1.
    Source: the question is that of Bhojanapalli et al. 2020, "Low-Rank Bottleneck in Multi-head Attention".
    """
    divergence, scores = fit_scores(wanted, d_k, seeds)
    return divergence, scores.softmax(dim=-1)


def fit_scores(wanted: Tensor, d_k: int, seeds: int = 3) -> tuple[float, Tensor]:
    """The head of `fit_pattern` by its scores (n_q, n_k), of rank d_k at most, in place of its weights.

    Weights of a sharp head can round to 0, and then their scores are lost.
    Returns: the divergence and the scores. Raises: ValueError as `fit_pattern`.
    """
    if d_k < 1 or seeds < 1:
        raise ValueError(f"d_k={d_k} and seeds={seeds} must be at least 1.")
    wanted = wanted.detach().double()
    rows = wanted.sum(dim=-1)
    if wanted.ndim != 2 or not (wanted > 0).all() or not torch.allclose(rows, torch.ones_like(rows)):
        raise ValueError("wanted must be (n_q, n_k), all above 0, with rows that sum to 1.")
    rows = tuple(map(tuple, wanted.tolist()))
    searches = [_search(rows, d_k, seed) for seed in range(seeds)]
    return min(searches, key=lambda found: found[0])


@trained_once
def _search(rows: tuple[tuple[float, ...], ...], d_k: int, seed: int) -> tuple[float, Tensor]:
    wanted, generator = torch.tensor(rows, dtype=torch.float64), torch.Generator().manual_seed(seed)
    n_q, n_k = wanted.shape
    q = torch.randn(n_q, d_k, generator=generator, dtype=torch.float64).requires_grad_()
    k = torch.randn(n_k, d_k, generator=generator, dtype=torch.float64).requires_grad_()
    optimiser = torch.optim.LBFGS(
        [q, k],
        max_iter=400,
        history_size=30,
        tolerance_grad=1e-12,
        tolerance_change=1e-16,
        line_search_fn="strong_wolfe",
    )

    def divergence() -> Tensor:
        found = scaled_scores(q, k).log_softmax(dim=-1)
        return (wanted * (wanted.log() - found)).sum(dim=-1).mean()

    def step() -> Tensor:
        optimiser.zero_grad()
        loss = divergence()
        loss.backward()
        return loss

    with torch.enable_grad():
        optimiser.step(step)
    with torch.no_grad():
        # Rounding can leave a divergence of -1e-17, which would read as better than equal.
        return max(divergence().item(), 0.0), scaled_scores(q, k)
