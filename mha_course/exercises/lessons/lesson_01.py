"""Exercises of lesson 01: softmax, scores, and attention with one head."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_attention import ATTENTION_MISTAKES
from mha_course.exercises.mistakes.of_lesson_01 import SCORES_MISTAKES, SOFTMAX_MISTAKES
from mha_course.exercises.mistakes.workbench import hide_with_large_negative
from mha_course.exercises.reading.attention import read_attention
from mha_course.exercises.reading.scores import read_scores
from mha_course.exercises.reading.softmax import read_softmax

_SQUARE = {"b": 2, "n": 5, "d_k": 4, "d_v": 3}
# Not asked for in so many words; a wrong result that looks right doesn't pass all the same.
_LOUD: dict[str, Any] = {"required": False, "loud": True}


def softmax_rows(scores: Tensor) -> Tensor:
    """Weights from scores, row by row: (..., n_q, n_k) -> the same shape, rows sum to 1."""
    # Softmax doesn't notice a number added to a whole row. With the largest score at 0, exp can't overflow.
    shifted = scores - scores.max(dim=-1, keepdim=True).values
    powers = shifted.exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """Each query with each key: (..., n_q, d_k), (..., n_k, d_k) -> (..., n_q, n_k)."""
    # A score sums d_k products, so its spread grows with the root of d_k. The division takes that away.
    d_k = q.shape[-1]
    return q @ k.transpose(-2, -1) / math.sqrt(d_k)


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """softmax(q k^T / sqrt(d_k)) v, and the weights."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        # exp(-inf) is 0: a hidden key gets no weight, and the others share 1 among them.
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


def _softmax_inputs(g: Generator) -> list[Case]:
    # The rows of the large case lie far apart, so that one maximum for the whole matrix is not enough.
    # Where a row has a single large score only the largest can be taken away from it.
    large = draw(g, 3, 5) + torch.tensor([[1000.0], [0.0], [-1000.0]])
    lone = draw(g, 3, 5)
    lone[0, 2], lone[1, 0], lone[2, 4], lone[2, 1] = 1000.0, -1000.0, 300.0, 120.0
    return [
        Case("for ordinary scores", (draw(g, 4, 6, spread=2.5),), {"n_q": 4, "n_k": 6}),
        Case("for scores of 1000", (large,), {"n_q": 3, "n_k": 5}),
        Case("for a single large score in a row", (lone,), {"n_q": 3, "n_k": 5}),
        Case("for a single query", (draw(g, 1, 5),), {"n_q": 1, "n_k": 5}, edge=True),
        Case("for a single key", (draw(g, 4, 1),), {"n_q": 4, "n_k": 1}, edge=True),
        Case(
            "for a batch",
            (draw(g, 2, 4, 6),),
            {"b": 2, "n_q": 4, "n_k": 6},
            required=False,
            loud=True,
            narrower=(_each_matrix,),
        ),
        Case("in float64", (draw(g, 4, 6, dtype=torch.float64),), {"n_q": 4, "n_k": 6}, required=False),
    ]


def _each_matrix(scores: Tensor) -> Tensor:
    """A loop over the rows of a matrix, given a batch of them."""
    return torch.stack([(one - one.max()).exp() / (one - one.max()).exp().sum() for one in scores])


def _qkv(
    g: Generator, *lead: int, n_q: int, n_k: int, d_k: int, d_v: int | None = None, **kind: torch.dtype
) -> list[Tensor]:
    shapes = [(n_q, d_k), (n_k, d_k), *([(n_k, d_v)] if d_v else [])]
    return [draw(g, *lead, *shape, **kind) for shape in shapes]


