"""What the student has done: predictions, answers to questions, exercises tried and solved.

Kept in my_course/, in `predictions.json` and `progress.json` (see record_file.py for how). Standard
library only.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from mha_course import record_file

PROGRESS, PREDICTIONS = "progress.json", "predictions.json"


class Answer(TypedDict):
    """What was chosen in a quick question, whether it was right, and at which try."""

    choice: str
    right: bool
    tries: int


def save_prediction(key: str, text: str) -> str | None:
    """Keep what a student expects, under a key such as "03-shape-of-heads"; a later text replaces it.

    Returns: None, or one sentence when it is kept only until the notebook is closed.
    """
    _check_strings(key, text)
    return record_file.change(PREDICTIONS, "predictions", lambda kept: kept.update({key: text}))


def load_prediction(key: str) -> str | None:
    """The text kept under the key, or None."""
    return predictions().get(key)


def predictions() -> dict[str, str]:
    """Every prediction that is kept, by its key."""
    return _texts(PREDICTIONS, "predictions")


def save_answer(key: str, choice: str, right: bool) -> str | None:
    """Keep the answer to a quick question and count the try. Returns as `save_prediction`.

    A later answer replaces an earlier one, but a question that was answered right stays answered.
    """
    _check_strings(key, choice)

    def update(kept: record_file.Section) -> None:
        before = kept.get(key)
        entry = dict(before) if isinstance(before, dict) else {}
        if right or entry.get("right") is not True:
            entry.update(choice=choice, right=bool(right))
        entry["tries"] = tries_of(entry) + 1
        kept[key] = entry

    return record_file.change(PROGRESS, "answers", update)


def answers() -> dict[str, Answer]:
    """Every answer that is kept, by the question's key."""
    return {
        key: Answer(choice=entry["choice"], right=entry.get("right") is True, tries=max(1, tries_of(entry)))
        for key, entry in record_file.entries(PROGRESS, "answers").items()
        if isinstance(entry, dict) and isinstance(entry.get("choice"), str)
    }


def mark_solved(name: str) -> str | None:
    """Note that an exercise was solved; the first time counts. Returns as `save_prediction`."""
    return _mark("solved", name)


def solved() -> dict[str, str]:
    """Solved exercises, each with the time at which it was first solved."""
    return _marks("solved")


def mark_attempted(name: str) -> str | None:
    """Note that an answer to an exercise was judged, right or wrong. Returns as `save_prediction`."""
    return _mark("attempted", name)


def attempted() -> dict[str, str]:
    """Exercises to which an answer was handed in, each with the time of the first one."""
    return _marks("attempted")


def trouble() -> str | None:
    """One sentence when the last thing could not be written to my_course/, else None."""
    return record_file.trouble()


def unreadable() -> list[str]:
    """A sentence for each file in my_course/ that is there and can't be read; usually none."""
    return [sentence for file in (PROGRESS, PREDICTIONS) if (sentence := record_file.unreadable(file))]


def _mark(section: str, name: str) -> str | None:
    when = now()
    _check_strings(name, when)
    if name in record_file.entries(PROGRESS, section):
        return record_file.trouble()
    # Another kernel may have been first in the meantime.
    return record_file.change(PROGRESS, section, lambda kept: kept.setdefault(name, when))


def _marks(section: str) -> dict[str, str]:
    """Names with their times; whatever else a later version notes beside a name counts as a mark, too."""
    found = record_file.entries(PROGRESS, section)
    return {name: when if isinstance(when, str) else "" for name, when in found.items()}


def _texts(file: str, section: str) -> dict[str, str]:
    return {key: value for key, value in record_file.entries(file, section).items() if isinstance(value, str)}


def tries_of(entry: dict[str, object]) -> int:
    """How many tries an entry of `answers` counts; 0 when it holds no sensible number."""
    tries = entry.get("tries")
    return tries if isinstance(tries, int) and not isinstance(tries, bool) and 0 <= tries < 10**9 else 0


def _check_strings(key: object, value: object) -> None:
    if not isinstance(key, str) or not isinstance(value, str):
        raise ValueError(f"key and text are strings; got {key!r} and {value!r}.")


def now() -> str:
    """The time as it is noted: local, with its distance from UTC, to the second."""
    return datetime.now().astimezone().isoformat(timespec="seconds")
