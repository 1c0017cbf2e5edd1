"""Kernel → Interrupt for work that goes on in the background.

A kernel that runs no cell ignores the interrupt, so nobody would hear it. While such work goes on, this file
listens: between cells by a signal handler of its own, during cells by looking at how each one ended.
"""

from __future__ import annotations

import signal
from collections.abc import Callable

from IPython import get_ipython

_LISTEN_EVERY = 0.25  # seconds


class InterruptWatch:
    """Calls `stop` on Kernel → Interrupt as long as `at_work()` is true. Does nothing outside a notebook."""

    def __init__(self, at_work: Callable[[], bool], stop: Callable[[], None]) -> None:
        self._at_work, self._stop = at_work, stop
        self._shell = get_ipython()
        self._loop = getattr(getattr(self._shell, "kernel", None), "io_loop", None)
        self._listening = False
        if self._loop is not None:
            self._shell.events.register("post_run_cell", self._after_cell)

    def listen(self) -> None:
        """Begin to listen; from any thread. It ends by itself when the work does."""
        if self._loop is not None:
            self._loop.add_callback(self._begin)

    def _begin(self) -> None:
        if not self._listening:
            self._listening = True
            self._look()

    def _look(self) -> None:
        """Runs between two cells, on the main thread, which alone may set signal handlers."""
        now = signal.getsignal(signal.SIGINT)
        if not self._at_work():
            self._listening = False
            if now == self._on_signal:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            return
        # While a cell runs (one with `await` lets others in) the handler is the cell's, and stays.
        if now is signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._on_signal)
        self._loop.call_later(_LISTEN_EVERY, self._look)

    def _on_signal(self, number: int, frame: object) -> None:
        self._stop()

    def _after_cell(self, result: object) -> None:
        if isinstance(getattr(result, "error_in_exec", None), KeyboardInterrupt) and self._at_work():
            self._stop()