def _scores_inputs(g: Generator) -> list[Case]:
    sizes = {"n_q": 5, "n_k": 7, "d_k": 4}
    heads = {"n_q": 6, "n_k": 7, "d_k": 4}
    return [
        Case("for a batch", tuple(_qkv(g, 3, **sizes)), {"b": 3, **sizes}),
        Case(
            "for another d_k",
            tuple(_qkv(g, 2, n_q=8, n_k=6, d_k=10)),
            {"b": 2, "n_q": 8, "n_k": 6, "d_k": 10},
        ),
        Case("for a batch of one sentence", tuple(_qkv(g, 1, **sizes)), {"b": 1, **sizes}, edge=True),
        Case(
            "for a single query",
            tuple(_qkv(g, 3, n_q=1, n_k=5, d_k=7)),
            {"b": 3, "n_q": 1, "n_k": 5, "d_k": 7},
            edge=True,
        ),
        Case(
            "for one sentence without a batch axis", tuple(_qkv(g, **sizes)), sizes, required=False, loud=True
        ),
        Case(
            "with a head axis",
            tuple(_qkv(g, 2, 3, **heads)),
            {"b": 2, "h": 3, **heads},
            required=False,
            loud=True,
        ),
        Case(
            "for a single key",
            tuple(_qkv(g, 3, n_q=5, n_k=1, d_k=7)),
            {"b": 3, "n_q": 5, "n_k": 1, "d_k": 7},
            edge=True,
        ),
        Case("for large scores", tuple(10 * x for x in _qkv(g, 3, **sizes)), {"b": 3, **sizes}, **_LOUD),
        Case(
            "in float64", tuple(_qkv(g, 3, **sizes, dtype=torch.float64)), {"b": 3, **sizes}, required=False
        ),
    ]


def drawn_mask(g: Generator, *shape: int) -> Tensor:
    """A boolean mask: each query has a key and lacks one, and each key is open to some query."""
    mask = torch.rand(shape, generator=g) < 0.5
    first = torch.randint(shape[-1], (*shape[:-1], 1), generator=g)
    # Two neighbouring keys settle it: one is open, the next one hidden.
    mask.scatter_(-1, first, True)
    mask.scatter_(-1, (first + 1) % shape[-1], False)
    for key in range(shape[-1]):
        if not mask[..., key].any():
            mask[(first[..., 0] + 1) % shape[-1] != key, key] = True
    return mask


def _attention_inputs(g: Generator) -> list[Case]:
    sizes = {"n_q": 5, "n_k": 7, "d_k": 4, "d_v": 6}
    other = {"n_q": 6, "n_k": 5, "d_k": 8, "d_v": 3}
    heads = {"n_q": 7, "n_k": 5, "d_k": 8, "d_v": 6}
    alone, batch, half = _qkv(g, **sizes), _qkv(g, 3, **sizes), _qkv(g, 3, **sizes, dtype=torch.float64)
    square = {"n_q": 5, "n_k": 5, "d_k": 4, "d_v": 3}
    one, query = {"n_q": 4, "n_k": 6, "d_k": 5, "d_v": 3}, {"n_q": 1, "n_k": 6, "d_k": 10, "d_v": 4}
    return [
        Case("without a mask", (*batch, None), {"b": 3, **sizes}),
        Case("with a mask", (*_qkv(g, 3, **sizes), drawn_mask(g, 5, 7)), {"b": 3, **sizes}),
        Case("with a mask", (*_qkv(g, 2, **other), drawn_mask(g, 6, 5)), {"b": 2, **other}),
        Case("called with three arguments", tuple(_qkv(g, 2, **other)), {"b": 2, **other}, edge=True),
        Case(
            "with a mask that hides nothing",
            (*_qkv(g, 2, **other), torch.ones(6, 5, dtype=torch.bool)),
            {"b": 2, **other},
            edge=True,
        ),
        Case(
            "for a batch of one sentence",
            (*_qkv(g, 1, **one), drawn_mask(g, 4, 6)),
            {"b": 1, **one},
            edge=True,
        ),
        Case("for as many queries as keys", (*_qkv(g, 2, **square), drawn_mask(g, 5, 5)), _SQUARE, edge=True),
        Case("for a single query", (*_qkv(g, 3, **query), None), {"b": 3, **query}, edge=True),
        Case("for large scores", (*_large(g, **sizes), drawn_mask(g, 5, 7)), {"b": 3, **sizes}, **_LOUD),
        Case("for one sentence without a batch axis", (*alone, drawn_mask(g, 5, 7)), sizes, **_LOUD),
        Case(
            "with a head axis",
            (*_qkv(g, 2, 3, **heads), drawn_mask(g, 7, 5)),
            {"b": 2, "h": 3, **heads},
            **_LOUD,
        ),
        Case("in float64", (*half, None), {"b": 3, **sizes}, required=False),
    ]


