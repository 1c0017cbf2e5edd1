"""Exercises of lesson 13, on heads: keys that query heads share, and rotary positions."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw, numbered
from mha_course.exercises.mistakes.of_rotation import ROTATION_MISTAKES
from mha_course.exercises.mistakes.of_shared_keys import SHARED_MISTAKES
from mha_course.exercises.reading.rotation import read_rotation
from mha_course.exercises.reading.shared_keys import read_shared


def share_keys(k: Tensor, h: int) -> Tensor:
    """The keys that each query head reads: (b, n_kv_heads, n, d_k) -> (b, h, n, d_k)."""
    b, n_kv_heads, n, d_k = k.shape
    group = h // n_kv_heads
    # The axis of copies stands behind that of key heads, so that copies of one head are neighbours.
    copies = k[:, :, None].expand(b, n_kv_heads, group, n, d_k)
    return copies.reshape(b, h, n, d_k)


def rotate_pairs(x: Tensor, start: int, base: float) -> Tensor:
    """Turn every pair of neighbours by the angle of its position: (b, h, n, d_k) -> the same."""
    n, d_k = x.shape[-2:]
    position = start + torch.arange(n, dtype=x.dtype)
    frequency = base ** (-torch.arange(0, d_k, 2, dtype=x.dtype) / d_k)
    angle = position[:, None] * frequency  # (n, d_k / 2)
    cos, sin = angle.cos(), angle.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = (first * cos - second * sin, first * sin + second * cos)
    # Stacked in an axis behind the features, the two of a pair are neighbours again.
    return torch.stack(turned, dim=-1).flatten(-2)


def _shared_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n_kv_heads: int, h: int, n: int, d_k: int, **options: object) -> Case:
        k = numbered(b, n_kv_heads, n, d_k).to(options.pop("dtype", torch.float32)) + 1
        sizes = {"b": b, "n_kv_heads": n_kv_heads, "h": h, "n": n, "d_k": d_k}
        if n_kv_heads == h:
            del sizes["n_kv_heads"]
        coded = ("sentence", "head", "token", "feature")
        return Case(label, (k, h), sizes, coded=coded, **options)

    return [
        case("with two key heads", 3, 2, 8, 5, 7),
        case("with three key heads", 2, 3, 12, 5, 7),
        case("with one key head for all", 2, 1, 6, 4, 3),
        case("with as many key heads as query heads", 2, 4, 4, 5, 3),
        case("in float64", 2, 3, 6, 4, 5, dtype=torch.float64, required=False),
    ]


def _rotation_inputs(g: Generator) -> list[Case]:
    def case(
        label: str, b: int, h: int, n: int, d_k: int, start: int, base: float, **options: object
    ) -> Case:
        x = draw(g, b, h, n, d_k, dtype=options.pop("dtype", torch.float32))
        return Case(label, (x, start, base), {"b": b, "h": h, "n": n, "d_k": d_k}, **options)

    return [
        case("behind a cache of 7 tokens", 2, 3, 5, 8, 7, 500_000.0),
        case("from position 0 on", 3, 2, 4, 6, 0, 10_000.0),
        case("with a small base", 2, 4, 3, 10, 3, 20.0),
        case("with one pair", 4, 3, 5, 2, 6, 100.0, edge=True),
        case("in float64", 2, 3, 5, 4, 7, 10_000.0, dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="share_keys",
        lesson="13",
        title="Shared keys",
        prompt=(
            "`k` is `(b, n_kv_heads, n, d_k)`, the keys of a layer with `h` query heads. Neighbours share: "
            "the first h / n_kv_heads query heads read the first key head, and so on. Return the keys as "
            "each query head finds them, `(b, h, n, d_k)`."
        ),
        signature="share_keys(k, h) -> keys",
        reference=share_keys,
        inputs=_shared_inputs,
        returns=(Returned("keys", ("b", "h", "n", "d_k")),),
        mistakes=SHARED_MISTAKES,
        hints=(
            "How many query heads share one key head? Which one does query head i read?",
            "Copies of one head should be neighbours. Put them in an axis of their own behind that of heads.",
            (
                "group = query heads for each key head\n(b, n_kv_heads, 1, n, d_k)\n"
                "(b, n_kv_heads, group, n, d_k), copies\ntwo axes become one: (b, h, n, d_k)"
            ),
        ),
        why=(
            "Query head i reads key head i // group, and a layer's weights are made for that order. A kernel "
            "that knows groups needs no copies: it reads each key head once, which is the point of sharing."
        ),
        readers=(read_shared,),
    ),
    Exercise(
        name="rotate_pairs",
        lesson="13",
        title="Rotary positions",
        prompt=(
            "Rotary positions, paired as in LLaMA's own code. `x` is `(b, h, n, d_k)`, queries or keys of "
            "tokens at the positions start, start + 1, and so on. Pair j holds the neighbours 2j and 2j + 1. "
            "At position p turn it by the angle θ = p · base^(-2j / d_k): (x1, x2) becomes (x1 cos θ - "
            "x2 sin θ, x1 sin θ + x2 cos θ). Return the same shape."
        ),
        signature="rotate_pairs(x, start, base) -> turned",
        reference=rotate_pairs,
        inputs=_rotation_inputs,
        returns=(Returned("turned", ("b", "h", "n", "d_k")),),
        mistakes=ROTATION_MISTAKES,
        twins=("positions.rotate_by_position", "variants.rotary.rotated"),
        hints=(
            "First the angles, one for each position and pair. Then even and odd features by themselves.",
            "A slice with a step of 2 takes every other feature. How do two such slices become one again?",
            (
                "positions (n,), frequencies (d_k / 2,), angles (n, d_k / 2)\n"
                "first = even features, second = odd ones\nturn: two new tensors of that shape\n"
                "side by side in a last axis of 2, and that axis joined to the one before"
            ),
        ),
        why=(
            "The product of a turned query and a turned key depends on how far apart they are, not on where "
            "they stand. So keys can be kept turned in a cache."
        ),
        readers=(read_rotation,),
    ),
)
