"""Known mistakes of where the heads' results end up, and of the scores' scale."""

from __future__ import annotations

import math
from typing import Any

import torch

from mha_course.exercises.mistakes.workbench import merge

# id, the step that is wrong, what to say, where to look
# Other places for the heads' results.
JOINING: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    (
        "last-head-missing",
        {"join": lambda z: torch.cat(z.unbind(1)[:-1], -1)},
        "The last head is missing: there are d_model - d_k features.",
        "where the loop ends.",
    ),
    (
        "first-head-missing",
        {"join": lambda z: torch.cat(z.unbind(1)[1:], -1)},
        "Head 1 is missing: there are d_model - d_k features.",
        "where the loop starts.",
    ),
    (
        "heads-behind-tokens-flattened",
        {"join": lambda z: z.transpose(1, 2).flatten(1, 2)},
        "Tokens and heads lie along one axis, `(b, n * h, d_k)`. Heads belong beside each other.",
        "which two axes become one.",
    ),
    (
        "batch-and-heads-swapped",
        {"join": lambda z: merge(z.reshape(z.shape[1], z.shape[0], *z.shape[2:]).transpose(0, 1))},
        "Sentences and heads were one axis, and are taken apart in the other order: sentences mix.",
        "the two sizes in front, their order.",
    ),
    (
        "heads-in-front-reshaped",
        {"join": lambda z: z.transpose(0, 1).reshape(z.shape[0], z.shape[2], -1)},
        "The heads are stacked (or joined) in front, and reshaped: rows mix sentences and tokens.",
        "the axis along which heads are put together.",
    ),
    (
        "sum-in-every-place",
        {"join": lambda z: z.sum(1).repeat(1, 1, z.shape[1])},
        "The sum of all heads stands in every head's place.",
        "how the heads are put together: is something added up?",
    ),
    (
        "mean-in-every-place",
        {"join": lambda z: z.mean(1).repeat(1, 1, z.shape[1])},
        "The mean of all heads stands in every head's place.",
        "how the heads are put together: is something averaged?",
    ),
    (
        "heads-in-wrong-places",
        {"join": lambda z: merge(z.roll(1, 1))},
        "The heads stand one place too far: the last one is first.",
        "the place of each head in the concatenation.",
    ),
    (
        "heads-and-batch-swapped",
        {"join": lambda z: merge(z.transpose(0, 1).reshape(z.shape))},
        "Heads and sentences were one axis, heads first, and are taken apart the other way: sentences mix.",
        "the two sizes in front, their order.",
    ),
    (
        "stacked-behind-features",
        {"join": lambda z: z.permute(0, 2, 3, 1)},
        "The heads are stacked behind the features, `(b, n, d_k, h)`. They belong beside each other.",
        "how the loop's results are put together.",
    ),
    (
        "largest-for-concat",
        {"join": lambda z: z.amax(1)},
        "The largest number over the heads is taken. Concat keeps all their numbers, side by side.",
        "how the heads are put together.",
    ),
    (
        "heads-added-up-so-far",
        {"join": lambda z: merge(z.cumsum(1))},
        "Each place holds the sum of all heads up to it.",
        "a `+=` in the loop, or a `cumsum`.",
    ),
)


# The scores' scale, besides the most frequent ones.
SCALES: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    (
        "scale-fourth-root",
        {"factor": lambda q, **s: q.shape[-1] ** -0.25},
        "The scores are divided by the fourth root of d_k (or only one of queries and keys by a part of it).",
        "the root: how often is it taken?",
    ),
    (
        "scale-h",
        {"factor": lambda q, h, **s: 1 / h},
        "The scores are divided by h = {h}.",
        "which size the divisor comes from.",
    ),
    (
        "scale-n",
        {"factor": lambda q, n, **s: 1 / n},
        "The scores are divided by n = {n}.",
        "which axis the divisor comes from.",
    ),
    (
        "scale-half-d_k",
        {"factor": lambda q, **s: 2 / q.shape[-1]},
        "The scores are divided by half of d_k = {d_k}, not by its root.",
        "`** 0.5` and `* 0.5`, or brackets around `1/2`.",
    ),
    (
        "scale-twice-d_k",
        {"factor": lambda q, **s: 0.5 / q.shape[-1]},
        "The scores are divided by d_k and then by 2: `d_k ** 1/2` reads as (d_k to the power of 1) / 2.",
        "brackets around `1/2`.",
    ),
    (
        "scale-whole-root",
        {"factor": lambda q, **s: 1 / math.isqrt(q.shape[-1])},
        "The root of d_k is rounded down to a whole number.",
        "`int`, `//` or `isqrt`.",
    ),
)
