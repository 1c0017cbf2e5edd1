"""Exercises of lesson 07: parameters, FLOPs, and the whole layer."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.lessons.lesson_04_heads import projected
from mha_course.exercises.mistakes.of_layers import LAYER_MISTAKES
from mha_course.exercises.mistakes.of_lesson_07 import COUNT_MISTAKES, FLOP_MISTAKES
from mha_course.exercises.mistakes.workbench import hide_with_large_negative
from mha_course.exercises.reading.afterwards import done_afterwards
from mha_course.exercises.reading.changed_on_the_way import changed_on_the_way
from mha_course.exercises.reading.counted_operations import read_operations
from mha_course.exercises.reading.counted_parameters import read_parameters
from mha_course.exercises.reading.layer import read_layer
from mha_course.exercises.reading.layer_roles import exchanged_roles
from mha_course.exercises.reading.layer_shapes import shape_of_a_layer
from mha_course.exercises.reading.on_the_way import on_the_way_of_layer


def parameter_count(d_model: int, h: int, bias: bool) -> int:
    """Learned numbers of the layer: four square matrices, and a bias for each if there are any."""
    d_k = d_model // h
    per_head = 3 * d_model * d_k  # W_Q, W_K and W_V of one head
    # h times as many heads, each h times as narrow: h cancels out.
    weights = h * per_head + d_model * d_model
    return weights + (4 * d_model if bias else 0)


def flop_count(n: int, d_model: int, h: int) -> int:
    """Operations of the matrix products for one sentence of n tokens; a multiply-add counts as two."""
    # A head's share of the width is d_k, so h heads together cost what one wide head would.
    d_k = d_model // h
    projections = 4 * 2 * n * d_model * d_model  # queries, keys, values and W_O
    scores = h * 2 * n * n * d_k
    weighted_sum = h * 2 * n * n * d_k
    return projections + scores + weighted_sum


def multi_head_attention(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int, mask: Tensor | None = None
) -> Tensor:
    """The whole layer on itself: (b, n, d_model) -> (b, n, d_model). mask: True = may attend."""
    b, n, d_model = x.shape
    d_k = d_model // h
    q, k, v = ((x @ w).view(b, n, h, d_k).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)  # (b, h, n, n)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    heads = torch.softmax(scores, dim=-1) @ v
    # Until here no head has seen another one. W_O is where they meet.
    concat = heads.transpose(1, 2).reshape(b, n, d_model)
    return concat @ w_o


def _count_inputs(g: Generator) -> list[Case]:
    def case(d_model: int, h: int, bias: bool) -> Case:
        label = "with biases" if bias else "without biases"
        return Case(label, (d_model, h, bias), {"d_model": d_model, "h": h})

    return [case(12, 3, False), case(512, 8, False), case(12, 3, True), case(512, 8, True), case(10, 5, True)]


def _flop_inputs(g: Generator) -> list[Case]:
    return [
        Case("with several heads", (n, d_model, h), {"n": n, "d_model": d_model, "h": h})
        for n, d_model, h in ((5, 12, 3), (10, 512, 8), (128, 64, 4))
    ] + [Case("with one head", (7, 20, 1), {"n": 7, "d_model": 20, "h": 1})]


def drawn_whole_numbers(g: Generator, times: int) -> tuple[Tensor, ...]:
    """x (2, 5, 12) and four matrices whose scores every order of the sums gives exactly, and large ones.

    With three heads all scores of head 1 are far below 0. times: factor of x.
    """
    x = torch.randint(-1, 2, (2, 5, 12), generator=g).float()
    w_q, w_k = (torch.randint(-1, 2, (12, 12), generator=g).float() for _ in range(2))
    x[..., 0], w_q[0, :4], w_k[0, :4] = 2.0, torch.tensor([3.0, 2.0, 3.0, 2.0]), -2.0
    w_v, w_o = (draw(g, 12, 12, spread=0.3) for _ in range(2))
    return times * x, w_q, w_k, w_v, w_o


def _layer_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n: int, h: int, d_k: int, mask: Tensor | None, **options: bool) -> Case:
        dtype = torch.float64 if label == "in float64" else torch.float32
        sizes = {"b": b, "n": n, "d_model": h * d_k, "h": h} | ({"d_k": d_k} if h > 1 else {})
        return Case(label, (*projected(g, b, n, h * d_k, 4, dtype), h, mask), sizes, **options)

    def causal(n: int) -> Tensor:
        return torch.ones(n, n, dtype=torch.bool).tril()

    def whole_numbers(label: str, mask: Tensor, times: int, **options: bool) -> Case:
        sizes = {"b": 2, "n": 5, "d_model": 12, "h": 3, "d_k": 4}
        return Case(label, (*drawn_whole_numbers(g, times), 3, mask), sizes, **options)

    # Neither causal nor symmetric, and every row has an open place.
    gaps = (torch.arange(5)[:, None] * 2 + torch.arange(5)[None, :] * 3) % 5 < 3
    lengths = (torch.arange(5)[None, :] < torch.tensor([4, 3])[:, None])[:, None, None, :]
    by_head = torch.stack([gaps, causal(5), gaps.T]).expand(2, 3, 5, 5)
    # An answer for masks of two axes is worth a remark; one that takes these and hides other keys is wrong.
    if_taken = {"required": False, "loud": True}
    return [
        case("without a mask", 2, 5, 3, 4, None),
        case("without a mask", 3, 7, 2, 5, None),
        case("with one head", 2, 5, 1, 6, None),
        case("with one sentence", 1, 4, 3, 5, None),
        case("with a causal mask", 2, 5, 3, 4, causal(5)),
        case("with a causal mask", 3, 7, 2, 5, causal(7)),
        # What is hidden by a number that is not low enough shows where scores are large.
        whole_numbers("with a mask of another pattern", gaps, 1),
        case("with a padding mask `(b, 1, 1, n)`", 2, 5, 3, 4, lengths, **if_taken),
        case("with a mask `(b, 1, n, n)`", 2, 5, 3, 4, lengths & causal(5), **if_taken),
        case("with a mask `(b, h, n, n)`", 2, 5, 3, 4, by_head, required=False),
        case("in float64", 2, 5, 3, 4, None, required=False),
        whole_numbers("with very large scores", gaps, 4, required=False),
    ]


EXERCISES = (
    Exercise(
        name="parameter_count",
        lesson="07",
        title="Parameters",
        prompt=(
            "How many learned numbers has the layer? d_k = d_v = d_model / h; `bias` says whether each of "
            "the four projections adds one. Return an `int`."
        ),
        signature="parameter_count(d_model, h, bias) -> int",
        reference=parameter_count,
        inputs=_count_inputs,
        returns=(Returned("count", kind="number"),),
        mistakes=COUNT_MISTAKES,
        hints=(
            "How many matrices, and of which shapes? Write it for one head, then for h.",
            (
                "One head has three matrices of shape (d_model, d_k). What do h of them hold together? Then "
                "comes W_O."
            ),
            "weights = four matrices of d_model by d_model\nif there are biases: four more rows of d_model",
        ),
        why="h heads of width d_model / h are as large together as one head of width d_model: h cancels out.",
        twins=("cost.parameter_count",),
        readers=(read_parameters,),
    ),
    Exercise(
        name="flop_count",
        lesson="07",
        title="FLOPs",
        prompt=(
            "How many floating-point operations do the matrix products of one forward pass take, for one "
            "sentence of `n` tokens? A multiply-add counts as two; softmax and scaling are left out. Return "
            "an `int`."
        ),
        signature="flop_count(n, d_model, h) -> int",
        reference=flop_count,
        inputs=_flop_inputs,
        returns=(Returned("count", kind="number"),),
        mistakes=FLOP_MISTAKES,
        hints=(
            "List the matrix products from x to the output: there are four outside the heads, two inside.",
            "A product (m, k) @ (k, p) has m * p results of k multiply-adds each.",
            (
                "four projections: (n, d_model) @ (d_model, d_model)\nfor each head: (n, d_k) @ (d_k, n), "
                "and (n, n) @ (n, d_k)\ntwo operations a multiply-add"
            ),
        ),
        why="8 n d_model² + 4 n² d_model: the heads share the width, so h cancels out again.",
        twins=("cost.attention_flops",),
        readers=(read_operations,),
    ),
    Exercise(
        name="multi_head_attention",
        lesson="07",
        title="The whole layer",
        prompt=(
            "Project, split, attend in every head, concat, fuse. `x` is `(b, n, d_model)`, the four "
            "matrices are `(d_model, d_model)` and multiply from the right. `mask` is None or boolean, True "
            "= may attend, one for all heads: `(n, n)`. A complete layer takes lesson 04's `(b, 1, 1, n)` "
            "(padding) and `(b, 1, n, n)` (both) as well. Return `(b, n, d_model)`."
        ),
        signature="multi_head_attention(x, w_q, w_k, w_v, w_o, h, mask=None) -> (b, n, d_model)",
        reference=multi_head_attention,
        inputs=_layer_inputs,
        returns=(Returned("output", ("b", "n", "d_model")),),
        mistakes=LAYER_MISTAKES,
        readers=(done_afterwards, shape_of_a_layer, exchanged_roles, changed_on_the_way, read_layer),
        on_the_way=on_the_way_of_layer,
        hints=(
            "You have written every part: batched_heads, a mask, and what comes after the concatenation.",
            "Five steps: project, split, attend (with the mask before the softmax), concat, W_O.",
            (
                "q, k, v = projections, split into heads\nscores = products, scaled; hide what the mask "
                "forbids\nweights = softmax of each row\nheads = weights times v\nconcat\noutput = concat "
                "times W_O"
            ),
        ),
        why="Five steps, in the order of the formula. W_O is the only place where heads meet.",
        styles=({"hide": hide_with_large_negative},),
        twins=("layers.MultiHeadAttention.forward", "layers.MultiHeadAttention.trace"),
    ),
)
