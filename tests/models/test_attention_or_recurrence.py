"""Attention beside recurrent layers: FLOPs as PyTorch counts them, where they cross, and times."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from mha_course import cost
from mha_course.models.attention_or_recurrence import GATES, race, recurrent_flops


@pytest.mark.parametrize("name", ["RNN", "GRU"])
def test_the_formula_is_what_is_counted(name: str) -> None:
    layer = getattr(nn, name)(10, 10, bias=False, batch_first=True)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        layer(torch.randn(3, 7, 10))
    assert counter.get_total_flops() == recurrent_flops(7, 10, GATES[name], b=3)


def test_where_flops_cross() -> None:
    d = 96

    def attention(n: int) -> int:
        return cost.attention_flops(n, d, 4)["total"]

    assert attention(d) == recurrent_flops(d, d, GATES["GRU"])
    assert attention(d - 1) < recurrent_flops(d - 1, d, GATES["GRU"])
    assert attention(d + 1) > recurrent_flops(d + 1, d, GATES["GRU"])
    assert attention(2 * d) == recurrent_flops(2 * d, d, GATES["LSTM"])
    assert all(attention(n) > 2 * recurrent_flops(n, d) for n in (1, 5, d))


def test_times_cross_later_than_flops() -> None:
    short, long = race((32, 4000), d_model=32, h=2, seconds=0.05)
    assert short.flops["attention"] == short.flops["GRU"]
    assert short.seconds["attention"] * 2 < short.seconds["GRU"]  # here a seventh
    assert long.flops["attention"] > 10 * long.flops["RNN"]
    assert long.seconds["attention"] > long.seconds["RNN"]


def test_what_cannot_be_is_named() -> None:
    with pytest.raises(ValueError, match="n=0"):
        race((0,))
    with pytest.raises(ValueError, match="gates=0"):
        recurrent_flops(5, 12, 0)
    with pytest.raises(ValueError, match="d_model=10"):
        race((5,), d_model=10, h=3)
