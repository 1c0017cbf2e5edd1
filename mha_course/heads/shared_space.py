"""Do heads share a space? How many dimensions a layer's query-key products need, head by head and together.

One head's scores are x W_Q^(i) W_K^(i)T y^T, a product of rank d_k at most. There are two questions: does
each product need few dimensions, and do the heads use the same ones? The second is asked of the sum of the
products, as Cordonnier et al. 2020 do, and of W_Q and W_K with all heads beside one another. A sum can be
narrow by chance, or because each head is; so it is measured beside `heads_turned`: the same heads, each in a
space of its own.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.attention import check_tensors, repeat_kv_heads
from mha_course.layers import MultiHeadAttention
from mha_course.sizes import check_number
from mha_course.variants.plain_heads import check_plain_heads


@dataclass(frozen=True, eq=False)
class SharedSpace:
    """Singular values, largest first, in float64.

    heads (h, d_k): of each W_Q^(i) W_K^(i)T; summed (d_model,): of their sum; queries, keys: of W_Q and W_K,
    all heads beside one another. products (h, d_model, d_model): what they were taken of.
    """

    heads: Tensor
    summed: Tensor
    queries: Tensor
    keys: Tensor
    products: Tensor


@torch.no_grad()
def shared_space(layer: MultiHeadAttention) -> SharedSpace:
    """The spectra of a plain layer's query-key products.

    Raises: ValueError for a layer whose heads meet before the softmax. Of a rotary layer it is the
    product at distance 0; at another one queries and keys are turned apart."""
    check_plain_heads(layer, "they have no query-key product of their own")
    products, w_q, w_k = _products(layer)
    return SharedSpace(
        torch.linalg.svdvals(products)[:, : layer.d_k],
        torch.linalg.svdvals(products.sum(0)),
        torch.linalg.svdvals(w_q.flatten(0, 1)),
        torch.linalg.svdvals(w_k.flatten(0, 1)),
        products,
    )


def variance_by_dimension(singular: Tensor) -> Tensor:
    """Which share of the squared length the first 1, 2, ... directions hold: (..., r), rising to 1."""
    check_tensors(singular=singular)
    squares = singular.square()
    return squares.cumsum(-1) / squares.sum(-1, keepdim=True)


def dimensions_needed(singular: Tensor, share: float = 0.9) -> Tensor:
    """How many directions hold this share of the squared length, one number for each row of singular values.

    Raises: ValueError for a share that is not above 0 and at most 1."""
    check_number(above=0, share=share)
    if share > 1:
        raise ValueError(f"share={share} must be at most 1.")
    # Sums of shares miss 1 by rounding.
    return (variance_by_dimension(singular) < share - 1e-12).sum(-1) + 1


def effective_rank(matrix: Tensor) -> Tensor:
    """exp of the entropy of the singular values taken as shares: from 1 to the smaller side of the matrix.

    matrix: (..., n, m), or a batch of them; 0 for one of zeros. Source: Roy and Vetterli 2007."""
    check_tensors(matrix=matrix)
    values = torch.linalg.svdvals(matrix.detach().double())
    shares = values / values.sum(-1, keepdim=True)
    # A matrix of zeros has no shares: rank 0, as its numerical rank.
    return torch.where(values.sum(-1) == 0, 0.0, torch.special.entr(shares).sum(-1).exp())


@torch.no_grad()
def heads_turned(layer: MultiHeadAttention, seed: int = 0) -> MultiHeadAttention:
    """The layer's heads, each turned into a space of its own: the control for what heads share.

    W_Q^(i) and W_K^(i) are multiplied from the left by random rotations (d_model, d_model), two for each
    head, so every head keeps the singular values of its own product, and nothing else links the heads.

    Raises: ValueError as `shared_space`, and for shared key heads, which one rotation can't part."""
    check_plain_heads(layer, "they can't be turned one by one")
    if layer.n_kv_heads != layer.h:
        raise ValueError(
            f"{layer.h} heads share {layer.n_kv_heads} key heads, so they can't be turned one by one."
        )
    made = deepcopy(layer)
    for linear, turns in zip((made.w_q, made.w_k), head_rotations(layer, seed), strict=True):
        rows = linear.weight.view(layer.h, layer.d_k, layer.d_model)
        linear.weight.copy_((rows.double() @ turns).to(rows).flatten(0, 1))
    return made


def head_rotations(layer: MultiHeadAttention, seed: int = 0) -> Tensor:
    """The rotations of `heads_turned`, those of W_Q and those of W_K: (2, h, d_model, d_model), float64."""
    g = torch.Generator().manual_seed(seed)
    drawn = [_rotation(layer.d_model, g) for _ in range(2 * layer.h)]
    return torch.stack(drawn).view(2, layer.h, layer.d_model, layer.d_model)


def _products(layer: MultiHeadAttention) -> tuple[Tensor, Tensor, Tensor]:
    """W_Q^(i) W_K^(i)T (h, d_model, d_model), and the weights of both by head (h, d_k, d_model)."""
    w_q = layer.w_q.weight.detach().double().view(layer.h, layer.d_k, -1)
    w_k = layer.w_k.weight.detach().double().view(1, layer.n_kv_heads, layer.d_k, -1)
    w_k = repeat_kv_heads(w_k, layer.h)[0]
    return torch.einsum("hka,hkb->hab", w_q, w_k), w_q, w_k


def _rotation(size: int, g: torch.Generator) -> Tensor:
    """A random rotation, every one as likely as any other (Mezzadri 2007)."""
    q, r = torch.linalg.qr(torch.randn(size, size, generator=g, dtype=torch.float64))
    return q * r.diagonal().sign()
