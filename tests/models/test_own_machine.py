"""The student's own machine: what is measured, what is predicted, and that both know the same stages."""

from __future__ import annotations

import time

import pytest
import torch

from mha_course import cost
from mha_course.attention import scaled_dot_product_attention
from mha_course.models import own_machine
from mha_course.models.own_machine import (
    Setting,
    measure_machine,
    measured_seconds,
    predicted_seconds,
    shortest,
)


def test_the_fastest_try_counts_and_the_first_does_not(monkeypatch) -> None:
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 23.0, 30.0, 34.0])
    calls: list[int] = []
    monkeypatch.setattr(own_machine, "now", lambda: next(clock))
    assert shortest(lambda: calls.append(1), seconds=0, least=4) == 2.0
    assert len(calls) == 5


def test_waiting_is_not_counted_where_the_clock_is_fine() -> None:
    if not own_machine._FINE:
        pytest.skip("this system measures processor time too roughly")
    assert shortest(lambda: time.sleep(0.05), seconds=0) < 0.02


def test_prediction_is_the_roof_of_every_stage() -> None:
    machine, setting = cost.Machine("toy", peak=1e9, bandwidth=1e8), Setting(3, 5, 24, 4, 2, cached=7)
    predicted = predicted_seconds(setting, machine)
    stages = cost.stage_costs(3, 5, 24, 4, 2, cached=7, bytes_per_number=4)
    for name, stage in stages.items():
        assert predicted[name] == pytest.approx(max(stage.flops / 1e9, stage.bytes / 1e8))
    assert predicted["total"] == pytest.approx(sum(predicted[name] for name in stages))
    fused = predicted_seconds(setting, machine, fused=True)
    assert set(fused) == {"projections", "attention", "output_projection", "total"}


@pytest.mark.parametrize("fused", [False, True])
def test_the_stages_measured_are_those_predicted(fused: bool) -> None:
    setting, machine = Setting(3, 5, 24, 4, 2, cached=7), cost.Machine("toy", 1e9, 1e8)
    threads = torch.get_num_threads()
    measured = measured_seconds(setting, fused, seconds=0)
    assert list(measured) == list(predicted_seconds(setting, machine, fused))
    assert all(0 < seconds < 1 for seconds in measured.values())
    assert torch.get_num_threads() == threads


def test_single_stages_can_be_timed() -> None:
    setting = Setting(3, 5, 24, 4, 2, cached=7)
    assert list(measured_seconds(setting, seconds=0, only=["softmax"])) == ["softmax", "total"]
    with pytest.raises(ValueError, match="'attention'.* no stage; there are projections, scores"):
        measured_seconds(setting, seconds=0, only=["attention"])


@pytest.mark.parametrize("setting", [Setting(3, 5, 24, 4, 2, cached=7), Setting(2, 17, 24, 4)], ids=str)
def test_what_is_timed_is_attention(setting: Setting) -> None:
    """The shapes of operands and results are those of the formulas, and the products are the right ones."""
    stages = own_machine._stages(setting, fused=False)
    costs = setting.costs()
    for name, (call, operands, room) in stages.items():
        call(*operands, *room)
        numbers = sum(one.nelement() for one in (*operands, *room))
        if name == "projections":
            numbers += 2 * operands[0].nelement()  # x is read three times
        assert 4 * numbers == costs[name].bytes, name
    _, (left, right), (room,) = stages["scores"]
    few = left.shape[2] > right.shape[2]
    keys, queries = (left, right) if few else (right, left)
    assert keys.shape[2] == setting.cached + setting.n
    assert torch.allclose(room.mT if few else room, queries @ keys.mT, atol=1e-5)


def test_a_fused_stage_is_attention() -> None:
    call, (rows, k, v), _ = own_machine._stages(Setting(2, 3, 24, 4, 2), fused=True)["attention"]
    assert torch.allclose(call(rows, k, v), scaled_dot_product_attention(rows, k, v)[0], atol=1e-5)
    assert (rows.shape, k.shape) == ((2, 2, 6, 6), (2, 2, 3, 6))


@pytest.mark.slow
def test_measured_on_this_machine_within_reason() -> None:
    machine = measure_machine(0.6)
    assert 1e8 < machine.peak < 1e14 and 1e8 < machine.bandwidth < 1e13
    assert machine.source == "measured just now"
    short, long = (measured_seconds(Setting(1, n, 256, 4), seconds=0.05)["scores"] for n in (64, 512))
    assert long > 8 * short  # 64 times the work
