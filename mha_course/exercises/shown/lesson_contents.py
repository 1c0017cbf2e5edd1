"""What each lesson holds, read from the lessons themselves: title, predictions, questions, puzzles."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from mha_course.workspace import project_root

_TITLE = re.compile(r"^# +(?:\d+ *· *)?(.+?)\s*$", re.MULTILINE)
# A call as the lessons write it: widgets.predict("03-shape", ...), over one line or several.
_CALL = re.compile(r"""\bwidgets\.(predict|ask|parsons)\(\s*(["'])(.+?)\2""")


@dataclass(frozen=True)
class LessonContents:
    """One lesson: its number ("03"), title and file name, and the keys of what it asks, in order."""

    number: str
    title: str
    file: str
    predictions: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    puzzles: tuple[str, ...] = ()


def lessons(folder: Path | None = None) -> list[LessonContents]:
    """Every lesson in the order in which they are read; an unreadable one is there with its name only.

    folder: where the notebooks lie; the course's own when left out.
    """
    paths = (folder or project_root() / "notebooks").glob("[0-9]*_*.ipynb")
    return [_contents(path) for path in sorted(paths, key=lambda path: path.name)]


def _contents(path: Path) -> LessonContents:
    number, _, rest = path.stem.partition("_")
    titles: list[str] = []
    keys: dict[str, list[str]] = {"predict": [], "ask": [], "parsons": []}
    try:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                for kind, _, key in _CALL.findall(source):
                    keys[kind].append(key)
            elif cell["cell_type"] == "markdown":
                titles += _TITLE.findall(source)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    title = titles[0] if titles else rest.replace("_", " ").capitalize()
    asked = {kind: tuple(dict.fromkeys(found)) for kind, found in keys.items()}
    return LessonContents(number, title, path.name, asked["predict"], asked["ask"], asked["parsons"])
