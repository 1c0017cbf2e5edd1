"""Which heads matter, judged without removing any: by the loss's slope, and by how sure their weights look.

Both are guesses at what removal would do. Ablation itself (`ablation.py`, `gating.py`) is the test of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

import torch
from torch import Tensor, nn

from mha_course.heads.ablation import Head, attention_layers
from mha_course.heads.gating import gated

Batch = TypeVar("Batch")


def gradient_importance(
    model: nn.Module, batches: Iterable[Batch], losses: Callable[[nn.Module, Batch], Tensor]
) -> Tensor:
    """I = E |dL / d xi| at xi = 1, where xi multiplies a head's output: (layers, heads).

    losses: the loss of every example of a batch, (b,), each from its own example only. The absolute value is
    taken for each example, before the mean: else slopes of both signs would cancel. One pass forward and one
    back; nothing is removed, and the model is left as it was.

    Raises: ValueError for no examples, for losses that aren't (b,), and for layers that differ in h.
    Source: Michel, Levy and Neubig 2019, section 4.1.
    """
    layers = attention_layers(model)
    if len({layer.h for layer in layers}) != 1:
        raise ValueError("a table of importance needs layers of equally many heads.")
    masks, training = [_Mask() for _ in layers], model.training
    total, count = torch.zeros(len(layers), layers[0].h), 0
    model.eval()  # dropout would add noise to the slope
    try:
        with gated(model, masks), torch.enable_grad():
            for batch in batches:
                each = losses(model, batch)
                b = masks[0].xi.shape[0]
                if each.shape != (b,):
                    raise ValueError(f"losses must be one an example, ({b},); got {tuple(each.shape)}.")
                slopes = torch.autograd.grad(each.sum(), [mask.xi for mask in masks])
                total += torch.stack([slope.abs().sum(0) for slope in slopes]).to(total)
                count += b
    finally:
        model.train(training)
    if not count:
        raise ValueError("there is no example.")
    return total / count


def normalised(importance: Tensor) -> Tensor:
    """Each layer's scores over their l2 norm, as Michel et al. compare layers; (layers, heads)."""
    return nn.functional.normalize(importance, dim=-1)


def confidence(weights: Iterable[Tensor], left_out: Iterable[Collection[int]] | None = None) -> Tensor:
    """The mean largest weight of a row over all tokens of all sentences: (layers, heads).

    weights: for each sentence (layers, heads, n, n). left_out: for each sentence the keys that don't count,
    such as the end-of-sentence token. Raises: ValueError for no token.
    Source: Voita et al. 2019, section 3.
    """
    total, count = torch.zeros(()), 0
    given = iter(left_out) if left_out is not None else None
    for one in weights:
        skip = set(next(given)) if given is not None else set()
        keys = [key for key in range(one.shape[-1]) if key not in skip]
        if keys:
            total = total + one[..., keys].amax(-1).sum(-1)
            count += one.shape[-2]
    if not count:
        raise ValueError("there is no token.")
    return total / count


def removal_order(scores: Tensor) -> list[Head]:
    """All heads, (layer, head) from 1, the smallest score first; ties in the order of the model."""
    order = scores.flatten().sort(stable=True).indices.tolist()
    return [(i // scores.shape[1] + 1, i % scores.shape[1] + 1) for i in order]


class _Mask(nn.Module):
    """A factor xi = 1 for every example and head, whose slope is asked for."""

    def forward(self, heads: Tensor) -> Tensor:
        self.xi = torch.ones(heads.shape[:2], dtype=heads.dtype, requires_grad=True)
        return heads * self.xi[:, :, None, None]
