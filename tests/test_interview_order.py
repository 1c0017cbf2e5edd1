"""The order of a sitting: what was missed comes back after three others, what was known is done."""

from __future__ import annotations

import random

import pytest

from mha_course.progress_cards import KeptCard, Mark
from mha_course.widgets.interview_order import COMES_BACK, Sitting, mixed_order, opening_order

KEYS = [f"card-{letter}" for letter in "abcdefghijklm"]


def card(box: int, when: str, mark: Mark = "knew") -> KeptCard:
    return KeptCard(box=box, mark=mark, times=1, when=when)


def asked(sitting: Sitting, marks: dict[str, list[Mark]], limit: int = 99) -> list[str]:
    """The letters of the cards as they are asked, where each gets its marks in turn and then "knew"."""
    letters = []
    waiting = {key: list(each) for key, each in marks.items()}
    while (key := sitting.next_card()) is not None and len(letters) < limit:
        letters.append(key[-1])
        sitting.marked(key, waiting[key].pop(0) if waiting.get(key) else "knew")
    return letters


def test_what_was_missed_comes_back_after_three_others_and_in_part_after_six() -> None:
    assert COMES_BACK == {"missed": 3, "partly": 6}
    assert asked(Sitting(list(KEYS)), {"card-a": ["missed"]}) == list("abcdaefghijklm")
    assert asked(Sitting(list(KEYS)), {"card-b": ["partly"]}) == list("abcdefghbijklm")
    twice = asked(Sitting(list(KEYS)), {"card-a": ["missed", "missed"], "card-c": ["missed", "partly"]})
    assert twice == list("abcdaecfaghijcklm")


def test_where_nothing_can_come_between_a_card_comes_back_at_once() -> None:
    assert asked(Sitting(KEYS[:1]), {"card-a": ["missed", "partly"]}) == list("aaa")
    # Two wait for each other's turn: none is asked twice in a row.
    waiting = {"card-b": ["partly"], "card-c": ["missed", "missed"]}
    assert asked(Sitting(KEYS[:3]), waiting) == list("abcbcc")


def test_every_card_is_asked_until_it_is_known_whatever_is_said() -> None:
    draw = random.Random(5)
    for _ in range(40):
        marks = {key: draw.choices(["missed", "partly"], k=draw.randrange(4)) for key in KEYS}
        sitting = Sitting(draw.sample(KEYS, len(KEYS)))
        came = asked(sitting, marks)
        assert {letter: came.count(letter) for letter in came} == {
            k[-1]: len(m) + 1 for k, m in marks.items()
        }
        assert sitting.left() == 0 and sitting.next_card() is None and sitting.due == {}
        # Never the same twice in a row while another one was still to come.
        for i, (one, two) in enumerate(zip(came, came[1:], strict=False)):
            assert one != two or set(came[i:]) == {one}, came


def test_a_sitting_begins_with_what_was_missed_then_the_new_then_the_oldest() -> None:
    kept = {
        "card-a": card(3, "2031-01-01T10:00:00+00:00"),
        "card-b": card(1, "2031-05-01T10:00:00+00:00", "partly"),
        "card-d": card(0, "2031-04-01T10:00:00+00:00", "missed"),
        "card-e": card(2, "2031-02-01T10:00:00+00:00"),
        "card-f": card(0, "2031-03-01T10:00:00+00:00", "missed"),
        # Half an hour before card-b, though its clock says more.
        "card-g": card(1, "2031-05-01T11:30:00+02:00"),
        "card-h": card(2, "not a time"),
        "gone": card(0, "2031-01-01T10:00:00+00:00"),
    }
    order = opening_order(KEYS[:9], kept)
    assert "".join(key[-1] for key in order) == "fd" + "ci" + "gb" + "he" + "a"
    assert opening_order(KEYS, {}) == KEYS


def test_a_choice_of_cards_asks_these_alone_and_loses_no_turn() -> None:
    sitting = Sitting(list(KEYS))
    some = {"card-b", "card-e", "card-h"}
    assert sitting.next_card(some) == "card-b" and sitting.left(some) == 3
    sitting.marked("card-b", "missed")
    assert sitting.next_card() == "card-a" and sitting.next_card(some) == "card-e"
    for key in ("card-e", "card-h"):
        sitting.marked(key, "knew")
    assert sitting.next_card(some) == "card-b" and sitting.left(some) == 1
    assert sitting.next_card() == "card-a"
    sitting.marked("card-a", "knew")
    assert sitting.next_card() == "card-b"
    assert sitting.next_card(set()) is None and sitting.left(set()) == 0


@pytest.mark.parametrize("mark", ["missed", "partly", "knew"])
def test_a_mark_is_taken_back_as_if_it_had_not_been_given(mark: Mark) -> None:
    sitting = Sitting(KEYS[:5])
    assert sitting.take_back() is None
    sitting.marked("card-a", "missed")
    for key in ("card-b", "card-c", "card-d"):
        sitting.marked(key, "knew")
    before = (sitting.turn, dict(sitting.due), list(sitting.given), sitting.next_card(), sitting.left())
    kept = card(2, "then")
    sitting.marked("card-a", mark, kept)
    last = sitting.take_back()
    assert (last.key, last.mark, last.before) == ("card-a", mark, kept)
    assert (sitting.turn, sitting.due, sitting.given, sitting.next_card(), sitting.left()) == before


def test_first_marks_are_told_in_the_order_in_which_they_came() -> None:
    sitting = Sitting(KEYS[:3])
    for key, mark in (("card-c", "missed"), ("card-a", "knew"), ("card-c", "knew"), ("card-b", "partly")):
        sitting.marked(key, mark)
    assert list(sitting.firsts().items()) == [("card-c", "missed"), ("card-a", "knew"), ("card-b", "partly")]
    assert sitting.left() == 1


def test_a_short_sitting_takes_the_most_urgent_and_goes_from_topic_to_topic() -> None:
    topics = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b", "c1": "c", "c2": "c"}
    assert mixed_order(topics, {}, 5) == ["a1", "b1", "c1", "a2", "b2"]
    kept = {
        "a1": card(1, "2026-03-01"),
        "b1": card(0, "2026-03-02", "missed"),
        "b2": card(0, "2026-03-01", "missed"),
    }
    assert mixed_order(topics, kept, 4) == ["b2", "b1", "a2", "c1"]
    assert mixed_order(topics, kept, 99) == ["b2", "b1", "a2", "c1", "a3", "c2", "a1"]
    assert mixed_order({}, {}, 10) == []
