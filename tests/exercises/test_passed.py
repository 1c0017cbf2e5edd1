"""A pass is told to those who listen, as long as they are there, and to nobody's harm."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from mha_course import progress
from mha_course.exercises import check
from mha_course.exercises import passed as registry
from mha_course.exercises.passed import on_pass, passed


class Clock:
    """Something that listens with a method."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def tick(self, name: str) -> None:
        self.heard.append(name)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    monkeypatch.setattr(registry, "_listeners", [])
    yield


def right(d_model, h):
    if d_model % h:
        raise ValueError(f"d_model={d_model} cannot be split into h={h} heads.")
    return d_model // h


def test_a_pass_is_told_once_with_its_name_and_a_fault_is_not() -> None:
    clock = Clock()
    on_pass(clock.tick)
    on_pass(clock.tick)
    assert not check("head_size", lambda d_model, h: d_model / h).passed
    check("head_size", lambda d_model, h: ...)
    check("no_such_exercise", right)
    assert clock.heard == []
    assert check("head_size", right).passed
    assert clock.heard == ["head_size"]


def test_what_is_told_is_solved_by_then() -> None:
    seen: list[bool] = []

    def listener(name: str) -> None:
        seen.append(name in progress.solved())

    on_pass(listener)
    check("head_size", right)
    assert seen == [True]


def test_another_name_of_an_exercise_is_told_as_its_own() -> None:
    clock = Clock()
    on_pass(clock.tick)
    check(right, "head_size")  # the other way round
    assert clock.heard == ["head_size"]


def test_what_is_gone_hears_nothing_and_is_kept_nowhere() -> None:
    clock, other = Clock(), Clock()
    heard = clock.heard
    on_pass(clock.tick)
    on_pass(other.tick)
    del clock
    gc.collect()
    passed("split_heads")
    assert heard == [] and other.heard == ["split_heads"]
    on_pass(other.tick)
    assert len(registry._listeners) == 1


def test_listening_ends_when_asked_to_also_twice() -> None:
    clock = Clock()
    end = on_pass(clock.tick)
    passed("one")
    end()
    end()
    passed("two")
    assert clock.heard == ["one"]


@pytest.mark.parametrize("error", [ValueError, SystemExit, RecursionError, GeneratorExit])
def test_a_listener_that_fails_harms_neither_the_verdict_nor_the_others(error: type[BaseException]) -> None:
    def failing(name: str) -> None:
        raise error

    clock = Clock()
    on_pass(failing)
    on_pass(clock.tick)
    verdict = check("head_size", right)
    assert verdict.passed and clock.heard == ["head_size"]


def test_an_interrupt_gets_through() -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    on_pass(interrupted)
    with pytest.raises(KeyboardInterrupt):
        passed("split_heads")


def test_a_listener_may_listen_and_stop_listening_while_it_is_told() -> None:
    first, second, ends = Clock(), Clock(), []

    def once(name: str) -> None:
        first.tick(name)
        ends[0]()
        on_pass(second.tick)

    ends.append(on_pass(once))
    passed("one")
    passed("two")
    assert first.heard == ["one"] and second.heard == ["two"]


def test_many_threads_at_once_lose_nothing() -> None:
    clocks = [Clock() for _ in range(40)]

    def come_and_tell(clock: Clock) -> None:
        on_pass(clock.tick)
        passed("split_heads")

    threads = [threading.Thread(target=come_and_tell, args=[clock]) for clock in clocks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(clock.heard for clock in clocks)
    before = [len(clock.heard) for clock in clocks]
    passed("merge_heads")
    assert [len(clock.heard) for clock in clocks] == [count + 1 for count in before]


def test_partials_are_taken_and_what_cannot_be_called_is_refused() -> None:
    clock = Clock()
    listener = partial(Clock.tick, clock)
    on_pass(listener)
    passed("split_heads")
    assert clock.heard == ["split_heads"]
    with pytest.raises(TypeError, match="not 'tick'"):
        on_pass("tick")
