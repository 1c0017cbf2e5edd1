"""Known mistakes of `jensen_shannon`: the middle, the direction, halves, bases, and 0 log 0."""

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


def apart(x: Tensor, m: Tensor) -> Tensor:
    """The terms x log (x / m), 0 where x is."""
    return torch.xlogy(x, x) - torch.xlogy(x, m)


def divergence_with(
    p: Tensor,
    q: Tensor,
    *,
    middle: Step = lambda p, q: (p + q) / 2,
    terms: Step = lambda p, q, m: (apart(p, m), apart(q, m)),
    add: Step = lambda terms: terms.sum(-1),
    join: Step = lambda of_p, of_q: (of_p + of_q) / 2,
    finish: Step = lambda d: d,
    whole: Step | None = None,
) -> Tensor:
    """The Jensen-Shannon divergence with the steps given; right without any: (...)."""
    if whole is not None:
        return whole(p, q)
    of_p, of_q = terms(p, q, middle(p, q))
    return finish(join(add(of_p), add(of_q)))


def _raw(x: Tensor, m: Tensor) -> Tensor:
    return x * (x / m).log()


def _where_both(p: Tensor, q: Tensor, m: Tensor) -> tuple[Tensor, Tensor]:
    both = (p > 0) & (q > 0)
    return apart(p, m).masked_fill(~both, 0.0), apart(q, m).masked_fill(~both, 0.0)


_with = partial(Otherwise, divergence_with)

DIVERGENCE_MISTAKES = (
    Mistake(
        "zero-times-log",
        _with(terms=lambda p, q, m: (_raw(p, m), _raw(q, m))),
        "A probability of 0 gives NaN: its logarithm is -inf, and 0 times that is no number. It adds 0.",
        "entries that are 0.",
    ),
    Mistake(
        "p-against-q",
        _with(terms=lambda p, q, m: (apart(p, q), apart(p, q))),
        "This is the Kullback-Leibler divergence of p from q: no middle, and another number when they swap.",
        "`m`: is it used?",
    ),
    Mistake(
        "each-against-the-other",
        _with(terms=lambda p, q, m: (apart(p, q), apart(q, p))),
        "p is compared with q and q with p. Both should be compared with their middle m.",
        "`m`: is it used?",
    ),
    Mistake(
        "middle-not-halved",
        _with(middle=lambda p, q: p + q),
        "m is p + q. Without the half it sums to 2, and every logarithm is smaller by log 2.",
        "how `m` is made.",
    ),
    Mistake(
        "not-halved",
        _with(join=lambda of_p, of_q: of_p + of_q),
        "The two divergences are added up. Their mean is asked for, so that log 2 is the largest value.",
        "the two factors of a half.",
    ),
    Mistake(
        "only-p",
        _with(join=lambda of_p, of_q: of_p),
        "Only p is compared with the middle. The mean with that of q is asked for.",
        "the second half of the formula.",
    ),
    Mistake(
        "in-bits",
        _with(finish=lambda d: d / math.log(2)),
        "This is in bits, at most 1. Nats are asked for, at most log 2.",
        "`log2`, or a division by log 2.",
    ),
    Mistake(
        "square-root",
        _with(finish=lambda d: d.clamp(min=0).sqrt()),
        "This is the square root, the Jensen-Shannon distance. The divergence is asked for.",
        "the last step.",
    ),
    Mistake(
        "from-the-middle",
        _with(terms=lambda p, q, m: (apart(m, p), apart(m, q))),
        "The direction is turned round: m is compared with p and with q, weighted by m.",
        "what stands in front of each logarithm.",
    ),
    Mistake(
        "upside-down",
        _with(terms=lambda p, q, m: (-apart(p, m), -apart(q, m))),
        "The sign is turned round: under the logarithm stands m / p, not p / m.",
        "the fraction under the logarithm.",
    ),
    Mistake(
        "mean-over-places",
        _with(add=lambda terms: terms.mean(-1)),
        "Within a row the terms are averaged. A divergence is their sum.",
        "`mean` and `sum`.",
    ),
    Mistake(
        "all-rows-together",
        _with(add=lambda terms: terms.sum()),
        "The terms of all rows are added up to one number. Each pair of rows has its own.",
        "the axis of the sum.",
    ),
    Mistake(
        "rows-averaged",
        _with(finish=lambda d: d.mean()),
        "The divergences of all rows are averaged. Each pair of rows has its own.",
        "the last mean.",
    ),
    Mistake(
        "terms-with-a-zero-left-out",
        _with(terms=_where_both),
        "Places where one of the two is 0 are left out. There the other one still adds its own times log 2.",
        "which terms are 0: those whose own probability is.",
    ),
)
