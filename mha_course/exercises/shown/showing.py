"""hint, solution and catalogue: collapsed in the notebook, plain in a terminal, never an error."""

from __future__ import annotations

from typing import Any

from mha_course import progress
from mha_course.exercises.checking import unknown_name
from mha_course.exercises.registry import EXERCISES, find
from mha_course.exercises.shown.note import Note
from mha_course.exercises.shown.panel import code, marked, panel, paragraph
from mha_course.exercises.shown.solution_source import runnable_source

LEVELS = ("Nudge", "Pointer", "Steps in words")
_UNTRIED = "You haven't checked an answer of yours yet. A wrong one teaches more than a right one read."


def hint(name: str, level: int | None = None) -> Note:
    """Three hints, each stronger than the one before, collapsed until they are clicked.

    level: how many of them are open from the start (1 to 3); left out, a notebook opens none and plain
    text shows the first. An unknown name gives a sentence, not an error.
    """
    exercise = find(name)
    if exercise is None:
        return _unknown(name)
    wanted = min(max(level, 1), len(LEVELS)) if isinstance(level, int) else 0
    blocks = "".join(
        f"<details{' open' if i <= wanted else ''}><summary>{i} · {title}</summary>"
        f"{_steps(text) if i == len(LEVELS) else paragraph(text)}</details>"
        for i, (title, text) in enumerate(zip(LEVELS, exercise.hints, strict=True), 1)
    )
    head = paragraph(f"Hints for `{exercise.name}`", "title")
    shown = max(wanted, 1)
    lines = [f"{i} · {LEVELS[i - 1]}: {exercise.hints[i - 1]}" for i in range(1, shown + 1)]
    if shown < len(LEVELS):
        lines.append(f'More: hint("{exercise.name}", {shown + 1})')
    text = "\n".join([f"Hints for {exercise.name}", *lines]).replace("`", "")
    return Note(panel(head + blocks, label=f"Hints for {exercise.name}"), text)


def solution(name: str, insist: bool = False) -> Note:
    """One way to write it, commented, collapsed, with a sentence on why it works; after a first attempt.

    insist: show it before an answer was checked, too. An unknown name gives a sentence, not an error.
    """
    exercise = find(name)
    if exercise is None:
        return _unknown(name)
    tried = exercise.name in {**progress.attempted(), **progress.solved()}
    if not tried and not insist:
        return _closed(exercise.name)
    source = runnable_source(exercise)
    head = paragraph(f"One way to write `{exercise.name}`", "title")
    first = "" if tried else paragraph(_UNTRIED, "note")
    block = f"<details><summary>Show it</summary>{code(source)}{paragraph(exercise.why)}</details>"
    text = f"One way to write {exercise.name}:\n\n{source}\n\n{exercise.why.replace('`', '')}"
    return Note(panel(head + first + block, label=f"Solution of {exercise.name}"), text)


def _closed(name: str) -> Note:
    """What is said in place of a solution before an answer was checked."""
    title = f"The solution of `{name}` opens after your first attempt"
    lines = [
        f'{_UNTRIED} Write what you have, however unfinished, and run `check("{name}", {name})`.',
        f'Stuck at the start? `hint("{name}")` helps. '
        f'To see the solution all the same: `solution("{name}", insist=True)`.',
    ]
    body = paragraph(title, "title") + "".join(paragraph(line) for line in lines)
    text = "\n".join([f"{title}.", *lines]).replace("`", "")
    return Note(panel(body, "open", f"Solution of {name}"), text)


def catalogue() -> Note:
    """Every exercise with its lesson, its title, and a mark when it is solved."""
    done = progress.solved()
    rows = [(e.lesson, e.name, e.title, e.name in done) for e in EXERCISES.values()]
    count = f"{sum(row[3] for row in rows)} of {len(rows)} solved"
    body = "".join(
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
