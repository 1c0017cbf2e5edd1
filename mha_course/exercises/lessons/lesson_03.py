"""Exercises of lesson 03: head size, split, and the block matrix made of small ones."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw, numbered
from mha_course.exercises.mistakes.of_lesson_03 import HEAD_SIZE_MISTAKES, SPLIT_MISTAKES, STACK_MISTAKES
from mha_course.exercises.reading.rearranging import rearranged
from mha_course.exercises.reading.sizes import read_size


def head_size(d_model: int, h: int) -> int:
    """Features per head, d_k = d_model / h; a ValueError when h does not divide d_model."""
    # Whole-number division would drop the remainder in silence, and with it features of every token.
    if d_model % h:
        raise ValueError(f"d_model={d_model} cannot be split into h={h} equal heads.")
    return d_model // h


def split_heads(x: Tensor, h: int) -> Tensor:
    """Cut the features of every token into h heads: (b, n, d_model) -> (b, h, n, d_k)."""
    b, n, d_model = x.shape
    # view cuts the last axis in two; each token stays whole. The transpose puts heads before tokens.
    return x.view(b, n, h, d_model // h).transpose(1, 2)


def stack_heads(w_heads: Tensor) -> Tensor:
    """Join h small matrices side by side: (h, d_model, d_k) -> (d_model, h * d_k)."""
    h, d_model, d_k = w_heads.shape
    # A row of the big matrix is that row of head 1, then that row of head 2, and so on.
    return w_heads.transpose(0, 1).reshape(d_model, h * d_k)


def _size_inputs(g: Generator) -> list[Case]:
    fits = [(12, 3), (35, 5), (64, 4), (7, 1), (8, 8)]
    fits_not = [(10, 3), (1600, 48), (4, 6), (11, 4)]
    return [
        *(Case("where h divides d_model", (d, h), {"d_model": d, "h": h} if d != h else {}) for d, h in fits),
        *(Case("where h does not divide d_model", pair, refuses=True) for pair in fits_not),
    ]


def _coded_x(b: int, n: int, h: int, d_k: int, label: str) -> Case:
    # Numbers from 1 on: a 0 in the result is then one to which nothing was written.
    sizes = {"b": b, "n": n, "d_model": h * d_k, "h": h, "d_k": d_k}
    if d_k == 1:
        del sizes["d_model"]  # the same as h
    # What holds in such a case only, or fails in it only, is told when all else is right.
    edge = min(b, n, d_k) == 1
    coded = ("sentence", "token", "feature")
    return Case(label, (numbered(b, n, h * d_k) + 1, h), sizes, coded=coded, edge=edge)


def _split_inputs(g: Generator) -> list[Case]:
    double = Case(
        "in float64",
        (draw(g, 3, 7, 10, dtype=torch.float64), 2),
        {"b": 3, "n": 7, "d_model": 10, "h": 2, "d_k": 5},
        required=False,
    )
    return [
        _coded_x(2, 5, 3, 4, "with three heads"),
        _coded_x(3, 7, 2, 5, "with two heads"),
        _coded_x(2, 5, 1, 7, "with one head"),
        Case(
            "with five heads and numbers of both signs",
            (draw(g, 2, 11, 15, spread=3.0), 5),
            {"b": 2, "n": 11, "d_model": 15, "h": 5, "d_k": 3},
            coded=("sentence", "token", "feature"),
        ),
        _coded_x(1, 5, 2, 3, "with one sentence"),
        _coded_x(3, 1, 2, 4, "with one token"),
        _coded_x(2, 3, 5, 1, "with one feature a head"),
        double,
    ]


def _stack_inputs(g: Generator) -> list[Case]:
    words = ("head", "row", "column")

    def small(label: str, h: int, d_model: int, d_k: int) -> Case:
        sizes = {"h": h, "d_model": d_model, "d_k": d_k}
        return Case(label, (numbered(h, d_model, d_k) + 1,), sizes, coded=words, edge=True)

    return [
        Case("with three heads", (numbered(3, 5, 4) + 1,), {"h": 3, "d_model": 5, "d_k": 4}, coded=words),
        Case("with two heads", (numbered(2, 6, 3) + 1,), {"h": 2, "d_model": 6, "d_k": 3}, coded=words),
        Case(
            "with five heads and numbers of both signs",
            (draw(g, 5, 7, 3, spread=3.0),),
            {"h": 5, "d_model": 7, "d_k": 3},
            coded=words,
        ),
        Case("with one head", (numbered(1, 5, 3) + 1,), {"h": 1, "d_model": 5, "d_k": 3}, coded=words),
        small("with one row", 3, 1, 2),
        small("with one column a head", 3, 5, 1),
        Case(
            "in float64",
            (draw(g, 3, 5, 4, dtype=torch.float64),),
            {"h": 3, "d_model": 5, "d_k": 4},
            required=False,
        ),
    ]


EXERCISES = (
    Exercise(
        name="head_size",
        lesson="03",
        title="How wide is a head?",
        prompt=(
            "Return d_k, the number of features each of `h` heads gets. When `h` does not divide `d_model`, "
            "raise a `ValueError` that names both numbers."
        ),
        signature="head_size(d_model, h) -> d_k",
        reference=head_size,
        inputs=_size_inputs,
        returns=(Returned("head size", kind="number"),),
        mistakes=HEAD_SIZE_MISTAKES,
        hints=(
            "The heads share d_model equally. What if they can't?",
            "`//` divides whole numbers, `%` gives the remainder, `raise ValueError(...)` refuses.",
            (
                "if the remainder of d_model by h is not 0:\n    raise a ValueError with both "
                "numbers\nreturn the whole quotient"
            ),
        ),
        why="`//` alone would drop features in silence; the check turns that into a sentence.",
        twins=("attention.head_size",),
        reads=read_size,
    ),
    Exercise(
        name="split_heads",
        lesson="03",
        title="Split",
        prompt=(
            "Cut the features of every token into `h` heads: `(b, n, d_model)` to `(b, h, n, d_k)`. Head 1 "
            "gets the first d_k features, head 2 the next, and so on."
        ),
        signature="split_heads(x, h) -> (b, h, n, d_k)",
        reference=split_heads,
        inputs=_split_inputs,
        returns=(Returned("heads", ("b", "h", "n", "d_k")),),
        mistakes=SPLIT_MISTAKES,
        hints=(
            "Only the features are cut. Each token stays whole, and so does each sentence.",
            "Two steps: one cuts the last axis in two, one moves an axis. `view` and `transpose` do it.",
            (
                "read b, n, d_model from the shape\ncut the last axis into h pieces of d_k: four axes "
                "now\nbring the axis of heads in front of the axis of tokens"
            ),
        ),
        why=(
            "After the cut the axes are (b, n, h, d_k), and no number has moved. The transpose gives every "
            "head its own (n, d_k) matrix."
        ),
        twins=("attention.split_heads",),
        readers=(rearranged,),
    ),
    Exercise(
        name="stack_heads",
        lesson="03",
        title="One big matrix from h small ones",
        prompt=(
            "`w_heads` holds a small matrix for each head, `(h, d_model, d_k)`. Return the big one, "
            "`(d_model, h * d_k)`, so that `x @ big` is every head's `x @ w_heads[i]`, side by side."
        ),
        signature="stack_heads(w_heads) -> (d_model, h * d_k)",
        reference=stack_heads,
        inputs=_stack_inputs,
        returns=(Returned("big matrix", ("d_model", "h·d_k")),),
        mistakes=STACK_MISTAKES,
        hints=(
            "Side by side: the columns of head 1 come first, then those of head 2.",
            (
                "`torch.cat` joins along an axis. Without it: bring rows to the front, then join the last "
                "two axes."
            ),
            (
                "for every row: head 1's numbers, then head 2's, ...\nso rows first, heads second, columns "
                "last; then join the last two"
            ),
        ),
        why="Column j of `x @ big` needs column j of the big matrix only, so blocks of columns are heads.",
        also=("block_matrices",),
        readers=(rearranged,),
    ),
)
