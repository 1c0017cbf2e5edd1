"""Grouped-query attention with rotary positions, as in LLaMA 3: h query heads share n_kv_heads keys.

n_kv_heads = h is plain multi-head attention, n_kv_heads = 1 multi-query attention.
Source: Ainslie et al. 2023 (groups); Shazeer 2019 (one for all); Su et al. 2021 (rotary); LLaMA 3 code.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from mha_course.attention import check_tensors, head_size
from mha_course.layers import KeysAndValues, MultiHeadAttention
from mha_course.masks import causal_mask, fit_mask
from mha_course.sizes import check_number, check_sizes
from mha_course.variants.rotary import LLAMA_BASE, Pairs, check_pairs, rotated


class GroupedQueryAttention(MultiHeadAttention):
    """Causal self-attention with shared key/value heads, rotary positions and no bias.

    Query head i reads key/value head i // (h / n_kv_heads). d_model, h, n_kv_heads, d_k, d_v, dropout: as in
    `MultiHeadAttention`; d_k must be even. base: of the rotary frequencies. pairs: which features make a
    pair, "neighbours" as in LLaMA's own code and weights, "halves" as in Hugging Face's. causal: whether no
    token sees a later one.

    Calls are those of `MultiHeadAttention`: `layer(x, mask=...)`, `layer.trace(x, mask=...)`; a mask given is
    joined to the causal one. Keys stand at positions from 0 on, and the queries are the last of them, as in
    `causal_mask`. In a trace q and k are turned, and k and v shared out to all h heads. With a cache:
    `kv_cache.attend_with_cache`, where the first new token stands at the cache's length.

    Raises: ValueError as `MultiHeadAttention`, for an odd d_k, other pairs and a base of 1 or less.
    """

    def __init__(
        self,
        d_model: int,
        h: int,
        n_kv_heads: int | None = None,
        d_k: int | None = None,
        d_v: int | None = None,
        base: float = LLAMA_BASE,
        pairs: Pairs = "neighbours",
        causal: bool = True,
        dropout: float = 0.0,
    ) -> None:
        d_k = head_size(d_model, h) if d_k is None else d_k
        check_pairs(pairs)
        check_sizes(d_k=d_k)
        if d_k % 2:
            raise ValueError(f"d_k={d_k}: rotary positions turn pairs of features, so d_k must be even.")
        check_number(above=1, base=base)
        super().__init__(d_model, h, d_k, d_v, n_kv_heads, bias=False, dropout=dropout)
        self.base, self.pairs, self.causal = float(base), pairs, causal

    def queries(self, query: Tensor, start: int = 0) -> Tensor:
        """(b, h, n_q, d_k), turned by the positions from start on. Raises: ValueError for a start below 0."""
        if start < 0:
            raise ValueError(
                f"the first query would stand at position {start}: queries are the last of the keys' tokens, "
                "so there can't be more queries than keys."
            )
        return rotated(super().queries(query), start, self.base, self.pairs)

    def shared_keys_and_values(self, key: Tensor, value: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Keys (b, n_kv_heads, n_k, d_k), turned by the positions from start on, and values, not turned."""
        k, v = super().shared_keys_and_values(key, value)
        return rotated(k, start, self.base, self.pairs), v

    def _project_and_split(
        self, query: Tensor, key: Tensor | KeysAndValues | None, value: Tensor | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        q, k, v, mask = super()._project_and_split(query, key, value, mask)
        n_q, n_k = q.shape[2], k.shape[2]
        if self.causal and n_q > 1:
            hides = causal_mask(n_q, n_k).to(q.device)[None, None]
            mask = hides if mask is None else mask & hides
        return q, k, v, mask

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, base={self.base:g}, pairs={self.pairs!r}, causal={self.causal}"


def grouped_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, scale: float | None = None
) -> Tensor:
    """Attention of h query heads to n_kv_heads keys and values, without a copy of either for every head.

    q: (b, h, n_q, d_k); k, v: (b, n_kv_heads, n_k, d). mask: (n_q, n_k) bool, True = may attend, some key in
    every row. scale: 1 / sqrt(d_k) unless given. The queries of a group stand below one another as rows of
    one product, so that each key is read once a group; `repeat_kv_heads` gives the same numbers by copying.

    Returns: (b, h, n_q, d_v). Raises: ValueError for other axes, when h is not a multiple of n_kv_heads, and
    for a mask that isn't boolean or doesn't fit.
    """
    check_tensors(q=q, k=k, v=v)
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.ndim != 4:
            raise ValueError(f"{name} must have four axes, (b, heads, n, width); got {tuple(x.shape)}.")
    b, h, n_q, d_k = q.shape
    _, n_kv_heads, n_k, _ = k.shape
    if not n_kv_heads or h % n_kv_heads:
        raise ValueError(f"h={h} query heads cannot share n_kv_heads={n_kv_heads} evenly.")
    rows = q.reshape(b, n_kv_heads, h // n_kv_heads * n_q, d_k)
    if mask is not None:
        mask = fit_mask(mask, (n_q, n_k)).expand(n_q, n_k).repeat(h // n_kv_heads, 1)
    return F.scaled_dot_product_attention(rows, k, v, attn_mask=mask, scale=scale).reshape(
        b, h, n_q, v.shape[-1]
    )
