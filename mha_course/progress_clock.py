"""Runs against the clock: when each began, how long it has counted, and which stages were passed when.

Kept in my_course/progress.json under "clock", one entry a run, keyed by the moment of its start:
{"lesson": "16", "minutes": 45, "stages": [name, ...], "since": time or null, "counted": seconds before
`since`, "breaks": how often it went on after a stop, "passed": {name: seconds on the clock}}. Only moments
are kept, so a clock goes on while no kernel runs. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mha_course import record_file
from mha_course.progress import PROGRESS

SECTION = "clock"
LONGEST_MINUTES = 600
KEPT_RUNS = 10  # of each lesson, the best ones
_LONGEST_SECONDS = 10.0**9


@dataclass(frozen=True)
class Run:
    """One run. passed: seconds on the clock when each stage was first passed; since: None when stopped."""

    key: str
    lesson: str
    minutes: int
    stages: tuple[str, ...]
    passed: Mapping[str, float]
    counted: float
    since: datetime | None
    breaks: int

    @property
    def began(self) -> datetime:
        """The moment at which it was started, in UTC."""
        return _moment(self.key) or datetime.max.replace(tzinfo=UTC)

    @property
    def running(self) -> bool:
        """Whether its clock counts."""
        return self.since is not None

    @property
    def complete(self) -> bool:
        """Whether every stage was passed."""
        return bool(self.stages) and set(self.stages) <= set(self.passed)

    @property
    def seconds(self) -> float:
        """What the clock showed when the last of the passed stages was passed; 0 before the first."""
        return max(self.passed.values(), default=0.0)

    @property
    def in_time(self) -> bool:
        """Whether what was passed last was passed before the time was over."""
        return int(self.seconds) <= 60 * self.minutes

    def elapsed(self, at: datetime | None = None) -> float:
        """Seconds on the clock at that moment (now, when left out); never backwards past what was counted."""
        if self.since is None:
            return self.counted
        counted = self.counted + max(0.0, ((at or _now()) - self.since).total_seconds())
        # The machine's clock may have been set back since a stage was passed.
        return max(counted, self.seconds)

    def splits(self) -> list[tuple[str, float, float]]:
        """For each passed stage, in the order of passing: its name, seconds on the clock, seconds it took."""
        found, before = [], 0.0
        in_order = sorted(self.passed.items(), key=lambda item: (item[1], self.stages.index(item[0])))
        for name, at in in_order:
            found.append((name, at, at - before))
            before = at
        return found

    def rank(self) -> tuple[int, float]:
        """Smaller is better: first the number of stages counts, then the time of the last one."""
        return (-len(self.passed), self.seconds)


def start(lesson: str, stages: Sequence[str], minutes: int) -> str | None:
    """Begin a run at zero; one that still counts is stopped. Returns: as `progress.save_prediction`.

    Raises: ValueError for minutes that are no whole number from 1 to 600, or without stages.
    """
    whole = isinstance(minutes, int) and not isinstance(minutes, bool)
    if not whole or not 1 <= minutes <= LONGEST_MINUTES:
        raise ValueError(f"minutes is a whole number from 1 to {LONGEST_MINUTES}; got {minutes!r}.")
    if not stages:
        raise ValueError(f"Lesson {lesson} has no exercises, so that there is nothing to take the time of.")
    now = _now()
    entry = {
        "lesson": lesson,
        "minutes": minutes,
        "stages": list(stages),
        "since": now.isoformat(),
        "counted": 0.0,
        "breaks": 0,
        "passed": {},
    }

    def update(kept: record_file.Section) -> None:
        for run in _of(kept, lesson):
            _stop(kept, run, now)
        best = sorted(filter(lambda run: run.passed, _of(kept, lesson)), key=Run.rank)[:KEPT_RUNS]
        for run in _of(kept, lesson):
            if run not in best:
                del kept[run.key]
        # The run that was begun last is the present one, even if the machine's clock was set back since.
        before = (run.began + timedelta(microseconds=1) for run in _of(kept, lesson))
        key = max(now, *before, now)
        while key.isoformat() in kept:
            key += timedelta(microseconds=1)
        kept[key.isoformat()] = entry

    return record_file.change(PROGRESS, SECTION, update)


def stop(lesson: str) -> str | None:
    """Stop the clock of the present run, if it counts. Returns: as `progress.save_prediction`."""
    return _changed(lesson, lambda kept, run, now: _stop(kept, run, now))


def go_on(lesson: str) -> str | None:
    """Let a stopped run count again; a complete one stays as it is. Returns: as `start`."""

    def update(kept: record_file.Section, run: Run, now: datetime) -> None:
        if not run.running and not run.complete:
            kept[run.key].update(since=now.isoformat(), breaks=run.breaks + 1)

    return _changed(lesson, update)


def note_pass(name: str) -> str | None:
    """Note that an exercise was passed now, in every run that counts and has it as a stage.

    The first pass counts; the last stage stops the clock. Does nothing but read when no such run counts.
    Returns: as `progress.save_prediction`.
    """
    now = _now()

    def open_runs(kept: record_file.Section) -> list[Run]:
        return [r for r in _runs(kept) if r.running and name in r.stages and name not in r.passed]

    def update(kept: record_file.Section) -> None:
        for run in open_runs(kept):
            passed = {**run.passed, name: round(run.elapsed(now), 1)}
            kept[run.key]["passed"] = passed
            if set(run.stages) <= set(passed):
                kept[run.key].update(since=None, counted=passed[name])

    if not open_runs(record_file.entries(PROGRESS, SECTION)):
        return record_file.trouble()
    return record_file.change(PROGRESS, SECTION, update)


def current(lesson: str) -> Run | None:
    """The run of a lesson that was begun last, or None."""
    return _latest(record_file.entries(PROGRESS, SECTION), lesson)


def best(lesson: str) -> list[Run]:
    """The runs of a lesson in which a stage was passed, the best first."""
    found = _of(record_file.entries(PROGRESS, SECTION), lesson)
    return sorted((run for run in found if run.passed), key=Run.rank)


def all_runs() -> list[Run]:
    """Every run of every lesson."""
    return _runs(record_file.entries(PROGRESS, SECTION))


def stopped(key: str, entry: object, at: object) -> object:
    """What is kept of a run, with its clock stopped at a moment, or where its last stage was passed.

    at: the moment as text; whatever else it is, the moment is not known. What is no run stays as it is.
    """
    run = run_of(key, entry)
    if run is None or not run.running:
        return entry
    moment = _moment(at)
    shown = run.elapsed(moment) if moment else run.counted
    return {**entry, "since": None, "counted": round(max(shown, run.seconds), 1)}


def joined(ours: object, theirs: object) -> object:
    """One run from two records of it: every stage at its earlier time. A clock that counts here goes on."""
    now = _now().isoformat()
    mine, other = run_of(now, ours), run_of(now, theirs)
    if mine is None or other is None:
        return theirs if mine is None else ours
    passed = {
        name: min(run.passed[name] for run in (mine, other) if name in run.passed)
        for name in mine.stages
        if name in mine.passed or name in other.passed
    }
    both = {**theirs, **ours, "passed": passed}
    if set(mine.stages) <= set(passed):
        return {**both, "since": None, "counted": max(passed.values())}
    return both if mine.running else {**both, "counted": max(mine.counted, other.counted)}


def in_minutes(seconds: float) -> str:
    """A time as minutes and seconds, "9:05", and from an hour on "1:09:05"."""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def run_of(key: object, entry: object) -> Run | None:
    """A run from what is kept under its key, or None when it doesn't look as this file writes it."""
    if not isinstance(key, str) or _moment(key) is None or not isinstance(entry, dict):
        return None
    lesson, minutes, stages = entry.get("lesson"), entry.get("minutes"), entry.get("stages")
    passed, counted, breaks = entry.get("passed"), entry.get("counted"), entry.get("breaks")
    since = None if entry.get("since") is None else _moment(entry["since"])
    if not isinstance(lesson, str) or not isinstance(stages, list) or not isinstance(passed, dict):
        return None
    sound = (
        _is_count(minutes, LONGEST_MINUTES)
        and minutes > 0
        and _is_count(breaks, 10**6)
        and _is_seconds(counted)
        and all(isinstance(name, str) for name in stages)
        and all(name in stages and _is_seconds(at) for name, at in passed.items())
        and (since is not None or entry.get("since") is None)
    )
    if not sound:
        return None
    return Run(key, lesson, minutes, tuple(stages), dict(passed), float(counted), since, breaks)


