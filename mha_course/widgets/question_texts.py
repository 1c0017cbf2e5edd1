"""Quick questions as data: what is asked, the choices, and why each of them is right or wrong.

The texts stand in questions/lesson_NN.json, not in the lessons, so that nobody reads the answer by the way.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mha_course.text.readable import readable

FOLDER = Path(__file__).with_name("questions")
_KEY = re.compile(r"[0-9]{2}-[0-9a-z][0-9a-z._-]{0,76}")
# Stands between choices where several are kept as one text; no choice may hold it.
BETWEEN = " | "


@dataclass(frozen=True)
class Choice:
    """One choice: its text, whether it is right, and why (or why not)."""

    text: str
    right: bool
    because: str


@dataclass(frozen=True)
class Question:
    """A question with its choices. several: more than one choice may be right, and all are wanted."""

    key: str
    text: str
    choices: tuple[Choice, ...]
    several: bool = False

    @property
    def right(self) -> frozenset[int]:
        """The indices of the right choices."""
        return frozenset(i for i, choice in enumerate(self.choices) if choice.right)

    def said(self, chosen: list[int]) -> str:
        """The chosen texts as one text, in the order of the question."""
        return BETWEEN.join(self.choices[i].text for i in sorted(chosen))

    def chosen(self, said: str) -> list[int]:
        """The indices of choices kept as one text; none where the question has changed since."""
        places = {choice.text: i for i, choice in enumerate(self.choices)}
        parts = said.split(BETWEEN) if self.several else [said]
        return sorted({places[part] for part in parts}) if all(part in places for part in parts) else []


def find_question(key: str) -> Question:
    """The question of that key. Raises: ValueError with the nearest keys when there is none."""
    questions = all_questions()
    if isinstance(key, str) and key in questions:
        return questions[key]
    near = difflib.get_close_matches(str(key).lower().strip(), questions, n=3, cutoff=0.3)
    tail = f" The nearest: {', '.join(near)}." if near else ""
    raise ValueError(f"There is no question {readable(repr(key))[:100]}.{tail}")


@lru_cache
def all_questions() -> dict[str, Question]:
    """Every question by its key, in the order of the lessons."""
    found: dict[str, Question] = {}
    for path in sorted(FOLDER.glob("lesson_*.json")):
        for key, entry in json.loads(path.read_text(encoding="utf-8")).items():
            if not key.startswith(path.stem.removeprefix("lesson_") + "-"):
                raise ValueError(f"{path.name}: {key!r} belongs to another lesson")
            found[key] = read_question(key, entry)
    return found


def read_question(key: str, entry: dict) -> Question:
    """A question from its JSON entry. Raises: ValueError that names the key, for what can't be asked."""
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r}: a key such as '03-where-feature-14', small letters, digits and hyphens")
    try:
        choices = tuple(
            Choice(readable(c["text"]), c["right"] is True, readable(c["because"])) for c in entry["choices"]
        )
        question = Question(key, readable(entry["question"]), choices, entry.get("several") is True)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{key}: lacks {error}" if isinstance(error, KeyError) else f"{key}: {error}"
        ) from None
    texts = [choice.text for choice in choices]
    if not question.text.strip() or not all(c.text.strip() and c.because.strip() for c in choices):
        raise ValueError(f"{key}: the question, every choice and every 'because' say something")
    if len(texts) < 2 or len(set(texts)) != len(texts):
        raise ValueError(f"{key}: two or more choices that differ from each other")
    if not question.right or (not question.several and len(question.right) > 1):
        raise ValueError(f'{key}: one choice is right, or several with "several": true')
    if question.several and any(BETWEEN in text for text in texts):
        raise ValueError(f"{key}: {BETWEEN!r} stands between choices that are kept, so none may hold it")
    return question
