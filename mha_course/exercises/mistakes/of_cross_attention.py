"""Known mistakes of cross-attention: who asks whom, and what can go wrong in any attention layer."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.workbench import (
    Step,
    attend_with,
    columns,
    first_for_all,
    interleaved,
    merge,
    merge_interleaved,
    merge_without_transpose,
    once,
    split,
    without_transpose,
)


def _who(y: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What makes queries, keys and values."""
    return y, memory, memory


def cross_with(
    y: Tensor,
    memory: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    h: int,
    mask: Tensor | None = None,
    *,
    who: Step = _who,
    take: Step = lambda q, k, v: (q, k, v),
    cut: Step = split,
    join: Step = merge,
    fuse: Step = lambda concat, w: concat @ w,
    finish: Step = lambda out, y, memory: out,
    **attention: Step,
) -> Tensor:
    """Cross-attention with the steps given; without any it is right."""
    matrices = once(take, w_q, w_k, w_v)
    inputs = once(who, y, memory)
    q, k, v = (once(cut, once(columns, x, w, h), h) for x, w in zip(inputs, matrices, strict=True))
    output, _ = attend_with(q, k, v, mask, d_model=y.shape[-1], h=h, **attention)
    return finish(once(fuse, once(join, output), w_o), y, memory)


def _renormalised(weights: Tensor, mask: Tensor) -> Tensor:
    return weights.masked_fill(~mask, 0.0)


def _tril(scores: Tensor) -> Tensor:
    return scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -1e9).softmax(-1)


_CHANGES: tuple[tuple[str, dict[str, object], str, str], ...] = (
    (
        "target-asks-itself",
        {"who": lambda y, memory: (y, y, y)},
        "This is self-attention of the target: keys and values are made of `y`, and the source is not read.",
        "where `memory` takes part.",
    ),
    (
        "source-asks-itself",
        {"who": lambda y, memory: (memory, memory, memory)},
        "This is self-attention of the source: the queries are made of `memory` as well.",
        "who asks: where does `y` take part?",
    ),
    (
        "roles-exchanged",
        {"who": lambda y, memory: (memory, y, y)},
        "The source asks the target. It is the target that writes, and so it asks.",
        "which of the two makes the queries.",
    ),
    (
        "key-and-value-matrices-swapped",
        {"take": lambda q, k, v: (q, v, k)},
        "W_K and W_V have changed places.",
        "where `w_k` and `w_v` are used.",
    ),
    (
        "query-and-key-matrices-swapped",
        {"take": lambda q, k, v: (k, q, v)},
        "W_Q and W_K have changed places.",
        "where `w_q` and `w_k` are used.",
    ),
    (
        "query-matrix-for-keys",
        {"take": lambda q, k, v: (q, q, v)},
        "W_Q makes the keys as well; W_K is not used.",
        "where `w_k` is used.",
    ),
    (
        "key-matrix-for-values",
        {"take": lambda q, k, v: (q, k, k)},
        "W_K makes the values as well; W_V is not used.",
        "where `w_v` is used.",
    ),
    (
        "projections-transposed",
        {"take": lambda q, k, v: (q.T, k.T, v.T)},
        "The matrices are transposed, as `nn.Linear` keeps them. Here they multiply from the right as given.",
        "`.T` at the matrices.",
    ),
    ("no-scale", {"factor": lambda q, **sizes: 1.0}, "The scores are not scaled.", "the root of d_k."),
    (
        "scale-sqrt-d_model",
        {"factor": lambda q, d_model, **sizes: 1 / math.sqrt(d_model)},
        "The scores are divided by the root of d_model. A head's products have d_k terms.",
        "the number under the root.",
    ),
    (
        "over-the-queries",
        {"soften": lambda scores: scores.softmax(-2)},
        "The softmax runs over the queries. Each target word spreads its own weight over the source.",
        "the axis of the softmax.",
    ),
    (
        "no-softmax",
        {"soften": lambda scores: scores, "hide": lambda s, m: s.masked_fill(~m, 0.0)},
        "There is no softmax: the scores themselves weigh the values.",
        "what turns scores into weights.",
    ),
    (
        "mask-ignored",
        {"hide": lambda s, m: s},
        "The mask has no effect: the padding of the source is looked at.",
        "where `mask` takes part.",
    ),
    (
        "mask-polarity",
        {"hide": lambda s, m: s.masked_fill(m, float("-inf"))},
        "The mask is turned round: real words are hidden. True = may attend.",
        "what True means.",
    ),
    (
        "mask-after-softmax",
        {"hide": lambda s, m: s, "hide_late": _renormalised},
        "The mask comes behind the softmax: rows no longer sum to 1.",
        "the order of mask and softmax.",
    ),
    (
        "causal",
        {"soften": _tril},
        "A causal mask hides part of the source. All of it may be read: it has been there from the start.",
        "a triangle.",
    ),
    (
        "view-without-transpose",
        {"cut": without_transpose},
        "The heads are cut by `view` alone, so that each holds pieces of other tokens.",
        "the split.",
    ),
    (
        "merge-without-transpose",
        {"join": merge_without_transpose},
        "The heads are joined by `reshape` alone, so that rows mix tokens.",
        "the concat.",
    ),
    (
        "heads-interleaved",
        {"cut": interleaved, "join": merge_interleaved},
        "Each head owns features that lie {h} apart. A head owns neighbouring columns.",
        "the two sizes into which the last axis is cut: their order.",
    ),
    (
        "first-head-for-all",
        {"cut": first_for_all},
        "Every head does what head 1 does.",
        "the index of the head.",
    ),
    (
        "w_o-left-out",
        {"fuse": lambda c, w: c},
        "W_O is left out: this is the concatenation.",
        "the last step.",
    ),
    ("w_o-transposed", {"fuse": lambda c, w: c @ w.T}, "W_O is transposed.", "`.T` at W_O."),
    (
        "residual-added",
        {"finish": lambda out, y, memory: out + y},
        "The target is added. That is the residual connection around the layer, and not the layer.",
        "what is added at the end.",
    ),
)
CROSS_MISTAKES = tuple(
    Mistake(i, partial(cross_with, **change), says, look) for i, change, says, look in _CHANGES
)
