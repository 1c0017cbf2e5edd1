"""One set-up at a time in one folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from mha_course.file_lock import file_lock
from mha_course.launcher.messages import say


@contextlib.contextmanager
def setup_lock(path: Path) -> Iterator[int | None]:
    """Hold the lock; waits, and says so once, while another start holds it.

    Yields the file's descriptor, to be handed on to the installer: when a start is killed and its
    installer lives on, the lock lives on with it, so that two installers never work in one folder.
    Yields None where the file system knows no locks.
    """
    with file_lock(path, pause=0.3, when_taken=_say_that_we_wait) as descriptor:
        yield descriptor


def handed_on(lock: int | None) -> dict[str, tuple[int, ...]]:
    """Arguments for subprocess that let a child hold the lock too; on Windows a child can't."""
    return {} if lock is None or os.name == "nt" else {"pass_fds": (lock,)}


def _say_that_we_wait() -> None:
    say("Another start is setting up this folder. Waiting for it (Ctrl-C stops waiting) ...")
