"""Weights under their authors' names, read into the course's layers.

Each function takes a mapping of names to tensors, as a state dict or a safetensors file holds them, and gives
a layer with these weights. prefix: what stands before every name, "" for nothing; names without it are left
alone, a name with it that the map doesn't know is an error. docs/weight_maps.md says in a table what goes
where.

In all of them nn.Linear's `weight` is (out, in), and head i owns rows i * d_k .. (i + 1) * d_k - 1 of the
weights of W_Q, W_K, W_V, and columns i * d_v .. (i + 1) * d_v - 1 of that of W_O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from mha_course.attention import head_size
from mha_course.layers import MultiHeadAttention
from mha_course.sizes import check_sizes
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.mixture_of_heads import Gates, MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads

Weights = Mapping[str, Tensor]
Static = Literal["added", "alone", "twice"]


def plain_from_annotated(weights: Weights, h: int, prefix: str = "w.") -> MultiHeadAttention:
    """The Annotated Transformer's MultiHeadedAttention (Rush 2018): linears.0 to linears.3."""
    own = _Named(weights, prefix)
    parts = [own.linear(f"linears.{i}") for i in range(4)]
    return _filled(MultiHeadAttention(parts[0][0].shape[1], h, bias=True), *parts, own)


def plain_from_torch(weights: Weights, h: int, prefix: str = "w.") -> MultiHeadAttention:
    """`nn.MultiheadAttention`'s in_proj_weight, in_proj_bias and out_proj."""
    own = _Named(weights, prefix)
    stacked, bias = own["in_proj_weight"], own.get("in_proj_bias")
    out = own.linear("out_proj")
    layer = MultiHeadAttention(stacked.shape[1], h, bias=bias is not None or out[1] is not None)
    return _filled(layer, *_thirds(stacked, bias), out, own)


def plain_from_bert(weights: Weights, h: int, prefix: str = "bert.") -> MultiHeadAttention:
    """BertSelfAttention's query, key and value, and dense where W_O is there; else W_O is the identity."""
    own = _Named(weights, prefix)
    q, k, v = (own.linear(name) for name in ("query", "key", "value"))
    layer = MultiHeadAttention(q[0].shape[1], h, bias=True)
    return _filled(layer, q, k, v, own.linear("dense", len(v[0])), own)


def grouped_from_llama(
    weights: Weights,
    h: int,
    base: float = 10_000.0,
    prefix: str = "w.",
    pairs: Literal["halves", "neighbours"] = "halves",
    causal: bool = True,
) -> GroupedQueryAttention:
    """LlamaAttention of the library transformers: q_proj, k_proj, v_proj and o_proj, none with a bias.

    base: rope_theta of its configuration. pairs: "halves" there; Meta's own code and weights (wq, wk, wv, wo)
    have "neighbours". The number of key heads and d_k are read off the shapes.
    """
    own = _Named(weights, prefix)
    names = ("q_proj", "k_proj", "v_proj", "o_proj") if "q_proj.weight" in own else ("wq", "wk", "wv", "wo")
    q, k, v, o = (own.linear(name) for name in names)
    d_k = head_size(len(q[0]), h)
    layer = GroupedQueryAttention(
        q[0].shape[1], h, len(k[0]) // d_k, d_k, d_k, base=base, pairs=pairs, causal=causal
    )
    return _filled(layer, q, k, v, o, own)


def collaborative_from_authors(
    weights: Weights, prefix: str = "collab.", own_width: int | None = None
) -> CollaborativeHeads:
    """CollaborativeAttention (Cordonnier et al. 2020): query, key, mixing, content_bias, value and dense.

    own_width: the d_k by whose root scores are divided; None takes width / h, as their code does whatever the
    layer was converted from. Without dense, as inside BERT, W_O is the identity. LayerNorm and the residual,
    which their class can add, are not part of a layer here.
    """
    own = _Named(weights, prefix)
    q, k, v = (own.linear(name) for name in ("query", "key", "value"))
    mixing, content = own["mixing"], own.get("content_bias.weight")
    h, width = mixing.shape
    layer = CollaborativeHeads(
        q[0].shape[1],
        h,
        width,
        own=1,
        d_v=head_size(len(v[0]), h),
        content_bias=content is not None,
        bias=True,
    )
    if content is not None:
        _copy(layer.content_bias, content)
    layer.mixing.data = mixing.clone()
    layer.scale = (width / h if own_width is None else own_width) ** -0.5
    return _filled(layer, q, k, v, own.linear("dense", len(v[0])), own)


