"""How much memory a computation takes at its fullest moment, counted by PyTorch's own allocator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch.profiler import ProfilerActivity, profile


@torch.no_grad()
def peak_bytes(call: Callable[[], object]) -> int:
    """The most bytes that live at once among those that the call takes anew; what was there before is not
    counted. The result is let go when the call ends. No gradients are kept, as when a trained model is used.
    """
    call()  # kernels that take memory once for all do it here
    with _quiet(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
        call()
    events = [e for e in watched.profiler.kineto_results.events() if e.name() == "[memory]"]
    live = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        live += event.nbytes()
        most = max(most, live)
    return most


@contextmanager
def _quiet() -> Iterator[None]:
    """The profiler announces itself on the standard error stream, past Python; here it goes nowhere."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
