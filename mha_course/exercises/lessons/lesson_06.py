"""Exercises of lesson 06: W_O as a sum over heads, and a bias that folds into another."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Mistake, Returned, draw
from mha_course.exercises.reading.afterwards import done_afterwards
from mha_course.exercises.reading.bias import read_bias
from mha_course.exercises.reading.blocks import read_blocks
from mha_course.exercises.reading.on_the_way import on_the_way_of_contributions


def head_contributions(heads: Tensor, w_o: Tensor) -> Tensor:
    """Each head's share of the output: (b, h, n, d_v), (h * d_v, d_model) -> (b, h, n, d_model)."""
    h, d_v = heads.shape[1], heads.shape[3]
    # Rows 0 .. d_v - 1 of W_O meet head 1 in the concatenation, the next d_v rows head 2.
    blocks = w_o.reshape(h, d_v, w_o.shape[1])
    return heads @ blocks  # (b, h, n, d_v) @ (h, d_v, d_model)


def fold_value_bias(b_v: Tensor, w_o: Tensor, b_o: Tensor) -> Tensor:
    """The one output bias that does what b_v and b_o do together: (d_model,)."""
    # Rows of weights sum to 1, so b_v reaches the concatenation unchanged; then W_O multiplies it.
    return b_v @ w_o + b_o


def _contribution_inputs(g: Generator) -> list[Case]:
    def case(
        label: str, b: int, h: int, n: int, d_v: int, dtype: torch.dtype = torch.float32, wide: int = 0
    ) -> Case:
        width = wide or h * d_v
        sizes = {"b": b, "h": h, "n": n, "d_v": d_v} | ({"d_model": width} if h > 1 else {})
        heads, w_o = draw(g, b, h, n, d_v, dtype=dtype), draw(g, h * d_v, width, spread=0.5, dtype=dtype)
        return Case(label, (heads, w_o), sizes, required=dtype == torch.float32)

    return [
        case("with three heads", 2, 3, 5, 4),
        case("with two heads", 3, 2, 7, 5),
        case("with one head", 2, 1, 5, 7),
        case("with d_model other than h * d_v", 2, 3, 5, 4, wide=11),
        case("in float64", 2, 3, 5, 4, torch.float64),
    ]


def _bias_inputs(g: Generator) -> list[Case]:
    def case(label: str, d_model: int, dtype: torch.dtype = torch.float32) -> Case:
        shapes = ((d_model,), (d_model, d_model), (d_model,))
        return Case(
            label,
            tuple(draw(g, *s, dtype=dtype) for s in shapes),
            {"d_model": d_model},
            required=dtype == torch.float32,
        )

    return [case("with six features", 6), case("with ten features", 10), case("in float64", 6, torch.float64)]


def _blocks(heads: Tensor, w_o: Tensor) -> Tensor:
    return w_o.reshape(heads.shape[1], heads.shape[3], -1)


def _padded(heads: Tensor, w_o: Tensor) -> Tensor:
    b, h, n, d_v = heads.shape
    out = heads.new_zeros(b, h, n, h * d_v)
    for i in range(h):
        out[:, i, :, i * d_v : (i + 1) * d_v] = heads[:, i]
    return out


