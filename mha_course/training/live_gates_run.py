"""Gates being learned, as the notebook sees it: start, stop, go on, and what the gates are by now."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import torch
from torch import Tensor

from mha_course.heads.pruning import pruned_model
from mha_course.models.gloss_model import GlossModel
from mha_course.training.live_gates import GateSettings, Labels
from mha_course.training.live_run import FINISHED, LiveRun


class GatesRun(LiveRun):
    """Gates learned in a process of their own. `model()`: the model that learned with them, without them."""

    worker = "mha_course.training.live_gates_worker"

    @property
    def values(self) -> tuple[Tensor, ...] | None:
        """For each layer (h,): the gates without noise as last reported; None before the first update."""
        gates = self.latest.get("gates")
        return None if gates is None else tuple(torch.tensor(row) for row in gates)

    @property
    def whole(self) -> Mapping[str, float] | None:
        """Accuracy by part of the model with all its heads; None until it was measured."""
        first = self.history[0] if self.history else {"step": None}
        return first["accuracy"] if first["step"] == 0 else None

    @property
    def left(self) -> Mapping[str, float] | None:
        """Accuracy by part of what is left when the closed heads are gone; None before the end."""
        return self.latest.get("accuracy") if self.state == FINISHED else None

    @property
    def labels(self) -> Labels | None:
        """For each layer and head the role of a survivor afterwards; None before the end."""
        return self.latest.get("roles")

    def pruned(self) -> GlossModel | None:
        """The model without its closed heads; None before the end."""
        if self.state != FINISHED:
            return None
        return pruned_model(self.model(), self.values).requires_grad_(False).eval()

    def _is_last(self, report: Mapping[str, object]) -> bool:
        return report["roles"] is not None


@cache
def gates_run(settings: GateSettings) -> GatesRun:
    """The run of these settings in this notebook: the same one whenever it is asked for."""
    return GatesRun(settings)
