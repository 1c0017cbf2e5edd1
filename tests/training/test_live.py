"""Live training: reports, a process of its own that rests and goes on, settings, and what it leaves alone."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch

from mha_course.heads.roles import score_roles
from mha_course.text.course_language.gloss import PARTS
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training import live as live_module
from mha_course.training.live import (
    LiveSettings,
    LiveTrainer,
    Report,
    best_of_each_role,
    live_settings,
)
from mha_course.training.live_run import FAILED, FINISHED, NEW, STOPPED, LiveRun, live_run

TINY = LiveSettings(seed=4, steps=7, sentences=600, measure_every=3)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def few_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "MEASURED_SENTENCES", 40)


def made(settings: LiveSettings) -> tuple[list[Report], LiveTrainer]:
    trainer = LiveTrainer(settings)
    return list(trainer.reports()), trainer


def test_reports_come_from_drawing_to_the_last_update(few_measured: None) -> None:
    reports, trainer = made(TINY)
    assert [(r.step, r.drawn) for r in reports] == [(0, 500), (0, 600), *((i, 600) for i in range(1, 8))]
    assert [r.step for r in reports if r.roles] == [0, 3, 6, 7]
    assert math.isnan(reports[1].loss) and reports[-1].loss < reports[2].loss
    for report in reports:
        if report.roles:
            assert set(report.accuracy) == set(PARTS)
            assert set(report.roles) <= {"previous", "next", "syntactic", "rarest"}
    trained = {s.words for s in draw_sentences(600, 11)}
    assert len(trainer.held) == 40 and not trained & {s.words for s in trainer.held}


def test_random_numbers_of_the_notebook_stay_as_they_are(few_measured: None) -> None:
    torch.manual_seed(9)
    expected = torch.rand(3)
    torch.manual_seed(9)
    first, _ = made(TINY)
    assert torch.equal(torch.rand(3), expected)
    torch.rand(50)
    again, _ = made(TINY)
    assert [r.loss for r in first[2:]] == [r.loss for r in again[2:]]


def test_parts_that_are_not_asked_for_are_not_learned(few_measured: None) -> None:
    _, trainer = made(LiveSettings(seed=4, steps=7, sentences=600, measure_every=9, parts=("ending",)))
    start = live_module.fresh_model(trainer.model.sizes, 4)
    moved = {part: not torch.equal(trainer.model.parts[part].bias, start.parts[part].bias) for part in PARTS}
    assert moved == {"stem": False, "ending": True, "mutation": False, "liaison": False}


def test_settings_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"parts": ("root",)}, {"parts": ()}, {"steps": 0}, {"seed": -1}, {"measure_every": 0}):
        with pytest.raises(ValueError):
            LiveSettings(**wrong)
    monkeypatch.delenv("MHA_COURSE_STEPS", raising=False)
    assert live_settings() == LiveSettings() and live_settings().recipe.warm_up == 300
    monkeypatch.setenv("MHA_COURSE_STEPS", "40")
    assert (live_settings().steps, live_settings().sentences, live_settings().recipe.warm_up) == (40, 800, 10)
    for wrong in ("many", "0", "-3", "2.5"):
        monkeypatch.setenv("MHA_COURSE_STEPS", wrong)
        with pytest.raises(ValueError, match="MHA_COURSE_STEPS"):
            live_settings()


def test_the_best_head_is_picked_on_one_half_and_scored_on_the_other() -> None:
    sentences = [s.parsed for s in draw_sentences(60, 5)]
    g = torch.Generator().manual_seed(1)
    maps = [torch.rand(2, 3, len(s), len(s), generator=g).softmax(-1) for s in sentences]
    for i, (s, w) in enumerate(zip(sentences, maps, strict=True)):
        n = len(s)
        w[1, 2] = torch.eye(n).roll(-1, 1) if i % 2 == 0 else w[1, 2]  # looks back, on the picking half only
        w[1, 2, 0] = 1 / n
        w[0, 1, : n - 1] = torch.eye(n)[1:]  # looks ahead, everywhere
    counts = {word: 1 for s in sentences for word in s.words}
    best = best_of_each_role(score_roles(maps, sentences, counts))
    assert (best["next"]["layer"], best["next"]["head"], best["next"]["score"]) == (1, 2, 1.0)
    assert best["next"]["passed"] and best["next"]["rule"] == "chance"
    assert (best["previous"]["layer"], best["previous"]["head"]) == (2, 3)
    assert best["previous"]["score"] < 0.4 and not best["previous"]["passed"]
    assert "punct" not in best["syntactic"]["name"]


@pytest.fixture
def run() -> Iterator[LiveRun]:
    run = LiveRun(LiveSettings(seed=3, steps=400, sentences=700, measure_every=50))
    yield run
    run.close()


def test_stop_and_go_on_from_the_same_place(run: LiveRun) -> None:
    assert run.state == NEW and run.model() is None
    run.stop()  # nothing to stop
    run.start()
    run.stop()
    assert run.wait(60) == STOPPED and run.step == 0
    news: list[str] = []
    run.watch(lambda: news.append(run.state))
    run.start()
    run.start()  # a second time changes nothing
    with run._moved:
        assert run._moved.wait_for(lambda: run.step >= 10, 60)
    run.stop()
    assert run.wait(30) == STOPPED
    stood, weights = run.step, run.model().read.words.weight
    assert 10 <= stood < 400 and weights.isfinite().all() and not run.model().training
    assert news and news[-1] in (STOPPED, "stopping")
    run.start()
    with run._moved:
        assert run._moved.wait_for(lambda: run.step > stood + 5, 60)
    steps = [report["step"] for report in run.history]
    assert steps == sorted(steps) and set(steps) - {stood} <= {0, stood, *range(10, 401, 10)}


def test_it_ends_by_itself_and_stays_ended() -> None:
    run = LiveRun(LiveSettings(seed=3, steps=5, sentences=500, measure_every=2))
    run.start()
    assert run.wait(90) == FINISHED
    run.start()
    assert run.state == FINISHED and run.step == 5
    assert [report["step"] for report in run.measured()] == [0, 2, 4, 5]
    run.close()
    assert run.model() is not None


def test_a_process_that_dies_is_told_of_and_can_start_again(run: LiveRun) -> None:
    run.start()
    run._process.kill()
    assert run.wait(30) == FAILED and run.trouble
    run.start()
    run.stop()
    assert run.wait(60) == STOPPED


def test_the_same_settings_are_the_same_run() -> None:
    settings = LiveSettings(seed=77, steps=3)
    assert live_run(settings) is live_run(LiveSettings(seed=77, steps=3))
    assert live_run(settings) is not live_run(LiveSettings(seed=78, steps=3))
