"""The exercise of lesson 15 on circuits: where a head reads, and what it writes."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_circuits import CIRCUIT_MISTAKES
from mha_course.exercises.reading.circuits import read_circuits


def circuits(w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int) -> tuple[Tensor, Tensor]:
    """Each head's QK and OV circuit: two of (h, d_model, d_model)."""

    def columns(w: Tensor) -> Tensor:
        # A head's columns are neighbours; its axis then comes first, so that `@` goes head by head.
        return w.unflatten(1, (h, -1)).transpose(0, 1)

    q, k, v = columns(w_q), columns(w_k), columns(w_v)  # (h, d_model, d_k) or (h, d_model, d_v)
    rows = w_o.unflatten(0, (h, -1))  # (h, d_v, d_model)
    qk = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
    return qk, v @ rows


def drawn_layer(
    g: Generator, d_model: int, h: int, d_k: int, d_v: int, dtype: torch.dtype = torch.float32
) -> list[Tensor]:
    """W_Q, W_K, W_V and W_O of heads whose values are not as wide as their keys."""
    shapes = [(d_model, h * d_k), (d_model, h * d_k), (d_model, h * d_v), (h * d_v, d_model)]
    return [draw(g, *shape, dtype=dtype) for shape in shapes]


def _inputs(g: Generator) -> list[Case]:
    def case(label: str, d_model: int, h: int, d_k: int, d_v: int, **options: object) -> Case:
        matrices = drawn_layer(g, d_model, h, d_k, d_v, options.pop("dtype", torch.float32))
        return Case(label, (*matrices, h), {"d_model": d_model, "h": h, "d_k": d_k, "d_v": d_v}, **options)

    return [
        case("with four heads", 7, 4, 3, 5),
        case("with three heads", 10, 3, 5, 2),
        case("with one head", 6, 1, 4, 3, edge=True),
        case("in float64", 9, 3, 2, 4, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="circuits",
        lesson="15",
        title="Where a head reads, what it writes",
        prompt=(
            "Four matrices of a layer with `h` heads, which multiply from the right: `w_q` and `w_k` "
            "`(d_model, h * d_k)`, `w_v` `(d_model, h * d_v)`, `w_o` `(h * d_v, d_model)`. Return two "
            "tensors. The first holds each head's QK circuit with the division by the root of d_k inside, "
            "`(h, d_model, d_model)`, so that `x @ qk[i] @ x.T` are the scores of head i. The second holds "
            "each head's OV circuit, `(h, d_model, d_model)`, so that `weights[i] @ x @ ov[i]` is what head "
            "i adds to the output."
        ),
        signature="circuits(w_q, w_k, w_v, w_o, h) -> (qk, ov)",
        reference=circuits,
        inputs=_inputs,
        returns=(
            Returned("qk", ("h", "d_model", "d_model")),
            Returned("ov", ("h", "d_model", "d_model")),
        ),
        mistakes=CIRCUIT_MISTAKES,
        hints=(
            "Write the scores of one head down with its columns of W_Q and W_K. What stands between x and x?",
            "Columns of three matrices, rows of the fourth. With heads in front, `@` does all heads at once.",
            (
                "q, k: (h, d_model, d_k); v: (h, d_model, d_v); rows of w_o: (h, d_v, d_model)\n"
                "qk = q times k turned, over the root of d_k\nov = v times the rows"
            ),
        ),
        why=(
            "A head needs no queries, keys and values of its own to be understood: one matrix says which "
            "tokens meet, another what is carried over. Their ranks are at most d_k and d_v."
        ),
        readers=(read_circuits,),
    ),
)
