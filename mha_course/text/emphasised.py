"""A notice whose words stand out in four ways at once: size, background, colour and style.

Two words can be alike in one way and differ in another, so "which words belong together?" has four
answers. Lesson 02 asks how many of them one head can give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import torch
from torch import Tensor

ASPECTS: dict[str, tuple[str, ...]] = {
    "size": ("small", "normal", "large"),
    "background": ("none", "yellow", "grey"),
    "colour": ("black", "red", "blue"),
    "style": ("plain", "bold", "italic", "underlined", "struck"),
}
"""Every aspect with the values it can take, in the order of the features."""

_CSS: dict[str, dict[str, str]] = {
    "size": {"small": "font-size:13px", "normal": "font-size:18px", "large": "font-size:28px"},
    "background": {"none": "", "yellow": "background:#ffe27a", "grey": "background:#d9dde3"},
    "colour": {"black": "color:#1a1e26", "red": "color:#a3161a", "blue": "color:#123f9c"},
    "style": {
        "plain": "",
        "bold": "font-weight:700",
        "italic": "font-style:italic",
        "underlined": "text-decoration:underline",
        "struck": "text-decoration:line-through",
    },
}


@dataclass(frozen=True)
class StyledWord:
    """One word and how it is set. Raises ValueError for a value that its aspect doesn't have."""

    text: str
    size: str = "normal"
    background: str = "none"
    colour: str = "black"
    style: str = "plain"

    def __post_init__(self) -> None:
        for aspect, values in ASPECTS.items():
            if getattr(self, aspect) not in values:
                raise ValueError(
                    f"{aspect}={getattr(self, aspect)!r} is not known; it can be {', '.join(values)}."
                )


NOTICE: tuple[StyledWord, ...] = (
    StyledWord("Rehearsal", "large", "none", "blue", "bold"),
    StyledWord("moved", "large", "yellow", "red", "bold"),
    StyledWord("from", "small"),
    StyledWord("Tuesday", "normal", "grey", "black", "struck"),
    StyledWord("to", "small"),
    StyledWord("Friday", "large", "yellow", "blue", "underlined"),
    StyledWord("please", "small", "none", "red", "italic"),
    StyledWord("bring", "normal", "none", "red", "plain"),
    StyledWord("your", "small", "grey", "black", "italic"),
    StyledWord("oboe", "normal", "yellow", "red", "bold"),
    StyledWord("again", "normal", "grey", "blue", "italic"),
)
"""Eleven words, no two of them set alike except "from" and "to"."""


def aspect_columns() -> dict[str, slice]:
    """Where each aspect's features stand in a row of `style_features`."""
    columns, start = {}, 0
    for aspect, values in ASPECTS.items():
        columns[aspect] = slice(start, start + len(values))
        start += len(values)
    return columns


def style_features(words: Sequence[StyledWord]) -> Tensor:
    """One 1 for every aspect of every word, 0 elsewhere.

    Returns: (n, d_model) float32 with d_model = 3 + 3 + 3 + 5 = 14.
    """
    rows = [
        [float(getattr(word, aspect) == value) for aspect, values in ASPECTS.items() for value in values]
        for word in words
    ]
    return torch.tensor(rows).reshape(len(rows), sum(map(len, ASPECTS.values())))


def alike(words: Sequence[StyledWord], aspect: str) -> Tensor:
    """Rows that spread a weight of 1 evenly over the words set like the query's word in one aspect.

    Returns: (n, n) float32, rows sum to 1. Raises: KeyError for an aspect that isn't one of `ASPECTS`.
    """
    if aspect not in ASPECTS:
        raise KeyError(f"{aspect!r} is not an aspect; choose from {', '.join(ASPECTS)}.")
    values = [getattr(word, aspect) for word in words]
    same = torch.tensor([[float(a == b) for b in values] for a in values])
    return same / same.sum(-1, keepdim=True)


class StyledText:
    """The words as they look on the page. Jupyter shows it through `_repr_html_`."""

    def __init__(self, words: Sequence[StyledWord]) -> None:
        self.words = tuple(words)

    def __repr__(self) -> str:
        return " ".join(word.text for word in self.words)

    def _repr_html_(self) -> str:
        # Dark words on white paper in either theme: the colours are the subject here.
        spans = []
        for word in self.words:
            css = ";".join(filter(None, (_CSS[aspect][getattr(word, aspect)] for aspect in ASPECTS)))
            spans.append(f'<span style="padding:2px 4px;{css}">{escape(word.text)}</span>')
        box = (
            "background:#ffffff;color:#1a1e26;border:1px solid #868f9d;border-radius:8px;"
            "padding:12px 16px;display:inline-block;line-height:1.9;max-width:100%"
        )
        return f'<div style="{box}">{" ".join(spans)}</div>'
