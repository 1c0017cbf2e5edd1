"""Known mistakes of a layer whose mask leaves some queries nothing: those of any layer, and these rows."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.of_layers import LAYER_MISTAKES
from mha_course.exercises.mistakes.workbench import hide_before, hide_with_large_negative, layer_with

NEG_INF = float("-inf")


def _empty(mask: Tensor) -> Tensor:
    return ~mask.any(-1, keepdim=True)


def _safe(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores at -inf, and ordinary numbers in rows that have nothing else."""
    return scores.masked_fill(~mask, NEG_INF).masked_fill(_empty(mask), 0.0)


def emptied(weights: Tensor, mask: Tensor) -> Tensor:
    """Weights in which NaN became 0: one right way to deal with rows that have nothing to attend to."""
    return weights.nan_to_num(0.0)


def _opened(what: Any) -> dict[str, Any]:
    """Rows with nothing to attend to see what `what` opens for them."""
    return {"hide": lambda s, m: s.masked_fill(~(m | (_empty(m) & what(m))), NEG_INF)}


def _kept(*arguments: Any) -> Tensor:
    """The layer, where an empty query keeps its own token."""
    x, mask = arguments[0], arguments[6]
    output = layer_with(*arguments, hide=_safe, hide_late=emptied)
    return torch.where(_empty(mask)[:, 0], x, output)


def _whole_sentence(*arguments: Any) -> Tensor:
    """The layer, where one empty query empties its whole sentence."""
    some = _empty(arguments[6]).flatten(1).any(1)[:, None, None]
    return layer_with(*arguments, hide=_safe, hide_late=emptied).masked_fill(some, 0.0)


def _nothing_poisoned(*arguments: Any) -> Tensor:
    """The layer, where one empty query anywhere makes everything 0."""
    output = layer_with(*arguments, hide=_safe, hide_late=emptied)
    return output * 0.0 if bool(_empty(arguments[6]).any()) else output


_EMPTY: tuple[tuple[str, Any, str, str], ...] = (
    (
        "empty-rows-nan",
        partial(layer_with, hide=hide_before),
        (
            "A query with nothing to attend to becomes NaN: a softmax of nothing but -inf is 0/0. One such "
            "row poisons everything behind it."
        ),
        "rows of `allowed` without a single True.",
    ),
    (
        "empty-rows-uniform",
        partial(layer_with, hide=hide_with_large_negative),
        (
            "A query with nothing to attend to gets equal weights (as -1e9 everywhere gives them: the "
            "differences drown), and looks at exactly what was hidden."
        ),
        "rows of `allowed` without a single True, after the softmax.",
    ),
    (
        "empty-rows-attend-freely",
        partial(layer_with, **_opened(torch.ones_like)),
        (
            "A query with nothing to attend to looks at everything. Letting its row through the softmax is "
            "fine; then its weights have to become 0."
        ),
        "what happens to such rows after the softmax.",
    ),
    (
        "empty-rows-look-at-the-first",
        partial(layer_with, **_opened(lambda m: torch.arange(m.shape[-1]) == 0)),
        "A query with nothing to attend to looks at the first key.",
        "what such rows should give: zeros.",
    ),
    (
        "empty-rows-look-at-themselves",
        partial(layer_with, **_opened(lambda m: torch.eye(m.shape[-1], dtype=torch.bool))),
        "A query with nothing to attend to looks at itself.",
        "what such rows should give: zeros.",
    ),
    (
        "empty-rows-causal",
        partial(layer_with, **_opened(lambda m: torch.ones(m.shape[-2:], dtype=torch.bool).tril())),
        "A query with nothing to attend to looks at everything before it, padding or not.",
        "what such rows should give: zeros.",
    ),
    (
        "empty-rows-nan-to-one",
        partial(layer_with, hide=hide_before, hide_late=lambda w, m: w.nan_to_num(1.0)),
        "NaN is replaced by 1, so such a query adds up all values.",
        "what NaN is replaced by.",
    ),
    (
        "empty-rows-keep-the-token",
        _kept,
        "A query with nothing to attend to keeps its token of `x`. Its attention is 0; `x` is added later.",
        "what is put into such rows.",
    ),
    (
        "whole-sentence-emptied",
        _whole_sentence,
        "As soon as one query of a sentence has nothing to attend to, all of its sentence becomes 0.",
        "`any` and `all`, and the axes that they go along.",
    ),
    (
        "everything-emptied",
        _nothing_poisoned,
        "As soon as one query has nothing to attend to, everything becomes 0: it is a matter of single rows.",
        "a condition on the whole mask.",
    ),
    (
        "masked-rows-all-zero",
        partial(
            layer_with,
            hide=_safe,
            hide_late=lambda w, m: w.masked_fill(~m.all(-1, keepdim=True), 0.0),
        ),
        "Every row in which something is hidden becomes 0. Only rows in which *everything* is hidden should.",
        "`any` and `all`.",
    ),
    (
        "tiny-denominator",
        partial(
            layer_with,
            hide=hide_before,
            soften=lambda s: s.exp() / (s.exp().sum(-1, keepdim=True) + 1),
        ),
        "Something is added to the sum, as if to avoid 0/0. Then no row sums to 1.",
        "the denominator.",
    ),
    (
        "mask-polarity",
        partial(layer_with, hide=lambda s, m: s.masked_fill(m, NEG_INF), hide_late=emptied),
        "The mask is read the wrong way round: the allowed keys are hidden. True = may attend.",
        "`masked_fill` fills where its mask is True.",
    ),
    (
        "over-the-queries",
        partial(layer_with, soften=lambda s: s.softmax(-2).nan_to_num(0.0)),
        "The softmax goes over the queries: columns sum to 1.",
        "the axis of the softmax.",
    ),
)

# With a mask in every call, and rows that may be empty, these stop with an error or are one with others; the
# last one gives numbers around 1e9, of which too few digits are left to know them by.
_LEFT_OUT = {
    *("causal", "mask-infinity-after-softmax", "heads-not-moved", "heads-moved-at-the-end-only"),
    "mask-large-after-softmax",
}

WHOLE_MISTAKES = (
    *(Mistake(*entry) for entry in _EMPTY),
    *(dataclasses.replace(m, alone="") for m in LAYER_MISTAKES if m.id not in _LEFT_OUT),
)
