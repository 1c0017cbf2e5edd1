"""Known mistakes of `row_evenness`: 0 log 0, the axis, the average, and what the entropy is divided by."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def evenness_with(
    weights: Tensor,
    *,
    maps: Step = lambda w: w,
    terms: Step = lambda w: -torch.xlogy(w, w),
    add: Step = lambda terms: terms.sum(-1),
    average: Step = lambda entropy, w: entropy.mean(-1),
    divide: Step = lambda entropy, w: entropy / math.log(w.shape[-1]),
    finish: Step = lambda even: even,
    whole: Step | None = None,
) -> Tensor:
    """The mean entropy of the rows divided by log n_k with the steps given; right without any: (h,)."""
    if whole is not None:
        return whole(weights)
    w = maps(weights)
    entropy = add(terms(w))
    return finish(divide(average(entropy, w), weights))


def _over_the_open(entropy: Tensor, w: Tensor) -> Tensor:
    """Each row by the logarithm of its own number of weights; rows with one weight count 0."""
    logs = (w > 0).sum(-1).to(w.dtype).log()
    return (entropy / logs.where(logs > 0, torch.tensor(1.0, dtype=w.dtype))).mean(-1)


_with = partial(Otherwise, evenness_with)

EVENNESS_MISTAKES = (
    Mistake(
        "zero-times-log",
        _with(terms=lambda w: -w * w.log()),
        "A weight of 0 gives NaN: its logarithm is -inf, and 0 times that is no number. It adds 0.",
        "weights of 0, as behind a mask.",
    ),
    Mistake(
        "no-minus",
        _with(terms=lambda w: torch.xlogy(w, w)),
        "The minus is missing: logarithms of weights below 1 are negative.",
        "the sign of the sum.",
    ),
    Mistake(
        "log-of-n_q",
        _with(divide=lambda entropy, w: entropy / math.log(w.shape[-2])),
        "It is divided by the logarithm of n_q = {n_q}, the number of rows. A row spreads over n_k = {n_k}.",
        "the axis whose size is under the logarithm.",
    ),
    Mistake(
        "not-divided",
        _with(divide=lambda entropy, w: entropy),
        "This is the mean entropy in nats. Divided by log n_k it would be between 0 and 1.",
        "the last step.",
    ),
    Mistake(
        "divided-by-n_k",
        _with(divide=lambda entropy, w: entropy / w.shape[-1]),
        "It is divided by n_k. Its logarithm is wanted: that is the entropy of equal weights.",
        "`log`.",
    ),
    Mistake(
        "bits-over-nats",
        _with(terms=lambda w: -torch.xlogy(w, w) / math.log(2)),
        "The entropy is in bits (`log2`), and log n_k in nats. Both need the same logarithm.",
        "the two logarithms.",
    ),
    Mistake(
        "nats-over-bits",
        _with(divide=lambda entropy, w: entropy / math.log2(w.shape[-1])),
        "The entropy is in nats, and `log2` of n_k in bits. Both need the same logarithm.",
        "the two logarithms.",
    ),
    Mistake(
        "rows-added-up",
        _with(average=lambda entropy, w: entropy.sum(-1)),
        "The entropies of the rows are added up. Their mean is asked for.",
        "what is done over the rows.",
    ),
    Mistake(
        "mean-row-first",
        _with(maps=lambda w: w.mean(-2, keepdim=True)),
        "The rows are averaged before the entropy is taken. Sharp rows that look at different places then "
        "seem even.",
        "the order of mean and entropy.",
    ),
    Mistake(
        "mean-over-keys",
        _with(add=lambda terms: terms.mean(-1)),
        "Within a row the terms are averaged. An entropy is their sum.",
        "`mean` and `sum`.",
    ),
    Mistake(
        "columns-for-rows",
        _with(add=lambda terms: terms.sum(-2)),
        "All terms of a head are divided by n_k = {n_k}, as when sums go along the columns. There are n_q = "
        "{n_q} rows.",
        "the axis of the sum.",
    ),
    Mistake(
        "heads-averaged",
        _with(finish=lambda even: even.mean()),
        "All heads are averaged. Each one has its own number.",
        "the last mean.",
    ),
    Mistake(
        "one-minus",
        _with(finish=lambda even: 1 - even),
        "This is how sharp the rows are, one minus what is asked for.",
        "the last step.",
    ),
    Mistake(
        "log-of-the-open",
        _with(average=_over_the_open, divide=lambda entropy, w: entropy),
        "Each row is divided by the logarithm of how many of its weights are not 0. All n_k places count.",
        "what is under the logarithm.",
    ),
    Mistake(
        "effective-number",
        _with(average=lambda entropy, w: entropy.exp().mean(-1), divide=lambda e, w: e / w.shape[-1]),
        "This is exp of the entropy over n_k: the share of places that are in use. Asked for is a share of "
        "log n_k.",
        "`exp`.",
    ),
)
