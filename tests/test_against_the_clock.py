"""AgainstTheClock: stages tick with a clock and without, runs outlive cells, orders are obeyed once."""

from __future__ import annotations

import gc
import json
import threading
import weakref
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import torch

from mha_course import progress, progress_clock, record_file
from mha_course.exercises import check, passed
from mha_course.exercises.registry import EXERCISES
from mha_course.widgets import AgainstTheClock

NAMES = ["head_size", "split_heads", "stack_heads"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    return tmp_path / "mine"


def split_heads(x: torch.Tensor, h: int) -> torch.Tensor:
    b, n, d_model = x.shape
    return x.reshape(b, n, h, d_model // h).transpose(1, 2)


def order(clock: AgainstTheClock, name: str, **settings: object) -> dict:
    """What the view does: the order and the next stamp in one message."""
    clock.set_state({"order": name, "stamp": clock.stamp + 1, **settings})
    return clock.answer


def stage(clock: AgainstTheClock, name: str) -> dict:
    return next(stage for stage in clock.answer["stages"] if stage["name"] == name)


def test_nothing_starts_by_itself_and_stages_tick_without_a_clock() -> None:
    clock = AgainstTheClock(lesson="03")
    assert clock.run is None and clock.answer["run"] is None
    assert [stage["name"] for stage in clock.answer["stages"]] == NAMES
    assert check("split_heads", lambda x, h: x.view(x.shape[0], h, x.shape[1], -1)).passed is False
    assert not stage(clock, "split_heads")["solved"]
    assert check("split_heads", split_heads).passed
    assert stage(clock, "split_heads") | {"place": None} == {
        "name": "split_heads",
        "title": EXERCISES["split_heads"].title,
        "place": None,
        "solved": True,
        "at": None,
        "took": None,
    }
    assert clock.run is None and progress_clock.all_runs() == []
    assert "1 of 3 are solved" in clock.alt


def test_with_a_clock_a_pass_gets_its_time_even_if_it_was_solved_before() -> None:
    progress.mark_solved("split_heads")
    clock = AgainstTheClock(lesson="03")
    answer = order(clock, "start")
    assert answer["run"]["since"] is not None and answer["run"]["minutes"] == 45
    assert stage(clock, "split_heads")["at"] is None and stage(clock, "split_heads")["solved"]
    assert check("split_heads", split_heads).passed
    found = stage(clock, "split_heads")
    assert 0 <= found["at"] < 60 and found["took"] == found["at"]
    assert clock.answer["best"][0]["passed"] == 1 and clock.answer["best"][0]["present"]


def test_orders_of_the_view_are_obeyed_once_each() -> None:
    clock = AgainstTheClock(lesson="03")
    order(clock, "start")
    begun = clock.run.key
    clock.refresh(force=True)
    clock.set_state({"stamp": clock.stamp})
    assert clock.run.key == begun
    # Choosing another time sends an empty order along: what runs goes on with its own.
    order(clock, "", minutes=90)
    assert clock.run.key == begun and clock.run.minutes == 45
    assert order(clock, "stop")["run"]["since"] is None
    assert order(clock, "go_on")["run"]["breaks"] == 1
    assert order(clock, "start")["run"]["minutes"] == 90 and clock.run.key != begun


def test_a_run_goes_on_in_the_next_widget_and_all_widgets_show_it() -> None:
    first = AgainstTheClock(lesson="03")
    first.start()
    again = AgainstTheClock(minutes=60, lesson="03")
    other = AgainstTheClock(lesson="05")
    assert again.run == first.run and again.answer["run"]["minutes"] == 45
    order(again, "stop")
    assert first.answer["run"]["since"] is None
    first.go_on()
    assert again.answer["run"]["since"] is not None
    assert other.run is None and other.answer["run"] is None


def test_a_pass_is_told_to_every_clock_of_its_lesson_and_noted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = [AgainstTheClock(lesson="03") for _ in range(3)]
    clocks[0].start()
    now = progress_clock._now()
    moments = iter(now + timedelta(seconds=10 + i) for i in range(1000))
    monkeypatch.setattr(progress_clock, "_now", lambda: next(moments))
    check("split_heads", split_heads)
    times = {stage(clock, "split_heads")["at"] for clock in clocks}
    assert len(times) == 1 and times.pop() == progress_clock.current("03").passed["split_heads"]


def test_a_clock_that_no_widget_shows_counts_a_pass_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    # As after a restart of the kernel, when the widget's cell was not run again.
    monkeypatch.setattr(passed, "_listeners", [])
    progress_clock.start("03", ["split_heads"], 45)
    assert check("split_heads", split_heads).passed
    assert progress_clock.current("03").complete and not progress_clock.current("03").running


def test_time_over_is_told_and_the_clock_goes_on(home: Path) -> None:
    begun = (datetime.now(UTC) - timedelta(minutes=50, seconds=5)).isoformat()
    run = {"lesson": "03", "minutes": 45, "stages": NAMES, "since": begun, "counted": 0.0, "breaks": 0}
    home.mkdir()
    kept = json.dumps({"clock": {begun: {**run, "passed": {"head_size": 60.0}}}})
    (home / "progress.json").write_text(kept, encoding="utf-8")
    clock = AgainstTheClock(lesson="03")
    assert clock.answer["run"]["elapsed"] > 50 * 60 and "counts at 50:0" in clock.alt
    check("split_heads", split_heads)
    assert stage(clock, "split_heads")["at"] > 50 * 60
    assert clock.answer["best"][0]["in_time"] is False


@pytest.mark.parametrize("minutes", [0, 601, 4.5, True, "45", None])
def test_impossible_settings_are_refused(minutes: object) -> None:
    with pytest.raises(ValueError, match="from 1 to 600"):
        AgainstTheClock(minutes=minutes)
    with pytest.raises(ValueError, match="no exercises. Those with exercises: 00, 01"):
        AgainstTheClock(lesson="99")
    clock = AgainstTheClock(lesson="03")
    order(clock, "", minutes=10**6)
    assert clock.minutes == 600


def test_a_lesson_may_be_given_as_a_number() -> None:
    assert AgainstTheClock(lesson=16).lesson == "16" == AgainstTheClock(lesson="16").lesson
    assert AgainstTheClock(lesson=3).stages == AgainstTheClock(lesson="03").stages


def test_other_times_can_be_chosen_beside_the_one_that_is_given() -> None:
    assert AgainstTheClock(50, lesson="03").offered == [30, 45, 50, 60, 90]
    assert AgainstTheClock(60, lesson="03").offered == [30, 45, 60, 90]


def test_each_stage_leads_to_where_it_is_written() -> None:
    clock = AgainstTheClock(lesson="03")
    place = stage(clock, "split_heads")["place"]
    assert place["file"] == "03_split.ipynb" and place["label"] == "split_heads"
    from mha_course.lesson_places import place_of

    assert "def split_heads(" in place_of(place["cell"]).source


def test_the_last_lesson_has_its_four_stages() -> None:
    stages = [exercise for exercise in EXERCISES.values() if exercise.lesson == "16"]
    clock = AgainstTheClock()
    assert [stage["title"] for stage in clock.answer["stages"]] == [stage.title for stage in stages]
    assert clock.minutes == 45


def test_without_a_folder_it_says_so_and_counts(home: Path) -> None:
    home.write_text("a file where the folder should be", encoding="utf-8")
    clock = AgainstTheClock(lesson="03")
    assert clock.answer["trouble"] == ""
    answer = order(clock, "start")
    assert "until the notebook is closed" in answer["trouble"] and answer["run"]["since"] is not None
    check("split_heads", split_heads)
    assert stage(clock, "split_heads")["at"] is not None


def test_a_still_list_where_there_is_no_front_end() -> None:
    progress.mark_solved("head_size")
    data, _ = AgainstTheClock(lesson="03")._repr_mimebundle_()
    assert data["text/html"].count("<li>") == 3 and "✓ <code>head_size</code>" in data["text/html"]
    assert "<code>d_model</code>" not in data["text/plain"] and "3 functions to write" in data["text/plain"]


def test_clocks_on_several_threads_do_not_wait_for_each_other_forever() -> None:
    clocks = [AgainstTheClock(lesson="03") for _ in range(3)]

    def press(clock: AgainstTheClock) -> None:
        for name in ("start", "stop", "go_on", "stop") * 4:
            order(clock, name)

    threads = [threading.Thread(target=press, args=(clock,), daemon=True) for clock in clocks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert len({json.dumps(clock.answer["run"], sort_keys=True) for clock in clocks}) == 1


def test_a_closed_clock_is_kept_by_nobody() -> None:
    clock = AgainstTheClock(lesson="03")
    kept = weakref.ref(clock)
    clock.close()
    del clock
    gc.collect()
    assert kept() is None
    AgainstTheClock(lesson="03").start()
    assert check("split_heads", split_heads).passed
