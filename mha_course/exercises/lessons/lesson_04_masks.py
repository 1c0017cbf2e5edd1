"""Exercises of lesson 04: causal and padding masks, and rows that may attend to nothing."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_causal_masks import CAUSAL_MISTAKES
from mha_course.exercises.mistakes.of_empty_rows import EMPTY_MISTAKES
from mha_course.exercises.mistakes.of_padding_masks import PADDING_MISTAKES
from mha_course.exercises.reading.empty_rows import read_all_for_one, read_empty_rows
from mha_course.exercises.reading.lengths import read_padding_mask
from mha_course.exercises.reading.masks import read_causal_mask
from mha_course.exercises.reading.on_the_way import on_the_way_of_lengths
from mha_course.exercises.reading.plainly import read_plainly


def causal_mask(n: int) -> Tensor:
    """Each token may attend to itself and to what came before: (n, n) bool, True = may attend."""
    position = torch.arange(n)
    # Keys run along a row, queries down; <= and not <, so that a token sees itself and no row is empty.
    return position[None, :] <= position[:, None]


def padding_mask(lengths: Tensor, n: int) -> Tensor:
    """Real tokens of sentences filled up to n: (b, 1, 1, n) bool, True = a real token."""
    real = torch.arange(n)[None, :] < torch.as_tensor(lengths)[:, None]
    return real[:, None, None, :]  # the two 1s stand for every head and every query


def empty_rows(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Attention in which a query that may attend to nothing gets zero weights and zero output."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    empty = ~mask.any(dim=-1, keepdim=True)
    # A row of nothing but -inf would give 0/0 = NaN: let such rows through, then set them to 0.
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    weights = torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)
    return weights @ v, weights


def _causal_inputs(g: Generator) -> list[Case]:
    sizes = {5: "for five tokens", 8: "for eight tokens", 1: "for one token"}
    return [Case(label, (n,), {"n": n}, edge=n == 1) for n, label in sizes.items()]


def _padding_inputs(g: Generator) -> list[Case]:
    first, second, empty = [4, 1, 5, 2], [1, 6], [3, 0]
    return [
        Case("for lengths in a tensor", (torch.tensor(first), 7), {"b": 4, "n": 7}),
        Case("for lengths in a tensor", (torch.tensor(second), 6), {"b": 2, "n": 6}),
        Case("for lengths in a list", (first, 7), {"b": 4, "n": 7}),
        Case("for lengths in a list", (second, 6), {"b": 2, "n": 6}),
        Case("with an empty sentence", (torch.tensor(empty), 5), {"b": 2, "n": 5}, required=False),
    ]


_BY_RANK = ("with a head axis", "without a head axis")


def _empty_inputs(g: Generator) -> list[Case]:
    """Some rows see nothing, some one key, some a few, some everything."""

    def case(
        label: str, lead: tuple[int, ...], n_q: int, n_k: int, d_k: int, d_v: int, **options: object
    ) -> Case:
        dtype = torch.float64 if label == "in float64" else torch.float32
        spread = 8.0 if label == "with large scores" else 1.0
        shapes = ((n_q, d_k), (n_k, d_k), (n_k, d_v))
        tensors = [draw(g, *lead, *shape, spread=spread, dtype=dtype) for shape in shapes]
        mask = torch.rand(n_q, n_k, generator=g) < 0.5
        mask[0], mask[1], mask[-1] = False, True, False
        mask[2, 0], mask[2, 1] = True, False
        sizes = dict(zip(("b", "h"), lead, strict=False)) | {"n_q": n_q, "n_k": n_k, "d_k": d_k, "d_v": d_v}
        return Case(label, (*tensors, mask), sizes, **options)

    return [
        case("with a head axis", (2, 3), 5, 7, 4, 6),
        case("with a head axis", (3, 2), 7, 5, 8, 4),
        case("without a head axis", (3,), 5, 7, 4, 6),
        case("in float64", (2, 3), 5, 7, 4, 6, required=False),
        # `exp` of such scores overflows, and -100 is no longer far below them.
        case("with large scores", (2, 3), 5, 7, 4, 6, required=False),
    ]


EXERCISES = (
    Exercise(
        name="causal_mask",
        lesson="04",
        title="Causal mask",
        prompt=(
            "Return the mask `(n, n)` with which each token sees itself and what came before. Boolean, True "
            "= may attend; query down, key along."
        ),
        signature="causal_mask(n) -> (n, n)",
        reference=causal_mask,
        inputs=_causal_inputs,
        returns=(Returned("mask", ("n", "n"), kind="bool"),),
        mistakes=CAUSAL_MISTAKES,
        readers=(read_causal_mask,),
        hints=(
            "Which keys may query 3 look at? Write the first three rows by hand.",
            (
                "Compare positions, one as a column and one as a row; or keep a triangle of ones (`tril`, "
                "`triu`) and make it boolean."
            ),
            "position = 0, 1, ..., n - 1\nopen where the key's position is at most the query's",
        ),
        why="`key <= query` says it in the words of the task, and is boolean by itself.",
        twins=("masks.causal_mask",),
    ),
    Exercise(
        name="padding_mask",
        lesson="04",
        title="Padding mask",
        prompt=(
            "`lengths` holds the true length of each of b sentences; all are filled up to `n` at the end. "
            "Return the mask `(b, 1, 1, n)`. Boolean, True = a real token."
        ),
        signature="padding_mask(lengths, n) -> (b, 1, 1, n)",
        reference=padding_mask,
        inputs=_padding_inputs,
        returns=(Returned("mask", ("b", "1", "1", "n"), kind="bool"),),
        mistakes=PADDING_MISTAKES,
        readers=(read_padding_mask,),
        one_of=("for lengths in a tensor", "for lengths in a list"),
        on_the_way=on_the_way_of_lengths,
        hints=(
            "A sentence of length 3 has real tokens at positions 0, 1 and 2.",
            "Compare positions `(1, n)` with lengths `(b, 1)`. Indexing with `None` adds an axis of size 1.",
            (
                "position = 0, 1, ..., n - 1\nreal where position is less than the sentence's length: (b, "
                "n)\nadd the two middle axes"
            ),
        ),
        why="One row a sentence; the two 1s let the mask broadcast over heads and queries.",
        twins=("masks.padding_mask",),
    ),
    Exercise(
        name="empty_rows",
        lesson="04",
        title="Nothing to attend to",
        prompt=(
            "Attention again, and now some rows of `mask` are all False. Such a query gets zero weights and "
            "zero output; all others as before. `q` is `(b, h, n_q, d_k)`, `k` and `v` to match, `mask` is "
            "`(n_q, n_k)`. Return `(output, weights)`; their gradients must be finite, too."
        ),
        signature="empty_rows(q, k, v, mask) -> (output, weights)",
        reference=empty_rows,
        inputs=_empty_inputs,
        returns=(Returned("output", ("b", "h", "n_q", "d_v")), Returned("weights", ("b", "h", "n_q", "n_k"))),
        mistakes=EMPTY_MISTAKES,
        reads=read_all_for_one,
        readers=(read_plainly, read_empty_rows),
        one_of=_BY_RANK,
        finite_gradients=True,
        hints=(
            "What is the softmax of a row of nothing but -inf?",
            (
                "Find the rows in which the mask has no True at all (`any`). They need care before the "
                "softmax, after it, or both."
            ),
            (
                "empty = rows of the mask without any True\nhide scores as before, but give empty rows "
                "ordinary numbers\nsoftmax\nset the weights of empty rows to 0\noutput = weights times v"
            ),
        ),
        why=(
            "NaN times 0 is NaN, so the row is kept away from 0/0 before the softmax, and set to 0 after "
            "it. Gradients stay finite."
        ),
        twins=("attention.scaled_dot_product_attention", "attention.masked_softmax"),
    ),
)