def _changed(lesson: str, update: Callable[[record_file.Section, Run, datetime], None]) -> str | None:
    now = _now()

    def on_latest(kept: record_file.Section) -> None:
        latest = _latest(kept, lesson)
        if latest is not None:
            update(kept, latest, now)

    return record_file.change(PROGRESS, SECTION, on_latest)


def _stop(kept: record_file.Section, run: Run, now: datetime) -> None:
    if run.running:
        kept[run.key].update(since=None, counted=round(run.elapsed(now), 1))


def _latest(kept: Mapping[str, object], lesson: str) -> Run | None:
    return max(_of(kept, lesson), key=lambda run: run.began, default=None)


def _of(kept: Mapping[str, object], lesson: str) -> list[Run]:
    return [run for run in _runs(kept) if run.lesson == lesson]


def _runs(kept: Mapping[str, object]) -> list[Run]:
    return [run for key, entry in kept.items() if (run := run_of(key, entry)) is not None]


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_seconds(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 <= value <= _LONGEST_SECONDS  # NaN is neither


def _moment(when: object) -> datetime | None:
    """The moment that is meant, in UTC; None for anything else."""
    if not isinstance(when, str):
        return None
    try:
        return datetime.fromisoformat(when).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _now() -> datetime:
    """The moment, in UTC, so that a change of summer time is no hour on the clock."""
    return datetime.now(UTC)
