"""Four layers that compute or report the wrong thing. Each replaces one step of the sound layer."""

from __future__ import annotations

import math

from torch import Tensor

from mha_course.bug_hunt.sound_layer import SoundLayer


class ScaledByModel(SoundLayer):
    """The scores are divided by the root of the whole width."""

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        """Scaled products of all queries with all keys, (b, h, n, n)."""
        return q @ k.transpose(-2, -1) / math.sqrt(self.d_model)


class WithoutFusion(SoundLayer):
    """W_O is there, and nobody calls it."""

    def fused(self, concat: Tensor) -> Tensor:
        """The heads' features mixed by W_O."""
        return concat


class HeadsAveraged(SoundLayer):
    """The report is one map for all heads."""

    def reported(self, weights: Tensor, used: Tensor) -> Tensor:
        """What `look` hands out: the weights before dropout."""
        return weights.mean(dim=1)


class AfterDropout(SoundLayer):
    """The report holds what dropout has left."""

    def reported(self, weights: Tensor, used: Tensor) -> Tensor:
        """What `look` hands out: the weights before dropout."""
        return used
