"""A task that asks every token two things at once, and small layers trained on it.

Every token carries two numbers. Wanted at position t: the first number of the token before, and the second
number of the token behind, on a ring so that every token has both neighbours. One row of attention
weights serves both wishes in a head, so the number of heads decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.layers import AttentionTrace, MultiHeadAttention
from mha_course.models.one_thread import one_thread
from mha_course.models.random_layer import random_layer
from mha_course.models.trained_once import trained_once


@dataclass(frozen=True)
class TrainedNeighbours:
    """A trained layer with its loss at every step, its error and its trace on 1000 new sentences.

    Losses and error are mean squared errors; guessing 0 everywhere costs 1.
    """

    layer: MultiHeadAttention
    losses: list[float]
    error: float
    trace: AttentionTrace


def neighbour_batch(b: int, n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw sentences of two standard normal numbers a token, each token marked with its position.

    Returns: x (b, n, 2 + n), the numbers and then a one-hot position; wanted (b, n, 2).
    """
    numbers = torch.randn(b, n, 2, generator=generator)
    x = torch.cat([numbers, torch.eye(n).expand(b, n, n)], dim=-1)
    before, behind = numbers[..., 0].roll(1, dims=1), numbers[..., 1].roll(-1, dims=1)
    return x, torch.stack([before, behind], dim=-1)


def train_neighbours(
    h: int, n: int = 6, steps: int = 400, b: int = 64, seed: int = 0, weights_see_numbers: bool = False
) -> TrainedNeighbours:
    """Train a MultiHeadAttention(2 + n, h) on the neighbour task with Adam; about half a second.

    The count of learned numbers is the same for every h that divides 2 + n. Unless weights_see_numbers,
    queries and keys get the positions alone, so that one head has the same map for every sentence and cannot
    go below an error of 1/2. The global random state is left as it was.
    Raises: ValueError where h does not divide 2 + n.
    """
    with one_thread():
        return _train(h, n, steps, b, seed, weights_see_numbers)


@trained_once
def _train(h: int, n: int, steps: int, b: int, seed: int, weights_see_numbers: bool) -> TrainedNeighbours:
    generator = torch.Generator().manual_seed(seed)
    layer = random_layer(2 + n, h, seed).train().requires_grad_(True)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.02, fused=True)
    losses = []
    for _ in range(steps):
        x, wanted = neighbour_batch(b, n, generator)
        asks = x if weights_see_numbers else _without_numbers(x)
        loss = ((layer(asks, asks, x)[..., :2] - wanted) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    layer.eval()
    with torch.no_grad():
        x, wanted = neighbour_batch(1000, n, generator)
        asks = x if weights_see_numbers else _without_numbers(x)
        trace = layer.trace(asks, asks, x)
        error = ((trace.output[..., :2] - wanted) ** 2).mean().item()
    return TrainedNeighbours(layer, losses, error, trace)


def _without_numbers(x: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(x[..., :2]), x[..., 2:]], dim=-1)
