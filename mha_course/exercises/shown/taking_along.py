"""export_progress and import_progress: one file that goes to another machine, or into a safe place."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mha_course import progress_transfer
from mha_course.exercises.shown.note import Note
from mha_course.exercises.shown.panel import panel, paragraph
from mha_course.progress_transfer import Merged
from mha_course.record_file import free_name
from mha_course.workspace import my_course_dir

_NAMES = {
    "solved": ("exercise or puzzle solved", "exercises and puzzles solved"),
    "answers": ("question answered", "questions answered"),
    "predictions": ("prediction", "predictions"),
    "attempted": ("exercise tried", "exercises tried"),
    "cards": ("interview card marked", "interview cards marked"),
    "bugs": ("bug found", "bugs found"),
    "clock": ("run against the clock", "runs against the clock"),
}


@dataclass(frozen=True, repr=False)
class Exported(Note):
    """What is said about an export; path: the file that was written, None when there is none."""

    path: Path | None = None


def export_progress(path: str | os.PathLike[str] | None = None) -> Exported:
    """Write everything you did (predictions, answers, attempts, solved exercises) to one JSON file.

    path: the file, or a folder for it; left out, a file in my_course/ with the date in its name. A file
    that is there already stays, and the new one gets a number. Says where it is, or why it could not be
    written. Never raises.
    """
    try:
        target = my_course_dir() if path is None else Path(path).expanduser()
        if target.is_dir():
            target = free_name(target, f"my-progress-{time.strftime('%Y-%m-%d')}")
        elif os.path.lexists(target):
            target = free_name(target.parent, target.stem)
        progress_transfer.write(target)
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
        refused = _refused("Nothing was written", f"{path or 'my_course/'} can't be written: {reason}.")
        return Exported(refused.html, refused.text)
    counts = {name: len(kept) for name, kept in progress_transfer.known().items()}
    lines = [
        f"It holds {_listed(counts) or 'nothing yet'}.",
        f'On another machine, with the file beside the lessons: `import_progress("{target.name}")`.',
    ]
    if path is None:
        lines.insert(1, "JupyterLab shows it in the file list at the left: right click, Download.")
    note = _note(f"Your progress is in {target}", lines)
    return Exported(note.html, note.text, target)


def import_progress(path: str | os.PathLike[str]) -> Note:
    """Add the progress of an exported file to what is remembered here; nothing that is here is lost.

    path: the file; a bare name is looked for beside the notebook and in my_course/. Says what was added, or
    why the file can't be used. Never raises.
    """
    try:
        merged = progress_transfer.merge(_found(path))
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        return _refused("Nothing was changed", f"The file can't be used: {_reason(error)}.")
    gained = _listed(merged.gained)
    lines = [f"New here: {gained}." if gained else "Everything in it was here already."]
    return _note(f"Your progress was added from {os.fspath(path)}", lines + _remarks(merged))


def _found(path: str | os.PathLike[str]) -> Path:
    given = Path(path).expanduser()
    if given.exists():
        return given
    beside = my_course_dir() / given
    return beside if beside.exists() else given


def _remarks(merged: Merged) -> list[str]:
    remarks = []
    if merged.newer:
        remarks.append("A later version of the course wrote the file; what is unknown here was kept, too.")
    if merged.unusable:
        what = "entry looks" if merged.unusable == 1 else "entries look"
        remarks.append(f"{merged.unusable} {what} unlike anything the course writes, and was left out.")
    return [*remarks, merged.trouble] if merged.trouble else remarks


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {words[n != 1]}" for name, words in _NAMES.items() if (n := counts.get(name, 0)))


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror or type(error).__name__}{where}"
    return str(error) or type(error).__name__


def _note(title: str, lines: list[str], kind: str = "") -> Note:
    body = paragraph(title, "title") + "".join(paragraph(line) for line in lines)
    text = "\n".join([f"{title}.", *lines]).replace("`", "")
    return Note(panel(body, kind, label="Progress"), text)


def _refused(title: str, sentence: str) -> Note:
    return _note(f"⚠ {title}", [sentence], "warn")
