"""Known mistakes of lesson 03: sizes not refused, splits that mix tokens, blocks in the wrong place."""

from __future__ import annotations

import torch

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.workbench import first_for_all, interleaved, split, without_transpose


def _refusing(right):
    """A wrong rule that still refuses what can't be split."""

    def rule(d_model: int, h: int) -> object:
        if d_model % h:
            raise ValueError(h)
        return right(d_model, h)

    return rule


def _gives(value):
    """A function that answers what can't be split instead of refusing it."""
    return lambda d_model, h: value if d_model % h else d_model // h


def _refuses_wrong_way(d_model: int, h: int) -> int:
    if not d_model % h:
        raise ValueError(h)
    return d_model // h


HEAD_SIZE_MISTAKES = (
    Mistake(
        "silently-floored",
        lambda d_model, h: d_model // h,
        "Where h does not divide d_model, the rest of the features is dropped, and nothing is refused.",
        "what `//` does with 10 and 3, and what should happen instead.",
    ),
    Mistake(
        "float-division",
        _refusing(lambda d, h: d / h),
        "The size is a float, such as 4.0. A size is a whole number; `view` won't take a float.",
        "the two divisions that Python has.",
    ),
    Mistake(
        "float-and-no-refusal",
        lambda d_model, h: d_model / h,
        "`/` gives a float, and nothing is refused: 10 / 3 features is not possible.",
        "the kind of division, and the case that can't be split.",
    ),
    Mistake(
        "rounded",
        lambda d_model, h: round(d_model / h),
        "Sizes are rounded where h does not divide d_model.",
        "the case that can't be split.",
    ),
    Mistake(
        "rounded-up",
        lambda d_model, h: -(-d_model // h),
        "Sizes are rounded up where h does not divide d_model.",
        "the case that can't be split.",
    ),
    Mistake(
        "full-width",
        _refusing(lambda d, h: d),
        "Every head gets all d_model features. They share them.",
        "the return value.",
    ),
    Mistake(
        "number-of-heads",
        _refusing(lambda d, h: h),
        "This is the number of heads, not their size.",
        "the return value.",
    ),
    Mistake(
        "remainder", _refusing(lambda d, h: d % h), "This is the remainder of the division.", "`%` and `//`."
    ),
    Mistake("multiplied", _refusing(lambda d, h: d * h), "d_model is multiplied by h.", "the operation."),
    Mistake(
        "upside-down",
        _refusing(lambda d, h: h / d),
        "The division is upside down: h by d_model.",
        "what is divided by what.",
    ),
    Mistake(
        "none-for-impossible",
        _gives(None),
        "It returns `None` where h does not divide d_model. The caller goes on and fails far from the cause.",
        "the case that can't be split: `raise`.",
    ),
    Mistake(
        "zero-for-impossible",
        _gives(0),
        "It returns 0 where h does not divide d_model. The caller goes on and fails far from the cause.",
        "the case that can't be split: `raise`.",
    ),
    Mistake(
        "minus-one-for-impossible",
        _gives(-1),
        'It returns -1 where h does not divide d_model. `view` reads -1 as "work it out yourself".',
        "the case that can't be split: `raise`.",
    ),
    Mistake(
        "false-for-impossible",
        _gives(False),
        (
            "It returns `False` where h does not divide d_model. The caller goes on and fails far from the "
            "cause."
        ),
        "the case that can't be split: `raise`.",
    ),
    Mistake(
        "refuses-the-wrong-ones",
        _refuses_wrong_way,
        "It refuses what can be split, and takes what can't.",
        "the condition in front of `raise`.",
    ),
)

SPLIT_MISTAKES = (
    Mistake(
        "view-without-transpose",
        without_transpose,
        (
            "The shape is right, but the heads are made of pieces of different tokens: `view` cuts the row "
            "of numbers in order, and never moves one."
        ),
        "what `view` does to the order of the numbers, and which axis should be cut.",
    ),
    Mistake(
        "interleaved",
        interleaved,
        (
            "Features are dealt out like cards: head 1 gets features 0, {h}, ... Each head should get "
            "neighbours."
        ),
        "the two sizes into which the last axis is cut: their order.",
    ),
    Mistake(
        "not-transposed",
        lambda x, h: split(x, h).transpose(1, 2),
        "The features are cut well; the axis of heads still stands behind the tokens.",
        "the order of the axes: `(b, h, n, d_k)`.",
    ),
    Mistake(
        "tokens-and-features-turned",
        lambda x, h: split(x, h).transpose(2, 3),
        "Heads are in place; tokens and features have changed places.",
        "which two axes are transposed.",
    ),
    Mistake(
        "heads-in-front",
        lambda x, h: split(x, h).transpose(0, 1),
        "The axis of heads stands in front of the batch.",
        "the axis along which the heads are stacked.",
    ),
    Mistake(
        "heads-last",
        lambda x, h: split(x, h).permute(0, 2, 3, 1),
        "The axis of heads stands last.",
        "the axis along which the heads are stacked.",
    ),
    Mistake(
        "heads-reversed",
        lambda x, h: split(x, h).flip(1),
        "The heads stand in reversed order: the last one comes first.",
        "the order in which the heads are put together.",
    ),
    Mistake(
        "first-slice-for-all",
        first_for_all,
        "Every head holds the first slice of features.",
        "the start and end of the slice: they should move with the head.",
    ),
    Mistake(
        "h-as-size",
        lambda x, h: x.reshape(*x.shape[:2], -1, h).transpose(1, 2),
        "h was taken for the size of a head: there are d_model / h = {d_k} heads of {h} features now.",
        "the two sizes into which the last axis is cut: their order.",
    ),
    Mistake(
        "batch-and-heads-merged",
        lambda x, h: split(x, h).flatten(0, 1),
        (
            "Batch and heads share one axis, `(b * h, n, d_k)`. The numbers are right for that layout; here "
            "four axes are wanted."
        ),
        "the last step.",
    ),
    Mistake(
        "overlapping-slices",
        lambda x, h: torch.stack([x[..., i : i + x.shape[-1] // h] for i in range(h)], 1),
        "The slices overlap: each starts one feature behind the one before.",
        "the start of the slice for head i.",
    ),
    Mistake(
        "tokens-rotated",
        lambda x, h: split(x, h).roll(1, 2),
        "Every head holds the right features, each at the next token.",
        "the axis of tokens: it should stay as it is.",
    ),
    Mistake(
        "tokens-dealt-out",
        lambda x, h: x.permute(0, 2, 1).reshape(x.shape[0], h, x.shape[1], -1),
        "Tokens and features change places before the cut, so the pieces mix tokens.",
        "the transpose: it belongs behind the cut, and moves other axes.",
    ),
)

STACK_MISTAKES = (
    Mistake(
        "reshape-without-transpose",
        lambda w: w.reshape(w.shape[1], -1),
        (
            "The shape is right, but a row of the result holds several rows of one small matrix: `reshape` "
            "never moves a number."
        ),
        "which axis must come first before the last two are joined.",
    ),
    Mistake(
        "below-each-other",
        lambda w: w.reshape(-1, w.shape[2]),
        (
            "The small matrices lie below each other, `(h * d_model, d_k)`. Then the product `x @ w` has no "
            "place for them."
        ),
        "the axis along which they are joined.",
    ),
    Mistake(
        "columns-interleaved",
        lambda w: w.permute(1, 2, 0).flatten(1),
        "The columns of the heads alternate. All columns of head 1 come first.",
        "the order of the two axes that are joined.",
    ),
    Mistake(
        "heads-reversed",
        lambda w: w.flip(0).transpose(0, 1).flatten(1),
        "The heads stand in reversed order.",
        "the order in which they are joined.",
    ),
    Mistake(
        "first-head-for-all",
        lambda w: w[0].repeat(1, w.shape[0]),
        "Head 1's matrix stands there {h} times.",
        "the index of the head.",
    ),
    Mistake(
        "sum-for-stack", lambda w: w.sum(0), "The small matrices are added up.", "how they are put together."
    ),
    Mistake(
        "mean-for-stack",
        lambda w: w.mean(0),
        "The small matrices are averaged.",
        "how they are put together.",
    ),
    Mistake(
        "transposed",
        lambda w: w.transpose(1, 2).flatten(0, 1),
        (
            "The result is transposed, `(h * d_k, d_model)`: the way `nn.Linear` keeps it. Here `x @ w` is "
            "wanted."
        ),
        "rows and columns of the result.",
    ),
    Mistake(
        "each-transposed",
        lambda w: w.transpose(1, 2).transpose(0, 1).reshape(w.shape[1], -1),
        "Rows and columns of the small matrices are mixed up before they are joined.",
        "the axes that change places: `d_model` should stay the rows.",
    ),
    Mistake(
        "block-diagonal",
        lambda w: torch.block_diag(*w),
        (
            "The small matrices stand on the diagonal, zeros elsewhere. Then each head would see only a "
            "slice of `x`."
        ),
        "how they are put together: every head reads all features.",
    ),
    Mistake(
        "still-three-axes",
        lambda w: w.transpose(0, 1),
        "The axes are in a good order, but there are still three of them.",
        "the last step.",
    ),
)
