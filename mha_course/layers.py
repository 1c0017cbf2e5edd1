"""The layers with learned weights: one head, and many heads fused by W_O.

Two ways through each layer give the same numbers: `forward` is fast and keeps nothing,
`trace` keeps every stage under the name it has in the formula.
"""

from __future__ import annotations

from numbers import Real

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.attention import (
    check_tensors,
    masked_softmax,
    merge_heads,
    multi_head_sizes,
    repeat_kv_heads,
    scaled_dot_product_attention,
    scaled_scores,
    split_heads,
)
from mha_course.masks import expand_mask, fit_mask
from mha_course.sizes import check_sizes
from mha_course.traces import AttentionTrace, KeysAndValues, SingleHeadTrace

__all__ = ["AttentionTrace", "KeysAndValues", "MultiHeadAttention", "SingleHeadAttention", "SingleHeadTrace"]


class SingleHeadAttention(nn.Module):
    """One head: three projections and one scaled dot-product attention, no W_O.

    d_model: width of the input. d_k: width of queries and keys; d_v: width of values and of the
    output; both are d_model when left out. bias: whether the projections add one.

    Raises: ValueError for widths below 1.
    Source: Vaswani et al. 2017, section 3.2.1.
    """

    def __init__(
        self, d_model: int, d_k: int | None = None, d_v: int | None = None, bias: bool = False
    ) -> None:
        super().__init__()
        d_k = d_model if d_k is None else d_k
        d_v = d_k if d_v is None else d_v
        check_sizes(d_model=d_model, d_k=d_k, d_v=d_v)
        self.d_model, self.d_k, self.d_v = int(d_model), int(d_k), int(d_v)
        self.w_q = nn.Linear(d_model, self.d_k, bias=bias)
        self.w_k = nn.Linear(d_model, self.d_k, bias=bias)
        self.w_v = nn.Linear(d_model, self.d_v, bias=bias)
        initialise(self.w_q, self.w_k, self.w_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Attend from query (b, n_q, d_model) to key and value (b, n_k, d_model). Returns (b, n_q, d_v)."""
        return self.trace(query, key, value, mask).output

    def trace(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> SingleHeadTrace:
        """The same computation with every stage kept. Raises ValueError as `MultiHeadAttention.forward`."""
        query, key, value = _fill_in(query, key, value)
        _check_inputs(query, key, value, self.d_model, self.w_q)
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        mask = fit_mask(mask, weights.shape)
        scores = scaled_scores(q, k)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return SingleHeadTrace(q, k, v, scores, weights, output, mask)


class MultiHeadAttention(nn.Module):
    """Multi-head attention: project, split, attend in every head, concat, fuse with W_O.

    MultiHead(Q, K, V) = Concat(head_1 .. head_h) W_O, head_i = Attention(Q W_Q^(i), K W_K^(i), V W_V^(i)).

    d_model: width of input and output. h: number of query heads. d_k, d_v: width of a head's queries
    and keys, and of its values; d_model / h when left out. n_kv_heads: number of key/value heads,
    each shared by h / n_kv_heads query heads (h when left out; 1 is multi-query attention).
    bias: whether the four projections add one. dropout: share of the weights dropped in training.

    gate: None, or a module that gets the heads (b, h, n_q, d_v) before they are merged and returns as many,
    scaled or replaced (see `heads/gating.py`). scale: factor of the scores, None for 1 / sqrt(d_k).

    Raises: ValueError when d_model is not divisible by h (and d_k or d_v is left out), when h is not
    a multiple of n_kv_heads, and for sizes below 1 or a dropout outside [0, 1).
    Source: Vaswani et al. 2017, section 3.2.2; shared heads: Ainslie et al. 2023.
    """

    def __init__(
        self,
        d_model: int,
        h: int,
        d_k: int | None = None,
        d_v: int | None = None,
        n_kv_heads: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        d_k, d_v, n_kv_heads = multi_head_sizes(d_model, h, d_k, d_v, n_kv_heads)
        if isinstance(dropout, bool) or not isinstance(dropout, Real) or not 0 <= dropout < 1:
            raise ValueError(f"dropout={dropout!r} must be a number in [0, 1).")
        self.d_model, self.h, self.d_k, self.d_v = int(d_model), int(h), d_k, d_v
        self.n_kv_heads, self.dropout = n_kv_heads, float(dropout)
        self.w_q = nn.Linear(self.d_model, self.h * self.d_k, bias=bias)
        self.w_k = nn.Linear(self.d_model, self.n_kv_heads * self.d_k, bias=bias)
        self.w_v = nn.Linear(self.d_model, self.n_kv_heads * self.d_v, bias=bias)
        self.w_o = nn.Linear(self.h * self.d_v, self.d_model, bias=bias)
        self.register_module("gate", None)
        self.scale: float | None = None
        initialise(self.w_q, self.w_k, self.w_v, self.w_o)

    def forward(
        self,
        query: Tensor,
        key: Tensor | KeysAndValues | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Attend from query to key and value through PyTorch's fused kernel; no weights are kept.

        query: (b, n_q, d_model); key, value: (b, n_k, d_model). key=None means query, value=None means
        key; in place of both, what `keys_and_values` computed once. mask: bool, True = may attend,
        (n_q, n_k), (b, n_q, n_k) or four axes that broadcast to (b, h, n_q, n_k).

        Returns: (b, n_q, d_model). A query with nothing to attend to gets zeros from every head.
        Raises: ValueError for wrong ranks, widths, dtypes or masks.
        """
        q, k, v, mask = self._project_and_split(query, key, value, mask)
        dropout_p = self.dropout if self.training else 0.0
        if mask is None:
            heads = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p, scale=self.scale)
        else:
            # Kernels differ in what they return for a query with no key, some give NaN. So such a
            # query is let loose on every key, and its result replaced by zeros.
            empty = ~mask.any(dim=-1, keepdim=True)
            heads = F.scaled_dot_product_attention(
                q, k, v, attn_mask=mask | empty, dropout_p=dropout_p, scale=self.scale
            )
            heads = heads.masked_fill(empty, 0.0)
        return self.w_o(merge_heads(heads if self.gate is None else self.gate(heads)))

    def trace(
        self,
        query: Tensor,
        key: Tensor | KeysAndValues | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> AttentionTrace:
        """The same computation, stage by stage, each kept under its name. Arguments as in `forward`."""
        q, k, v, mask = self._project_and_split(query, key, value, mask)
        scores = scaled_scores(q, k, self.scale)
        weights = masked_softmax(scores, mask)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        heads = F.dropout(weights, self.dropout, self.training) @ v
        heads = heads if self.gate is None else self.gate(heads)
        concat = merge_heads(heads)
        # Rows i * d_v .. (i + 1) * d_v - 1 of W_O belong to head i, and nn.Linear stores W_O transposed.
        w_o = self.w_o.weight.T.view(self.h, self.d_v, self.d_model)
        contributions = heads @ w_o
        return AttentionTrace(
            q, k, v, scores, weights, heads, concat, contributions, self.w_o(concat), self.w_o.bias, mask
        )

    @classmethod
    def from_torch(cls, nn_mha: nn.MultiheadAttention) -> MultiHeadAttention:
        """A layer with the same numbers as the `nn.MultiheadAttention` given (which may be sequence-first).

        Raises: ValueError for options that have no counterpart here: kdim, vdim, add_bias_kv, add_zero_attn.
        """
        if nn_mha.in_proj_weight is None or nn_mha.bias_k is not None or nn_mha.add_zero_attn:
            raise ValueError("kdim, vdim, add_bias_kv and add_zero_attn have no counterpart in this layer.")
        d_model, weight = nn_mha.embed_dim, nn_mha.in_proj_weight
        bias = nn_mha.in_proj_bias is not None
        layer = cls(d_model, nn_mha.num_heads, bias=bias, dropout=nn_mha.dropout).to(
            weight.device, weight.dtype
        )
        state = dict(zip(("w_q.weight", "w_k.weight", "w_v.weight"), weight.detach().chunk(3), strict=True))
        state["w_o.weight"] = nn_mha.out_proj.weight.detach()
        if bias:
            state |= zip(
                ("w_q.bias", "w_k.bias", "w_v.bias"), nn_mha.in_proj_bias.detach().chunk(3), strict=True
            )
            state["w_o.bias"] = nn_mha.out_proj.bias.detach()
        layer.load_state_dict(state)
        return layer.train(nn_mha.training)

    def extra_repr(self) -> str:
        names = ("d_model", "h", "d_k", "d_v", "n_kv_heads")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)

    def keys_and_values(self, key: Tensor, value: Tensor | None = None) -> KeysAndValues:
        """Project key and value (b, n_k, d_model) once, for queries that come later; value=None means key."""
        key, _, value = _fill_in(key, None, value)
        _check_inputs(key, key, value, self.d_model, self.w_k)
        return self._known(key, value)

    def queries(self, query: Tensor, start: int = 0) -> Tensor:
        """(b, h, n_q, d_k) of query (b, n_q, d_model). start: the first one's position, for rotary layers."""
        return split_heads(self.w_q(query), self.h)

    def shared_keys_and_values(self, key: Tensor, value: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Keys (b, n_kv_heads, n_k, d_k) and values (b, n_kv_heads, n_k, d_v), before they are shared out."""
        return split_heads(self.w_k(key), self.n_kv_heads), split_heads(self.w_v(value), self.n_kv_heads)

    def _known(self, key: Tensor, value: Tensor) -> KeysAndValues:
        k, v = self.shared_keys_and_values(key, value)
        return KeysAndValues(repeat_kv_heads(k, self.h), repeat_kv_heads(v, self.h))

    def _project_and_split(
        self, query: Tensor, key: Tensor | KeysAndValues | None, value: Tensor | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        known, mask = self._keys_and_mask(query, key, value, mask)
        # As in causal_mask, the queries are the last of the keys' tokens.
        return self.queries(query, known.k.shape[2] - query.shape[1]), known.k, known.v, mask

    def _keys_and_mask(
        self, query: Tensor, key: Tensor | KeysAndValues | None, value: Tensor | None, mask: Tensor | None
    ) -> tuple[KeysAndValues, Tensor | None]:
        """Everything but the queries: keys and values of all heads, the mask with four axes, all checked."""
        if isinstance(key, KeysAndValues):
            _check_inputs(query, query, query, self.d_model, self.w_q)
            self._check_fit(query, key)
            known = key
        else:
            query, key, value = _fill_in(query, key, value)
            _check_inputs(query, key, value, self.d_model, self.w_q)
            known = self._known(key, value)
        return known, expand_mask(mask, query.shape[0], self.h, query.shape[1], known.k.shape[2])

    def _check_fit(self, query: Tensor, known: KeysAndValues) -> None:
        b, h, _, d_k = known.k.shape
        if (b, h, d_k) != (query.shape[0], self.h, self.d_k):
            raise ValueError(
                f"keys of (b, h, d_k)=({b}, {h}, {d_k}) don't fit b={query.shape[0]} queries of this layer "
                f"with h={self.h} and d_k={self.d_k}."
            )


def initialise(*projections: nn.Linear) -> None:
    """Xavier-uniform weights and zero biases, the choice of Glorot and Bengio 2010 for linear maps."""
    for projection in projections:
        nn.init.xavier_uniform_(projection.weight)
        if projection.bias is not None:
            nn.init.zeros_(projection.bias)


def _fill_in(query: Tensor, key: Tensor | None, value: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    key = query if key is None else key
    return query, key, key if value is None else value


def _check_inputs(query: Tensor, key: Tensor, value: Tensor, d_model: int, w_q: nn.Module) -> None:
    check_tensors(query=query, key=key, value=value)
    # Asked of the parameters: a projection that was wrapped or quantised may have no .weight tensor.
    dtype = next((p.dtype for p in w_q.parameters()), None)
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim != 3:
            hint = " For one sentence write x[None]." if x.ndim == 2 else ""
            raise ValueError(f"{name} must have shape (b, n, d_model); got {tuple(x.shape)}.{hint}")
        if x.shape[-1] != d_model:
            raise ValueError(
                f"{name} has {x.shape[-1]} features a token, but this layer was made for d_model={d_model}."
            )
        if dtype is not None and x.dtype != dtype and not _converted_by_autocast(x):
            raise ValueError(
                f"{name} has dtype {x.dtype}, the weights have {dtype}; convert one with .to(...)."
            )
    b, b_key, b_value = query.shape[0], key.shape[0], value.shape[0]
    if b != b_key or b != b_value:
        raise ValueError(f"query, key and value come in batches of {b}, {b_key} and {b_value}; b must agree.")
    if key.shape[1] != value.shape[1]:
        raise ValueError(
            f"every key needs one value: key has n_k={key.shape[1]}, value has {value.shape[1]}."
        )


def _converted_by_autocast(x: Tensor) -> bool:
    """Under autocast PyTorch converts dtypes by itself, so mixed ones are meant; float64 it leaves alone."""
    return torch.is_autocast_enabled(x.device.type) and x.is_floating_point() and x.dtype != torch.float64
