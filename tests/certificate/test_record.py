"""The certificate's numbers: counted from what is kept, against what the course holds now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mha_course import progress, progress_bugs, progress_cards
from mha_course.bug_hunt.faults import suspects
from mha_course.certificate.record import LONGEST_NAME, clean_name, record
from mha_course.exercises.registry import EXERCISES
from mha_course.interview.card import all_cards
from mha_course.workspace import project_root
from tests.certificate.conftest import everything, keep, run

SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"  # a flag of seven characters


def test_an_empty_folder_gives_an_empty_certificate() -> None:
    found = record()
    assert found.empty and not found.complete and found.name == "" and found.remarks == ()
    shares = (found.exercises, found.questions, found.puzzles, found.cards, found.bugs)
    assert all(share.done == 0 < share.of for share in shares)


def test_each_number_counts_what_is_done_of_what_there_is(home: Path) -> None:
    for name in ("split_heads", "merge_heads", "parsons-split_heads", "of an older version"):
        progress.mark_solved(name)
    progress.save_answer("03-where-feature-14", "x", True)
    progress.save_answer("03-view-shape", "x", False)
    first, second, third = list(all_cards())[:3]
    for key, mark in ((first, "knew"), (second, "partly"), (third, "missed"), ("no such card", "knew")):
        progress_cards.save_mark(key, mark)
    progress_bugs.note_name(2, "x", right=True)
    progress_bugs.note_name(3, "x", right=False)
    progress_bugs.note_name(len(suspects()) + 1, "x", right=True)
    found = record()
    lessons = {path.name[:2] for path in (project_root() / "notebooks").glob("[0-9]*.ipynb")}
    exercises = [exercise for exercise in EXERCISES.values() if exercise.lesson in lessons]
    assert (found.exercises.done, found.exercises.of) == (2, len(exercises))
    assert (found.questions.done, found.puzzles.done) == (1, 1)
    assert (found.cards.done, found.cards.of) == (1, len(all_cards()))
    assert (found.bugs.done, found.bugs.of) == (1, 12)
    assert not found.empty and not found.complete
    assert [row.lesson.number for row in found.rows if row.exercises.done] == ["03", "05"]


def test_the_best_run_of_the_last_lesson_counts(home: Path) -> None:
    runs = {
        "2031-05-04T10:00:00+00:00": run({"mask": 200.0, "layer": 800.0}),
        "2031-05-05T10:00:00+00:00": run({"mask": 100.0}),
        "2031-05-06T10:00:00+00:00": run({"mask": 9.0, "layer": 20.0, "blocks": 30.0}, lesson="03"),
    }
    keep(home, {"clock": runs})
    assert record().clock.seconds == 800.0 and not record().empty


def test_all_of_it_is_complete_and_less_is_not(home: Path) -> None:
    done = everything()
    keep(home, done)
    assert record().complete
    for section in ("solved", "answers", "cards", "bugs"):
        less = json.loads(json.dumps(done))
        less[section].popitem()
        keep(home, less)
        assert not record().complete, section


def test_a_damaged_file_is_a_remark(home: Path) -> None:
    (home / "progress.json").write_bytes(b'{"solved": {"split_heads"')
    found = record("Ada")
    assert found.empty and "progress.json is damaged" in found.remarks[0]
    keep(home, {"solved": 3, "answers": [], "cards": "x", "bugs": None, "clock": {"x": {"passed": 1}}})
    assert record().empty and record().remarks == ()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("  Ada \n\t Lovelace ", "Ada Lovelace"),
        ("", ""),
        ("张三", "张三"),
        ("محمد", "محمد"),
        ("\u202eecila\u202c \u2066x\u2069\ufeff", "ecila x"),
        ("👩\u200d🚀 می\u200cروم", "👩\u200d🚀 می\u200cروم"),
        (SCOTLAND, SCOTLAND),
        ("a\ud800b\x00c\x1b", "a\ufffdb\ufffdc\ufffd"),
        ("<b>&amp;</b>", "<b>&amp;</b>"),
        (" \u200d\ufe0f\u0301\u200c ", ""),
    ],
)  # fmt: skip
def test_a_name_is_one_line_of_letters(given: str, shown: str) -> None:
    assert clean_name(given) == shown


def test_a_very_long_name_is_cut_between_letters() -> None:
    family = "👩\u200d👩\u200d👧\u200d👦"
    assert clean_name(family * LONGEST_NAME) == family * LONGEST_NAME
    assert clean_name(family * (LONGEST_NAME + 1)) == family * (LONGEST_NAME - 1) + "…"
