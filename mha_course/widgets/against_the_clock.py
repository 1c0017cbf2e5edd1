"""AgainstTheClock: the exercises of a lesson as stages that tick when `check` passes them, timed or not."""

from __future__ import annotations

import html
import re
import weakref
from collections.abc import Mapping
from datetime import UTC, datetime

import traitlets

from mha_course import lesson_places, progress, progress_clock
from mha_course.exercises.exercise import Exercise
from mha_course.exercises.passed import on_pass
from mha_course.exercises.registry import EXERCISES
from mha_course.progress_clock import LONGEST_MINUTES, Run
from mha_course.sizes import as_written, is_whole_number
from mha_course.widgets.base import CourseWidget
from mha_course.widgets.beside_cells import heard_beside_cells

__all__ = ["AgainstTheClock"]

ORDERS = ("", "start", "stop", "go_on")
OFFERED_MINUTES = (30, 45, 60, 90)
_SHOWN_RUNS = 3

_clocks: weakref.WeakSet[AgainstTheClock] = weakref.WeakSet()  # of this kernel: they show the same runs


class AgainstTheClock(CourseWidget):
    """A clock that one may start, the stages with the time that each took, and the best runs so far.

    minutes: on the clock when it is started; lesson: the one whose exercises are the stages. Nothing starts
    by itself, and a stage ticks without a clock, too. A run goes on when the cell is run again and when the
    kernel is restarted: its start is kept in my_course/.

    In a cell: `start()`, `stop()`, `go_on()`, and `run`, which is None before the first start.
    Raises: ValueError for minutes that are no whole number from 1 to 600, and for a lesson without exercises.
    """

    js = (
        "svg_pieces.js",
        "marked_text.js",
        "lesson_link.js",
        "clock_words.js",
        "clock_line.js",
        "against_the_clock.js",
    )
    css = ("marked_text.css", "lesson_link.css", "against_the_clock.css")
    root = "mha-clock"
    settings = ("order",)

    order = traitlets.Enum(ORDERS, "").tag(sync=True, echo_update=False)
    minutes = traitlets.Int().tag(sync=True)
    offered = traitlets.List(traitlets.Int()).tag(sync=True)
    lesson = traitlets.Unicode().tag(sync=True)

    def __init__(self, minutes: int = 45, lesson: str | int = "16") -> None:
        whole = isinstance(minutes, int) and not isinstance(minutes, bool)
        if not whole or not 1 <= minutes <= LONGEST_MINUTES:
            raise ValueError(
                f"minutes is a whole number from 1 to {LONGEST_MINUTES}; got {as_written(minutes)}."
            )
        lesson = f"{lesson:02d}" if is_whole_number(lesson) else lesson
        self.stages = tuple(e for e in EXERCISES.values() if e.lesson == lesson)
        if not self.stages:
            known = ", ".join(sorted({e.lesson for e in EXERCISES.values()}))
            raise ValueError(f"Lesson {as_written(lesson)} has no exercises. Those with exercises: {known}.")
        self._places = {stage.name: _place_of(stage) for stage in self.stages}
        self._obeyed, self._trouble, self._untold = 0, "", False
        super().__init__(minutes=minutes, lesson=lesson, offered=sorted({*OFFERED_MINUTES, minutes}))
        on_pass(self._on_pass)
        heard_beside_cells(self)
        _clocks.add(self)

    @traitlets.validate("minutes")
    def _possible(self, proposal: Mapping) -> int:
        return max(1, min(LONGEST_MINUTES, proposal["value"]))

    @property
    def run(self) -> Run | None:
        """The run that was begun last; None before the first."""
        return progress_clock.current(self.lesson)

    def start(self) -> None:
        """Begin a run at zero, for `minutes`; one that still counts ends where it is."""
        names = [stage.name for stage in self.stages]
        self._after(progress_clock.start(self.lesson, names, self.minutes))

    def stop(self) -> None:
        """Stop the clock."""
        self._after(progress_clock.stop(self.lesson))

    def go_on(self) -> None:
        """Let a stopped clock go on from where it stood."""
        self._after(progress_clock.go_on(self.lesson))

    def set_state(self, sync_data: dict) -> None:
        """Take what the view sent, and let the other clocks know when it was an order."""
        super().set_state(sync_data)
        # Only now: while this clock's lock is held, no other one's may be waited for.
        if self._untold:
            self._tell_others()

    def _after(self, trouble: str | None) -> None:
        self._trouble, self._untold = trouble or "", True
        if not self._computing:
            self.refresh(force=True)
            self._tell_others()

    def _tell_others(self) -> None:
        self._untold = False
        for other in list(_clocks):
            if other is not self and other.lesson == self.lesson:
                other.refresh(force=True)

    def _on_pass(self, name: str) -> None:
        if name in self._places:
            self._trouble = progress_clock.note_pass(name) or ""
            self.refresh(force=True)

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Do what the view asked for, and tell how the run and the stages stand."""
        if self.stamp != self._obeyed:
            self._obeyed = self.stamp
            if self.order:
                getattr(self, self.order)()
        run, now, solved = self.run, datetime.now(UTC), progress.solved()
        splits = {name: (at, took) for name, at, took in run.splits()} if run else {}
        header = {
            "now": now.timestamp(),
            "run": _told(run, now) if run else None,
            "stages": [
                {
                    "name": stage.name,
                    "title": stage.title,
                    "place": self._places[stage.name],
                    "solved": stage.name in solved,
                    "at": splits.get(stage.name, (None, None))[0],
                    "took": splits.get(stage.name, (None, None))[1],
                }
                for stage in self.stages
            ],
            "best": [_result(one, run) for one in progress_clock.best(self.lesson)[:_SHOWN_RUNS]],
            "trouble": self._trouble,
        }
        self.alt = self._in_words(header)
        return header, b""

    def _in_words(self, header: Mapping) -> str:
        run, count = header["run"], len(self.stages)
        done = sum(stage["solved"] for stage in header["stages"])
        if run is None:
            return f"{count} functions to write, with a clock if you like. {done} of {count} are solved."
        passed = sum(stage["at"] is not None for stage in header["stages"])
        state = "counts" if run["since"] is not None else "stands"
        shown = progress_clock.in_minutes(run["elapsed"])
        return (
            f"The clock {state} at {shown} of {run['minutes']} min. {passed} of {count} functions are passed."
        )

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live clock, and for places without a front end the stages as a list."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        stages = "".join(
            f"<li>{'✓ ' if stage['solved'] else ''}<code>{html.escape(stage['name'])}</code>: "
            f"{_marked(stage['title'])}</li>"
            for stage in self.answer["stages"]
        )
        data["text/html"] = f"<p>{html.escape(self.alt)}</p><ol>{stages}</ol>"
        return data, metadata


def _told(run: Run, now: datetime) -> dict[str, object]:
    return {
        "minutes": run.minutes,
        "since": run.since.timestamp() if run.since else None,
        "counted": run.counted,
        "elapsed": run.elapsed(now),
        "complete": run.complete,
        "breaks": run.breaks,
    }


def _result(run: Run, present: Run | None) -> dict[str, object]:
    began = run.began.astimezone()
    return {
        "present": present is not None and run.key == present.key,
        "passed": len(run.passed),
        "times": [[name, at] for name, at, _ in run.splits()],
        "of": len(run.stages),
        "seconds": run.seconds,
        "in_time": run.in_time,
        "minutes": run.minutes,
        "breaks": run.breaks,
        "when": f"{began.day} {began:%B %Y}",
    }


def _place_of(stage: Exercise) -> dict[str, str] | None:
    """Where the exercise is written: the first code cell of its lesson that defines the function."""
    begins = re.compile(rf"^def {re.escape(stage.name)}\(", re.MULTILINE)
    for place in lesson_places.all_places().values():
        if place.lesson == stage.lesson and place.kind == "code" and begins.search(place.source):
            return {**place.link(f"where you write {stage.name}"), "label": stage.name}
    return None


def _marked(text: str) -> str:
    """Text as HTML: everything escaped, words between `backticks` in code type."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
