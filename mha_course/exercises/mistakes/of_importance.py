"""Known mistakes of `head_importance`: where the absolute value stands, what is summed, what is averaged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def importance_with(
    heads: Tensor,
    slopes: Tensor,
    *,
    meet: Step = lambda heads, slopes: heads * slopes,
    add: Step = lambda products: products.sum((2, 3)),
    positive: Step = lambda of_each: of_each.abs(),
    average: Step = lambda of_each, heads: of_each.mean(0),
    finish: Step = lambda importance: importance,
    whole: Step | None = None,
) -> Tensor:
    """Mean absolute slope of a mask with the steps given; right without any: (h,)."""
    if whole is not None:
        return whole(heads, slopes)
    return finish(average(positive(add(meet(heads, slopes))), heads))


def as_it_is(of_each: Tensor) -> Tensor:
    """No absolute value."""
    return of_each


_with = partial(Otherwise, importance_with)

IMPORTANCE_MISTAKES = (
    Mistake(
        "no-absolute-value",
        _with(positive=as_it_is),
        "There is no absolute value: sentences that gain and sentences that lose by the head cancel.",
        "what is averaged over the sentences.",
    ),
    Mistake(
        "absolute-after-the-mean",
        _with(positive=as_it_is, finish=lambda importance: importance.abs()),
        "The absolute value is taken after the mean. By then slopes of both signs have cancelled.",
        "the order of `abs` and `mean`.",
    ),
    Mistake(
        "absolute-of-each-number",
        _with(add=lambda products: products.abs().sum((2, 3))),
        "The absolute value is taken of each number. A mask multiplies a whole head: within one sentence "
        "signs may cancel.",
        "the order of `abs` and `sum`.",
    ),
    Mistake(
        "absolute-of-each-token",
        _with(add=lambda products: products.sum(3).abs().sum(2)),
        "The absolute value is taken of each token. The mask is one for all tokens of a sentence.",
        "the order of `abs` and the two sums.",
    ),
    Mistake(
        "absolute-of-each-feature",
        _with(add=lambda products: products.sum(2).abs().sum(2)),
        "The absolute value is taken of each feature. The mask is one for all features of a head.",
        "the order of `abs` and the two sums.",
    ),
    Mistake(
        "sentences-added-up",
        _with(average=lambda of_each, heads: of_each.sum(0)),
        "The sentences are added up. Their mean is asked for, so that it doesn't grow with b = {b}.",
        "what is done over axis 0.",
    ),
    Mistake(
        "mean-over-tokens",
        _with(add=lambda products: products.sum(3).mean(2)),
        "Within a sentence the tokens are averaged. The slope of the mask is a sum over all of them.",
        "`sum` and `mean`.",
    ),
    Mistake(
        "mean-over-features",
        _with(add=lambda products: products.mean(3).sum(2)),
        "Within a token the features are averaged. The slope of the mask is a sum over all of them.",
        "`sum` and `mean`.",
    ),
    Mistake(
        "mean-within-a-sentence",
        _with(add=lambda products: products.mean((2, 3))),
        "Tokens and features are averaged. The slope of the mask is a sum over both.",
        "`sum` and `mean`.",
    ),
    Mistake(
        "squared",
        _with(positive=lambda of_each: of_each**2),
        "The slopes are squared. That makes them positive, too, but sentences with large ones count more.",
        "how the sign is taken away.",
    ),
    Mistake(
        "root-of-mean-square",
        _with(positive=lambda of_each: of_each**2, finish=lambda importance: importance.sqrt()),
        "This is the root of the mean square. The mean of absolute values is asked for.",
        "how the sign is taken away.",
    ),
    Mistake(
        "slopes-alone",
        _with(meet=lambda heads, slopes: slopes),
        "Only the slopes are there. Where a head says little, a steep slope changes little.",
        "where `heads` is used.",
    ),
    Mistake(
        "heads-alone",
        _with(meet=lambda heads, slopes: heads),
        "Only the heads are there. What they say may be of no use to the loss: the slopes know.",
        "where `slopes` is used.",
    ),
    Mistake(
        "divided-by-the-norm",
        _with(finish=lambda importance: importance / importance.norm()),
        "The scores are divided by their norm. Michel et al. do that later, to compare layers.",
        "the last division.",
    ),
    Mistake(
        "shares",
        _with(finish=lambda importance: importance / importance.sum()),
        "The scores are divided by their sum. They are no shares of anything.",
        "the last division.",
    ),
    Mistake(
        "heads-averaged",
        _with(finish=lambda importance: importance.mean()),
        "All heads are averaged. Each one has its own number.",
        "the last mean.",
    ),
    Mistake(
        "sentences-kept",
        _with(average=lambda of_each, heads: of_each),
        "There is one number for each sentence and head. The mean over the sentences is missing.",
        "axis 0.",
    ),
)
