"""Known mistakes on the way into the heads and out of them: project, cut, join."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.mistakes.workbench import (
    first_for_all,
    interleaved,
    merge,
    merge_interleaved,
    merge_reversed,
    merge_without_transpose,
    without_transpose,
)


def _slice_by_slice(x: Tensor, w: Tensor, h: int) -> Tensor:
    """Slice i of the input times block (i, i) of the matrix."""
    keep = torch.block_diag(*[torch.ones(x.shape[-1] // h, x.shape[-1] // h)] * h)
    return x @ (w * keep.to(w.dtype))


# id, the step that is wrong, what to say, where to look
CUTTING = (
    (
        "projections-transposed",
        {"take": lambda h, w_q, w_k, w_v: (w_q.T, w_k.T, w_v.T)},
        (
            "The matrices are transposed (`nn.Linear` keeps them so). Here they multiply from the right as "
            "they are."
        ),
        "`.T`, or rows of the matrices where columns belong to a head.",
    ),
    (
        "input-sliced",
        {"project": _slice_by_slice},
        (
            "Each head sees only its own slice of the input. Every head reads all d_model features; it is "
            "the *projection* that is cut."
        ),
        "what is cut: `x` or `x @ w`.",
    ),
    (
        "view-without-transpose",
        {"cut": without_transpose},
        "The split is `view` alone: heads hold pieces of several tokens, in the right shape.",
        "how `(b, n, d_model)` becomes `(b, h, n, d_k)`.",
    ),
    (
        "interleaved",
        {"cut": interleaved},
        (
            "The split deals features out like cards: head 1 gets features 0, {h}, ... It should get "
            "neighbours."
        ),
        "the two sizes into which the last axis is cut: their order.",
    ),
    (
        "first-slice-for-all",
        {"cut": first_for_all},
        "Every head works with the first slice of the projection: they are all head 1.",
        "the start and end of the slice: they should move with the head.",
    ),
    (
        "heads-not-split",
        {"cut": lambda x, h: x.unsqueeze(1), "join": lambda z: z[:, 0]},
        "The heads are not split: there is one head of full width.",
        "where `h` is used.",
    ),
    (
        "merge-without-transpose",
        {"join": merge_without_transpose},
        "The heads are put together by `reshape` alone, so rows mix several tokens.",
        "how `(b, h, n, d_k)` becomes `(b, n, d_model)`.",
    ),
    (
        "merge-interleaved",
        {"join": merge_interleaved},
        "Put together, the heads' features alternate. All of head 1 comes first.",
        "the order of the two axes that are joined.",
    ),
    (
        "heads-reversed",
        {"join": merge_reversed},
        "The heads are put together in reversed order.",
        "the order in the concatenation.",
    ),
    (
        "last-head-for-all",
        {"join": lambda z: z[:, -1].repeat(1, 1, z.shape[1])},
        "The last head stands in the places of all: what came before is overwritten.",
        "what the loop keeps.",
    ),
    (
        "only-first-head-kept",
        {"join": lambda z: merge(torch.cat([z[:, :1], torch.zeros_like(z[:, 1:])], 1))},
        "Only head 1 is there; the places of the others are 0.",
        "the loop: does it return too early?",
    ),
    (
        "only-last-head-kept",
        {"join": lambda z: merge(torch.cat([torch.zeros_like(z[:, :-1]), z[:, -1:]], 1))},
        "Only the last head is there; the places of the others are 0.",
        "whether the loop starts afresh each time.",
    ),
)

# Only where nothing comes behind the concatenation: another shape tells these apart.
SHAPES = (
    (
        "sum-for-concat",
        {"join": lambda z: z.sum(1)},
        "The heads are added up. Concat keeps all their numbers, side by side.",
        "how the heads are put together.",
    ),
    (
        "mean-for-concat",
        {"join": lambda z: z.mean(1)},
        "The heads are averaged. Concat keeps all their numbers, side by side.",
        "how the heads are put together.",
    ),
    (
        "not-concatenated",
        {"join": lambda z: z},
        "The heads still have an axis of their own, `(b, h, n, d_k)`.",
        "the last step.",
    ),
    (
        "stacked-behind-tokens",
        {"join": lambda z: z.transpose(1, 2)},
        "The heads still have an axis of their own, `(b, n, h, d_k)`.",
        "the last step.",
    ),
    (
        "along-the-tokens",
        {"join": lambda z: z.flatten(1, 2)},
        "The heads lie behind each other along the tokens, `(b, h * n, d_k)`.",
        "the axis of `torch.cat`.",
    ),
    (
        "stacked-in-front",
        {"join": lambda z: z.transpose(0, 1)},
        "The heads are stacked in front, `(h, b, n, d_k)`.",
        "how the loop's results are put together.",
    ),
    (
        "along-the-batch",
        {"join": lambda z: z.transpose(0, 1).flatten(0, 1)},
        "The heads lie behind each other along the batch, `(h * b, n, d_k)`.",
        "the axis of `torch.cat`.",
    ),
    ("last-head-only", {"join": lambda z: z[:, -1]}, "Only the last head comes out.", "what the loop keeps."),
    (
        "first-head-only",
        {"join": lambda z: z[:, 0]},
        "Only head 1 comes out.",
        "the loop: does it return too early?",
    ),
)

# What is only true where nothing else is wrong: in these the heads themselves are right.
_RIGHT_HEADS = (
    "merge-without-transpose",
    "merge-interleaved",
    "heads-reversed",
    "not-concatenated",
    "stacked-behind-tokens",
    "stacked-in-front",
)
ALONE = dict.fromkeys(_RIGHT_HEADS, "The heads are right.")
