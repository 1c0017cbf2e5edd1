"""The exercise of lesson 12 on taking heads out for good: smaller matrices."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_pruning import PRUNING_MISTAKES
from mha_course.exercises.reading.kept_places import read_kept_places
from mha_course.exercises.reading.pruning import PRUNING
from mha_course.exercises.reading.rows_for_columns import read_rows_for_columns


def prune_heads(
    w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int, kept: Sequence[int]
) -> tuple[Tensor, ...]:
    """The four matrices with the heads in `kept` alone, indices from 0."""

    def columns(w: Tensor) -> Tensor:
        # The columns of a head stand next to one another, so the axis of heads comes first.
        return w.unflatten(1, (h, -1))[:, kept].flatten(1)

    rows = w_o.unflatten(0, (h, -1))[kept].flatten(0, 1)
    return columns(w_q), columns(w_k), columns(w_v), rows


def _pruning_inputs(g: Generator) -> list[Case]:
    def case(
        label: str, d_model: int, h: int, d_k: int, d_v: int, kept: list[int], **options: object
    ) -> Case:
        dtype = options.pop("dtype", torch.float32)
        shapes = [(d_model, h * d_k), (d_model, h * d_k), (d_model, h * d_v), (h * d_v, d_model)]
        matrices = [draw(g, *shape, dtype=dtype) for shape in shapes]
        sizes = {"d_model": d_model, "h": h, "d_k": d_k, "d_v": d_v, "kept": len(kept)}
        return Case(label, (*matrices, h, kept), sizes, **options)

    # Sizes for which no matrix, cut or whole, has the shape of another one.
    return [
        case("with two of four heads", 11, 4, 3, 5, [1, 2]),
        case("with three of five heads", 13, 5, 4, 2, [1, 3, 4]),
        case("with heads at both ends", 9, 6, 2, 5, [0, 3, 5]),
        case("with one head left", 8, 3, 5, 2, [2], edge=True),
        case("in float64", 11, 5, 2, 3, [0, 1, 2, 4], dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="prune_heads",
        lesson="12",
        title="Heads taken out for good",
        prompt=(
            "`w_q` and `w_k` are `(d_model, h * d_k)`, `w_v` is `(d_model, h * d_v)`, `w_o` is "
            "`(h * d_v, d_model)`: inputs are multiplied from the left. `kept` is a list of the heads that "
            "stay, counted from `0`, in their order. Return the four smaller matrices, `w_q, w_k, w_v, w_o`."
        ),
        signature="prune_heads(w_q, w_k, w_v, w_o, h, kept) -> w_q, w_k, w_v, w_o",
        reference=prune_heads,
        inputs=_pruning_inputs,
        returns=(
            Returned("w_q", ("d_model", "kept * d_k")),
            Returned("w_k", ("d_model", "kept * d_k")),
            Returned("w_v", ("d_model", "kept * d_v")),
            Returned("w_o", ("kept * d_v", "d_model")),
        ),
        mistakes=PRUNING_MISTAKES,
        hints=(
            "What belongs to a head: columns of three matrices, and of W_O? Look at where concat meets it.",
            "`unflatten` cuts one axis in two: heads, and what is within a head. A list can be an index.",
            (
                "columns: (d_model, h, width), the heads in kept, back to two axes\n"
                "rows of w_o: (h, d_v, d_model), the heads in kept, back to two axes"
            ),
        ),
        why=(
            "A head multiplied by 0 costs what it always did. Only when its columns and rows are gone are "
            "there fewer numbers to keep, to read and to multiply."
        ),
        reads=read_rows_for_columns,
        readers=(PRUNING.read, read_kept_places),
    ),
)
