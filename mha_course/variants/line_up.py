"""All variants side by side: what each is called, how it is made, and what it keeps in a cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mha_course.attention import head_size
from mha_course.layers import MultiHeadAttention
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads

Make = Callable[[int, int, float], MultiHeadAttention]


@dataclass(frozen=True)
class Variant:
    """One way to arrange heads.

    name: a short key. words: its name in a table. source: author and year. make(d_model, h, dropout): the
    layer, with biases, as `EncoderLayer` has them."""

    name: str
    words: str
    source: str
    make: Make


def _overlapping(d_model: int, h: int, dropout: float) -> OverlappingHeads:
    # A quarter of a head's own features from each side; a head of few features takes one.
    overlap = max(1, head_size(d_model, h) // 4)
    return OverlappingHeads(d_model, h, overlap, bias=True, dropout=dropout)


def _mixture(d_model: int, h: int, dropout: float) -> MixtureOfHeads:
    # A quarter of the heads shared, at least one, half of the others chosen: 5 of 8 heads a token.
    shared = max(1, h // 4)
    return MixtureOfHeads(d_model, h, shared, (h - shared) // 2, bias=True, dropout=dropout)


VARIANTS = (
    Variant(
        "plain",
        "plain heads",
        "Vaswani et al. 2017",
        lambda d_model, h, dropout: MultiHeadAttention(d_model, h, bias=True, dropout=dropout),
    ),
    Variant(
        "wide",
        "plain heads, twice as wide as d_model / h",
        "Bhojanapalli et al. 2020",
        lambda d_model, h, dropout: MultiHeadAttention(
            d_model, h, 2 * head_size(d_model, h), 2 * head_size(d_model, h), bias=True, dropout=dropout
        ),
    ),
    Variant(
        "grouped",
        "grouped queries, h / 4 key heads",
        "Ainslie et al. 2023",
        lambda d_model, h, dropout: MultiHeadAttention(
            d_model, h, n_kv_heads=max(1, h // 4), bias=True, dropout=dropout
        ),
    ),
    Variant(
        "multi-query",
        "one key head for all",
        "Shazeer 2019",
        lambda d_model, h, dropout: MultiHeadAttention(d_model, h, n_kv_heads=1, bias=True, dropout=dropout),
    ),
    Variant(
        "collaborative",
        "collaborative heads, full width",
        "Cordonnier et al. 2020",
        lambda d_model, h, dropout: CollaborativeHeads(
            d_model, h, mixing="normal", content_bias=True, bias=True, dropout=dropout
        ),
    ),
    Variant(
        "collaborative, half",
        "collaborative heads, half width",
        "Cordonnier et al. 2020",
        lambda d_model, h, dropout: CollaborativeHeads(
            d_model, h, d_model // 2, mixing="normal", content_bias=True, bias=True, dropout=dropout
        ),
    ),
    Variant("overlapping", "overlapping heads", "Zhang et al. 2024", _overlapping),
    Variant("mixture", "mixture of heads", "Jin et al. 2024", _mixture),
    Variant(
        "talking",
        "talking heads",
        "Shazeer et al. 2020",
        lambda d_model, h, dropout: TalkingHeads(d_model, h, bias=True, dropout=dropout),
    ),
    Variant(
        "composable",
        "dynamically composable heads",
        "Xiao et al. 2024",
        lambda d_model, h, dropout: DynamicallyComposableHeads(d_model, h, bias=True, dropout=dropout),
    ),
)


def variant(name: str) -> Variant:
    """The variant of this name. Raises: ValueError that lists the names."""
    for each in VARIANTS:
        if each.name == name:
            return each
    raise ValueError(f"{name!r} is no variant; there are {', '.join(each.name for each in VARIANTS)}.")


def cached_numbers(layer: MultiHeadAttention) -> int:
    """How many numbers a layer keeps of each earlier token when it writes word by word.

    Plain: n_kv_heads (d_k + d_v). Collaborative heads keep one shared key (`width`), the content bias of
    every head, and the values. Overlapping heads cut their windows afterwards, so they keep what plain heads
    keep. Composable heads add what the key's token says about composing."""
    if isinstance(layer, CollaborativeHeads):
        bias = 0 if layer.content_bias is None else layer.h
        return layer.width + bias + layer.h * layer.d_v
    if isinstance(layer, OverlappingHeads):
        return 2 * layer.h * layer.own
    kept = layer.n_kv_heads * (layer.d_k + layer.d_v)
    if isinstance(layer, DynamicallyComposableHeads):
        kept += sum(2 * part.rank * part.h + part.h for part in (layer.before, layer.after))
    return kept
