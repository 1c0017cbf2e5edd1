"""What a HeadBrowser sends: maps checked, weights as whole numbers, and each head's numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from mha_course.attention_maps import AttentionMaps
from mha_course.heads.map_numbers import mean_distance, share_on_itself
from mha_course.text.readable import readable
from mha_course.transformer.whole import TransformerMaps

KINDS = {
    "self": "self-attention",
    "encoder": "encoder self-attention",
    "decoder": "decoder masked self-attention",
    "cross": "cross-attention",
}
# Up to so many weights go to the page with 12 bits each, more with 8; 12 x 12 heads x 24 x 24 are 82,944.
MOST_EXACT = 150_000
MOST_TOKENS = 128
MOST_WEIGHTS = 12_000_000


def maps_by_kind(maps: AttentionMaps | TransformerMaps) -> dict[str, AttentionMaps]:
    """One AttentionMaps a kind, in the order of the model; readable tokens, sizes that a page can hold.

    Raises: TypeError for anything else; ValueError for maps without a head or a token, and for more weights
    than a page can hold.
    """
    if hasattr(maps, "pieces"):
        maps = (
            maps.pieces()
        )  # what `read` of a pretrained model gives: word pieces, special tokens among them
    if isinstance(maps, AttentionMaps):
        return {maps.kind: checked(maps)}
    found = {name: getattr(maps, name, None) for name in ("encoder", "decoder", "cross")}
    found = {name: one for name, one in found.items() if isinstance(one, AttentionMaps)}
    if not found:
        got = type(maps).__name__
        raise TypeError(f"needed: AttentionMaps or TransformerMaps, as from model.attend(...); got {got}.")
    return {name: checked(one) for name, one in found.items()}


def checked(maps: AttentionMaps) -> AttentionMaps:
    """The maps as they can be shown: at most 128 tokens a side, and the note says so."""
    if 0 in maps.weights.shape:
        raise ValueError(f"these maps hold nothing: weights of shape {tuple(maps.weights.shape)}.")
    weights, queries, keys = maps.weights.detach(), maps.query_tokens, maps.key_tokens
    allowed, note = maps.allowed, maps.note
    if max(len(queries), len(keys)) > MOST_TOKENS:
        cut = f"The first {MOST_TOKENS} of {max(len(queries), len(keys))} tokens."
        weights, note = weights[..., :MOST_TOKENS, :MOST_TOKENS], f"{cut} {note}".strip()
        allowed = allowed if allowed is None else allowed[:MOST_TOKENS, :MOST_TOKENS]
        queries, keys = queries[:MOST_TOKENS], keys[:MOST_TOKENS]
    if weights.numel() > MOST_WEIGHTS:
        raise ValueError(
            f"{weights.numel():,} weights are more than a page can hold ({MOST_WEIGHTS:,}); "
            "show fewer layers, as in AttentionMaps(maps.weights[:12], ...)."
        )
    weights = weights.float().nan_to_num(0.0).clamp(0, 1)
    queries, keys = ([readable(token) for token in tokens] for tokens in (queries, keys))
    return AttentionMaps(weights, queries, keys, maps.kind, allowed, readable(note))


def check_head(maps: AttentionMaps, layer: int, head: int) -> None:
    """Raises: ValueError for a layer or a head, counted from 1, that the maps don't have."""
    if not (1 <= layer <= maps.n_layers and 1 <= head <= maps.n_heads):
        raise ValueError(
            f"layer={layer}, head={head}: there are {maps.n_layers} layers of {maps.n_heads} heads, from 1."
        )


