"""A row of the leaderboard being trained again, as the notebook sees it."""

from __future__ import annotations

from functools import cache

from safetensors.torch import load

from mha_course.models.digit_model import DigitModel
from mha_course.models.gloss_model import GlossModel
from mha_course.training.leaderboard import Setting, model_of
from mha_course.training.live_row import RowSettings
from mha_course.training.live_run import LiveRun
from mha_course.training.train_digits import DigitSetting, digit_model_of


class RowRun(LiveRun):
    """A row trained in a process of its own."""

    worker = "mha_course.training.live_row_worker"

    def model(self) -> GlossModel | DigitModel | None:
        """The model as it was at the end, or when it stopped; of digits at the last look too. Else None."""
        with self._lock:
            weights, chosen = self._weights, self.settings
        if not weights:
            return None
        make, setting = (model_of, Setting()) if chosen.task == "gloss" else (digit_model_of, DigitSetting())
        model = make(chosen.row, setting, chosen.seed)
        model.load_state_dict(load(weights))
        return model.requires_grad_(False).eval()

    def measured(self) -> list[dict[str, object]]:
        """The reports in which the held-out loss was looked at, oldest first."""
        with self._lock:
            return [report for report in self.history if report["held"] is not None]


@cache
def row_run(settings: RowSettings) -> RowRun:
    """The run of these settings in this notebook: the same one whenever it is asked for."""
    return RowRun(settings)
