"""Known mistakes of lesson 01: wrong axes, wrong factors, masks the wrong way round."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.workbench import products

NEG_INF = float("-inf")


SOFTMAX_MISTAKES = (
    Mistake(
        "over-the-queries",
        lambda s: s.softmax(-2),
        (
            "The columns sum to 1, not the rows. Each query has a row, and shares its own weight of 1 over "
            "the keys."
        ),
        "the axis of the sum (or of `softmax`).",
    ),
    Mistake(
        "over-everything",
        lambda s: (s - s.max()).exp() / (s - s.max()).exp().sum(),
        "All entries together sum to 1. Each row should, by itself.",
        "the sum: over which axis does it go?",
    ),
    Mistake(
        "overflow",
        lambda s: s.exp() / s.exp().sum(-1, keepdim=True),
        (
            "Right for ordinary scores. For a score of 1000 `exp` is too large for a float, and inf / inf "
            "is NaN. If something is taken off the scores, it isn't the largest of the row."
        ),
        (
            "what goes into `exp`. A row's softmax doesn't change when you take the same number from all "
            "its entries."
        ),
    ),
    Mistake(
        "one-maximum-for-all-rows",
        lambda s: (s - s.max()).exp() / (s - s.max()).exp().sum(-1, keepdim=True),
        (
            "One number is subtracted from all rows, such as the largest score of the whole matrix. A row "
            "far below it becomes all zeros, and 0 / 0 is NaN."
        ),
        "the maximum: each row needs its own.",
    ),
    Mistake(
        "maximum-of-columns",
        lambda s: (
            (s - s.amax(-2, keepdim=True)).exp() / (s - s.amax(-2, keepdim=True)).exp().sum(-1, keepdim=True)
        ),
        "A different number is subtracted from each column, and that changes the softmax of a row.",
        "the axis of the maximum.",
    ),
    Mistake(
        "minimum-subtracted",
        lambda s: (s - s.min()).exp() / (s - s.min()).exp().sum(-1, keepdim=True),
        "Taking away the smallest score makes the others larger still: `exp` overflows.",
        "which number is taken away before `exp`.",
    ),
    Mistake(
        "without-exp",
        lambda s: s / s.sum(-1, keepdim=True),
        (
            "The scores themselves are divided by their sum. Negative scores stay negative, and the sum can "
            "be near 0."
        ),
        "the step before the division.",
    ),
    Mistake(
        "not-normalised",
        lambda s: (s - s.amax(-1, keepdim=True)).exp(),
        "The exponentials are there, the division by their sum isn't.",
        "what the rows sum to.",
    ),
    Mistake(
        "log-softmax",
        lambda s: s.log_softmax(-1),
        "These are the logarithms of the weights.",
        "`log_softmax`, or a logarithm at the end.",
    ),
    Mistake(
        "sigmoid",
        lambda s: s.sigmoid(),
        (
            "Each score was squeezed by itself (a sigmoid). The entries of a row have to compete for a "
            "weight of 1."
        ),
        "the function used: does it see the whole row?",
    ),
    Mistake(
        "powers-of-two",
        lambda s: (
            torch.exp2(s - s.amax(-1, keepdim=True))
            / torch.exp2(s - s.amax(-1, keepdim=True)).sum(-1, keepdim=True)
        ),
        "Powers of 2 are normalised here; softmax takes powers of e. The weights come out too even.",
        "`2 ** ...` or `exp2`.",
    ),
    Mistake(
        "softmax-twice",
        lambda s: s.softmax(-1).softmax(-1),
        "Softmax is applied twice. The second one makes the weights nearly equal.",
        "how often the weights are softened.",
    ),
    Mistake(
        "sign-turned",
        lambda s: (-s).softmax(-1),
        "The smallest score gets the largest weight.",
        "a minus sign in front of the scores.",
    ),
    Mistake(
        "only-the-largest",
        lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype),
        "All the weight goes to the largest score. Softmax gives the others some, too.",
        "`argmax` or `max`.",
    ),
    Mistake(
        "scaled-by-the-maximum",
        lambda s: s.exp() / s.exp().amax(-1, keepdim=True),
        "The exponentials are divided by the largest one. It is their sum that makes a row sum to 1.",
        "the denominator.",
    ),
    Mistake(
        "absolute-values",
        lambda s: s.abs() / s.abs().sum(-1, keepdim=True),
        "Absolute values are normalised: a score of -3 gets as much as one of 3.",
        "the step that makes scores positive.",
    ),
)

SCORES_MISTAKES = (
    Mistake(
        "no-scale",
        lambda q, k: products(q, k),
        "The division is missing: these are the bare dot products.",
        "the step after the product of queries and keys.",
    ),
    Mistake(
        "scale-d_k",
        lambda q, k: products(q, k) / q.shape[-1],
        (
            "Divided by d_k = {d_k} itself (or by its root twice). The spread of a sum of d_k terms grows "
            "with the square root of d_k."
        ),
        "the divisor.",
    ),
    Mistake(
        "scale-multiplied",
        lambda q, k: products(q, k) * math.sqrt(q.shape[-1]),
        "Multiplied by the root of d_k. That makes the scores larger still.",
        "`*` and `/`.",
    ),
    Mistake(
        "scale-sqrt-n_k",
        lambda q, k: products(q, k) / math.sqrt(k.shape[-2]),
        "Divided by the root of the number of keys, {n_k}. The sum in a dot product runs over the features.",
        "which axis the divisor comes from.",
    ),
    Mistake(
        "scale-sqrt-n_q",
        lambda q, k: products(q, k) / math.sqrt(q.shape[-2]),
        (
            "Divided by the root of the number of queries, {n_q}. The sum in a dot product runs over the "
            "features."
        ),
        "which axis the divisor comes from.",
    ),
    Mistake(
        "scale-sqrt-b",
        lambda q, k: products(q, k) / math.sqrt(q.shape[0]),
        "Divided by the root of the first axis, the {b} sentences.",
        "which axis the divisor comes from.",
    ),
    Mistake(
        "fourth-root",
        lambda q, k: products(q, k) / q.shape[-1] ** 0.25,
        (
            "Only one side was scaled by the fourth root of d_k (both sides would be right), or the root "
            "was taken twice."
        ),
        "the exponent of d_k.",
    ),
    Mistake(
        "queries-and-keys-swapped",
        lambda q, k: products(k, q) / math.sqrt(q.shape[-1]),
        (
            "Queries and keys have changed places: rows belong to keys here. `(n_q, n_k)`: query down, key "
            "along."
        ),
        "the order in the product.",
    ),
    Mistake(
        "already-softmax",
        lambda q, k: (products(q, k) / math.sqrt(q.shape[-1])).softmax(-1),
        "These are weights: a softmax has been applied. Scores are what goes into it.",
        "the last step.",
    ),
    Mistake(
        "cosine",
        lambda q, k: products(F.normalize(q, dim=-1), F.normalize(k, dim=-1)),
        "Queries and keys are normalised to length 1 (cosines). In attention their lengths count.",
        "what is done to `q` and `k` before the product.",
    ),
    Mistake(
        "distance",
        lambda q, k: torch.cdist(q, k) / math.sqrt(q.shape[-1]),
        "These are distances. The score is a dot product: large for vectors that point the same way.",
        "how a query is compared with a key.",
    ),
    Mistake(
        "features-left-apart",
        lambda q, k: q.unsqueeze(-2) * k.unsqueeze(-3) / math.sqrt(q.shape[-1]),
        "The products of the features are there, one by one. The sum over them is missing.",
        "the last axis of the result.",
    ),
    Mistake(
        "k-not-transposed",
        lambda q, k: q @ k / math.sqrt(q.shape[-1]),
        "`k` is not transposed: a matrix product joins the last axis of `q` with the last but one of `k`.",
        "the two axes that should meet: both hold features.",
    ),
    Mistake(
        "wrong-axes-turned",
        lambda q, k: q @ k.permute(*range(k.ndim - 1, -1, -1)) / math.sqrt(q.shape[-1]),
        (
            "The axes of `k` that have changed places are not its last two: `.T` turns all of them, "
            "`transpose(0, 1)` the first two."
        ),
        "which axes of `k` change places. Counted from the end they have the same numbers for every rank.",
    ),
    Mistake(
        "wrong-axes-turned",
        lambda q, k: q @ k.transpose(0, 1) / math.sqrt(q.shape[-1]),
        (
            "The axes of `k` that have changed places are not its last two: `.T` turns all of them, "
            "`transpose(0, 1)` the first two."
        ),
        "which axes of `k` change places. Counted from the end they have the same numbers for every rank.",
    ),
)