def packed(maps: AttentionMaps) -> tuple[dict[str, object], bytes]:
    """Sizes, tokens and numbers of the maps, and their bytes: weights, then the allowed cells if any."""
    bits = 12 if maps.weights.numel() <= MOST_EXACT else 8
    whole = (maps.weights * (2**bits - 1)).round().to(torch.int32).cpu().numpy().ravel()
    payload = whole.astype(np.uint8).tobytes() if bits == 8 else _twelve_bits(whole)
    allowed = allowed_cells(maps)
    if allowed is not None:
        payload += allowed.to(torch.uint8).numpy().tobytes()
    shown = maps.weights.sum(-1).mean(-1)
    # Where weight went to tokens that are left out, the numbers are those of the part on show.
    part = maps if float(shown.min()) > 0.98 else of_the_part_on_show(maps)
    square = maps.query_tokens == maps.key_tokens and maps.kind != "cross"
    header = {
        "layers": maps.n_layers,
        "heads": maps.n_heads,
        "queries": list(maps.query_tokens),
        "keys": None if square else list(maps.key_tokens),
        "bits": bits,
        "masked": allowed is not None,
        "note": maps.note,
        "max": round(float(maps.weights.max()), 4),
        "spread": rounded(part.spread()),
        "itself": rounded(share_on_itself(part)) if square else None,
        "distance": rounded(mean_distance(part)) if square else None,
        "elsewhere": None if part is maps else rounded(1 - shown),
    }
    return header, payload


def unpacked(header: Mapping[str, object], payload: bytes) -> np.ndarray:
    """(layers, heads, n_q, n_k): the weights that a page reads out of the bytes."""
    keys = header["queries"] if header["keys"] is None else header["keys"]
    shape = (header["layers"], header["heads"], len(header["queries"]), len(keys))
    count, start = int(np.prod(shape)), int(header["offset"])
    if header["bits"] == 8:
        whole = np.frombuffer(payload, np.uint8, count, start)
    else:
        three = np.frombuffer(payload, np.uint8, 3 * -(-count // 2), start).reshape(-1, 3).astype(int)
        first, second = three[:, 0] | (three[:, 1] & 15) << 8, three[:, 1] >> 4 | three[:, 2] << 4
        whole = np.stack([first, second], axis=1).ravel()[:count]
    return whole.reshape(shape) / (2 ** header["bits"] - 1)


def _twelve_bits(whole: np.ndarray) -> bytes:
    """Numbers from 0 to 4095, two in three bytes: the low eight bits of the first come first."""
    pairs = np.append(whole, np.zeros(len(whole) % 2, dtype=whole.dtype)).reshape(-1, 2)
    first, second = pairs.T
    three = np.stack([first & 255, first >> 8 | (second & 15) << 4, second >> 4], axis=1)
    return three.astype(np.uint8).tobytes()


def of_the_part_on_show(maps: AttentionMaps) -> AttentionMaps:
    """The same maps with rows that sum to 1, or to 0 where they hold nothing."""
    weights = maps.weights / maps.weights.sum(-1, keepdim=True).clamp(min=1e-12)
    return AttentionMaps(weights, maps.query_tokens, maps.key_tokens, maps.kind, maps.allowed, maps.note)


def allowed_cells(maps: AttentionMaps) -> Tensor | None:
    """(n_q, n_k) bool, False also in rows that have no weight in any head; None when every cell counts."""
    some = (maps.weights.sum(-1) > 0).any(dim=0).any(dim=0)
    allowed = torch.ones(len(maps.query_tokens), len(maps.key_tokens), dtype=torch.bool)
    if maps.allowed is not None:
        allowed = maps.allowed.cpu()
    allowed = allowed & some.cpu()[:, None]
    return None if bool(allowed.all()) else allowed


def rounded(values: Tensor) -> list[list[float]]:
    """(layers, heads) as lists with two decimals."""
    return np.round(values.double().cpu().numpy(), 2).tolist()


def in_words(maps: Mapping[str, AttentionMaps]) -> str:
    """What the picture shows, for whoever doesn't see it."""
    parts = []
    for name, one in maps.items():
        n_q, n_k = one.weights.shape[-2:]
        tokens = f"{n_q} tokens" if one.query_tokens == one.key_tokens else f"{n_q} queries by {n_k} keys"
        spread = one.spread().flatten()
        low, high = (divmod(int(at), one.n_heads) for at in (spread.argmin(), spread.argmax()))
        sizes = f"{KINDS.get(name, name)}, {one.n_layers} layers of {one.n_heads} heads, {tokens}"
        narrow = f"narrowest: layer {low[0] + 1} head {low[1] + 1}, spread {spread.min():.2f}"
        broad = f"broadest: layer {high[0] + 1} head {high[1] + 1}, spread {spread.max():.2f}"
        parts.append(f"{sizes}; {narrow}; {broad}")
    return f"Attention maps of all heads on one colour scale. {'. '.join(parts)}."
