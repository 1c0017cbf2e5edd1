"""Known mistakes of scaled dot-product attention: factor, softmax, mask, weighted sum, what is returned."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.workbench import attend_with

NEG_INF = float("-inf")


def _softmax_over_zeros(scores, mask):  # a hidden score of 0 still has exp(0) = 1
    return scores * mask


FACTOR_MISTAKES = (
    (
        "no-scale",
        lambda q, **s: 1.0,
        "The scores are not divided by the root of d_k.",
        "the step after the product of queries and keys.",
    ),
    (
        "scale-d_k",
        lambda q, **s: 1 / q.shape[-1],
        "The scores are divided by d_k = {d_k} itself, not by its root.",
        "the divisor.",
    ),
    (
        "scale-multiplied",
        lambda q, **s: math.sqrt(q.shape[-1]),
        "The scores are multiplied by the root of d_k.",
        "`*` and `/`.",
    ),
    (
        "scale-sqrt-n",
        lambda q, n, **s: 1 / math.sqrt(n),
        "The scores are divided by the root of the number of keys, {n_k}.",
        "which axis the divisor comes from.",
    ),
)

_MASK_MISTAKES = (
    (
        "mask-ignored",
        {"hide": lambda s, m: s},
        "The mask is ignored.",
        "where `mask` is used.",
    ),
    (
        "mask-polarity",
        {"hide": lambda s, m: s.masked_fill(m, NEG_INF)},
        "The mask is read the wrong way round: the allowed keys are hidden. True = may attend.",
        "`masked_fill` fills where its mask is True.",
    ),
    (
        "mask-polarity",
        {"hide": lambda s, m: s.masked_fill(m, -1e9)},
        "The mask is read the wrong way round: the allowed keys are hidden. True = may attend.",
        "`masked_fill` fills where its mask is True.",
    ),
    (
        "mask-added",
        {"hide": lambda s, m: s + m},
        "The mask is added to the scores as 0 and 1. A hidden key only loses 1.",
        "how a hidden score is made to vanish.",
    ),
    (
        "mask-zero-score",
        {"hide": _softmax_over_zeros},
        "Hidden scores become 0, or nearly 0. But exp(0) = 1: such keys still get weight.",
        "which score has an exponential of 0.",
    ),
    (
        "mask-minus-one",
        {"hide": lambda s, m: s.masked_fill(~m, -1.0)},
        "Hidden scores are set to -1, an ordinary score. Such keys still get weight.",
        "which score has an exponential of 0.",
    ),
    (
        "mask-after-softmax",
        {"hide": lambda s, m: s, "hide_late": lambda w, m: w * m},
        "The mask comes after the softmax. The weights that are left no longer sum to 1.",
        "the order of mask and softmax.",
    ),
    (
        "mask-polarity-after-softmax",
        {"hide": lambda s, m: s, "hide_late": lambda w, m: w.masked_fill(m, 0.0)},
        "The mask comes after the softmax, and the wrong way round.",
        "the order of mask and softmax, and what True means.",
    ),
    (
        "mask-infinity-after-softmax",
        {"hide": lambda s, m: s, "hide_late": lambda w, m: w.masked_fill(~m, NEG_INF)},
        "The weights themselves are set to -inf. It is the scores that are hidden, before the softmax.",
        "the order of mask and softmax.",
    ),
)


def mask_mistakes(right: Callable[..., Any], often: tuple[str, ...] = ()) -> tuple[Mistake, ...]:
    """The mistakes of masking, as settings of `right`; often: ids of those made often."""
    alone = {"mask-ignored": "Without a mask all is well."}
    return tuple(
        Mistake(id_, partial(right, **change), says, look, alone.get(id_, ""), id_ in often)
        for id_, change, says, look in _MASK_MISTAKES
    )


_SOFTEN_MISTAKES = (
    (
        "over-the-queries",
        lambda s: s.softmax(-2),
        "The softmax goes over the queries: columns sum to 1.",
        "the axis of the softmax.",
    ),
    (
        "no-softmax",
        lambda s: s,
        "There is no softmax: the scores themselves are used as weights.",
        "the step between scores and output.",
    ),
    (
        "sigmoid",
        lambda s: s.sigmoid(),
        "Each score is squeezed by itself (a sigmoid), so rows don't sum to 1.",
        "the step between scores and weights.",
    ),
    (
        "softmax-twice",
        lambda s: s.softmax(-1).softmax(-1),
        "Softmax is applied twice; the weights come out nearly equal.",
        "how often the weights are softened.",
    ),
    (
        "over-the-sentences",
        lambda s: s.softmax(0),
        "The softmax goes over the first axis, the sentences of the batch.",
        "the axis of the softmax; counted from the end it has the same number for every rank.",
    ),
)


def _scaled_late(q, k, v, mask=None):
    late = {"factor": lambda q, **s: 1.0, "soften": lambda s: s.softmax(-1) / math.sqrt(q.shape[-1])}
    return attend_with(q, k, v, mask, **late)


_MIX_MISTAKES = (
    (
        "weights-not-used",
        lambda w, k, v: v.mean(-2, keepdim=True).expand(*w.shape[:-1], v.shape[-1]),
        "The output is the plain average of the values: the weights play no part.",
        "the last product.",
    ),
)

ATTENTION_MISTAKES = (
    *(
        Mistake(i, partial(attend_with, factor=f), says, look, often=i == "no-scale")
        for i, f, says, look in FACTOR_MISTAKES
    ),
    Mistake(
        "scale-sqrt-d_v",
        lambda q, k, v, mask=None: attend_with(
            q, k, v, mask, factor=lambda q, **s: 1 / math.sqrt(v.shape[-1])
        ),
        "The scores are divided by the root of d_v = {d_v}, the width of the values.",
        "which tensor the divisor comes from.",
    ),
    *(
        Mistake(i, partial(attend_with, soften=f), says, look, often=i == "over-the-queries")
        for i, f, says, look in _SOFTEN_MISTAKES
    ),
    *mask_mistakes(attend_with, often=("mask-polarity", "mask-after-softmax")),
    *(Mistake(i, partial(attend_with, mix=f), says, look) for i, f, says, look in _MIX_MISTAKES),
    Mistake(
        "scale-after-softmax",
        _scaled_late,
        "The division comes after the softmax: the weights are divided, and rows no longer sum to 1.",
        "the order of division and softmax.",
    ),
)
