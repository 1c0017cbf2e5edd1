"""The overview: only what was found, as measured, and a smallest set of probes."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from mha_course import progress_bugs, record_file
from mha_course.bug_hunt import all_probes, name_bug, overview, probe, suspect, suspects
from mha_course.bug_hunt.faults import fault_of
from mha_course.bug_hunt.overview import fewest_for, telling


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)


def test_it_grows_with_what_was_found_and_gives_nothing_else_away() -> None:
    assert (
        overview().rows == {}
        and "No suspect" in repr(overview())
        and "<table" not in overview()._repr_html_()
    )
    name_bug(5, "scaled-by-d-model")
    name_bug(8, "scaled-by-d-model")
    assert overview().rows == {5: ("scale",)} and overview().fewest == ("scale",)
    assert "One suspect found" in overview().sentence()
    name_bug(8, "weights-after-dropout")
    both = overview()
    assert both.rows.keys() == {5, 8} and both.fewest == ("training", "scale")
    assert "are enough to see that something is wrong with both" in both.sentence()
    for number in suspects():
        assert (fault_of(number).title.replace("`", "") in repr(both)) == (number in (5, 8))
    assert both._repr_html_().count("●") == 3  # two in the table, one in the note


@pytest.mark.parametrize("number", suspects())
def test_a_row_holds_the_probes_that_differ(number: int) -> None:
    layer = suspect(number)
    assert telling(number) == tuple(key for key in all_probes() if probe(key, layer).apart())


def test_the_fewest_suffice_and_fewer_would_not() -> None:
    rows = {number: telling(number) for number in suspects()}
    fewest = fewest_for(rows)
    assert all(set(fewest) & set(told) for told in rows.values())
    for chosen in combinations(all_probes(), len(fewest) - 1):
        assert not all(set(chosen) & set(told) for told in rows.values())
    assert fewest_for({}) == ()
    with pytest.raises(ValueError, match="without any probe"):
        fewest_for({1: ()})


def test_a_number_of_a_later_version_is_left_out() -> None:
    progress_bugs.note_name(13, "something", True)
    assert overview().rows == {}
