"""Quick questions: every choice has its reason, answers are kept, nothing gives the answer away."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from mha_course import progress
from mha_course.widgets import ask
from mha_course.widgets.question import QuickQuestion
from mha_course.widgets.question_texts import BETWEEN, all_questions, find_question, read_question

HOSTILE = "<img src=x onerror=alert(1)> </script> & \"'` 三月 العربية 👩‍👩‍👧 $x$"
ONE = {
    "question": "Which of `a` and `b`?",
    "choices": [
        {"text": "`a`", "right": False, "because": "It is smaller."},
        {"text": "`b`", "right": True, "because": "It is larger."},
        {"text": "neither", "right": False, "because": "One is larger."},
    ],
}
SEVERAL = {
    "question": "Which are even?",
    "several": True,
    "choices": [
        {"text": "2", "right": True, "because": "Twice 1."},
        {"text": "3", "right": False, "because": "No half."},
        {"text": "4", "right": True, "because": "Twice 2."},
        {"text": "7", "right": False, "because": "No half either."},
    ],
}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "my_course"))
    return tmp_path / "my_course"


def question(entry: dict, key: str = "03-sample") -> QuickQuestion:
    return QuickQuestion(read_question(key, entry))


def send(form: QuickQuestion, *chosen: int) -> dict:
    """What the view does: the choices and the next stamp in one message."""
    form.set_state({"said": list(chosen), "stamp": form.stamp + 1})
    return form.answer


def test_a_wrong_choice_gets_its_own_reason_and_another_try() -> None:
    form = question(ONE)
    assert "right" not in form.answer
    wrong = send(form, 0)
    assert wrong["right"] is False and wrong["others"] == []
    assert wrong["notes"] == [{"choice": 0, "right": False, "because": "It is smaller."}]
    assert progress.answers() == {"03-sample": {"choice": "`a`", "right": False, "tries": 1}}
    right = send(form, 1)
    assert right["right"] is True and right["notes"][0]["because"] == "It is larger."
    assert [note["choice"] for note in right["others"]] == [0, 2]
    assert progress.answers() == {"03-sample": {"choice": "`b`", "right": True, "tries": 2}}


def test_what_was_answered_is_shown_again_and_counts_no_try() -> None:
    send(question(ONE), 2)
    again = question(ONE)
    assert again.said == [2] and again.answer["notes"][0]["because"] == "One is larger."
    again._repr_mimebundle_()
    again.refresh(force=True)
    assert progress.answers()["03-sample"]["tries"] == 1
    send(again, 1)
    later = question(ONE)
    assert later.said == [1] and later.answer["right"] is True
    # Looking at another choice afterwards loses nothing.
    assert send(later, 0)["right"] is False
    assert question(ONE).answer["right"] is True


def test_several_right_choices_are_all_wanted() -> None:
    form = question(SEVERAL)
    part = send(form, 2)
    assert part["right"] is False and part["missing"] is True
    mixed = send(form, 3, 0)
    assert mixed["right"] is False and mixed["missing"] is False
    assert [(note["choice"], note["right"]) for note in mixed["notes"]] == [(0, True), (3, False)]
    whole = send(form, 2, 0)
    assert whole["right"] is True and [note["choice"] for note in whole["others"]] == [1, 3]
    assert progress.answers()["03-sample"] == {"choice": f"2{BETWEEN}4", "right": True, "tries": 3}
    assert question(SEVERAL).said == [0, 2]


@pytest.mark.parametrize("chosen", [[], [7], [-1], [0, 1]])
def test_what_no_view_sends_is_no_answer(chosen: list[int]) -> None:
    assert "right" not in send(question(ONE), *chosen)
    assert progress.answers() == {}


def test_the_view_does_not_know_the_answer_before_a_try() -> None:
    form = question(ONE)
    sent = str(form.get_state())
    bundle = str(form._repr_mimebundle_()[0])
    for choice in ONE["choices"]:
        assert choice["because"] not in sent and choice["because"] not in bundle
    assert "'right'" not in sent
    assert "Which of <code>a</code> and <code>b</code>?" in form._repr_mimebundle_()[0]["text/html"]


def test_nothing_becomes_markup() -> None:
    entry = copy.deepcopy(ONE)
    entry["question"] = HOSTILE
    entry["choices"][0]["text"] = HOSTILE
    form = question(entry)
    send(form, 0)
    shown = form._repr_mimebundle_()[0]["text/html"]
    assert "<img" not in shown and "</script>" not in shown
    assert shown.count("&lt;img src=x onerror=alert(1)&gt;") == 2 and "三月 العربية 👩‍👩‍👧" in shown
    assert question(entry).said == [0]


def test_a_question_that_has_changed_since_starts_anew() -> None:
    send(question(ONE), 0)
    changed = copy.deepcopy(ONE)
    changed["choices"][0]["text"] = "`a`, always"
    assert question(changed).said == []


def test_what_cannot_be_kept_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(key: str, choice: str, right: bool) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(progress, "save_answer", full)
    assert send(question(ONE), 1)["trouble"] == "This could not be kept: disk full"


def test_a_damaged_file_does_not_stop_a_lesson(own_folder: Path) -> None:
    own_folder.mkdir(parents=True)
    (own_folder / "progress.json").write_text('{"answers": {"03-sample": 7, "03-b": []}', encoding="utf-8")
    form = question(ONE)
    assert form.said == [] and send(form, 1)["right"] is True


@pytest.mark.parametrize("key", ["03-where-feature-41", "3-where", "", None, 7, HOSTILE])
def test_an_unknown_key_is_refused_with_the_nearest(key: object) -> None:
    with pytest.raises(ValueError, match="There is no question"):
        ask(key)


def test_the_nearest_keys_are_named() -> None:
    with pytest.raises(ValueError, match="03-where-feature-14"):
        ask("03-where-feature-41")


@pytest.mark.parametrize(("change", "said"), [
    (lambda e: e["choices"][1].update(right=False), "one choice is right"),
    (lambda e: e["choices"][0].update(right=True), "one choice is right"),
    (lambda e: e["choices"][2].update(because=" "), "say something"),
    (lambda e: e["choices"][2].pop("because"), "lacks 'because'"),
    (lambda e: e["choices"][2].update(text="`a`"), "differ"),
    (lambda e: e.update(question=""), "say something"),
    (lambda e: e.update(choices=e["choices"][1:2]), "two or more"),
    (lambda e: (e.update(several=True), e["choices"][0].update(text="a | b")), "stands between"),
    (lambda e: e.update(choices=[1, 2]), "03-sample"),
])  # fmt: skip
def test_unusable_questions_are_refused(change, said: str) -> None:
    entry = copy.deepcopy(ONE)
    change(entry)
    with pytest.raises(ValueError, match=said):
        read_question("03-sample", entry)
    with pytest.raises(ValueError, match="a key such as"):
        read_question("Sample", ONE)


def test_every_question_of_the_course_can_be_asked() -> None:
    assert len(all_questions()) >= 3
    for key in all_questions():
        form = ask(key)
        assert form.choices and form.said == []
        right = send(form, *sorted(find_question(key).right))
        assert right["right"] is True
    assert all(answer["right"] for answer in progress.answers().values())


def test_the_right_choice_has_no_place_of_its_own() -> None:
    # Who always takes the first choice, the last, or the longest must not get through.
    single = [q for q in all_questions().values() if not q.several]
    for pick in (
        lambda q: 0,
        lambda q: len(q.choices) - 1,
        lambda q: max(range(len(q.choices)), key=lambda i: len(q.choices[i].text)),
    ):
        hits = sum(pick(q) in q.right for q in single)
        assert hits <= max(2, 0.6 * len(single)), f"{hits} of {len(single)}"


def test_a_look_at_another_choice_after_the_right_one_is_no_failed_try() -> None:
    form = question(ONE)
    assert send(form, 0)["answered"] is False
    assert send(form, 1)["answered"] is True
    again = send(form, 2)
    assert again["answered"] is True and again["right"] is False
