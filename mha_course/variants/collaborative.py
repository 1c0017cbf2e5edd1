"""Collaborative heads: they share one query and one key projection, and each weighs its features in its way.

    score_i[t, s] = sum_r (x_t W_Q)_r  m_ir  (y_s W_K)_r,   W_Q, W_K (d_model, width), M (h, width)

Rows of M that are 1 on a head's own block and 0 elsewhere are plain multi-head attention: every plain layer
is a collaborative one with width = h * d_k. A smaller width is a compression: all W_Q^(i) W_K^(i)^T together,
a tensor (h, d_model, d_model), as a sum of `width` products (`three_factors.py`). Source: Cordonnier, Loukas,
Jaggi 2020, and their code."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from mha_course.attention import head_size, repeat_kv_heads, split_heads
from mha_course.layers import MultiHeadAttention, initialise
from mha_course.sizes import check_sizes
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.plain_heads import check_plain_heads
from mha_course.variants.three_factors import three_factors

Mixing = Literal["blocks", "ones", "normal"]


class CollaborativeHeads(MultiHeadAttention):
    """Multi-head attention with W_Q, W_K (d_model, width) for all heads and a mixing matrix M (h, width).

    width: h * d_k when left out; below it W_Q and W_K are smaller. own: the d_k in the scale 1 / sqrt(own),
    d_model / h when left out, whatever the width: the authors' code divides by sqrt(width / h) instead, which
    changes every score of a converted layer with another width. mixing: what M starts as, "blocks" of ones
    (the plain layer; blocks of unequal width when h does not divide it), "ones", or "normal" draws with
    standard deviation 0.2 (their default). content_bias: whether scores get the term y_s . c_i of a query
    bias.

    Values and W_O are those of the plain layer. Parameters of the scores: (2 d_model + h) width, + h d_model
    with content bias. FLOPs of the scores: 2 n_q n_k h width, more than plain when width > d_k: every head
    works in all `width` features. In a trace q and k have `width` features, and one more with content bias.

    Raises: ValueError as `MultiHeadAttention`, for a width below 1 and an unknown mixing.
    """

    def __init__(
        self,
        d_model: int,
        h: int,
        width: int | None = None,
        own: int | None = None,
        d_v: int | None = None,
        mixing: Mixing = "blocks",
        content_bias: bool = False,
        bias: bool = False,
        dropout: float = 0.0,
    ) -> None:
        own = head_size(d_model, h) if own is None else own
        width = h * own if width is None else width
        check_sizes(own=own, width=width)
        super().__init__(d_model, h, own, d_v, bias=bias, dropout=dropout)
        self.width, self.scale = int(width), own**-0.5
        # A key's bias changes no weight, and a query's bias is what the content bias stands for.
        self.w_q = nn.Linear(d_model, self.width, bias=False)
        self.w_k = nn.Linear(d_model, self.width, bias=False)
        self.mixing = nn.Parameter(starting_mixing(h, self.width, mixing))
        self.content_bias = nn.Linear(d_model, h, bias=False) if content_bias else None
        initialise(self.w_q, self.w_k, *([self.content_bias] if content_bias else []))
        self.d_k = self.width + content_bias

    def queries(self, query: Tensor, start: int = 0) -> Tensor:
        """(b, h, n_q, width) of query (b, n_q, d_model): shared features, weighed by each head's row of M."""
        q = self.w_q(query)[:, None] * self.mixing[:, None]
        # The content bias c_i . y is one more feature of the key, which every query reads with weight 1.
        return q if self.content_bias is None else torch.cat([q, torch.ones_like(q[..., :1])], dim=-1)

    def shared_keys_and_values(self, key: Tensor, value: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Keys (b, 1, n_k, width), one set for all heads (with content bias: one a head), values for each."""
        k, v = self.w_k(key)[:, None], split_heads(self.w_v(value), self.h)
        if self.content_bias is None:
            return k, v
        bias = self.content_bias(key).transpose(1, 2)[..., None]
        return torch.cat([k.expand(-1, self.h, -1, -1), bias], dim=-1), v

    @classmethod
    def from_layer(
        cls, layer: MultiHeadAttention, width: int | None = None, seed: int = 0, sweeps: int = 300
    ) -> CollaborativeHeads:
        """The plain layer given, as collaborative heads: exact at width h * d_k, the nearest found below it.

        A query bias becomes the content bias, a key bias goes (it changes no weight), biases of W_V and W_O
        stay. Below h * d_k the h products W_Q^(i) W_K^(i)^T are decomposed together, from random factors
        (seed), in `sweeps` rounds of least squares. The scale stays that of the layer given.

        Raises: ValueError for a width below 1 or above h * d_k, and for a layer whose heads are not plain:
        they meet, turn by position, or stand behind gates.
        """
        check_plain_heads(layer, "they have no such factors")
        if isinstance(layer, GroupedQueryAttention):
            raise ValueError("its queries and keys turn with the position, so no fixed factors replace them.")
        if layer.gate is not None:
            raise ValueError("its heads stand behind gates: take the gate out first, or prune the layer.")
        h, d_k = layer.h, layer.d_k
        width = h * d_k if width is None else width
        check_sizes(width=width)
        if width > h * d_k:
            raise ValueError(f"width={width}: {h} heads of d_k={d_k} need no more than {h * d_k}.")
        biased = layer.w_q.bias is not None
        made = cls(
            layer.d_model,
            h,
            width,
            own=d_k,
            d_v=layer.d_v,
            content_bias=biased,
            bias=layer.w_v.bias is not None,
            dropout=layer.dropout,
        ).to(layer.w_q.weight.device, layer.w_q.weight.dtype)
        with torch.no_grad():
            w_q = layer.w_q.weight.view(h, d_k, -1)
            w_k = repeat_kv_heads(layer.w_k.weight.view(1, layer.n_kv_heads, d_k, -1), h)[0]
            if biased:
                made.content_bias.weight.copy_(torch.einsum("hk,hkd->hd", layer.w_q.bias.view(h, d_k), w_k))
            if width < h * d_k:
                products = torch.einsum("hka,hkb->hab", w_q, w_k)
                made.mixing.data, queries, keys = (
                    factor.to(w_q) for factor in three_factors(products, width, seed, sweeps)
                )
                made.w_q.weight.copy_(queries.T)
                made.w_k.weight.copy_(keys.T)
            else:
                made.w_q.weight.copy_(w_q.flatten(0, 1))
                made.w_k.weight.copy_(w_k.flatten(0, 1))
            made.w_v.weight.copy_(_for_all(layer.w_v.weight, layer))
            made.w_o.load_state_dict(layer.w_o.state_dict())
            if layer.w_v.bias is not None:
                made.w_v.bias.copy_(_for_all(layer.w_v.bias[:, None], layer)[:, 0])
        made.scale = layer.scale if layer.scale is not None else d_k**-0.5
        return made.train(layer.training)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, width={self.width}, content_bias={self.content_bias is not None}"


def starting_mixing(h: int, width: int, mixing: Mixing = "blocks") -> Tensor:
    """M (h, width) to start from: "blocks" of ones, all "ones", or "normal" draws of standard deviation 0.2.

    Blocks: head i reads features i * size to (i + 1) * size - 1 with size = width / h rounded up, the last
    head what is left, as in the authors' code. Raises: ValueError for another word."""
    if mixing == "ones":
        return torch.ones(h, width)
    if mixing == "normal":
        return 0.2 * torch.randn(h, width)
    if mixing != "blocks":
        raise ValueError(f"mixing={mixing!r} can be 'blocks', 'ones' or 'normal'.")
    size = math.ceil(width / h)
    owner = torch.arange(width) // size
    return (owner == torch.arange(h)[:, None]).float()


def _for_all(rows: Tensor, layer: MultiHeadAttention) -> Tensor:
    """Rows of a value projection (n_kv_heads * d_v, ...), repeated for every query head."""
    shared = rows.view(1, layer.n_kv_heads, layer.d_v, -1)
    return repeat_kv_heads(shared, layer.h).flatten(0, 2)
