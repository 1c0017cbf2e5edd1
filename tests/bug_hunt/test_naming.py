"""Names and verdicts: right ones teach and are kept, wrong ones meet a measurement, nothing raises."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from mha_course import progress_bugs, record_file
from mha_course.bug_hunt import all_probes, measure, name_bug, names, reveal, suspect, suspects
from mha_course.bug_hunt.faults import all_faults, fault_of
from mha_course.bug_hunt.suspect import healthy, with_fault
from mha_course.lesson_places import place_of

RIGHT = {number: fault_of(number).key for number in suspects()}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    return tmp_path / "mine"


@pytest.mark.parametrize("number", suspects())
def test_the_right_name_is_found_explained_and_kept(number: int) -> None:
    verdict = name_bug(number, RIGHT[number])
    assert verdict and verdict.passed and verdict.suspect == number
    fault = fault_of(number)
    for text in (fault.explains, fault.mend, fault.met, verdict.place.label(), fault.shows):
        assert text.replace("`", "") in repr(verdict)
    assert f"#cell-id={fault.cell}" in verdict._repr_html_()
    assert progress_bugs.found_bugs() == [number]
    # By title, in capitals, with a layer in place of its number: the same.
    assert name_bug(suspect(number), fault.title.upper()).passed


@pytest.mark.parametrize("number", suspects())
def test_every_wrong_name_is_refuted_by_what_the_probe_says(number: int) -> None:
    layer = suspect(number)
    for key, fault in all_faults().items():
        if key == RIGHT[number]:
            continue
        verdict = name_bug(number, key)
        assert not verdict and verdict.name == key and verdict.place is None
        mine = measure(verdict.probe, layer)
        theirs = measure(verdict.probe, with_fault(fault.layer, healthy()))
        assert theirs.apart(mine), "the probe that is named tells the two apart"
        assert all_probes()[verdict.probe].title in verdict.evidence
        assert fault_of(number).title not in verdict.message, "a wrong name doesn't give the right one away"
    assert progress_bugs.found_bugs() == [] and len(progress_bugs.hunted()[number]["wrong"]) == 17


def test_a_measured_symptom_is_quoted_and_probes_that_were_run_come_first() -> None:
    assert (
        "Weight on blocked keys: with that fault 1, with this suspect 0.14."
        in name_bug(6, "mask-reversed").evidence
    )
    assert name_bug(6, "mask-reversed", seen=["future"]).probe == "future"
    assert name_bug(6, "mask-reversed", seen=["half", "no probe"]).probe == "blocked"
    # 0.17 beside 0.14 would convince nobody.
    slight = name_bug(6, "mask-off-by-one", seen=["blocked"])
    assert slight.probe == "future" and "with that fault 6, with this suspect 21" in slight.evidence
    assert "goes on" in name_bug(3, "large-negative", seen=["half"]).evidence
    assert "stops with an error" in name_bug(7, "mask-added").evidence


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_a_name_may_be_written_with_any_kind_of_stroke() -> None:
    for said in ("mask_reversed", "Mask reversed", " `mask-reversed` ", "mask_ reversed".replace(" ", "")):
        assert name_bug(3, said).name == "mask-reversed"
    for fault in all_faults().values():
        assert name_bug(3, fault.title).name == fault.key


def test_what_a_student_may_write_never_raises() -> None:
    strange = [
        Silent(),
        "x" * 5000,
        None,
        3.5,
        "",
        "nonsense",
        "mask rev",
        ["mask-added"],
        b"x",
        "<b>",
        float("nan"),
        "三月",
    ]
    for odd in strange:
        verdict = name_bug(3, odd)
        assert not verdict and verdict.suspect == 3 and verdict.name == "" and "names" in verdict.message
        assert "<b>" not in verdict._repr_html_()
        assert not name_bug(odd, "mask-added")
    for number in (0, 13, -1, 2.0, True, "3"):
        assert name_bug(number, "mask-added").suspect is None
    assert "`mask-reversed`" in name_bug(3, "mask rev").says
    assert "&lt;img" in name_bug(3, "<img src=x>")._repr_html_()
    assert "<img" not in name_bug(3, "<img src=x>")._repr_html_()
    assert progress_bugs.hunted() == {}


def test_a_folder_that_cannot_be_written_is_said(home: Path) -> None:
    home.parent.mkdir(exist_ok=True)
    home.write_text("a file", encoding="utf-8")
    verdict = name_bug(2, RIGHT[2])
    assert verdict and "only until the notebook is closed" in verdict.remark
    assert verdict.remark in repr(verdict)


def test_the_list_holds_the_twelve_and_at_least_four_that_nobody_has() -> None:
    listed = names()
    assert set(RIGHT.values()) < set(listed) and len(listed) >= 16
    assert all(key in repr(listed) and key in listed._repr_html_() for key in listed)
    titles = [title.lower() for title in listed.values()]
    assert titles == sorted(titles) and len(set(titles)) == len(titles), "in an order that tells nothing"


def test_texts_are_whole_and_their_places_show_it() -> None:
    for fault in all_faults().values():
        texts = (fault.explains, fault.mend, fault.met, fault.cell, fault.shows)
        assert all(texts) if fault.key in RIGHT.values() else not any(texts)
        assert fault.title[-1] != "." and all(text.endswith((".", "”.", ")`.")) for text in texts[:3] if text)
        words = f" {' '.join(texts)} ".lower()
        for tired in ("simply", " just ", "obvious", "of course", "!", "*"):
            assert tired not in words, (fault.key, tired)
        if fault.cell:
            assert place_of(fault.cell).kind == "code"


@pytest.mark.parametrize("number", suspects())
def test_the_lines_open_once_it_was_found(number: int) -> None:
    closed = reveal(number)
    assert closed.steps == () and "insist=True" in repr(closed) and fault_of(number).title not in repr(closed)
    assert progress_bugs.hunted() == {}
    name_bug(number, RIGHT[number])
    opened = reveal(number)
    assert opened.steps and progress_bugs.hunted()[number]["shown"] is False
    marked = [line for step in opened.steps for line, new in step.suspect if new]
    assert 1 <= len(marked) <= 12 and any(line in repr(opened) for line in marked)
    assert all(html.escape(line) in opened._repr_html_() for line in marked)


def test_who_insists_sees_the_lines_and_that_is_noted() -> None:
    opened = reveal(10, insist=True)
    assert "-1e9" in repr(opened) and progress_bugs.hunted()[10] == {"found": "", "wrong": [], "shown": True}
    name_bug(10, "large-negative")
    kept = progress_bugs.hunted()[10]
    assert kept["found"] and kept["shown"] is True
    for number in (0, 13, "1"):
        with pytest.raises(ValueError, match="1 to 12"):
            reveal(number)


def test_only_lines_that_differ_are_marked() -> None:
    (step,) = reveal(1, insist=True).steps
    assert [line for line, new in step.suspect if new] == ["    return x.view(b, self.h, n, self.d_k)"]
    assert [line for line, new in step.sound if new] == [
        "    return x.view(b, n, self.h, self.d_k).transpose(1, 2)"
    ]
