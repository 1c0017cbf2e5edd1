"""Parsons problems: the lines of a function, shuffled, with some among them that don't belong.

After D. Parsons and P. Haden, "Parson's Programming Puzzles", 2006. Any order that works is right: the lines
are put together and judged as an answer to the exercise of the same name.
"""

from __future__ import annotations

import difflib
import random
from dataclasses import dataclass

from mha_course.exercises.registry import EXERCISES
from mha_course.exercises.shown.parsons_lines import LAYER_LINES, SPLIT_LINES, Line


@dataclass(frozen=True)
class Puzzle:
    """The lines of one function in the order in which they are shown, and the line they stand under."""

    name: str
    header: str
    lines: tuple[Line, ...]

    @property
    def key(self) -> str:
        """The name under which a solved puzzle is noted."""
        return f"parsons-{self.name}"

    def numbers(self, chosen: list[int]) -> dict[int, int]:
        """For each chosen line the number it has in the function; the `def` is line 1."""
        found, number = {}, 2
        for i in chosen:
            found[i] = number
            number += len(self.lines[i].text.splitlines())
        return found

    def source(self, chosen: list[int]) -> str:
        """The chosen lines as a function."""
        rows = [row for i in chosen for row in self.lines[i].text.splitlines()]
        return "\n".join([self.header, *(f"    {row}" for row in rows or ["..."]), ""])


def find_puzzle(name: str) -> Puzzle:
    """The puzzle of that name. Raises: ValueError with the nearest names when there is none."""
    if isinstance(name, str) and name in PUZZLES:
        return PUZZLES[name]
    near = difflib.get_close_matches(str(name).lower().strip(), PUZZLES, n=2, cutoff=0.3) or list(PUZZLES)
    raise ValueError(f"There is no puzzle {name!r:.100}. The nearest: {', '.join(near)}.")


def _puzzle(name: str, lines: tuple[Line, ...]) -> Puzzle:
    """Shuffle the lines, the same way each time."""
    shuffled = list(lines)
    random.Random(name).shuffle(shuffled)
    signature = EXERCISES[name].signature.split(" ->")[0]
    return Puzzle(name, f"def {signature}:", tuple(shuffled))


PUZZLES = {
    "split_heads": _puzzle("split_heads", SPLIT_LINES),
    "multi_head_attention": _puzzle("multi_head_attention", LAYER_LINES),
}
