"""Known mistakes with queries that may attend to nothing: NaN, equal weights, one of two results repaired."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.workbench import attend_with

NEG_INF = float("-inf")


def _masked(s: Tensor, m: Tensor) -> Tensor:
    return s.masked_fill(~m, NEG_INF)


def _large_negative(s: Tensor, m: Tensor) -> Tensor:
    return s.masked_fill(~m, -1e9)


def _zeroed(w: Tensor, m: Tensor) -> Tensor:
    """Rows with nothing to attend to set to 0, as they should be."""
    return w.masked_fill(~m.any(-1, keepdim=True), 0.0)


def _nan_to(value: float):
    return {"hide_late": lambda w, m: w.nan_to_num(value)}


def _zero_weights_only(q, k, v, mask):
    output, weights = attend_with(q, k, v, mask)
    return output, weights.nan_to_num(0.0)


def _zero_output_only(q, k, v, mask):
    output, weights = attend_with(q, k, v, mask)
    return output.nan_to_num(0.0), weights


def _uniform_weights_zero_output(q, k, v, mask):
    output, weights = attend_with(q, k, v, mask, hide=lambda s, m: s.masked_fill(~m, -1e9))
    return output.masked_fill(~mask.any(-1, keepdim=True), 0.0), weights


def _late(mask_to: object) -> dict[str, object]:
    return {"hide": lambda s, m: s, "hide_late": mask_to}


def _only_full_rows(s: Tensor, m: Tensor) -> Tensor:
    return s


EMPTY_MISTAKES = (
    Mistake(
        "empty-rows-nan",
        partial(attend_with),
        (
            "Rows with nothing to attend to are NaN: a softmax of nothing but -inf is 0/0. One such row "
            "poisons everything behind it."
        ),
        "rows of the mask without a single True.",
    ),
    Mistake(
        "empty-rows-uniform",
        partial(attend_with, hide=lambda s, m: s.masked_fill(~m, -1e9)),
        (
            "Rows with nothing to attend to get equal weights (as -1e9 everywhere gives them: the "
            "differences drown), and look at exactly what was hidden."
        ),
        "rows of the mask without a single True, after the softmax.",
    ),
    Mistake(
        "empty-rows-attend-freely",
        partial(attend_with, hide=lambda s, m: s.masked_fill(~(m | ~m.any(-1, keepdim=True)), NEG_INF)),
        (
            "Rows with nothing to attend to look at everything. Letting them through the softmax is fine; "
            "then they have to become 0."
        ),
        "what happens to such rows after the softmax.",
    ),
    Mistake(
        "empty-rows-look-at-the-first",
        partial(
            attend_with,
            hide=lambda s, m: _masked(s, m | (~m.any(-1, keepdim=True) & (torch.arange(m.shape[-1]) == 0))),
        ),
        "Rows with nothing to attend to look at the first key.",
        "what such rows should give: zeros.",
    ),
    Mistake(
        "empty-rows-look-at-themselves",
        partial(
            attend_with,
            hide=lambda s, m: _masked(
                s, m | (~m.any(-1, keepdim=True) & torch.eye(*m.shape, dtype=torch.bool))
            ),
        ),
        "Queries with nothing to attend to look at the key at their own place.",
        "what such rows should give: zeros.",
    ),
    Mistake(
        "empty-rows-nan-to-one",
        partial(attend_with, **_nan_to(1.0)),
        "NaN is replaced by 1, so such rows add up all values.",
        "what NaN is replaced by.",
    ),
    Mistake(
        "weights-zero-output-nan",
        _zero_weights_only,
        "The weights are fine; the output was made before they were repaired, and is still NaN.",
        "the order of the repair and the weighted sum.",
    ),
    Mistake(
        "output-zero-weights-nan",
        _zero_output_only,
        "The output is fine; the weights that you return are still NaN.",
        "both results: which one is repaired?",
    ),
    Mistake(
        "output-zero-weights-uniform",
        _uniform_weights_zero_output,
        "The output is fine; the weights of empty rows are equal instead of 0.",
        "both results: which one is repaired?",
    ),
    Mistake(
        "mask-after-softmax",
        partial(attend_with, **_late(lambda w, m: w * m)),
        "Masking comes after the softmax. Empty rows are 0, but other rows no longer sum to 1.",
        "the order of mask and softmax.",
    ),
    Mistake(
        "polarity-then-masked",
        partial(attend_with, hide=lambda s, m: s.masked_fill(m, -1e9), hide_late=lambda w, m: w * m),
        (
            "Before the softmax the mask is read the wrong way round: the allowed keys are hidden. After it "
            "the others are cut off as well, so hardly anything is left."
        ),
        "`masked_fill` fills where its mask is True.",
        alone="Empty rows are right.",
    ),
    Mistake(
        "hidden-scores-zero-then-masked",
        partial(attend_with, hide=lambda s, m: s * m, hide_late=lambda w, m: w * m),
        (
            "Before the softmax hidden scores become 0, and exp(0) is 1; after it their weights are cut off. "
            "Rows no longer sum to 1."
        ),
        "what a score has to be so that its exponential is 0.",
        alone="Empty rows are right.",
    ),
    Mistake(
        "masked-rows-all-zero",
        partial(
            attend_with, hide_late=lambda w, m: w.nan_to_num(0.0).masked_fill(~m.all(-1, keepdim=True), 0.0)
        ),
        "Every row in which something is hidden becomes 0. Only rows in which *everything* is hidden should.",
        "`any` and `all`.",
    ),
    Mistake(
        "polarity",
        partial(
            attend_with, hide=lambda s, m: s.masked_fill(m, NEG_INF), hide_late=lambda w, m: w.nan_to_num(0.0)
        ),
        "The mask is read the wrong way round: the allowed keys are hidden. True = may attend.",
        "`masked_fill` fills where its mask is True.",
    ),
    Mistake(
        "polarity-nan",
        partial(attend_with, hide=lambda s, m: s.masked_fill(m, NEG_INF)),
        "The mask is read the wrong way round, and rows in which everything is allowed are NaN.",
        "`masked_fill` fills where its mask is True.",
    ),
    Mistake(
        "polarity-in-the-fill",
        partial(
            attend_with,
            hide=lambda s, m: s.masked_fill(m, NEG_INF),
            hide_late=lambda w, m: w.masked_fill(~m.any(-1, keepdim=True), 0.0),
        ),
        (
            "The mask is read the wrong way round where scores are filled, and the right way round where "
            "empty rows are set to 0."
        ),
        "`masked_fill` fills where its mask is True.",
    ),
    Mistake(
        "wrong-rows-zeroed",
        partial(attend_with, hide=_large_negative, hide_late=lambda w, m: w * ~m.any(-1, keepdim=True)),
        "The wrong rows are set to 0: those with something to attend to. The empty ones keep equal weights.",
        "which rows `any` is True for.",
    ),
    Mistake(
        "zero-times-infinity",
        partial(attend_with, hide=lambda s, m: s + (1 - m.float()) * NEG_INF),
        "Everything is NaN, as 0 times infinity makes it, or a mask that hides every key from everyone.",
        "how the mask becomes a number to be added.",
    ),
    Mistake(
        "hidden-scores-zero",
        partial(attend_with, hide=lambda s, m: s * m, hide_late=_zeroed),
        "Hidden scores become 0, and exp(0) is 1: hidden keys still get weight.",
        "what a score has to be so that its exponential is 0.",
        alone="Empty rows are right.",
    ),
    Mistake(
        "mask-added",
        partial(attend_with, hide=lambda s, m: s + m.to(s.dtype), hide_late=_zeroed),
        "The mask is added to the scores as 0 and 1: hidden keys still get weight.",
        "what is added to a hidden score.",
        alone="Empty rows are right.",
    ),
    Mistake(
        "over-the-queries",
        partial(attend_with, soften=lambda s: s.softmax(-2), hide_late=lambda w, m: w.nan_to_num(0.0)),
        "The softmax goes over the queries: columns of weights sum to 1.",
        "the axis of the softmax.",
        alone="Empty rows are right.",
    ),
    Mistake(
        "over-axis-1",
        partial(attend_with, soften=lambda s: s.softmax(1), hide_late=lambda w, m: w.nan_to_num(0.0)),
        "The softmax goes over axis 1, the heads. Each head has to spend a weight of 1 by itself.",
        "the axis of the softmax; counted from the end it has the same number for every rank.",
    ),
    Mistake(
        "over-the-sentences",
        partial(attend_with, soften=lambda s: s.softmax(0), hide_late=lambda w, m: w.nan_to_num(0.0)),
        "The softmax goes over axis 0, the sentences of the batch.",
        "the axis of the softmax; counted from the end it has the same number for every rank.",
    ),
    Mistake(
        "keys-for-values",
        partial(attend_with, mix=lambda w, k, v: w @ k, hide_late=_zeroed),
        "The weights multiply the keys, so the output is d_k = {d_k} wide. The values are what is mixed.",
        "what the weights multiply.",
    ),
    Mistake(
        "scale-d_k",
        partial(attend_with, factor=lambda q, **s: 1 / q.shape[-1], hide_late=_zeroed),
        "The scores are divided by d_k = {d_k} itself, not by its root.",
        "the divisor.",
        alone="Empty rows are right.",
    ),
    Mistake(
        "mask-ignored",
        lambda q, k, v, mask: attend_with(q, k, v),
        "The mask is ignored.",
        "where `mask` is used.",
    ),
    Mistake(
        "only-empty-rows-masked",
        partial(
            attend_with,
            hide=_only_full_rows,
            hide_late=lambda w, m: w.masked_fill(~m.any(-1, keepdim=True), 0.0),
        ),
        "Empty rows are 0, but in the other rows the mask has no effect.",
        "where `mask` is used besides.",
    ),
    Mistake(
        "no-scale",
        partial(attend_with, factor=lambda q, **s: 1.0, hide_late=lambda w, m: w.nan_to_num(0.0)),
        "The scores are not divided by the root of d_k.",
        "the step after the product of queries and keys.",
        alone="Empty rows are right.",
    ),
    Mistake(
        "tiny-denominator",
        lambda q, k, v, mask: _with_small_sum(q, k, v, mask),
        "Something is added to the sum, as if to avoid 0/0. Then no row sums to 1.",
        "the denominator.",
    ),
)


def _with_small_sum(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    powers = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).exp() * mask
    weights = powers / (powers.sum(-1, keepdim=True) + 1)
    return weights @ v, weights
