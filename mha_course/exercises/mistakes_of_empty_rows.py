"""Known mistakes with queries that may attend to nothing: NaN, equal weights, one of two results repaired."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.wrong_attention import attend_with

NEG_INF = float("-inf")


def _masked(s: Tensor, m: Tensor) -> Tensor:
    return s.masked_fill(~m, NEG_INF)


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
            "Rows with nothing to attend to get equal weights: with -1e9 everywhere the differences drown, "
            "and the row looks at exactly what was hidden."
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
        "0.1 or so is added to the sum to avoid 0/0. Then no row sums to 1.",
        "the denominator.",
    ),
)


def _with_small_sum(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    powers = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).exp() * mask
    weights = powers / (powers.sum(-1, keepdim=True) + 1)
    return weights @ v, weights
