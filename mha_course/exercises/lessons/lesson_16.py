"""Exercises of lesson 16, from scratch: the mask, and the whole layer behind it."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned
from mha_course.exercises.lessons.lesson_04_heads import projected
from mha_course.exercises.lessons.lesson_07 import EXERCISES as OF_LESSON_07
from mha_course.exercises.lessons.lesson_07 import drawn_whole_numbers
from mha_course.exercises.mistakes.of_allowed_keys import ALLOWED_MISTAKES
from mha_course.exercises.mistakes.of_whole_attention import WHOLE_MISTAKES
from mha_course.exercises.mistakes.workbench import hide_with_large_negative
from mha_course.exercises.reading.afterwards import done_afterwards
from mha_course.exercises.reading.as_another import AsAnother
from mha_course.exercises.reading.at_once import loops_counted
from mha_course.exercises.reading.decoder_masks import read_decoder_mask
from mha_course.exercises.reading.layer_shapes import shape_of_a_layer
from mha_course.exercises.reading.on_the_way import on_the_way_of_layer
from mha_course.exercises.reading.whole_layer import (
    ordinary_rows,
    read_rows_of_layer,
    with_full_mask,
    wrong_rows_zeroed,
)


def allowed_keys(lengths: Tensor, n: int) -> Tensor:
    """No later words and no padding: (b, 1, n, n) bool, True = may attend."""
    position = torch.arange(n, device=lengths.device)
    earlier = position[None, :] <= position[:, None]  # (n, n): keys along, queries down
    real = position[None, :] < lengths[:, None]  # (b, n): of an empty sentence nothing is
    return earlier & real[:, None, None, :]


def whole_attention(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int, allowed: Tensor
) -> Tensor:
    """The whole layer on itself, all heads at once: (b, n, d_model) -> (b, n, d_model)."""
    b, n, d_model = x.shape
    d_k = d_model // h
    q, k, v = ((x @ w).view(b, n, h, d_k).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)  # (b, h, n, n)
    empty = ~allowed.any(dim=-1, keepdim=True)
    # A row of nothing but -inf would give 0/0: such rows go through with ordinary numbers, then become 0.
    scores = scores.masked_fill(~allowed, float("-inf")).masked_fill(empty, 0.0)
    weights = torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)
    concat = (weights @ v).transpose(1, 2).reshape(b, n, d_model)
    return concat @ w_o


def drawn_allowed(g: Generator, b: int, n: int, empty: bool) -> Tensor:
    """A mask for each sentence, in no pattern: (b, 1, n, n). empty: some rows hold no True, at least two."""
    allowed = torch.rand(b, 1, n, n, generator=g) < 0.5
    rows = torch.arange(n)
    # Every row gets a place of its own choice, another one in each sentence.
    first = (2 * rows + torch.arange(b)[:, None]) % n
    allowed |= (rows == first[..., None])[:, None]
    if empty:
        allowed[-1, :, n // 2] = False
        allowed[0, :, -1] = False
    return allowed


def _mask_inputs(g: Generator) -> list[Case]:
    def case(label: str, lengths: list[int], n: int) -> Case:
        return Case(label, (torch.tensor(lengths), n), {"b": len(lengths), "n": n})

    return [
        case("for sentences of different lengths", [4, 2, 5], 6),
        case("for sentences of different lengths", [3, 6, 1, 5], 7),
        case("where a sentence is empty", [3, 0], 5),
        case("where a sentence is empty", [0, 2, 4], 8),
    ]


def _layer_inputs(g: Generator) -> list[Case]:
    def case(
        label: str, b: int, n: int, h: int, d_k: int, lengths: list[int] | None = None, **options: bool
    ) -> Case:
        dtype = torch.float64 if label == "in float64" else torch.float32
        given = projected(g, b, n, h * d_k, 4, dtype)
        empty = options.get("edge", False)
        allowed = drawn_allowed(g, b, n, empty) if lengths is None else allowed_keys(torch.tensor(lengths), n)
        sizes = {"b": b, "n": n, "d_model": h * d_k, "h": h} | ({"d_k": d_k} if h > 1 else {})
        return Case(label, (*given, h, allowed), sizes, **options)

    def whole_numbers(label: str, times: int, **options: bool) -> Case:
        """What is hidden by a number that is not low enough shows where scores are large."""
        sizes = {"b": 2, "n": 5, "d_model": 12, "h": 3, "d_k": 4}
        return Case(
            label, (*drawn_whole_numbers(g, times), 3, drawn_allowed(g, 2, 5, False)), sizes, **options
        )

    return [
        case("with padding and order", 2, 5, 3, 4, [4, 3]),
        case("with padding and order", 3, 7, 2, 5, [2, 7, 5]),
        case("with one head", 2, 5, 1, 6, [3, 5]),
        case("with one sentence", 1, 4, 3, 5, [3]),
        case("with another pattern in each sentence", 3, 6, 2, 4),
        whole_numbers("with large scores", 1),
        case("where queries may attend to nothing", 3, 5, 2, 4, edge=True),
        case("where a sentence is empty", 3, 7, 2, 5, [4, 0, 6], edge=True),
        case("in float64", 2, 5, 3, 4, [4, 3], required=False),
        whole_numbers("with very large scores", 4, required=False),
    ]


_AS_LAYER = AsAnother(
    next(exercise for exercise in OF_LESSON_07 if exercise.name == "multi_head_attention"),
    "whole_attention, as the layer of lesson 07",
    with_full_mask,
    labels={"without a mask": "with everything allowed"},
)

EXERCISES = (
    Exercise(
        name="allowed_keys",
        lesson="16",
        title="Who may look",
        prompt=(
            "Who may look at whom, in one mask. `lengths` is a tensor `(b,)`, the number of real words of "
            "each sentence; after them stands padding, up to `n`. A word sees itself and earlier words, and "
            "nobody sees padding. In a sentence of length 0 there is nothing to see. Return `(b, 1, n, n)`, "
            "boolean, True = may attend; query down, key along."
        ),
        signature="allowed_keys(lengths, n) -> (b, 1, n, n)",
        reference=allowed_keys,
        inputs=_mask_inputs,
        returns=(Returned("mask", ("b", "1", "n", "n"), kind="bool"),),
        mistakes=ALLOWED_MISTAKES,
        hints=(
            "Two rules: one about order, the same for every sentence; one about lengths, the same for every "
            "query. When is a key open?",
            "One mask `(n, n)`, one `(b, 1, 1, n)`; a key is open where both are True.",
            "earlier = key at or before the query\nreal = key below the sentence's length\nboth at once",
        ),
        why=(
            "Both masks broadcast to the same four axes; the 1 stands for every head. Rows of an empty "
            "sentence are all False, which the layer has to bear."
        ),
        twins=("masks.causal_mask", "masks.padding_mask"),
        readers=(read_decoder_mask,),
    ),
    Exercise(
        name="whole_attention",
        lesson="16",
        title="The layer in one go",
        prompt=(
            "The whole layer from `x` to its output: project, split, attend, concat, fuse. `x` is `(b, n, "
            "d_model)`; the four matrices are `(d_model, d_model)` and multiply from the right. `allowed` is "
            "a mask as in `allowed_keys`, `(b, 1, n, n)`, and some of its rows may be all False: such a "
            "query attends to nothing, and its output is 0. Return `(b, n, d_model)`; gradients must be "
            "finite, too. Loops pass, with a remark on what they cost."
        ),
        signature="whole_attention(x, w_q, w_k, w_v, w_o, h, allowed) -> (b, n, d_model)",
        reference=whole_attention,
        inputs=_layer_inputs,
        returns=(Returned("output", ("b", "n", "d_model")),),
        mistakes=WHOLE_MISTAKES,
        hints=(
            "Six products: three projections, scores, a weighted sum, W_O. Which shapes stand between them?",
            "Heads belong in front: `(b, h, n, d_k)`. Rows of `allowed` without any True need care before "
            "the softmax, and after it.",
            (
                "q, k, v = projections, split into heads\nscores = products, scaled; hide what is not "
                "allowed\ngive empty rows ordinary numbers\nweights = softmax of each row; empty rows become "
                "0\nweights times v, heads side by side, times W_O"
            ),
        ),
        why=(
            "Sentences and heads stand in front of every product, so no loop is needed. An empty row is kept "
            "away from 0/0 before the softmax and set to 0 after it, and so its gradients are finite."
        ),
        styles=({"hide": hide_with_large_negative},),
        twins=(
            "layers.MultiHeadAttention.forward",
            "layers.MultiHeadAttention.trace",
            "attention.scaled_dot_product_attention",
            "attention.masked_softmax",
            "attention.split_heads",
            "attention.merge_heads",
        ),
        finite_gradients=True,
        reads=wrong_rows_zeroed,
        readers=(read_rows_of_layer, done_afterwards, shape_of_a_layer, ordinary_rows(_AS_LAYER)),
        on_the_way=on_the_way_of_layer,
        inspects=loops_counted,
    ),
)
