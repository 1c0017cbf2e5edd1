"""Talking heads: the heads' scores are mixed before the softmax, their weights after it.

Source: Shazeer et al. 2020; equations after the authors' layer.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mha_course.variants.composed import ComposedAttention


class TalkingHeads(ComposedAttention):
    """Multi-head attention with two learned h x h matrices, p_scores and p_weights, between the heads.

    scores'_j = sum_i scores_i p_scores[i, j];  weights'_j = sum_i weights_i p_weights[i, j].

    Both start as the identity, which is the plain layer, plus normal noise of standard deviation `noise`
    (other code starts from noise alone). 2 h^2 parameters and 4 n_q n_k h^2 FLOPs more than the plain layer.
    Mixed weights need not be positive nor sum to 1. Other arguments as in `MultiHeadAttention`.
    """

    def __init__(
        self,
        d_model: int,
        h: int,
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
        noise: float = 0.0,
    ) -> None:
        super().__init__(d_model, h, d_k, d_v, bias=bias, dropout=dropout)
        self.p_scores = nn.Parameter(torch.eye(self.h) + noise * torch.randn(self.h, self.h))
        self.p_weights = nn.Parameter(torch.eye(self.h) + noise * torch.randn(self.h, self.h))

    def compose_scores(self, scores: Tensor, query: Tensor, key: Tensor) -> Tensor:
        """Every softmax sees a mixture of all heads' scores (b, h, n_q, n_k)."""
        return mixed(scores, self.p_scores)

    def compose_weights(self, weights: Tensor, query: Tensor, key: Tensor) -> Tensor:
        """Every head's values are summed with a mixture of all heads' weights (b, h, n_q, n_k)."""
        return mixed(weights, self.p_weights)


def mixed(maps: Tensor, shares: Tensor) -> Tensor:
    """Maps (b, h, n_q, n_k) mixed over heads: map j becomes the sum over i of map i times shares[i, j]."""
    return torch.einsum("bi...,ij->bj...", maps, shares)
