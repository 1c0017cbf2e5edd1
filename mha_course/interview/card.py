"""Cards of the interview as data: a question, what a strong candidate says, and where it can be seen.

The texts stand in cards/NN_topic.json, by topic and in the order of an interview:

    {"topic": "Masks",
     "cards": {"mask-polarity": {"question": "…", "answer": ["a paragraph", …],
               "pitfall": "what a weak answer says", "follow_up": {"question": "…", "answer": "…"},
               "proof": "name", "evidence": [{"cell": "…", "shows": "what is seen there"}]}}}

pitfall and follow_up may be left out. Texts are plain, with `backticks` around code and symbols.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mha_course.lesson_places import Place, place_of
from mha_course.text.readable import readable

FOLDER = Path(__file__).with_name("cards")
_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FIELDS = {"question", "answer", "follow_up", "pitfall", "proof", "evidence"}


@dataclass(frozen=True)
class Evidence:
    """A cell of a lesson, and what is to be seen there."""

    cell: str
    shows: str

    @property
    def place(self) -> Place:
        """Where the cell stands. Raises: ValueError when no lesson has it."""
        return place_of(self.cell)

    def link(self) -> dict[str, str]:
        """What lesson_link.js needs. Raises: ValueError when no lesson has the cell."""
        return self.place.link(self.shows)


@dataclass(frozen=True)
class FollowUp:
    """What an interviewer asks next, and the answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class Card:
    """One question of the interview; proof: the name of a function in interview/proofs."""

    key: str
    topic: str
    question: str
    answer: tuple[str, ...]
    proof: str
    evidence: tuple[Evidence, ...]
    follow_up: FollowUp | None = None
    pitfall: str = ""


def find_card(key: str) -> Card:
    """The card of that key. Raises: ValueError with the nearest keys when there is none."""
    cards = all_cards()
    if isinstance(key, str) and key in cards:
        return cards[key]
    near = difflib.get_close_matches(str(key).lower().strip(), cards, n=3, cutoff=0.4)
    tail = f" The nearest: {', '.join(near)}." if near else ""
    raise ValueError(f"There is no card {readable(repr(key))[:100]}.{tail}")


def all_topics() -> tuple[str, ...]:
    """The topics in the order of the interview."""
    return tuple(dict.fromkeys(card.topic for card in all_cards().values()))


@lru_cache
def all_cards(folder: Path | None = None) -> dict[str, Card]:
    """Every card by its key, in the order of the interview; the published ones when folder is left out.

    Raises: ValueError that names the file or the card, for what can't be asked.
    """
    found: dict[str, Card] = {}
    topics: set[str] = set()
    for path in sorted((folder or FOLDER).glob("[0-9][0-9]_*.json")):
        content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_each_once)
        if set(content) != {"topic", "cards"} or not content["cards"]:
            raise ValueError(f'{path.name}: {{"topic": "…", "cards": {{"key": {{…}}, …}}}}')
        topic = _said(path.name, content, "topic")
        if topic in topics:
            raise ValueError(f"{path.name}: another file has the topic {topic!r}")
        topics.add(topic)
        for key, entry in content["cards"].items():
            if key in found:
                raise ValueError(f"{path.name}: there are two cards {key!r}")
            found[key] = read_card(key, topic, entry)
    return found


def read_card(key: str, topic: str, entry: dict[str, Any]) -> Card:
    """A card from its JSON entry. Raises: ValueError that names the key, for what can't be asked."""
    if not _KEY.fullmatch(key) or len(key) > 60:
        raise ValueError(f"{key!r}: a key such as 'why-several-heads', small letters, digits and hyphens")
    if not isinstance(entry, dict):
        raise ValueError(f"{key}: a card is an object with {sorted(_FIELDS)}")
    if unknown := set(entry) - _FIELDS:
        raise ValueError(f"{key}: no card has {sorted(unknown)}")
    answer, evidence = entry.get("answer"), entry.get("evidence")
    if not _are_paragraphs(answer):
        raise ValueError(f"{key}: the answer is a list of paragraphs, each of them says something")
    if not isinstance(evidence, list) or not evidence:
        raise ValueError(f"{key}: a card has at least one cell of a lesson as evidence")
    cells = tuple(Evidence(_said(key, e, "cell"), _said(key, e, "shows")) for e in evidence)
    if len({e.cell for e in cells}) < len(cells):
        raise ValueError(f"{key}: the same cell twice as evidence")
    follow_up = None
    if "follow_up" in entry:
        further = entry["follow_up"]
        follow_up = FollowUp(_said(key, further, "question"), _said(key, further, "answer"))
    return Card(
        key,
        topic,
        _said(key, entry, "question"),
        tuple(readable(paragraph) for paragraph in answer),
        _said(key, entry, "proof"),
        cells,
        follow_up,
        _said(key, entry, "pitfall") if "pitfall" in entry else "",
    )


def _are_paragraphs(answer: Any) -> bool:
    return bool(answer) and isinstance(answer, list) and all(isinstance(p, str) and p.strip() for p in answer)


def _said(where: str, entry: Any, name: str) -> str:
    text = entry.get(name) if isinstance(entry, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{where}: {name!r} says something")
    return readable(text)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON lets a key stand twice and keeps the last; here that would lose a card unseen."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"twice in one object: {sorted({n for n in names if names.count(n) > 1})}")
    return found
