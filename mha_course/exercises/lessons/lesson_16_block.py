"""The last exercise of lesson 16: a whole encoder block."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.lessons.lesson_09 import EXERCISES as OF_LESSON_09
from mha_course.exercises.lessons.lesson_16 import EXERCISES as OF_LESSON_16
from mha_course.exercises.lessons.lesson_16 import allowed_keys, drawn_allowed
from mha_course.exercises.mistakes.of_encoder_block import BLOCK_MISTAKES
from mha_course.exercises.reading.encoder_block import HalfByHalf
from mha_course.exercises.reading.whole_layer import read_rows_of_layer


def encoder_block(x: Tensor, parts: dict[str, Tensor], h: int, allowed: Tensor) -> Tensor:
    """Attention and feed-forward, each behind a LayerNorm and beside a residual path: (b, n, d_model)."""

    def norm(z: Tensor, which: int) -> Tensor:
        return F.layer_norm(z, z.shape[-1:], parts[f"gain_{which}"], parts[f"bias_{which}"])

    z = norm(x, 1)
    q, k, v = ((z @ parts[w]).unflatten(-1, (h, -1)).transpose(1, 2) for w in ("w_q", "w_k", "w_v"))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    # The lowest number in place of -inf: a row with nothing to attend to stays free of NaN, and becomes 0.
    weights = scores.masked_fill(~allowed, torch.finfo(x.dtype).min).softmax(dim=-1) * allowed
    heads = weights @ v
    # Whatever a half adds, x itself goes on beside it.
    x = x + heads.transpose(1, 2).flatten(2) @ parts["w_o"]
    inner = torch.relu(norm(x, 2) @ parts["w_1"] + parts["b_1"])
    return x + inner @ parts["w_2"] + parts["b_2"]


def drawn_parts(
    g: Generator, d_model: int, d_ff: int, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    """Weights of a block under the names of the exercise; gains apart from 1, biases apart from 0."""

    def drawn(*shape: int, spread: float = 1.0, around: float = 0.0) -> Tensor:
        return draw(g, *shape, spread=spread, dtype=dtype) + around

    spread = 1.5 * d_model**-0.5
    parts = {name: drawn(d_model, d_model, spread=spread) for name in ("w_q", "w_k", "w_v", "w_o")}
    for which in (1, 2):
        parts[f"gain_{which}"] = drawn(d_model, spread=0.4, around=1.2 + 0.4 * which)
        parts[f"bias_{which}"] = drawn(d_model, spread=0.5)
    parts |= {"w_1": drawn(d_model, d_ff, spread=spread), "b_1": drawn(d_ff, spread=0.5)}
    return parts | {"w_2": drawn(d_ff, d_model, spread=1.5 * d_ff**-0.5), "b_2": drawn(d_model, spread=0.5)}


def _inputs(g: Generator) -> list[Case]:
    def case(
        label: str, b: int, n: int, h: int, d_k: int, d_ff: int, lengths: list[int] | None, **options: bool
    ) -> Case:
        dtype = torch.float64 if label == "in float64" else torch.float32
        d_model = h * d_k
        # Where all numbers of a token are near each other, it shows where the 1e-5 of a LayerNorm stands.
        small = 0.003 if label == "with very small numbers" else 1.0
        x = small * (2 * draw(g, b, n, d_model, dtype=dtype) + 1)
        allowed = drawn_allowed(g, b, n, True) if lengths is None else allowed_keys(torch.tensor(lengths), n)
        sizes = {"b": b, "n": n, "d_model": d_model, "h": h} | ({"d_k": d_k} if h > 1 else {})
        parts = drawn_parts(g, d_model, d_ff, dtype)
        parts["w_o"] *= small
        given = (x, parts, h, allowed)
        return Case(label, given, sizes | {"d_ff": d_ff}, **options)

    return [
        case("with padding and order", 2, 5, 3, 4, 17, [4, 3]),
        case("with padding and order", 3, 7, 2, 4, 19, [2, 7, 5]),
        case("with one head", 2, 5, 1, 6, 13, [3, 5]),
        case("with one sentence", 1, 4, 3, 5, 7, [3]),
        case("with very small numbers", 3, 7, 2, 5, 13, [6, 4, 7]),
        case("where queries may attend to nothing", 3, 5, 2, 4, 11, None, edge=True),
        case("in float64", 2, 5, 3, 4, 17, [4, 3], required=False),
    ]


_OTHERS = {exercise.name: exercise for exercise in (*OF_LESSON_09, *OF_LESSON_16)}
_HALVES = HalfByHalf(_OTHERS["whole_attention"], _OTHERS["layer_norm"], _OTHERS["feed_forward"])

EXERCISES = (
    Exercise(
        name="encoder_block",
        lesson="16",
        title="The block",
        prompt=(
            "A whole encoder layer, pre-norm: attention and feed-forward, each with a LayerNorm in front and "
            "a residual path around it. `x` is `(b, n, d_model)`. `parts` is a dictionary of its weights: "
            "`w_q`, `w_k`, `w_v`, `w_o` of the attention; `gain_1` and `bias_1` of the LayerNorm before it, "
            "`gain_2` and `bias_2` of the one before the feed-forward part, `(d_model,)` each; `w_1` "
            "`(d_model, d_ff)`, `b_1`, `w_2` `(d_ff, d_model)` and `b_2` of that part, with a ReLU in its "
            "middle. All matrices multiply from the right, and LayerNorm adds 1e-5 to the variance before "
            "the root. `allowed` is as before: a query with nothing to attend to gets 0 from the attention. "
            "Return `(b, n, d_model)`."
        ),
        signature="encoder_block(x, parts, h, allowed) -> (b, n, d_model)",
        reference=encoder_block,
        inputs=_inputs,
        returns=(Returned("output", ("b", "n", "d_model")),),
        mistakes=BLOCK_MISTAKES,
        hints=(
            "Two halves, and the same frame around each: what stands in front of a half, and what runs past "
            "it?",
            "`x = x + attention(norm 1 of x)`, then the same with the second norm and the feed-forward part, "
            "which reads the new `x`.",
            (
                "z = first norm of x\nx = x plus attention of z\nz = second norm of x\n"
                "x = x plus feed-forward of z"
            ),
        ),
        why=(
            "With both halves at 0 the block returns its input: the residual path is never normed. That is "
            "what lets gradients pass through many such blocks."
        ),
        twins=("transformer.encoder.EncoderLayer.forward",),
        finite_gradients=True,
        readers=(_HALVES.read, read_rows_of_layer),
    ),
)
