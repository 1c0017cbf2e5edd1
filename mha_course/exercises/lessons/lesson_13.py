"""Exercises of lesson 13, on cost: the roofline, the intensity of attending to a cache, the cache's bytes."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned
from mha_course.exercises.mistakes.of_cache_costs import BYTES_MISTAKES, INTENSITY_MISTAKES
from mha_course.exercises.mistakes.of_roofline import ROOF_MISTAKES
from mha_course.exercises.reading.cache_costs import INTENSITY
from mha_course.exercises.reading.doubled import Doubled
from mha_course.exercises.reading.roofline import read_roof
from mha_course.exercises.reading.units import InBytes


def attainable_flops(flops: Tensor, moved: Tensor, peak: float, bandwidth: float) -> Tensor:
    """FLOPs a second that the roofline allows: (stages,), (stages,) -> (stages,)."""
    intensity = flops / moved  # FLOPs per byte
    # Whoever computes little with each byte waits for memory; nobody is faster than the peak.
    return (intensity * bandwidth).clamp(max=peak)


def cached_intensity(b: int, length: int, h: int, n_kv_heads: int, d_k: int, bytes_per_number: int) -> float:
    """FLOPs per byte when one new token in each sequence attends to `length` keys."""
    flops = 2 * (2 * b * h * length * d_k)  # scores and weighted sum, two for a multiply-add
    # Every query head computes, and those of a group read the same keys and values.
    read = b * h * d_k + 2 * b * n_kv_heads * length * d_k
    written = b * h * d_k
    return flops / (bytes_per_number * (read + written))


def kv_cache_bytes(
    b: int, length: int, d_model: int, h: int, n_kv_heads: int, n_layers: int, bytes_per_number: int
) -> int:
    """Bytes of all keys and values of b sequences."""
    d_k = d_model // h
    # Sharing makes key/value heads fewer, not wider.
    each_token = 2 * n_layers * n_kv_heads * d_k
    return b * length * each_token * bytes_per_number


def _roof_inputs(g: Generator) -> list[Case]:
    def case(
        label: str, flops: list[float], moved: list[float], peak: float, bandwidth: float, **options: object
    ) -> Case:
        dtype = options.pop("dtype", torch.float32)
        arguments = (torch.tensor(flops, dtype=dtype), torch.tensor(moved, dtype=dtype), peak, bandwidth)
        return Case(label, arguments, {"stages": len(flops)}, **options)

    return [
        case("on both sides of the ridge", [24.0, 90.0, 400.0, 6.0], [12.0, 3.0, 8.0, 5.0], 96.0, 10.0),
        case(
            "with a fast memory",
            [9.0, 14.0, 3.0, 30.0, 2.5, 8.0],
            [16.0, 4.0, 9.0, 5.0, 7.0, 10.0],
            4.0,
            5.0,
        ),
        case("on a published device", [6e11, 8e12, 5e8], [3e11, 1.5e10, 2.5e7], 312e12, 2.039e12),
        case("where memory is always the limit", [12.0, 30.0], [8.0, 12.0], 50.0, 7.0, edge=True),
        case("where computing is always the limit", [80.0, 65.0], [2.0, 5.0], 40.0, 9.0, edge=True),
        case(
            "in float64", [24.0, 90.0, 7.0], [12.0, 3.0, 5.0], 96.0, 10.0, dtype=torch.float64, required=False
        ),
    ]


_INTENSITY_SIZES = ("b", "length", "h", "n_kv_heads", "d_k", "bytes_per_number")


def _intensity_inputs(g: Generator) -> list[Case]:
    def case(label: str, *sizes: int, **options: bool) -> Case:
        named = dict(zip(_INTENSITY_SIZES, sizes, strict=True))
        if named["n_kv_heads"] == named["h"]:
            del named["n_kv_heads"]
        return Case(label, sizes, named, **options)

    return [
        case("with grouped heads", 3, 40, 8, 2, 16, 4),
        case("with one key head for all", 5, 9, 12, 1, 20, 2),
        case("with plain heads", 3, 7, 6, 6, 12, 4),
        case("with one sequence", 1, 24, 6, 3, 10, 2),
        case("with a long cache", 7, 4096, 32, 8, 128, 2),
    ]


_BYTES_SIZES = ("b", "length", "d_model", "h", "n_kv_heads", "n_layers", "bytes_per_number")


def _bytes_inputs(g: Generator) -> list[Case]:
    def case(label: str, *sizes: int, **options: bool) -> Case:
        named = dict(zip(_BYTES_SIZES, sizes, strict=True))
        if named["n_kv_heads"] == named["h"]:
            del named["n_kv_heads"]
        return Case(label, sizes, named, **options)

    return [
        case("with grouped heads", 3, 10, 48, 8, 2, 5, 4),
        case("with one key head for all", 5, 9, 40, 4, 1, 3, 2),
        case("with plain heads", 2, 7, 60, 6, 6, 3, 4),
        case("with the sizes of LLaMA 3 70B", 1, 1000, 8192, 64, 8, 80, 2),
    ]


EXERCISES = (
    Exercise(
        name="attainable_flops",
        lesson="13",
        title="The roofline",
        prompt=(
            "`flops` and `moved` are `(stages,)`: how many operations each stage takes, and how many bytes "
            "it moves. `peak` is what a machine can do at most, in FLOPs a second; `bandwidth` is what its "
            "memory delivers at most, in bytes a second. Return for each stage the FLOPs a second that the "
            "roofline allows, `(stages,)`."
        ),
        signature="attainable_flops(flops, moved, peak, bandwidth) -> flops_a_second",
        reference=attainable_flops,
        inputs=_roof_inputs,
        returns=(Returned("FLOPs a second", ("stages",)),),
        mistakes=ROOF_MISTAKES,
        learns_through=False,
        hints=(
            "How many FLOPs does a stage get out of each byte? How many bytes come in a second?",
            "FLOPs per byte times bytes a second are FLOPs a second. What can't they exceed?",
            (
                "intensity of each stage = its operations for each byte\nslope = intensity times bandwidth\n"
                "the lower one of slope and peak"
            ),
        ),
        why=(
            "Two limits, and the lower one holds. They meet at the ridge, where the intensity is "
            "peak / bandwidth."
        ),
        readers=(read_roof,),
    ),
    Exercise(
        name="cached_intensity",
        lesson="13",
        title="FLOPs per byte of a cache",
        prompt=(
            "In each of `b` sequences one new token attends to `length` keys, its own among them. There are "
            "`h` query heads and `n_kv_heads` key/value heads, all `d_k` wide. Count the FLOPs of the scores "
            "and of the weighted sum (a multiply-add is two), and the bytes when scores and weights never "
            "leave the chip: queries, keys and values are read once, outputs are written once, "
            "`bytes_per_number` each. Return FLOPs per byte, one number."
        ),
        signature="cached_intensity(b, length, h, n_kv_heads, d_k, bytes_per_number) -> flops_per_byte",
        reference=cached_intensity,
        inputs=_intensity_inputs,
        returns=(Returned("FLOPs per byte", kind="share"),),
        mistakes=INTENSITY_MISTAKES,
        twins=("cost.stage_costs",),
        hints=(
            "Two counts, one division. For each, ask: which heads compute, and which heads are read?",
            "The scores are b · h rows of `length` products, each of d_k terms. The weighted sum is as much.",
            (
                "FLOPs = scores and weighted sum, two operations for every term\n"
                "numbers = queries and outputs of h heads, keys and values of n_kv_heads heads\n"
                "FLOPs / (numbers times bytes a number)"
            ),
        ),
        why=(
            "b and d_k cancel out, and what is left is (2 / bytes) g / (1 + g / length) with g = h / "
            "n_kv_heads query heads a group. At 16 bits plain heads stay below 1, however many sequences "
            "there are."
        ),
        readers=(
            INTENSITY.read,
            Doubled(
                _INTENSITY_SIZES,
                (3, 20, 12, 3, 10, 2),
                cached_intensity,
                "the counts above and under the fraction line.",
            ).read,
        ),
    ),
    Exercise(
        name="kv_cache_bytes",
        lesson="13",
        title="The bytes of a cache",
        prompt=(
            "How many bytes does a KV cache take? It holds, for `b` sequences of `length` tokens each, what "
            "all `n_layers` layers need of the past: `n_kv_heads` key/value heads a layer, each d_model / h "
            "wide. A number takes `bytes_per_number`. Return an `int`."
        ),
        signature="kv_cache_bytes(b, length, d_model, h, n_kv_heads, n_layers, bytes_per_number) -> int",
        reference=kv_cache_bytes,
        inputs=_bytes_inputs,
        returns=(Returned("count", kind="number"),),
        mistakes=BYTES_MISTAKES,
        hints=(
            "What does one layer keep of one token? Then: how many tokens, sequences and layers are there?",
            "One key and one value for each key/value head, each as wide as one query head.",
            (
                "width of a head = d_model shared out to h heads\n"
                "numbers a token = two for every feature of every key/value head, in every layer\n"
                "times tokens, times sequences, times bytes a number"
            ),
        ),
        why=(
            "The cache grows with every token and every sequence. Of the layer only the number of key/value "
            "heads can make it smaller, which is why they are shared."
        ),
        twins=("cost.kv_cache_bytes",),
        readers=(
            InBytes((2**20, 10**12, 2**21, 8, 2, 5, 4), kv_cache_bytes).read,
            Doubled(
                _BYTES_SIZES, (3, 10, 192, 8, 2, 5, 4), kv_cache_bytes, "what takes part, and how often."
            ).read,
        ),
    ),
)
