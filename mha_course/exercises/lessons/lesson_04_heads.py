"""Exercises of lesson 04: all heads, once in a loop and once as one batched product."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_heads import head_mistakes
from mha_course.exercises.mistakes.workbench import heads_with
from mha_course.exercises.reading.heads import read_all_heads
from mha_course.exercises.reading.on_the_way import on_the_way_of_heads
from mha_course.exercises.reading.plainly import read_plainly


def loop_heads(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    """One head after the other, then concat: x (b, n, d_model) -> (b, n, d_model)."""
    d_k = x.shape[-1] // h
    heads = []
    for i in range(h):
        mine = slice(i * d_k, (i + 1) * d_k)  # head i's columns of the big matrices
        q, k, v = x @ w_q[:, mine], x @ w_k[:, mine], x @ w_v[:, mine]
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(d_k), dim=-1)
        heads.append(weights @ v)  # (b, n, d_k)
    return torch.cat(heads, dim=-1)


def batched_heads(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, h: int) -> Tensor:
    """All heads at once, without a loop: x (b, n, d_model) -> (b, n, d_model)."""
    b, n, d_model = x.shape
    d_k = d_model // h

    def split(y: Tensor) -> Tensor:
        return y.view(b, n, h, d_k).transpose(1, 2)  # (b, h, n, d_k)

    q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
    # The last two axes are multiplied; sentences and heads in front are treated alike.
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(d_k), dim=-1)
    return (weights @ v).transpose(1, 2).reshape(b, n, d_model)


def projected(
    g: Generator, b: int, n: int, d_model: int, matrices: int, dtype: torch.dtype = torch.float32
) -> list[Tensor]:
    """x and square matrices; queries and keys come out with a spread of 1, so that softmax stays soft."""
    weights = [draw(g, d_model, d_model, spread=d_model**-0.5, dtype=dtype) for _ in range(matrices)]
    return [draw(g, b, n, d_model, dtype=dtype), *weights]


def _inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n: int, h: int, d_k: int, spread: float = 1.0, **options: Any) -> Case:
        dtype = torch.float64 if label == "in float64" else torch.float32
        x, *matrices = projected(g, b, n, h * d_k, 3, dtype)
        sizes = {"b": b, "n": n, "d_model": h * d_k, "h": h} | ({"d_k": d_k} if h > 1 else {})
        return Case(label, (x * spread, *matrices, h), sizes, **options)

    return [
        case("with three heads", 2, 5, 3, 4),
        case("with five heads", 4, 7, 5, 3),  # more heads than features a head
        case("with one head", 2, 5, 1, 6),
        case("for one sentence", 1, 5, 3, 4, edge=True),
        case("for sentences of one token", 2, 1, 3, 4, edge=True),
        # `exp` of such scores overflows. NaN shows that by itself; a wrong number would not.
        case("with large scores", 2, 5, 3, 4, spread=12.0, required=False, loud=True),
        case("in float64", 2, 5, 3, 4, required=False),
    ]


_RETURNS = (Returned("concatenation", ("b", "n", "d_model")),)
_MISTAKES = head_mistakes(heads_with, heads_alone=True)

EXERCISES = (
    Exercise(
        name="loop_heads",
        lesson="04",
        title="Heads in a loop",
        prompt=(
            "`x` is `(b, n, d_model)`, the three matrices are `(d_model, d_model)` and multiply from the "
            "right. Head `i` owns columns `i * d_k` to `(i + 1) * d_k - 1`. Attend in every head with a "
            "loop (`check` can't see how you did it; this is for you), and return the concatenation "
            "`(b, n, d_model)`."
        ),
        signature="loop_heads(x, w_q, w_k, w_v, h) -> (b, n, d_model)",
        reference=loop_heads,
        inputs=_inputs,
        returns=_RETURNS,
        mistakes=_MISTAKES,
        readers=(read_plainly, read_all_heads),
        on_the_way=on_the_way_of_heads,
        hints=(
            "Write one head first. The loop changes only which columns it uses.",
            "`w_q[:, i * d_k : (i + 1) * d_k]` are head i's columns. Collect the results in a list.",
            (
                "d_k = d_model / h\nfor each head:\n    q, k, v = x times the head's columns\n    weights = "
                "softmax of scaled scores\n    keep weights times v\njoin along the features"
            ),
        ),
        why="Nothing is shared between the rounds of the loop: heads don't see each other before W_O.",
        twins=("exercises.lessons.lesson_04_heads.batched_heads",),
    ),
    Exercise(
        name="batched_heads",
        lesson="04",
        title="All heads at once",
        prompt=(
            "The same as `loop_heads`, without a loop: project with the big matrices, split, attend in all "
            "heads with one batched product, merge. (`check` can't see how you did it; this is for you.)"
        ),
        signature="batched_heads(x, w_q, w_k, w_v, h) -> (b, n, d_model)",
        reference=batched_heads,
        inputs=_inputs,
        returns=_RETURNS,
        mistakes=_MISTAKES,
        readers=(read_plainly, read_all_heads),
        on_the_way=on_the_way_of_heads,
        hints=(
            "You have all parts: split, scores, softmax, weighted sum, merge.",
            (
                "`@` multiplies the last two axes and treats all axes in front as a batch. Where must the "
                "axis of heads stand?"
            ),
            (
                "q, k, v = x times the big matrices, each split: (b, h, n, d_k)\nweights = softmax of "
                "scaled scores: (b, h, n, n)\nheads = weights times v\nmerge"
            ),
        ),
        why="A batched product treats heads as it treats sentences: as independent matrices.",
        twins=("exercises.lessons.lesson_04_heads.loop_heads",),
    ),
)
