"""Token labels: shortened, made visible, and laid out beside a map without being clipped."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mha_course.plots import fonts
from mha_course.plots.canvas import Canvas, text_width

LONGEST = 12
_STACKED_LONGEST = 6
_VISIBLE = {" ": "␣", "\n": "⏎", "\r": "⏎", "\t": "⇥", "": "∅"}
SIZE = 11.0


def shown(token: str) -> str:
    """A token as a label: blanks visible, over 12 characters cut to 11 and an ellipsis."""
    token = str(token)
    token = _VISIBLE.get(token, token)
    token = "".join(_VISIBLE.get(char, char) for char in token)
    return token if len(token) <= LONGEST else token[: LONGEST - 1] + "…"


def every(n: int, cell: float, least: float = 12.0) -> int:
    """Label every how-many-th token, so that neighbours stand at least `least` px apart."""
    return max(1, math.ceil(least / cell - 1e-9)) if n else 1


@dataclass(frozen=True)
class TopLabel:
    """One label above a column. It is turned, stacked (Chinese, Japanese, Korean) or upright (emoji)."""

    text: str
    way: str
    rise: float
    overhang: float


def angle(cell: float) -> float:
    """How far the top labels turn, in degrees: more where cells are narrow."""
    return 60.0 if cell < 20 else 50.0


def top_label(token: str, cell: float, size: float = SIZE) -> TopLabel:
    """How a token stands above its column, with the room it needs: rise upwards, overhang to the right."""
    text = shown(token)
    drawn = fonts.drawable(text)
    if any(fonts.is_east_asian(char) for char in text) and not drawn.has_stand_in:
        if len(text) > _STACKED_LONGEST:
            text = text[: _STACKED_LONGEST - 1] + "⋮"
        return TopLabel(text, "stacked", 1.2 * size * len(text) + 4, 0.0)
    width = text_width(text, size)
    if not drawn.has_stand_in and len(text) <= 2 and all(fonts.is_emoji(char) for char in text):
        return TopLabel(text, "upright", 1.3 * size + 4, max(0.0, (width - cell) / 2))
    turn = math.radians(angle(cell))
    rise = width * math.sin(turn) + 0.8 * size * math.cos(turn) + 5
    return TopLabel(text, "turned", rise, width * math.cos(turn) + 0.6 * size * math.sin(turn))


def draw_top_label(
    canvas: Canvas, label: TopLabel, x: float, y: float, cell: float, size: float = SIZE, colour: str = "ink2"
) -> None:
    """Draw the label above the column whose middle is x and whose upper edge is y."""
    if label.way == "stacked":
        for i, char in enumerate(reversed(label.text)):
            canvas.text(x, y - 5 - size * (0.5 + 1.2 * i), char, size, colour, ha="center")
    elif label.way == "upright":
        canvas.text(x, y - 5 - 0.55 * size, label.text, size, colour, ha="center")
    else:
        turn = math.radians(angle(cell))
        # The middle of the letters, not their base line, points at the middle of the column.
        dx, dy = 0.36 * size * math.sin(turn), 0.36 * size * math.cos(turn)
        canvas.text(x + dx - 1, y - 5 + dy - 1, label.text, size, colour, turn=angle(cell))


def left_width(tokens: list[str], size: float = SIZE) -> float:
    """Room for the longest of the labels on the left."""
    return max((text_width(shown(token), size) for token in tokens), default=0.0)
