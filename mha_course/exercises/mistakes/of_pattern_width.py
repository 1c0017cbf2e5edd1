"""Known mistakes of `pattern_width`: rank of what, and which rows or columns may be shifted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def rank(scores: Tensor) -> int:
    """Singular values that are more than rounding."""
    return int(torch.linalg.matrix_rank(scores, atol=1e-9, rtol=1e-12))


def rows_centred(scores: Tensor) -> Tensor:
    """Each row without its mean: the shift that leaves the smallest rank."""
    return scores - scores.mean(-1, keepdim=True)


def columns_centred(scores: Tensor) -> Tensor:
    """Each column without its mean."""
    return scores - scores.mean(-2, keepdim=True)


def width_with(
    weights: Tensor,
    *,
    scores: Step = torch.log,
    shift: Step = rows_centred,
    count: Step = rank,
    finish: Step = lambda count, weights: count,
) -> Any:
    """The smallest width with the steps given; right without any: one whole number."""
    return finish(count(shift(scores(weights))), weights)


def as_it_is(scores: Tensor) -> Tensor:
    """No change."""
    return scores


_with = partial(Otherwise, width_with)

WIDTH_MISTAKES = (
    Mistake(
        "rank-of-the-weights",
        _with(scores=as_it_is, shift=as_it_is),
        "This is the rank of the weights. The bound holds for scores: after the softmax the rank is mostly "
        "full, whatever d_k is.",
        "which numbers have a rank of at most d_k.",
    ),
    Mistake(
        "rows-not-shifted",
        _with(shift=as_it_is),
        "This is the rank of the logarithms as they are. A number may be added to each row without any "
        "effect on the weights, and some choice of these numbers leaves a smaller rank.",
        "what the softmax does not see.",
    ),
    Mistake(
        "always-one-less",
        _with(shift=as_it_is, finish=lambda count, weights: count - 1),
        "One is taken off the rank of the logarithms. Often a shift of the rows saves one feature, but not "
        "always: when all rows are alike there is nothing to save.",
        "the pattern in which every row is the same.",
    ),
    Mistake(
        "columns-shifted",
        _with(shift=columns_centred),
        "The columns are shifted. What is added to a column does change weights; what is added to a row "
        "does not.",
        "the axis of the mean.",
    ),
    Mistake(
        "rows-and-columns-shifted",
        _with(shift=lambda scores: columns_centred(rows_centred(scores))),
        "Rows and columns are shifted. What is added to a column does change weights.",
        "how often something is subtracted, and along which axis.",
    ),
    Mistake(
        "one-number-for-all",
        _with(shift=lambda scores: scores - scores.mean()),
        "The same number is subtracted everywhere. Each row may have its own.",
        "the axis of the mean.",
    ),
    Mistake(
        "weights-centred",
        _with(scores=as_it_is),
        "The rows are shifted, but of the weights (or of something else that has full rank). Scores are the "
        "logarithms.",
        "what turns weights back into scores.",
    ),
    Mistake(
        "one-less-than-the-weights",
        _with(scores=as_it_is, shift=as_it_is, finish=lambda count, weights: count - 1),
        "This is the rank of the weights, less one. The bound holds for scores, and the rank of one says "
        "little about that of the other.",
        "which numbers have a rank of at most d_k.",
    ),
    Mistake(
        "as-many-as-tokens",
        _with(count=lambda scores: min(scores.shape)),
        "This is the number of tokens, whatever the pattern. So many features are enough for every pattern; "
        "many need fewer.",
        "where the weights take part.",
    ),
    Mistake(
        "tokens-less-one",
        _with(count=lambda scores: min(scores.shape) - 1),
        "This is the number of tokens less one, whatever the pattern. Many patterns need fewer.",
        "where the weights take part.",
    ),
    Mistake(
        "different-rows",
        _with(count=lambda scores: len(torch.unique(scores.round(decimals=8), dim=0))),
        "Counted are rows that differ. Rows can differ and still be mixtures of a few.",
        "what the rank of a matrix is.",
    ),
    Mistake(
        "one-more",
        _with(finish=lambda count, weights: count + 1),
        "The number is one too large: d_k features give scores of rank d_k.",
        "what is added at the end.",
    ),
    Mistake(
        "one-at-least",
        _with(finish=lambda count, weights: max(count, 1)),
        "Uniform rows need no feature at all: scores of 0 do it. Here that should give 0.",
        "the pattern in which every row is uniform.",
    ),
)
