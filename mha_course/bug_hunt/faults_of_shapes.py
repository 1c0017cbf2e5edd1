"""Four layers that lose their way among the axes. Each replaces a step or two of the sound layer."""

from __future__ import annotations

from torch import Tensor

from mha_course.attention import split_heads
from mha_course.bug_hunt.sound_layer import SoundLayer


class ViewAlone(SoundLayer):
    """The shape is right without a transpose, the numbers are not."""

    def split(self, x: Tensor) -> Tensor:
        """(b, n, h * d_k) -> (b, h, n, d_k)."""
        b, n, _ = x.shape
        return x.view(b, self.h, n, self.d_k)


class InputSplit(SoundLayer):
    """Each head is given its own slice of the input, and projects that."""

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v, each (b, h, n, d_k)."""
        slices = split_heads(x, self.h)
        return tuple(slices @ self.block(w.weight) for w in (self.w_q, self.w_k, self.w_v))

    def block(self, weight: Tensor) -> Tensor:
        """The d_k x d_k part of a weight that each head has for itself, (h, d_k, d_k)."""
        blocks = weight.view(self.h, self.d_k, self.h, self.d_k)
        return blocks.diagonal(dim1=0, dim2=2).permute(2, 1, 0)


class SequenceFirst(SoundLayer):
    """x is taken for (n, b, d_model)."""

    def split(self, x: Tensor) -> Tensor:
        """(n, b, h * d_k) -> (b, h, n, d_k)."""
        n, b, _ = x.shape
        return x.view(n, b, self.h, self.d_k).permute(1, 2, 0, 3)

    def merged(self, heads: Tensor) -> Tensor:
        """(b, h, n, d_k) -> (n, b, h * d_k)."""
        b, h, n, d_k = heads.shape
        return heads.permute(2, 0, 1, 3).reshape(n, b, h * d_k)


class HeadSizeFloored(SoundLayer):
    """d_k is rounded down, and what is left over is lost without a word."""

    def width_of_a_head(self, d_model: int, h: int) -> int:
        """d_k."""
        return d_model // h
