"""The published cards: a full interview, evidence that shows something, and one voice."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from mha_course.interview.card import FOLDER, Card, all_cards, all_topics
from mha_course.interview.proof import all_proofs

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
CARDS = all_cards()
PARAMETERS = [pytest.param(card, id=key) for key, card in CARDS.items()]
EVIDENCE = [
    pytest.param(one.cell, id=f"{key}:{one.cell}") for key, card in CARDS.items() for one in card.evidence
]
# Cells that ask the reader, or hold what only the reader can fill in, show nothing by themselves.
_ASKS = {"predict", "reveal", "ask", "check", "hint", "solution", "parsons"}


def words(text: str) -> int:
    return len(text.split())


def texts(card: Card) -> list[str]:
    """All that is read on a card."""
    further = [card.follow_up.question, card.follow_up.answer] if card.follow_up else []
    pitfall = [card.pitfall] if card.pitfall else []
    return [card.topic, card.question, *card.answer, *further, *pitfall, *(e.shows for e in card.evidence)]


def called(tree: ast.AST) -> set[str]:
    names = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in names}


def test_it_is_a_whole_interview() -> None:
    assert len(CARDS) >= 30
    assert len(all_topics()) >= 8
    counted = Counter(card.topic for card in CARDS.values())
    assert min(counted.values()) >= 2, counted
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    assert [one["topic"] for one in files] == list(all_topics())


def test_no_question_is_asked_twice() -> None:
    questions = [card.question.lower() for card in CARDS.values()]
    questions += [card.follow_up.question.lower() for card in CARDS.values() if card.follow_up]
    assert [q for q, n in Counter(questions).items() if n > 1] == []
    answers = [paragraph for card in CARDS.values() for paragraph in card.answer]
    assert len(set(answers)) == len(answers)


@pytest.mark.parametrize("card", PARAMETERS)
def test_an_answer_takes_one_to_two_minutes(card: Card) -> None:
    assert 60 <= sum(map(words, card.answer)) <= 170
    first = re.split(r"(?<=[.:]) ", card.answer[0])[0]
    assert words(first) <= 45, f"the first sentence should answer: {first}"
    assert words(card.question) <= 40
    assert card.question[-1] in "?."
    assert all(paragraph[-1] in ".)”" for paragraph in card.answer)
    assert words(card.pitfall) <= 45
    if card.follow_up:
        assert card.follow_up.question.endswith("?")
        assert 5 <= words(card.follow_up.answer) <= 80
    assert len(card.evidence) <= 8
    assert all(2 <= words(one.shows) <= 22 for one in card.evidence)


@pytest.mark.parametrize("cell", EVIDENCE)
def test_evidence_is_a_code_cell_that_shows_something(cell: str) -> None:
    place = next(one.place for card in CARDS.values() for one in card.evidence if one.cell == cell)
    assert place.kind == "code"
    assert "00" <= place.lesson <= "15"
    tree = ast.parse(place.source)
    assert not all(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body), "imports only"
    last = tree.body[-1]
    shows = isinstance(last, ast.Expr) or any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    assert shows or "print" in called(tree), "nothing is printed, drawn or asserted"
    first = tree.body[0]
    asks = len(tree.body) == 1 and isinstance(first, ast.Expr) and called(first) & _ASKS
    assert not asks, "a cell that asks the reader shows nothing"


def test_no_cell_carries_too_much() -> None:
    counted = Counter(one.cell for card in CARDS.values() for one in card.evidence)
    assert max(counted.values()) <= 4, counted.most_common(3)


def test_every_card_has_a_proof_and_every_proof_a_card() -> None:
    used = Counter(card.proof for card in CARDS.values())
    assert set(used) == set(all_proofs())
    assert [name for name, n in used.items() if n > 1] == [], "a card has a proof of its own"


@pytest.mark.parametrize("card", PARAMETERS)
def test_texts_keep_the_voice(card: Card) -> None:
    for text in texts(card):
        assert text == text.strip() and "  " not in text and "\n" not in text, text
        assert text.count("`") % 2 == 0, f"a backtick is left open: {text}"
        prose = re.sub(r"`[^`]*`", "", text)
        assert not re.search(r"[$\\]|</?\w", prose), f"neither LaTeX nor HTML is read here: {text}"
        assert '"' not in prose, f"“quotes” are printed ones: {text}"
        assert prose.count("“") == prose.count("”"), text
        assert "!" not in prose and "—" not in prose, text
        said = r"\b(just|simply|simple|obvious\w*|easy|easily|trivial\w*|of course|basically)\b"
        assert not re.search(said, prose, re.IGNORECASE), text
        american = r"\b(color\w*|behavior\w*|normaliz\w*|optimiz\w*|center\w*|generaliz\w*|initializ\w*)\b"
        assert not re.search(american, prose, re.IGNORECASE), text


@cache
def sources() -> str:
    cells = [c for path in NOTEBOOKS for c in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


@pytest.mark.parametrize("card", PARAMETERS)
def test_who_is_quoted_is_among_the_sources_of_the_lessons(card: Card) -> None:
    name = r"([A-Z][\w’-]+)(?:,? (?:and [A-Z][\w’-]+|et al\.))?,? \(?((?:19|20)\d\d)\b"
    for surname, year in re.findall(name, " ".join(texts(card))):
        if surname in {"In", "PyTorch"}:
            continue
        told = [line for line in sources().splitlines() if surname in line and year in line]
        assert told, f"{surname} {year} is named in no lesson"
