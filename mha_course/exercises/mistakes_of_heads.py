"""Known mistakes of everything that works on several heads: loop, batched product, and the whole layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.wrong_attention import (
    first_for_all,
    interleaved,
    merge,
    merge_interleaved,
    merge_reversed,
    merge_without_transpose,
    without_transpose,
)


def _one_value_per_sentence(s: Tensor) -> Tensor:
    return s.flatten(2).softmax(-1).reshape(s.shape)


def _slice_by_slice(x: Tensor, w: Tensor, h: int) -> Tensor:
    """Slice i of the input times block (i, i) of the matrix."""
    keep = torch.block_diag(*[torch.ones(x.shape[-1] // h, x.shape[-1] // h)] * h)
    return x @ (w * keep.to(w.dtype))


# id, the step that is wrong, what to say, where to look
_STEPS = (
    (
        "no-scale",
        {"factor": lambda q, **s: 1.0},
        "The scores are not divided by the root of d_k.",
        "the step after the product of queries and keys.",
    ),
    (
        "scale-sqrt-d_model",
        {"factor": lambda q, d_model, **s: 1 / math.sqrt(d_model)},
        (
            "The scores are divided by the root of d_model = {d_model}. Each dot product has only d_k = "
            "{d_k} terms."
        ),
        "which width the divisor comes from.",
    ),
    (
        "scale-d_k",
        {"factor": lambda q, **s: 1 / q.shape[-1]},
        "The scores are divided by d_k = {d_k} itself, not by its root.",
        "the divisor.",
    ),
    (
        "scale-d_model",
        {"factor": lambda q, d_model, **s: 1 / d_model},
        "The scores are divided by d_model = {d_model}.",
        "the divisor: which width, and its root.",
    ),
    (
        "scale-multiplied",
        {"factor": lambda q, **s: math.sqrt(q.shape[-1])},
        "The scores are multiplied by the root of d_k.",
        "`*` and `/`.",
    ),
    (
        "scale-sqrt-h",
        {"factor": lambda q, h, **s: 1 / math.sqrt(h)},
        "The scores are divided by the root of h = {h}.",
        "which size the divisor comes from.",
    ),
    (
        "scale-sqrt-n",
        {"factor": lambda q, n, **s: 1 / math.sqrt(n)},
        "The scores are divided by the root of n = {n}.",
        "which axis the divisor comes from.",
    ),
    (
        "over-the-queries",
        {"soften": lambda s: s.softmax(-2)},
        "The softmax goes over the queries: columns of weights sum to 1.",
        "the axis of the softmax.",
    ),
    (
        "over-the-heads",
        {"soften": lambda s: s.softmax(1)},
        "The softmax goes over the heads (axis 1). Each head has to spend a weight of 1 by itself.",
        "the axis of the softmax; counted from the end it has the same number for every rank.",
    ),
    (
        "over-the-sentences",
        {"soften": lambda s: s.softmax(0)},
        "The softmax goes over axis 0, the sentences of the batch.",
        "the axis of the softmax; counted from the end it has the same number for every rank.",
    ),
    (
        "over-everything",
        {"soften": _one_value_per_sentence},
        "The softmax goes over a whole map: all its weights together sum to 1, not each row.",
        "the axis of the softmax.",
    ),
    (
        "no-softmax",
        {"soften": lambda s: s},
        "There is no softmax: the scores themselves are used as weights.",
        "the step between scores and output.",
    ),
    (
        "sigmoid",
        {"soften": lambda s: s.sigmoid()},
        "Each score is squeezed by itself (a sigmoid), so rows don't sum to 1.",
        "the step between scores and weights.",
    ),
    (
        "softmax-twice",
        {"soften": lambda s: s.softmax(-1).softmax(-1)},
        "Softmax is applied twice; the weights come out nearly equal.",
        "how often the weights are softened.",
    ),
    (
        "queries-and-keys-swapped",
        {"pick": lambda x, q, k, v: (k, q, v)},
        "Queries and keys have changed places (or their matrices have): rows belong to keys.",
        "`w_q` and `w_k`, and the order in the product of scores.",
    ),
    (
        "keys-and-values-swapped",
        {"pick": lambda x, q, k, v: (q, v, k)},
        "Keys and values have changed places (or their matrices have).",
        "`w_k` and `w_v`.",
    ),
    (
        "queries-and-values-swapped",
        {"pick": lambda x, q, k, v: (v, k, q)},
        "Queries and values have changed places (or their matrices have).",
        "`w_q` and `w_v`.",
    ),
    (
        "keys-for-values",
        {"pick": lambda x, q, k, v: (q, k, k)},
        "The weighted sum is made of keys (or `w_k` was used twice). The values are what is mixed.",
        "what the weights multiply.",
    ),
    (
        "queries-for-keys",
        {"pick": lambda x, q, k, v: (q, q, v)},
        "Queries are compared with queries (or `w_q` was used twice): the keys play no part.",
        "what the queries are compared with.",
    ),
    (
        "keys-for-queries",
        {"pick": lambda x, q, k, v: (k, k, v)},
        "Keys are compared with keys: `w_q` plays no part.",
        "where `w_q` is used.",
    ),
    (
        "queries-for-values",
        {"pick": lambda x, q, k, v: (q, k, q)},
        "The weighted sum is made of queries: `w_v` plays no part.",
        "where `w_v` is used.",
    ),
    (
        "values-not-projected",
        {"pick": lambda x, q, k, v: (q, k, x)},
        "The weights mix the input itself: `w_v` plays no part.",
        "where `w_v` is used.",
    ),
    (
        "keys-not-projected",
        {"pick": lambda x, q, k, v: (q, x, v)},
        "The queries are compared with the input itself: `w_k` plays no part.",
        "where `w_k` is used.",
    ),
    (
        "queries-not-projected",
        {"pick": lambda x, q, k, v: (x, k, v)},
        "The input itself asks: `w_q` plays no part.",
        "where `w_q` is used.",
    ),
    (
        "nothing-projected",
        {"pick": lambda x, q, k, v: (x, x, x)},
        "Nothing is projected: queries, keys and values are slices of the input.",
        "where the three matrices are used.",
    ),
    (
        "projections-transposed",
        {"project": lambda x, w, h: x @ w.T},
        (
            "The matrices are transposed (`nn.Linear` keeps them so). Here they multiply from the right as "
            "they are."
        ),
        "`.T`, or rows of the matrices where columns belong to a head.",
    ),
    (
        "input-sliced",
        {"project": _slice_by_slice},
        (
            "Each head sees only its own slice of the input. Every head reads all d_model features; it is "
            "the *projection* that is cut."
        ),
        "what is cut: `x` or `x @ w`.",
    ),
    (
        "view-without-transpose",
        {"cut": without_transpose},
        "The split is `view` alone: heads hold pieces of several tokens, in the right shape.",
        "how `(b, n, d_model)` becomes `(b, h, n, d_k)`.",
    ),
    (
        "interleaved",
        {"cut": interleaved},
        (
            "The split deals features out like cards: head 1 gets features 1, {h} + 1, ... It should get "
            "neighbours."
        ),
        "the two sizes into which the last axis is cut: their order.",
    ),
    (
        "first-slice-for-all",
        {"cut": first_for_all},
        "Every head works with the first slice of the projection: they are all head 1.",
        "the start and end of the slice: they should move with the head.",
    ),
    (
        "heads-not-split",
        {"cut": lambda x, h: x.unsqueeze(1), "join": lambda z: z[:, 0]},
        "The heads are not split: there is one head of full width.",
        "where `h` is used.",
    ),
    (
        "merge-without-transpose",
        {"join": merge_without_transpose},
        "The heads are right; they are put together by `reshape` alone, so rows mix several tokens.",
        "how `(b, h, n, d_k)` becomes `(b, n, d_model)`.",
    ),
    (
        "merge-interleaved",
        {"join": merge_interleaved},
        "The heads are right; put together, their features alternate. All of head 1 comes first.",
        "the order of the two axes that are joined.",
    ),
    (
        "heads-reversed",
        {"join": merge_reversed},
        "The heads are right, put together in reversed order.",
        "the order in the concatenation.",
    ),
    (
        "last-head-for-all",
        {"join": lambda z: z[:, -1].repeat(1, 1, z.shape[1])},
        "The last head stands in the places of all: what came before is overwritten.",
        "what the loop keeps.",
    ),
    (
        "only-first-head-kept",
        {"join": lambda z: merge(torch.cat([z[:, :1], torch.zeros_like(z[:, 1:])], 1))},
        "Only head 1 is there; the places of the others are 0.",
        "the loop: does it return too early?",
    ),
    (
        "only-last-head-kept",
        {"join": lambda z: merge(torch.cat([torch.zeros_like(z[:, :-1]), z[:, -1:]], 1))},
        "Only the last head is there; the places of the others are 0.",
        "whether the loop starts afresh each time.",
    ),
    (
        "weights-not-used",
        {"mix": lambda w, k, v: v.mean(-2, keepdim=True).expand_as(v)},
        "The output is the plain average of the values: the weights play no part.",
        "the last product of a head.",
    ),
    (
        "weights-transposed",
        {"mix": lambda w, k, v: w.transpose(-2, -1) @ v},
        "The weights are transposed before they multiply the values.",
        "the product of weights and values.",
    ),
    (
        "values-alone",
        {"mix": lambda w, k, v: v},
        "These are the values: nothing was mixed.",
        "the last product of a head.",
    ),
)

# Only where nothing comes behind the concatenation: another shape tells these apart.
_SHAPES = (
    (
        "sum-for-concat",
        {"join": lambda z: z.sum(1)},
        "The heads are added up. Concat keeps all their numbers, side by side.",
        "how the heads are put together.",
    ),
    (
        "mean-for-concat",
        {"join": lambda z: z.mean(1)},
        "The heads are averaged. Concat keeps all their numbers, side by side.",
        "how the heads are put together.",
    ),
    (
        "not-concatenated",
        {"join": lambda z: z},
        "The heads are right; they still have an axis of their own, `(b, h, n, d_k)`.",
        "the last step.",
    ),
    (
        "stacked-behind-tokens",
        {"join": lambda z: z.transpose(1, 2)},
        "The heads are right; they still have an axis of their own, `(b, n, h, d_k)`.",
        "the last step.",
    ),
    (
        "along-the-tokens",
        {"join": lambda z: z.flatten(1, 2)},
        "The heads lie behind each other along the tokens, `(b, h * n, d_k)`.",
        "the axis of `torch.cat`.",
    ),
    (
        "stacked-in-front",
        {"join": lambda z: z.transpose(0, 1)},
        "The heads are right; they are stacked in front, `(h, b, n, d_k)`.",
        "how the loop's results are put together.",
    ),
    (
        "along-the-batch",
        {"join": lambda z: z.transpose(0, 1).flatten(0, 1)},
        "The heads lie behind each other along the batch, `(h * b, n, d_k)`.",
        "the axis of `torch.cat`.",
    ),
    ("last-head-only", {"join": lambda z: z[:, -1]}, "Only the last head comes out.", "what the loop keeps."),
    (
        "first-head-only",
        {"join": lambda z: z[:, 0]},
        "Only head 1 comes out.",
        "the loop: does it return too early?",
    ),
)


def head_mistakes(right: Callable[..., Any], with_shapes: bool) -> tuple[Mistake, ...]:
    """The mistakes of projecting, splitting, attending and joining, as settings of `right`."""
    entries = (*_STEPS, *(_SHAPES if with_shapes else ()))
    return tuple(Mistake(id_, partial(right, **change), says, look) for id_, change, says, look in entries)
