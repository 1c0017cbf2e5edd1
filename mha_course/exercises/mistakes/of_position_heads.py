"""Known mistakes of lesson 08, heads by position: queries that should look back, and shares of hits."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake


def _root(pe: Tensor) -> float:
    return math.sqrt(pe.shape[1])


def _back_with_empty_row(pe: Tensor, turn: Tensor, beta: float) -> Tensor:
    rows = torch.zeros_like(pe)
    rows[1:] = pe[:-1]
    return beta * _root(pe) * rows


QUERY_MISTAKES = (
    Mistake(
        "looks-ahead",
        lambda pe, turn, beta: beta * _root(pe) * pe @ turn,
        "The queries are turned the other way, so that the head looks at the next position.",
        "`turn` moves a column, and the positions are rows here.",
    ),
    Mistake(
        "no-root",
        lambda pe, turn, beta: beta * pe @ turn.T,
        (
            "The root of d_k is missing. The scores are divided by it later, so the head is less "
            "sharp than beta."
        ),
        "what happens to the scores after the product.",
    ),
    Mistake(
        "divided-by-root",
        lambda pe, turn, beta: beta / _root(pe) * pe @ turn.T,
        "The queries are divided by the root of d_k. They will be divided again as scores.",
        "`*` and `/`.",
    ),
    Mistake(
        "beta-left-out",
        lambda pe, turn, beta: _root(pe) * pe @ turn.T,
        "The sharpness takes no part.",
        "which argument is never used.",
    ),
    Mistake(
        "not-turned",
        lambda pe, turn, beta: beta * _root(pe) * pe,
        "The queries are not turned. Each position asks for itself.",
        "which argument is never used.",
    ),
    Mistake(
        "turned-twice",
        lambda pe, turn, beta: beta * _root(pe) * pe @ turn.T @ turn.T,
        "The queries are turned twice, so that the head looks two positions back.",
        "how often `turn` is used.",
    ),
    Mistake(
        "root-of-n",
        lambda pe, turn, beta: beta * math.sqrt(len(pe)) * pe @ turn.T,
        "The root is taken of the number of positions, {n}. It belongs to the width, {d_k}.",
        "the axis whose size is under the root.",
    ),
    Mistake(
        "width-without-root",
        lambda pe, turn, beta: beta * pe.shape[1] * pe @ turn.T,
        "The factor is d_k itself. Its root is wanted.",
        "what the scores are divided by.",
    ),
    Mistake(
        "beta-under-the-root",
        lambda pe, turn, beta: math.sqrt(beta * pe.shape[1]) * pe @ turn.T,
        "The sharpness stands under the root, too.",
        "what belongs under the root.",
    ),
    Mistake(
        "divided-by-beta",
        lambda pe, turn, beta: _root(pe) / beta * pe @ turn.T,
        "A larger beta makes these queries smaller.",
        "`*` and `/`.",
    ),
    Mistake(
        "rows-rolled",
        lambda pe, turn, beta: beta * _root(pe) * pe.roll(1, 0),
        "Rows are moved instead of turned: query 0 gets the last row. No matrix `W_Q` could do that.",
        "`turn`: a head can only multiply, row by row.",
    ),
    Mistake(
        "first-row-empty",
        _back_with_empty_row,
        "Rows are moved instead of turned, and query 0 is empty. No matrix `W_Q` could do that.",
        "`turn`: a head can only multiply, row by row.",
    ),
    Mistake(
        "transposed",
        lambda pe, turn, beta: beta * _root(pe) * turn @ pe.T,
        "The queries stand in columns, `({d_k}, {n})`. Rows are wanted.",
        "the order of the two matrices.",
    ),
    Mistake(
        "scores-for-queries",
        lambda pe, turn, beta: beta * pe @ turn.T @ pe.T,
        "These are the scores already. The queries are wanted.",
        "the last step.",
    ),
)


def _hits(weights: Tensor, offset: int, target: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """(h, n): where the largest weight of a row lies on its target."""
    queries = torch.arange(weights.shape[-1])
    place = queries + offset if target is None else target(queries + offset)
    return weights.argmax(-1) == place


def _live(weights: Tensor, offset: int) -> Tensor:
    target = torch.arange(weights.shape[-1]) + offset
    return (target >= 0) & (target < weights.shape[-1])


def _share(weights: Tensor, offset: int) -> Tensor:
    return _hits(weights, offset)[:, _live(weights, offset)].float().mean(-1)


def _weight_on_target(weights: Tensor, offset: int) -> Tensor:
    return weights.diagonal(offset, -2, -1).mean(-1)


OFFSET_MISTAKES = (
    Mistake(
        "other-direction",
        lambda w, offset: _share(w, -offset),
        "It looks at the other side: offset -1 is the position before.",
        "the sign of the offset.",
    ),
    Mistake(
        "edges-counted-as-misses",
        lambda w, offset: _hits(w, offset).float().mean(-1),
        "Queries that have no such position count as misses: the first one has none before it.",
        "what the hits are divided by.",
    ),
    Mistake(
        "hits-not-divided",
        lambda w, offset: _hits(w, offset).float().sum(-1),
        "These are numbers of hits. A share is wanted.",
        "what comes after counting.",
    ),
    Mistake(
        "weight-for-hits",
        _weight_on_target,
        "This is the mean weight on the target. A hit is a row whose largest weight lies there.",
        "how a row becomes a hit.",
    ),
    Mistake(
        "columns-for-rows",
        lambda w, offset: _share(w.mT, offset),
        "For each key the largest of the queries is looked for. It is the queries that attend.",
        "the axis along which the largest weight is looked for.",
    ),
    Mistake(
        "wrapped-around",
        lambda w, offset: _hits(w, offset, lambda t: t % w.shape[-1]).float().mean(-1),
        "Beyond an end it goes on at the other one: query 0 gets the last key for the one before.",
        "the queries that have no such position.",
    ),
    Mistake(
        "pushed-inside",
        lambda w, offset: _hits(w, offset, lambda t: t.clamp(0, w.shape[-1] - 1)).float().mean(-1),
        "Targets beyond an end are pushed to the end. Those queries have no target at all.",
        "the queries that have no such position.",
    ),
    Mistake(
        "one-number-for-all",
        lambda w, offset: _share(w, offset).mean(),
        "The heads are averaged. A share for each head is wanted.",
        "the axis of the mean.",
    ),
    Mistake(
        "heads-averaged-first",
        lambda w, offset: _share(w.mean(0, keepdim=True), offset)[0],
        "The maps are averaged before anything is counted. A share for each head is wanted.",
        "which axis is averaged, and when.",
    ),
    Mistake(
        "either-side",
        lambda w, offset: (_hits(w, offset) | _hits(w, -offset))[:, _live(w, offset)].float().mean(-1),
        "Hits on both sides are counted. One offset is meant, with its sign.",
        "the sign of the offset.",
    ),
    Mistake(
        "own-position",
        lambda w, offset: _hits(w, 0).float().mean(-1),
        "It counts queries that look at themselves: the offset takes no part.",
        "which argument is never used.",
    ),
    Mistake(
        "percent",
        lambda w, offset: 100 * _share(w, offset),
        "These are per cent. A share lies between 0 and 1.",
        "the last step.",
    ),
    Mistake(
        "more-than-half",
        lambda w, offset: (w.diagonal(offset, -2, -1) > 0.5).float().mean(-1),
        "A hit is counted where the weight is above one half. It need only be the largest of its row.",
        "how a row becomes a hit.",
    ),
    Mistake(
        "smallest-weight",
        lambda w, offset: _share(-w, offset),
        "The smallest weight of a row is looked for.",
        "`argmin` and `argmax`.",
    ),
    Mistake(
        "misses-for-hits",
        lambda w, offset: 1 - _share(w, offset),
        "This is the share of misses.",
        "what is counted.",
    ),
)
