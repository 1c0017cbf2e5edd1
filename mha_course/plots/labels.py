"""Token labels: shortened, made visible, and laid out beside a map without being clipped."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from mha_course.plots import fonts
from mha_course.plots.canvas import Canvas, text_width
from mha_course.text.readable import readable

LONGEST = 12
# Names of rows are words of the author, not tokens of any length: they may be longer.
LONGEST_ROW = 30
_STACKED_LONGEST = 6
_VISIBLE = {"\n": "⏎", "\r": "⏎", "\t": "⇥"}
SIZE = 11.0
# Marks as large as letters, and quotes themselves, need no quotes around them.
_LARGE_MARKS = frozenset('%&@#*/\\"“”„«»')


def shown(token: str, longest: int = LONGEST) -> str:
    """A token as a label: blanks at its ends visible, over 12 characters cut to 11 and an ellipsis.

    Lone punctuation stands in quotes: a full stop by itself is a speck.
    """
    token = readable(token)
    if is_lone_mark(token):
        return f"“{token}”"
    bare = token.strip(" ")
    if not bare:
        return "␣" * len(token) or "∅"
    start = len(token) - len(token.lstrip(" "))
    token = "␣" * start + bare + "␣" * (len(token) - start - len(bare))
    token = "".join(_VISIBLE.get(char, char) for char in token)
    return token if len(token) <= longest else token[: longest - 1] + "…"


def is_lone_mark(token: str) -> bool:
    """One to three punctuation marks and nothing else; not the wide marks of Chinese and Japanese."""
    return 0 < len(token) <= 3 and all(
        unicodedata.category(mark)[0] == "P"
        and unicodedata.east_asian_width(mark) not in "WF"
        and mark not in _LARGE_MARKS
        for mark in token
    )


def every(n: int, cell: float, least: float = 12.0) -> int:
    """Label every how-many-th token, so that neighbours stand at least `least` px apart."""
    return max(1, math.ceil(least / cell - 1e-9)) if n else 1


@dataclass(frozen=True)
class TopLabel:
    """One label above a column: turned by so many degrees, stacked (Chinese, Japanese, Korean), or level
    (emoji). rise, overhang: px that it needs upwards from the map and to the right of its column's middle."""

    text: str
    way: str
    turn: float
    rise: float
    overhang: float


def top_labels(tokens: Sequence[str], cell: float, size: float = SIZE) -> list[TopLabel]:
    """How the tokens stand above columns of `cell` px: leaning out to the right, more where it is narrow.

    Beside stacked labels the others stand upright, because leaning they would run into them.
    """
    ways = [_way(token) for token in tokens]
    turn = 90.0 if "stacked" in ways else 60.0 if cell < 20 else 50.0
    return [_top_label(token, way, turn, size) for token, way in zip(tokens, ways, strict=True)]


def _way(token: str) -> str:
    text = shown(token)
    if fonts.drawable(text).has_stand_in:
        return "turned"
    if any(fonts.is_east_asian(char) for char in text):
        return "stacked"
    return "level" if len(text) <= 2 and all(fonts.is_emoji(char) for char in text) else "turned"


def _top_label(token: str, way: str, turn: float, size: float) -> TopLabel:
    text = shown(token)
    if way == "stacked":
        if len(text) > _STACKED_LONGEST:
            text = text[: _STACKED_LONGEST - 1] + "⋮"
        return TopLabel(text, way, 0.0, 1.2 * size * len(text) + 4, 0.6 * size)
    width = text_width(text, size)
    if way == "level":
        return TopLabel(text, way, 0.0, 1.3 * size + 4, width / 2)
    sine, cosine = math.sin(math.radians(turn)), math.cos(math.radians(turn))
    rise = width * sine + 0.8 * size * cosine + 6
    return TopLabel(text, way, turn, rise, width * cosine + 0.6 * size * sine)


def draw_top_label(
    canvas: Canvas, label: TopLabel, x: float, y: float, size: float = SIZE, colour: str = "ink2"
) -> None:
    """Draw the label above the column whose middle is x and whose upper edge is y."""
    if label.way == "stacked":
        for i, char in enumerate(reversed(label.text)):
            canvas.text(x, y - 5 - size * (0.5 + 1.2 * i), char, size, colour, ha="center")
    elif label.way == "level":
        canvas.text(x, y - 5 - 0.55 * size, label.text, size, colour, ha="center")
    else:
        turn = math.radians(label.turn)
        # The middle of the letters, not their base line, points at the middle of the column.
        dx, dy = 0.36 * size * math.sin(turn), 0.36 * size * math.cos(turn)
        lean = 1.0 if label.turn < 90 else 0.0
        canvas.text(x + dx - lean, y - 5 + dy - lean, label.text, size, colour, turn=label.turn)


def left_width(tokens: Sequence[str], size: float = SIZE, longest: int = LONGEST) -> float:
    """Room for the longest of the labels on the left."""
    return max((text_width(shown(token, longest), size) for token in tokens), default=0.0)
