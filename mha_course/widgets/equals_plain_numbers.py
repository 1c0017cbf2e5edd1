"""What EqualsPlain shows beside its difference: costs next to plain heads, and each variant in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from mha_course.layers import MultiHeadAttention
from mha_course.plots import numerals
from mha_course.variants.line_up import variant
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.variant_costs import VariantCost, variant_cost

ROUNDING = 1e-12  # float64: what is below is left of sums in another order
LARGE = (512, 8, 512)  # d_model, h, n of a layer as it is used


@dataclass(frozen=True)
class Told:
    """A variant in words. title; formula; option: name and words of its whole number, if it has one; bill:
    what its costs are made of;
    distance: what t is a distance from."""

    title: str
    formula: str
    option: tuple[str, str] | None
    bill: str
    distance: str = "distance t from the plain layer"


TOLD = {
    "grouped": Told(
        "Plain heads on the way to grouped ones",
        "plain W_K^(i) = mean of its group + t · (own − mean)",
        None,
        "Two heads share a key head and a value head: half of W_K and W_V, half of the cache. Scores cost "
        "the same.",
        "distance t from the grouped layer",
    ),
    "collaborative": Told(
        "Collaborative heads on the way to plain ones",
        "M = blocks + t · (draws − blocks)",
        None,
        "At full width every head works in all h · d_k shared features, so the scores cost h times as much. "
        "A smaller width is what saves parameters; at width d_k the scores cost what plain ones do. The "
        "large layer has biases, so a content bias: h numbers more of each token in the cache.",
    ),
    "overlapping": Told(
        "Overlapping heads on the way to plain ones",
        "window = own features, t · (o neighbours on either side)",
        ("overlap o", "of a neighbour's features from either side"),
        "Scores and sums are 2 o features wider, W_O gets 2 o rows a head more; the projections and the "
        "cache stay.",
    ),
    "mixture": Told(
        "A mixture of heads on the way to plain ones",
        "routers = t · draws; every gate is 1 at t = 0",
        ("chosen K", "of the routed heads chosen by a token"),
        "With every head chosen nothing is saved, and routers are added. Fewer chosen heads save rows of "
        "W_Q, scores, sums and W_O; keys and values of all heads stay.",
    ),
    "talking": Told(
        "Talking heads on the way to plain ones",
        "P = identity + t · draws, before and after the softmax",
        None,
        "Two matrices of h × h numbers, and 4 n n_k h² FLOPs to use them for every pair; the cache stays.",
    ),
    "composable": Told(
        "Dynamically composable heads on the way to plain ones",
        "W = W_b + w_q1 w_q2 + diag(g_q) + w_k1 w_k2 + diag(g_k)",
        None,
        "What tokens say about composing costs parameters, its use costs FLOPs for every pair, and the key's "
        "part stands in the cache.",
    ),
}


def _mixture(d_model: int, h: int, share: float) -> MixtureOfHeads:
    common = max(1, h // 4)
    return MixtureOfHeads(d_model, h, common, round(share * (h - common)), bias=True)


_LARGE: dict[str, Callable[[int, int, float], MultiHeadAttention]] = {
    "grouped": lambda d_model, h, share: MultiHeadAttention(d_model, h, n_kv_heads=h // 2, bias=True),
    "collaborative": lambda d_model, h, share: variant("collaborative").make(d_model, h, 0.0),
    "overlapping": lambda d_model, h, share: OverlappingHeads(
        d_model, h, round(share * d_model / h), bias=True
    ),
    "mixture": _mixture,
    "talking": lambda d_model, h, share: variant("talking").make(d_model, h, 0.0),
    "composable": lambda d_model, h, share: variant("composable").make(d_model, h, 0.0),
}


def bill(name: str, layer: MultiHeadAttention, n: int, share: float) -> list[dict[str, object]]:
    """Costs beside those of plain heads, for the layer given and for one of LARGE sizes with biases.

    share: of its largest value that the variant's whole number has (overlap of d_k, chosen of routed).
    Returns: for either layer its sizes in words and rows of texts (plain, variant, ratio), with exact ones.
    """
    d_model, h, long = LARGE
    # Counting needs sizes only: on the meta device no numbers are made.
    with torch.device("meta"):
        pairs = [
            (MultiHeadAttention(layer.d_model, layer.h), layer, n),
            (variant("plain").make(d_model, h, 0.0), _LARGE[name](d_model, h, share), long),
        ]
    return [
        {
            "sizes": f"d_model = {one.d_model}, h = {one.h}, n = {length}{_own_size(one)}",
            "rows": _rows(variant_cost(plain, length), variant_cost(one, length)),
        }
        for plain, one, length in pairs
    ]


def _own_size(layer: MultiHeadAttention) -> str:
    if isinstance(layer, OverlappingHeads):
        return f", o = {layer.overlap}"
    return f", K = {layer.chosen}" if isinstance(layer, MixtureOfHeads) else ""


def _rows(plain: VariantCost, one: VariantCost) -> list[dict[str, object]]:
    numbers = (
        ("parameters", "parameters", plain.parameters, one.parameters),
        ("flops", "FLOPs of n tokens", plain.flops, one.flops),
        ("cached", "cache of a token, 16 bits", plain.cache_bytes(), one.cache_bytes()),
    )
    return [
        {
            "key": key,
            "name": words,
            "plain": numerals.prefixed(before, "B" if key == "cached" else ""),
            "variant": numerals.prefixed(after, "B" if key == "cached" else ""),
            "ratio": _ratio(before, after),
            "exact": f"{words}: plain {before:,}, here {after:,}",
        }
        for key, words, before, after in numbers
    ]


def _ratio(before: int, after: int) -> str:
    # What is nearly the same isn't the same: as many digits as show that.
    texts = (f"{after / before:.{digits}g}" for digits in range(3, 12))
    return f"{next(text for text in texts if text != '1' or after == before)} ×"


def size_in_words(value: float) -> str:
    """A difference as it is read out: 0.42, 3.1×10⁻⁶, 0."""
    return numerals.number(value)


def verdict(name: str, t: float, output: float, gradient: float, option: int | None, most: int) -> str:
    """What the two differences say, with the reason where they don't vanish at t = 0."""
    if output < ROUNDING and gradient < ROUNDING:
        why = " for every t, because no feature of a neighbour is read" if option == 0 and t > 0 else ""
        return (
            f"Equal to plain heads{why}: what is left, {size_in_words(max(output, gradient))}, is rounding "
            "of 64-bit numbers."
        )
    if name == "mixture" and option is not None and option < most:
        left = most - option
        return (
            f"Not the plain layer, whatever t is: {left} of the {most} routed heads "
            f"{'is' if left == 1 else 'are'} left out for every token, and the others can't stand in."
        )
    near = " Near t = 0 it shrinks as t does: a tenth of t, a tenth of the difference." if t < 0.05 else ""
    return (
        f"Apart: some output differs by {size_in_words(output)}, some gradient by {size_in_words(gradient)}."
        + near
    )
