"""Known mistakes of `balance_loss`: two means, their product, the sum over heads, the factor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def over_tokens(of_tokens: Tensor) -> Tensor:
    """The mean over all tokens of all sentences."""
    return of_tokens.mean((0, 1))


def balance_with(
    probabilities: Tensor,
    chosen: Tensor,
    *,
    take: Step = lambda probabilities, chosen: probabilities,
    count: Step = lambda chosen, probabilities: chosen,
    means: Step | None = None,
    mean_p: Step = over_tokens,
    mean_f: Step = over_tokens,
    meet: Step = lambda p, f: p * f,
    gather: Step = lambda products: products.sum(),
    factor: Step = lambda routed: routed,
    whole: Step | None = None,
) -> Tensor:
    """The load-balance loss with the steps given; right without any: one number."""
    f_of_tokens = chosen.to(probabilities.dtype)
    if whole is not None:
        return whole(probabilities, f_of_tokens)
    if means is not None:
        mean_p = mean_f = means
    p = mean_p(take(probabilities, f_of_tokens))
    f = mean_f(count(f_of_tokens, probabilities))
    return factor(probabilities.shape[-1]) * gather(meet(p, f))


def _top_one(chosen: Tensor, probabilities: Tensor) -> Tensor:
    best = probabilities.argmax(-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, best, 1.0)


def _by_sentence(p: Tensor, f: Tensor) -> Tensor:
    return p.shape[-1] * (p.mean(1) * f.mean(1)).sum(-1).mean()


_with = partial(Otherwise, balance_with)

BALANCE_MISTAKES = (
    Mistake(
        "multiplied-before-the-mean",
        _with(whole=lambda p, f: p.shape[-1] * (p * f).mean((0, 1)).sum()),
        "Probability and choice are multiplied token by token, and averaged afterwards. P and f are means "
        "first: the loss compares heads, not tokens.",
        "the order of the means and the product.",
    ),
    Mistake(
        "sentence-by-sentence",
        _with(whole=_by_sentence),
        "Each sentence gets a loss of its own, and the losses are averaged. P and f are means over all "
        "tokens of all sentences: a head may be used in one sentence and rest in another.",
        "the axes of the two means.",
    ),
    Mistake(
        "factor-missing",
        _with(factor=lambda routed: 1),
        "The factor {routed} is missing, the number of routed heads; or there is one, and a mean over heads "
        "takes it away again. The paper has no factor; asked for is the loss as in the authors' code.",
        "what the sum is multiplied by, and what is done over the heads.",
    ),
    Mistake(
        "factor-squared",
        _with(factor=lambda routed: routed**2),
        "The sum is multiplied by {routed} squared. The square belongs to a mean over heads.",
        "what the sum is multiplied by.",
    ),
    Mistake(
        "not-added-up",
        _with(gather=lambda products: products),
        "There is one number for each head. Their sum is the loss.",
        "the last step over the heads.",
    ),
    Mistake(
        "p-twice",
        _with(count=lambda chosen, probabilities: probabilities),
        "P is multiplied by itself: what the tokens chose is not used.",
        "where `chosen` is used.",
    ),
    Mistake(
        "f-twice",
        _with(take=lambda probabilities, chosen: chosen),
        "f is multiplied by itself. It is made of choices, which have no gradient: a router learns nothing "
        "from this.",
        "where `probabilities` is used.",
    ),
    Mistake(
        "p-of-the-chosen",
        _with(take=lambda probabilities, chosen: probabilities * chosen),
        "P counts only the tokens that chose the head. It is the mean over all tokens, chosen or not.",
        "what P is the mean of.",
    ),
    Mistake(
        "share-of-choices",
        _with(mean_f=lambda f: f.sum((0, 1)) / f.sum()),
        "f is divided by all choices, so that it sums to 1 over the heads. It is the share of tokens; a "
        "token makes several choices.",
        "what f is divided by.",
    ),
    Mistake(
        "first-choice-alone",
        _with(count=_top_one),
        "f counts for each token the head with the largest probability alone. All its chosen heads count.",
        "what is counted as chosen.",
    ),
    Mistake(
        "one-not-divided",
        _with(mean_f=lambda f: f.sum((0, 1))),
        "Of P and f one is a sum over all tokens, and only the other a mean. Both are means.",
        "what the sums over tokens are divided by.",
    ),
    Mistake(
        "neither-divided",
        _with(means=lambda t: t.sum((0, 1))),
        "P and f are sums over the tokens. Both should be means, or the loss grows with a text.",
        "what the sums over tokens are divided by.",
    ),
    Mistake(
        "divided-by-words",
        _with(means=lambda t: t.sum((0, 1)) / t.shape[1]),
        "The sums over all tokens are divided by the tokens of one sentence, {n}. There are {b} sentences.",
        "what the sums over tokens are divided by.",
    ),
    Mistake(
        "left-alone",
        _with(count=lambda chosen, probabilities: 1 - chosen),
        "f counts the tokens that did not choose a head. It should count those that did.",
        "what True means in `chosen`.",
    ),
    Mistake(
        "added-not-multiplied",
        _with(meet=lambda p, f: p + f),
        "P and f are added. They are multiplied.",
        "how P and f meet.",
    ),
    Mistake(
        "differences",
        _with(meet=lambda p, f: (p - f) ** 2),
        "P and f are compared by the square of their difference. They are multiplied.",
        "how P and f meet.",
    ),
    Mistake(
        "mean-over-the-wrong-axes",
        _with(means=lambda t: t.mean(-1)),
        "The means go over the heads, so that every token gets the same number. They go over tokens.",
        "the axes of the two means.",
    ),
)
