"""Known mistakes of which head's queries, keys and values meet, and of unlike treatment of the three."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.mistakes.workbench import merge, split, without_transpose


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
    """Slice i of the input times the rows of the matrix that fit it: d_model features for each head."""
    return torch.cat([a @ b for a, b in zip(x.chunk(h, -1), w.chunk(h), strict=True)], -1)


def _in_memory(x: Tensor, w: Tensor, h: int) -> Tensor:
    """Block i of the matrix read as if it lay in memory as (h, d_model, d_k)."""
    d_model = w.shape[0]
    return x @ torch.cat(list(w.reshape(h, d_model, d_model // h)), 1)


def _three_in_each_head(h: int, fused: Tensor) -> tuple[Tensor, ...]:
    """The columns of a fused matrix taken as (h, 3, d_k): for each of q, k, v those that land in it."""
    parts = fused.reshape(len(fused), h, 3, -1)
    return tuple(parts[:, :, i].flatten(1) for i in range(3))


# id, the step that is wrong, what to say, where to look
MEETING: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    (
        "values-for-keys",
        {"pick": lambda x, q, k, v: (q, v, v)},
        "Queries are compared with values (or `w_v` was used twice): the keys play no part.",
        "what the queries are compared with.",
    ),
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
        "keys-of-the-previous-head",
        {"meet": lambda h, q, k, v: (q, k.roll(1, 1), v)},
        "The queries of a head meet the keys of the head before it.",
        "the index of the keys' slice.",
    ),
    (
        "values-of-the-previous-head",
        {"meet": lambda h, q, k, v: (q, k, v.roll(1, 1))},
        "The weights of a head mix the values of the head before it.",
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
        "scores-added-over-heads",
        {"soften": lambda s: s.sum(1, keepdim=True).softmax(-1).expand_as(s)},
        (
            "All heads share one map, made of the sum of their scores: as if queries and keys were never "
            "split, with the scale of a head."
        ),
        "the axis of heads: is it summed over, in an einsum or a product at full width?",
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
        "query-and-key-matrices-transposed",
        {"take": lambda h, w_q, w_k, w_v: (w_q.T, w_k.T, w_v)},
        "`w_q` and `w_k` are transposed, `w_v` is not. All three multiply from the right as they are.",
        "what happens to `w_q` and `w_k`.",
    ),
    (
        "columns-shifted",
        {"take": lambda h, *matrices: tuple(w.roll(-1, 1) for w in matrices)},
        "The slices start one column late: head 1 should start at column 0.",
        "where the first slice starts.",
    ),
    (
        "fused-product-cut-otherwise",
        {"take": lambda h, *matrices: _three_in_each_head(h, torch.cat(matrices, 1))},
        (
            "Queries, keys and values are cut from one product in another order than they were joined: "
            "`(h, 3, d_k)` for `(3, h, d_k)`."
        ),
        "the sizes into which the fused product is cut: their order.",
    ),
    (
        "matrices-not-cut",
        {"project": lambda x, w, h: (x @ w).repeat(1, 1, h)},
        "Every head uses the whole matrices, so each is d_model wide. Head i owns d_k columns.",
        "the slice of the matrices (or of the projections) that a head takes.",
    ),
    (
        "values-not-cut",
        {"meet": lambda h, q, k, v: (q, k, merge(v).unsqueeze(1).expand(-1, h, -1, -1))},
        "The values are not cut: each head mixes all d_model of them, not its own d_k.",
        "the slice of the values.",
    ),
    (
        "rows-for-columns",
        {"project": _own_rows},
        (
            "Each head gets a slice of the input and the rows of the matrices that fit it. Every head reads "
            "the whole input; it owns columns."
        ),
        "which axis of the matrices is cut, and whether `x` is.",
    ),
    (
        "matrices-reshaped",
        {"project": _in_memory},
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
        "anti-causal",
        {"soften": every_entry(lambda query, key: key < query)},
        "Tokens don't see what comes before them: there is a mask, and none is asked for.",
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
        {"factor": lambda q, **s: 1.0, "mix": lambda w, k, v: w @ v / v.shape[-1] ** 0.5},
        "The weights are divided by the root of d_k, after the softmax. The scores should be, before it.",
        "the order of scale and softmax.",
    ),
)
