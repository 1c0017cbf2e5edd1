"""Exercises of lesson 13, on heads: a cache, keys that query heads share, and rotary positions."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw, numbered
from mha_course.exercises.mistakes.of_cached_attention import CACHED_MISTAKES
from mha_course.exercises.mistakes.of_rotation import ROTATION_MISTAKES
from mha_course.exercises.mistakes.of_shared_keys import SHARED_MISTAKES
from mha_course.exercises.reading.cached_attention import read_cached
from mha_course.exercises.reading.rotation import read_rotation
from mha_course.exercises.reading.shared_keys import read_shared


def attend_with_cache(
    q: Tensor, k: Tensor, v: Tensor, cached_k: Tensor, cached_v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Output of n new tokens behind a cache, (b, h, n, d_v), with all keys and all values so far."""
    keys = torch.cat((cached_k, k), dim=2)
    values = torch.cat((cached_v, v), dim=2)
    scores = q @ keys.transpose(-2, -1) / math.sqrt(q.shape[-1])
    n, n_k = scores.shape[-2:]
    # The last query and the last key are the same token, so the mask is aligned at the lower right.
    later = torch.ones(n, n_k, dtype=torch.bool).triu(n_k - n + 1)
    weights = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
    return weights @ values, keys, values


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


def _cache_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, h: int, n: int, length: int, d_k: int, d_v: int, **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        shapes = ((n, d_k), (n, d_k), (n, d_v), (length, d_k), (length, d_v))
        tensors = tuple(draw(g, b, h, *shape, dtype=dtype) for shape in shapes)
        sizes = {"b": b, "h": h, "n": n, "length": length, "d_k": d_k, "d_v": d_v}
        return Case(label, tensors, sizes, **options)

    return [
        case("with several new tokens", 3, 2, 4, 7, 6, 5),
        case("with more new tokens than cached ones", 2, 4, 6, 3, 5, 7),
        case("with one new token", 2, 3, 1, 6, 4, 5),
        case("with an empty cache", 2, 3, 5, 0, 4, 6, edge=True),
        case("in float64", 2, 3, 4, 6, 5, 7, dtype=torch.float64, required=False),
    ]


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
        name="attend_with_cache",
        lesson="13",
        title="Attention with a cache",
        prompt=(
            "`q` and `k` `(b, h, n, d_k)` and `v` `(b, h, n, d_v)` belong to the n newest tokens of a text. "
            "The cache, `cached_k` `(b, h, length, d_k)` and `cached_v` `(b, h, length, d_v)`, holds the "
            "tokens before them. A new token attends to the whole cache, to the new tokens before it, and to "
            "itself; scores are divided by the root of d_k. Return three tensors: the output of the new "
            "tokens `(b, h, n, d_v)`, all keys so far, and all values so far."
        ),
        signature="attend_with_cache(q, k, v, cached_k, cached_v) -> (output, keys, values)",
        reference=attend_with_cache,
        inputs=_cache_inputs,
        returns=(
            Returned("output", ("b", "h", "n", "d_v")),
            Returned("keys", ("b", "h", "length", "d_k")),
            Returned("values", ("b", "h", "length", "d_v")),
        ),
        mistakes=CACHED_MISTAKES,
        hints=(
            "First the longer cache. Then attention as ever, with fewer queries than keys.",
            "Query 0 is not token 0. At which place in the text does it stand, and what comes behind it?",
            (
                "keys, values = cache and new ones, along the axis of tokens\n"
                "scores = queries with all keys, scaled: (b, h, n, length + n)\n"
                "hide what stands behind each query; softmax; times values\nreturn the output and both caches"
            ),
        ),
        why=(
            "No earlier token looks at a later one, so nothing that was computed for it changes. Its key and "
            "its value are all that later tokens need."
        ),
        twins=("variants.kv_cache.attend_with_cache", "variants.grouped_query.grouped_attention"),
        readers=(read_cached,),
    ),
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
