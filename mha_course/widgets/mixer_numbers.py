"""The numbers behind the OutputMixer: each head's share of the output, for every token of one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["MixerNumbers", "mixer_numbers"]


@dataclass(frozen=True)
class MixerNumbers:
    """One sentence seen from W_O.

    concat (n, h, d_v), w_o (h, d_v, d_model), shares (n, h, d_model), bias (d_model), output (n, d_model).
    """

    concat: Tensor
    w_o: Tensor
    shares: Tensor
    bias: Tensor
    output: Tensor

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.shares.shape[0]

    @property
    def h(self) -> int:
        """Number of heads."""
        return self.shares.shape[1]

    @property
    def d_model(self) -> int:
        """Width of the output."""
        return self.shares.shape[2]

    @property
    def d_v(self) -> int:
        """Width of one head's values."""
        return self.concat.shape[2]

    def gap(self) -> float:
        """Return the largest difference, over all tokens, of concat · W_O and the summed shares."""
        return float((self.output - (self.shares.sum(1) + self.bias)).abs().max())

    def mixed(self, token: int, on: Sequence[bool]) -> Tensor:
        """Return the output (d_model) of a token with only the heads that are on; the bias always stays."""
        kept = torch.tensor(list(on), dtype=self.shares.dtype)
        return (self.shares[token] * kept[:, None]).sum(0) + self.bias

    def moved(self, token: int, on: Sequence[bool]) -> float:
        """Return how far the switches move a token's output, in lengths of the output with all heads on."""
        whole = self.output[token]
        length = float(whole.norm())
        distance = float((self.mixed(token, on) - whole).norm())
        return distance / length if length else 0.0


def mixer_numbers(
    heads: Tensor, w_o: Tensor, bias: Tensor | None = None, expected: Tensor | None = None
) -> MixerNumbers:
    """Split concat · W_O into one share a head.

    Shapes: heads (h, n, d_v), one sentence; w_o (h · d_v, d_model), multiplied from the right; bias
    (d_model); expected (n, d_model), the layer's own output, is compared where given.
    Raises: ValueError for a w_o of another shape, or one that does not lead to the expected output.
    """
    if heads.dim() != 3:
        raise ValueError(f"heads is (h, n, d_v), one sentence; this one has shape {tuple(heads.shape)}")
    h, n, d_v = heads.shape
    if w_o.dim() != 2 or w_o.shape[0] != h * d_v:
        raise ValueError(
            f"w_o has h * d_v = {h} * {d_v} = {h * d_v} rows, one for each feature of concat; "
            f"this one has shape {tuple(w_o.shape)}. nn.Linear keeps it transposed: pass mha.w_o.weight.T"
        )
    heads, w_o = heads.detach(), w_o.detach().to(heads.dtype)
    d_model = w_o.shape[1]
    zero = torch.zeros(d_model, dtype=heads.dtype)
    bias = zero if bias is None else bias.detach().to(heads.dtype)
    if tuple(bias.shape) != (d_model,):
        raise ValueError(
            f"bias has one number for each of the {d_model} output features, not {tuple(bias.shape)}"
        )
    with torch.no_grad():
        concat = heads.transpose(0, 1)
        bands = w_o.reshape(h, d_v, d_model)
        shares = torch.einsum("nhv,hvd->nhd", concat, bands)
        output = concat.reshape(n, h * d_v) @ w_o + bias
        if expected is not None:
            expected = expected.detach().to(heads.dtype)
            if not _close(output, expected):
                turned = d_model == h * d_v and _close(concat.reshape(n, -1) @ w_o.T + bias, expected)
                why = "it is transposed: pass mha.w_o.weight.T" if turned else "is it another layer's?"
                raise ValueError(
                    f"this w_o does not lead from the trace's concat to the trace's output; {why}"
                )
    return MixerNumbers(concat, bands, shares, bias, output)


def _close(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-3, atol=1e-4)
