"""The process in which live training runs: orders come in on stdin, reports go out on stdout.

A process of its own, so that a busy notebook can't slow it down, an interrupt doesn't hit it half-way through
an update, and its threads and random numbers are its own. Lines of JSON in both directions; a report with
"weights": n is followed by n bytes of safetensors. It ends when stdin is closed.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import BinaryIO, Protocol

import torch
from safetensors.torch import save

from mha_course.models.gloss_model import GlossModel
from mha_course.training.live import LiveSettings, LiveTrainer

REPORT_EVERY = 10  # updates

GO, REST = "go", "rest"


class Orders:
    """What the notebook wants, read by a thread of its own: to go on, to rest, or to end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._news = threading.Condition()
        self.going, self.ended = True, False
        self.goes = 0  # orders to go on so far
        threading.Thread(target=self._read, daemon=True).start()

    def wait(self, goes: int) -> None:
        """Until it was told to go on more often than `goes` times.

        Counted, since the next order to rest may come before anybody waits: then there is one more update,
        after which the rest is reported again."""
        with self._news:
            self._news.wait_for(lambda: self.goes > goes or self.ended)

    def _read(self) -> None:
        for line in self._stream:
            order = line.strip().decode()
            with self._news:
                self.goes += order == GO
                self.going = order == GO
                self._news.notify_all()
        with self._news:
            self.going = self.ended = True
            self._news.notify_all()


class Stopwatch:
    """Seconds while it runs, without those in which it stands still."""

    def __init__(self) -> None:
        self._before, self._since = 0.0, time.monotonic()

    def rest(self) -> None:
        """Stand still until `go`."""
        self._before, self._since = self.seconds, None

    def go(self) -> None:
        """Run on."""
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        return self._before + (0.0 if self._since is None else time.monotonic() - self._since)


class Trainer(Protocol):
    """What this process can run: reports one after the other, and the model that is being trained."""

    model: GlossModel | None

    def reports(self) -> Iterator[LiveReport]:
        """Train on, with a report after every update."""


class LiveReport(Protocol):
    """What every report says, a dataclass; it may say more.

    loss: nan where nothing was learned. accuracy: by part, where the model was looked at.
    """

    step: int
    loss: float
    accuracy: Mapping[str, float] | None


def work(trainer: Trainer, orders: Orders, out: BinaryIO) -> None:
    """Train until it is done or the notebook is gone; rest between two updates when told to."""
    watch = Stopwatch()
    lost: list[float] = []  # losses since the last report
    for report in trainer.reports():
        if not math.isnan(report.loss):
            lost.append(report.loss)
        goes = orders.goes  # read before `going`: an order in between is not lost
        resting = not orders.going
        if resting or report.accuracy or report.step == 0 or report.step % REPORT_EVERY == 0:
            mean = sum(lost) / len(lost) if lost else None
            _send(out, report, mean, watch.seconds, resting, trainer)
            lost.clear()
        if resting:
            watch.rest()
            orders.wait(goes)
            watch.go()
        if orders.ended:
            return


def _send(
    out: BinaryIO, report: LiveReport, loss: float | None, seconds: float, resting: bool, trainer: Trainer
) -> None:
    told = {**asdict(report), "loss": loss, "seconds": seconds, "resting": resting}
    weights = b""
    if trainer.model is not None and (resting or report.accuracy is not None):
        weights = save({name: tensor.contiguous() for name, tensor in trainer.model.state_dict().items()})
    out.write(json.dumps({**told, "weights": len(weights)}).encode() + b"\n" + weights)
    out.flush()


def serve(trainer_of: Callable[[dict[str, object]], Trainer]) -> None:
    """Read the settings from the first line of stdin, and train. Ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the notebook, which says what it wants
    torch.set_num_threads(1)  # two threads are slower than one at these sizes
    told = json.loads(sys.stdin.buffer.readline())
    try:
        work(trainer_of(told), Orders(sys.stdin.buffer), sys.stdout.buffer)
    except BrokenPipeError:
        pass  # the notebook is gone
    # Python would wait for the thread that still reads stdin, and give up on it with a fatal error.
    os._exit(0)


def trainer_of(told: dict[str, object]) -> LiveTrainer:
    """A trainer with settings as `LiveSettings.described` gives them."""
    return LiveTrainer(LiveSettings(**{**told, "parts": tuple(told["parts"])}))


if __name__ == "__main__":
    serve(trainer_of)
