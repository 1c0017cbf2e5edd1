"""A small JSON file in my_course/ that several notebooks change at once, and that nothing is lost from.

Each change is made in one step under a lock. What this version doesn't know stays as it is. A file that
can't be read is kept under another name. Where nothing can be written, changes wait in memory, and
`trouble()` says so in one sentence. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from mha_course.file_lock import file_lock
from mha_course.workspace import my_course_dir

LOCK = ".progress.lock"
PATIENCE_SECONDS = 5.0
LARGEST_BYTES = 20_000_000  # a whole course is some 100 kB; more than this was not written by it

Section = dict[str, object]
Record = dict[str, object]
Change = Callable[[Section], object]

_here = threading.RLock()  # for the threads of one kernel; the lock file is for other kernels
_waiting: dict[str, list[tuple[str, Change]]] = {}  # changes that could not be written, by file
_trouble: str | None = None


def change(file: str, section: str, update: Change) -> str | None:
    """Change one section of a file in my_course/: `update` gets its entries and changes them in place.

    Returns: None, or one sentence when the change is kept only until the notebook is closed. Then it is
    made again on the next occasion, so `update` must work on whatever it finds.
    """
    global _trouble
    with _here:
        waiting = _waiting.setdefault(file, [])
        waiting.append((section, update))
        try:
            folder = my_course_dir()
            with file_lock(folder / LOCK, PATIENCE_SECONDS):
                # Through a link, so that a file that lives elsewhere goes on living there.
                path = Path(os.path.realpath(folder / file))
                replace(path, serialised(_applied(waiting, _sound(path, waiting))))
            del _waiting[file]
            _trouble = None
        except TimeoutError:
            _trouble = _unwritten(file, "another notebook is writing there")
        except OSError as error:
            _trouble = _unwritten(file, error.strerror or type(error).__name__)
        except BaseException:
            # A change that fails by itself, or is interrupted, is not tried again at every later read.
            _waiting[file] = [step for step in waiting if step[1] is not update]
            raise
        return _trouble


def entries(file: str, section: str) -> Section:
    """The entries of one section, with what could not be written yet; none when there is no such section."""
    found = whole(file).get(section)
    return found if isinstance(found, dict) else {}


def whole(file: str) -> Record:
    """Every section of a file, those of later versions too, with what could not be written yet."""
    with _here:
        record: Record = {}
        with contextlib.suppress(OSError):
            record = _read(my_course_dir() / file) or {}
        steps = _waiting.get(file, [])
        return _applied(steps, record)


def unreadable(file: str) -> str | None:
    """One sentence when the file is there and can't be read, else None."""
    try:
        if _read(my_course_dir() / file) is not None:
            return None
        then = "With your next answer it is put aside under another name and a new one is begun."
        return f"my_course/{file} is damaged: what it held is not counted here. {then}"
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return f"my_course/{file} can't be read ({reason}): what it holds is not counted here."


def trouble() -> str | None:
    """One sentence when the last change could not be written to my_course/, else None."""
    return _trouble


def parsed(content: bytes) -> Record | None:
    """What a file of this kind holds, or None when it can't be read as one."""
    try:
        # A byte order mark is what some editors leave; lone surrogates are what a keyboard can send.
        record = json.loads(content.decode("utf-8-sig", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def serialised(record: Record) -> bytes:
    """A record as it stands in the file. Raises OSError when it is too large to be read again."""
    try:
        text = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    except RecursionError:
        raise OSError(None, "something in it is nested too deeply") from None
    content = text.encode("utf-8", "surrogatepass")
    if len(content) > LARGEST_BYTES:
        raise OSError(None, f"it would be larger than {LARGEST_BYTES // 1_000_000} MB")
    return content


def replace(path: Path, content: bytes) -> None:
    """Write a file in one step: a reader sees the old one or the new one, never half of it."""
    # The process's number keeps two writers apart where the file system has no locks.
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as handle:
            handle.write(content)
            handle.flush()
            # Else a power cut could leave the new name on an empty file.
            os.fsync(handle.fileno())
        for attempt in range(5):
            try:
                os.replace(part, path)
                return
            except PermissionError:
                # On Windows a file can't be replaced while another program reads it.
                if attempt == 4:
                    raise
                time.sleep(0.05)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def free_name(folder: Path, stem: str) -> Path:
    """A path in the folder that nothing has yet: stem.json, or stem-2.json and so on."""
    path, count = folder / f"{stem}.json", 2
    while os.path.lexists(path):
        path, count = folder / f"{stem}-{count}.json", count + 1
    return path


def _unwritten(file: str, reason: str) -> str:
    return f"This is kept only until the notebook is closed: my_course/{file} can't be written ({reason})."


def _applied(steps: list[tuple[str, Change]], record: Record) -> Record:
    """The record with changes made; a section that is no object makes room for one when it is changed."""
    for section, update in steps:
        found = record.get(section)
        if not isinstance(found, dict):
            found = record[section] = {}
        update(found)
    return record


def _read(path: Path) -> Record | None:
    """The record; empty when there is no file, None when it is broken."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            return None
        return parsed(path.read_bytes())
    except FileNotFoundError:
        return {}


def _sound(path: Path, steps: list[tuple[str, Change]]) -> Record:
    """The record, to be changed by these steps. What they would lose of it is kept under another name."""
    record = _read(path)
    if record is None:
        os.replace(path, _broken_name(path))
        return {}
    if any(not isinstance(record.get(section, {}), dict) for section, _ in steps):
        shutil.copyfile(path, _broken_name(path))
    return record


def _broken_name(path: Path) -> Path:
    return free_name(path.parent, f"{path.stem}.broken-{time.strftime('%Y-%m-%d-%H%M%S')}")
