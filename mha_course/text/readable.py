"""Text that a page, a notebook file and a message to the browser can carry, whatever it was before."""

from __future__ import annotations

import regex

# Halves of surrogate pairs can't be encoded, and control characters have no place in HTML.
_CANNOT_BE_SHOWN = regex.compile(r"[\p{Cs}\p{Cc}--\t\n]", regex.V1)


def readable(text: object) -> str:
    """The text with U+FFFD in place of each lone surrogate and control character; tabs and breaks stay."""
    text = str(text).replace("\r\n", "\n").replace("\r", "\n")
    return _CANNOT_BE_SHOWN.sub("\N{REPLACEMENT CHARACTER}", text)
