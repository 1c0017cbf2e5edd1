"""AttentionMaps: the one thing that every viewer and every score reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.attention import check_tensors
from mha_course.layers import AttentionTrace


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """Attention weights of one sentence (or pair of sentences), over layers and heads.

    weights: (layers, heads, n_q, n_k). query_tokens and key_tokens: the words behind the two last
    axes. kind: "self", "encoder", "decoder" or "cross". allowed: (n_q, n_k) bool, True = may attend,
    or None when everything is. note: what was left out or rescaled, for the line under a picture.

    Raises: ValueError when tokens and weights don't go together, for weights that are not a tensor, and
    for an `allowed` that is not boolean.
    """

    weights: Tensor
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    kind: str = "self"
    allowed: Tensor | None = None
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "query_tokens", tuple(self.query_tokens))
        object.__setattr__(self, "key_tokens", tuple(self.key_tokens))
        check_tensors(weights=self.weights)
        if self.weights.ndim != 4:
            raise ValueError(f"weights must be (layers, heads, n_q, n_k); got {tuple(self.weights.shape)}.")
        n_q, n_k = self.weights.shape[-2:]
        if (n_q, n_k) != (len(self.query_tokens), len(self.key_tokens)):
            raise ValueError(
                f"weights have n_q={n_q}, n_k={n_k}, but there are {len(self.query_tokens)} query tokens "
                f"and {len(self.key_tokens)} key tokens."
            )
        if self.allowed is not None:
            check_tensors(allowed=self.allowed)
            if self.allowed.dtype != torch.bool:
                raise ValueError(f"allowed must be boolean, True = may attend; got {self.allowed.dtype}.")
        if self.allowed is not None and tuple(self.allowed.shape) != (n_q, n_k):
            raise ValueError(f"allowed must be (n_q, n_k)=({n_q}, {n_k}); got {tuple(self.allowed.shape)}.")

    @property
    def n_layers(self) -> int:
        return self.weights.shape[0]

    @property
    def n_heads(self) -> int:
        return self.weights.shape[1]

    def spread(self) -> Tensor:
        """How evenly each head spreads its weight: mean entropy of its rows over log n_k.

        0 means one key takes all, 1 means every key gets the same. Rows without weight don't count.
        Returns: (layers, heads), 0 where n_k is 1.
        """
        n_k = self.weights.shape[-1]
        live = self.weights.sum(dim=-1) > 0.5
        entropy = -torch.special.xlogy(self.weights, self.weights).sum(dim=-1)
        total = (entropy * live).sum(dim=-1) / live.sum(dim=-1).clamp(min=1)
        return total / math.log(n_k) if n_k > 1 else torch.zeros_like(total)

    @classmethod
    def from_trace(
        cls,
        trace: AttentionTrace,
        query_tokens: Sequence[str],
        key_tokens: Sequence[str] | None = None,
        sentence: int = 0,
        kind: str = "self",
        note: str = "",
    ) -> AttentionMaps:
        """The maps of one sentence of a traced batch, as one layer. key_tokens=None means query_tokens."""
        return cls.from_traces([trace], query_tokens, key_tokens, sentence, kind, note)

    @classmethod
    def from_traces(
        cls,
        traces: Sequence[AttentionTrace],
        query_tokens: Sequence[str],
        key_tokens: Sequence[str] | None = None,
        sentence: int = 0,
        kind: str = "self",
        note: str = "",
    ) -> AttentionMaps:
        """The maps of one sentence of a traced batch, one layer for each trace.

        key_tokens=None means query_tokens. Raises: ValueError when there is no trace.
        """
        if not traces:
            raise ValueError("no trace: a model without attention layers, or nothing was kept.")
        # Hatch only what no head of any layer may see; masks that differ by head are rare.
        masks = [t.mask.expand(t.weights.shape)[sentence].any(dim=0) for t in traces if t.mask is not None]
        allowed = torch.stack(masks).any(dim=0) if len(masks) == len(traces) else None
        return cls(
            torch.stack([trace.weights[sentence] for trace in traces]).detach(),
            tuple(query_tokens),
            tuple(query_tokens if key_tokens is None else key_tokens),
            kind,
            allowed,
            note,
        )
