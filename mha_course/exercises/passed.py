"""Who is told when an exercise is passed: a clock, say, that ticks off a stage the moment it is solved."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable
from types import MethodType

Listener = Callable[[str], object]

_lock = threading.Lock()
_listeners: list[weakref.ref[Listener]] = []


def on_pass(callback: Listener) -> Callable[[], None]:
    """Have callback(name) called after every pass from now on; returns a function that ends it.

    The callback is held weakly, a bound method by its object: a widget that is gone is told nothing more. So
    a lambda that nobody else keeps is gone at once. The same callback twice is called once, on the thread on
    which `check` runs.

    Raises: TypeError for what can't be called.
    """
    if not callable(callback):
        raise TypeError(f"on_pass needs a function that takes the exercise's name, not {callback!r}.")
    kept = _weakly(callback)
    with _lock:
        _listeners[:] = [known for known in _listeners if known() is not None]
        if kept not in _listeners:
            _listeners.append(kept)

    def end() -> None:
        with _lock, contextlib.suppress(ValueError):
            _listeners.remove(kept)

    return end


def passed(name: str) -> None:
    """Tell everyone who listens that the exercise `name` was passed, in the order in which they came.

    Whatever one of them raises reaches neither `check` nor the others; KeyboardInterrupt gets through.
    """
    with _lock:
        told = list(_listeners)
    for listener in told:  # outside of the lock: a callback may listen, or stop listening, on its own
        callback = listener()
        if callback is not None:
            try:
                callback(name)
            except KeyboardInterrupt:
                raise
            except BaseException:
                continue


def _weakly(callback: Listener) -> weakref.ref[Listener]:
    # A bound method is a new object each time it is asked for; a plain reference to it is dead at once.
    return weakref.WeakMethod(callback) if isinstance(callback, MethodType) else weakref.ref(callback)
