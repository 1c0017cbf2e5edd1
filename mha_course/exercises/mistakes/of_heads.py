"""Known mistakes of everything that works on several heads: loop, batched product, and the whole layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.of_cutting import ALONE, CUTTING, SHAPES
from mha_course.exercises.mistakes.of_joining import JOINING, SCALES
from mha_course.exercises.mistakes.of_meeting import MEETING


def _one_value_per_sentence(s: Tensor) -> Tensor:
    return s.flatten(2).softmax(-1).reshape(s.shape)


# id, the step that is wrong, what to say, where to look
_STEPS = (
    (
        "no-scale",
        {"factor": lambda q, **s: 1.0},
        "The scores are not divided by the root of d_k.",
        "the step after the product of queries and keys.",
    ),
    (
        "scale-sqrt-d_model",
        {"factor": lambda q, d_model, **s: 1 / math.sqrt(d_model)},
        (
            "The scores are divided by the root of d_model = {d_model}. Each dot product has only d_k = "
            "{d_k} terms."
        ),
        "which width the divisor comes from.",
    ),
    (
        "scale-d_k",
        {"factor": lambda q, **s: 1 / q.shape[-1]},
        "The scores are divided by d_k = {d_k} itself, not by its root.",
        "the divisor.",
    ),
    (
        "scale-d_model",
        {"factor": lambda q, d_model, **s: 1 / d_model},
        "The scores are divided by d_model = {d_model}.",
        "the divisor: which width, and its root.",
    ),
    (
        "scale-multiplied",
        {"factor": lambda q, **s: math.sqrt(q.shape[-1])},
        "The scores are multiplied by the root of d_k.",
        "`*` and `/`.",
    ),
    (
        "scale-sqrt-h",
        {"factor": lambda q, h, **s: 1 / math.sqrt(h)},
        "The scores are divided by the root of h = {h}.",
        "which size the divisor comes from.",
    ),
    (
        "scale-sqrt-n",
        {"factor": lambda q, n, **s: 1 / math.sqrt(n)},
        "The scores are divided by the root of n = {n}.",
        "which axis the divisor comes from.",
    ),
    (
        "over-the-queries",
        {"soften": lambda s: s.softmax(-2)},
        "The softmax goes over the queries: columns of weights sum to 1.",
        "the axis of the softmax.",
    ),
    (
        "over-the-heads",
        {"soften": lambda s: s.softmax(1)},
        "The softmax goes over the heads (axis 1). Each head has to spend a weight of 1 by itself.",
        "the axis of the softmax; counted from the end it has the same number for every rank.",
    ),
    (
        "over-the-sentences",
        {"soften": lambda s: s.softmax(0)},
        "The softmax goes over axis 0, the sentences of the batch.",
        "the axis of the softmax; counted from the end it has the same number for every rank.",
    ),
    (
        "over-everything",
        {"soften": _one_value_per_sentence},
        "The softmax goes over a whole map: all its weights together sum to 1, not each row.",
        "the axis of the softmax.",
    ),
    (
        "no-softmax",
        {"soften": lambda s: s},
        "There is no softmax: the scores themselves are used as weights.",
        "the step between scores and output.",
    ),
    (
        "sigmoid",
        {"soften": lambda s: s.sigmoid()},
        "Each score is squeezed by itself (a sigmoid), so rows don't sum to 1.",
        "the step between scores and weights.",
    ),
    (
        "softmax-twice",
        {"soften": lambda s: s.softmax(-1).softmax(-1)},
        "Softmax is applied twice; the weights come out nearly equal.",
        "how often the weights are softened.",
    ),
    (
        "queries-and-keys-swapped",
        {"pick": lambda x, q, k, v: (k, q, v)},
        "Queries and keys have changed places (or their matrices have): rows belong to keys.",
        "`w_q` and `w_k`, and the order in the product of scores.",
    ),
    (
        "keys-and-values-swapped",
        {"pick": lambda x, q, k, v: (q, v, k)},
        "Keys and values have changed places (or their matrices have).",
        "`w_k` and `w_v`.",
    ),
    (
        "queries-and-values-swapped",
        {"pick": lambda x, q, k, v: (v, k, q)},
        "Queries and values have changed places (or their matrices have).",
        "`w_q` and `w_v`.",
    ),
    (
        "keys-for-values",
        {"pick": lambda x, q, k, v: (q, k, k)},
        "The weighted sum is made of keys (or `w_k` was used twice). The values are what is mixed.",
        "what the weights multiply.",
    ),
    (
        "queries-for-keys",
        {"pick": lambda x, q, k, v: (q, q, v)},
        "Queries are compared with queries (or `w_q` was used twice): the keys play no part.",
        "what the queries are compared with.",
    ),
    (
        "keys-for-queries",
        {"pick": lambda x, q, k, v: (k, k, v)},
        "Keys are compared with keys: `w_q` plays no part.",
        "where `w_q` is used.",
    ),
    (
        "queries-for-values",
        {"pick": lambda x, q, k, v: (q, k, q)},
        "The weighted sum is made of queries: `w_v` plays no part.",
        "where `w_v` is used.",
    ),
    (
        "values-not-projected",
        {"pick": lambda x, q, k, v: (q, k, x)},
        "The weights mix the input itself: `w_v` plays no part.",
        "where `w_v` is used.",
    ),
    (
        "keys-not-projected",
        {"pick": lambda x, q, k, v: (q, x, v)},
        "The queries are compared with the input itself: `w_k` plays no part.",
        "where `w_k` is used.",
    ),
    (
        "queries-not-projected",
        {"pick": lambda x, q, k, v: (x, k, v)},
        "The input itself asks: `w_q` plays no part.",
        "where `w_q` is used.",
    ),
    (
        "nothing-projected",
        {"pick": lambda x, q, k, v: (x, x, x)},
        "Nothing is projected: queries, keys and values are slices of the input.",
        "where the three matrices are used.",
    ),
    (
        "weights-not-used",
        {"mix": lambda w, k, v: v.mean(-2, keepdim=True).expand_as(v)},
        "The output is the plain average of the values: the weights play no part.",
        "the last product of a head.",
    ),
    (
        "weights-transposed",
        {"mix": lambda w, k, v: w.transpose(-2, -1) @ v},
        "The weights are transposed before they multiply the values.",
        "the product of weights and values.",
    ),
    (
        "values-alone",
        {"mix": lambda w, k, v: v},
        "These are the values: nothing was mixed.",
        "the last product of a head.",
    ),
)


# Looked for together with two others as well.
_OFTEN = {
    "no-scale",
    "scale-sqrt-d_model",
    "scale-d_k",
    "over-the-queries",
    "over-the-heads",
    "no-softmax",
    "queries-and-keys-swapped",
    "values-not-projected",
    "weights-transposed",
    "projections-transposed",
    "view-without-transpose",
    "interleaved",
    "first-slice-for-all",
    "heads-not-moved",
    "merge-without-transpose",
    "merge-interleaved",
    "heads-reversed",
    "sum-for-concat",
    "mean-for-concat",
    "not-concatenated",
}


def head_mistakes(right: Callable[..., Any], heads_alone: bool) -> tuple[Mistake, ...]:
    """The mistakes of projecting, splitting, attending and joining, as settings of `right`.

    heads_alone: the concatenation is the result; nothing comes behind it that would hide a shape.
    """
    entries = (*_STEPS, *CUTTING, *((*SHAPES, *MEETING, *SCALES, *JOINING) if heads_alone else ()))
    return tuple(
        Mistake(id_, partial(right, **change), says, look, ALONE.get(id_, ""), heads_alone and id_ in _OFTEN)
        for id_, change, says, look in entries
    )
