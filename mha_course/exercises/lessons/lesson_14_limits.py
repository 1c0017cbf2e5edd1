"""Exercises of lesson 14, on windows that overlap, on the width that a pattern needs, and on FLOPs."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw, numbered
from mha_course.exercises.mistakes.of_pattern_width import WIDTH_MISTAKES
from mha_course.exercises.mistakes.of_shared_flops import SHARED_FLOP_MISTAKES
from mha_course.exercises.mistakes.of_windows import WINDOW_MISTAKES
from mha_course.exercises.reading.pattern_width import read_width
from mha_course.exercises.reading.shared_flops import read_shared_flops
from mha_course.exercises.reading.windows import read_windows


def overlapping_windows(x: Tensor, h: int, overlap: int) -> Tensor:
    """Each head's features and its neighbours' nearest: (b, n, d_model) -> (b, h, n, d_k + 2 * overlap)."""
    own = x.shape[-1] // h
    # Zeros on both sides first, so that the first and the last head are no special cases.
    padded = F.pad(x, (overlap, overlap))
    windows = padded.unfold(-1, own + 2 * overlap, own)  # (b, n, h, own + 2 * overlap)
    return windows.transpose(1, 2)


def pattern_width(weights: Tensor) -> int:
    """The smallest d_k with which one head can have these weights, (n_q, n_k), all above 0."""
    scores = weights.log()
    # What is added to a whole row changes no weight; without its mean the row costs the smallest rank.
    shifted = scores - scores.mean(dim=-1, keepdim=True)
    return int(torch.linalg.matrix_rank(shifted, atol=1e-9))


def collaborative_flops(n: int, d_model: int, h: int, width: int) -> int:
    """Operations of the matrix products up to the scores of collaborative heads, for one sentence."""
    projections = 2 * (2 * n * d_model * width)  # queries and keys, once for all heads
    # Every head works in all the shared features: this is what sharing does not make cheaper.
    scores = h * 2 * n * n * width
    return projections + scores


def _window_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n: int, h: int, own: int, overlap: int, **options: object) -> Case:
        # From 1 on, so that a zero is a zero that was put in.
        x = numbered(b, n, h * own).to(options.pop("dtype", torch.float32)) + 1
        sizes = {"b": b, "n": n, "d_model": h * own, "h": h, "overlap": overlap, "width": own + 2 * overlap}
        return Case(label, (x, h, overlap), sizes, **options)

    return [
        case("with four heads", 2, 5, 4, 6, 1),
        case("with three heads", 5, 4, 3, 7, 2),
        case("when neighbours are read as a whole", 4, 2, 7, 3, 3),
        case("without overlap", 3, 4, 2, 6, 0, edge=True),
        case("in float64", 3, 2, 4, 5, 1, dtype=torch.float64, required=False),
    ]


def _width_inputs(g: Generator) -> list[Case]:
    def case(label: str, scores: Tensor, **options: bool) -> Case:
        n_q, n_k = scores.shape
        sizes = {"n": n_q} if n_q == n_k else {"n_q": n_q, "n_k": n_k}
        return Case(label, (scores.softmax(-1),), sizes, **options)

    def of_rank(n_q: int, n_k: int, d_k: int) -> Tensor:
        return draw(g, n_q, d_k, dtype=torch.float64) @ draw(g, n_k, d_k, dtype=torch.float64).T

    angle = 2 * torch.pi * torch.arange(7, dtype=torch.float64) / 7
    around = torch.stack((angle.cos(), angle.sin()), dim=1)
    alike = draw(g, 1, 9, dtype=torch.float64).expand(4, -1)
    partly_alike = torch.cat(
        (torch.ones(7, 1, dtype=torch.float64), draw(g, 7, 2, dtype=torch.float64)), dim=1
    )
    return [
        case("with queries and keys of three features", of_rank(8, 6, 3)),
        # Faint, and yet far above rounding: whatever limit stands in an answer, it leaves out a feature.
        case("with a faint second feature", of_rank(5, 9, 1) + 1e-4 * of_rank(5, 9, 1)),
        case("with a feature that all queries have", partly_alike @ draw(g, 3, 5, dtype=torch.float64)),
        case("when each token looks mostly at itself", 3 * torch.eye(6, dtype=torch.float64)),
        case("with keys on a circle", 4 * around @ around.roll(1, 0).T),
        case("when all rows are alike", alike),
        case("when every row is uniform", torch.zeros(3, 8, dtype=torch.float64)),
    ]


def _flop_inputs(g: Generator) -> list[Case]:
    def case(label: str, n: int, d_model: int, h: int, width: int) -> Case:
        sizes = {"n": n, "d_model": d_model, "h": h, "width": width}
        return Case(label, (n, d_model, h, width), sizes)

    return [
        case("with few features", 5, 24, 4, 10),
        case("with many features", 7, 32, 8, 48),
        case("with the sizes of BERT-base", 128, 768, 12, 256),
        case("with one head", 6, 20, 1, 9),
    ]


EXERCISES = (
    Exercise(
        name="overlapping_windows",
        lesson="14",
        title="Overlapping windows",
        prompt=(
            "`x` is `(b, n, d_model)`: queries, keys or values of all heads, side by side. Head i gets its "
            "own d_model / h features and, on either side, the `overlap` features next to them, in the order "
            "in which they stand in `x`. The first head has no neighbour on the left, the last none on the "
            "right: there stand zeros. Return `(b, h, n, d_model / h + 2 * overlap)`."
        ),
        signature="overlapping_windows(x, h, overlap) -> windows",
        reference=overlapping_windows,
        inputs=_window_inputs,
        returns=(Returned("windows", ("b", "h", "n", "width")),),
        mistakes=WINDOW_MISTAKES,
        hints=(
            "With zeros on both sides of `x`, where does the window of head 1 start? And that of head 2?",
            "`torch.nn.functional.pad` adds zeros; `unfold` slides a window along an axis, in steps.",
            (
                "own = d_model // h\nzeros: overlap features in front and behind\n"
                "windows of own + 2 * overlap features, own apart:\n(b, n, h, width)\n"
                "heads in front of tokens"
            ),
        ),
        why=(
            "The projections stay as they are; only the cut is another one. Every feature near an edge is "
            "read by two heads, and which heads are neighbours begins to matter."
        ),
        twins=("variants.overlapping.OverlappingHeads.windows",),
        readers=(read_windows,),
    ),
    Exercise(
        name="pattern_width",
        lesson="14",
        title="The width of a pattern",
        prompt=(
            "`weights` is `(n_q, n_k)`, `float64`, all above 0, each row sums to 1: a pattern that one head "
            "should have. Queries and keys may be any vectors. How many features do they need at least? "
            "Scores of d_k features have rank at most d_k, and a number added to a whole row of scores "
            "changes no weight. Return an `int`; it is 0 when every row is uniform."
        ),
        signature="pattern_width(weights) -> int",
        reference=pattern_width,
        inputs=_width_inputs,
        returns=(Returned("width", kind="number"),),
        mistakes=WIDTH_MISTAKES,
        learns_through=False,
        hints=(
            "Which scores have these weights? There are many: each row may be shifted by its own number.",
            "Of all shifts, subtracting each row's mean leaves the smallest rank. "
            "`matrix_rank`, in `torch.linalg`, counts singular values above rounding.",
            "scores = logarithms of the weights\neach row without its mean\nthe rank of that, as an int",
        ),
        why=(
            "Scores with these weights are log P + c 1^T, for any c. Without its mean each row is orthogonal "
            "to the ones, so no other shift can take anything away. The rank of P itself says nothing: it is "
            "mostly full."
        ),
        readers=(read_width,),
    ),
    Exercise(
        name="collaborative_flops",
        lesson="14",
        title="FLOPs of shared projections",
        prompt=(
            "One sentence of `n` tokens attends to itself, with `h` collaborative heads that share queries "
            "and keys of `width` features. How many floating-point operations do the matrix products take "
            "that lead to the scores of all heads: the two projections from `d_model`, and the scores? A "
            "multiply-add counts as two; weighing features by M and the scaling are left out. Return an "
            "`int`."
        ),
        signature="collaborative_flops(n, d_model, h, width) -> int",
        reference=collaborative_flops,
        inputs=_flop_inputs,
        returns=(Returned("count", kind="number"),),
        mistakes=SHARED_FLOP_MISTAKES,
        hints=(
            "How often are the projections made? How often the product of queries and keys?",
            "A product (m, k) @ (k, p) has m * p results of k multiply-adds each. How long is a sum in the "
            "score of one head?",
            (
                "two projections, once for all heads:\n(n, d_model) @ (d_model, width)\n"
                "for each head: (n, width) @ (width, n)\ntwo operations a multiply-add"
            ),
        ),
        why=(
            "Shared projections cost less as soon as the width is below d_model. The scores cost h · width / "
            "d_model times as much as those of plain heads: a shorter list of parameters is no shorter list "
            "of operations."
        ),
        readers=(read_shared_flops,),
    ),
)
