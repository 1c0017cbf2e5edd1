"""How a card is read: what it holds, and what is refused with the name of the card."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from mha_course.interview.card import Card, Evidence, FollowUp, all_cards, all_topics, find_card, read_card

HOSTILE = "<img src=x onerror=alert(1)> </script> & \"'` 三月 العربية 👩‍👩‍👧 $x$"
ENTRY: dict[str, Any] = {
    "question": "Which of `a` and `b`?",
    "answer": ["`a`, because it is smaller.", "Unless they are equal."],
    "follow_up": {"question": "And if they are equal?", "answer": "Either."},
    "pitfall": "“Both.”",
    "proof": "a_is_smaller",
    "evidence": [{"cell": "l03-split-run", "shows": "the split"}],
}


def changed(**fields: Any) -> dict[str, Any]:
    """The entry with some fields replaced; None takes one away."""
    entry = copy.deepcopy(ENTRY) | fields
    return {name: value for name, value in entry.items() if value is not None}


def test_a_card_keeps_all_that_its_entry_says() -> None:
    card = read_card("a-or-b", "Letters", ENTRY)
    assert card == Card(
        key="a-or-b",
        topic="Letters",
        question="Which of `a` and `b`?",
        answer=("`a`, because it is smaller.", "Unless they are equal."),
        proof="a_is_smaller",
        evidence=(Evidence("l03-split-run", "the split"),),
        follow_up=FollowUp("And if they are equal?", "Either."),
        pitfall="“Both.”",
    )
    (evidence,) = card.evidence
    assert evidence.place.file == "03_split.ipynb"
    assert evidence.link() == evidence.place.link("the split")


def test_follow_up_and_pitfall_may_be_left_out() -> None:
    card = read_card("a-or-b", "Letters", changed(follow_up=None, pitfall=None))
    assert card.follow_up is None and card.pitfall == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"question": None},
        {"question": "  "},
        {"answer": None},
        {"answer": []},
        {"answer": "one text"},
        {"answer": ["one", ""]},
        {"answer": ["one", 2]},
        {"proof": None},
        {"proof": 3},
        {"evidence": None},
        {"evidence": []},
        {"evidence": ["l03-split-run"]},
        {"evidence": [{"cell": "l03-split-run"}]},
        {"evidence": [{"cell": "l03-split-run", "shows": "a"}, {"cell": "l03-split-run", "shows": "b"}]},
        {"follow_up": {"question": "And?"}},
        {"follow_up": "And?"},
        {"pitfall": ""},
        {"answers": ["a name misspelt"]},
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a-or-b"):
        read_card("a-or-b", "Letters", changed(**fields))


@pytest.mark.parametrize("key", ["", "A-or-b", "a or b", "a_or_b", "-a", "a--b", "a" * 61, "../a"])
def test_keys_have_one_form(key: str) -> None:
    with pytest.raises(ValueError, match="small letters"):
        read_card(key, "Letters", ENTRY)


def test_an_entry_that_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="a-or-b"):
        read_card("a-or-b", "Letters", ["question"])  # type: ignore[arg-type]


def test_hostile_text_stays_text_and_what_cannot_be_shown_is_replaced() -> None:
    card = read_card("a-or-b", "Letters", changed(question=HOSTILE + "\ud800\x07"))
    assert card.question == HOSTILE + "\N{REPLACEMENT CHARACTER}" * 2


def write(folder: Path, name: str, topic: object, cards: object) -> None:
    text = json.dumps({"topic": topic, "cards": cards}, ensure_ascii=False)
    (folder / name).write_text(text, encoding="utf-8")


def test_cards_come_in_the_order_of_files_and_of_each_file(tmp_path: Path) -> None:
    write(tmp_path, "11_late.json", "Late", {"z": ENTRY})
    write(tmp_path, "02_early.json", "Early", {"y": ENTRY, "x": ENTRY})
    write(tmp_path, "notes.json", "No cards", {"w": ENTRY})
    cards = all_cards(tmp_path)
    assert [(key, card.topic) for key, card in cards.items()] == [
        ("y", "Early"),
        ("x", "Early"),
        ("z", "Late"),
    ]


@pytest.mark.parametrize(
    ("topic", "cards"),
    [
        ("Letters", {}),
        ("", {"z": ENTRY}),
        (None, {"z": ENTRY}),
        ("Early", {"z": ENTRY}),
        ("Late", {"y": ENTRY}),
    ],
    ids=["no cards", "no topic", "topic is null", "topic twice", "key twice"],
)
def test_a_file_that_cannot_be_read_names_itself(tmp_path: Path, topic: object, cards: object) -> None:
    write(tmp_path, "02_early.json", "Early", {"y": ENTRY})
    write(tmp_path, "11_late.json", topic, cards)
    with pytest.raises(ValueError, match="11_late.json"):
        all_cards(tmp_path)


def test_a_key_that_stands_twice_in_one_file_is_not_lost_unseen(tmp_path: Path) -> None:
    one = json.dumps(ENTRY)
    text = f'{{"topic": "Twice", "cards": {{"same": {one}, "same": {one}}}}}'
    (tmp_path / "05_twice.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="same"):
        all_cards(tmp_path)


def test_a_card_is_found_by_its_key_and_a_wrong_key_names_the_nearest() -> None:
    key, card = next(iter(all_cards().items()))
    assert find_card(key) is card
    with pytest.raises(ValueError, match=key):
        find_card(key[:-1])
    for no_key in ("", "三月", None, 7):
        with pytest.raises(ValueError, match="no card"):
            find_card(no_key)  # type: ignore[arg-type]


def test_topics_are_those_of_the_cards_each_once() -> None:
    topics = all_topics()
    assert len(set(topics)) == len(topics)
    assert set(topics) == {card.topic for card in all_cards().values()}
