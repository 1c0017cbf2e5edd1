"""What a call may do to things that others share (seeds, gradient mode, warnings, ...), and undoing it."""

from __future__ import annotations

import contextlib
import contextvars
import io
import random
import sys
import warnings
from collections.abc import Iterator

import numpy as np
import torch

# Whether seeds, warnings and stdout stay untouched: see `world_left_alone`.
_left_alone: contextvars.ContextVar[bool] = contextvars.ContextVar("left_alone", default=False)


def left_alone() -> bool:
    """Whether `run` saves and restores nothing here."""
    return _left_alone.get()


@contextlib.contextmanager
def world_left_alone() -> Iterator[None]:
    """Within it `run` saves and restores nothing that threads share, for functions known to touch none of it.

    A puzzle is judged on a widget's thread, while a cell may print and draw random numbers on its own.
    """
    token = _left_alone.set(True)
    try:
        yield
    finally:
        _left_alone.reset(token)


@contextlib.contextmanager
def world_saved_once() -> Iterator[None]:
    """Within it `run` saves and restores nothing: that is done once, for many calls of the course's own."""
    with world_as_before(), contextlib.redirect_stdout(io.StringIO()), world_left_alone():
        yield


@contextlib.contextmanager
def world_as_before() -> Iterator[None]:
    """Undo what a function may do to things that others share: seeds, gradient mode, default dtype."""
    python, numpy, gradients = random.getstate(), np.random.get_state(), torch.is_grad_enabled()
    dtype, limit = torch.get_default_dtype(), sys.getrecursionlimit()
    strict = torch.are_deterministic_algorithms_enabled()
    strict_warns = torch.is_deterministic_algorithms_warn_only_enabled()
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.set_grad_enabled(True)
        # `torch.empty` then holds NaN, and not the right numbers of an earlier call that lay there. The
        # public function for it loads a compiler, which takes seconds.
        torch._C._set_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch._C._set_deterministic_algorithms(strict, warn_only=strict_warns)
            torch.set_grad_enabled(gradients)
            torch.set_default_dtype(dtype)
            sys.setrecursionlimit(limit)
            random.setstate(python)
            np.random.set_state(numpy)
