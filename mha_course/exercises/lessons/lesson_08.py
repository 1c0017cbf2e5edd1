"""Exercises of lesson 08: the encoding, the shift, the kernel, a head set by hand, and finding one."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_position_heads import OFFSET_MISTAKES, QUERY_MISTAKES
from mha_course.exercises.mistakes.of_position_kernel import KERNEL_MISTAKES
from mha_course.exercises.mistakes.of_positions import ENCODING_MISTAKES, SHIFT_MISTAKES
from mha_course.exercises.reading.counted_hits import read_offset_shares
from mha_course.exercises.reading.encoding import read_encoding
from mha_course.exercises.reading.encoding_steps import ENCODING
from mha_course.exercises.reading.kernel_probes import read_kernel
from mha_course.exercises.reading.query_rows import read_query_rows
from mha_course.exercises.reading.shift_steps import SHIFT
from mha_course.exercises.reading.turns import read_shift
from mha_course.positions import angular_frequencies
from mha_course.positions import shift_matrix as _shift
from mha_course.positions import sinusoidal_encoding as _encoding


def sinusoidal_encoding(n: int, d_model: int) -> Tensor:
    """Position vectors of positions 0 .. n - 1, sine and cosine side by side: (n, d_model)."""
    # The two columns of a pair share a frequency; from pair to pair it falls, from 1 on.
    frequency = 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(n)[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=2).reshape(n, d_model)


def shift_matrix(k: int, frequencies: Tensor) -> Tensor:
    """The rotation R(k) with PE(p + k) = R(k) PE(p): (d_model / 2,) -> (d_model, d_model)."""
    angle = k * frequencies
    cosine, sine = angle.cos(), angle.sin()
    # sin(a + b) = cos b sin a + sin b cos a, and cos(a + b) = -sin b sin a + cos b cos a.
    blocks = torch.stack([cosine, sine, -sine, cosine], dim=1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)


def position_kernel(distances: Tensor, frequencies: Tensor) -> Tensor:
    """The product of two position vectors at each distance: (n,), (d_model / 2,) -> (n,)."""
    angle = distances[:, None] * frequencies
    # sin a sin b + cos a cos b = cos(a - b): one cosine for each pair of columns.
    return angle.cos().sum(dim=1)


def previous_token_queries(pe: Tensor, turn: Tensor, beta: float) -> Tensor:
    """Queries that score beta · κ at the position before: (n, d_k), (d_k, d_k) -> (n, d_k)."""
    d_k = pe.shape[1]
    # The layer divides scores by the root of d_k; multiplied here, it cancels out.
    return beta * math.sqrt(d_k) * (pe @ turn.T)


def offset_scores(weights: Tensor, offset: int) -> Tensor:
    """Share of queries whose largest weight lies `offset` positions away: (h, n, n) -> (h,)."""
    n = weights.shape[2]
    target = torch.arange(n) + offset
    # A query without such a position can neither hit nor miss.
    live = (target >= 0) & (target < n)
    hits = weights.argmax(dim=2) == target
    return hits[:, live].float().mean(dim=1)


def _encoding_inputs(g: Generator) -> list[Case]:
    def case(label: str, n: int, d_model: int, **options: bool) -> Case:
        return Case(label, (n, d_model), {"n": n, "d_model": d_model}, **options)

    return [
        case("with six features", 7, 6),
        case("with four features", 10, 4),
        case("with many positions", 60, 8),
        case("with one position", 1, 6, edge=True),
    ]


def _drawn_frequencies(g: Generator, pairs: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Between 0.1 and 1.3, in no order."""
    return (0.1 + 1.2 * torch.rand(pairs, generator=g, dtype=torch.float64)).to(dtype)


def _shift_inputs(g: Generator) -> list[Case]:
    def case(label: str, k: int, frequencies: Tensor, **options: bool) -> Case:
        pairs = len(frequencies)
        return Case(label, (k, frequencies), {"pairs": pairs, "d_model": 2 * pairs}, **options)

    return [
        case("ahead", 3, angular_frequencies(6).float()),
        case("back", -2, angular_frequencies(8).float()),
        case("with other frequencies", -1, _drawn_frequencies(g, 5)),
        case("with no shift", 0, _drawn_frequencies(g, 3), edge=True),
        case("in float64", 2, _drawn_frequencies(g, 3, torch.float64), required=False),
    ]


