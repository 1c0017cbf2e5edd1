"""hint, solution and catalogue: collapsed in the notebook, plain in a terminal, never an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mha_course import progress
from mha_course.exercises.checking import unknown_name
from mha_course.exercises.panel import code, marked, panel, paragraph
from mha_course.exercises.registry import EXERCISES, find

LEVELS = ("Nudge", "Pointer", "Steps in words")


@dataclass(frozen=True)
class Note:
    """Something to read: HTML for a notebook, text for everything else."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def hint(name: str, level: int = 1) -> Note:
    """Three hints, each stronger than the one before, collapsed until they are clicked.

    level: how many of them plain text shows (1 to 3). An unknown name gives a sentence, not an error.
    """
    exercise = find(name)
    if exercise is None:
        return _unknown(name)
    blocks = "".join(
        f"<details><summary>{i} · {title}</summary>{_steps(text) if i == 3 else paragraph(text)}</details>"
        for i, (title, text) in enumerate(zip(LEVELS, exercise.hints, strict=True), 1)
    )
    head = paragraph(f"Hints for `{exercise.name}`", "title")
    level = min(max(level, 1), 3) if isinstance(level, int) else 1
    shown = [f"{i} · {LEVELS[i - 1]}: {exercise.hints[i - 1]}" for i in range(1, level + 1)]
    if level < 3:
        shown.append(f'More: hint("{exercise.name}", {level + 1})')
    text = "\n".join([f"Hints for {exercise.name}", *shown]).replace("`", "")
    return Note(panel(head + blocks, label=f"Hints for {exercise.name}"), text)


def solution(name: str) -> Note:
    """One way to write it, collapsed, with a sentence on why it works. An unknown name gives a sentence."""
    exercise = find(name)
    if exercise is None:
        return _unknown(name)
    source = exercise.source()
    tried = exercise.name in progress.attempted()
    head = paragraph(f"One way to write `{exercise.name}`", "title")
    first = (
        ""
        if tried
        else paragraph("You haven't checked an answer of yours yet. A wrong one teaches more.", "note")
    )
    block = f"<details><summary>Show it</summary>{code(source)}{paragraph(exercise.why)}</details>"
    text = f"One way to write {exercise.name}:\n\n{source}\n\n{exercise.why.replace('`', '')}"
    return Note(panel(head + first + block, label=f"Solution of {exercise.name}"), text)


def catalogue() -> Note:
    """Every exercise with its lesson, its title, and a mark when it is solved."""
    done = progress.solved()
    rows = [(e.lesson, e.name, e.title, e.name in done) for e in EXERCISES.values()]
    count = f"{sum(row[3] for row in rows)} of {len(rows)} solved"
    body = "".join(
        f""
        f""
        f"<tr><td>{lesson}</td><td>{marked(f'`{name}`')}</td><td>{marked(title)}</td><td>{_mark(ok)}</td></tr>"
        for lesson, name, title, ok in rows
    )
    table = (
        '<table><thead><tr><th scope="col">Lesson</th><th scope="col">Exercise</th><th scope="col">What</th>'
        f'<th scope="col">Solved</th></tr></thead><tbody>{body}</tbody></table>'
    )
    widest = max(len(row[1]) for row in rows)
    lines = [f"{lesson}  {'✓' if ok else '·'}  {name:<{widest}}  {title}" for lesson, name, title, ok in rows]
    html = panel(paragraph(f"Exercises: {count}", "title") + table, label="Exercises")
    return Note(html, "\n".join([f"Exercises: {count}", *lines]))


def _mark(ok: bool) -> str:
    return '<span class="mhx-done">✓ solved</span>' if ok else '<span class="mhx-note">not yet</span>'


def _steps(text: str) -> str:
    return f"<pre>{marked(text).replace('<br>', chr(10))}</pre>"


def _unknown(name: Any) -> Note:
    sentence = unknown_name(name)
    title = paragraph("⚠ No such exercise", "title")
    return Note(panel(title + paragraph(sentence), "warn"), sentence.replace("`", ""))
