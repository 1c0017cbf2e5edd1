"""GateDraws: shares against draws, against the distribution's own chances, and what is refused."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.hard_concrete import HardConcrete
from mha_course.widgets.gate_draws import GateDraws, gate_shares


@pytest.mark.parametrize(("log_alpha", "beta"), [(-2.0, 0.33), (0.0, 0.67), (1.5, 1.0), (0.5, 0.1)])
def test_shares_are_those_of_many_draws(log_alpha: float, beta: float) -> None:
    concrete, count = HardConcrete(beta=beta), 400_000
    log_alphas = torch.full((count,), log_alpha, dtype=torch.float64)
    g = concrete.sample(log_alphas, concrete.noise(log_alphas, torch.Generator().manual_seed(3)))
    inside = g[(g > 0) & (g < 1)]
    counted = [(g == 0).sum(), *torch.histc(inside, 10, 0, 1), (g == 1).sum()]
    shares = gate_shares(log_alpha, concrete)
    assert len(shares) == 12 and sum(shares) == pytest.approx(1, abs=1e-12)
    for found, share in zip(counted, shares, strict=True):
        assert float(found) / count == pytest.approx(share, abs=4e-3)


def test_the_ends_are_the_chances_that_gates_are_learned_with() -> None:
    for log_alpha in (-4.0, -1.0, 0.0, 2.0):
        concrete, at = HardConcrete(), torch.tensor(log_alpha, dtype=torch.float64)
        shares = gate_shares(log_alpha, concrete)
        assert 1 - shares[0] == pytest.approx(float(concrete.probability_open(at)), abs=1e-9)
        assert shares[-1] == pytest.approx(float(concrete.probability_one(at)), abs=1e-9)


def test_the_answer_and_the_words_hold_the_readouts() -> None:
    widget = GateDraws(log_alpha=2.0)
    answer = widget.answer
    assert round(answer["open"], 4) == 0.9422 and round(answer["without_noise"], 4) == 0.9570
    assert answer["shares"] == [round(share, 6) for share in widget.shares]
    assert "exactly 0 in 0.058" in widget.alt and "open with probability 0.942" in widget.alt
    widget.log_alpha = -2.5  # below -ln 11
    assert widget.answer["without_noise"] == 0
    widget.beta = 1.0
    assert widget.answer["shares"][0] == pytest.approx(1 - float(widget.answer["open"]), abs=1e-5)
    assert widget.still_png()


def test_far_values_are_drawn_and_own_values_are_stops() -> None:
    far = GateDraws(log_alpha=-50, beta=10)
    assert far.shares[0] == pytest.approx(1, abs=1e-9) and far.stops["log_alpha"][0] == -50
    assert 10 in far.stops["beta"] and GateDraws(log_alpha=0.3).stops["log_alpha"].count(0.3) == 1


@pytest.mark.parametrize(
    "settings",
    [{"log_alpha": float("nan")}, {"log_alpha": 51}, {"beta": 0}, {"beta": -1}, {"beta": float("inf")}],
)
def test_what_cannot_be_drawn_is_refused(settings: dict[str, float]) -> None:
    name = next(iter(settings))
    with pytest.raises(ValueError, match=name):
        GateDraws(**settings)
    widget = GateDraws()
    with pytest.raises(ValueError, match=name):
        setattr(widget, name, settings[name])
    assert (widget.log_alpha, widget.beta) == (0.0, 0.33)


@pytest.mark.parametrize("wrong", [None, [1], True, "1"])
def test_what_is_no_number_is_refused(wrong: object) -> None:
    for name in ("log_alpha", "beta"):
        with pytest.raises(ValueError, match=f"{name}=.* finite number"):
            GateDraws(**{name: wrong})
