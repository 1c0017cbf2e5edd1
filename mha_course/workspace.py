"""The student's working copies in my_course/: made, brought up to date, reset, and never lost.

notebooks/ stays as it was published. The student works in copies. A small record beside them
(`.pristine.json`) keeps which version each copy was made from, so that an update can tell a copy
that was only run from one that was changed. Standard library only: start.py uses it before
anything is installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

HOME_VARIABLE = "MHA_COURSE_HOME"
RECORD_NAME = ".pristine.json"


def project_root() -> Path:
    """Folder that holds notebooks/, data/ and this package."""
    return Path(__file__).resolve().parent.parent


def my_course_dir() -> Path:
    """Folder of the student's own work, made when it is missing.

    It is my_course/ beside the package, or the folder that the environment variable
    MHA_COURSE_HOME names. Raises OSError when it can't be made.
    """
    chosen = os.environ.get(HOME_VARIABLE, "").strip()
    try:
        home = Path(chosen).expanduser().absolute() if chosen else project_root() / "my_course"
    except RuntimeError as error:
        raise OSError(None, f"{HOME_VARIABLE} is {chosen!r}, and there is no such home folder") from error
    home.mkdir(parents=True, exist_ok=True)
    return home


@dataclass(frozen=True)
class Change:
    """What happened to one lesson.

    `what` is copied, updated, removed, offered, reset, unreadable or failed; `beside` names the file
    that now lies beside the lesson, `reason` says why it failed.
    """

    lesson: str
    what: str
    beside: str | None = None
    reason: str = ""

    def sentence(self) -> str:
        """What to tell the student."""
        number = self.lesson.split("_")[0]
        return {
            "copied": f"{self.lesson}: ready.",
            "updated": f"{self.lesson}: replaced by the new version (yours had no changes).",
            "removed": f"{self.lesson}: removed, it has a new name (yours had no changes).",
            "offered": f"{self.lesson}: yours is kept. The new version lies beside it: {self.beside}.",
            "reset": f"{self.lesson}: fresh again."
            + (f" Your version lies beside it: {self.beside}." if self.beside else ""),
            "unreadable": f"{self.lesson}: your copy can't be read as a notebook. "
            f"`python start.py reset {number}` gives you a fresh one and keeps yours beside it.",
            "failed": f"{self.lesson}: left as it was, because of this: {self.reason}.",
        }[self.what]


def content_hash(path: Path) -> str | None:
    """Fingerprint of what a person wrote in a notebook, or None when it can't be read as one.

    Cell kinds, sources and attachments count. Outputs, execution counts, metadata, ids and empty
    cells don't: running a notebook changes those (Shift+Enter in the last cell adds an empty one).
    """
    try:
        notebook = json.loads(path.read_bytes().decode("utf-8"))
        parts = []
        for cell in notebook["cells"]:
            source = cell["source"]
            text = source if isinstance(source, str) else "".join(source)
            attachments = cell.get("attachments") or {}
            if text.strip() or attachments:
                parts.append([cell["cell_type"], text.rstrip(), attachments])
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


@dataclass
class Workspace:
    """The pristine lessons, the student's copies and the record that links them."""

    notebooks: Path
    home: Path
    clock: time.struct_time | None = None  # fixed in tests; None is now
    _record: dict[str, dict[str, str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._record = self._read_record()

    def lessons(self) -> list[Path]:
        """The pristine notebooks in the order they are read."""
        return sorted(path for path in self.notebooks.glob("*.ipynb") if not path.name.startswith("."))

    def refresh(self) -> list[Change]:
        """Copy what is missing, update what was not changed; returns what happened (nothing: left out).

        A changed copy is never touched: a new version is put beside it, once.
        """
        changes = [
            change for lesson in self.lessons() if (change := self._guarded(self._refresh_one, lesson))
        ]
        changes += self._remove_renamed()
        self._write_record()
        return changes

    def reset(self, numbers: Iterable[str]) -> list[Change]:
        """Give fresh copies of the lessons numbered so ("03", "3" or "all").

        A copy that was changed is moved beside with the date in its name. Raises ValueError when
        there is no such lesson; nothing is done then.
        """
        chosen: dict[Path, None] = {}
        for number in numbers:
            found = [path for path in self.lessons() if _is_called(path, number)]
            if not found:
                known = ", ".join(path.stem.split("_")[0] for path in self.lessons()) or "none"
                raise ValueError(f"There is no lesson {number!r}. The lessons are: {known}.")
            chosen.update(dict.fromkeys(found))
        changes = [change for lesson in chosen if (change := self._guarded(self._reset_one, lesson))]
        self._write_record()
        return changes

    # One lesson at a time

    def _guarded(self, action, lesson: Path) -> Change | None:
        try:
            return action(lesson)
        except OSError as error:
            # One locked or write-protected file must not keep the others from being brought up to date.
            return Change(lesson.name, "failed", reason=error.strerror or str(error))

    def _refresh_one(self, lesson: Path) -> Change | None:
        copy, newest = self.home / lesson.name, content_hash(lesson)
        known = self._record.setdefault(lesson.name, {})
        if not os.path.lexists(copy):
            self._put(lesson, copy)
            known.update(copied=newest or "")
            return Change(lesson.name, "copied")
        mine = content_hash(copy)
        if mine == newest and mine is not None:
            known.update(copied=newest)
            return None
        if mine is not None and mine == known.get("copied"):
            self._put(lesson, copy)
            known.update(copied=newest or "")
            return Change(lesson.name, "updated")
        if newest in (known.get("copied"), known.get("offered")):
            return Change(lesson.name, "unreadable") if mine is None else None
        return self._offer(lesson, newest or "", known)

    def _offer(self, lesson: Path, newest: str, known: dict[str, str]) -> Change:
        beside = self.home / f"{lesson.stem}.new-version.ipynb"
        if os.path.lexists(beside) and content_hash(beside) not in (known.get("offered"), newest):
            # The student has worked in the last version that was put beside: that is theirs too.
            beside = self._free_name(f"{lesson.stem}.new-version-{self._date()}")
        self._put(lesson, beside)
        known.update(offered=newest)
        return Change(lesson.name, "offered", beside.name)

    def _reset_one(self, lesson: Path) -> Change:
        copy, newest = self.home / lesson.name, content_hash(lesson)
        beside = None
        if os.path.lexists(copy):
            mine = content_hash(copy)
            known = self._record.get(lesson.name, {}).get("copied")
            if mine is None or mine not in (newest, known):
                beside = self._free_name(f"{lesson.stem}.mine-{self._date()}")
                os.rename(copy, beside)
        self._put(lesson, copy)
        self._record[lesson.name] = {"copied": newest or ""}
        return Change(lesson.name, "reset", beside.name if beside else None)

    def _remove_renamed(self) -> list[Change]:
        """Take away unchanged copies whose lesson now has another name, so that no number is there twice."""
        names = {path.name for path in self.lessons()}
        numbers = {name.split("_")[0] for name in names}
        gone = []
        for name in [name for name in self._record if name not in names]:
            copy = self.home / name
            mine = content_hash(copy)
            renamed = name.split("_")[0] in numbers
            if renamed and mine is not None and mine == self._record[name].get("copied"):
                try:
                    copy.unlink()
                except OSError:
                    continue
                gone.append(Change(name, "removed"))
            if not os.path.lexists(copy):
                del self._record[name]
        return gone

    # Files

    def _put(self, lesson: Path, target: Path) -> None:
        """Write a copy in one step: an interrupted start never leaves half a file."""
        if target.is_dir() and not target.is_symlink():
            raise IsADirectoryError(21, "a folder has the lesson's name", str(target))
        part = target.with_name(f".{target.name}.part")
        part.write_bytes(lesson.read_bytes())
        os.replace(part, target)

    def _free_name(self, stem: str) -> Path:
        path, count = self.home / f"{stem}.ipynb", 2
        while os.path.lexists(path):
            path, count = self.home / f"{stem}-{count}.ipynb", count + 1
        return path

    def _date(self) -> str:
        return time.strftime("%Y-%m-%d-%H%M", time.localtime() if self.clock is None else self.clock)

    def _read_record(self) -> dict[str, dict[str, str]]:
        """The record; empty when missing or damaged, and then every copy that differs counts as changed."""
        try:
            lessons = json.loads((self.home / RECORD_NAME).read_text(encoding="utf-8"))["lessons"]
            return {str(name): {str(k): str(v) for k, v in entry.items()} for name, entry in lessons.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}

    def _write_record(self) -> None:
        part = self.home / f"{RECORD_NAME}.part"
        text = json.dumps({"format": 1, "lessons": self._record}, indent=1, sort_keys=True)
        part.write_text(text + "\n", encoding="utf-8")
        os.replace(part, self.home / RECORD_NAME)


def _is_called(lesson: Path, number: str) -> bool:
    if number == "all":
        return True
    wanted = number.removesuffix(".ipynb")
    if wanted.isascii() and wanted.isdigit():
        wanted = wanted.zfill(2)
    return wanted in (lesson.stem.split("_")[0], lesson.stem)


def open_workspace(root: Path | None = None) -> Workspace:
    """The workspace of this checkout; raises OSError when the student's folder can't be made."""
    return Workspace((root or project_root()) / "notebooks", my_course_dir())
