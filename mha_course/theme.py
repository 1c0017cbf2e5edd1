"""The course's colours: one palette for widgets and still figures, in light and dark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

Theme = Literal["light", "dark"]

PALETTE: dict = json.loads(Path(__file__).with_name("palette.json").read_text(encoding="utf-8"))

_COLOURS: dict[str, dict[str, str]] = {
    "light": {
        "surface": "#FFFFFF",
        "raised": "#F5F6F8",
        "ink": "#1A1E26",
        "ink2": "#474F5D",
        "ink3": "#626B7A",
        "edge": "#868F9D",
        "line": "#DFE3E8",
        "mute": "#C9CED7",
        "focus": "#2458C6",
        "warn": "#9A3412",
        "warn_ground": "#FFF4EC",
        "ok": "#17683F",
    },
    "dark": {
        "surface": "#15171C",
        "raised": "#1F232A",
        "ink": "#ECEFF4",
        "ink2": "#BAC1CD",
        "ink3": "#97A0AF",
        "edge": "#717C8D",
        "line": "#2D333D",
        "mute": "#3A414D",
        "focus": "#7FB0FF",
        "warn": "#FFB085",
        "warn_ground": "#2B1E17",
        "ok": "#6FCF9B",
    },
}


def colours(theme: Theme = "light") -> dict[str, str]:
    """Colour tokens (surface, ink, edge, ...) as hex strings. Raises KeyError for an unknown theme."""
    return dict(_COLOURS[theme])


def sequential(theme: Theme = "light") -> list[str]:
    """256 colours for weights from 0 to 1; the first one is the surface itself."""
    return list(PALETTE["seq"][theme])


def diverging(theme: Theme = "light") -> list[str]:
    """256 colours from the most negative (orange) over 0 (the surface) to the most positive (blue)."""
    return list(PALETTE["div"][theme])


def head_colour(i: int, theme: Theme = "light") -> str:
    """Colour of head i, counted from 0; colours return after 12 heads, so a number stands beside each."""
    ramp = PALETTE["head"][theme]
    return ramp[i % len(ramp)]


def text_on(colour: str) -> str:
    """Black or white, whichever reads better on the colour given (WCAG contrast)."""
    return "#000000" if (luminance(colour) + 0.05) / 0.05 >= 1.05 / (luminance(colour) + 0.05) else "#FFFFFF"


def luminance(colour: str) -> float:
    """Relative luminance of a hex colour, 0 for black and 1 for white (WCAG 2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two hex colours, from 1 to 21 (WCAG 2)."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
