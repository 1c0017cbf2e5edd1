"""A layer whose heads meet around the softmax: what talking heads and dynamic composition have in common.

    scores (b, h, n_q, n_k) -> compose_scores -> mask -> softmax -> weights -> compose_weights -> times V

Composing mixes heads at one (query, key) pair and never positions, so a hidden key stays hidden. Scores are
composed before the mask: after it there would be -inf, and -inf times a negative share is no number.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from mha_course.attention import masked_softmax, merge_heads, scaled_scores
from mha_course.layers import KeysAndValues, MultiHeadAttention
from mha_course.traces import AttentionTrace


@dataclass(frozen=True, eq=False)
class ComposedTrace(AttentionTrace):
    """An `AttentionTrace` with the stages before and after composing.

    raw_scores (b, h, n_q, n_k): scaled products, unmasked; scores: composed, hidden entries -inf; weights:
    their softmax, rows sum to 1; composed_weights (b, h, n_q, n_k): what the values are summed with, rows of
    any sum, also negative.
    """

    raw_scores: Tensor
    composed_weights: Tensor


class ComposedAttention(MultiHeadAttention):
    """Multi-head attention with two places where heads meet; both do nothing here. Base of the variants.

    Fused kernels know no composing, so `forward` goes the way of `trace`.
    """

    def compose_scores(self, scores: Tensor, query: Tensor, key: Tensor) -> Tensor:
        """Scores (b, h, n_q, n_k) after the heads met; query (b, n_q, d_model), key (b, n_k, d_model)."""
        return scores

    def compose_weights(self, weights: Tensor, query: Tensor, key: Tensor) -> Tensor:
        """Weights (b, h, n_q, n_k) after the heads have met; inputs as in `compose_scores`."""
        return weights

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Attend from query to key and value, as `MultiHeadAttention.forward`, without a fused kernel."""
        return self.trace(query, key, value, mask).output

    def trace(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> ComposedTrace:
        """The computation with every stage kept. Raises: ValueError as `MultiHeadAttention.forward`."""
        if isinstance(key, KeysAndValues):
            raise ValueError(
                "this layer needs the key's tokens themselves, not keys and values computed before."
            )
        q, k, v, mask = self._project_and_split(query, key, value, mask)
        key = query if key is None else key
        raw = scaled_scores(q, k, self.scale)
        scores = self.compose_scores(raw, query, key)
        weights = masked_softmax(scores, mask)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        composed = self.compose_weights(weights, query, key)
        heads = F.dropout(composed, self.dropout, self.training) @ v
        heads = heads if self.gate is None else self.gate(heads)
        concat = merge_heads(heads)
        contributions = heads @ self.w_o.weight.T.view(self.h, self.d_v, self.d_model)
        output = self.w_o(concat)
        return ComposedTrace(
            q, k, v, scores, weights, heads, concat, contributions, output, self.w_o.bias, mask, raw, composed
        )
