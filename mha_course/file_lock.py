"""One holder at a time, across programs: a lock that the operating system frees when its holder dies."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def file_lock(
    path: Path,
    patience: float = math.inf,
    pause: float = 0.01,
    when_taken: Callable[[], None] | None = None,
) -> Iterator[int | None]:
    """Hold the lock of a file, which is made when it is missing and stays afterwards.

    patience: how long to wait for another holder, in seconds; pause: how long between two looks;
    when_taken: called once, as soon as it turns out that another one holds it.
    Yields the file's descriptor: a child process that gets it holds the lock too, until both are gone
    (not on Windows). Yields None where the file system knows no locks (some network disks).
    Raises TimeoutError when patience runs out, OSError when the file can't be opened.
    """
    with open(path, "a+b") as handle:
        until = time.monotonic() + patience
        told = False
        while (answer := _try(handle)) is False:
            if when_taken is not None and not told:
                when_taken()
            told = True
            if time.monotonic() > until:
                raise TimeoutError(None, "another program holds the lock", str(path))
            time.sleep(pause)
        try:
            yield handle.fileno() if answer else None
        finally:
            if answer:
                _release(handle)


def _try(handle: IO[bytes]) -> bool | None:
    """True: taken. False: another holds it. None: there are no locks here."""
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
        # On POSIX closing the file frees it, unless a child still holds the same lock.
