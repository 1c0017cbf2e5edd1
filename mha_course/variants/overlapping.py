"""Overlapping heads (MOHSA): each head also reads the edge features of its neighbours.

Source: Zhang, Luo, Wang 2024; the equations follow the authors' vision code (its paper's body was not at
hand)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.attention import head_size
from mha_course.layers import MultiHeadAttention, initialise
from mha_course.sizes import check_sizes, is_whole_number


class OverlappingHeads(MultiHeadAttention):
    """Multi-head attention whose heads are windows that overlap by `overlap` features on either side.

    The projections are those of the plain layer, d_model -> h * own, where own = d_model / h (or d_k). Head i
    takes its own features and `overlap` more from each neighbour, zeros where there is none, so its width is
    d_k = d_v = own + 2 * overlap. The scores keep the scale 1 / sqrt(own). W_O gets h * d_v rows, the only
    new parameters: 2 * overlap * h * d_model. overlap = 0 is the plain layer.

    The first head's left edge and the last head's right edge are zeros: their rows of W_O get no gradient.

    Raises: ValueError as `MultiHeadAttention`, and for an overlap below 0 or above own.
    """

    def __init__(
        self,
        d_model: int,
        h: int,
        overlap: int = 1,
        own: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
    ) -> None:
        own = head_size(d_model, h) if own is None else own
        check_sizes(own=own)
        if not is_whole_number(overlap) or not 0 <= overlap <= own:
            raise ValueError(
                f"overlap={overlap!r} must be a whole number from 0 to {own}, the features of one head: "
                "further out begins the neighbour's neighbour."
            )
        super().__init__(d_model, h, own, own, bias=bias, dropout=dropout)
        self.own, self.overlap = int(own), int(overlap)
        self.d_k = self.d_v = self.own + 2 * self.overlap
        self.scale = self.own**-0.5
        if overlap:
            self.w_o = nn.Linear(h * self.d_v, d_model, bias=bias)
            initialise(self.w_o)

    def windows(self, x: Tensor) -> Tensor:
        """Windows over the features: (b, n, h * own) -> (b, h, n, own + 2 * overlap), zeros at the ends."""
        padded = F.pad(x, (self.overlap, self.overlap))
        # Own numbers for every window: fused kernels may misread a view that overlaps itself.
        return padded.unfold(-1, self.d_k, self.own).transpose(1, 2).contiguous()

    def queries(self, query: Tensor, start: int = 0) -> Tensor:
        """(b, h, n_q, d_k): windows over query W_Q."""
        return self.windows(self.w_q(query))

    def shared_keys_and_values(self, key: Tensor, value: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Keys and values (b, h, n_k, d_k): windows over key W_K and value W_V."""
        return self.windows(self.w_k(key)), self.windows(self.w_v(value))

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, own={self.own}, overlap={self.overlap}"


def overlap_at_depth(
    layer: int, depth: int, start: int = 0, half: bool = False, reverse: bool = False
) -> int:
    """Overlap of one layer (from 0) of `depth`: the authors' eight ways to let it grow or shrink with depth.

    Counted upwards from the first layer, or with reverse from the last; halved and rounded down with half;
    start (0 or 1) is added at the end. All left out is their default, where the first layer has no overlap.

    Raises: ValueError for another start and for a layer that isn't there.
    """
    check_sizes(depth=depth)
    if not is_whole_number(layer) or not 0 <= layer < depth:
        raise ValueError(f"layer={layer!r} must lie in 0..{depth - 1}.")
    if start not in (0, 1):
        raise ValueError(f"start={start!r} can be 0 or 1.")
    counted = depth - 1 - layer if reverse else layer
    return (counted // 2 if half else counted) + start
