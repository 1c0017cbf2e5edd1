"""A row trained again to be watched: the recorded recipe, its reports, settings, a process of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest
import torch

from mha_course.training import live_row
from mha_course.training.gloss_batches import gloss_data
from mha_course.training.leaderboard import Row, Setting, held_out_loss, model_of, train_row
from mha_course.training.live_row import LiveRow, RowSettings, row_settings
from mha_course.training.live_row_run import RowRun, row_run
from mha_course.training.live_run import FINISHED, NEW, STOPPED
from mha_course.training.record import TESTING_SEED, TRAINING_SEED, held_out
from mha_course.training.train_digits import DigitSetting, digit_model_of, digits_right, train_digits
from mha_course.training.train_gloss import Recipe, accuracy, training_data

SMALL = Setting(32, 2, 64, 0.0, Recipe(steps=9, warm_up=2, sentences=1_200, tokens=96), look=2)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_a_gloss_row_is_trained_as_it_was_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_row, "Setting", lambda: SMALL)
    monkeypatch.setattr(live_row, "TESTED", 25)
    live = LiveRow(RowSettings("gloss", "mixture", 8, seed=5, steps=7))
    reports = list(live.reports())
    assert [report.drawn for report in reports[:3]] == [500, 1000, 1200]
    assert [report.step for report in reports] == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]
    assert all(math.isnan(report.loss) and report.held is None for report in reports[:3])

    model = model_of(Row("mixture", 8), SMALL, 5)
    data = training_data(SMALL.recipe, model.vocabulary, TRAINING_SEED)
    tested = gloss_data(held_out(25, TESTING_SEED), model.vocabulary)
    plain = list(islice(train_row(model, SMALL, 5, data, tested), 7))
    # A shorter run is the beginning of the whole one: the same rates, the same batches.
    assert [report.loss for report in reports[3:]] == [step.loss for step, _ in plain]
    assert [report.held for report in reports[3:9]] == [loss for _, loss in plain[:6]]
    assert reports[-1].held == round(held_out_loss(model, tested), 4)
    assert reports[-1].accuracy == accuracy(model, tested) and reports[-2].accuracy is None


def test_a_digits_row_is_trained_as_it_was_recorded() -> None:
    live = LiveRow(RowSettings("digits", "overlapping", 8, seed=2, steps=53))
    first, *reports = list(live.reports())
    assert (first.step, first.drawn) == (0, 500) and len(reports) == 53
    model = digit_model_of(Row("overlapping", 8), DigitSetting(), 2)
    losses = list(islice(train_digits(model, DigitSetting(), 2), 53))
    assert [report.loss for report in reports] == losses
    assert [report.step for report in reports if report.held is not None] == [50, 53]
    right, held = digits_right(model, DigitSetting())
    assert (reports[-1].right, reports[-1].held) == (round(right, 4), round(held, 4))


def test_settings() -> None:
    assert RowSettings().steps == 1_800 and RowSettings("digits", "mixture").steps == 600
    assert RowSettings("digits", "plain", 2, 7, 9).described() == {
        "task": "digits",
        "variant": "plain",
        "h": 2,
        "seed": 7,
        "steps": 9,
    }
    for told, changes in {
        "'sums'": {"task": "sums"},
        "'talking'.*digits has plain, h=8": {"task": "digits", "variant": "talking"},
        "h=3": {"h": 3},
        "h=0": {"h": 0},
        "seed=-1": {"seed": -1},
        "seed": {"seed": 2**63},
        "at most 1,800": {"steps": 1_801},
    }.items():
        with pytest.raises(ValueError, match=told):
            RowSettings(**changes)


def test_the_variable_makes_it_shorter_never_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MHA_COURSE_STEPS", raising=False)
    assert row_settings("gloss", "talking", 8, 1) == RowSettings("gloss", "talking", 8, 1, 1_800)
    monkeypatch.setenv("MHA_COURSE_STEPS", "700")
    assert row_settings("gloss", "talking", 8, 1).steps == 700
    assert row_settings("digits", "plain", 8).steps == 600


def test_stop_go_on_and_look_at_the_model() -> None:
    run = RowRun(RowSettings("digits", "plain", 4, seed=1, steps=61))
    try:
        assert run.state == NEW and run.model() is None and run.measured() == []
        run.start()
        run.stop()
        assert run.wait(240) == STOPPED
        stood = run.step
        assert stood < 61 and run.latest["held"] is None
        run.start()
        assert run.wait(240) == FINISHED, run.trouble
        assert run.step == 61 and [look["step"] for look in run.measured()] == [50, 61]
        assert run._process.wait(20) == 0  # it ends, and gives back its memory
        right, held = digits_right(run.model(), DigitSetting())
        last = run.measured()[-1]
        assert last["right"] == pytest.approx(right, abs=1e-3)
        assert last["held"] == pytest.approx(held, abs=1e-3)
    finally:
        run.close()


def test_alike_settings_are_one_run() -> None:
    assert row_run(RowSettings("digits", steps=600)) is row_run(RowSettings("digits"))
    assert row_run(RowSettings("digits")) is not row_run(replace(RowSettings("digits"), seed=1))
