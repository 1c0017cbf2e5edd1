"""Gates learned live: the same as those learned otherwise, reports, settings, a process of their own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

import pytest
import torch

from mha_course.heads.pruning import GateRecipe, NoHeads
from mha_course.models.course_models import load_course_model
from mha_course.text.course_language.gloss import PARTS
from mha_course.training.gates import GateTrainer, gate_sentences
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.training.live_gates import GateReport, GateSettings, LiveGates, gate_settings
from mha_course.training.live_gates_run import GatesRun, gates_run
from mha_course.training.live_run import FINISHED, NEW, STOPPED
from mha_course.training.train_gloss import accuracy

# So dear that hardly a head stays open, and long enough for gates to close.
DEAR = GateSettings(seed=2, price=1.2, steps=120)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def learned() -> tuple[list[GateReport], LiveGates]:
    trainer = LiveGates(DEAR)
    return list(trainer.reports()), trainer


def test_gates_are_those_that_are_learned_without_looking_on(learned: tuple) -> None:
    reports, live = learned
    updates = [report for report in reports if report.step]
    model = load_course_model(seed=2)
    plain = GateTrainer(model, DEAR.recipe, seed=2).steps(gate_sentences(model.vocabulary, DEAR.sentences))
    for report, step in zip(updates, islice(plain, 9), strict=False):
        assert report.loss == pytest.approx(step.loss)
        assert report.expected_open == pytest.approx(step.expected_open)
        assert report.gates == tuple(tuple(round(g, 4) for g in row.tolist()) for row in step.gates)
    assert len(live.trainer.values()) == 2


def test_reports_come_from_drawing_to_what_is_left(learned: tuple) -> None:
    reports, live = learned
    first, *updates = [report for report in reports if report.drawn == DEAR.sentences]
    assert first.step == 0 and math.isnan(first.loss) and first.gates is None
    assert set(first.accuracy) == set(PARTS) and min(first.accuracy.values()) > 0.99
    assert [report.step for report in updates] == [*range(1, 121), 120]
    assert all(report.accuracy is None and report.roles is None for report in updates[:-1])
    last = updates[-1]
    kept = sum(gate > 0 for row in last.gates for gate in row)
    assert 0 <= kept < 16 and last.gates == updates[-2].gates
    assert last.accuracy == accuracy(live.trainer.pruned(), held_out_glosses(400))
    for row, labels in zip(last.gates, last.roles, strict=True):
        assert all(label is None for gate, label in zip(row, labels, strict=True) if gate == 0)


def test_a_model_without_any_head_is_measured_as_well() -> None:
    closed = LiveGates(GateSettings(seed=1, price=0.3, steps=1))
    reports = closed.reports()
    while not (report := next(reports)).step:
        pass
    assert report.step == 1
    for gate in closed.trainer.gates:
        gate.log_alpha.data.fill_(-9.0)
    last = next(reports)
    assert all(label is None for row in last.roles for label in row)
    assert last.accuracy["liaison"] < 0.9
    assert sum(isinstance(module, NoHeads) for module in closed.trainer.pruned().modules()) == 2
    assert next(reports, None) is None


def test_phases_keep_their_shares() -> None:
    assert GateSettings().recipe == GateRecipe()
    short = GateSettings(steps=120, price=0.4).recipe
    assert (short.ramp, short.settle, short.strength) == (10, 20, 0.4)
    assert GateSettings(steps=1).recipe.settle == 0 and GateSettings(steps=7).sentences == 300


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("seed", (3, -1, "0", None, 1.0, True)),
        ("price", (-0.1, math.nan, math.inf, "0.05", None, True, [1])),
        ("steps", (0, 20_001, 2.5, "60", None)),
    ],
)
def test_settings_that_cannot_be(name: str, values: tuple) -> None:
    for value in values:
        with pytest.raises(ValueError, match=name):
            GateSettings(**{name: value})


def test_the_variable_makes_it_shorter_never_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MHA_COURSE_STEPS", raising=False)
    assert gate_settings(1, 0.2).steps == 600
    monkeypatch.setenv("MHA_COURSE_STEPS", "45")
    assert gate_settings(1, 0.2).steps == 45 and gate_settings(1, 0.2, steps=30).steps == 30
    monkeypatch.setenv("MHA_COURSE_STEPS", "none")
    with pytest.raises(ValueError, match="MHA_COURSE_STEPS"):
        gate_settings()


def test_stop_go_on_and_take_the_heads_out() -> None:
    run = GatesRun(GateSettings(seed=1, price=0.07, steps=14))
    try:
        assert run.state == NEW and run.values is None and run.pruned() is None and run.whole is None
        run.start()
        run.stop()
        assert run.wait(240) == STOPPED and run.left is None and run.pruned() is None
        run.start()
        assert run.wait(240) == FINISHED, run.trouble
        assert run.step == 14 and [gate.shape for gate in run.values] == [(8,), (8,)]
        assert min(run.whole.values()) > 0.99
        right = accuracy(run.pruned(), held_out_glosses(400))
        assert run.left == pytest.approx(right) and len(run.labels) == 2
    finally:
        run.close()


def test_alike_settings_are_one_run() -> None:
    assert gates_run(GateSettings(0, 3, 50)) is gates_run(GateSettings(seed=0, price=3.0, steps=50))
    assert gates_run(GateSettings(1, 3, 50)) is not gates_run(GateSettings(0, 3, 50))