def overlapping_from_authors(weights: Weights, h: int, prefix: str = "w.") -> OverlappingHeads:
    """The vision Transformer's Attention of MOHSA (Zhang et al. 2024): to_qkv and to_out.0.

    The overlap is read off the width of to_out.0, h (d_k + 2 overlap). A single head as wide as the model has
    no to_out there: W_O is the identity."""
    own = _Named(weights, prefix)
    stacked = own["to_qkv.weight"]
    out = own.linear("to_out.0", len(stacked) // 3)
    each = head_size(len(stacked) // 3, h)
    overlap, rest = divmod(head_size(out[0].shape[1], h) - each, 2)
    if rest:
        raise ValueError(f"to_out.0 reads {out[0].shape[1]} features, no {h} windows around {each} features.")
    layer = OverlappingHeads(stacked.shape[1], h, overlap, own=each, bias=True)
    return _filled(layer, *_thirds(stacked, None), out, own)


def talking_from_authors(weights: Weights, prefix: str = "w.") -> TalkingHeads:
    """Talking heads as in CaiT's code: to_q, to_kv, mix_heads_pre_attn, mix_heads_post_attn and to_out.0.

    Both mixing matrices are [from head, to head]. Source: Shazeer et al. 2020."""
    own = _Named(weights, prefix)
    q, stacked, out = own.linear("to_q"), own["to_kv.weight"], own.linear("to_out.0")
    before, after = own["mix_heads_pre_attn"], own["mix_heads_post_attn"]
    k, v = stacked.chunk(2)
    h = len(before)
    layer = TalkingHeads(q[0].shape[1], h, head_size(len(q[0]), h), head_size(len(v), h), bias=True)
    layer.p_scores.data, layer.p_weights.data = before.clone(), after.clone()
    return _filled(layer, q, (k, None), (v, None), out, own)


def mixture_from_authors(
    weights: Weights, h: int, chosen: int, gates: Gates = "code", prefix: str = "w."
) -> MixtureOfHeads:
    """MoHAttention of MoH's DiT code (Jin et al. 2024): qkv, proj, wg (routed), wg_1 (shared), wg_0 (types).

    chosen: their routed_head. How many heads are shared is read off wg: h less its rows, and all of them
    where there is no wg. With one shared head there is no wg_1, and none is needed: softmax of one number is
    1. The attention of their ViT (cosines, learned temperature, position bias) is another one.
    """
    own = _Named(weights, prefix)
    stacked, out = own["qkv.weight"], own.linear("proj")
    routed, types, sharing = (own.get(f"{name}.weight") for name in ("wg", "wg_0", "wg_1"))
    shared = h - (0 if routed is None else len(routed))
    d_k = head_size(len(stacked) // 3, h)
    layer = MixtureOfHeads(stacked.shape[1], h, shared, chosen, gates, d_k, d_k, bias=True)
    if sharing is None and shared == 1:
        sharing = stacked.new_zeros(1, layer.d_model)
    routers = (layer.router_routed, layer.router_types, layer.router_shared)
    for router, weight, name in zip(routers, (routed, types, sharing), ("wg", "wg_0", "wg_1"), strict=True):
        if (router is None) != (weight is None):
            needs = "needs" if weight is None else "has no use for"
            raise ValueError(f"a layer with {shared} shared and {chosen} chosen heads {needs} {name}.")
        if router is not None:
            _copy(router, weight)
    return _filled(layer, *_thirds(stacked, own.get("qkv.bias")), out, own)


def composable_from_authors(
    weights: Weights, rotary: float | None = 500_000.0, static: Static = "added", prefix: str = "w."
) -> DynamicallyComposableHeads:
    """DCMHAttention of DCFormer's PyTorch code (Xiao et al. 2024): wqkv, wo, dw1, qkw and dd.

    rotary: rope_base of its configuration (pairs of halves), None for no rotary positions. Their axis of 4
    counts pre-query, pre-key, post-query, post-key.

    With use_sw there are pre_proj.w and post_proj.w as well, (1, h, h), from head to head. static: "added" is
    W_b = I + w, as in the JAX code and where theirs writes token by token; "alone" is w and "twice" 2 I + w,
    as in other paths of it. In place of the two there may be sw (2, h, h), which is I + w already. Names may
    start with dyn_w_proj.; the merged copies dw_m and qkw_m are left out.
    """
    weights = {name.replace("dyn_w_proj.", "", 1): tensor for name, tensor in weights.items()}
    for copy in ("dw_m", "qkw_m"):
        weights.pop(f"{prefix}{copy}", None)
    own = _Named(weights, prefix)
    split = "wq.weight" in own
    stacked = torch.cat([own[f"w{n}.weight"] for n in "qkv"]) if split else own["wqkv.weight"]
    out = own.linear("wo")
    hidden, mixing, gates = own["dw1"], own["qkw"], own["dd"]
    d_model, (rank_2, h) = hidden.shape[0], mixing.shape[-2:]
    both, one, other = own.get("sw"), own.get("pre_proj.w"), own.get("post_proj.w")
    if both is None and one is not None and other is not None:
        eye = {"added": 1.0, "alone": 0.0, "twice": 2.0}
        if static not in eye:
            raise ValueError(f"static={static!r} can be {', '.join(map(repr, eye))}.")
        both = torch.stack([part.reshape(h, h) for part in (one, other)]) + eye[static] * torch.eye(h)
    d_k = head_size(len(stacked) // 3, h)
    layer = DynamicallyComposableHeads(d_model, h, d_k, d_k, rank_2 // 2, both is not None, rotary)
    by_side = gates.reshape(d_model, 4, h)
    for place, part in enumerate((layer.before, layer.after)):
        sides = slice(2 * place, 2 * place + 2)
        # Assigned and not copied: their inner width K need not be 2 rank h.
        part.w_1.data = hidden[:, 0, sides].movedim(1, 0).clone()
        part.w_2.data = mixing[0, sides].clone()
        part.d.data = by_side[:, sides].movedim(1, 0).clone()
        if both is not None:
            part.w_b.data = both[place].clone()
    return _filled(layer, *_thirds(stacked, None), out, own)


class _Named:
    """The tensors under one prefix, each to be taken once."""

    def __init__(self, weights: Weights, prefix: str) -> None:
        self._left = {name.removeprefix(prefix): t for name, t in weights.items() if name.startswith(prefix)}
        self._prefix = prefix

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._left:
            there = ", ".join(self._left) or "none"
            raise ValueError(f"there is no {self._prefix}{name} among the weights; left are: {there}.")
        return self._left.pop(name).detach()

    def get(self, name: str) -> Tensor | None:
        return self[name] if name in self._left else None

    def linear(self, name: str, identity: int | None = None) -> tuple[Tensor, Tensor | None]:
        """Weight and bias of a linear map. identity: size of the one that stands in where it is missing."""
        if identity is not None and f"{name}.weight" not in self._left:
            return torch.eye(identity), None
        return self[f"{name}.weight"], self.get(f"{name}.bias")

    def check_nothing_left(self) -> None:
        if self._left:
            raise ValueError(f"this map has no place for {', '.join(self._left)}.")


def _thirds(stacked: Tensor, bias: Tensor | None) -> list[tuple[Tensor, Tensor | None]]:
    """[q; k; v] by rows, as three pairs of weight and bias."""
    check_sizes(rows=len(stacked))
    biases = [None] * 3 if bias is None else bias.chunk(3)
    return list(zip(stacked.chunk(3), biases, strict=True))


def _filled(
    layer: MultiHeadAttention,
    q: tuple[Tensor, Tensor | None],
    k: tuple[Tensor, Tensor | None],
    v: tuple[Tensor, Tensor | None],
    o: tuple[Tensor, Tensor | None],
    own: _Named,
) -> MultiHeadAttention:
    """The layer with these four projections, in their dtype; complains of weights that were not taken."""
    own.check_nothing_left()
    for linear, (weight, bias) in zip(
        (layer.w_q, layer.w_k, layer.w_v, layer.w_o), (q, k, v, o), strict=True
    ):
        _copy(linear, weight, bias)
    return layer.to(q[0].dtype).eval()


@torch.no_grad()
def _copy(linear: nn.Linear, weight: Tensor, bias: Tensor | None = None) -> None:
    """A missing bias is zero; one that the layer has no place for must not be lost."""
    if linear.weight.shape != weight.shape:
        raise ValueError(
            f"weight of shape {tuple(weight.shape)} where {tuple(linear.weight.shape)} is needed: do h and "
            "the other settings fit these weights?"
        )
    if bias is not None and linear.bias is None:
        raise ValueError("these weights have a bias, and this layer adds none.")
    linear.weight = nn.Parameter(weight.clone())
    if linear.bias is not None:
        linear.bias = nn.Parameter(weight.new_zeros(len(weight)) if bias is None else bias.clone())
