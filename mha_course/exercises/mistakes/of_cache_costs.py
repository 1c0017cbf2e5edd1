"""Known mistakes of lesson 13 about a cache: FLOPs per byte of attending to it, and the bytes it takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


class Cached(NamedTuple):
    """The sizes of one new token's attention to a cache."""

    b: int
    n: int
    h: int
    kv: int
    d: int
    s: int


def queries(z: Cached) -> int:
    """Numbers of the queries, and as many of the outputs."""
    return z.b * z.h * z.d


def cached(z: Cached) -> int:
    """Numbers of the keys, and as many of the values."""
    return z.b * z.kv * z.n * z.d


def pairs(z: Cached) -> int:
    """Scores, one for every query and key."""
    return z.b * z.h * z.n


def intensity_with(
    b: int,
    length: int,
    h: int,
    n_kv_heads: int,
    d_k: int,
    bytes_per_number: int,
    *,
    given: Step = lambda z: z,
    flops: Step = lambda z: 4 * pairs(z) * z.d,
    outside: Step = lambda z: 2 * queries(z),
    inside: Step = lambda z: 2 * cached(z),
    ratio: Step = lambda flops, moved, z: flops / (z.s * moved),
    finish: Step = lambda intensity, z: intensity,
) -> Any:
    """FLOPs per byte with the steps given; right without any. outside: numbers of queries and outputs."""
    z = given(Cached(b, length, h, n_kv_heads, d_k, bytes_per_number))
    return finish(ratio(flops(z), outside(z) + inside(z), z), z)


_with = partial(Otherwise, intensity_with)

