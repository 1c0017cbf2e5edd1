"""Known mistakes of an encoder block: how its norms, residual paths and two halves are joined."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.exercise import Mistake

Parts = dict[str, Tensor]
Step = Callable[..., Tensor]


def normed(z: Tensor, parts: Parts, which: int) -> Tensor:
    """The LayerNorm of that number."""
    return F.layer_norm(z, z.shape[-1:], parts[f"gain_{which}"], parts[f"bias_{which}"])


def attended(z: Tensor, parts: Parts, h: int, allowed: Tensor) -> Tensor:
    """What the attention adds: (b, n, d_model)."""
    q, k, v = ((z @ parts[w]).unflatten(-1, (h, -1)).transpose(1, 2) for w in ("w_q", "w_k", "w_v"))
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~allowed, float("-inf"))
    empty = ~allowed.any(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    return (weights @ v).transpose(1, 2).flatten(2) @ parts["w_o"]


def fed(z: Tensor, parts: Parts, bend: Step = torch.relu) -> Tensor:
    """What the feed-forward part adds: (b, n, d_model)."""
    return bend(z @ parts["w_1"] + parts["b_1"]) @ parts["w_2"] + parts["b_2"]


def block_with(
    x: Tensor,
    parts: Parts,
    h: int,
    allowed: Tensor,
    *,
    first: Step = lambda x, parts: normed(x, parts, 1),
    join: Step = lambda x, z, a, parts: x + a,
    second: Step = lambda y, x, parts: normed(y, parts, 2),
    feed: Step = fed,
    finish: Step = lambda y, z, f, x, parts: y + f,
) -> Tensor:
    """The block with the steps given; without any it is right."""
    z_1 = first(x, parts)
    y = join(x, z_1, attended(z_1, parts, h, allowed), parts)
    z_2 = second(y, x, parts)
    return finish(y, z_2, feed(z_2, parts), x, parts)


def _feed_forward_first(x: Tensor, parts: Parts, h: int, allowed: Tensor) -> Tensor:
    y = x + fed(normed(x, parts, 2), parts)
    return y + attended(normed(y, parts, 1), parts, h, allowed)


_BLOCK: tuple[tuple[str, dict[str, object], str, str], ...] = (
    (
        "post-norm",
        {
            "first": lambda x, parts: x,
            "join": lambda x, z, a, parts: normed(x + a, parts, 1),
            "second": lambda y, x, parts: y,
            "finish": lambda y, z, f, x, parts: normed(y + f, parts, 2),
        },
        (
            "This is post-norm, as in the original Transformer: each LayerNorm stands behind the sum. In "
            "pre-norm it stands in front of its half, and the residual path runs past it untouched."
        ),
        "where the two LayerNorms stand: before a half, or behind the sum.",
    ),
    (
        "first-norm-left-out",
        {"first": lambda x, parts: x},
        "The first LayerNorm is left out: attention reads `x` as it is.",
        "what the attention reads.",
    ),
    (
        "second-norm-left-out",
        {"second": lambda y, x, parts: y},
        "The second LayerNorm is left out: the feed-forward part reads the sum as it is.",
        "what the feed-forward part reads.",
    ),
    (
        "first-residual-left-out",
        {"join": lambda x, z, a, parts: a},
        "The residual path around the attention is missing: its output replaces `x`, and is not added to it.",
        "what is added to what behind the attention.",
    ),
    (
        "second-residual-left-out",
        {"finish": lambda y, z, f, x, parts: f},
        "The residual path around the feed-forward part is missing: its output is all that is returned.",
        "what is added to what at the end.",
    ),
    (
        "first-residual-normed",
        {"join": lambda x, z, a, parts: z + a},
        "The attention is added to the normed `x`. The residual path carries `x` as it came.",
        "the two summands behind the attention: is a name used again?",
    ),
    (
        "second-residual-normed",
        {"finish": lambda y, z, f, x, parts: z + f},
        "The feed-forward part is added to what it has read, the normed sum. The residual path carries the "
        "sum itself.",
        "the two summands at the end: is a name used again?",
    ),
    (
        "second-residual-from-the-input",
        {"finish": lambda y, z, f, x, parts: x + f},
        "At the end `x` is added, as it came into the block. So what attention has added is lost.",
        "what is added at the end.",
    ),
    (
        "input-added-twice",
        {"finish": lambda y, z, f, x, parts: x + y + f},
        "The block's input is in the sum twice: the sum behind the attention holds it already.",
        "what is added at the end.",
    ),
    (
        "halves-side-by-side",
        {"second": lambda y, x, parts: normed(x, parts, 2)},
        "Both halves read the block's input, side by side (a parallel block, as in PaLM). Here the "
        "feed-forward part reads what attention has added, too.",
        "what the second LayerNorm is given.",
    ),
    (
        "norms-exchanged",
        {
            "first": lambda x, parts: normed(x, parts, 2),
            "second": lambda y, x, parts: normed(y, parts, 1),
        },
        "The two LayerNorms have changed places: each has its own gain and bias.",
        "the numbers behind `gain_` and `bias_`.",
    ),
    (
        "first-norm-twice",
        {"second": lambda y, x, parts: normed(y, parts, 1)},
        "The first LayerNorm's gain and bias are used in both places.",
        "the numbers behind `gain_` and `bias_`.",
    ),
    (
        "second-norm-twice",
        {"first": lambda x, parts: normed(x, parts, 2)},
        "The second LayerNorm's gain and bias are used in both places.",
        "the numbers behind `gain_` and `bias_`.",
    ),
    (
        "norm-at-the-end",
        {"finish": lambda y, z, f, x, parts: normed(y + f, parts, 2)},
        "The result is normed once more. A pre-norm block returns the sum; only the whole encoder ends with "
        "a LayerNorm, one of its own.",
        "the last step.",
    ),
    (
        "attention-normed",
        {"join": lambda x, z, a, parts: normed(x + a, parts, 1)},
        "Behind the attention the sum is normed, as if the block were post-norm, besides the LayerNorm "
        "before it.",
        "what happens between the first sum and the feed-forward part.",
    ),
    (
        "no-relu",
        {"feed": partial(fed, bend=lambda z: z)},
        "Nothing stands between the two maps of the feed-forward part. Together they are one linear map.",
        "what becomes of negative numbers in the middle.",
    ),
)
BLOCK_MISTAKES = (
    *(Mistake(i, partial(block_with, **change), says, look) for i, change, says, look in _BLOCK),
    Mistake(
        "feed-forward-first",
        _feed_forward_first,
        "The halves have changed places: first comes the feed-forward part. Attention comes first.",
        "the order of the two halves.",
    ),
)
