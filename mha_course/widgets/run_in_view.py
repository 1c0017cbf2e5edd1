"""What widgets that show a training in a process of its own share: start, stop, wait, and follow a run."""

from __future__ import annotations

from functools import cache

from mha_course.training.live_run import AT_WORK, LiveRun
from mha_course.widgets.kernel_interrupt import InterruptWatch


class RunInView:
    """A widget's run, `self.run`, and the kernel's interrupt button, which stops it, too."""

    run: LiveRun

    def start(self) -> None:
        """Start, or go on where it stood; returns at once."""
        self.run.start()
        interrupts(self.run).listen()

    def stop(self) -> None:
        """Rest after the update under way; returns at once."""
        self.run.stop()

    def wait(self, timeout: float | None = None) -> str:
        """Wait for the end, or for a stop; returns "finished", "stopped", "new" or "failed"."""
        return self.run.wait(timeout)


@cache
def interrupts(run: LiveRun) -> InterruptWatch:
    """The watch that belongs to this run: one, however many widgets show it."""
    return InterruptWatch(lambda: run.state in AT_WORK, run.stop)
