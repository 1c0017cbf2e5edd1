"""Known mistakes of `collaborative_flops`: which products are counted, how often, and how wide."""

from __future__ import annotations

from mha_course.exercises.exercise import Mistake

SHARED_FLOP_MISTAKES = (
    Mistake(
        "features-shared-out",
        lambda n, d, h, w: 4 * n * d * w + 2 * n * n * w,
        "The scores are counted once, as if each head had width / h features (or as if there were one head). "
        "Every head works in all {width} of them.",
        "how wide the product of queries and keys is, and how often it is made.",
    ),
    Mistake(
        "plain-heads",
        lambda n, d, h, w: 4 * n * d * w + 2 * n * n * d,
        "The scores are those of plain heads, d_model / h wide. Collaborative heads work in all {width} "
        "shared features.",
        "how wide the product of queries and keys is.",
    ),
    Mistake(
        "plain-projections",
        lambda n, d, h, w: 4 * n * d * d + 2 * n * n * h * w,
        "The projections go from d_model to d_model. They should go to {width} features.",
        "the sides of W_Q and W_K.",
    ),
    Mistake(
        "projections-for-each-head",
        lambda n, d, h, w: 4 * n * d * w * h + 2 * n * n * h * w,
        "The projections are counted for every head. All heads share one for the queries and one for the "
        "keys.",
        "how often the projections are made.",
    ),
    Mistake(
        "multiply-adds",
        lambda n, d, h, w: 2 * n * d * w + n * n * h * w,
        "A multiply-add is counted as one. It is a multiplication and an addition: two. (Or half of "
        "everything is missing.)",
        "the factor of a matrix product.",
    ),
    Mistake(
        "one-projection",
        lambda n, d, h, w: 2 * n * d * w + 2 * n * n * h * w,
        "One projection is counted (or both with one operation a multiply-add). There are two: queries and "
        "keys.",
        "the number of projections.",
    ),
    Mistake(
        "values-and-output-too",
        lambda n, d, h, w: 8 * n * d * w + 2 * n * n * h * w,
        "Four projections are counted. Up to the scores there are two, of queries and keys.",
        "the number of projections.",
    ),
    Mistake(
        "values-too",
        lambda n, d, h, w: 6 * n * d * w + 2 * n * n * h * w,
        "Three projections are counted. Values take no part in the scores.",
        "the number of projections.",
    ),
    Mistake(
        "scores-only",
        lambda n, d, h, w: 2 * n * n * h * w,
        "The scores are counted; the two projections are missing.",
        "what queries and keys are made of.",
    ),
    Mistake(
        "projections-only",
        lambda n, d, h, w: 4 * n * d * w,
        "The projections are counted; the scores are missing.",
        "the product of queries and keys.",
    ),
    Mistake(
        "weighted-sum-too",
        lambda n, d, h, w: 4 * n * d * w + 4 * n * n * h * w,
        "The scores are counted twice (or the weighted sum of the values is counted as well, which has "
        "another width).",
        "which products lead to the scores.",
    ),
    Mistake(
        "weighing-counted",
        lambda n, d, h, w: 4 * n * d * w + 2 * n * n * h * w + n * h * w,
        "Weighing the features by M is counted, one operation each. It is no matrix product.",
        "which steps are matrix products.",
    ),
    Mistake(
        "scale-counted",
        lambda n, d, h, w: 4 * n * d * w + 2 * n * n * h * w + n * n * h,
        "The scaling is counted, one operation a score. It is no matrix product.",
        "which steps are matrix products.",
    ),
    Mistake(
        "mixing-as-a-product",
        lambda n, d, h, w: 4 * n * d * w + 2 * n * n * h * w + 2 * n * h * w,
        "Weighing by M is counted as a matrix product. It multiplies number by number, and is left out here.",
        "which steps are matrix products.",
    ),
    Mistake(
        "one-token",
        lambda n, d, h, w: 4 * d * w + 2 * n * n * h * w,
        "The projections are counted for one token. There are {n}.",
        "`n` in the projections.",
    ),
    Mistake(
        "one-query",
        lambda n, d, h, w: 4 * n * d * w + 2 * n * h * w,
        "The scores are counted for one query. Each of the {n} tokens asks.",
        "`n` in the scores.",
    ),
    Mistake(
        "scores-at-full-width",
        lambda n, d, h, w: 4 * n * d * w + 2 * n * n * h * d,
        "The scores are counted with d_model features a head. The shared queries and keys have {width}.",
        "how wide the product of queries and keys is.",
    ),
    Mistake(
        "one-less-addition",
        lambda n, d, h, w: 2 * n * w * (2 * d - 1) + n * n * h * (2 * w - 1),
        "A sum of m terms is counted as m - 1 additions. The custom is two for every multiply-add.",
        "the factor of a matrix product.",
    ),
    Mistake(
        "float-division",
        lambda n, d, h, w: float(4 * n * d * w + 2 * n * n * h * w),
        "The number is right, as a float. A count is a whole number.",
        "`/` and `//`.",
    ),
)
