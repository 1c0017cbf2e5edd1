"""The numbers in the questions of lesson 11, computed again."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from mha_course.exercises.lessons.lesson_11_pieces import pieces_to_words, rarest_word_share
from mha_course.widgets.question_texts import find_question

ROLES = Path(__file__).parents[1] / "data" / "real_heads" / "roles.json"


def told(key: str) -> str:
    """All that a question says, as one text."""
    question = find_question(key)
    return " ".join([question.text, *(part for c in question.choices for part in (c.text, c.because))])


def measured(name: str) -> dict:
    """One row of the table of roles in the real model."""
    measures = json.loads(ROLES.read_text(encoding="utf-8"))["table"]["measures"]
    return next(measure for measure in measures if measure["name"] == name)


def best(measure: dict) -> float:
    return max(value for layer in measure["values"] for value in layer)


def test_an_even_head_finds_the_word_in_three_pieces() -> None:
    word_of = [0, 1, 2, 3, 3, 3, 4, 5, 6, 7]
    even = torch.full((1, 10, 10), 0.1)
    words = pieces_to_words(even, word_of)
    assert words.shape == (1, 8, 8)
    torch.testing.assert_close(words[0, 0], torch.tensor([0.1, 0.1, 0.1, 0.3, 0.1, 0.1, 0.1, 0.1]))
    counts = torch.tensor([90, 40, 70, 2, 30, 50, 60, 80])
    assert rarest_word_share(words, counts).tolist() == [1.0]
    text = told("11-even-head")
    assert (
        "8 words" in text
        and "3 pieces" in text
        and "10 pieces" in text
        and "sum over its pieces is 0.3" in text
    )


def test_no_head_passes_for_adjectives() -> None:
    amod = measured("amod: dependent → head")
    assert sum(len(layer) for layer in amod["values"]) == 72
    assert (round(best(amod), 2), round(amod["baseline"], 2), amod["rule"]) == (0.78, 0.71, "always +1")
    text = told("11-no-head")
    assert (
        "best of 72 heads hits 0.78" in text
        and "“always the next word” 0.71" in text
        and "seven points" in text
    )