def _large(g: Generator, **sizes: int) -> list[Tensor]:
    """Queries and keys whose scores lie hundreds apart, so that a hidden one is often far above the rest."""
    q, k, v = _qkv(g, 3, **sizes)
    return [20 * q, 20 * k, v]


EXERCISES = (
    Exercise(
        name="softmax_rows",
        lesson="01",
        title="Softmax, row by row",
        prompt=(
            "`scores` has shape `(..., n_q, n_k)`. Return weights of the same shape, none negative, "
            "every row summing to 1. Let it survive scores of 1000. Write it with `exp` (`check` can't see "
            "how you did it; this is for you)."
        ),
        signature="softmax_rows(scores) -> weights",
        reference=softmax_rows,
        inputs=_softmax_inputs,
        returns=(Returned("weights", ("n_q", "n_k"), rows_sum_to_one=True),),
        mistakes=SOFTMAX_MISTAKES,
        hints=(
            "Make every number positive, then divide each row by its own sum.",
            "`sum(dim=..., keepdim=True)` keeps the axis, so that the division lines up. For large "
            "scores: a row's "
            "softmax stays the same when the same number is taken from all its entries.",
            "take from every row its largest entry\nexp of everything\ndivide every row by its sum",
        ),
        why=(
            "The exponential makes scores positive, the division makes rows sum to 1, the shift keeps exp "
            "in range."
        ),
        twins=("attention.masked_softmax",),
        readers=(read_softmax,),
    ),
    Exercise(
        name="scaled_scores",
        lesson="01",
        title="Scores, scaled",
        prompt=(
            "`q` has shape `(..., n_q, d_k)`, `k` has `(..., n_k, d_k)`. Return the scores `(..., n_q, "
            "n_k)`: each query "
            "with each key, divided by the square root of `d_k`."
        ),
        signature="scaled_scores(q, k) -> scores",
        reference=scaled_scores,
        inputs=_scores_inputs,
        returns=(Returned("scores", ("b", "n_q", "n_k")),),
        mistakes=SCORES_MISTAKES,
        hints=(
            "One number for each pair of a query and a key: their dot product.",
            "A matrix product does all dot products at once, if the last two axes of `k` change places. "
            "`d_k` is the "
            "size of an axis of `q`.",
            (
                "turn the last two axes of k\nscores = q times that\ndivide by the root of the number of "
                "features"
            ),
        ),
        why="`transpose(-2, -1)` leaves batch and heads alone, so the same line serves every rank.",
        twins=("attention.scaled_scores",),
        readers=(read_scores,),
    ),
    Exercise(
        name="attention",
        lesson="01",
        title="Scaled dot-product attention",
        prompt=(
            "Return the pair `(output, weights)`. `q` is `(..., n_q, d_k)`, `k` is `(..., n_k, d_k)`, `v` is "
            "`(..., n_k, d_v)`. `mask` is `(n_q, n_k)`, boolean, True = may attend, or None. Every "
            "query has at least "
            "one key that it may attend to."
        ),
        signature="attention(q, k, v, mask=None) -> (output, weights)",
        reference=attention,
        inputs=_attention_inputs,
        returns=(
            Returned("output", ("b", "n_q", "d_v")),
            Returned("weights", ("b", "n_q", "n_k"), rows_sum_to_one=True),
        ),
        mistakes=ATTENTION_MISTAKES,
        hints=(
            "Four steps: compare, hide, soften, mix. The order matters.",
            "Hidden scores have to vanish in the softmax: which score has an exponential of 0? "
            "`masked_fill` fills where "
            "its mask is True.",
            "scores = as in scaled_scores\nwhere the mask says no: score = minus infinity\nweights = "
            "softmax of each "
            "row\noutput = weights times v",
        ),
        why="Hiding before the softmax lets the keys that are left share a weight of 1.",
        styles=({"hide": hide_with_large_negative},),
        twins=("attention.scaled_dot_product_attention",),
        readers=(read_attention,),
    ),
)
