"""The interview: cards turn, marks are kept, what was missed comes back, and nothing is lost by a re-run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from mha_course import progress_cards, record_file
from mha_course.interview import proof
from mha_course.interview.card import Card, read_card
from mha_course.interview.proof import Shown
from mha_course.widgets import Interview, interview
from mha_course.widgets.interview_words import number_in_words, topic_named

HOSTILE = "<img src=x onerror=alert(1)> </script> `<b>x</b>` & 三月 العربية 👩‍👩‍👧 $x$"
PLACES = ["l03-block-proof", "l07-class", "l15-clock"]


def sums_to_one() -> Shown:
    """Weights of a row sum to 1."""
    total = torch.softmax(torch.tensor([1.0, -2.5, 0.25]), dim=0).sum().item()
    assert abs(total - 1) < 1e-6, "a row of weights does not sum to 1"
    return Shown("The row sums to 1.", {"sum": round(total, 6), "keys": 3, HOSTILE: -0.12345})


def never_holds() -> Shown:
    """Fails."""
    assert False, f"2 is not 3 {HOSTILE}"  # noqa: B011


def breaks() -> Shown:
    """Raises something else."""
    raise RuntimeError("no memory")


def deck(n: int = 13, topics: int = 2, proof_name: str = "sums_to_one") -> dict[str, Card]:
    """So many cards, of which the first half belongs to the first topic and so on."""
    cards = {}
    for i in range(n):
        entry = {
            "question": f"Question {i}?" + (f" {HOSTILE}" if i == 3 else ""),
            "answer": [f"Answer {i}. {HOSTILE}", "Second paragraph."],
            "proof": proof_name,
            "evidence": [{"cell": PLACES[i % 3], "shows": f"what {i} says"}],
        }
        if i == 0:
            entry |= {
                "pitfall": "It is faster.",
                "follow_up": {"question": "And h = 1?", "answer": "The same."},
            }
        cards[f"card-{i}"] = read_card(f"card-{i}", f"Topic {i * topics // n}", entry)
    return cards


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path / "my_course"))
    monkeypatch.setattr(record_file, "_waiting", {})
    monkeypatch.setattr(record_file, "_trouble", None)
    monkeypatch.setattr(interview, "_tables", {})
    own = {function.__name__: function for function in (sums_to_one, never_holds, breaks)}
    monkeypatch.setattr(proof, "_PROOFS", {**proof.all_proofs(), **own})
    yield tmp_path / "my_course"


def send(widget: Interview, do: str = "", **changes: object) -> dict:
    """What the view does: an order for the deal on its table, and the next stamp in one message."""
    card = widget.answer["card"]
    names = {name: changes.pop(name) for name in ("topic", "only_missed") if name in changes}
    order = {"do": do, "deal": card["deal"] if card else "", **changes} if do else {}
    widget.set_state({**names, "order": order, "stamp": widget.stamp + 1})
    return widget.answer


def mark(widget: Interview, *marks: str) -> dict:
    for one in marks:
        send(widget, "mark", mark=one)
    return widget.answer


def number(answer: dict) -> int:
    return int(answer["card"]["deal"].split("-")[1].split("#")[0])


def test_a_card_has_a_front_a_back_and_links_into_the_lessons() -> None:
    card = Interview(cards=deck()).answer["card"]
    assert card["question"] == "Question 0?" and card["topic"] == "Topic 0" and card["before"] == ""
    assert card["answer"] == [f"Answer 0. {HOSTILE}", "Second paragraph."]
    assert card["pitfall"] == "It is faster." and card["follow_up"] == ["And h = 1?", "The same."]
    (link,) = card["evidence"]
    assert link.pop("label").startswith("lesson 03, ")
    assert link == {"file": "03_split.ipynb", "cell": "l03-block-proof", "shows": "what 0 says"}
    assert card["code"].startswith("def sums_to_one() -> Shown:") and "@proof" not in card["code"]
    assert card["proof"] is None and card["turned"] is False


def test_what_was_missed_comes_back_after_three_and_in_part_after_six_others() -> None:
    widget = Interview(cards=deck())
    came = [number(widget.answer)]
    for one in ("missed", "knew", "partly", "knew", "knew", "knew", "knew", "knew", "knew", "knew", "knew"):
        came.append(number(mark(widget, one)))
    assert came == [0, 1, 2, 3, 0, 4, 5, 6, 7, 2, 8, 9]
    assert widget.answer["counts"] == {"missed": 0, "partly": 0, "knew": 9, "new": 4, "of": 13}
    assert widget.answer["left"] == 4
    assert mark(widget, *["knew"] * 4)["card"] is None
    assert widget.answer["summary"]["first"] == {"missed": 1, "partly": 1, "knew": 11}


def test_the_next_sitting_begins_with_what_was_missed_then_what_is_new() -> None:
    widget = Interview(cards=deck())
    mark(widget, "knew", "missed", "partly", "missed")
    assert {key: card["box"] for key, card in progress_cards.kept_cards().items()} == {
        "card-0": 2, "card-1": 0, "card-2": 1, "card-3": 0,
    }  # fmt: skip
    send(widget, "begin")
    came = [number(widget.answer)]
    for _ in range(12):
        came.append(number(mark(widget, "knew")))
    assert came == [1, 3, *range(4, 13), 2, 0]
    assert mark(widget, "knew")["summary"]["left"] == 0


def test_ten_mixed_cards_are_a_sitting_of_their_own() -> None:
    widget, beside = Interview(cards=deck(26, 3)), Interview(cards=deck(26, 3))
    mark(widget, "knew", "missed")
    assert send(widget, "ten")["left"] == 10 == beside.answer["left"]
    came = [(number(widget.answer), widget.answer["card"]["topic"])]
    for _ in range(9):
        after = mark(widget, "knew")
        came.append((number(after), after["card"]["topic"]))
    assert came[0][0] == 1, "what was missed comes first"
    assert all(one[1] != other[1] for one, other in zip(came[1:], came[2:], strict=False))
    assert mark(widget, "knew")["card"] is None and widget.answer["summary"]["short"] is True
    again = send(widget, "ten")
    assert again["left"] == 10 and number(again) not in dict(came), "the next ten are other ones"
    whole = send(widget, "begin")
    assert whole["left"] == 26 and widget.answer["card"]["turned"] is False


def test_ten_of_a_topic_and_a_topic_that_the_ten_do_not_hold() -> None:
    widget = Interview(cards=deck(26, 3))
    send(widget, topic="Topic 2")
    assert send(widget, "ten")["left"] == 8, "as many as the topic has"
    other = send(widget, topic="Topic 1")
    assert other["card"] is None and other["summary"]["short"] and other["summary"]["asked"] == 0


def test_a_deal_of_a_sitting_before_is_not_turned_and_takes_no_mark() -> None:
    widget = Interview(cards=deck())
    old = widget.answer["card"]["deal"]
    widget.set_state({"turned": old})
    fresh = send(widget, "begin")["card"]
    assert fresh["deal"] != old and not fresh["turned"]
    widget.set_state({"order": {"do": "mark", "mark": "knew", "deal": old}, "stamp": widget.stamp + 1})
    assert widget.answer["counts"]["knew"] == 0


def test_a_new_kernel_begins_a_new_sitting_with_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    mark(Interview(cards=deck()), "knew", "missed")
    monkeypatch.setattr(interview, "_tables", {})
    answer = Interview(cards=deck()).answer
    assert number(answer) == 1 and answer["card"]["before"] == "missed" and not answer["card"]["again"]
    assert answer["last"] is None and answer["counts"]["knew"] == 1


def test_a_cell_that_is_run_again_goes_on_where_it_was() -> None:
    first = Interview(cards=deck())
    mark(first, "missed", "knew")
    send(first, "prove")
    send(first, topic="Topic 0")
    first.set_state({"typed": {"deal": "card-2#1.0", "text": f"My words {HOSTILE}"}})
    first.set_state({"turned": "card-2#1.0"})
    second = Interview(cards=deck())
    assert (second.topic, number(second.answer)) == ("Topic 0", 2)
    card = second.answer["card"]
    assert card["turned"] and card["typed"] == f"My words {HOSTILE}" and card["proof"]["ok"]
    # The marks of before still count: the missed one is asked after two more.
    assert [number(mark(second, "knew")) for _ in range(2)] == [3, 0]
    # Both show the same; the old one follows.
    assert first.answer["card"] == second.answer["card"]


def test_two_at_once_share_a_sitting_and_each_keeps_its_card_and_its_choice() -> None:
    cards = deck()
    whole, part = Interview(cards=cards), Interview("topic 1", cards=cards)
    assert (number(whole.answer), number(part.answer)) == (0, 7)
    mark(part, "missed", "knew", "knew")
    # The card that one is thinking about stays, though another would be due.
    assert number(whole.answer) == 0 and whole.answer["counts"]["new"] == 10
    mark(part, "knew")
    assert (number(whole.answer), number(part.answer)) == (0, 7)
    mark(part, "knew")
    assert (number(whole.answer), number(part.answer)) == (0, 11)
    mark(whole, "knew")
    assert number(whole.answer) == 1
    other = Interview(cards=cards)
    mark(whole, "knew")
    assert number(other.answer) == 2
    # A press in a view that is behind marks nothing.
    stale = {"do": "mark", "mark": "missed", "deal": "card-1#1.0"}
    other.set_state({"order": stale, "stamp": other.stamp + 1})
    assert progress_cards.kept_cards()["card-1"]["mark"] == "knew" and number(other.answer) == 2
    send(part, "end")
    assert whole.answer["card"] is None and whole.answer["summary"]["left"] == 13 - 6


def test_one_press_counts_once_whatever_arrives_twice() -> None:
    widget = Interview(cards=deck())
    message = {"order": {"do": "mark", "mark": "missed", "deal": "card-0#1.0"}, "stamp": 1}
    for _ in range(3):
        widget.set_state(dict(message))
        widget.refresh(force=True)
    widget._repr_mimebundle_()
    widget.set_state({**message, "stamp": 2})
    assert progress_cards.kept_cards() == {
        "card-0": {**progress_cards.kept_cards()["card-0"], "times": 1, "box": 0}
    }
    assert number(widget.answer) == 1


def test_a_mark_can_be_taken_back() -> None:
    widget = Interview(cards=deck())
    mark(widget, "knew", "missed", "knew")
    before = progress_cards.kept_cards()
    send(widget, "end")
    answer = send(widget, "take back")
    assert number(answer) == 2 and answer["last"]["mark"] == "missed"
    assert progress_cards.kept_cards() == {key: before[key] for key in ("card-0", "card-1")}
    mark(widget, "missed")
    send(widget, "take back"), send(widget, "take back"), send(widget, "take back")
    assert number(widget.answer) == 0 and progress_cards.kept_cards() == {}
    assert number(send(widget, "take back")) == 0 and widget.answer["last"] is None


def test_only_what_was_missed_and_a_topic_choose_the_cards() -> None:
    widget = Interview(cards=deck())
    empty = send(widget, only_missed=True)
    assert empty["card"] is None and empty["summary"]["asked"] == 0 and empty["left"] == 0
    send(widget, only_missed=False)
    mark(widget, "missed", "knew", "partly", "knew")
    send(widget, only_missed=True)
    assert widget.answer["left"] == 2 and number(widget.answer) == 0
    assert number(mark(widget, "knew")) == 2
    answer = send(widget, only_missed=False, topic="Topic 1")
    assert number(answer) == 7 and answer["counts"]["of"] == 6
    assert [each["of"] for each in answer["topics"]] == [13, 7, 6]
    assert [each["topic"] for each in answer["topics"]] == ["", "Topic 0", "Topic 1"]
    assert send(widget, topic="no such topic")["card"] is None


def test_the_summary_says_what_to_read_again() -> None:
    widget = Interview(cards=deck(n=5, topics=1))
    mark(widget, "partly", "missed", "knew", "knew", "knew")
    answer = send(widget, "end")
    assert answer["card"] is None
    summary = answer["summary"]
    assert summary["asked"] == 5 and summary["left"] == 2 and summary["open"] == 2
    assert [(one["question"], one["mark"], one["known"]) for one in summary["again"]] == [
        ("Question 1?", "missed", False),
        ("Question 0?", "partly", False),
    ]
    assert summary["again"][0]["evidence"][0]["file"] == "07_the_full_layer.ipynb"
    send(widget, "go on")
    summary = mark(widget, "knew", "knew")["summary"]
    assert (summary["left"], summary["open"]) == (0, 0) and all(one["known"] for one in summary["again"])


def test_a_proof_runs_and_tells_its_numbers() -> None:
    widget = Interview(cards=deck())
    torch.manual_seed(11)
    state = torch.get_rng_state()
    shown = send(widget, "prove")["card"]["proof"]
    assert shown["ok"] and shown["sentence"] == "The row sums to 1." and shown["took"] >= 0
    assert shown["numbers"] == [["sum", "1"], ["keys", "3"], [HOSTILE, "−0.1235"]]
    assert torch.equal(torch.get_rng_state(), state) and torch.is_grad_enabled()
    assert number(widget.answer) == 0, "a proof asks no other card"


def test_a_proof_that_fails_says_what_failed() -> None:
    widget = Interview(cards=deck(n=4, proof_name="never_holds"))
    shown = send(widget, "prove")["card"]["proof"]
    assert not shown["ok"] and shown["sentence"].startswith("2 is not 3 <img")
    assert send(Interview(cards=deck(n=3, proof_name="breaks")), "prove")["card"]["proof"] == {
        "ok": False, "sentence": "RuntimeError: no memory", "numbers": [],
    }  # fmt: skip
    unknown = Interview(cards=deck(n=2, proof_name="sums_to_two"))
    assert unknown.answer["card"]["code"] == ""
    assert (
        "There is no proof 'sums_to_two'. The nearest: sums_to_one"
        in send(unknown, "prove")["card"]["proof"]["sentence"]
    )


def test_where_nothing_can_be_written_it_says_so_and_goes_on(own_folder: Path) -> None:
    own_folder.write_text("a file where the folder should be", encoding="utf-8")
    widget = Interview(cards=deck())
    answer = mark(widget, "missed", "knew", "knew", "knew")
    assert "until the notebook is closed" in answer["trouble"]
    assert number(answer) == 0 and answer["counts"]["missed"] == 1
    own_folder.unlink()
    assert mark(widget, "knew")["trouble"] == ""
    assert progress_cards.kept_cards()["card-0"]["box"] == 1


def test_a_damaged_record_is_said_and_costs_no_sitting(own_folder: Path) -> None:
    own_folder.mkdir(parents=True)
    (own_folder / "progress.json").write_text('{"cards": {"card-1": 7', encoding="utf-8")
    widget = Interview(cards=deck())
    assert "is damaged" in widget.answer["trouble"] and number(widget.answer) == 0
    assert mark(widget, "knew")["trouble"] == ""


def test_without_a_front_end_the_first_questions_are_listed_and_no_answer(own_folder: Path) -> None:
    data, _ = Interview(cards=deck())._repr_mimebundle_()
    assert data["text/plain"] == "Interview: 13 questions. The first: Question 0?"
    shown = data["text/html"]
    assert shown.count("<li ") == 6 and "And 7 more." in shown and "Answer" not in shown
    assert "&lt;img src=x onerror=alert(1)&gt;" in shown and "<img" not in shown
    assert "<code>&lt;b&gt;x&lt;/b&gt;</code>" in shown
    part = Interview("TOPIC 1 ", cards=deck())._repr_mimebundle_()[0]["text/html"]
    assert "Interview · Topic 1" in part and "Question 7?" in part and "more" not in part
    assert not own_folder.exists() or not list(own_folder.glob("*.json"))


@pytest.mark.parametrize("topic", ["Topic 7", "", None, "topik 1", 3, HOSTILE])
def test_an_unknown_topic_is_refused_with_the_nearest(topic: object) -> None:
    if not topic:
        assert Interview(topic, cards=deck()).topic == ""
        return
    with pytest.raises(ValueError, match="Topic [01]"):
        Interview(topic, cards=deck())
    assert topic_named("topic 0", ["Topic 0"]) == "Topic 0"


def test_every_card_of_the_course_is_dealt_whole_and_in_order() -> None:
    widget, came = Interview(), []
    while (card := widget.answer["card"]) is not None:
        came.append(card["question"])
        told = widget.cards[card["deal"].split("#")[0]]
        assert card["code"].startswith(f"def {told.proof}() -> Shown:")
        assert [link["cell"] for link in card["evidence"]] == [one.cell for one in told.evidence]
        mark(widget, "knew")
    assert came == [card.question for card in interview.all_cards().values()] and len(came) >= 30
    assert [each["knew"] for each in widget.answer["topics"]] == [
        each["of"] for each in widget.answer["topics"]
    ]


def test_an_empty_deck_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one card"):
        Interview(cards={})


@pytest.mark.parametrize("order", [
    {}, {"do": "mark"}, {"do": "mark", "mark": "knew"},
    {"do": "mark", "mark": "forgot", "deal": "card-0#1.0"},
    {"do": "mark", "mark": "knew", "deal": "card-0#1.x"}, {"do": "mark", "mark": "knew", "deal": "other#1.0"},
    {"do": "mark", "mark": "knew", "deal": 7}, {"do": ["end"]},
    {"do": "mark", "mark": ["knew"], "deal": "card-0#1.0"},
    {"do": "prove", "deal": "other#1.0"}, {"deal": "card-0#1.0"},
])  # fmt: skip
def test_what_no_view_sends_does_nothing(order: dict) -> None:
    widget = Interview(cards=deck())
    widget.set_state({"order": order, "typed": {"deal": 3, "text": None}, "stamp": 1})
    assert number(widget.answer) == 0 and progress_cards.kept_cards() == {}


def test_two_threads_at_two_widgets_end_and_lose_nothing() -> None:
    cards = deck(n=23, topics=2)
    widgets = [Interview("Topic 0", cards=cards), Interview("Topic 1", cards=cards)]

    def play(widget: Interview) -> None:
        while widget.answer["card"] is not None:
            send(widget, "mark", mark="knew")

    threads = [threading.Thread(target=play, args=(each,), daemon=True) for each in widgets]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert not any(each.is_alive() for each in threads)
    assert progress_cards.known_cards() == set(cards)
    assert {card["times"] for card in progress_cards.kept_cards().values()} == {1}


@pytest.mark.parametrize(("value", "words"), [
    (True, "yes"), (False, "no"), (-12345, "−12,345"), (0, "0"), (0.5, "0.5"), (2 / 3, "0.6667"),
    (1234.5678, "1,235"), (12.0, "12"), (-0.012345, "−0.01235"), (3.2e-7, "3.2 · 10⁻⁷"), (4.0e9, "4 · 10⁹"),
    (float("nan"), "NaN"), (float("inf"), "∞"), (float("-inf"), "−∞"),
    ("a\x00b", "a\N{REPLACEMENT CHARACTER}b"),
    (torch.tensor(0.25), "0.25"), ((2, 3, 5), "(2, 3, 5)"), (99999.7, "100,000"),
])  # fmt: skip
def test_numbers_are_written_for_readers(value: object, words: str) -> None:
    assert number_in_words(value) == words
