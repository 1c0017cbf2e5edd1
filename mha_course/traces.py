"""What a layer can hand out besides its output: every stage of the computation, and keys and values."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class SingleHeadTrace:
    """Every stage of one head.

    q (b, n_q, d_k); k (b, n_k, d_k); v (b, n_k, d_v); scores (b, n_q, n_k), scaled, hidden entries -inf;
    weights (b, n_q, n_k); output (b, n_q, d_v).
    """

    q: Tensor
    k: Tensor
    v: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor
    mask: Tensor | None


@dataclass(frozen=True, eq=False)
class AttentionTrace:
    """Every stage of a multi-head layer, in the order in which it is computed.

    q (b, h, n_q, d_k); k (b, h, n_k, d_k); v (b, h, n_k, d_v), shared heads already repeated;
    scores (b, h, n_q, n_k), scaled, hidden entries -inf; weights (b, h, n_q, n_k), before dropout;
    heads (b, h, n_q, d_v); concat (b, n_q, h * d_v); contributions (b, h, n_q, d_model), each head's
    share of the output; output (b, n_q, d_model) = contributions summed over h, plus bias.
    bias is W_O's bias or None; mask is the 4-D mask used or None.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    scores: Tensor
    weights: Tensor
    heads: Tensor
    concat: Tensor
    contributions: Tensor
    output: Tensor
    bias: Tensor | None
    mask: Tensor | None


@dataclass(frozen=True, eq=False)
class KeysAndValues:
    """Keys k (b, h, n_k, d_k) and values v (b, h, n_k, d_v) of one layer, shared heads already repeated.

    Computed once, they serve every later query to the same source.
    """

    k: Tensor
    v: Tensor
