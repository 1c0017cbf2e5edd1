"""Exercises of lesson 15 on composed heads: talking heads, and the matrices of dynamic composition."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.lessons.lesson_01 import drawn_mask
from mha_course.exercises.mistakes.of_composition import COMPOSITION_MISTAKES
from mha_course.exercises.mistakes.of_talking import TALKING_MISTAKES
from mha_course.exercises.reading.composition import read_composition
from mha_course.exercises.reading.talking import read_talking


def talk(scores: Tensor, p_scores: Tensor, p_weights: Tensor, mask: Tensor) -> Tensor:
    """Talking heads' mixed weights: (b, h, n_q, n_k)."""
    mixed = torch.einsum("biqk,ij->bjqk", scores, p_scores)
    # The mask comes after the mixing: a share of -inf would be inf, or NaN.
    weights = mixed.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return torch.einsum("biqk,ij->bjqk", weights, p_weights)


def composition_matrices(
    w_b: Tensor, w_q1: Tensor, w_q2: Tensor, g_q: Tensor, w_k1: Tensor, w_k2: Tensor, g_k: Tensor
) -> Tensor:
    """Dynamic composition's matrix for every pair of query and key: (n_q, n_k, h, h)."""
    of_query = w_q1 @ w_q2 + torch.diag_embed(g_q)  # (n_q, h, h)
    of_key = w_k1 @ w_k2 + torch.diag_embed(g_k)  # (n_k, h, h)
    # An axis for keys, in which of_key lies, so that every query meets every key.
    return w_b + of_query[:, None] + of_key


def drawn_talk(
    g: Generator, b: int, h: int, n_q: int, n_k: int, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, ...]:
    """Scores of some size, two matrices with shares of both signs, and a mask."""
    shares = [torch.eye(h, dtype=dtype) + draw(g, h, h, spread=0.7, dtype=dtype) for _ in range(2)]
    # One map takes away more than it adds: there a hidden score that is mixed becomes a large one.
    shares[0][:, 0] *= -shares[0][:, 0].sum().sign()
    scores = draw(g, b, h, n_q, n_k, spread=1.3, dtype=dtype)
    return scores, *shares, drawn_mask(g, n_q, n_k)


def drawn_composition(
    g: Generator, n_q: int, n_k: int, h: int, r: int, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, ...]:
    """A static matrix, and both sides' factors and gates."""
    shapes = [(h, h), (n_q, h, r), (n_q, r, h), (n_q, h), (n_k, h, r), (n_k, r, h), (n_k, h)]
    return tuple(draw(g, *shape, dtype=dtype) for shape in shapes)


def _talk_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, h: int, n_q: int, n_k: int, **options: object) -> Case:
        given = drawn_talk(g, b, h, n_q, n_k, options.pop("dtype", torch.float32))
        return Case(label, given, {"b": b, "h": h, "n_q": n_q, "n_k": n_k}, **options)

    return [
        case("with three heads", 2, 3, 5, 7),
        case("with four heads", 3, 4, 6, 5),
        case("with one query", 3, 5, 1, 6),
        case("in float64", 2, 4, 3, 5, dtype=torch.float64, required=False),
    ]


def _composition_inputs(g: Generator) -> list[Case]:
    def case(label: str, n_q: int, n_k: int, h: int, r: int, **options: object) -> Case:
        given = drawn_composition(g, n_q, n_k, h, r, options.pop("dtype", torch.float32))
        return Case(label, given, {"n_q": n_q, "n_k": n_k, "h": h, "r": r}, **options)

    return [
        case("with four heads", 5, 6, 4, 2),
        case("with more queries than keys", 7, 4, 5, 3),
        case("with one query", 1, 6, 3, 2, edge=True),
        case("in float64", 4, 5, 6, 2, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="talk",
        lesson="15",
        title="Talking heads",
        prompt=(
            "Talking heads. `scores` is `(b, h, n_q, n_k)`, scaled already; `p_scores` and `p_weights` are "
            "`(h, h)`; `mask` is `(n_q, n_k)`, True where a query may attend, at least once in each row. Mix "
            "the heads' scores: new map j is the sum over i of map i times `p_scores[i, j]`. Then mask, "
            "softmax over the keys, and mix the weights in the same way with `p_weights`. Return the mixed "
            "weights `(b, h, n_q, n_k)`."
        ),
        signature="talk(scores, p_scores, p_weights, mask) -> weights",
        reference=talk,
        inputs=_talk_inputs,
        returns=(Returned("weights", ("b", "h", "n_q", "n_k")),),
        mistakes=TALKING_MISTAKES,
        hints=(
            "Four steps, in the order of the text. What happens to -inf in a sum with shares of both signs?",
            "A mixing is a sum over i, for every j: `einsum` writes it down with one letter for each axis.",
            (
                "mixed scores: (b, h, n_q, n_k), the sum over old heads\n"
                "hidden ones become -inf; softmax over keys\n"
                "mixed weights, in the same way, with the other matrix"
            ),
        ),
        why=(
            "Before the softmax, heads share what they score; after it, they share where they look. A hidden "
            "key has weight 0 in every map, so no mixing brings it back."
        ),
        readers=read_talking,
    ),
    Exercise(
        name="composition_matrices",
        lesson="15",
        title="How heads meet, pair by pair",
        prompt=(
            "How heads meet in dynamic composition, for every pair of a query and a key. `w_b` is `(h, h)`. "
            "Each query's token brings `w_q1` `(n_q, h, r)`, `w_q2` `(n_q, r, h)` and a gate `g_q` "
            "`(n_q, h)`; each key's token brings `w_k1` `(n_k, h, r)`, `w_k2` `(n_k, r, h)` and `g_k` "
            "`(n_k, h)`. The matrix of the pair (t, s) is the static one, plus the low-rank product and the "
            "diagonal matrix of gates of query t, plus those of key s. Return all of them, "
            "`(n_q, n_k, h, h)`."
        ),
        signature="composition_matrices(w_b, w_q1, w_q2, g_q, w_k1, w_k2, g_k) -> matrices",
        reference=composition_matrices,
        inputs=_composition_inputs,
        returns=(Returned("matrices", ("n_q", "n_k", "h", "h")),),
        mistakes=COMPOSITION_MISTAKES,
        hints=(
            "First one side by itself: what does query t bring, as an h x h matrix? Then the other side.",
            "Gates become a diagonal matrix (`diag_embed`). Which new axes let every query meet every key?",
            (
                "of_query = products + diagonal matrices: (n_q, h, h)\n"
                "of_key = the same of the keys: (n_k, h, h)\n"
                "static + of_query with an axis for keys + of_key with an axis for queries"
            ),
        ),
        why=(
            "No matrix is learned for a pair: each token brings its part, and a pair adds two. That is why "
            "the layer can compute with narrow factors, and never needs these matrices."
        ),
        readers=read_composition,
    ),
)
