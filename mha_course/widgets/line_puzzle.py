"""A Parsons problem: the lines of a function, to be put in order; some of them don't belong."""

from __future__ import annotations

import html
from collections.abc import Mapping

import traitlets

from mha_course import progress
from mha_course.exercises.shown.parsons import Puzzle, find_puzzle
from mha_course.exercises.shown.parsons_judge import judge_lines
from mha_course.widgets.base import CourseWidget, Text

__all__ = ["ParsonsPuzzle", "parsons"]


class ParsonsPuzzle(CourseWidget):
    """Lines to take in, to move and to check. Folded at first: who wants to write the function sees nothing.

    The view arranges by itself and sends `chosen` as it goes; a check comes with a new stamp. Which lines
    don't belong, and why, goes to the browser with the verdict.
    """

    js = ("marked_text.js", "parsons_drag.js", "parsons_line.js", "parsons.js")
    css = ("marked_text.css", "parsons.css")
    root = "mha-parsons-box"

    name = Text().tag(sync=True)
    header = Text().tag(sync=True)
    lines = traitlets.List(Text()).tag(sync=True)
    chosen = traitlets.List(traitlets.Int()).tag(sync=True, echo_update=False)
    solved = traitlets.Bool(False).tag(sync=True)

    def __init__(self, puzzle: Puzzle) -> None:
        self.about = puzzle
        count = len(puzzle.lines)
        super().__init__(
            name=puzzle.name,
            header=puzzle.header,
            lines=[line.text for line in puzzle.lines],
            solved=_solved(puzzle.key),
            alt=f"Puzzle: put the lines of {puzzle.name} in order. Some of the {count} don't belong.",
        )

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """The verdict on the present order; nothing before the first check."""
        if not self.stamp:
            return {}, b""
        # A line can be taken in once.
        chosen = [i for i in dict.fromkeys(self.chosen) if 0 <= i < len(self.lines)]
        verdict = judge_lines(self.about, chosen)
        trouble = ""
        if verdict.solved:
            trouble = _note_solved(self.about.key)
            self.solved = True
        unused = [
            {"line": i, "because": line.because}
            for i, line in enumerate(self.about.lines)
            if line.because and verdict.solved
        ]
        return {
            "chosen": chosen,
            "solved": verdict.solved,
            "title": verdict.title,
            "says": list(verdict.says),
            "marks": list(verdict.marks),
            "unused": unused,
            "trouble": trouble,
        }, b""

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live puzzle, and for places without a front end its lines, shuffled and folded."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        lines = html.escape("\n".join(self.lines))
        data["text/html"] = (
            f"<details><summary>{html.escape(self.alt)}</summary>"
            f"<pre>{html.escape(self.header)}</pre><pre>{lines}</pre></details>"
        )
        return data, metadata


def parsons(name: str) -> ParsonsPuzzle:
    """Show the puzzle "split_heads" or "multi_head_attention". Raises: ValueError for any other name."""
    return ParsonsPuzzle(find_puzzle(name))


def _solved(key: str) -> bool:
    """Whether it was solved before; False where the file can't be read (a lesson must go on)."""
    try:
        return key in progress.solved()
    except (OSError, ValueError):
        return False


def _note_solved(key: str) -> str:
    try:
        return progress.mark_solved(key) or ""
    except (OSError, ValueError) as problem:
        return f"This could not be kept: {problem}"
