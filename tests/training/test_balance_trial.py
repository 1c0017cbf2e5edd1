"""The trial of the balance loss: its record, and a short run of its own."""

from __future__ import annotations

import pytest
import torch

from mha_course.models.digit_model import digit_images
from mha_course.training.balance_trial import (
    FACTORS,
    MIXTURE,
    SEEDS,
    balance_runs,
    routings_of,
    run_balance,
)
from mha_course.training.train_digits import DigitSetting, digit_model_of

SHORT = DigitSetting(d_model=16, n_layers=3, d_ff=24, pictures=60, steps=4, batch=7)


def test_the_record_holds_every_factor_and_seed() -> None:
    runs = balance_runs()
    assert [(run.factor, run.seed) for run in runs] == [(f, s) for f in FACTORS for s in SEEDS]
    for run in runs:
        # Every patch chooses 3 of 6 heads.
        assert all(sum(shares) == pytest.approx(3, abs=0.001) for shares in run.chosen)
        assert run.unused == sum(share < 0.01 for layer in run.chosen for share in layer)
        assert 0.85 < run.right < 0.95


def test_a_short_run_tells_every_layer() -> None:
    threads = torch.get_num_threads()
    try:
        run = run_balance(0.5, 3, SHORT)
    finally:
        torch.set_num_threads(threads)
    assert len(run.chosen) == len(run.losses) == 3 and {len(layer) for layer in run.chosen} == {6}
    assert all(sum(shares) == pytest.approx(3, abs=0.001) for shares in run.chosen)
    assert (run.factor, run.seed) == (0.5, 3)


def test_routings_are_those_of_the_patches_and_leave_no_trace() -> None:
    model = digit_model_of(MIXTURE, SHORT, seed=2).train()
    images = digit_images()[0][:5]
    found = routings_of(model, images)
    assert [tuple(routing.chosen.shape) for routing in found] == [(5, 16, 6)] * 3
    assert model.training and len(routings_of(model, images[:2])) == 3  # hooks are gone
    assert not any(layer.attention._forward_pre_hooks for layer in model.encoder.layers)


def test_much_of_the_loss_evens_out_who_is_chosen() -> None:
    def widest(factor: float) -> float:
        shares = [run.chosen[0] for run in balance_runs() if run.factor == factor]
        return max(max(one) - min(one) for one in shares)

    assert widest(1.0) < 0.1 < widest(0.01)
    assert widest(0.0) == pytest.approx(1, abs=0.01)
