"""Predictions are kept in my_course/, shown again, and never become markup."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from mha_course import progress
from mha_course.widgets import predict, reveal
from mha_course.widgets.prediction import LONGEST, Prediction, outcomes

HOSTILE = "<img src=x onerror=alert(1)> </script> & \"'` 三月 العربية 👩‍👩‍👧 $x$"
CHOICES = ["(2, 3, 5, 4)", "(2, 5, 3, 4)", "(2, 3, 4, 5)"]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "my_course"))
    return tmp_path / "my_course"


def test_an_answer_is_kept_and_shown_by_the_next_run(own_folder: Path) -> None:
    form = predict("03-shape-of-heads", "Which shape?", CHOICES)
    assert (form.kept, form.trouble) == ("", "")
    form.said = CHOICES[1]
    assert form.kept == CHOICES[1]
    assert predict("03-shape-of-heads", "Which shape?", CHOICES).kept == CHOICES[1]
    assert predict("03-another", "Which?", CHOICES).kept == ""
    assert CHOICES[1] in (own_folder / "predictions.json").read_text(encoding="utf-8")
    form.said = CHOICES[0]
    assert progress.load_prediction("03-shape-of-heads") == CHOICES[0]


def test_blank_answers_are_not_kept_and_long_ones_are_cut() -> None:
    form = predict("04-free", "Why?")
    form.said = "   \n"
    assert form.kept == "" and progress.load_prediction("04-free") is None
    form.said = "あ" * (LONGEST + 7)
    assert form.kept == "あ" * LONGEST


def test_any_text_comes_back_as_it_was() -> None:
    form = predict("05-any", "Say anything")
    form.said = HOSTILE
    assert predict("05-any", "Say anything").kept == HOSTILE
    assert reveal("05-any", "x").predicted == HOSTILE


def test_nothing_becomes_markup() -> None:
    form = predict("06-hostile", HOSTILE, [HOSTILE, "another"])
    form.said = HOSTILE
    form_html = form._repr_mimebundle_()[0]["text/html"]
    reveal_html = reveal("06-hostile", HOSTILE)._repr_html_()
    for markup in (form_html, reveal_html):
        assert "<img" not in markup and "</script>" not in markup
        assert markup.count("&lt;img src=x onerror=alert(1)&gt;") >= 2
        assert "三月 العربية 👩‍👩‍👧" in markup


def test_reveal_says_what_was_said() -> None:
    predict("07-shape", "Which?", CHOICES).said = CHOICES[1]
    other = reveal("07-shape", "(2, 3, 5, 4)")
    assert not other.agrees and CHOICES[1] in other._repr_html_() and "✓" not in other._repr_html_()
    assert reveal("07-shape", "(2,5,3,4)").agrees
    assert "✓" in reveal("07-shape", "(2, 5, 3, 4)")._repr_html_()
    assert repr(other) == "you said: (2, 5, 3, 4) | what happens: (2, 3, 5, 4)"


@pytest.mark.parametrize("key", ["never-asked", "", None, 7])
def test_reveal_without_a_prediction_is_never_an_error(key: object) -> None:
    shown = reveal(key, "42")
    assert shown.predicted is None and not shown.agrees
    folded = shown._repr_html_().split("<details>")
    assert "No prediction kept" in folded[0] and "42" not in folded[0] and "42" in folded[1]
    assert "42" not in repr(shown)


def test_the_outcome_stands_in_a_file_and_an_unknown_key_is_said() -> None:
    predict("03-shape-of-heads", "Which?", CHOICES).said = "(2, 3, 5, 4)"
    assert reveal("03-shape-of-heads").agrees
    assert "nothing is noted" in reveal("77-unknown").answer
    assert len(outcomes()) >= 30 and all(text.strip() for text in outcomes().values())


def test_a_damaged_file_does_not_stop_a_lesson(own_folder: Path) -> None:
    own_folder.mkdir(parents=True)
    (own_folder / "predictions.json").write_text("{not json", encoding="utf-8")
    assert reveal("08-x", "a").predicted is None
    form = predict("08-x", "What?")
    form.said = "this"
    assert form.kept == "this" and reveal("08-x", "a").predicted == "this"


def test_what_cannot_be_kept_is_said_and_can_be_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    form = predict("09-full", "What?")

    def full(key: str, text: str) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(progress, "save_prediction", full)
    form.said = "my answer"
    assert form.trouble == "This could not be kept: disk full" and form.kept == "" and form.said == ""
    monkeypatch.undo()
    form.said = "my answer"
    assert form.kept == "my answer" and form.trouble == ""


def test_kept_for_now_only_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "save_prediction", lambda key, text: "Kept until the notebook is closed.")
    form = predict("10-readonly", "What?")
    form.said = "this"
    assert form.kept == "this" and form.trouble == "Kept until the notebook is closed."


@pytest.mark.parametrize(("arguments", "said"), [
    (("Bad Key!", "What?"), "Bad Key!"),
    (("", "What?"), "key=''"),
    (("11-x", "  "), "needs a question"),
    (("11-x", "What?", ["same", "same"]), "differ"),
    (("11-x", "What?", ["one", " "]), "not empty"),
])  # fmt: skip
def test_unusable_forms_are_refused(arguments: tuple, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Prediction(*arguments)


def test_two_notebooks_at_once_lose_nothing(own_folder: Path) -> None:
    forms = [predict(f"12-{i}", "What?") for i in range(6)]

    def say(i: int) -> None:
        forms[i].said = f"answer {i}"

    threads = [threading.Thread(target=say, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [progress.load_prediction(f"12-{i}") for i in range(6)] == [f"answer {i}" for i in range(6)]
    json.loads((own_folder / "predictions.json").read_text(encoding="utf-8"))
