"""Dynamically composable heads (DCMHA): how heads meet is computed anew for every pair of query and key.

The h scores of one pair (t, s), a vector a, become a W with

    W = W_b + w_q1 w_q2 + diag(g_q) + w_k1 w_k2 + diag(g_k)

W_b (h, h) is static; w_q1 (h, R), w_q2 (R, h), g_q (h) come from the query's token, w_k1, w_k2, g_k from the
key's. The h weights of the pair go through a second set of the same kind after the softmax. Source: Xiao,
Meng, Li, Yuan 2024, after the authors' code; the paper's formulas were at hand in a summary only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.sizes import check_number, check_sizes
from mha_course.variants.composed import ComposedAttention
from mha_course.variants.rotary import rotated


@dataclass(frozen=True, eq=False)
class Composition:
    """What one side, query or key, adds: w_1 (b, n, R, h), w_2 (b, n, R, h) and the gate g (b, n, h)."""

    w_1: Tensor
    w_2: Tensor
    g: Tensor


class DynamicComposition(nn.Module):
    """Composes maps (b, h, n_q, n_k) by five branches: static, and a low rank and a gate from either side.

    From a token x (d_model): hidden = GELU(x W_1), of 2 R h; [w_1; w_2] = hidden W_2; w_1 is divided by its
    root mean square over heads; g = tanh(x D). static: whether W_b is learned, else it is the identity.
    Parameters: 2 (d_model 2Rh + 2Rh 2Rh + d_model h), + h^2 if static.

    Starts near the plain layer, where the authors' code starts; `at_identity` starts exactly there.
    Raises: ValueError for sizes below 1.
    """

    def __init__(self, d_model: int, h: int, rank: int = 2, static: bool = True) -> None:
        super().__init__()
        check_sizes(d_model=d_model, h=h, rank=rank)
        self.h, self.rank = int(h), int(rank)
        hidden = 2 * rank * h
        self.w_b = nn.Parameter(torch.eye(h)) if static else None
        # Sides: 0 is the query's, 1 the key's.
        self.w_1 = nn.Parameter(torch.randn(2, d_model, hidden) * math.sqrt(2 / (d_model + hidden)))
        self.w_2 = nn.Parameter(torch.randn(2, hidden, 2 * rank, h) * 0.02 / (math.sqrt(hidden) * (h + rank)))
        self.d = nn.Parameter(torch.randn(2, d_model, h) * 0.005 * math.sqrt(2 / (d_model + h)))

    @torch.no_grad()
    def at_identity(self) -> DynamicComposition:
        """Set w_2 and g to zero and W_b to the identity: nothing is composed, and it can still be learned."""
        self.w_2[:, :, self.rank :] = 0
        self.d.zero_()
        if self.w_b is not None:
            self.w_b.copy_(torch.eye(self.h))
        return self

    def side(self, x: Tensor, which: int) -> Composition:
        """What the tokens x (b, n, d_model) add, as queries (which=0) or as keys (which=1)."""
        hidden = F.gelu(x @ self.w_1[which])
        w_1, w_2 = torch.einsum("bnk,krh->bnrh", hidden, self.w_2[which]).chunk(2, dim=2)
        w_1 = w_1 * torch.rsqrt(w_1.square().mean(-1, keepdim=True) + 1e-6)
        return Composition(w_1, w_2, torch.tanh(x @ self.d[which]))

    def forward(self, maps: Tensor, query: Tensor, key: Tensor) -> Tensor:
        """Composed maps (b, h, n_q, n_k); query (b, n_q, d_model), key (b, n_k, d_model)."""
        of_query, of_key = self.side(query, 0), self.side(key, 1)
        base = maps if self.w_b is None else torch.einsum("bits,ij->bjts", maps, self.w_b)
        # Low rank: every pair's h numbers become R, and those h again.
        narrow = torch.einsum("bits,btri->brts", maps, of_query.w_1)
        base = base + torch.einsum("brts,btrj->bjts", narrow, of_query.w_2)
        narrow = torch.einsum("bits,bsri->brts", maps, of_key.w_1)
        base = base + torch.einsum("brts,bsrj->bjts", narrow, of_key.w_2)
        gates = of_query.g.transpose(1, 2)[..., None] + of_key.g.transpose(1, 2)[:, :, None]
        return base + maps * gates

    def matrices(self, query: Tensor, key: Tensor) -> Tensor:
        """W of every pair, (b, n_q, n_k, h, h), from heads i to heads j: to look at, not what is computed."""
        of_query, of_key = self.side(query, 0), self.side(key, 1)
        static = torch.eye(self.h).to(query) if self.w_b is None else self.w_b

        def of(side: Composition) -> Tensor:
            return torch.einsum("bnri,bnrj->bnij", side.w_1, side.w_2) + torch.diag_embed(side.g)

        return static + of(of_query)[:, :, None] + of(of_key)[:, None]


class DynamicallyComposableHeads(ComposedAttention):
    """Multi-head attention whose heads are composed before and after the softmax, by the pair at hand.

    rank: R of the low-rank branches. static: whether each side of the softmax has a learned W_b. rotary: base
    of rotary positions (pairs of halves) for queries and keys, None for none. Others as in
    `MultiHeadAttention`.

    The composition is computed from the layer's inputs (d_model wide), not from projected queries and keys.
    Scores are composed before the mask. After the softmax rows no longer sum to 1.

    `identity()` makes it start exactly at the plain layer.
    """

    def __init__(
        self,
        d_model: int,
        h: int,
        d_k: int | None = None,
        d_v: int | None = None,
        rank: int = 2,
        static: bool = True,
        rotary: float | None = None,
        bias: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(d_model, h, d_k, d_v, bias=bias, dropout=dropout)
        if rotary is not None:
            check_number(above=0, rotary=rotary)
        if rotary is not None and self.d_k % 2:
            raise ValueError(f"d_k={self.d_k}: rotary positions turn pairs of features, so d_k must be even.")
        self.rotary = rotary
        self.before = DynamicComposition(d_model, h, rank, static)
        self.after = DynamicComposition(d_model, h, rank, static)

    def identity(self) -> DynamicallyComposableHeads:
        """This layer, with both compositions at the identity."""
        self.before.at_identity()
        self.after.at_identity()
        return self

    def queries(self, query: Tensor, start: int = 0) -> Tensor:
        """(b, h, n_q, d_k), turned by the positions from start on where the layer is rotary."""
        q = super().queries(query)
        return q if self.rotary is None else rotated(q, start, self.rotary, "halves")

    def shared_keys_and_values(self, key: Tensor, value: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Keys and values (b, h, n_k, d), keys turned where the layer is rotary."""
        k, v = super().shared_keys_and_values(key, value)
        return (k if self.rotary is None else rotated(k, start, self.rotary, "halves")), v

    def compose_scores(self, scores: Tensor, query: Tensor, key: Tensor) -> Tensor:
        """Scores (b, h, n_q, n_k) composed by the pair."""
        return self.before(scores, query, key)

    def compose_weights(self, weights: Tensor, query: Tensor, key: Tensor) -> Tensor:
        """Weights (b, h, n_q, n_k) composed by the pair."""
        return self.after(weights, query, key)
