"""Judging the order of lines: they are put together and run; besides, what the lines themselves show."""

from __future__ import annotations

import ast
import linecache
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from mha_course.exercises.judging import judge
from mha_course.exercises.registry import EXERCISES
from mha_course.exercises.shown.parsons import Puzzle
from mha_course.exercises.world import world_left_alone


@dataclass(frozen=True)
class Judged:
    """The verdict on an order of lines.

    solved: it works, and no line is too many. says: what to tell, with code between backticks.
    marks: the lines that it is about.
    """

    solved: bool
    title: str
    says: tuple[str, ...]
    marks: tuple[int, ...] = ()


def judge_lines(puzzle: Puzzle, chosen: list[int]) -> Judged:
    """Judge the chosen lines, given as indices in `puzzle.lines` in their order."""
    if not chosen:
        return Judged(False, "Nothing to check yet", ("Take some lines in first.",))
    exercise = EXERCISES[puzzle.name]
    with world_left_alone():
        verdict = judge(exercise, assembled(puzzle, chosen))
    strangers = {
        i: f"{_named(puzzle, chosen, i)} does not belong. {puzzle.lines[i].because}"
        for i in chosen
        if puzzle.lines[i].because
    }
    beyond = {
        i: f"{_named(puzzle, chosen, i)} stands below `return` and is never reached."
        for i in _never_reached(puzzle, chosen)
    }
    about = {**beyond, **strangers}
    if verdict.passed and not about:
        says = (verdict.says, exercise.why, *verdict.remarks, "Now write it yourself, without looking.")
        return Judged(True, "In order", says)
    if verdict.passed:
        many = "some lines" if len(about) > 1 else "a line"
        return Judged(False, f"It works, with {many} too many", _first(about), tuple(about))
    early = _used_too_early(puzzle, chosen)
    if early:
        i, says = early
        about = {i: says, **about} if i not in about else {i: f"{says} {about.pop(i)}", **about}
        return Judged(False, "Not yet in order", _first(about), tuple(about))
    about = about or _made_for_nothing(puzzle, chosen)
    look = f"Where to look: {verdict.look}" if verdict.look and not about else ""
    needed = sum(not line.because for i, line in enumerate(puzzle.lines) if i not in chosen)
    are = "is" if needed == 1 else "are"
    missing = f"Of the lines left out, {needed} {are} needed." if needed and not strangers else ""
    words = (verdict.says, verdict.witness, look, *_first(about), missing)
    return Judged(False, "Not yet in order", tuple(word for word in words if word), tuple(about))


def _first(about: dict[int, str], most: int = 3) -> tuple[str, ...]:
    """The first sentences, and how many more there are."""
    more = len(about) - most
    tail = [f"The same goes for {more} more line{'s' if more > 1 else ''}."] if more > 0 else []
    return (*list(about.values())[:most], *tail)


def assembled(puzzle: Puzzle, chosen: list[int]) -> Callable[..., object]:
    """The chosen lines as a function that can be called."""
    source = puzzle.source(chosen)
    name = f"<puzzle {puzzle.name}>"
    # So that an error can be shown with the line that raised it.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    place: dict[str, object] = {"torch": torch, "math": math, "__name__": "puzzle"}
    exec(compile(source, name, "exec"), place)  # the text consists of the puzzle's own lines
    return place[puzzle.name]


def _named(puzzle: Puzzle, chosen: list[int], i: int) -> str:
    """A line by its number and its text; of a block, the last line."""
    rows = puzzle.lines[i].text.splitlines()
    return f"Line {puzzle.numbers(chosen)[i] + len(rows) - 1}, `{rows[-1].strip()}`,"


def _used_too_early(puzzle: Puzzle, chosen: list[int]) -> tuple[int, str] | None:
    """The first line that uses a name which no line above it makes, and a sentence about it."""
    numbers = puzzle.numbers(chosen)
    makers = {i: _names(line.text)[1] for i, line in enumerate(puzzle.lines)}
    made = {argument.arg for argument in ast.parse(puzzle.source([])).body[0].args.args}
    for place, i in enumerate(chosen):
        for name in _names(puzzle.lines[i].text)[0]:
            # Names that no line makes (torch, float, ...) are there from the start.
            if name in made or not any(name in names for names in makers.values()):
                continue
            later = [j for j in chosen[place + 1 :] if name in makers[j]]
            where = f"it is made in line {numbers[later[0]]} only" if later else "no line above makes it"
            return i, f"{_named(puzzle, chosen, i)} uses `{name}`, and {where}."
        made |= set(makers[i])
    return None


def _made_for_nothing(puzzle: Puzzle, chosen: list[int]) -> dict[int, str]:
    """The first line whose names no line below it uses, with a sentence."""
    for place, i in enumerate(chosen):
        made = _names(puzzle.lines[i].text)[1]
        used = {name for j in chosen[place + 1 :] for name in _names(puzzle.lines[j].text)[0]}
        if made and not used & set(made):
            return {i: f"{_named(puzzle, chosen, i)} makes `{made[0]}`, and no line below uses it."}
    return {}


def _names(text: str) -> tuple[list[str], list[str]]:
    """The names that a piece uses and those that it makes, without what a comprehension keeps to itself."""
    tree = ast.parse("def piece():\n" + "\n".join(f"    {row}" for row in text.splitlines()))
    nodes = list(ast.walk(tree))
    own = {
        name.id
        for node in nodes
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    }
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id not in own]
    names.sort(key=lambda node: (node.lineno, node.col_offset))  # as one reads them
    loads = [node.id for node in names if isinstance(node.ctx, ast.Load)]
    return list(dict.fromkeys(loads)), [node.id for node in names if isinstance(node.ctx, ast.Store)]


def _never_reached(puzzle: Puzzle, chosen: list[int]) -> list[int]:
    """The lines below the first `return`."""
    ends = [place for place, i in enumerate(chosen) if puzzle.lines[i].text.startswith("return")]
    return chosen[ends[0] + 1 :] if ends else []
