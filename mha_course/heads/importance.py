"""Which heads matter, judged without removing any: by the loss's slope, and by how sure their weights look.

Both are guesses at what removal would do. Ablation itself (`ablation.py`, `gating.py`) is the test of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

import torch
from torch import Tensor, nn

from mha_course.heads.ablation import Head, attention_layers
from mha_course.heads.gating import gated, in_eval_mode

Batch = TypeVar("Batch")


def gradient_importance(
    model: nn.Module, batches: Iterable[Batch], losses: Callable[[nn.Module, Batch], Tensor]
) -> Tensor:
    """I = E |dL / d xi| at xi = 1, where xi multiplies a head's output: (layers, heads).

    losses: the loss of every example of a batch, (b,), each from its own example only. The absolute value is
    taken for each example, before the mean: else slopes of both signs would cancel. One pass forward and one
    back; a loss may also run the model on the batch several times. Nothing is removed, and the model is left
    as it was.

    Raises: ValueError for no examples, for losses that aren't (b,) or don't run all layers on the whole
    batch, and for layers that differ in h.
    Source: Michel, Levy and Neubig 2019, section 4.1.
    """
    layers = attention_layers(model)
    if len({layer.h for layer in layers}) != 1:
        raise ValueError("a table of importance needs layers of equally many heads.")
    masks = [_Mask() for _ in layers]
    total, count = torch.zeros(len(layers), layers[0].h), 0
    # In eval mode, since dropout would add noise to the slope.
    with in_eval_mode(model), gated(model, masks), torch.enable_grad():
        for batch in batches:
            for mask in masks:
                mask.xi = None
            each = losses(model, batch)
            if any(mask.xi is None for mask in masks) or not each.requires_grad:
                raise ValueError("losses must come from the model: from all its layers, with gradients.")
            b = masks[0].xi.shape[0]
            if each.shape != (b,):
                raise ValueError(f"losses must be one an example, ({b},); got {tuple(each.shape)}.")
            xis = [mask.xi for mask in masks]
            slopes = torch.autograd.grad(each.sum(), xis, materialize_grads=True)
            total += torch.stack([slope.abs().sum(0) for slope in slopes]).to(total)
            count += b
    if not count:
        raise ValueError("there is no example.")
    return total / count


def normalised(importance: Tensor) -> Tensor:
    """Each layer's scores over their l2 norm, as Michel et al. compare layers; (layers, heads)."""
    return nn.functional.normalize(importance, dim=-1)


def confidence(weights: Iterable[Tensor], left_out: Iterable[Collection[int]] | None = None) -> Tensor:
    """The mean largest weight of a row over all tokens of all sentences: (layers, heads).

    weights: for each sentence (layers, heads, n, n). left_out: for each sentence the keys that don't count,
    such as the end-of-sentence token, counted from 0.
    Raises: ValueError for no token, for another number of left_out than sentences, for keys that aren't
    there, and for sentences of different models.
    Source: Voita et al. 2019, section 3.
    """
    total, count = torch.zeros(()), 0
    given = None if left_out is None else [set(keys) for keys in left_out]
    sentences = 0
    for one in weights:
        skip = given[sentences] if given is not None and sentences < len(given) else set()
        sentences += 1
        n_k = one.shape[-1]
        if not skip <= set(range(n_k)):
            raise ValueError(f"left_out={sorted(skip)} of sentence {sentences}: its keys are 0 to {n_k - 1}.")
        if count and one.shape[:2] != total.shape:
            shapes = f"{tuple(one.shape[:2])}; before it was {tuple(total.shape)}"
            raise ValueError(f"sentence {sentences} has (layers, heads) = {shapes}.")
        keys = [key for key in range(n_k) if key not in skip]
        if keys:
            total = total + one[..., keys].amax(-1).sum(-1)
            count += one.shape[-2]
    if given is not None and len(given) != sentences:
        raise ValueError(f"left_out is for {len(given)} sentences; weights are for {sentences}.")
    if not count:
        raise ValueError("there is no token.")
    return total / count


def removal_order(scores: Tensor) -> list[Head]:
    """All heads, (layer, head) from 1, the smallest score first; ties in the order of the model.

    scores: (layers, heads). Raises: ValueError for other shapes, and for scores with nan, which has no place.
    """
    if scores.ndim != 2 or bool(scores.isnan().any()):
        nans = int(scores.isnan().sum())
        raise ValueError(
            f"scores must be (layers, heads) without nan; got {tuple(scores.shape)}, {nans} nan."
        )
    order = scores.flatten().sort(stable=True).indices.tolist()
    return [(i // scores.shape[1] + 1, i % scores.shape[1] + 1) for i in order]


class _Mask(nn.Module):
    """A factor xi = 1 for every example and head, whose slope is asked for.

    All passes of a batch share one xi, so that their slopes add up.
    """

    xi: Tensor | None = None

    def forward(self, heads: Tensor) -> Tensor:
        if self.xi is None:
            self.xi = heads.new_ones(heads.shape[:2]).requires_grad_()
        if self.xi.shape != heads.shape[:2]:
            b = self.xi.shape[0]
            raise ValueError(f"losses run the model on {b} and on {len(heads)} examples of one batch.")
        return heads * self.xi[:, :, None, None]