def _kernel_inputs(g: Generator) -> list[Case]:
    def case(label: str, distances: Tensor, frequencies: Tensor, **options: bool) -> Case:
        sizes = {"n": len(distances), "pairs": len(frequencies)}
        return Case(label, (distances, frequencies), sizes, **options)

    whole = torch.arange(7).float()
    return [
        case("with three frequencies", whole, _drawn_frequencies(g, 3)),
        case("with distances on both sides", torch.arange(-4, 5).float(), _drawn_frequencies(g, 4)),
        case("with drawn numbers", draw(g, 3, spread=4.0), _drawn_frequencies(g, 5)),
        case("in float64", whole.double(), _drawn_frequencies(g, 3, torch.float64), required=False),
    ]


def _query_inputs(g: Generator) -> list[Case]:
    def real(label: str, n: int, d_k: int, beta: float, dtype: torch.dtype, **options: bool) -> Case:
        arguments = (_encoding(n, d_k, dtype=dtype), _shift(-1, d_k, dtype=dtype), beta)
        return Case(label, arguments, {"n": n, "d_k": d_k}, **options)

    # Any rotation will do, not only one of 2 x 2 blocks.
    turn = torch.linalg.qr(draw(g, 6, 6, dtype=torch.float64)).Q.float()
    return [
        real("with eight features", 5, 8, 16.0, torch.float32),
        real("with four features", 7, 4, 2.5, torch.float32),
        Case("with drawn numbers", (draw(g, 9, 6), turn, 3.0), {"n": 9, "d_k": 6}),
        real("in float64", 5, 8, 16.0, torch.float64, required=False),
    ]


def _offset_inputs(g: Generator) -> list[Case]:
    def case(label: str, h: int, n: int, offset: int, **options: bool) -> Case:
        scores = draw(g, h, n, n, spread=1.2)
        queries = torch.arange(n)
        # Head 1 mostly hits, head 2 mostly looks to the other side, others elsewhere.
        for head, step in enumerate((offset, -offset, offset - 1, 0)[:h]):
            scores[head, queries, (queries + step) % n] += draw(g, n, spread=3.5).abs()
        # A query without a target looks where one who forgets the ends would send it.
        outside = queries[(queries + offset < 0) | (queries + offset >= n)]
        scores[0, outside, (outside + offset) % n] = 9.0
        scores[-1, outside, (outside + offset).clamp(0, n - 1)] = 9.0
        return Case(label, (scores.softmax(-1), offset), {"h": h, "n": n}, **options)

    return [
        case("for the position before", 3, 11, -1),
        case("for two positions ahead", 4, 9, 2),
        case("for three positions before", 2, 12, -3),
        case("with one head", 1, 8, 1, edge=True),
    ]


