"""Which part of the maps BertViz is given: it draws a line for every weight, so there is a limit."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from mha_course.attention_maps import AttentionMaps
from mha_course.transformer import TransformerMaps

MOST_LAYERS, MOST_HEADS, MOST_TOKENS = 12, 12, 24
KINDS = ("encoder", "decoder", "cross")


@dataclass(frozen=True, eq=False)
class PartShown:
    """Maps that are small enough, under the names by which BertViz knows them.

    maps: AttentionMaps by kind, "self" alone or "encoder", "decoder" and "cross"; all of them have the same
    layers and heads. layers, heads: their numbers in the model, from 1. cut: sentences about what was left
    out and how it can be seen; empty when nothing was.
    """

    maps: dict[str, AttentionMaps]
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    of: tuple[int, int]
    cut: tuple[str, ...] = ()


def part_shown(
    source: object,
    layers: Sequence[int] | None,
    heads: Sequence[int] | None,
    first: int,
    layer: int | None = None,
) -> PartShown:
    """The part of `source` that is shown.

    source: AttentionMaps, TransformerMaps, or anything whose `pieces()` gives AttentionMaps. layers, heads:
    numbers from 1, None for the first twelve. first: index of the first token shown. layer: in place of
    `layers`, the one that has to be among those shown.
    Raises: ValueError for another kind of source, for maps without a token, layer or head, for a layer or a
    head that isn't there or is named twice, for more than twelve of them, and for first below 0.
    """
    by_kind = _by_kind(source)
    if isinstance(first, bool) or not isinstance(first, int) or first < 0:
        raise ValueError(f"first={first!r} must be the index of a token, 0 or more.")
    n_layers = min(maps.n_layers for maps in by_kind.values())
    n_heads = min(maps.n_heads for maps in by_kind.values())
    if not n_layers or not n_heads or any(0 in maps.weights.shape for maps in by_kind.values()):
        raise ValueError("the maps are empty: there is no layer, no head or no token to show.")
    if layer is None:
        shown_layers, left_out_layers = _chosen("layer", layers, n_layers, MOST_LAYERS)
    else:
        shown_layers, left_out_layers = _around(layer, n_layers)
    shown_heads, left_out_heads = _chosen("head", heads, n_heads, MOST_HEADS)
    cut = [*_uneven(by_kind), *left_out_layers, *left_out_heads]
    small, told = {}, []
    for kind, maps in by_kind.items():
        small[kind], words = _fewer(maps, shown_layers, shown_heads, first)
        told += words
    cut += dict.fromkeys(told)
    if cut:
        cut.append("`widgets.HeadBrowser(maps)` shows all layers and heads, and up to 128 tokens.")
    return PartShown(small, shown_layers, shown_heads, (n_layers, n_heads), tuple(cut))


def _by_kind(source: object) -> dict[str, AttentionMaps]:
    if callable(getattr(source, "pieces", None)):
        source = source.pieces()
    if isinstance(source, AttentionMaps):
        return {"self": source}
    if isinstance(source, TransformerMaps):
        by_kind = {kind: getattr(source, kind) for kind in KINDS}
        n_q, n_k = by_kind["cross"].weights.shape[-2:]
        if (n_q, n_k) != tuple(by_kind[kind].weights.shape[-1] for kind in ("decoder", "encoder")):
            raise ValueError(
                f"cross-attention has {n_q} queries and {n_k} keys, which are not as many as there are "
                "tokens in decoder and encoder: these maps don't belong together."
            )
        return by_kind
    raise ValueError(
        f"BertViz shows AttentionMaps or TransformerMaps, such as load_course_model().attend(words); "
        f"got {type(source).__name__}."
    )


def _chosen(
    name: str, wanted: Sequence[int] | None, there_are: int, most: int
) -> tuple[tuple[int, ...], list[str]]:
    """The numbers shown, and a sentence about those that are left out without having been asked for."""
    if wanted is None:
        shown = tuple(range(1, min(there_are, most) + 1))
        left_out = there_are > most
        words = f"Shown: {name}s 1 to {most} of {there_are}; `{name}s=range({most + 1}, ...)` takes others."
        return shown, [words] if left_out else []
    try:
        shown = tuple(operator.index(n) for n in wanted)
    except TypeError:
        raise ValueError(f"{name}s={wanted!r} must be a list of whole numbers, counted from 1.") from None
    if any(not 1 <= n <= there_are for n in shown):
        raise ValueError(f"{name}s={list(shown)}: there are {name}s 1 to {there_are}.")
    if not shown or len(set(shown)) < len(shown):
        raise ValueError(f"{name}s={list(shown)}: name at least one {name}, and each only once.")
    if len(shown) > most:
        raise ValueError(f"{len(shown)} {name}s are more than BertViz can draw: name at most {most}.")
    return shown, []


def _around(layer: int, there_are: int) -> tuple[tuple[int, ...], list[str]]:
    """Twelve layers with `layer` among them, and a sentence when there are more."""
    if isinstance(layer, bool) or not isinstance(layer, int) or not 1 <= layer <= there_are:
        raise ValueError(f"layer={layer!r}: there are layers 1 to {there_are}.")
    start = (layer - 1) // MOST_LAYERS * MOST_LAYERS
    stop = min(there_are, start + MOST_LAYERS)
    other = stop + 1 if stop < there_are else 1
    words = f"Shown: layers {start + 1} to {stop} of {there_are}; `layer={other}` takes others."
    return tuple(range(start + 1, stop + 1)), [words] if there_are > MOST_LAYERS else []


def _uneven(by_kind: dict[str, AttentionMaps]) -> list[str]:
    """BertViz has one list of layers for all kinds: what only some have can't be chosen in it."""
    sizes = {kind: (maps.n_layers, maps.n_heads) for kind, maps in by_kind.items()}
    if len(set(sizes.values())) == 1:
        return []
    told = ", ".join(f"{kind} {layers} × {heads}" for kind, (layers, heads) in sizes.items())
    return [
        f"Layers × heads differ ({told}) and BertViz can show only those that all have; "
        "give it `maps.encoder`, `maps.decoder` or `maps.cross` alone to see the rest."
    ]


def _fewer(
    maps: AttentionMaps, layers: Sequence[int], heads: Sequence[int], first: int
) -> tuple[AttentionMaps, list[str]]:
    """These layers and heads, at most 24 queries and keys, and a sentence when tokens were left out."""
    weights = maps.weights.detach().double().cpu()
    weights = weights[torch.tensor(layers) - 1][:, torch.tensor(heads) - 1]
    rows, columns = (_window(n, first) for n in weights.shape[-2:])
    words = [
        f"Shown: tokens {window.start + 1} to {window.stop} of {n}; `first={_next(window, n)}` shows others."
        for window, n in zip((rows, columns), weights.shape[-2:], strict=True)
        if n > MOST_TOKENS
    ]
    if columns.stop - columns.start < weights.shape[-1]:
        words.append("Weight that goes to a token that is left out has no line.")
    small = replace(
        maps,
        weights=weights[..., rows, columns],
        query_tokens=maps.query_tokens[rows],
        key_tokens=maps.key_tokens[columns],
        allowed=None if maps.allowed is None else maps.allowed[rows, columns],
    )
    return small, words


def _window(n: int, first: int) -> slice:
    start = max(0, min(first, n - MOST_TOKENS))
    return slice(start, min(n, start + MOST_TOKENS))


def _next(window: slice, n: int) -> int:
    return window.stop if window.stop < n else 0