CONTRIBUTION_MISTAKES = (
    Mistake(
        "columns-for-rows",
        lambda z, w: z @ w.reshape(w.shape[0], z.shape[1], z.shape[3]).permute(1, 2, 0),
        (
            "W_O is transposed, or its columns are cut where its rows should be. The concatenation meets "
            "the rows."
        ),
        "which axis of `w_o` belongs to the heads.",
    ),
    Mistake(
        "columns-for-rows",
        lambda z, w: z @ w.T.reshape(z.shape[1], z.shape[3], -1),  # the same where W_O is square
        (
            "W_O is transposed, or its columns are cut where its rows should be. The concatenation meets "
            "the rows."
        ),
        "which axis of `w_o` belongs to the heads.",
    ),
    Mistake(
        "reshape-without-order",
        lambda z, w: z @ w.reshape(z.shape[1], -1, z.shape[3]).transpose(1, 2),
        "The blocks have the right shape, but their numbers are mixed up by `reshape` and a transpose.",
        "the shape into which `w_o` is cut: rows stay rows.",
    ),
    Mistake(
        "rows-interleaved",
        lambda z, w: z @ w.reshape(z.shape[3], z.shape[1], -1).transpose(0, 1),
        "Each head gets rows of W_O that lie {h} apart. It should get neighbouring rows.",
        "the two sizes into which the rows are cut: their order.",
    ),
    Mistake(
        "blocks-reversed",
        lambda z, w: z @ _blocks(z, w).flip(0),
        "The blocks of W_O are given out in reversed order.",
        "which rows of `w_o` belong to which head.",
    ),
    Mistake(
        "first-block-for-all",
        lambda z, w: z @ _blocks(z, w)[0],
        "Every head is multiplied by the first block of W_O.",
        "the rows for head i: they should move with i.",
    ),
    Mistake(
        "summed",
        lambda z, w: (z @ _blocks(z, w)).sum(1),
        "The contributions are summed already: this is the layer's output. Here one is wanted for each head.",
        "the last step.",
    ),
    Mistake(
        "averaged",
        lambda z, w: z @ _blocks(z, w) / z.shape[1],
        "Every contribution is divided by h. The output is their sum, not their average.",
        "a division.",
    ),
    Mistake(
        "output-for-every-head",
        lambda z, w: (z @ _blocks(z, w)).sum(1, keepdim=True).expand(-1, z.shape[1], -1, -1),
        "Every head shows the whole output, so their sum would be {h} times too large.",
        "what of the concatenation belongs to one head.",
    ),
    Mistake(
        "w_o-left-out",
        _padded,
        "The heads stand in their places of the concatenation, but W_O is not applied.",
        "the product with `w_o`.",
    ),
    Mistake(
        "running-sum",
        lambda z, w: (z @ _blocks(z, w)).cumsum(1),
        "Each entry holds the sum of all heads up to this one.",
        "whether the loop adds to what is there.",
    ),
    Mistake(
        "heads-reversed",
        lambda z, w: (z @ _blocks(z, w)).flip(1),
        "The contributions are right, in reversed order.",
        "the order of the heads.",
    ),
    Mistake(
        "heads-behind-tokens",
        lambda z, w: (z @ _blocks(z, w)).transpose(1, 2),
        "The contributions are right; the axis of heads stands behind the tokens.",
        "the order of the axes: `(b, h, n, d_model)`.",
    ),
    Mistake(
        "heads-in-front",
        lambda z, w: (z @ _blocks(z, w)).transpose(0, 1),
        "The contributions are right; the axis of heads stands in front of the batch.",
        "the axis along which they are stacked.",
    ),
)

