"""Speaking to the person at the terminal: sentences, and a line that shows that work goes on."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO


class Problem(Exception):
    """Something the student can act on. Its text is the one sentence that is shown; the exit code is 1."""


def prepare_streams() -> None:
    """Let printing never crash: a console that lacks a character shows an escape in its place."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """Print a line at once; a reader that has gone away (`| head`) is no reason to stop."""
    try:
        print(text, flush=True)
    except (BrokenPipeError, ValueError):
        pass


class LiveLine:
    """One line that tells what is being done and for how long.

    On a terminal it is redrawn twice a second. Elsewhere (a log, a pipe) every stage is a plain line,
    and a sign of life follows every `quiet` seconds.
    """

    def __init__(self, stream: TextIO | None = None, quiet: float = 20.0) -> None:
        self._stream = stream or sys.stdout
        self._tty = self._stream.isatty()
        self._quiet = quiet
        self._begun = time.monotonic()
        self._said = self._begun
        self._stage = ""
        self._progress: Callable[[], str] | None = None
        self._width = 0
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._keep_alive, daemon=True)

    def __enter__(self) -> LiveLine:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(timeout=2)
        with self._lock:
            if self._tty and self._width:
                self._write("\r" + " " * self._width + "\r")

    def elapsed(self) -> float:
        """Seconds since the line was made."""
        return time.monotonic() - self._begun

    def stage(self, text: str, progress: Callable[[], str] | None = None, brief: bool = False) -> None:
        """A new thing is being done; `progress` is asked at each redraw how far it is.

        A `brief` one gets no line of its own in a log.
        """
        with self._lock:
            if text == self._stage:
                return
            self._stage, self._progress = text, progress
            if not self._tty and not brief:
                self._plain(how_far="")
        if self._tty:
            self._draw()

    def note(self, text: str) -> None:
        """A sentence that stays, above the live line."""
        with self._lock:
            blank = "\r" + " " * self._width + "\r" if self._tty else ""
            self._write(f"{blank}  {text}\n")
            self._width = 0

    def _keep_alive(self) -> None:
        while not self._end.wait(0.5):
            if self._tty:
                self._draw()
            elif time.monotonic() - self._said >= self._quiet:
                with self._lock:
                    self._plain(self._how_far())

    def _how_far(self) -> str:
        return self._progress() if self._progress else ""

    def _text(self, how_far: str) -> str:
        return f"  [{self.elapsed():4.0f} s] {self._stage}" + (f" ({how_far})" if how_far else "")

    def _plain(self, how_far: str) -> None:
        self._said = time.monotonic()
        self._write(self._text(how_far) + "\n")

    def _draw(self) -> None:
        with self._lock:
            text = self._text(self._how_far())[: _columns(self._stream) - 1]
            self._write("\r" + text + " " * max(0, self._width - len(text)))
            self._width = len(text)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            pass


def _columns(stream: TextIO) -> int:
    try:
        return max(20, os.get_terminal_size(stream.fileno()).columns)
    except (OSError, ValueError):
        return 80
