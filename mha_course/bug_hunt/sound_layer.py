"""The sound layer that the suspects are broken copies of: a method a step, so that a fault replaces one."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mha_course.attention import head_size


class Dropout:
    """Dropout that draws from a generator of its own, so that a suspect never moves the global one."""

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.generator = share, torch.Generator().manual_seed(seed)

    def __call__(self, weights: Tensor) -> Tensor:
        """Some weights set to 0, the others enlarged by 1 / (1 - share); as many as went in."""
        kept = torch.rand(weights.shape, generator=self.generator) >= self.share
        return weights * kept.to(weights.dtype) / (1 - self.share)


class Projection(nn.Linear):
    """A linear map whose weights are not drawn yet: whoever makes the layer draws them, from its own seed."""

    def reset_parameters(self) -> None:
        """Nothing, so that the global random state stays as it is."""


class SoundLayer(nn.Module):
    """Multi-head attention without biases. Takes x (b, n, d_model), and a mask of four axes or none.

    Returns: the output (b, n, d_model) and the weights that are reported, (b, h, n, n).
    Raises: ValueError when h does not divide d_model. Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, d_model: int, h: int, dropout: float, seed: int) -> None:
        super().__init__()
        self.h, self.d_model = h, d_model
        self.d_k = self.width_of_a_head(d_model, h)
        self.w_q = Projection(d_model, h * self.d_k, bias=False)
        self.w_k = Projection(d_model, h * self.d_k, bias=False)
        self.w_v = Projection(d_model, h * self.d_k, bias=False)
        self.w_o = Projection(h * self.d_k, d_model, bias=False)
        self.dropout = Dropout(dropout, seed)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Project, split, attend, merge, fuse; and what is reported."""
        q, k, v = self.projected(x)
        weights = self.weighed(self.scores(q, k), mask)
        used = self.dropout(weights) if self.training else weights
        return self.fused(self.merged(used @ v)), self.reported(weights, used)

    def width_of_a_head(self, d_model: int, h: int) -> int:
        """d_k, or an error that says which h would divide d_model."""
        return head_size(d_model, h)

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v, each (b, h, n, d_k)."""
        return self.split(self.w_q(x)), self.split(self.w_k(x)), self.split(self.w_v(x))

    def split(self, x: Tensor) -> Tensor:
        """(b, n, h * d_k) -> (b, h, n, d_k)."""
        b, n, _ = x.shape
        return x.view(b, n, self.h, self.d_k).transpose(1, 2)

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        """Scaled products of all queries with all keys, (b, h, n, n)."""
        return q @ k.transpose(-2, -1) / math.sqrt(self.d_k)

    def weighed(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Softmax over the keys that the mask allows; zeros where it allows none."""
        if mask is None:
            return scores.softmax(dim=-1)
        empty = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        return scores.softmax(dim=-1).masked_fill(empty, 0.0)

    def merged(self, heads: Tensor) -> Tensor:
        """(b, h, n, d_k) -> (b, n, h * d_k)."""
        b, h, n, d_k = heads.shape
        return heads.transpose(1, 2).reshape(b, n, h * d_k)

    def fused(self, concat: Tensor) -> Tensor:
        """The heads' features mixed by W_O."""
        return self.w_o(concat)

    def reported(self, weights: Tensor, used: Tensor) -> Tensor:
        """What `look` hands out: the weights before dropout."""
        return weights
