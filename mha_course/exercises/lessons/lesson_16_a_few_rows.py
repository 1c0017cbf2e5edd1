"""The exercise of lesson 16 on memory: the same layer, with the scores of a few queries at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.exercise import Case, Exercise, Returned
from mha_course.exercises.lessons.lesson_04_heads import projected
from mha_course.exercises.lessons.lesson_16 import EXERCISES as OF_LESSON_16
from mha_course.exercises.lessons.lesson_16 import allowed_keys, drawn_allowed
from mha_course.exercises.mistakes.of_frugal_attention import FRUGAL_MISTAKES
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.afterwards import done_afterwards
from mha_course.exercises.reading.as_another import AsAnother
from mha_course.exercises.reading.block_rows import read_block_rows
from mha_course.exercises.reading.layer_shapes import shape_of_a_layer
from mha_course.exercises.reading.room import scores_at_once
from mha_course.exercises.reading.whole_layer import read_rows_of_layer, wrong_rows_zeroed


def frugal_attention(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int, allowed: Tensor, rows: int
) -> Tensor:
    """The whole layer, with the scores of at most `rows` queries at once: (b, n, d_model) of the same."""
    b, n, d_model = x.shape
    d_k = d_model // h
    q, k, v = ((x @ w).view(b, n, h, d_k).transpose(1, 2) for w in (w_q, w_k, w_v))
    blocks = []
    for start in range(0, n, rows):
        mine = slice(start, start + rows)  # a slice ends with the tensor: the last block may be shorter
        scores = q[:, :, mine] @ k.transpose(-2, -1) / math.sqrt(d_k)  # (b, h, rows, n)
        here = allowed[:, :, mine]
        # A row is whole in its block, so its softmax needs nothing from elsewhere.
        weights = scores.masked_fill(~here, torch.finfo(x.dtype).min).softmax(dim=-1)
        # Rows with nothing to attend to got equal weights; what is not allowed is 0 in every row.
        blocks.append((weights * here) @ v)
    heads = torch.cat(blocks, dim=2)
    return heads.transpose(1, 2).reshape(b, n, d_model) @ w_o


def _inputs(g: Generator) -> list[Case]:
    def case(
        label: str,
        b: int,
        n: int,
        h: int,
        d_k: int,
        rows: int,
        lengths: list[int] | None = None,
        **options: bool,
    ) -> Case:
        dtype = torch.float64 if label == "in float64" else torch.float32
        given = projected(g, b, n, h * d_k, 4, dtype)
        empty = options.get("edge", False)
        allowed = drawn_allowed(g, b, n, empty) if lengths is None else allowed_keys(torch.tensor(lengths), n)
        sizes = {"b": b, "n": n, "d_model": h * d_k, "h": h} | ({"d_k": d_k} if h > 1 else {})
        return Case(label, (*given, h, allowed, rows), sizes | {"rows": rows}, **options)

    return [
        case("where the last block is shorter", 2, 11, 3, 5, 4),
        case("where the last block is shorter", 3, 7, 2, 4, 5, [2, 7, 6]),
        case("where `rows` divides n", 5, 12, 2, 4, 3),
        case("with one row at a time", 2, 5, 3, 4, 1, [4, 3]),
        case("with all rows at once", 3, 5, 2, 4, 5),
        case("with more rows than there are", 2, 4, 3, 5, 7),
        case("where queries may attend to nothing", 3, 7, 2, 4, 5, edge=True),
        case("in float64", 2, 11, 3, 5, 4, required=False),
    ]


def _all_rows_at_once(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of `whole_attention` with one block for all queries."""
    return (*arguments, arguments[0].shape[1])


_AS_WHOLE = AsAnother(
    next(exercise for exercise in OF_LESSON_16 if exercise.name == "whole_attention"),
    "frugal_attention, with all rows at once",
    _all_rows_at_once,
)


def _in_one_block(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """What is wrong even where one block holds all queries: then it is nothing about blocks."""
    return None if evidence.cases[i].edge else _AS_WHOLE.read(call)


EXERCISES = (
    Exercise(
        name="frugal_attention",
        lesson="16",
        title="A few rows at a time",
        prompt=(
            "The same output as `whole_attention`, in less memory: at most `rows` queries may have their "
            "scores at once. Take the queries in blocks of `rows`; where `rows` does not divide `n`, the "
            "last block is shorter. Rows of `allowed` may be all False again. Return `(b, n, d_model)`. The "
            "check looks at every tensor that you make, with long sentences: none may hold more floats than "
            "the scores of one block, `b * h * rows * n`, and blocks that are done may not be kept."
        ),
        signature="frugal_attention(x, w_q, w_k, w_v, w_o, h, allowed, rows) -> (b, n, d_model)",
        reference=frugal_attention,
        inputs=_inputs,
        returns=(Returned("output", ("b", "n", "d_model")),),
        mistakes=FRUGAL_MISTAKES,
        hints=(
            "What does one row of weights need: one query, and of the keys and values which?",
            "Queries and rows of `allowed` are cut in the same places; keys and values stay whole.",
            (
                "q, k, v as before\nfor each start = 0, rows, 2 * rows, ...: scores of these queries with "
                "all keys, their rows of `allowed`, softmax, times v\njoin the blocks along the queries, "
                "then the heads, then W_O"
            ),
        ),
        why=(
            "A softmax needs its whole row and no other one, so queries can be taken in blocks and nothing "
            "changes but the memory: rows times n in place of n times n. Fused kernels cut the keys as well, "
            "and carry the sums along (Dao et al. 2022). In training, gradients would keep the weights of "
            "every block all the same, unless these are computed again on the way back."
        ),
        twins=next(exercise.twins for exercise in OF_LESSON_16 if exercise.name == "whole_attention"),
        finite_gradients=True,
        reads=wrong_rows_zeroed,
        readers=(read_rows_of_layer, done_afterwards, shape_of_a_layer, _in_one_block, read_block_rows),
        inspects=scores_at_once,
    ),
)
