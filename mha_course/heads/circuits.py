"""The two circuits of a head: QK decides where it reads, OV what it writes.

    scores_i = x W_QK^(i) x^T,   W_QK^(i) = W_Q^(i) W_K^(i)^T / sqrt(d_k)      (d_model, d_model), rank <= d_k
    output = sum_i A_i x W_OV^(i),   W_OV^(i) = W_V^(i) W_O^(i)                (d_model, d_model), rank <= d_v

Tokens are rows here, as everywhere in the course. With tokens as columns, as in the source, the same matrices
stand transposed and the other way round: W_Q^T W_K and W_O W_V. Source: Elhage et al. 2021.

Where heads are composed, the circuits combine: before the softmax head j scores with sum_i C_ij W_QK^(i);
after it every map i is read through the OV circuits of all heads j.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.attention import check_tensors, repeat_kv_heads
from mha_course.layers import MultiHeadAttention
from mha_course.sizes import is_whole_number


@torch.no_grad()
def qk_circuit(layer: MultiHeadAttention, head: int) -> Tensor:
    """W_Q^(i) W_K^(i)^T / sqrt(d_k) of head i, from 0: (d_model, d_model), rows are the query's side.

    With the layer's own scale; biases are left out. Grouped heads take their group's key, collaborative ones
    their row of M between the two, overlapping ones their windows. Of heads that are composed: what they are
    before they meet.
    Raises: TypeError for no layer; ValueError for a head that isn't there, and for a layer with rotary
    positions, whose circuit is another one for every distance.
    """
    _check(layer, head)
    if getattr(layer, "rotary", None) is not None or hasattr(layer, "base"):
        raise ValueError(
            "rotary positions turn queries and keys: the QK circuit is another one for every distance."
        )
    ones = _each_feature(layer)
    q = _linear_part(layer.queries, ones)[head]
    k = _linear_part(lambda x: layer.shared_keys_and_values(x, x)[0], ones)
    scale = layer.d_k**-0.5 if layer.scale is None else layer.scale
    return q @ _of_head(k, layer.h)[head].T * scale


@torch.no_grad()
def ov_circuit(layer: MultiHeadAttention, head: int) -> Tensor:
    """W_V^(i) W_O^(i) of one head, counted from 0: (d_model, d_model), from what is read to what is written.

    Biases and gates are left out. Raises: TypeError for no layer; ValueError for a head that isn't there.
    """
    _check(layer, head)
    v = _linear_part(lambda x: layer.shared_keys_and_values(x, x)[1], _each_feature(layer))
    return _of_head(v, layer.h)[head] @ _output_rows(layer)[head]


def circuit_rank(circuit: Tensor, least: float = 1e-5) -> int:
    """How many singular values are larger than `least` times the largest one.

    circuit: a matrix. Raises: ValueError for anything else."""
    check_tensors(circuit=circuit)
    if circuit.ndim != 2:
        raise ValueError(f"circuit must be a matrix; got shape {tuple(circuit.shape)}.")
    values = torch.linalg.svdvals(circuit.detach().double())
    return int((values > least * values[0]).sum()) if values[0] > 0 else 0


@torch.no_grad()
def composed_qk_circuit(layer: MultiHeadAttention, shares: Tensor, head: int) -> Tensor:
    """What head j scores with after composing: sum_i shares[i, j] W_QK^(i), (d_model, d_model).

    shares: (h, h), from heads i to heads j, as `TalkingHeads.p_scores` or W of one pair. The rank can be up
    to h d_k, where a head alone has at most d_k.
    Raises: as `qk_circuit`, and ValueError for shares of another shape.
    """
    _check(layer, head)
    if tuple(shares.shape) != (layer.h, layer.h):
        raise ValueError(f"shares must be ({layer.h}, {layer.h}); got {tuple(shares.shape)}.")
    return sum(shares[i, head] * qk_circuit(layer, i) for i in range(layer.h))


@torch.no_grad()
def read_through(layer: MultiHeadAttention, x: Tensor, weights: Tensor, shares: Tensor) -> Tensor:
    """What map i writes through the OV circuit of head j after composing, (h, h, n, d_model).

    x: one sentence (n, d_model). weights: its maps after the softmax, (h, n, n). shares: (h, h), or
    (n, n, h, h) where every pair of tokens has its own. The sum over the first two axes is the layer's output
    without the bias of W_O. Raises: TypeError for no layer; ValueError for shapes that don't fit.
    """
    _check(layer, 0)
    check_tensors(x=x, weights=weights, shares=shares)
    h, n = layer.h, x.shape[0]
    if x.ndim != 2 or tuple(weights.shape) != (h, n, n):
        raise ValueError(
            f"x must be (n, d_model) and weights ({h}, n, n); "
            f"got {tuple(x.shape)} and {tuple(weights.shape)}."
        )
    if tuple(shares.shape) not in {(h, h), (n, n, h, h)}:
        raise ValueError(f"shares must be ({h}, {h}) or ({n}, {n}, {h}, {h}); got {tuple(shares.shape)}.")
    v = _of_head(layer.shared_keys_and_values(x[None], x[None])[1][0], h)
    written = v @ _output_rows(layer)
    return torch.einsum("its,tsij,jsd->ijtd", weights, shares.expand(n, n, h, h), written)


def _check(layer: MultiHeadAttention, head: int) -> None:
    if not isinstance(layer, MultiHeadAttention):
        raise TypeError(
            f"layer must be a MultiHeadAttention or one of its variants; got {type(layer).__name__}."
        )
    if not is_whole_number(head) or not 0 <= head < layer.h:
        raise ValueError(f"head={head!r} is not among the {layer.h} heads, counted from 0.")


def _each_feature(layer: MultiHeadAttention) -> Tensor:
    return torch.eye(layer.d_model)[None].to(layer.w_q.weight)


def _linear_part(project: Callable[[Tensor], Tensor], ones: Tensor) -> Tensor:
    """The matrices (heads, d_model, width) of a projection, its bias taken off."""
    return (project(ones) - project(torch.zeros_like(ones)))[0]


def _of_head(shared: Tensor, h: int) -> Tensor:
    return repeat_kv_heads(shared[None], h)[0]


def _output_rows(layer: MultiHeadAttention) -> Tensor:
    """W_O by head, (h, d_v, d_model); nn.Linear keeps it transposed."""
    return layer.w_o.weight.T.view(layer.h, layer.d_v, layer.d_model)
