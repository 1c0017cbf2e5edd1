"""Switching heads of a model off: their rows of W_O become zero, so that they add nothing to the output.

Source: Michel, Levy and Neubig 2019, section 2.3; Voita et al. 2019, section 6.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from mha_course.layers import MultiHeadAttention

Head = tuple[int, int]  # layer and head, both counted from 1


def attention_layers(model: nn.Module) -> list[MultiHeadAttention]:
    """All attention layers of a model, in the order in which they were put in."""
    return [module for module in model.modules() if isinstance(module, MultiHeadAttention)]


def all_heads(model: nn.Module) -> list[Head]:
    """(layer, head) of every head, both counted from 1, layer after layer."""
    layers = enumerate(attention_layers(model), 1)
    return [(number, i) for number, layer in layers for i in range(1, layer.h + 1)]


@contextmanager
def without_heads(model: nn.Module, heads: Iterable[Head]) -> Iterator[None]:
    """Inside `with without_heads(model, heads):` these heads add nothing; afterwards all is as it was.

    heads: pairs (layer, head), both counted from 1. The model itself is changed for that time, so nobody
    else may use it meanwhile. The bias of W_O belongs to no head and stays.

    Raises: ValueError for a head that the model doesn't have; nothing is changed then.
    """
    layers, off = attention_layers(model), sorted(set(heads))
    missing = [head for head in off if head not in all_heads(model)]
    if missing:
        sizes = ", ".join(f"layer {i} has {layer.h}" for i, layer in enumerate(layers, 1)) or "none"
        raise ValueError(f"no head {missing[0]} (layer, head), counted from 1; heads: {sizes}.")
    kept = {number: layers[number - 1].w_o.weight.detach().clone() for number, _ in off}
    try:
        with torch.no_grad():
            for number, head in off:
                layer = layers[number - 1]
                # nn.Linear keeps W_O transposed: rows of W_O are columns of the weight.
                layer.w_o.weight[:, (head - 1) * layer.d_v : head * layer.d_v] = 0
        yield
    finally:
        with torch.no_grad():
            for number, weight in kept.items():
                layers[number - 1].w_o.weight.copy_(weight)


def random_groups(
    model: nn.Module, size: int, count: int, seed: int, but_not: Collection[Head] = ()
) -> list[tuple[Head, ...]]:
    """Different groups of `size` heads, to compare a chosen group with. but_not: heads that stay out.

    Returns: `count` groups, fewer when there aren't as many. Raises: ValueError when there are fewer than
    `size` heads to draw from.
    """
    pool = [head for head in all_heads(model) if head not in set(but_not)]
    if size > len(pool):
        raise ValueError(f"groups of {size} heads can't be drawn from {len(pool)}.")
    rng, found = random.Random(seed), {}
    for _ in range(50 * count):
        found[tuple(sorted(rng.sample(pool, size)))] = None
        if len(found) == count:
            break
    return list(found)
