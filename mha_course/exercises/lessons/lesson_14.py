"""Exercises of lesson 14, on shared projections: mixing matrices, collaborative scores, content bias."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_content_bias import CONTENT_MISTAKES
from mha_course.exercises.mistakes.of_mixing import BLOCK_MISTAKES, SCORE_MISTAKES
from mha_course.exercises.reading.collaborative import BLOCKS, read_content, read_scores
from mha_course.exercises.reading.plain_sharing import CONTENT_PLAINLY, SCORES_PLAINLY, read_blocks


def mixing_of_blocks(h: int, width: int) -> Tensor:
    """Plain heads as a mixing matrix, (h, width): 1 in a head's own block of features, 0 elsewhere."""
    size = math.ceil(width / h)
    owner = torch.arange(width) // size  # of each feature: the head that reads it
    return (owner == torch.arange(h)[:, None]).float()


def collaborative_scores(q: Tensor, k: Tensor, mixing: Tensor, d_k: int) -> Tensor:
    """Scores of heads that share queries and keys: (b, n_q, width), (b, n_k, width) -> (b, h, n_q, n_k)."""
    # A row of M weighs each feature once: on the side of the queries, say, and then not of the keys.
    weighed = q[:, None] * mixing[:, None]  # (b, h, n_q, width)
    return weighed @ k[:, None].transpose(-2, -1) / math.sqrt(d_k)


def content_bias(w_k: Tensor, b_q: Tensor, h: int) -> Tensor:
    """What a query bias adds to scores, as one vector c a head: (h, d_model)."""
    products = w_k * b_q  # every column of w_k meets its own entry of the bias
    # A head's share is the sum over its own columns, d_k neighbours.
    return products.unflatten(1, (h, -1)).sum(dim=-1).T


def _block_inputs(g: Generator) -> list[Case]:
    def case(label: str, h: int, width: int, **options: bool) -> Case:
        return Case(label, (h, width), {"h": h, "width": width}, **options)

    return [
        case("when h does not divide the width", 4, 10),
        case("when h divides the width", 3, 12),
        case("with a shorter last block", 2, 7),
        case("when nothing is left for the last head", 5, 8),
        case("with fewer features than heads", 6, 4, edge=True),
        case("with one head", 1, 5, edge=True),
    ]


def _score_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, h: int, n_q: int, n_k: int, width: int, d_k: int, **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        q, k, mixing = (
            draw(g, *shape, dtype=dtype) for shape in ((b, n_q, width), (b, n_k, width), (h, width))
        )
        sizes = {"b": b, "h": h, "n_q": n_q, "n_k": n_k, "width": width, "d_k": d_k}
        return Case(label, (q, k, mixing, d_k), sizes, **options)

    return [
        case("with three heads", 2, 3, 4, 5, 9, 7),
        case("with a small width", 3, 5, 7, 6, 4, 8),
        case("with a large width", 4, 2, 5, 3, 11, 6),
        case("with one head", 3, 1, 4, 6, 8, 5, edge=True),
        case("in float64", 3, 4, 5, 2, 6, 7, dtype=torch.float64, required=False),
    ]


