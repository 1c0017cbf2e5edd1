"""Marks that are kept before they are drawn, so that a picture with the same marks is drawn once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Protocol, TypeVar, cast

import numpy as np

# Name of a method, and what it was given.
Marks = list[tuple[str, tuple, dict[str, object]]]

MOST_KEPT = 200  # pictures, of 20 to 100 kB
_kept: dict[bytes, bytes] = {}


class _Drawing(Protocol):
    _marks: Marks
    _figure: object


Mark = TypeVar("Mark", bound=Callable[..., None])


def mark(draw: Mark) -> Mark:
    """A method that draws: its calls are kept until a figure is asked for; from then on they draw at once."""

    @wraps(draw)
    def kept(self: _Drawing, *given: object, **named: object) -> None:
        self._marks.append((draw.__name__, given, named))
        if self._figure is not None:
            draw(self, *given, **named)

    return cast(Mark, kept)


def drawn_once(same: object, draw: Callable[[], bytes]) -> bytes:
    """What `draw()` gives, or gave for an equal `same`, as long as this Python lives.

    same: numbers, words, tables, and lists, tuples and dicts of them. The last 200 answers are kept.
    """
    key = hashlib.sha256(_in_full(same).encode("utf-8", "surrogatepass")).digest()
    file = _kept.pop(key, None) or draw()
    _kept[key] = file  # what was asked for last goes last
    while len(_kept) > MOST_KEPT:
        _kept.pop(next(iter(_kept)), None)
    return file


def forget() -> None:
    """Draw everything anew from now on."""
    _kept.clear()


def _in_full(value: object) -> str:
    """The value in words that differ whenever it differs: a large table's own words leave out its middle."""
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_in_full, value))}]"
    if isinstance(value, dict):
        return _in_full(sorted(value.items()))
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    table = np.asarray(value)
    return f"{table.dtype}{table.shape}{table.tobytes().hex()}"
