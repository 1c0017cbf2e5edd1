"""Four layers that go wrong with their mask. Each replaces one step of the sound layer."""

from __future__ import annotations

from torch import Tensor

from mha_course.bug_hunt.sound_layer import SoundLayer


class MaskReversed(SoundLayer):
    """True is read as "blocked"."""

    def weighed(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Softmax over the keys that the mask allows; zeros where it allows none."""
        if mask is None:
            return scores.softmax(dim=-1)
        empty = mask.all(dim=-1, keepdim=True)
        scores = scores.masked_fill(mask, float("-inf")).masked_fill(empty, 0.0)
        return scores.softmax(dim=-1).masked_fill(empty, 0.0)


class MaskAdded(SoundLayer):
    """The mask is turned into zeros and ones, and those are added to the scores."""

    def weighed(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Softmax over the keys that the mask allows; zeros where it allows none."""
        if mask is None:
            return scores.softmax(dim=-1)
        return (scores + mask.to(scores.dtype)).softmax(dim=-1)


class EmptyRowNaN(SoundLayer):
    """A row of nothing but −∞ goes into the softmax."""

    def weighed(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Softmax over the keys that the mask allows; zeros where it allows none."""
        if mask is None:
            return scores.softmax(dim=-1)
        scores = scores.masked_fill(~mask, float("-inf"))
        return scores.softmax(dim=-1)


class LargeNegative(SoundLayer):
    """A large number stands in for −∞."""

    def weighed(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Softmax over the keys that the mask allows; zeros where it allows none."""
        if mask is None:
            return scores.softmax(dim=-1)
        scores = scores.masked_fill(~mask, -1e9)
        return scores.softmax(dim=-1)