EXERCISES = (
    Exercise(
        name="sinusoidal_encoding",
        lesson="08",
        title="The encoding",
        prompt=(
            "Return the position vectors of positions 0 to n - 1 as a float32 tensor `(n, d_model)`. Pair j, "
            "counted from 0, has the frequency w_j = 10000 to the power of -2j / d_model; sin(w_j p) and "
            "cos(w_j p) stand side by side, pair after pair. d_model is even."
        ),
        signature="sinusoidal_encoding(n, d_model) -> (n, d_model)",
        reference=sinusoidal_encoding,
        inputs=_encoding_inputs,
        returns=(Returned("encoding", ("n", "d_model")),),
        mistakes=ENCODING_MISTAKES,
        hints=(
            (
                "There are three things to make: d_model / 2 frequencies, n positions, and an angle for "
                "each of both."
            ),
            "A column of positions times a row of frequencies gives all angles at once, by broadcasting.",
            (
                "frequencies: one for every second column\nangles: positions as a column, times the "
                "frequencies\nsines into columns 0, 2, 4, ...; cosines into 1, 3, 5, ..."
            ),
        ),
        why="Two columns share an angle, so each pair is a point that goes round a circle as p grows.",
        twins=("positions.sinusoidal_encoding",),
        readers=(ENCODING.read, read_encoding),
    ),
    Exercise(
        name="shift_matrix",
        lesson="08",
        title="The shift",
        prompt=(
            "Return the matrix R(k) that moves every position vector k places: PE(p + k) = R(k) PE(p), for "
            "columns. `frequencies` holds w_0, w_1, ...; in a position vector sin(w_j p) and cos(w_j "
            "p) stand "
            "side by side. k may be negative."
        ),
        signature="shift_matrix(k, frequencies) -> (d_model, d_model)",
        reference=shift_matrix,
        inputs=_shift_inputs,
        returns=(Returned("matrix", ("d_model", "d_model")),),
        mistakes=SHIFT_MISTAKES,
        hints=(
            (
                "Do it for one pair first. Write sin(a + b) and cos(a + b) with the sines and cosines of "
                "a and b."
            ),
            (
                "Each pair has a 2 × 2 block for itself, and all other entries are 0. `torch.block_diag` "
                "puts blocks together."
            ),
            (
                "for pair j, with the angle of k steps:\n    first row of the block: what makes the new "
                "sine\n    "
                "second row: what makes the new cosine\nblocks on the diagonal, in order"
            ),
        ),
        why="The angle w_j k does not depend on p. So one matrix serves all positions, and W_Q can hold it.",
        twins=("positions.shift_matrix",),
        readers=(SHIFT.read, read_shift),
    ),
    Exercise(
        name="position_kernel",
        lesson="08",
        title="The kernel",
        prompt=(
            "PE(p) · PE(q) depends on the distance m = p - q only. Return that product for every entry of "
            "`distances`, without making a position vector. `frequencies` holds w_0, w_1, ..."
        ),
        signature="position_kernel(distances, frequencies) -> (n,)",
        reference=position_kernel,
        inputs=_kernel_inputs,
        returns=(Returned("kernel", ("n",)),),
        mistakes=KERNEL_MISTAKES,
        hints=(
            "One pair gives sin a sin b + cos a cos b. There is a shorter way to write that.",
            "It is the cosine of a difference. So every frequency gives one cosine, and they are added up.",
            "an angle for each distance and each frequency\ncosines of all\nsum over the frequencies",
        ),
        why="Only the difference of the angles is left. So absolute positions can serve relative looks.",
        twins=("positions.position_kernel",),
        readers=(read_kernel,),
    ),
    Exercise(
        name="previous_token_queries",
        lesson="08",
        title="Queries that look back",
        prompt=(
            "Keys are the position vectors themselves, `pe`, `(n, d_k)`, one a row. `turn` is R(-1), so that "
            "R(-1) PE(p) = PE(p - 1) for columns. Return queries `(n, d_k)` so that the layer's scores, "
            "query · key / √d_k, are beta times the product of PE(p - 1) and the key."
        ),
        signature="previous_token_queries(pe, turn, beta) -> (n, d_k)",
        reference=previous_token_queries,
        inputs=_query_inputs,
        returns=(Returned("queries", ("n", "d_k")),),
        mistakes=QUERY_MISTAKES,
        hints=(
            "The query at p should look like the key at p - 1. What turns the one into the other?",
            (
                "`turn` multiplies columns from the left. With vectors as rows it stands on the right, "
                "and otherwise."
            ),
            "turn every row of pe\nmultiply by beta\nmultiply by what the scores will be divided by",
        ),
        why="Scores are beta κ(p - 1 - s), largest at s = p - 1. Everything here is one matrix: W_Q.",
        twins=("models.position_head.position_head", "models.hand_set.offset_head"),
        readers=(read_query_rows,),
    ),
    Exercise(
        name="offset_scores",
        lesson="08",
        title="Which offset does a head look at?",
        prompt=(
            "`weights` holds the maps of h heads, `(h, n, n)`. For each head return the share of "
            "queries whose "
            "largest weight lies `offset` positions away (-1: the position before). Queries that "
            "have no such "
            "position are left out."
        ),
        signature="offset_scores(weights, offset) -> (h,)",
        reference=offset_scores,
        inputs=_offset_inputs,
        returns=(Returned("shares", ("h",)),),
        mistakes=OFFSET_MISTAKES,
        hints=(
            "For each query: which key has its largest weight, and which key should it be?",
            (
                "`argmax` along the keys gives one position a query. Compare with the query's own plus "
                "the offset."
            ),
            (
                "target of each query: its own position plus the offset\nkeep the queries whose target "
                "is one of "
                "the n positions\nhits: the largest weight lies on the target\nshare of hits, for each head"
            ),
        ),
        why="With it one can ask a trained model whether any of its heads is positional, as lesson 11 will.",
        readers=(read_offset_shares,),
    ),
)
