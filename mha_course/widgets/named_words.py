"""Words from a reader's text, as a sentence can name them: each once, not too many, none too long."""

from __future__ import annotations

from collections.abc import Iterable

import regex

MOST_WORDS = 8
MOST_CHARACTERS = 24

_SEEN = regex.compile(r"\X")


def short_word(word: str) -> str:
    """The word; beyond 24 characters as a person sees them, 23 and an ellipsis."""
    seen = _SEEN.findall(word[: 50 * MOST_CHARACTERS])
    return word if len(seen) <= MOST_CHARACTERS else "".join(seen[: MOST_CHARACTERS - 1]) + "…"


def named_words(words: Iterable[str]) -> str:
    """At most 8 words, each once, with how many more there are: "oboe, lens and 3 more"."""
    once = list(dict.fromkeys(words))
    more = f" and {len(once) - MOST_WORDS:,} more" if len(once) > MOST_WORDS else ""
    return ", ".join(map(short_word, once[:MOST_WORDS])) + more


def as_sentence(text: object) -> str:
    """A text, or a list of words with blanks between them.

    Raises: ValueError for anything else.
    """
    if isinstance(text, str):
        return text
    if isinstance(text, list | tuple) and all(isinstance(word, str) for word in text):
        return " ".join(text)
    raise ValueError(f"sentence={text!r} must be a text, such as 'the old cat sleeps .'")
