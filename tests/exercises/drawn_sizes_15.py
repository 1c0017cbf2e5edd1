"""Calls of lesson 15's exercises at sizes that hypothesis draws."""

from __future__ import annotations

from typing import Any

from mha_course.exercises.lessons.lesson_15 import drawn_load, drawn_routers
from mha_course.exercises.lessons.lesson_15_circuits import drawn_layer
from mha_course.exercises.lessons.lesson_15_composed import drawn_composition, drawn_talk
from mha_course.exercises.lessons.lesson_15_difference import drawn_losses


def _gates(s: Any) -> tuple[Any, ...]:
    routed = s.d_v + 2
    routers = drawn_routers(s.g, s.d_model, s.h, routed, 2)
    return s.tensor(s.b, s.n, s.d_model), *routers, 2 + s.m % (routed - 2)


def _load(s: Any) -> tuple[Any, ...]:
    return drawn_load(s.g, s.b, s.n, s.h + 1, 1 + s.m % s.h)


CALLS_15 = {
    "two_stage_gates": _gates,
    "balance_loss": _load,
    "circuits": lambda s: (*drawn_layer(s.g, s.n * s.m, s.h, s.d_k, s.d_v), s.h),
    "clear_difference": lambda s: drawn_losses(s.g, s.h + 10, s.n + 1, s.m + 1),
    "talk": lambda s: drawn_talk(s.g, s.b, s.h, s.n, s.m),
    "composition_matrices": lambda s: drawn_composition(s.g, s.n, s.m, s.h, s.d_k),
}
