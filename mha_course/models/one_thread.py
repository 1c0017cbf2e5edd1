"""Small models on one thread: on a busy machine their threads wait for each other most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use a single thread inside the `with` block, and as many as before after it.

    For matrices of a few dozen rows: splitting such a task costs more than the task, and where other
    programs keep the processor busy the threads wait for each other, up to a hundred times longer.
    The earlier number of threads comes back after an error, too.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