def _content_inputs(g: Generator) -> list[Case]:
    def case(label: str, d_model: int, h: int, d_k: int, **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        w_k, b_q = draw(g, d_model, h * d_k, dtype=dtype), draw(g, h * d_k, dtype=dtype)
        sizes = {"d_model": d_model, "h": h, "d_k": d_k}
        return Case(label, (w_k, b_q, h), sizes, **options)

    return [
        case("with three heads", 10, 3, 4),
        case("with five heads", 6, 5, 2),
        case("with two heads", 12, 2, 7),
        case("with one head", 7, 1, 5, edge=True),
        case("in float64", 8, 4, 3, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="mixing_of_blocks",
        lesson="14",
        title="Blocks of ones",
        prompt=(
            "Plain heads, written as a mixing matrix. `h` heads share `width` features. In order, each head "
            "gets a block of width / h neighbours, rounded up when that is no whole number; a later head "
            "gets what is left, which can be less, or nothing. Return M, `(h, width)`, `float32`: 1 where a "
            "feature lies in the head's own block, 0 elsewhere."
        ),
        signature="mixing_of_blocks(h, width) -> mixing",
        reference=mixing_of_blocks,
        inputs=_block_inputs,
        returns=(Returned("mixing", ("h", "width")),),
        mistakes=BLOCK_MISTAKES,
        learns_through=False,
        hints=(
            "How long is a block? In which block does feature r lie?",
            "`//` tells the block of each feature, all at once. A column of head numbers can be compared "
            "with a row of blocks.",
            (
                "size = width / h, rounded up\nowner = the number of each feature // size, (width,)\n"
                "head numbers as a column, compared with owner: (h, width)\nas float32"
            ),
        ),
        why=(
            "With this M the sum over all shared features is a sum over the head's own block. So every plain "
            "layer is a collaborative one, and M can be learned from here on."
        ),
        twins=("variants.collaborative.starting_mixing",),
        readers=(BLOCKS.read, read_blocks),
    ),
    Exercise(
        name="collaborative_scores",
        lesson="14",
        title="Scores of collaborative heads",
        prompt=(
            "All heads share the queries `q` `(b, n_q, width)` and the keys `k` `(b, n_k, width)`. Head i "
            "weighs the products of feature r with `mixing[i, r]`; `mixing` is `(h, width)`. The sum is "
            "divided by the root of the `d_k` given, whatever the width. Return the scores of all heads, "
            "`(b, h, n_q, n_k)`, before any softmax."
        ),
        signature="collaborative_scores(q, k, mixing, d_k) -> scores",
        reference=collaborative_scores,
        inputs=_score_inputs,
        returns=(Returned("scores", ("b", "h", "n_q", "n_k")),),
        mistakes=SCORE_MISTAKES,
        hints=(
            "Weigh the features of the queries for each head. What is left is a product with the keys.",
            "`None` in an index puts in an axis of length 1. Where do `q`, `k` and `mixing` need one?",
            (
                "q as (b, 1, n_q, width), mixing as (h, 1, width)\n"
                "their product: (b, h, n_q, width)\n"
                "keys as (b, 1, width, n_k)\nmatrix product, divided by the root of d_k"
            ),
        ),
        why=(
            "One set of queries and keys serves all heads, and a head is a row of M. The scale belongs to "
            "the layer and not to the width, so a layer that is converted keeps its scores."
        ),
        readers=(read_scores, SCORES_PLAINLY),
    ),
    Exercise(
        name="content_bias",
        lesson="14",
        title="Content bias",
        prompt=(
            "In a plain layer `w_k` is `(d_model, h * d_k)` and multiplies from the right, and `b_q`, "
            "`(h * d_k,)`, is the bias of the queries; head i owns features i · d_k to (i + 1) · d_k - 1 of "
            "both. For head i the bias adds y · c to the score of every key token y, before the division by "
            "the root of d_k. Return the vectors c of all heads, `(h, d_model)`."
        ),
        signature="content_bias(w_k, b_q, h) -> c",
        reference=content_bias,
        inputs=_content_inputs,
        returns=(Returned("c", ("h", "d_model")),),
        mistakes=CONTENT_MISTAKES,
        hints=(
            "A key of head i is y W_K^(i). Multiply it by the head's part of the bias: which vector meets y?",
            "c of head i is W_K^(i) times b^(i): a (d_model, d_k) matrix times d_k numbers.",
            (
                "columns of w_k into (d_model, h, d_k), b_q into (h, d_k)\n"
                "multiply, sum over d_k: (d_model, h)\nheads to the front"
            ),
        ),
        why=(
            "The bias asks every key the same question, whoever the query is. c_i puts that question to the "
            "token itself, so that shared projections can do without biases. A key bias needs nothing: it "
            "adds the same to a whole row."
        ),
        readers=(read_content, CONTENT_PLAINLY),
    ),
)
