"""The process in which a row of the leaderboard is trained again; run as `live_worker.py`."""

from __future__ import annotations

from mha_course.training.live_row import LiveRow, RowSettings
from mha_course.training.live_worker import serve


def trainer_of(told: dict[str, object]) -> LiveRow:
    """A trainer with settings as `RowSettings.described` gives them."""
    return LiveRow(RowSettings(**told))


if __name__ == "__main__":
    serve(trainer_of)
