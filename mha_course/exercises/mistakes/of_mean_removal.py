"""Known mistakes of `head_at_its_mean`: what is averaged over, which head it is, and where the mean goes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def over_real(head: Tensor, real: Tensor) -> Tensor:
    """The mean over all real tokens: (b, n, d_v), (b, n) -> (d_v,)."""
    return head[real].mean(0)


def in_its_place(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    """The mean at every token of head i."""
    replaced = heads.clone()
    replaced[:, i] = mean
    return replaced


def mean_removal_with(
    heads: Tensor,
    real: Tensor,
    i: int,
    *,
    which: Step = lambda i, h: i,
    taken: Step = lambda heads, i: heads[:, i],
    average: Step = over_real,
    put: Step = in_its_place,
    finish: Step = lambda result, heads, real, i: result,
) -> Tensor:
    """One head at its mean with the steps given; right without any: (b, h, n, d_v)."""
    index = which(i, heads.shape[1])
    mean = average(taken(heads, index), real)
    return finish(put(heads, real, index, mean), heads, real, index)


def per_sentence(head: Tensor, real: Tensor) -> Tensor:
    """The mean of each sentence's real tokens: (b, d_v)."""
    kept = real[..., None].to(head.dtype)
    return (head * kept).sum(1) / kept.sum(1)


def _every_head(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    means = torch.stack([over_real(heads[:, head], real) for head in range(heads.shape[1])])
    return means[:, None].expand_as(heads).clone()


def _where_real(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    return torch.where(real[:, None, :, None], in_its_place(heads, real, i, mean), heads)


def _emptied(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    replaced = in_its_place(heads, real, i, mean)
    replaced[:, i] = replaced[:, i] * real[..., None]
    return replaced


def _others_emptied(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    return in_its_place(torch.zeros_like(heads), real, i, mean)


_with = partial(Otherwise, mean_removal_with)

MEAN_REMOVAL_MISTAKES = (
    Mistake(
        "padding-counted",
        _with(average=lambda head, real: head.mean((0, 1))),
        "The mean is over all places, padding too. `real` says which of them are tokens.",
        "where `real` is used.",
    ),
    Mistake(
        "divided-by-all-places",
        _with(average=lambda head, real: (head * real[..., None]).sum((0, 1)) / real.numel()),
        "Padding adds nothing to the sum, but it is counted: the sum is divided by all b · n places.",
        "what the sum is divided by.",
    ),
    Mistake(
        "mean-of-the-padding",
        _with(average=lambda head, real: head[~real].mean(0)),
        "The mean is over the padding. In `real`, `True` stands for a token.",
        "`~`, and which way round `real` is.",
    ),
    Mistake(
        "each-sentence-its-own",
        _with(average=lambda head, real: per_sentence(head, real)[:, None]),
        "Each sentence gets a mean of its own. So the head still says which sentence it is in.",
        "which axes the mean is over.",
    ),
    Mistake(
        "means-averaged",
        _with(average=lambda head, real: per_sentence(head, real).mean(0)),
        "The means of the sentences are averaged. Then a token of a short sentence counts more than others.",
        "one mean over all tokens, or a mean of means.",
    ),
    Mistake(
        "each-place-its-own",
        _with(average=lambda head, real: head.mean(0)),
        "The mean is over the sentences only, so that each place in them keeps a vector of its own.",
        "which axes the mean is over.",
    ),
    Mistake(
        "one-number",
        _with(average=lambda head, real: head[real].mean()),
        "The mean is one number for all features. Each of the d_v = {d_v} features has its own.",
        "which axes the mean is over.",
    ),
    Mistake(
        "sum-for-mean",
        _with(average=lambda head, real: head[real].sum(0)),
        "The tokens are added up. Their mean is asked for.",
        "`sum` and `mean`.",
    ),
    Mistake(
        "silenced",
        _with(average=lambda head, real: torch.zeros_like(head[0, 0])),
        "The head is set to 0. That is the harder removal: here it says the same to all, namely its mean.",
        "what is put in the head's place.",
    ),
    Mistake(
        "counted-from-one",
        _with(which=lambda i, h: i - 1),
        "This is the head before: `i` counts from `0`.",
        "the index of the head.",
    ),
    Mistake(
        "every-head",
        _with(put=_every_head),
        "Every head is at its mean. Only head `i` should be.",
        "the index of the head, where something is replaced.",
    ),
    Mistake(
        "padding-kept",
        _with(put=_where_real),
        "At padding the head is as it was. The mean belongs at every place there, too.",
        "where the mean is put.",
    ),
    Mistake(
        "padding-emptied",
        _with(put=_emptied),
        "At padding the head is 0. The mean belongs there, too.",
        "where the mean is put.",
    ),
    Mistake(
        "others-emptied",
        _with(put=_others_emptied),
        "The other heads are 0. They should stay as they are.",
        "what the result is made from.",
    ),
    Mistake(
        "mean-of-all-heads",
        _with(taken=lambda heads, i: heads.mean(1)),
        "The mean is over the heads as well. Head `i` should be at its own.",
        "the axis of the heads.",
    ),
    Mistake(
        "mean-subtracted",
        _with(put=lambda heads, real, i, mean: in_its_place(heads, real, i, heads[:, i] - mean)),
        "The mean is subtracted. What varies is then all that is left; it should be all that is gone.",
        "what is put in the head's place.",
    ),
)
