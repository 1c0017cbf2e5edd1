"""Runs against the clock: they count without a kernel, first passes count, nothing odd breaks them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mha_course import progress, progress_clock, record_file

STAGES = ["mask", "layer", "blocks"]
BEGUN = datetime(2031, 5, 4, 9, 0, tzinfo=UTC)


class Watch:
    """The moment that the clock reads, moved by hand."""

    def __init__(self) -> None:
        self.now = BEGUN

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    return tmp_path / "mine"


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(progress_clock, "_now", lambda: watch.now)
    return watch


def test_a_run_counts_and_each_stage_has_its_time(watch: Watch) -> None:
    assert progress_clock.current("16") is None and progress_clock.best("16") == []
    assert progress_clock.start("16", STAGES, 45) is None
    watch.wait(minutes=6, seconds=10)
    assert progress_clock.note_pass("layer") is None
    watch.wait(minutes=2)
    progress_clock.note_pass("mask")
    watch.wait(minutes=1)
    run = progress_clock.current("16")
    assert run.running and not run.complete and run.elapsed() == 550.0
    assert run.splits() == [("layer", 370.0, 370.0), ("mask", 490.0, 120.0)]
    assert (run.seconds, run.in_time) == (490.0, True)


def test_the_first_pass_counts_and_what_is_no_stage_does_not(watch: Watch, home: Path) -> None:
    progress_clock.start("16", STAGES, 45)
    watch.wait(seconds=20)
    progress_clock.note_pass("mask")
    watch.wait(seconds=20)
    before = (home / "progress.json").read_bytes()
    progress_clock.note_pass("mask")
    progress_clock.note_pass("split_heads")
    assert progress_clock.current("16").passed == {"mask": 20.0}
    assert (home / "progress.json").read_bytes() == before


def test_the_last_stage_stops_the_clock(watch: Watch) -> None:
    progress_clock.start("16", STAGES, 1)
    for name in STAGES:
        watch.wait(seconds=25)
        progress_clock.note_pass(name)
    watch.wait(hours=5)
    run = progress_clock.current("16")
    assert run.complete and not run.running and run.elapsed() == 75.0 and not run.in_time
    progress_clock.go_on("16")
    assert not progress_clock.current("16").running


def test_a_stopped_clock_stands_and_goes_on_from_there(watch: Watch) -> None:
    progress_clock.start("16", STAGES, 45)
    watch.wait(seconds=100)
    progress_clock.stop("16")
    watch.wait(hours=3)
    progress_clock.note_pass("mask")
    run = progress_clock.current("16")
    assert run.elapsed() == 100.0 and run.passed == {} and run.breaks == 0
    progress_clock.go_on("16")
    progress_clock.go_on("16")
    watch.wait(seconds=11)
    progress_clock.note_pass("mask")
    run = progress_clock.current("16")
    assert run.passed == {"mask": 111.0} and run.breaks == 1


def test_starting_again_keeps_what_was_reached_and_drops_empty_runs(watch: Watch) -> None:
    progress_clock.start("16", STAGES, 45)
    watch.wait(seconds=30)
    progress_clock.note_pass("mask")
    watch.wait(seconds=30)
    progress_clock.start("16", STAGES, 60)
    watch.wait(seconds=30)
    progress_clock.start("16", STAGES, 90)
    runs = progress_clock.all_runs()
    assert sorted((run.minutes, run.running, run.counted) for run in runs) == [
        (45, False, 60.0),
        (90, True, 0.0),
    ]
    assert progress_clock.current("16").minutes == 90
    assert [run.minutes for run in progress_clock.best("16")] == [45]


def test_more_stages_are_better_than_less_time_and_the_best_are_kept(watch: Watch) -> None:
    for i in range(progress_clock.KEPT_RUNS + 4):
        progress_clock.start("16", STAGES, 45)
        watch.wait(seconds=100 - i)
        progress_clock.note_pass("mask")
        if i == 3:
            watch.wait(seconds=900)
            progress_clock.note_pass("layer")
    progress_clock.start("03", STAGES, 45)
    progress_clock.start("16", STAGES, 45)
    best = progress_clock.best("16")
    assert len(best) == progress_clock.KEPT_RUNS
    assert [(len(run.passed), run.seconds) for run in best[:3]] == [(2, 997.0), (1, 87.0), (1, 88.0)]
    # Of another lesson nothing is dropped, and its clock counts on its own.
    assert progress_clock.current("03").running


def test_a_clock_outlives_its_kernel(home: Path) -> None:
    program = "from mha_course import progress_clock; progress_clock.start('16', ['mask', 'layer'], 45)"
    subprocess.run([sys.executable, "-c", program], env=os.environ, check=True)
    run = progress_clock.current("16")
    assert run.running and 0 <= run.elapsed() < 60
    program = "from mha_course import progress_clock; progress_clock.note_pass('mask')"
    subprocess.run([sys.executable, "-c", program], env=os.environ, check=True)
    assert set(progress_clock.current("16").passed) == {"mask"}


def test_a_clock_that_was_set_back_never_counts_backwards(watch: Watch) -> None:
    progress_clock.start("16", STAGES, 45)
    watch.wait(hours=-2)
    assert progress_clock.current("16").elapsed() == 0.0
    progress_clock.note_pass("mask")
    assert progress_clock.current("16").passed == {"mask": 0.0}


def test_a_clock_that_was_set_back_shows_no_less_than_was_passed_and_a_new_run_is_the_present_one(
    watch: Watch,
) -> None:
    progress_clock.start("16", STAGES, 45)
    watch.wait(minutes=20)
    progress_clock.note_pass("mask")
    watch.wait(days=-3)
    assert progress_clock.current("16").elapsed() == 20 * 60
    progress_clock.note_pass("layer")
    assert [name for name, _, _ in progress_clock.current("16").splits()] == ["mask", "layer"]
    progress_clock.start("16", STAGES, 30)
    assert progress_clock.current("16").minutes == 30 and progress_clock.current("16").running
    watch.wait(minutes=2)
    assert progress_clock.current("16").elapsed() == 120
    progress_clock.note_pass("mask")
    assert progress_clock.current("16").passed == {"mask": 120.0}


def test_summer_time_is_no_hour_on_the_clock(home: Path) -> None:
    home.mkdir()
    key = "2031-10-26T02:30:00+02:00"
    entry = {"lesson": "16", "minutes": 45, "stages": STAGES, "since": key, "counted": 0.0, "breaks": 0}
    written = {"clock": {key: {**entry, "passed": {}}}}
    (home / "progress.json").write_text(json.dumps(written), encoding="utf-8")
    winter = datetime.fromisoformat("2031-10-26T02:10:00+01:00")
    assert progress_clock.current("16").elapsed(winter) == 40 * 60


@pytest.mark.parametrize("minutes", [0, -1, 601, 45.0, True, "45", None])
def test_impossible_minutes_are_refused_in_a_sentence(minutes: object) -> None:
    with pytest.raises(ValueError, match="from 1 to 600"):
        progress_clock.start("16", STAGES, minutes)
    with pytest.raises(ValueError, match="no exercises"):
        progress_clock.start("16", [], 45)
    assert progress_clock.all_runs() == []


SOUND = {
    "lesson": "16",
    "minutes": 45,
    "stages": STAGES,
    "since": None,
    "counted": 12.5,
    "breaks": 0,
    "passed": {"mask": 7},
}


@pytest.mark.parametrize(
    "change",
    [
        {"lesson": 16},
        {"minutes": 0},
        {"minutes": 45.5},
        {"minutes": 10**9},
        {"stages": "mask"},
        {"stages": ["layer"]},
        {"stages": [["mask"]]},
        {"since": "yesterday"},
        {"since": 3},
        {"counted": -1},
        {"counted": 1e300},
        {"counted": True},
        pytest.param({"counted": 10**400}, id="a number of 401 digits"),
        {"breaks": "many"},
        {"breaks": -1},
        {"passed": []},
        {"passed": {"mask": "soon"}},
        {"passed": {"mask": float("nan")}},
    ],
    ids=repr,
)
def test_what_no_clock_wrote_is_no_run(change: dict, home: Path, watch: Watch) -> None:
    key = BEGUN.isoformat()
    assert progress_clock.run_of(key, SOUND).passed == {"mask": 7}
    assert progress_clock.run_of(key, SOUND | change) is None
    assert progress_clock.run_of("first", SOUND) is None and progress_clock.run_of(3, SOUND) is None
    home.mkdir()
    kept = {"clock": {key: SOUND | change, "x": 3}}
    (home / "progress.json").write_text(json.dumps(kept), encoding="utf-8")
    assert progress_clock.current("16") is None
    progress_clock.start("16", STAGES, 45)
    progress_clock.stop("16")
    assert progress_clock.note_pass("mask") is None
    # What can't be read stays as it is: a later version may know it.
    assert record_file.entries("progress.json", "clock")["x"] == 3


def test_of_two_records_of_a_run_every_stage_has_its_earlier_time() -> None:
    other = SOUND | {"passed": {"mask": 9, "layer": 30}, "counted": 40.0}
    assert progress_clock.joined(SOUND, other) == SOUND | {
        "passed": {"mask": 7, "layer": 30},
        "counted": 40.0,
    }
    assert progress_clock.joined(other, SOUND) == other | {"passed": {"mask": 7, "layer": 30}}
    assert progress_clock.joined(None, SOUND) == SOUND and progress_clock.joined(SOUND, "x") == SOUND
    key, running = BEGUN.isoformat(), SOUND | {"since": BEGUN.isoformat()}
    assert progress_clock.stopped(key, running, "2031-05-04T09:01:00+00:00")["counted"] == 72.5
    assert progress_clock.stopped(key, running, ["?"]) == SOUND
    assert progress_clock.stopped(key, SOUND, "2031-05-04T09:01:00+00:00") == SOUND


def test_without_a_folder_it_counts_until_the_notebook_is_closed(home: Path, watch: Watch) -> None:
    home.write_text("a file where the folder should be", encoding="utf-8")
    assert "until the notebook is closed" in progress_clock.start("16", STAGES, 45)
    watch.wait(seconds=70)
    assert "until the notebook is closed" in progress_clock.note_pass("mask")
    assert progress_clock.current("16").passed == {"mask": 70.0}
    home.unlink()
    progress.mark_solved("mask")
    assert record_file.whole("progress.json")["clock"] and progress.trouble() is None
    watch.wait(seconds=7)
    progress_clock.note_pass("layer")
    kept = json.loads((home / "progress.json").read_text(encoding="utf-8"))["clock"]
    assert [run["passed"] for run in kept.values()] == [{"mask": 70.0, "layer": 77.0}]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00"), (9.9, "0:09"), (545, "9:05"), (3599, "59:59"), (4145, "1:09:05")]
)
def test_times_as_they_are_read(seconds: float, shown: str) -> None:
    assert progress_clock.in_minutes(seconds) == shown
