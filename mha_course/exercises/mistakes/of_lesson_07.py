"""Known mistakes of lesson 07: what is counted wrong."""

from __future__ import annotations

from mha_course.exercises.exercise import Mistake

COUNT_MISTAKES = (
    Mistake(
        "times-h",
        lambda d, h, bias: 4 * d * d * h + (4 * d if bias else 0),
        "The count is multiplied by h. Heads share the width: each is d_model / h wide.",
        "the size of one head's matrices.",
    ),
    Mistake(
        "w_o-left-out",
        lambda d, h, bias: 3 * d * d + (3 * d if bias else 0),
        "W_Q, W_K and W_V are counted; W_O is missing.",
        "the matrices: how many are there?",
    ),
    Mistake(
        "w_o-left-out-bias-in",
        lambda d, h, bias: 3 * d * d + (4 * d if bias else 0),
        "Three matrices are counted with four biases; W_O itself is missing.",
        "the matrices: how many are there?",
    ),
    Mistake(
        "one-head-only",
        lambda d, h, bias: 4 * d * (d // h) + (4 * (d // h) if bias else 0),
        "This is one head's share.",
        "the number of heads.",
    ),
    Mistake(
        "one-head-projections",
        lambda d, h, bias: 3 * d * (d // h) + d * d + (4 * d if bias else 0),
        "The projections of one head are counted (or d_k by d_k ones for every head), and W_O.",
        "the number of heads.",
    ),
    Mistake(
        "one-matrix",
        lambda d, h, bias: d * d + (d if bias else 0),
        "One matrix is counted; the layer has four.",
        "the matrices: how many are there?",
    ),
    Mistake(
        "biases-forgotten",
        lambda d, h, bias: 4 * d * d,
        "Right without biases. `bias` is not used.",
        "where `bias` takes part.",
    ),
    Mistake(
        "biases-always",
        lambda d, h, bias: 4 * d * d + 4 * d,
        "Biases are counted whether there are any or not.",
        "where `bias` takes part.",
    ),
    Mistake(
        "biases-turned",
        lambda d, h, bias: 4 * d * d + (0 if bias else 4 * d),
        "Biases are counted when there are none.",
        "the condition.",
    ),
    Mistake(
        "three-biases",
        lambda d, h, bias: 4 * d * d + (3 * d if bias else 0),
        "Three biases are counted; W_O has one, too.",
        "the number of biases.",
    ),
    Mistake(
        "one-bias",
        lambda d, h, bias: 4 * d * d + (d if bias else 0),
        "One bias is counted; there is one for each of the four matrices.",
        "the number of biases.",
    ),
    Mistake(
        "one-number-a-bias",
        lambda d, h, bias: 4 * d * d + (4 if bias else 0),
        "Each bias is counted as one number. It has one for each output feature.",
        "the size of a bias.",
    ),
    Mistake(
        "biases-times-h",
        lambda d, h, bias: 4 * d * d + (4 * d * h if bias else 0),
        "Biases are multiplied by h. Each head's bias is d_k wide.",
        "the size of one head's bias.",
    ),
    Mistake(
        "biases-of-one-head",
        lambda d, h, bias: 4 * d * d + (4 * (d // h) if bias else 0),
        "The biases of one head are counted only.",
        "the number of heads.",
    ),
    Mistake(
        "true-as-one",
        lambda d, h, bias: 4 * d * d + bias,
        "`bias` itself is added: True counts as 1.",
        "where `bias` takes part.",
    ),
    Mistake(
        "float-division",
        lambda d, h, bias: 4 * d * (d / h) * h + (4 * d if bias else 0),
        "The number is right, as a float. A count is a whole number.",
        "`/` and `//`.",
    ),
)

FLOP_MISTAKES = (
    Mistake(
        "multiply-adds",
        lambda n, d, h: 4 * n * d * d + 2 * n * n * d,
        "A multiply-add is counted as one. It is a multiplication and an addition: two.",
        "the factor of a matrix product.",
    ),
    Mistake(
        "projections-only",
        lambda n, d, h: 8 * n * d * d,
        "The four projections are counted; scores and weighted sum are missing.",
        "the products inside the heads.",
    ),
    Mistake(
        "attention-only",
        lambda n, d, h: 4 * n * n * d,
        "Scores and weighted sum are counted; the four projections are missing.",
        "the products outside the heads.",
    ),
    Mistake(
        "w_o-left-out",
        lambda n, d, h: 6 * n * d * d + 4 * n * n * d,
        "W_O is missing.",
        "the number of projections.",
    ),
    Mistake(
        "weighted-sum-left-out",
        lambda n, d, h: 8 * n * d * d + 2 * n * n * d,
        "One of the two products inside a head is missing (or half of the pairs, as under a causal mask).",
        "the products inside the heads.",
    ),
    Mistake(
        "heads-at-full-width",
        lambda n, d, h: 8 * n * d * d + 4 * n * n * d * h,
        "Every head is counted at full width. Each is only d_model / h wide.",
        "the width of one head.",
    ),
    Mistake(
        "one-head-only",
        lambda n, d, h: 8 * n * d * d + 4 * n * n * (d // h),
        "The products of one head are counted; there are {h}.",
        "the number of heads.",
    ),
    Mistake(
        "one-head-everything",
        lambda n, d, h: 8 * n * d * (d // h) + 4 * n * n * (d // h),
        "All of this is one head's share (W_O's block included).",
        "the number of heads.",
    ),
    Mistake(
        "projections-times-h",
        lambda n, d, h: 8 * n * d * d * h + 4 * n * n * d,
        "The projections are multiplied by h. Each head's matrices are only d_model / h wide.",
        "the size of one head's matrices.",
    ),
    Mistake(
        "everything-times-h",
        lambda n, d, h: (8 * n * d * d + 4 * n * n * d) * h,
        "Everything is multiplied by h. Heads share the width.",
        "the width of one head.",
    ),
    Mistake(
        "parameters-for-flops",
        lambda n, d, h: 8 * d * d + 4 * n * n * d,
        "The projections are counted for one token. There are {n}.",
        "n in the projections.",
    ),
    Mistake(
        "width-squared-in-scores",
        lambda n, d, h: 8 * n * d * d + 4 * n * d * d,
        "In the scores n and d_model have changed places: there are n times n of them.",
        "the sizes of the product of queries and keys.",
    ),
    Mistake(
        "one-projection",
        lambda n, d, h: 2 * n * d * d + 4 * n * n * d,
        "One projection is counted; there are four.",
        "the number of projections.",
    ),
    Mistake(
        "softmax-counted",
        lambda n, d, h: 8 * n * d * d + 4 * n * n * d + 5 * h * n * n,
        "Softmax is counted as well. Here only matrix products count.",
        "what is not a matrix product.",
    ),
    Mistake(
        "scale-counted",
        lambda n, d, h: 8 * n * d * d + 4 * n * n * d + h * n * n,
        "One operation a score is counted as well. Here only matrix products count.",
        "what is not a matrix product.",
    ),
    Mistake(
        "one-less-addition",
        lambda n, d, h: (
            4 * n * d * (2 * d - 1) + h * n * n * (2 * (d // h) - 1) + h * n * (d // h) * (2 * n - 1)
        ),
        (
            "A sum of d terms is counted as d - 1 additions. That is exact; the custom, and the prompt, is "
            "two for each multiply-add."
        ),
        "the factor of a matrix product.",
    ),
    Mistake(
        "float-division",
        lambda n, d, h: 8.0 * n * d * d + 4 * n * n * d,
        "The number is right, as a float. A count is a whole number.",
        "`/` and `//`.",
    ),
)
