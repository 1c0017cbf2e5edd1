"""The hard concrete gate: every stage of the official formulas, and both ways to close it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mha_course.heads.hard_concrete import HardConcrete

VECTOR = Path(__file__).parents[1] / "vectors" / "hard_concrete_gate.safetensors"


def close(ours: torch.Tensor, theirs: torch.Tensor, atol: float = 1e-5) -> bool:
    return torch.allclose(ours, theirs, atol=atol, rtol=0)


def test_every_number_of_the_reference() -> None:
    t, gate = load_file(VECTOR), HardConcrete()
    log_alpha = t["log_alpha"].clone().requires_grad_()
    s = gate.coin(log_alpha, t["u"])
    assert close(s, t["s"]) and close(gate.stretched(s), t["s_bar"])
    drawn = gate.sample(log_alpha, t["u"])
    assert close(drawn, t["gate"])
    assert close(gate.inference(log_alpha), t["gate_inference"])
    assert close(gate.probability_open(log_alpha), t["p_open"])
    assert close(gate.probability_one(log_alpha), t["p_one"])
    assert close(gate.expected_l0(log_alpha), t["expected_L0"])
    (slope,) = torch.autograd.grad(drawn.sum(), log_alpha)
    assert close(slope, t["grad_gate_sum"])
    (slope,) = torch.autograd.grad(gate.expected_l0(log_alpha), log_alpha)
    assert close(slope, t["grad_p_open"])


def test_probabilities_are_those_of_many_draws() -> None:
    gate, log_alpha = HardConcrete(beta=0.5, gamma=-0.2, zeta=1.3), torch.tensor([-3.0, -0.4, 0.7, 2.5])
    u = gate.noise(log_alpha.expand(200_000, 4), torch.Generator().manual_seed(1))
    drawn = gate.sample(log_alpha, u)
    assert close((drawn > 0).float().mean(0), gate.probability_open(log_alpha), atol=4e-3)
    assert close((drawn == 1).float().mean(0), gate.probability_one(log_alpha), atol=4e-3)
    assert u.min() >= gate.eps and u.max() <= 1 - gate.eps


def test_both_ways_to_close_a_gate() -> None:
    gate, edge = HardConcrete(), math.log(11)
    log_alpha = torch.tensor([-edge - 1e-3, -edge + 1e-3, -0.01, 0.0, 0.01, edge - 1e-3, edge + 1e-3])
    code, paper = gate.inference(log_alpha), gate.rounded(log_alpha)
    assert code[0] == 0 < code[1] and code[5] < 1 == code[6]
    assert paper.tolist() == [0, 0, 0, 1, 1, 1, 1]
    lopsided = HardConcrete(gamma=-0.4, zeta=1.05)
    log_alpha = torch.linspace(-4, 4, 81)
    p_zero, p_one = 1 - lopsided.probability_open(log_alpha), lopsided.probability_one(log_alpha)
    assert torch.equal(lopsided.rounded(log_alpha) == 1, p_one >= p_zero)
    assert 0 < lopsided.rounded(log_alpha).mean() < 0.5


def test_rounded_draws_keep_the_soft_slope() -> None:
    gate, u = HardConcrete(), torch.tensor([0.2, 0.45, 0.6, 0.9])
    log_alpha = torch.tensor([0.1, 0.3, -0.3, 0.4], requires_grad=True)
    soft, hard = gate.sample(log_alpha, u), gate.sample(log_alpha, u, hard=True)
    assert hard.tolist() == [0, 1, 1, 1] and not torch.equal(soft, hard)
    slopes = [torch.autograd.grad(drawn.sum(), log_alpha)[0] for drawn in (soft, hard)]
    assert torch.equal(*slopes)
    assert slopes[0][3] == 0 and slopes[0][2] > 0


def test_a_closed_head_is_counted_as_almost_nothing() -> None:
    gate = HardConcrete()
    assert float(gate.expected_l0(torch.full((5,), -60.0))) == pytest.approx(5 * gate.eps)
    assert float(gate.expected_l0(torch.full((5,), 60.0))) == pytest.approx(5, abs=1e-5)


@pytest.mark.parametrize("wrong", [{"beta": 0}, {"gamma": 0}, {"zeta": 1}, {"eps": 0}, {"eps": 0.5}])
def test_what_cannot_be_is_named(wrong: dict) -> None:
    with pytest.raises(ValueError, match="beta > 0, gamma < 0, zeta > 1"):
        HardConcrete(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"beta": math.inf}, {"beta": True}, {"zeta": math.inf}, {"gamma": -math.inf}]
)
def test_all_constants_are_finite_numbers(wrong: dict) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}=.* finite number"):
        HardConcrete(**wrong)


def test_noise_is_a_chance_and_whole_numbers_are_numbers() -> None:
    gate, log_alpha = HardConcrete(), torch.tensor([-2, 0, 3])
    draws = [gate.noise(one, torch.Generator().manual_seed(2)) for one in (log_alpha, log_alpha.float())]
    assert torch.equal(*draws) and torch.equal(*(gate.sample(log_alpha, u) for u in draws))
    for u in (2.0, -0.1, math.nan):
        with pytest.raises(ValueError, match=r"u, the noise of a gate, must lie in \(0, 1\)"):
            gate.sample(log_alpha, torch.tensor([0.5, u, 0.5]))
