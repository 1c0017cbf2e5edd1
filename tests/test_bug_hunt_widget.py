"""BugHunt: what it sends is what the probes measure, it gives nothing away, and it keeps what was found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mha_course import progress_bugs, record_file, widgets
from mha_course.bug_hunt import all_probes, name_bug, probe, suspect, suspects
from mha_course.bug_hunt.faults import all_faults, fault_of
from mha_course.widgets.bug_hunt import BugHunt


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    return tmp_path / "mine"


def sent(widget: BugHunt) -> str:
    """Everything that goes to the browser, as text."""
    state = {name: widget.get_state()[name] for name in ("answer", "told", "ran", "said", "insisted", "alt")}
    return json.dumps(state, ensure_ascii=False, allow_nan=False)


@pytest.mark.parametrize("number", suspects())
def test_the_evidence_is_what_the_probes_measure(number: int) -> None:
    hunt = BugHunt(number)
    assert hunt.answer["evidence"] == [] and hunt.answer["number"] == number
    keys = list(all_probes())[::-1]
    hunt.ran = {str(number): keys}
    assert [one["key"] for one in hunt.answer["evidence"]] == keys
    for one in hunt.answer["evidence"]:
        measured = probe(one["key"], suspect(number))
        assert one["suspect"]["sentence"] == measured.suspect.sentence
        assert one["sound"]["sentence"] == measured.sound.sentence
        assert one["apart"] == bool(measured.apart())
        assert one["rows"] == measured.rows()
        for side, finding in (("suspect", measured.suspect), ("sound", measured.sound)):
            table = one[side]["table"]
            assert (table is None) == (finding.table is None)
            if table is not None:
                flat = [v for row in finding.table.values for v in row]
                for mine, value in zip([v for row in table["values"] for v in row], flat, strict=True):
                    assert mine is None if value != value else mine == pytest.approx(value, abs=1e-5)
    assert any(one["apart"] for one in hunt.answer["evidence"])
    json.loads(sent(hunt))


@pytest.mark.parametrize("number", suspects())
def test_nothing_that_is_sent_gives_a_suspect_away_before_it_is_found(number: int) -> None:
    hunt = BugHunt(number)
    hunt.ran = {str(number): list(all_probes())}
    wrong = next(key for key in all_faults() if key != fault_of(number).key)
    hunt.said = [number, wrong]
    fault, text = fault_of(number), sent(hunt)
    assert fault.explains not in text and fault.mend not in text and fault.layer.__name__ not in text
    answer = json.dumps(hunt.answer, ensure_ascii=False)
    assert fault.key not in answer and fault.title not in answer
    assert hunt.answer["lines"] == [] and hunt.answer["answer"] == "" and not hunt.answer["found"]
    told = [entry["title"] for entry in hunt.told["names"]]
    assert len(told) == len(all_faults()) == 18, "every name is offered, for every suspect alike"


def test_a_wrong_name_is_refuted_and_a_right_one_is_kept_and_opens_the_lines() -> None:
    hunt = BugHunt(6)
    hunt.ran = {"6": ["future"]}
    hunt.said = [6, "mask-reversed"]
    verdict = hunt.answer["verdict"]
    assert not verdict["right"] and verdict["probe"] == "future", "what was measured comes first"
    assert hunt.answer["wrong"] == 1 and progress_bugs.found_bugs() == []
    hunt.said = [6, "mask-added"]
    answer = hunt.answer
    assert (
        answer["verdict"]["right"]
        and answer["found"]
        and answer["verdict"]["link"]["cell"] == "l04-numbers-code"
    )
    assert [line for step in answer["lines"] for line, new in step["suspect"] if new]
    assert answer["suspects"][5]["found"] and progress_bugs.found_bugs() == [6]
    assert answer["overview"]["rows"] == [
        {"number": 6, "title": fault_of(6).title, "told": ["blocked", "empty_row", "future"]}
    ]
    # A later hunt knows it; another suspect's verdict is its own.
    later = BugHunt(6)
    assert later.answer["verdict"]["right"] and later.answer["lines"]
    later.number = 7
    assert later.answer["verdict"] is None and later.answer["lines"] == []


def test_a_name_counts_once_however_often_the_answer_is_computed() -> None:
    hunt = BugHunt(2)
    hunt.said = [2, "view-alone"]
    for number in (3, 2, 4, 2):
        hunt.number = number
        hunt.refresh(force=True)
    assert progress_bugs.hunted()[2]["wrong"] == ["view-alone"] and hunt.answer["wrong"] == 1
    assert hunt.answer["verdict"]["name"] == "view-alone"


def test_two_hunts_and_the_code_share_what_was_found() -> None:
    one, two = BugHunt(9), BugHunt(9)
    name_bug(9, "without-w-o")
    for hunt in (one, two):
        hunt.ran = {"9": ["gradients"]}
        assert hunt.answer["found"] and hunt.answer["verdict"]["right"]
    two.said = [9, "view-alone"]
    assert not two.answer["verdict"]["right"] and two.answer["found"] and one.answer["verdict"]["right"]
    assert progress_bugs.hunted()[9]["wrong"] == []


def test_who_insists_sees_the_lines_and_it_is_noted() -> None:
    hunt = BugHunt(11)
    hunt.insisted = [11]
    assert hunt.answer["lines"] and hunt.answer["answer"] == fault_of(11).title and not hunt.answer["found"]
    assert progress_bugs.hunted()[11]["shown"] and hunt.answer["suspects"][10] == {
        "found": False,
        "shown": True,
    }
    assert hunt.answer["overview"] is None


@pytest.mark.parametrize(
    "odd",
    [
        {"ran": {"3": ["nothing", 4, None, "rows", "rows"], "x": 1}},
        {"ran": {"3": "rows"}},
        {"said": [3]},
        {"said": [99, "mask-added"]},
        {"said": [None, {"a": 1}]},
        {"said": [3, "<b>"]},
        {"insisted": ["3", None, 99]},
    ],
)
def test_what_a_broken_message_may_hold_does_no_harm(odd: dict) -> None:
    hunt = BugHunt(3)
    hunt.set_trait(*next(iter(odd.items())))
    assert hunt.answer["number"] == 3 and not hunt.answer["found"]
    assert [one["key"] for one in hunt.answer["evidence"]] in ([], ["rows"])
    assert progress_bugs.hunted() == {}


def test_only_suspects_can_be_chosen() -> None:
    for number in (0, 13, "x", None, 2.5):
        with pytest.raises(ValueError, match="1 to 12"):
            BugHunt(number)
    hunt = BugHunt()
    with pytest.raises(ValueError, match="1 to 12"):
        hunt.number = 13
    assert hunt.number == 1 and widgets.BugHunt is BugHunt


def test_a_folder_that_cannot_be_written_is_said(home: Path) -> None:
    home.write_text("a file", encoding="utf-8")
    hunt = BugHunt(12)
    hunt.said = [12, "mask-reversed"]
    assert "only until the notebook is closed" in hunt.answer["trouble"]
    assert hunt.answer["found"] and hunt.answer["verdict"]["right"]


def test_without_a_front_end_it_says_what_to_write() -> None:
    name_bug(1, "view-alone")
    data, _ = BugHunt(4)._repr_mimebundle_()
    assert data["text/plain"] == "1 of 12 suspects found. Suspect 4 is chosen; 0 probes were run on it."
    assert "bug_hunt.suspect(4)" in data["text/html"] and "1 of 12" in data["text/html"]
