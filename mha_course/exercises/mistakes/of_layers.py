"""Known mistakes of the whole layer: those of its parts, and what can go wrong at the end."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.of_attention import mask_mistakes
from mha_course.exercises.mistakes.of_heads import head_mistakes
from mha_course.exercises.mistakes.of_joining import JOINING, SCALES
from mha_course.exercises.mistakes.of_meeting import MEETING
from mha_course.exercises.mistakes.workbench import interleaved, layer_with, merge_interleaved


def _blocks(w: Tensor, h: int) -> Tensor:
    return w.reshape(h, w.shape[0] // h, -1)


_FUSE = (
    (
        "w_o-left-out",
        {"fuse": lambda c, w, h: c},
        "W_O is left out: this is the concatenation.",
        "the last step.",
    ),
    (
        "w_o-transposed",
        {"fuse": lambda c, w, h: c @ w.T},
        "W_O is transposed (`nn.Linear` keeps it so). Here it multiplies from the right as it is.",
        "`.T` at W_O.",
    ),
    (
        "w_o-blocks-reversed",
        {"fuse": lambda c, w, h: c @ _blocks(w, h).flip(0).flatten(0, 1)},
        "The blocks of W_O meet the wrong heads (or the heads are concatenated in reversed order).",
        "which rows of W_O belong to which head.",
    ),
    (
        "w_o-first-block-for-all",
        {"fuse": lambda c, w, h: c @ _blocks(w, h)[:1].expand(h, -1, -1).flatten(0, 1)},
        "Every head meets the first block of W_O.",
        "which rows of W_O belong to which head.",
    ),
    (
        "w_o-averaged",
        {"fuse": lambda c, w, h: c @ w / h},
        "The output is divided by h. The heads' shares are summed, not averaged.",
        "a division, or a mean over the heads.",
    ),
    ("w_o-twice", {"fuse": lambda c, w, h: c @ w @ w}, "W_O is applied twice.", "the last step."),
    (
        "residual-added",
        {"finish": lambda y, x: y + x},
        "The input is added (a residual connection). That comes in the block, lesson 09; not here.",
        "what is added at the end.",
    ),
    (
        "softmax-at-the-end",
        {"finish": lambda y, x: y.softmax(-1)},
        "A softmax is applied to the output.",
        "the last step.",
    ),
    (
        "layer-norm-at-the-end",
        {"finish": lambda y, x: torch.nn.functional.layer_norm(y, y.shape[-1:])},
        "The output is normalised (LayerNorm). That comes in the block, lesson 09; not here.",
        "the last step.",
    ),
    (
        "w_o-blocks-moved",
        {"fuse": lambda c, w, h: c @ _blocks(w, h).roll(1, 0).flatten(0, 1)},
        "The heads meet the rows of W_O of the head before them: heads or rows are moved on by one place.",
        "which rows of W_O belong to which head.",
    ),
    (
        "output-scaled",
        {"fuse": lambda c, w, h: c @ w / math.sqrt(c.shape[-1] // h)},
        "The output (or the values, or the concatenation) is divided by the root of d_k. Only scores are.",
        "a division behind the softmax.",
    ),
    (
        "output-relu",
        {"finish": lambda y, x: y.relu()},
        "Negative numbers of the output become 0 (a ReLU). That comes in the feed-forward part, lesson 09.",
        "the last step.",
    ),
    (
        "add-and-norm",
        {"finish": lambda y, x: torch.nn.functional.layer_norm(y + x, y.shape[-1:])},
        "The input is added and the sum normalised. That comes in the block, lesson 09; not here.",
        "what happens after W_O.",
    ),
)

_HEADS = (
    (
        "heads-interleaved",
        {"cut": interleaved, "join": merge_interleaved},
        (
            "Each head owns features of the projections that lie {h} apart, and they are put back the same "
            "way. A head owns neighbouring columns."
        ),
        "the two sizes into which the last axis is cut: their order.",
    ),
)

_MASK = (
    (
        "mask-transposed",
        {"hide": lambda s, m: s.masked_fill(~m.transpose(-2, -1), -1e9)},
        "The mask is transposed: rows are queries, columns are keys.",
        "which axis of the mask belongs to the queries.",
    ),
    (
        "mask-not-a-number",
        {"hide": lambda s, m: s + (1 - m.to(s.dtype)) * float("-inf")},
        "0 times infinity is NaN: the open places of the mask spoil all scores.",
        "how a hidden score is made to vanish, and what the others get.",
    ),
    (
        "mask-always-causal",
        {"hide": lambda s, m: s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(), float("-inf"))},
        "The mask is not read: where there is one, a causal mask stands in its place.",
        "what `mask` holds, and where it is used.",
    ),
    (
        "mask-and-causal",
        {"hide": lambda s, m: s.masked_fill(~(m & torch.ones_like(s, dtype=torch.bool).tril()), -1e9)},
        "Besides what the mask hides, later tokens are hidden, too.",
        "a causal mask inside the function.",
    ),
    (
        "mask-in-head-one-only",
        {"hide": lambda s, m: torch.cat([s[:, :1].masked_fill(~_all_axes(m)[:, :1], -1e9), s[:, 1:]], 1)},
        "Only head 1 obeys the mask; the others attend as if there were none.",
        "where in the loop, or along which axis, the mask is used.",
    ),
    (
        "mask-large-after-softmax",
        {"hide": lambda s, m: s, "hide_late": lambda w, m: w.masked_fill(~m, -1e9)},
        "The weights themselves are set to a large negative number. It is the scores that are hidden.",
        "the order of mask and softmax.",
    ),
    (
        "mask-polarity-and-zero",
        {"hide": lambda s, m: s.masked_fill(m, 0.0)},
        "Two things: the mask is read the wrong way round, and a score of 0 hides nothing, since exp(0) = 1.",
        "what True means, and which score has an exponential of 0.",
    ),
    (
        "mask-small-negative",
        {"hide": lambda s, m: s.masked_fill(~m, -10.0)},
        "Hidden scores become -10. That is not low enough: such keys still get some weight.",
        "which score has an exponential of 0.",
    ),
)


def _all_axes(mask: Tensor) -> Tensor:
    return mask.reshape((1,) * (4 - mask.ndim) + tuple(mask.shape))


def _chained(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, *rest: Any) -> Tensor:
    return layer_with(x, w_q, w_q @ w_k, w_q @ w_k @ w_v, *rest)


def _exchanged(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, *rest: Any) -> Tensor:
    return layer_with(x, w_q, w_k, w_o, w_v, *rest)


_WHOLE = (
    Mistake(
        "projected-in-a-chain",
        _chained,
        "Keys are made from the queries, and values from the keys. All three are made from `x`.",
        "what is multiplied by `w_k` and `w_v`: is a name used again?",
    ),
    Mistake(
        "w_v-and-w_o-exchanged",
        _exchanged,
        "W_V and W_O have changed places.",
        "where `w_v` and `w_o` are used.",
    ),
)

# Of the mistakes of heads alone, those that leave the shape as W_O needs it and are not one with another one
# here: heads in other places are blocks of W_O in other places.
_OF_HEADS = {
    "keys-of-the-next-head",
    "values-of-the-next-head",
    "keys-of-the-previous-head",
    "values-of-the-previous-head",
    "first-keys-for-all",
    "first-values-for-all",
    "first-queries-for-all",
    "first-keys-and-values-for-all",
    "keys-averaged",
    "one-map-for-all",
    "scores-added-over-heads",
    "values-cut-by-view",
    "queries-cut-by-view",
    "keys-cut-by-view",
    "heads-not-moved",
    "heads-moved-at-the-end-only",
    "overlapping-slices",
    "columns-shifted",
    "h-and-d_k-swapped",
    "query-matrix-transposed",
    "key-matrix-transposed",
    "value-matrix-transposed",
    "query-and-key-matrices-transposed",
    "values-for-keys",
    "matrices-reshaped",
    "fused-product-cut-otherwise",
    "projected-twice",
    "causal",
    "anti-causal",
    "itself-hidden",
    "opposite-scores",
    "values-added",
    "scaled-after-softmax",
    "batch-and-heads-swapped",
    "heads-and-batch-swapped",
    "heads-in-front-reshaped",
    "heads-added-up-so-far",
    "sum-in-every-place",
    "mean-in-every-place",
}
_ELSEWHERE = {"heads-reversed"}  # one with W_O's blocks reversed

# Made so often that they are also looked for together with any other.
_OFTEN = {
    "w_o-left-out",
    "w_o-transposed",
    "residual-added",
    "mask-ignored",
    "mask-polarity",
    "mask-after-softmax",
    "no-scale",
    "scale-sqrt-d_model",
    "over-the-queries",
    "no-softmax",
    "queries-and-keys-swapped",
    "projections-transposed",
    "view-without-transpose",
    "merge-without-transpose",
}


_OR = {
    "mask-infinity-after-softmax": " (Or hidden scores become +inf: a minus is missing.)",
    "merge-interleaved": " (Or each head meets rows of W_O that lie {h} apart: the same.)",
}


def _listed() -> tuple[Mistake, ...]:
    entries = (*_FUSE, *_HEADS, *_MASK, *(e for e in (*MEETING, *JOINING) if e[0] in _OF_HEADS), *SCALES)
    own = [Mistake(i, partial(layer_with, **change), says, look) for i, change, says, look in entries]
    all_of_them = (*own, *mask_mistakes(layer_with), *head_mistakes(layer_with, heads_alone=False), *_WHOLE)
    return tuple(
        replace(m, often=m.id in _OFTEN, says=m.says + _OR.get(m.id, ""))
        for m in all_of_them
        if m.id not in _ELSEWHERE
    )


LAYER_MISTAKES = _listed()
