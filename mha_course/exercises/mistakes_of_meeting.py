"""Known mistakes of which head's queries, keys and values meet, and of unlike treatment of the three."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.wrong_attention import merge, split, without_transpose


def head_for_all(y: Tensor, i: int = 0) -> Tensor:
    """One head in the places of all."""
    head = y[:, i : i + 1] if i >= 0 else y[:, i:]
    return head.expand_as(y)


def overlapping(y: Tensor, h: int) -> Tensor:
    """Slices that start one feature further each, not d_k further."""
    d_k = y.shape[-1] // h
    return torch.stack([y[..., i : i + d_k] for i in range(h)], 1)


def every_entry(position: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A softmax in which the keys are hidden that `position` (of query and key) says."""

    def soften(s: Tensor) -> Tensor:
        query, key = torch.arange(s.shape[-2])[:, None], torch.arange(s.shape[-1])[None, :]
        return s.masked_fill(position(query, key), float("-inf")).softmax(-1)

    return soften


def _own_rows(x: Tensor, w: Tensor, h: int) -> Tensor:
    """Block i of the matrix read as if it lay in memory as (h, d_model, d_k)."""
    d_model = w.shape[0]
    return x @ torch.cat(list(w.reshape(h, d_model, d_model // h)), 1)


# id, the step that is wrong, what to say, where to look
MEETING: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    (
        "keys-of-the-next-head",
        {"meet": lambda h, q, k, v: (q, k.roll(-1, 1), v)},
        "The queries of a head meet the keys of the next head.",
        "the index of the keys' slice.",
    ),
    (
        "values-of-the-next-head",
        {"meet": lambda h, q, k, v: (q, k, v.roll(-1, 1))},
        "The weights of a head mix the values of the next head.",
        "the index of the values' slice.",
    ),
    (
        "first-keys-for-all",
        {"meet": lambda h, q, k, v: (q, head_for_all(k), v)},
        "The keys of head 1 serve all heads.",
        "the slice of the keys: it should move with the head.",
    ),
    (
        "first-values-for-all",
        {"meet": lambda h, q, k, v: (q, k, head_for_all(v))},
        "The values of head 1 serve all heads.",
        "the slice of the values: it should move with the head.",
    ),
    (
        "first-queries-for-all",
        {"meet": lambda h, q, k, v: (head_for_all(q), k, v)},
        "The queries of head 1 serve all heads.",
        "the slice of the queries: it should move with the head.",
    ),
    (
        "first-keys-and-values-for-all",
        {"meet": lambda h, q, k, v: (q, head_for_all(k), head_for_all(v))},
        "The keys and values of head 1 serve all heads (multi-query attention, a later invention).",
        "the slices of keys and values: they should move with the head.",
    ),
    (
        "keys-averaged",
        {"meet": lambda h, q, k, v: (q, k.mean(1, keepdim=True).expand_as(k), v)},
        "The keys are averaged over the heads: all heads share one set of keys.",
        "a mean or a sum over the axis of heads.",
    ),
    (
        "one-map-for-all",
        {"soften": lambda s: s.softmax(-1).mean(1, keepdim=True).expand_as(s)},
        "All heads use the same weights, the average of theirs. Each head has weights of its own.",
        "a mean or a sum over the axis of heads.",
    ),
    (
        "values-cut-by-view",
        {"meet": lambda h, q, k, v: (q, k, without_transpose(merge(v), h))},
        "The values are split by `view` alone; queries and keys are split as they should be.",
        "how the values become `(b, h, n, d_k)`.",
    ),
    (
        "queries-cut-by-view",
        {"meet": lambda h, q, k, v: (without_transpose(merge(q), h), k, v)},
        "The queries are split by `view` alone; keys and values are split as they should be.",
        "how the queries become `(b, h, n, d_k)`.",
    ),
    (
        "keys-cut-by-view",
        {"meet": lambda h, q, k, v: (q, without_transpose(merge(k), h), v)},
        "The keys are split by `view` alone; queries and values are split as they should be.",
        "how the keys become `(b, h, n, d_k)`.",
    ),
    (
        "heads-not-moved",
        {
            "cut": lambda y, h: y.unflatten(-1, (h, -1)),
            "join": lambda z: z.flatten(2),
        },
        (
            "The axis of heads stays behind the tokens, `(b, n, h, d_k)`: in each token its heads attend to "
            "each other, and no token sees another."
        ),
        "which two axes the product of queries and keys works on.",
    ),
    (
        "heads-moved-at-the-end-only",
        {
            "cut": lambda y, h: y.unflatten(-1, (h, -1)),
            "join": lambda z: z.transpose(1, 2).reshape(z.shape[0], z.shape[1], -1),
        },
        (
            "While they attend, the axis of heads stands behind the tokens, `(b, n, h, d_k)`, and is moved "
            "afterwards: no token sees another."
        ),
        "where the axis of heads stands during attention.",
    ),
    (
        "overlapping-slices",
        {"cut": overlapping},
        "The slices overlap: each starts one feature further than the one before, not d_k further.",
        "where a slice starts.",
    ),
    (
        "h-and-d_k-swapped",
        {"cut": lambda y, h: split(y, y.shape[-1] // h)},
        "h and d_k have changed places: there are {d_k} heads of width {h}, not {h} of width {d_k}.",
        "which of the two sizes is the number of heads.",
    ),
    (
        "query-matrix-transposed",
        {"take": lambda h, w_q, w_k, w_v: (w_q.T, w_k, w_v)},
        "`w_q` is transposed; the others are used as they are.",
        "what happens to `w_q`.",
    ),
    (
        "key-matrix-transposed",
        {"take": lambda h, w_q, w_k, w_v: (w_q, w_k.T, w_v)},
        "`w_k` is transposed; the others are used as they are.",
        "what happens to `w_k`.",
    ),
    (
        "value-matrix-transposed",
        {"take": lambda h, w_q, w_k, w_v: (w_q, w_k, w_v.T)},
        "`w_v` is transposed; the others are used as they are.",
        "what happens to `w_v`.",
    ),
    (
        "matrices-reshaped",
        {"project": _own_rows},
        (
            "The matrices are reshaped to `(h, d_model, d_k)`. That cuts their memory, and a head's columns "
            "don't lie there in one piece."
        ),
        "how head i's columns are taken out of a matrix.",
    ),
    (
        "projected-twice",
        {"project": lambda x, w, h: x @ w @ w},
        "The input is multiplied by each matrix twice.",
        "how often a matrix is used.",
    ),
    (
        "causal",
        {"soften": every_entry(lambda query, key: key > query)},
        "Tokens don't see what comes behind them: there is a causal mask, and none is asked for.",
        "what is hidden before the softmax.",
    ),
    (
        "itself-hidden",
        {"soften": every_entry(lambda query, key: key == query)},
        "No token sees itself: the diagonal is hidden, and nothing should be.",
        "what is hidden before the softmax.",
    ),
    (
        "opposite-scores",
        {"compare": lambda q, k: -(q @ k.transpose(-2, -1))},
        "The scores have the opposite sign: the smallest product gets the largest weight.",
        "a minus.",
    ),
    (
        "values-added",
        {"mix": lambda w, k, v: w @ v + v},
        "The values are added to the weighted sum (a residual connection).",
        "the last step of a head: what is added?",
    ),
    (
        "scaled-after-softmax",
        {"factor": lambda q, **s: 1.0, "mix": lambda w, k, v: w @ v / math.sqrt(v.shape[-1])},
        "The weights are divided by the root of d_k, after the softmax. The scores should be, before it.",
        "the order of scale and softmax.",
    ),
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


# Other places for the heads' results.
JOINING: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    (
        "last-head-missing",
        {"join": lambda z: merge(z[:, :-1])},
        "The last head is missing: there are d_model - d_k features.",
        "where the loop ends.",
    ),
    (
        "first-head-missing",
        {"join": lambda z: merge(z[:, 1:])},
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
)
