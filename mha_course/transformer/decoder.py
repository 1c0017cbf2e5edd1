"""The decoder: masked self-attention, cross-attention to the source, feed-forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor, nn

from mha_course.layers import AttentionTrace, KeysAndValues, MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.sizes import check_sizes
from mha_course.transformer.block import FeedForward, Norm, Residual
from mha_course.transformer.encoder import attended
from mha_course.transformer.from_torch import copy_feed_forward, copy_norm, of_equal_sizes


@dataclass(eq=False)
class DecoderTraces:
    """The traces of a decoder's two attentions, one a layer: `decoder` (self) and `cross`."""

    decoder: list[AttentionTrace] = field(default_factory=list)
    cross: list[AttentionTrace] = field(default_factory=list)


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention, feed-forward, each with residual and LayerNorm.

    Arguments as in `EncoderLayer`. Without a mask of its own the self-attention is causal: a token sees
    itself and what stands before it.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(
        self,
        d_model: int,
        h: int,
        d_ff: int | None = None,
        dropout: float = 0.0,
        norm: Norm = "pre",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, h, bias=bias, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, h, bias=bias, dropout=dropout)
        self.feed_forward = FeedForward(d_model, 4 * d_model if d_ff is None else d_ff, dropout, bias)
        self.around_attention = Residual(d_model, norm, dropout, bias)
        self.around_cross_attention = Residual(d_model, norm, dropout, bias)
        self.around_feed_forward = Residual(d_model, norm, dropout, bias)

    def forward(
        self,
        y: Tensor,
        memory: Tensor | KeysAndValues,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        kept: DecoderTraces | None = None,
    ) -> Tensor:
        """y (b, n_q, d_model) -> (b, n_q, d_model).

        memory: what the encoder made of the source, (b, n_k, d_model), or its keys and values as
        `remember` computed them once. mask: for the self-attention; None means causal. memory_mask: for the
        cross-attention, usually the source's padding mask (b, 1, 1, n_k). kept: takes both traces.
        """
        if mask is None:
            mask = causal_mask(y.shape[1]).to(y.device)
        own, cross = (kept.decoder, kept.cross) if kept is not None else (None, None)
        y = self.around_attention(y, lambda z: attended(self.attention, z, z, mask, own))
        y = self.around_cross_attention(
            y, lambda z: attended(self.cross_attention, z, memory, memory_mask, cross)
        )
        return self.around_feed_forward(y, self.feed_forward)

    def remember(self, memory: Tensor) -> KeysAndValues:
        """The keys and values that the cross-attention makes of memory (b, n_k, d_model).

        The source does not change while the target is written, so once is enough.
        """
        return self.cross_attention.keys_and_values(memory)

    @classmethod
    def from_torch(cls, layer: nn.TransformerDecoderLayer) -> DecoderLayer:
        """A layer with the same numbers as PyTorch's.

        Raises: ValueError for another activation than ReLU, which has no counterpart here.
        """
        made = of_equal_sizes(cls, layer)
        made.attention = MultiHeadAttention.from_torch(layer.self_attn)
        made.cross_attention = MultiHeadAttention.from_torch(layer.multihead_attn)
        copy_feed_forward(layer, made.feed_forward)
        copy_norm(layer.norm1, made.around_attention.norm)
        copy_norm(layer.norm2, made.around_cross_attention.norm)
        copy_norm(layer.norm3, made.around_feed_forward.norm)
        return made.train(layer.training)


class Decoder(nn.Module):
    """A stack of n_layers equal decoder layers; pre-norm stacks end with one more LayerNorm.

    Raises: ValueError for n_layers below 1, and as `DecoderLayer`.
    """

    def __init__(
        self,
        n_layers: int,
        d_model: int,
        h: int,
        d_ff: int | None = None,
        dropout: float = 0.0,
        norm: Norm = "pre",
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(n_layers=n_layers)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, h, d_ff, dropout, norm, bias) for _ in range(n_layers)
        )
        self.last_norm = nn.LayerNorm(d_model, bias=bias) if norm == "pre" else nn.Identity()

    def forward(
        self,
        y: Tensor,
        memory: Tensor | Sequence[KeysAndValues],
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        kept: DecoderTraces | None = None,
    ) -> Tensor:
        """y (b, n_q, d_model) -> (b, n_q, d_model); memory as a tensor, or what `remember` gave.

        Raises: ValueError for remembered keys and values of another number of layers.
        """
        each = [memory] * len(self.layers) if isinstance(memory, Tensor) else list(memory)
        if len(each) != len(self.layers):
            raise ValueError(f"keys and values for {len(each)} layers, but there are {len(self.layers)}.")
        for layer, source in zip(self.layers, each, strict=True):
            y = layer(y, source, mask, memory_mask, kept)
        return self.last_norm(y)

    def remember(self, memory: Tensor) -> list[KeysAndValues]:
        """For each layer the keys and values of memory (b, n_k, d_model)."""
        return [layer.remember(memory) for layer in self.layers]
