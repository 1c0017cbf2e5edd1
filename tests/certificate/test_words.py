"""The certificate's sentences say what the numbers say."""

from __future__ import annotations

from pathlib import Path

from mha_course.certificate import words
from mha_course.certificate.record import record
from tests.certificate.conftest import STAGES, everything, keep, run


def facts() -> dict[str, str]:
    return dict(words.facts(record()))


def test_nothing_done_is_said() -> None:
    assert words.summary(record()) == "Nothing is solved yet: this certificate is empty."
    assert facts()[words.CLOCK] == "not taken" and words.clock_note(None) == ""
    assert "No square is filled." in words.alt(record())


def test_the_finding_follows_the_numbers(home: Path) -> None:
    keep(home, {"solved": {"split_heads": "x"}})
    assert words.summary(record()).endswith(" exercises solved, in 1 lesson.")
    assert words.summary(record()).startswith("1 of ")
    keep(home, {"solved": {"split_heads": "x", "merge_heads": "x"}})
    assert words.summary(record()).endswith(" in 2 lessons.")
    done = everything()
    keep(home, done)
    assert words.summary(record()).startswith("Every exercise, question, puzzle, card and bug")
    keep(home, {"solved": done["solved"]})
    assert words.summary(record()) == "Every exercise of the course is solved."
    assert facts()["interview cards known"].startswith("0 of ")


def test_the_clock_says_its_time_and_its_breaks(home: Path) -> None:
    keep(home, {"clock": {"2031-05-04T10:00:00+00:00": run({"mask": 100.0, "layer": 545.0}, breaks=1)}})
    assert facts()[words.CLOCK] == "2 of 4 in 9:05"
    assert words.clock_note(record().clock) == "within 45 minutes, 1 break"
    late = run(dict.fromkeys(STAGES, 3700.0), minutes=60, breaks=2)
    keep(home, {"clock": {"2031-05-04T10:00:00+00:00": late}})
    assert facts()[words.CLOCK] == "4 of 4 in 1:01:40"
    assert words.clock_note(record().clock) == "after 60 minutes, 2 breaks"


def test_the_picture_in_words_holds_the_name_and_every_number(home: Path) -> None:
    keep(home, {"solved": {"split_heads": "x"}, "bugs": {"4": {"found": "x", "wrong": [], "shown": False}}})
    told = words.alt(record("Ada"))
    assert "of Ada:" in told and words.date(record()) in told
    assert all(f"{what}: {much}" in told for what, much in facts().items())
    assert "03 Split: 1 of 3 exercises, 0 of 4 questions" in told and "05 Concat" not in told


def test_it_says_what_it_is() -> None:
    said = " ".join(words.WHAT_IT_IS)
    assert "no examination" in said and "own machine" in said and "own word" in said
