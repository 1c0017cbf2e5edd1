"""The encoder: layers of self-attention and feed-forward, in which every token may see every other."""

from __future__ import annotations

from torch import Tensor, nn

from mha_course.layers import AttentionTrace, MultiHeadAttention
from mha_course.sizes import check_sizes
from mha_course.transformer.block import FeedForward, Norm, Residual
from mha_course.transformer.from_torch import copy_feed_forward, copy_norm, of_equal_sizes


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with residual and LayerNorm.

    d_model, h: as in `MultiHeadAttention`. d_ff: inner width of the feed-forward part, 4 * d_model when
    left out. dropout: applied to the weights, inside the feed-forward part, and to what a sublayer adds.
    norm: "pre" or "post". bias: whether linear maps and norms add one.

    Raises: ValueError as `MultiHeadAttention`, `FeedForward` and `Residual`.
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
        self.feed_forward = FeedForward(d_model, 4 * d_model if d_ff is None else d_ff, dropout, bias)
        self.around_attention = Residual(d_model, norm, dropout, bias)
        self.around_feed_forward = Residual(d_model, norm, dropout, bias)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, kept: list[AttentionTrace] | None = None
    ) -> Tensor:
        """x (b, n, d_model) -> (b, n, d_model).

        mask: as in `MultiHeadAttention.forward`. kept: a list to which the trace of the attention is added;
        None takes the fast path, on which no weights exist.
        """
        x = self.around_attention(x, lambda y: attended(self.attention, y, y, mask, kept))
        return self.around_feed_forward(x, self.feed_forward)

    @classmethod
    def from_torch(cls, layer: nn.TransformerEncoderLayer) -> EncoderLayer:
        """A layer with the same numbers as PyTorch's.

        Raises: ValueError for another activation than ReLU, which has no counterpart here.
        """
        made = of_equal_sizes(cls, layer)
        made.attention = MultiHeadAttention.from_torch(layer.self_attn)
        copy_feed_forward(layer, made.feed_forward)
        copy_norm(layer.norm1, made.around_attention.norm)
        copy_norm(layer.norm2, made.around_feed_forward.norm)
        return made.train(layer.training)


class Encoder(nn.Module):
    """A stack of n_layers equal encoder layers; pre-norm stacks end with one more LayerNorm.

    Raises: ValueError for n_layers below 1, and as `EncoderLayer`.
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
            EncoderLayer(d_model, h, d_ff, dropout, norm, bias) for _ in range(n_layers)
        )
        # Nothing has normalised the sum that leaves a pre-norm stack.
        self.last_norm = nn.LayerNorm(d_model, bias=bias) if norm == "pre" else nn.Identity()

    def forward(
        self, x: Tensor, mask: Tensor | None = None, kept: list[AttentionTrace] | None = None
    ) -> Tensor:
        """x (b, n, d_model) -> (b, n, d_model); mask and kept as in `EncoderLayer.forward`."""
        for layer in self.layers:
            x = layer(x, mask, kept)
        return self.last_norm(x)


def attended(
    attention: MultiHeadAttention,
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    kept: list[AttentionTrace] | None,
) -> Tensor:
    """The output of an attention layer; its trace is added to `kept` when there is such a list."""
    if kept is None:
        return attention(query, key, mask=mask)
    kept.append(attention.trace(query, key, mask=mask))
    return kept[-1].output
