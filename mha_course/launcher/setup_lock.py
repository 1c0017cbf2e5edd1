"""One set-up at a time in one folder: a lock that the operating system frees when its holder dies."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mha_course.launcher.messages import say


@contextlib.contextmanager
def setup_lock(path: Path) -> Iterator[int | None]:
    """Hold the lock; waits, and says so once, while another start holds it.

    Yields the file's descriptor, to be handed on to the installer: when a start is killed and its
    installer lives on, the lock lives on with it, so that two installers never work in one folder.
    Yields None where the file system knows no locks.
    """
    with open(path, "a+b") as handle:
        told = False
        while True:
            answer = _try(handle)
            if answer is not False:
                break
            if not told:
                say("Another start is setting up this folder. Waiting for it (Ctrl-C stops waiting) ...")
                told = True
            time.sleep(0.3)
        try:
            yield handle.fileno() if answer else None
        finally:
            if answer:
                _release(handle)


def handed_on(lock: int | None) -> dict[str, tuple[int, ...]]:
    """Arguments for subprocess that let a child hold the lock too; on Windows a child can't."""
    return {} if lock is None or os.name == "nt" else {"pass_fds": (lock,)}


def _try(handle: IO[bytes]) -> bool | None:
    """True: taken. False: another holds it. None: there are no locks here (some network disks)."""
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
        return None


def _release(handle: IO[bytes]) -> None:
    with contextlib.suppress(OSError):
        if os.name == "nt":
            import msvcrt

            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)
        # On POSIX closing the file frees it, unless an installer still holds the same lock.
