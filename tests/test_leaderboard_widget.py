"""Leaderboard in Python: what goes to the view, one row in words, a row trained again, and stills."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch

from mha_course import widgets
from mha_course.models.digit_model import DigitModel
from mha_course.models.leaderboard_records import leaderboard
from mha_course.models.leaderboard_rows import RowRecord, RunRecord
from mha_course.training import live_run as runs
from mha_course.training.leaderboard import ROWS, Row
from mha_course.training.live import LiveSettings
from mha_course.training.live_row import RowSettings
from mha_course.widgets import leaderboard as board
from mha_course.widgets.leaderboard_words import again, against, ranked, told


def row(
    variant: str, h: int, *losses: tuple[float, ...], task: str = "gloss", **changes: object
) -> RowRecord:
    """A row whose runs had these losses, at every look; of digits (share right, loss)."""
    if task == "gloss":
        runs_ = [RunRecord(i, one, 5_000, 20.0 + i, {"stem": 0.5}) for i, one in enumerate(losses)]
    else:
        runs_ = [RunRecord(i, (one[1],), 700, 9.0, {}, one[0]) for i, one in enumerate(losses)]
    made = RowRecord(
        task, Row(variant, h), f"{variant} heads", "Somebody 2020", tuple(runs_), 40_000, 24, 3, 50
    )
    return replace(made, **changes)


PLAIN = row("plain", 8, (3.0, 1.4), (2.0, 1.3), (3.0, 1.2))
TALKING = row("talking", 8, (2.0, 1.0), (1.4, 0.9), (2.0, 0.8), flops=50_000)
NEAR = row("overlapping", 8, (3.0, 1.45), (3.0, 1.25), (3.0, 1.3), cached=24)
DIGITS = [
    row("plain", 8, (0.9, 0.4), (0.92, 0.3), task="digits"),
    row("mixture", 8, (0.97, 0.2), (0.96, 0.3), task="digits"),
]


@pytest.fixture
def three_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        board, "leaderboard", lambda task: [TALKING, PLAIN, NEAR] if task == "gloss" else DIGITS
    )


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MHA_COURSE_STEPS", "52")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    for run in runs._RUNNING:
        run.close()


def test_a_row_against_plain_heads_in_words() -> None:
    assert told(TALKING, PLAIN, "loss", 1.5) == (
        "Talking heads, h = 8 (Somebody 2020): a held-out loss of 0.900, 0.800 to 1.000 over 3 seeds. "
        "Plain heads, h = 8: 1.300, 1.200 to 1.400 over 3 seeds. "
        "The means differ by 0.400, the larger spread over seeds is 0.200: better by 0.400."
    )
    assert "0.033, the larger spread over seeds is 0.200: no difference." in told(NEAR, PLAIN, "loss", 1.5)
    # Steps 100, 50, 100 against 100 each: less than the 50 steps between two looks.
    assert "The means differ by 17, the larger spread over seeds is 50: no difference." in told(
        TALKING, PLAIN, "steps", 1.5
    )
    assert "a loss of 1.25 is never reached in 2 of 3 seeds" in told(PLAIN, PLAIN, "steps", 1.25)
    assert "nothing to compare" in told(TALKING, PLAIN, "steps", 1.25)
    assert told(TALKING, PLAIN, "flops", 1.5).endswith(
        "Plain heads, h = 8: 40,000 FLOPs. 1.25 times as many."
    )
    assert told(NEAR, PLAIN, "cache", 1.5).endswith("288 cache bytes a token. As many.")
    assert "hang on the machine" in told(NEAR, PLAIN, "seconds", 1.5)
    alone = replace(TALKING, runs=TALKING.runs[:1])
    assert "with one seed" in told(alone, PLAIN, "loss", 1.5) and "Too few seeds" in told(
        alone, PLAIN, "loss", 1.5
    )
    assert "have not been run yet" in told(TALKING, None, "loss", 1.5)
    assert against(DIGITS[1], DIGITS[0], "right", 1.5) == "better by 5.5 points"


def test_rows_without_a_step_stand_last() -> None:
    order = [one.row.variant for one in ranked((PLAIN, NEAR, TALKING), "steps", 1.25)]
    assert order == ["talking", "plain", "overlapping"] or order == ["talking", "overlapping", "plain"]
    assert [one.row.variant for one in ranked(DIGITS, "right", 1.5)] == ["mixture", "plain"]


def test_what_was_trained_here_is_laid_beside_the_record() -> None:
    settings = RowSettings("gloss", "talking", 8, seed=1)
    assert again(settings, [], TALKING) == ""
    said = again(settings, [(50, 1.9), (100, 0.95)], TALKING)
    assert "seed 1: a held-out loss of 0.950 after 100 steps" in said
    assert "0.900 with this seed, over 3 seeds 0.800 to 1.000" in said
    assert "Recorded" not in again(settings, [(24, 1.9)], TALKING)
    unseen = again(replace(settings, seed=8), [(100, 0.95)], TALKING)
    assert "with this seed" not in unseen and "over 3 seeds 0.800 to 1.000" in unseen
    assert again(settings, [(100, 0.95)], None).endswith("after 100 steps.")


def test_everything_the_view_draws_is_there(three_rows: None) -> None:
    shown = widgets.Leaderboard(variant="talking")
    record, header = shown.record, shown.answer
    assert [one["key"] for one in record["rows"]] == ["plain|8", "overlapping|8", "talking|8"]
    assert [one["letter"] for one in record["rows"]] == ["A", "K", "M"] and len(ROWS) == 14
    assert record["rows"][2]["values"]["loss"] == [1.0, 0.9, 0.8]
    assert record["rows"][2]["steps"]["1.25"] == [100, 100, 100] and record["rows"][2]["values"]["cache"] == [
        288
    ]
    assert record["rows"][0]["curve"] == [
        [50, pytest.approx(8 / 3, abs=1e-4), 2.0, 3.0],
        [100, 1.3, 1.2, 1.4],
    ]
    assert header["order"] == ["talking|8", "plain|8", "overlapping|8"]
    assert header["against"] == {
        "plain|8": "",
        "overlapping|8": "no difference",
        "talking|8": "better by 0.400",
    }
    assert header["state"] == "new" and header["live"] == [] and record["seeds"] == [0, 1, 2, 3]
    assert shown.run._process is None and shown.live() == [] and shown.model() is None
    shown.set_state({"number": "steps", "threshold": 1.25, "order": "", "stamp": 1})
    assert shown.answer["against"]["overlapping|8"] == "not reached with every seed"
    shown.set_state({"row": "plain|8", "number": "loss", "order": "", "stamp": 2})
    assert "The other rows are laid beside this one." in shown.answer["told"] and shown.run.state == "new"


def test_words_and_a_picture_where_no_front_end_runs(three_rows: None) -> None:
    data, _ = widgets.Leaderboard("digits", "mixture")._repr_mimebundle_()
    assert data["image/png"] and "best first: mixture, h = 8 96.5 %, 96.0 to 97.0" in data["text/plain"]
    gloss = widgets.Leaderboard()
    gloss.number, gloss.threshold = "steps", 0.8
    assert "image/png" not in gloss._repr_mimebundle_()[0]  # no row gets there with every seed
    gloss.threshold = 1.0  # talking heads do, plain ones don't: a bar, and nothing to lay it beside
    data, _ = gloss._repr_mimebundle_()
    assert data["image/png"] and "talking, h = 8 100 steps with each of 3 seeds" in data["text/plain"]


def test_a_row_that_has_not_been_recorded_can_still_be_trained(three_rows: None) -> None:
    shown = widgets.Leaderboard(variant="composable")
    assert "has not been recorded yet" in shown.answer["told"] and shown.answer["state"] == "new"


def test_nothing_recorded_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "leaderboard", lambda task: [])
    data, _ = widgets.Leaderboard("digits")._repr_mimebundle_()
    assert "image/png" not in data and "no row yet" in data["text/html"]


def test_a_click_trains_the_row_and_everything_is_told(three_rows: None, short: None) -> None:
    shown = widgets.Leaderboard("digits", "mixture", seed=1)
    other = widgets.Leaderboard("digits", "plain")
    assert shown.record["steps"] == 52 and shown.record["whole"] == 600
    shown.set_state({"order": "start", "stamp": 1})
    assert shown.answer["state"] == "starting"
    # Another row can be looked at meanwhile; the button stays with the run that is at work.
    shown.set_state({"row": "plain|8", "order": "", "stamp": 2})
    assert shown.answer["training"] == {"row": "mixture|8", "seed": 1} and "Plain" in shown.answer["told"]
    assert shown.wait(240) == "finished"
    shown.set_state({"row": "mixture|8", "order": "", "stamp": 3})
    header = shown.answer
    assert header["state"] == "finished" and [step for step, _ in header["live"]] == [50, 52]
    assert header["live"] == [list(look) for look in shown.live()] and header["seconds"] > 0
    assert (
        header["again"].startswith("Trained here, mixture, h = 8, seed 1:")
        and "after 52 steps" in header["again"]
    )
    assert isinstance(shown.model(), DigitModel) and shown.run._process.wait(20) == 0
    assert other.answer["state"] == "new" and other.run is not shown.run
    shown.set_state({"row": "plain|8", "seed": 0, "order": "", "stamp": 4})
    assert shown.run is other.run and shown.answer["state"] == "new" and shown.answer["live"] == []
    assert widgets.Leaderboard("digits", "mixture", seed=1).answer["state"] == "finished"


def test_the_same_cell_goes_on_with_what_was_stopped(three_rows: None, short: None) -> None:
    shown = widgets.Leaderboard("digits", "plain", seed=3)
    shown.start()
    shown.set_state({"order": "stop", "stamp": 1})
    assert shown.wait(240) == "stopped"
    more = widgets.Leaderboard("digits", "plain", seed=3)
    assert more.run is shown.run and more.wait(240) == "finished"


def test_what_cannot_be_is_refused_by_name(three_rows: None) -> None:
    for told_, changes in {
        "'sums'": {"task": "sums"},
        "'<b>'": {"variant": "<b>"},
        "h=5": {"h": 5},
        "seed": {"seed": -1},
        "number='right'": {"number": "right"},
    }.items():
        with pytest.raises(ValueError, match=told_):
            widgets.Leaderboard(**changes)
    shown = widgets.Leaderboard()
    for name, value in (("row", "plain|x"), ("row", "plain"), ("threshold", 1.7), ("number", "")):
        with pytest.raises(ValueError):
            setattr(shown, name, value)
    assert (shown.row, shown.threshold, shown.number) == ("plain|8", 1.5, "loss")


def test_the_record_of_the_course_is_shown() -> None:
    shown = widgets.Leaderboard()
    assert [one["key"] for one in shown.record["rows"]][0] == "plain|8"
    assert len(shown.record["rows"]) == len(leaderboard()) == len(shown.answer["order"])


def test_news_that_comes_at_once_finds_a_widget_that_stands(
    three_rows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = runs.LiveRun.watch

    def at_once(self: runs.LiveRun, watcher: Callable[[], None]) -> None:
        watch(self, watcher)
        watcher()

    monkeypatch.setattr(runs.LiveRun, "watch", at_once)
    widget = widgets.Leaderboard("digits", seed=4)
    assert widget.answer["state"] == "new" and widget.answer["training"]["seed"] == 4


def test_a_watcher_that_fails_keeps_no_news_from_the_others(short: None) -> None:
    run, heard = runs.LiveRun(LiveSettings()), threading.Event()

    def fails() -> None:
        raise RuntimeError("gone")

    run.watch(fails)
    run.watch(heard.set)
    for state in ("stopped", "new"):
        heard.clear()
        with run._lock:
            run._to(state)
        assert heard.wait(20), state
