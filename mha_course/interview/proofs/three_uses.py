"""Encoder, decoder, cross-attention; one pass in training, and one word after the other afterwards."""

from __future__ import annotations

import torch

from mha_course.interview.proof import Shown, proof
from mha_course.masks import causal_mask, padding_mask
from mha_course.models.random_layer import random_layer


@proof
def three_uses_of_one_layer() -> Shown:
    """One layer in three uses: shapes of the weights, and who feels a change of what is read."""
    g, layer = torch.Generator().manual_seed(0), random_layer(d_model=24, h=4)
    source, target = torch.randn(1, 7, 24, generator=g), torch.randn(1, 5, 24, generator=g)
    real = padding_mask([6], n_k=7)  # the last source token is padding
    uses = {
        "encoder": (source, source, real, (7, 7), 7),
        "decoder": (target, target, causal_mask(5), (5, 5), 2),
        "cross": (target, source, real, (5, 7), 5),
    }
    felt = {}
    for name, (asks, read, mask, shape, expected) in uses.items():
        other = read.clone()
        other[0, 3] += 1  # token 4
        t, moved = layer.trace(asks, read, mask=mask), layer(asks, other, mask=mask)
        felt[name] = int(((moved - t.output)[0].abs().amax(-1) > 1e-5).sum())
        assert t.weights.shape == (1, 4, *shape) and felt[name] == expected, f"{name}: {felt[name]}"
    return Shown("Who feels a change of token 4, in each of the three uses.", felt)


@proof
def one_pass_is_step_by_step() -> Shown:
    """Behind a causal mask one pass over the right words gives what step-by-step reading gives."""
    lower, upper = (random_layer(d_model=24, h=4, seed=seed) for seed in (0, 1))
    words = torch.randn(1, 8, 24, generator=torch.Generator().manual_seed(2))

    def decoder(x: torch.Tensor) -> torch.Tensor:
        x = x + lower(x, mask=causal_mask(x.shape[1]))
        return x + upper(x, mask=causal_mask(x.shape[1]))

    steps = torch.cat([decoder(words[:, :t])[:, -1:] for t in range(1, 9)], dim=1)
    off = (steps - decoder(words)).abs().max().item()
    slip = words.clone()
    slip[0, 2] += 1  # a wrong word at place 3
    moved = ((decoder(slip) - decoder(words))[0].abs().amax(-1) > 1e-5).tolist()
    assert off < 1e-5 and moved == [False] * 2 + [True] * 6, "the future leaks, or a slip isn't read"
    return Shown("One pass equals eight steps; a slip is read by all that follow.", {"difference": off})
