"""Exercises of lesson 12, on taking heads away: gates in front of W_O, and a head at its mean."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_gated_output import GATED_OUTPUT_MISTAKES
from mha_course.exercises.mistakes.of_mean_removal import MEAN_REMOVAL_MISTAKES
from mha_course.exercises.reading.gated_output import GATED_OUTPUT
from mha_course.exercises.reading.mean_removal import MEAN_REMOVAL
from mha_course.exercises.reading.plain_heads import GATED_PLAINLY, MEAN_PLAINLY


def gated_output(heads: Tensor, w_o: Tensor, gates: Tensor) -> Tensor:
    """Each head times its own gate, then concat and W_O: (b, h, n, d_v) -> (b, n, d_model)."""
    # A gate belongs to a head: the axes for tokens and features behind it let it meet axis 1.
    gated = heads * gates[:, None, None]
    return gated.transpose(1, 2).flatten(2) @ w_o


def head_at_its_mean(heads: Tensor, real: Tensor, i: int) -> Tensor:
    """Head i says the same at every token, its mean over all real ones: (b, h, n, d_v)."""
    # Padding is no text: what a head computes there belongs in no mean.
    mean = heads[:, i][real].mean(dim=0)
    replaced = heads.clone()
    replaced[:, i] = mean
    return replaced


def _gated_inputs(g: Generator) -> list[Case]:
    def case(
        label: str, b: int, h: int, n: int, d_v: int, d_model: int, gates: list[float], **options: object
    ) -> Case:
        dtype = options.pop("dtype", torch.float32)
        heads, w_o = draw(g, b, h, n, d_v, dtype=dtype), draw(g, h * d_v, d_model, dtype=dtype)
        sizes = {"b": b, "h": h, "n": n, "d_v": d_v, "d_model": d_model}
        return Case(label, (heads, w_o, torch.tensor(gates, dtype=dtype)), sizes, **options)

    return [
        case("with three heads", 2, 3, 5, 4, 7, [0.0, 0.3, 0.8]),
        case("with open and closed heads", 3, 4, 6, 2, 9, [1.0, 0.0, 0.0, 1.0]),
        case("with a square W_O", 2, 5, 4, 3, 15, [0.45, 1.0, 0.0, 0.7, 0.2]),
        case("in float64", 3, 2, 4, 5, 8, [0.25, 0.9], dtype=torch.float64, required=False),
    ]


def _mean_inputs(g: Generator) -> list[Case]:
    def case(label: str, h: int, d_v: int, lengths: list[int], i: int, **options: object) -> Case:
        b, n = len(lengths), max(lengths) + bool(options.pop("all_padded", False))
        dtype = options.pop("dtype", torch.float32)
        heads = 0.5 + draw(g, b, h, n, d_v, dtype=dtype) + draw(g, h, 1, d_v, dtype=dtype)
        real = torch.arange(n) < torch.tensor(lengths)[:, None]
        return Case(label, (heads, real, i), {"b": b, "h": h, "n": n, "d_v": d_v}, **options)

    return [
        case("with two sentences", 4, 5, [6, 3], 2),
        case("with three sentences", 2, 4, [2, 7, 4], 0),
        case("with padding in every sentence", 5, 3, [5, 2, 4, 1], 3, all_padded=True),
        case("without padding", 4, 2, [5, 5, 5], 1, edge=True),
        case("in float64", 3, 6, [4, 2], 1, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="gated_output",
        lesson="12",
        title="Heads behind gates",
        prompt=(
            "`heads` is `(b, h, n, d_v)`, the heads' outputs before concat, `w_o` is `(h * d_v, d_model)`. "
            "`gates` is `(h,)`: each head is multiplied by its own gate. Then concat and W_O as ever: return "
            "`(b, n, d_model)`."
        ),
        signature="gated_output(heads, w_o, gates) -> output",
        reference=gated_output,
        inputs=_gated_inputs,
        returns=(Returned("output", ("b", "n", "d_model")),),
        mistakes=GATED_OUTPUT_MISTAKES,
        hints=(
            "Broadcasting lines shapes up from the right. Where should the axis of `gates` stand?",
            "`None` in an index puts in an axis of length 1. Concat: tokens to the front, then merge.",
            (
                "give gates two more axes at the end, and multiply\n"
                "concat: h behind n, the last two axes become one\nconcat times W_O"
            ),
        ),
        why=(
            "A gate of 0 takes a head's rows of W_O out of the sum, and a gate of 1 changes nothing. All "
            "between is a smooth way from one to the other, so a gate can be learned."
        ),
        readers=(GATED_OUTPUT.read, GATED_PLAINLY),
    ),
    Exercise(
        name="head_at_its_mean",
        lesson="12",
        title="A head at its mean",
        prompt=(
            "`heads` is `(b, h, n, d_v)`. `real` is `(b, n)`, `True` where a token is no padding. `i` is the "
            "index of one head, counted from `0`. Take the mean of that head over all real tokens of all "
            "sentences, and return the heads, `(b, h, n, d_v)`, with that vector in the place of head `i` at "
            "every token, padding too. The other heads stay, and so does the tensor that came in."
        ),
        signature="head_at_its_mean(heads, real, i) -> heads",
        reference=head_at_its_mean,
        inputs=_mean_inputs,
        returns=(Returned("heads", ("b", "h", "n", "d_v")),),
        mistakes=MEAN_REMOVAL_MISTAKES,
        hints=(
            "First the vector: what are all the real tokens of head `i`? Then the place where it goes.",
            "A boolean index `(b, n)` on a tensor `(b, n, d_v)` gives all real tokens in a row.",
            (
                "mean of head i over its real tokens, (d_v,)\na copy of heads\n"
                "in the copy, head i is that vector at every token"
            ),
        ),
        why=(
            "Silence is something the layers behind have never met. The mean is what they meet on average, "
            "so what is lost is what the head said about this token."
        ),
        readers=(MEAN_REMOVAL.read, MEAN_PLAINLY),
    ),
)
