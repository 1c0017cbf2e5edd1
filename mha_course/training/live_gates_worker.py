"""The process in which gates are learned live; it is run as that of `training/live_worker.py`."""

from __future__ import annotations

from mha_course.training.live_gates import GateSettings, LiveGates
from mha_course.training.live_worker import serve


def trainer_of(told: dict[str, object]) -> LiveGates:
    """A trainer with settings as `GateSettings.described` gives them."""
    return LiveGates(GateSettings(**told))


if __name__ == "__main__":
    serve(trainer_of)
