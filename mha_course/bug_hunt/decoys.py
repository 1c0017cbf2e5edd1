"""Six faults that no suspect has, as layers: a wrong name is refuted by what such a layer would measure."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.bug_hunt.sound_layer import SoundLayer


class Unscaled(SoundLayer):
    """The products are not divided at all."""

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        """Products of all queries with all keys, (b, h, n, n)."""
        return q @ k.transpose(-2, -1)


class OverQueries(SoundLayer):
    """Softmax runs down the columns."""

    def weighed(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Softmax over the queries that the mask allows; zeros where it allows none."""
        if mask is None:
            return scores.softmax(dim=-2)
        scores = scores.masked_fill(~mask, float("-inf"))
        return scores.softmax(dim=-2).nan_to_num()


class DropoutAlways(SoundLayer):
    """Dropout doesn't ask whether the layer is in training."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Project, split, attend, merge, fuse; and what is reported."""
        q, k, v = self.projected(x)
        weights = self.weighed(self.scores(q, k), mask)
        used = self.dropout(weights)
        return self.fused(self.merged(used @ v)), self.reported(weights, used)


class MaskShifted(SoundLayer):
    """The mask is one key too late: each query sees one more than it may."""

    def weighed(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Softmax over the keys that the mask allows, moved on by one."""
        if mask is None:
            return scores.softmax(dim=-1)
        first = torch.ones_like(mask[..., :1])
        return super().weighed(scores, torch.cat([first, mask[..., :-1]], dim=-1))


class RolesSwapped(SoundLayer):
    """W_K makes the queries and W_Q the keys."""

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v, each (b, h, n, d_k)."""
        return self.split(self.w_k(x)), self.split(self.w_q(x)), self.split(self.w_v(x))


class ValuesUnprojected(SoundLayer):
    """The values are the tokens themselves."""

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v, each (b, h, n, d_k)."""
        return self.split(self.w_q(x)), self.split(self.w_k(x)), self.split(x)
