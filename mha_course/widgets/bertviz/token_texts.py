"""How a token is written in BertViz: the course's labels, and in the tooltip all of it, the unseen too."""

from __future__ import annotations

import unicodedata

import regex

from mha_course.plots.labels import shown
from mha_course.text.readable import readable

# As many characters as BertViz's column can hold at all; the browser measures what really fits.
LONGEST_LABEL = 60
LONGEST_SPELLED = 300
_UNSEEN = {"Cf", "Zs", "Zl", "Zp", "Cc", "Mn"}
# Joiners and variation selectors belong to the letters beside them.
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"
# Characters that take no room, end a line, or turn the order of the others round.
_TURNS = regex.compile(r"[\u00ad\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def label(token: str) -> str:
    """The token as it stands in the picture: blanks visible, and code points where nothing could be seen."""
    text = readable(token)
    if text.strip(" \t\n") and all(_is_unseen(char) for char in text):
        return _code_points(text)
    return shown(_TURNS.sub(lambda found: f"‹{_code_points(found.group())}›", text), LONGEST_LABEL)


def spelled(token: str) -> str:
    """The token as its tooltip has it: whole, with the code points of characters that can't be seen."""
    text = readable(token)
    unseen = "".join(char for char in text if _is_unseen(char) and char not in " \t\n" + _JOINERS)
    if len(text) > LONGEST_SPELLED:
        text = f"{text[:LONGEST_SPELLED]}… ({len(text)} characters)"
    return f"{text} ({_code_points(unseen[:12])})" if unseen else text


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(char):04X}" for char in text)
