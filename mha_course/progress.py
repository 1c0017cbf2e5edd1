"""What the student has done: predictions and solved exercises, kept in my_course/.

Two JSON files, `progress.json` and `predictions.json`, written in one step under a lock, so that two
notebooks at once lose nothing. Where the folder can't be written, everything works until the notebook
is closed, and `trouble()` says so in one sentence. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO

from mha_course.workspace import my_course_dir

PROGRESS, PREDICTIONS, LOCK = "progress.json", "predictions.json", ".progress.lock"
PATIENCE_SECONDS = 5.0

Record = dict[str, dict[str, object]]

_here = threading.RLock()  # for the threads of one kernel; the lock file is for other kernels
_unwritten: dict[str, Record] = {}  # what could not be written, by file
_trouble: str | None = None


def save_prediction(key: str, text: str) -> str | None:
    """Keep what a student expects, under a key such as "03-shape-of-heads"; a later text replaces it.

    Returns: None, or one sentence when it is kept only until the notebook is closed.
    """
    return _put(PREDICTIONS, "predictions", key, text)


def load_prediction(key: str) -> str | None:
    """The text kept under the key, or None."""
    text = _entries(PREDICTIONS, "predictions").get(key)
    return text if isinstance(text, str) else None


def mark_solved(name: str) -> str | None:
    """Note that an exercise was solved; the first time counts. Returns as `save_prediction`."""
    return _put(PROGRESS, "solved", name, _now(), keep_first=True)


def solved() -> dict[str, str]:
    """Solved exercises, each with the time at which it was first solved."""
    return {name: str(when) for name, when in _entries(PROGRESS, "solved").items()}


def mark_attempted(name: str) -> str | None:
    """Note that an answer to an exercise was judged, right or wrong. Returns as `save_prediction`."""
    return _put(PROGRESS, "attempted", name, _now(), keep_first=True)


def attempted() -> dict[str, str]:
    """Exercises to which an answer was handed in, each with the time of the first one."""
    return {name: str(when) for name, when in _entries(PROGRESS, "attempted").items()}


def trouble() -> str | None:
    """One sentence when the last thing could not be written to my_course/, else None."""
    return _trouble


def _put(file: str, section: str, key: str, value: str, keep_first: bool = False) -> str | None:
    global _trouble
    if not isinstance(key, str) or not isinstance(value, str):
        raise ValueError(f"key and text are strings; got {key!r} and {value!r}.")
    with _here:
        if keep_first and key in _entries(file, section):
            return _trouble
        waiting = _unwritten.setdefault(file, {})
        waiting.setdefault(section, {})[key] = value
        try:
            folder = my_course_dir()
            with _locked(folder / LOCK):
                record = _read(folder / file, set_aside=True)
                for name, entries in waiting.items():
                    kept = record.setdefault(name, {})
                    kept.update({k: v for k, v in entries.items() if not (keep_first and k in kept)})
                _write(folder / file, record)
            _unwritten.pop(file)
            _trouble = None
        except OSError as error:
            reason = error.strerror or type(error).__name__
            kept = "This is kept only until the notebook is closed:"
            _trouble = f"{kept} my_course/{file} can't be written ({reason})."
        return _trouble


def _entries(file: str, section: str) -> dict[str, object]:
    with _here:
        record: Record = {}
        with contextlib.suppress(OSError):
            record = _read(my_course_dir() / file, set_aside=False)
        return {**record.get(section, {}), **_unwritten.get(file, {}).get(section, {})}


def _read(path: Path, set_aside: bool) -> Record:
    """The sections of a file; none when it is missing or broken. A broken one is kept under another name."""
    try:
        text = path.read_bytes().decode("utf-8", "surrogatepass")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        text = ""
    try:
        record = json.loads(text)
        if isinstance(record, dict) and all(isinstance(section, dict) for section in record.values()):
            return record
    except (ValueError, RecursionError):
        pass
    if set_aside:
        stem, count = f"{path.stem}.broken-{time.strftime('%Y-%m-%d-%H%M%S')}", 2
        beside = path.with_name(f"{stem}.json")
        while os.path.lexists(beside):
            beside, count = path.with_name(f"{stem}-{count}.json"), count + 1
        os.replace(path, beside)
    return {}


def _write(path: Path, record: Record) -> None:
    part = path.with_name(f".{path.name}.part")
    text = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    part.write_bytes(text.encode("utf-8", "surrogatepass"))
    for attempt in range(5):
        try:
            os.replace(part, path)
            return
        except PermissionError:
            # On Windows a file can't be replaced while another program reads it.
            if attempt == 4:
                raise
            time.sleep(0.05)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that the operating system frees when its holder dies; gives up waiting after 5 seconds."""
    with open(path, "a+b") as handle:
        until = time.monotonic() + PATIENCE_SECONDS
        while not _taken(handle):
            if time.monotonic() > until:
                raise OSError(None, "another notebook is writing there")
            time.sleep(0.01)
        try:
            yield
        finally:
            _freed(handle)


def _taken(handle: IO[bytes]) -> bool:
    if os.name == "nt":
        import msvcrt

        try:
            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
            return True
        except OSError:
            return False
    import fcntl

    try:
        fcntl.flock(handle.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True  # a network disk without locks: go on, replacing the file is still one step


def _freed(handle: IO[bytes]) -> None:
    if os.name == "nt":
        import msvcrt

        with contextlib.suppress(OSError):
            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
