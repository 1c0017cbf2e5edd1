"""What every layer of a Transformer has besides attention: feed-forward, residual and LayerNorm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from torch import Tensor, nn

from mha_course.sizes import check_sizes

Norm = Literal["pre", "post"]
NORMS = ("pre", "post")


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between them, applied to each token by itself.

    FFN(x) = max(0, x W_1 + b_1) W_2 + b_2. d_model: width of input and output. d_ff: width in between.
    dropout: share of the inner numbers dropped in training. bias: whether the maps add one.

    Raises: ValueError for widths below 1.
    Source: Vaswani et al. 2017, section 3.3.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        check_sizes(d_model=d_model, d_ff=d_ff)
        self.w_1 = nn.Linear(d_model, d_ff, bias=bias)
        self.w_2 = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(b, n, d_model) -> (b, n, d_model); no token sees another one."""
        return self.w_2(self.dropout(self.w_1(x).relu()))


class Residual(nn.Module):
    """Adds what a sublayer computes to its input, with LayerNorm before the sublayer or after the sum.

    post: LayerNorm(x + sublayer(x)), as in the paper. pre: x + sublayer(LayerNorm(x)), which leaves a
    path from the output to the input on which nothing is normalised.

    Raises: ValueError for another norm than "pre" and "post".
    Source: post-norm Vaswani et al. 2017, section 5.4 and figure 1; pre-norm Xiong et al. 2020.
    """

    def __init__(self, d_model: int, norm: Norm = "pre", dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f'norm={norm!r} must be "pre" (before the sublayer) or "post" (after the sum).')
        self.norm, self.dropout, self.place = nn.LayerNorm(d_model, bias=bias), nn.Dropout(dropout), norm

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x (b, n, d_model), and a function that keeps this shape. Returns (b, n, d_model)."""
        if self.place == "pre":
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))

    def extra_repr(self) -> str:
        return f"{self.place}-norm"