INTENSITY_MISTAKES = (
    Mistake(
        "half-the-flops",
        _with(flops=lambda z: 2 * pairs(z) * z.d),
        "Half of the FLOPs are there: a multiply-add is counted as one, or one of the two products is "
        "missing.",
        "the two products, and the factor of each.",
    ),
    Mistake(
        "keys-for-every-head",
        _with(inside=lambda z: 2 * pairs(z) * z.d),
        "Keys and values are read for each of the {h} query heads. Query heads that share them read them "
        "once.",
        "the number of heads that keys and values have.",
    ),
    Mistake(
        "flops-of-key-heads",
        _with(flops=lambda z: 4 * cached(z)),
        "The FLOPs are counted for the key heads only. Each of the {h} query heads computes its own scores.",
        "the number of heads that compute.",
    ),
    Mistake(
        "values-left-out",
        _with(inside=cached),
        "Keys are read, values are not (or the other way round). The cache holds both.",
        "what the weighted sum needs.",
    ),
    Mistake(
        "only-the-cache",
        _with(outside=lambda z: 0),
        "Only keys and values are counted as bytes. Queries are read as well, and outputs are written.",
        "what else comes to the chip, and leaves it.",
    ),
    Mistake(
        "outputs-left-out",
        _with(outside=queries),
        "Queries or outputs are missing among the bytes: the former are read, the latter written.",
        "what comes to the chip, and what leaves it.",
    ),
    Mistake(
        "scores-moved",
        _with(outside=lambda z: 2 * queries(z) + 2 * pairs(z)),
        "Scores are written and weights read back. Here they never leave the chip.",
        "what is between the two products.",
    ),
    Mistake(
        "softmax-moved",
        _with(outside=lambda z: 2 * queries(z) + 4 * pairs(z)),
        "Scores and weights are both written and read back. Here they never leave the chip.",
        "what is between the two products.",
    ),
    Mistake(
        "softmax-counted",
        _with(flops=lambda z: 4 * pairs(z) * z.d + 5 * pairs(z)),
        "The softmax is among the FLOPs, 5 a score. Scores and weighted sum are asked for.",
        "what is not a product.",
    ),
    Mistake(
        "per-number",
        _with(ratio=lambda flops, moved, z: flops / moved),
        "This is FLOPs per number. A number takes {bytes_per_number} bytes.",
        "`bytes_per_number`: where does it take part?",
    ),
    Mistake(
        "times-the-bytes",
        _with(ratio=lambda flops, moved, z: flops / moved * z.s),
        "`bytes_per_number` multiplies the result. More bytes a number mean fewer FLOPs a byte.",
        "brackets under the fraction line.",
    ),
    Mistake(
        "bytes-per-flop",
        _with(ratio=lambda flops, moved, z: z.s * moved / flops),
        "This is bytes per FLOP. The fraction is upside down.",
        "what is divided by what.",
    ),
    Mistake(
        "in-bits",
        _with(ratio=lambda flops, moved, z: flops / (8 * z.s * moved)),
        "This is FLOPs per bit: there is a factor of 8 under the fraction line.",
        "the unit of `bytes_per_number`.",
    ),
    Mistake(
        "batch-shares-the-cache",
        _with(inside=lambda z: 2 * z.kv * z.n * z.d),
        "The cache is read once for all {b} sequences. Each sequence has its own, so a larger batch gains "
        "nothing.",
        "`b` among the bytes.",
    ),
    Mistake(
        "bytes-of-one-sequence",
        _with(ratio=lambda flops, moved, z: flops * z.b / (z.s * moved)),
        "The result grows with the batch. FLOPs are counted for all sequences, and bytes for one.",
        "`b`: above and under the fraction line.",
    ),
    Mistake(
        "group-for-key-heads",
        _with(inside=lambda z: 2 * z.b * (z.h // z.kv) * z.n * z.d),
        "Keys and values are counted for h / n_kv_heads heads: that is how many query heads share. There are "
        "{n_kv_heads} of them.",
        "the number of heads that keys and values have.",
    ),
    Mistake(
        "every-token-asks",
        _with(flops=lambda z: 4 * pairs(z) * z.n * z.d),
        "The FLOPs are those of all {length} tokens as queries. Only the new one asks.",
        "how many queries there are.",
    ),
    Mistake(
        "whole-numbers",
        _with(ratio=lambda flops, moved, z: flops // (z.s * moved)),
        "The result is rounded down.",
        "`/` and `//`.",
    ),
)


def _cache_bytes(*sizes: str, factor: float = 2, by_head: bool = True) -> Step:
    """The count as a product of the sizes named, times a head's width."""
    names = ("b", "length", "d_model", "h", "n_kv_heads", "n_layers", "bytes_per_number")

    def count(*given: int) -> Any:
        of = dict(zip(names, given, strict=True))
        found = factor
        for size in sizes:
            found = found * of[size]
        return found * (of["d_model"] // of["h"] if by_head else 1)

    return count


_ALL = ("b", "length", "n_kv_heads", "n_layers", "bytes_per_number")


def _without(size: str) -> Step:
    return _cache_bytes(*(name for name in _ALL if name != size))


BYTES_MISTAKES = (
    Mistake(
        "keys-only",
        _cache_bytes(*_ALL, factor=1),
        "Keys are counted, values are not (or the other way round). The cache holds both.",
        "how many things are kept of a token.",
    ),
    Mistake(
        "every-query-head",
        _cache_bytes(*(name.replace("n_kv_heads", "h") for name in _ALL)),
        "Keys and values are counted at the full width d_model, as for {h} heads. The cache holds those of "
        "{n_kv_heads}, each as wide as a query head.",
        "the number of heads that are kept, and the width of one.",
    ),
    Mistake(
        "one-head",
        _without("n_kv_heads"),
        "One key/value head is counted; there are {n_kv_heads}.",
        "the number of heads that are kept.",
    ),
    Mistake(
        "full-width",
        _cache_bytes(*_ALL, "d_model", by_head=False),
        "Every head is counted at full width. Each is d_model / h wide.",
        "the width of one head.",
    ),
    Mistake(
        "one-layer",
        _without("n_layers"),
        "One layer is counted; each of the {n_layers} keeps its own.",
        "the number of layers.",
    ),
    Mistake(
        "one-sequence",
        _without("b"),
        "One sequence is counted; there are {b}, and they share nothing.",
        "the number of sequences.",
    ),
    Mistake(
        "one-token",
        _without("length"),
        "This is what one token takes; there are {length}.",
        "the number of tokens.",
    ),
    Mistake(
        "numbers-not-bytes",
        _without("bytes_per_number"),
        "Numbers are counted. Each takes {bytes_per_number} bytes.",
        "the unit of the result.",
    ),
    Mistake(
        "bits",
        _cache_bytes(*_ALL, factor=16),
        "This is in bits: there is a factor of 8.",
        "the unit of the result.",
    ),
    Mistake(
        "length-squared",
        _cache_bytes(*_ALL, "length"),
        "The length is squared: so many scores are computed. Kept are keys and values, one each a token.",
        "the number of tokens.",
    ),
    Mistake(
        "whole-width-kept",
        _cache_bytes("b", "length", "d_model", "n_layers", "bytes_per_number", factor=1, by_head=False),
        "What is kept is one row of d_model a token, as if inputs were kept, or keys of plain heads alone.",
        "what is kept of a token.",
    ),
    Mistake(
        "group-for-key-heads",
        lambda b, length, d, h, kv, layers, s: 2 * b * length * layers * s * (h // kv) * (d // h),
        "Counted are h / n_kv_heads heads: that is how many query heads share. {n_kv_heads} are kept.",
        "the number of heads that are kept.",
    ),
    Mistake(
        "queries-kept",
        lambda b, length, d, h, kv, layers, s: b * length * layers * s * (2 * kv + h) * (d // h),
        "Queries are counted as well. Nobody asks for the query of an earlier token again.",
        "what is kept of a token.",
    ),
    Mistake(
        "queries-at-kv-width",
        _cache_bytes(*_ALL, factor=3),
        "Three things are counted of each token. Kept are its keys and its values.",
        "what is kept of a token.",
    ),
    Mistake(
        "float-division",
        lambda b, length, d, h, kv, layers, s: 2 * b * length * layers * s * kv * (d / h),
        "The number is right, as a float. A count is a whole number.",
        "`/` and `//`.",
    ),
)
