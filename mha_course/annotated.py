"""The class that many people learned multi-head attention from, rewritten with its eight steps numbered.

It follows the interface of `MultiHeadedAttention` in The Annotated Transformer (Rush 2018): the head
count comes first, masks have a batch axis but no head axis, biases and dropout are on, and the
weights of the last call stay in `attn`. `layers.MultiHeadAttention` computes the same and is
stricter about what it is given.
"""

from __future__ import annotations

import math

from torch import Tensor, nn

from mha_course.attention import head_size


class MultiHeadedAttention(nn.Module):
    """Multi-head attention in eight steps, dropout and all.

    h: heads. d_model: width, divisible by h. dropout: share of the weights dropped in training.

    Raises: ValueError when h does not divide d_model.
    Source: after Rush 2018, The Annotated Transformer; Vaswani et al. 2017.
    """

    def __init__(self, h: int, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.h = h
        self.d_k = head_size(d_model, h)
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))  # W_Q, W_K, W_V, W_O
        self.dropout = nn.Dropout(dropout)
        self.attn: Tensor | None = None

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attend from query (b, n_q, d_model) to key and value (b, n_k, d_model).

        mask: (b, 1 or n_q, n_k), 1 = may attend.

        Returns: (b, n_q, d_model). Keeps the weights after dropout, (b, h, n_q, n_k), in `attn`. A query
        whose keys are all blocked attends evenly to all of them, because -1e9 is a finite number (which
        float16 does not have). Raises ValueError for a mask of another rank.
        """
        b = query.shape[0]
        if mask is not None:
            if mask.ndim != 3:
                raise ValueError(f"mask must be (b, 1 or n_q, n_k); got {tuple(mask.shape)}.")
            mask = mask.unsqueeze(1)  # (b, 1, 1 or n_q, n_k): the same mask for every head
        w_q, w_k, w_v, w_o = self.linears

        # 1 Project: three big matrices serve all heads.               (b, n, d_model)
        q, k, v = w_q(query), w_k(key), w_v(value)
        # 2 Split: cut the features of each token into h pieces.       (b, n, h, d_k)
        q, k, v = (x.view(b, x.shape[1], self.h, self.d_k) for x in (q, k, v))
        # 3 Transpose: the head axis stands beside the batch axis.     (b, h, n, d_k)
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        # 4 Attend: every head on its own, all in one product.         (b, h, n_q, d_k)
        heads = self._attend(q, k, v, mask)
        # 5 Transpose back: each token finds its heads again.          (b, n_q, h, d_k)
        heads = heads.transpose(1, 2)
        # 6 Contiguous: bring memory into that order, for the view.    (b, n_q, h, d_k)
        heads = heads.contiguous()
        # 7 View: the heads of a token side by side, the concat.       (b, n_q, d_model)
        concat = heads.view(b, heads.shape[1], self.h * self.d_k)
        # 8 Fuse: W_O mixes what the heads found.                      (b, n_q, d_model)
        return w_o(concat)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = self.dropout(scores.softmax(dim=-1))
        self.attn = weights.detach()  # kept to be looked at, not to be learned from
        return weights @ v
