"""A layer at every h: the same FLOPs, more time."""

from __future__ import annotations

import pytest

from mha_course import cost
from mha_course.models import time_over_heads as module
from mha_course.models.own_machine import Setting
from mha_course.models.time_over_heads import HeadsTimed, time_over_heads

STAGES = ("projections", "scores", "softmax", "weighted_sum", "output_projection")


def test_what_is_told_of_one_layer() -> None:
    times = dict(zip(STAGES, (5.0, 2.0, 1.0, 3.0, 4.0), strict=True))
    one = HeadsTimed(3, 4, 100, 77, times, 2.5)
    assert (one.total, one.fused_total) == (15.0, 11.5)
    assert one.softmax_share == pytest.approx(1 / 15)


def test_heads_take_turns_and_the_fastest_counts(monkeypatch) -> None:
    asked: list[tuple[int, bool]] = []

    def measured(setting: Setting, fused: bool, seconds: float, only: object = None) -> dict[str, float]:
        asked.append((setting.h, fused))
        turn = len(asked)
        return (
            {"attention": 9.0 - turn, "total": 0.0}
            if fused
            else dict.fromkeys((*STAGES, "total"), 1.0 * turn)
        )

    monkeypatch.setattr(module, "measured_seconds", measured)
    rows = time_over_heads(n=5, d_model=12, b=2, heads=(3, 6), rounds=2)
    assert asked == [(3, False), (3, True), (6, False), (6, True)] * 2
    assert [row.seconds["scores"] for row in rows] == [1.0, 3.0]
    assert [row.fused_seconds for row in rows] == [3.0, 1.0]  # turns 6 and 8
    assert [set(row.seconds) for row in rows] == [set(STAGES)] * 2
    assert [row.kept_bytes for row in rows] == [2 * h * 25 * 4 for h in (3, 6)]
    assert [row.d_k for row in rows] == [4, 2]


def test_by_flops_h_costs_nothing_and_narrow_heads_take_longer() -> None:
    rows = time_over_heads(n=160, d_model=64, seconds=0.01, rounds=2)
    assert [row.h for row in rows] == [1, 2, 4, 8, 16, 32, 64]
    assert {row.flops for row in rows} == {cost.attention_flops(160, 64, 1)["total"]}
    first, last = rows[0], rows[-1]
    assert last.kept_bytes == 64 * first.kept_bytes
    # Here about 15 times the time in all, 50 times that of the softmax; the projections know nothing of h.
    assert last.total > 3 * first.total
    assert last.seconds["softmax"] > 10 * first.seconds["softmax"]
    assert last.seconds["projections"] < 3 * first.seconds["projections"]


def test_what_cannot_be_is_named() -> None:
    with pytest.raises(ValueError, match="d_model=12"):
        time_over_heads(n=5, d_model=12, heads=[5])
    with pytest.raises(ValueError, match="rounds=0"):
        time_over_heads(rounds=0)
