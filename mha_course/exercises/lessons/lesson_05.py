"""Exercise of lesson 05: concat, the way back from heads to one row a token."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Mistake, Returned, draw, numbered
from mha_course.exercises.mistakes.workbench import (
    merge,
    merge_interleaved,
    merge_reversed,
    merge_without_transpose,
)
from mha_course.exercises.reading.rearranging import rearranged


def merge_heads(x: Tensor) -> Tensor:
    """Lay the heads side by side again: (b, h, n, d_k) -> (b, n, h * d_k)."""
    b, h, n, d_k = x.shape
    # Tokens come before heads again. reshape copies where it must; view would need .contiguous() first.
    return x.transpose(1, 2).reshape(b, n, h * d_k)


def _inputs(g: Generator) -> list[Case]:
    def coded(label: str, b: int, h: int, n: int, d_k: int) -> Case:
        sizes = {"b": b, "h": h, "n": n, "d_k": d_k} | ({"d_model": h * d_k} if min(h, d_k) > 1 else {})
        # Numbers from 1 on: a 0 in the result is then one to which nothing was written.
        return Case(
            label, (numbered(b, h, n, d_k) + 1,), sizes, coded=("sentence", "head", "token", "feature")
        )

    sizes = {"b": 3, "h": 2, "n": 7, "d_k": 5, "d_model": 10}
    return [
        coded("with three heads", 2, 3, 5, 4),
        coded("with two heads", 3, 2, 7, 5),
        coded("with one head", 2, 1, 5, 7),
        Case(
            "with five heads and numbers of both signs",
            (draw(g, 2, 5, 11, 3, spread=3.0),),
            {"b": 2, "h": 5, "n": 11, "d_k": 3, "d_model": 15},
            coded=("sentence", "head", "token", "feature"),
        ),
        coded("with one sentence", 1, 2, 5, 3),
        coded("with one token", 3, 2, 1, 4),
        coded("with one feature a head", 2, 5, 3, 1),
        Case("in float64", (draw(g, 3, 2, 7, 5, dtype=torch.float64),), sizes, required=False),
    ]


def _view_after_transpose(x: Tensor) -> Tensor:
    b, h, n, d_k = x.shape
    return x.transpose(1, 2).view(b, n, h * d_k)


MISTAKES = (
    Mistake(
        "reshape-without-transpose",
        merge_without_transpose,
        (
            "The shape is right, but a row mixes several tokens of one head: `reshape` cuts the row of "
            "numbers in order, and never moves one."
        ),
        "what has to happen before the last two axes are joined.",
    ),
    Mistake(
        "interleaved",
        merge_interleaved,
        "The features of the heads alternate. All of head 1 comes first, then all of head 2.",
        "the order of the two axes that are joined.",
    ),
    Mistake(
        "view-needs-contiguous",
        _view_after_transpose,
        "`view` can't join axes that a transpose has torn apart in memory. (The idea is right.)",
        "the memory order: there is a method that copies when it must.",
    ),
    Mistake(
        "sum-for-concat",
        lambda x: x.sum(1),
        "The heads are added up. Concat keeps all their numbers, side by side.",
        "how the heads are put together.",
    ),
    Mistake(
        "mean-for-concat",
        lambda x: x.mean(1),
        "The heads are averaged. Concat keeps all their numbers, side by side.",
        "how the heads are put together.",
    ),
    Mistake(
        "heads-reversed",
        merge_reversed,
        "The heads stand in reversed order: the last one comes first.",
        "the order in which they are joined.",
    ),
    Mistake(
        "first-head-only", lambda x: x[:, 0], "Only head 1 comes out.", "what becomes of the other heads."
    ),
    Mistake(
        "last-head-only",
        lambda x: x[:, -1],
        "Only the last head comes out.",
        "what becomes of the other heads: is something overwritten?",
    ),
    Mistake(
        "first-head-for-all",
        lambda x: x[:, 0].repeat(1, 1, x.shape[1]),
        "Head 1 stands there {h} times.",
        "the index of the head.",
    ),
    Mistake(
        "still-four-axes",
        lambda x: x.transpose(1, 2),
        "Tokens and heads have changed places, which is right; the last two axes are still apart.",
        "the last step.",
    ),
    Mistake(
        "along-the-tokens",
        lambda x: x.flatten(1, 2),
        (
            "The heads lie behind each other along the tokens, `(b, h * n, d_k)`. The sentence would be {h} "
            "times as long."
        ),
        "the axis along which they are joined.",
    ),
    Mistake(
        "tokens-last",
        lambda x: merge(x).transpose(1, 2),
        "Rows are right, but tokens and features have changed places, `(b, h * d_k, n)`.",
        "the order of the last two axes.",
    ),
    Mistake(
        "batch-and-tokens-merged",
        lambda x: merge(x).flatten(0, 1),
        "Sentences and tokens share one axis, `(b * n, h * d_k)`.",
        "the last step.",
    ),
    Mistake(
        "sentences-reversed",
        lambda x: x.transpose(2, 3).flatten(1, 2).transpose(1, 2).flip(0),
        "The sentences of the batch stand in reversed order.",
        "the first axis: it should stay as it is.",
    ),
    Mistake(
        "wrong-axes-turned",
        lambda x: x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1),
        "The wrong two axes change places (tokens and features), so the rows mix tokens.",
        "which two axes change places.",
    ),
)

EXERCISES = (
    Exercise(
        name="merge_heads",
        lesson="05",
        title="Concat",
        prompt=(
            "Lay the heads of every token side by side: `(b, h, n, d_k)` to `(b, n, h * d_k)`. It undoes "
            "`split_heads`."
        ),
        signature="merge_heads(x) -> (b, n, h * d_k)",
        reference=merge_heads,
        inputs=_inputs,
        returns=(Returned("concatenation", ("b", "n", "d_model")),),
        mistakes=MISTAKES,
        hints=(
            "The split moved an axis last. What is undone first?",
            "Tokens have to stand before heads; then two neighbouring axes become one.",
            "read b, h, n, d_k from the shape\nbring tokens in front of heads\njoin the last two axes",
        ),
        why=(
            "Two axes can be joined when they are neighbours in the right order. The transpose takes care "
            "of that, `reshape` of the memory."
        ),
        twins=("attention.merge_heads",),
        readers=(rearranged,),
    ),
)