BIAS_MISTAKES = (
    Mistake(
        "value-bias-dropped",
        lambda b_v, w_o, b_o: b_o,
        "b_v is gone. It reaches the output through W_O.",
        "where `b_v` takes part.",
    ),
    Mistake(
        "output-bias-dropped",
        lambda b_v, w_o, b_o: b_v @ w_o,
        "b_v passes through W_O, as it should; b_o is missing.",
        "what is added at the end.",
    ),
    Mistake(
        "w_o-left-out",
        lambda b_v, w_o, b_o: b_v + b_o,
        "The biases are added as they are. Between the values and the output stands W_O.",
        "the way from the values to the output.",
    ),
    Mistake(
        "transposed",
        lambda b_v, w_o, b_o: w_o @ b_v + b_o,
        "W_O multiplies from the wrong side: here a row times W_O is wanted.",
        "the order in the product.",
    ),
    Mistake(
        "both-through-w_o",
        lambda b_v, w_o, b_o: (b_v + b_o) @ w_o,
        "Both biases pass through W_O. b_o is added behind it.",
        "which bias meets W_O.",
    ),
    Mistake(
        "wrong-one-through-w_o",
        lambda b_v, w_o, b_o: b_o @ w_o + b_v,
        "The two biases have changed places: it is b_v that passes through W_O.",
        "which bias meets W_O.",
    ),
    Mistake("subtracted", lambda b_v, w_o, b_o: b_o - b_v @ w_o, "The value bias is subtracted.", "a minus."),
    Mistake(
        "subtracted-the-other-way",
        lambda b_v, w_o, b_o: b_v @ w_o - b_o,
        "The output bias is subtracted.",
        "a minus.",
    ),
    Mistake(
        "entry-by-entry",
        lambda b_v, w_o, b_o: b_v * w_o.diagonal() + b_o,
        "Only the diagonal of W_O takes part.",
        "the kind of product.",
    ),
    Mistake(
        "broadcast",
        lambda b_v, w_o, b_o: b_v * w_o + b_o,
        "`*` multiplies entry by entry and leaves a whole matrix. A row times a matrix is wanted.",
        "`*` and `@`.",
    ),
    Mistake(
        "not-summed",
        lambda b_v, w_o, b_o: b_v[:, None] * w_o + b_o,
        "Each row of W_O is weighed by its entry of b_v, but the rows are not added up: a matrix is left.",
        "what is still to be summed.",
    ),
    Mistake(
        "sum-of-rows",
        lambda b_v, w_o, b_o: w_o.sum(0) + b_o,
        "The rows of W_O are added up; b_v should weigh them.",
        "where `b_v` takes part.",
    ),
    Mistake(
        "all-of-b_v-in-each",
        lambda b_v, w_o, b_o: b_v.sum() * w_o.sum(0) + b_o,
        "All of b_v is summed before it meets W_O.",
        "a sum that comes too early.",
    ),
    Mistake(
        "counted-per-feature",
        lambda b_v, w_o, b_o: b_v.shape[0] * (b_v @ w_o) + b_o,
        "The value bias is counted {d_model} times. Rows of weights sum to 1, so it arrives once.",
        "a factor.",
    ),
    Mistake(
        "with-an-extra-axis",
        lambda b_v, w_o, b_o: b_v[None] @ w_o + b_o,
        "The numbers are right, with an axis of size 1 in front. A bias has shape `(d_model,)`.",
        "the axis that was added for the product.",
    ),
)

EXERCISES = (
    Exercise(
        name="head_contributions",
        lesson="06",
        title="W_O as a sum over heads",
        prompt=(
            "`heads` is `(b, h, n, d_v)`, `w_o` is `(h * d_v, d_model)` and multiplies from the right. "
            "Return each head's share of the output, `(b, h, n, d_model)`; their sum over the heads is "
            "concat times W_O."
        ),
        signature="head_contributions(heads, w_o) -> (b, h, n, d_model)",
        reference=head_contributions,
        inputs=_contribution_inputs,
        returns=(Returned("contributions", ("b", "h", "n", "d_model")),),
        mistakes=CONTRIBUTION_MISTAKES,
        readers=(done_afterwards, read_blocks),
        on_the_way=on_the_way_of_contributions,
        hints=(
            "In the concatenation a head fills d_v neighbouring places. Which rows of W_O do these meet?",
            "Cut the *rows* of W_O into h blocks of d_v. Head i meets block i.",
            (
                "blocks = w_o with its rows cut: (h, d_v, d_model)\nfor every head: head times its "
                "block\nkeep the axis of heads where it was"
            ),
        ),
        why=(
            "A row times a matrix is a sum over the places of the row. Sorting that sum by heads gives the "
            "blocks."
        ),
    ),
    Exercise(
        name="fold_value_bias",
        lesson="06",
        title="One bias for two",
        prompt=(
            "Values get a bias `b_v` `(d_model,)`, the output gets `b_o` `(d_model,)`. Return the one "
            "output bias that gives the same layer without `b_v`. `w_o` is `(d_model, d_model)` and "
            "multiplies from the right."
        ),
        signature="fold_value_bias(b_v, w_o, b_o) -> (d_model,)",
        reference=fold_value_bias,
        inputs=_bias_inputs,
        returns=(Returned("bias", ("d_model",)),),
        mistakes=BIAS_MISTAKES,
        readers=(done_afterwards, read_bias),
        hints=(
            "Add the same vector to every value. What does a weighted mean do to it?",
            (
                "Rows of weights sum to 1, so b_v arrives in the concatenation as it is. What happens to it "
                "next?"
            ),
            "follow b_v through the layer: weights (unchanged), concat, W_O\nadd what is added there anyway",
        ),
        why=(
            "It works because rows of weights sum to 1. With dropout on the weights they don't, and neither "
            "does this."
        ),
    ),
)
