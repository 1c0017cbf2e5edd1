"""A live training run as the notebook sees it: start, stop, go on, look at the model so far."""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from safetensors.torch import load

from mha_course.models.gloss_model import GlossModel, GlossSizes
from mha_course.training.live import LiveSettings
from mha_course.training.live_worker import GO, REST

WORKER = "mha_course.training.live_worker"
NEW, STARTING, RUNNING, STOPPING, STOPPED = "new", "starting", "running", "stopping", "stopped"
FINISHED, FAILED = "finished", "failed"
AT_WORK = (STARTING, RUNNING, STOPPING)


class Described(Protocol):
    """Settings that can go to another process. steps: updates."""

    steps: int

    def described(self) -> dict[str, object]:
        """All of them, as JSON can hold them."""


class LiveRun:
    """Training in a process of its own; a background thread here takes in what it reports.

    All methods may be called from any thread and return at once, except `wait`. A subclass trains something
    else: it names the module that its process runs.
    """

    worker = WORKER

    def __init__(self, settings: Described) -> None:
        self.settings = settings
        self.state = NEW
        self.trouble = ""
        self.history: list[dict[str, object]] = []  # reports of updates, oldest first
        self.latest: dict[str, object] = {}
        self._weights = b""
        self._lock = threading.RLock()
        self._moved = threading.Condition(self._lock)
        self._process: subprocess.Popen | None = None
        self._watchers: list[Callable[[], None]] = []
        self._news = 0

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call `watcher()` after something has changed, from a thread that holds no lock of this run."""
        with self._lock:
            self._watchers.append(watcher)
            if len(self._watchers) == 1:
                threading.Thread(target=self._notify, name="live training: news", daemon=True).start()

    def start(self) -> None:
        """Start, or go on where it stood. A finished run stays as it is, a failed one starts anew."""
        with self._lock:
            if self.state in (STARTING, RUNNING, FINISHED):
                return
            alive = self._process is not None and self._process.poll() is None
            if self.state in (NEW, FAILED) or not alive:
                self._launch()
            else:
                self._order(GO)
            self._to(RUNNING if self.latest else STARTING)

    def stop(self) -> None:
        """Rest after the update under way. The same start goes on from there."""
        with self._lock:
            if self.state in (STARTING, RUNNING):
                self._order(REST)
                self._to(STOPPING)

    def close(self) -> None:
        """End the process; what has been trained so far can still be looked at."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return
            with contextlib.suppress(OSError):
                process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
        if process.poll() is None:
            process.kill()

    def wait(self, timeout: float | None = None) -> str:
        """Wait until it rests, is finished or has failed, at most `timeout` seconds; returns the state."""
        with self._moved:
            self._moved.wait_for(lambda: self.state not in AT_WORK, timeout)
            return self.state

    @property
    def step(self) -> int:
        """Updates so far."""
        return int(self.latest.get("step", 0))

    @property
    def ever_started(self) -> bool:
        return self.state != NEW

    def model(self) -> GlossModel | None:
        """The model as it was when its heads were last looked at, or when it stopped; None before that."""
        with self._lock:
            weights = self._weights
        if not weights:
            return None
        model = GlossModel(GlossSizes(dropout=0.0))
        model.load_state_dict(load(weights))
        return model.requires_grad_(False).eval()

    def measured(self) -> list[dict[str, object]]:
        """The reports in which the heads were looked at, oldest first."""
        with self._lock:
            return [report for report in self.history if report["roles"]]

    def _launch(self) -> None:
        self.history, self.latest, self._weights, self.trouble = [], {}, b"", ""
        package = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(path for path in (package, os.environ.get("PYTHONPATH")) if path)
        # A session of its own: the notebook's interrupt is not meant for it.
        apart = (
            {"creationflags": subprocess.CREATE_NO_WINDOW} if os.name == "nt" else {"start_new_session": True}
        )
        errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-m", self.worker],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            **apart,
        )
        _RUNNING.append(self)
        self._order(json.dumps(self.settings.described()))
        threading.Thread(
            target=self._listen, args=(self._process, errors), name="live training", daemon=True
        ).start()

    def _order(self, line: str) -> None:
        with contextlib.suppress(OSError):  # a process that has ended is told of by the thread that listens
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def _listen(self, process: subprocess.Popen, errors: object) -> None:
        for line in process.stdout:
            report = json.loads(line)
            weights = process.stdout.read(report.pop("weights"))
            with self._lock:
                self._take(report, weights)
        process.wait()
        with self._lock:
            if self.state in AT_WORK and self._process is process:
                errors.seek(0)
                last = errors.read().decode(errors="replace").strip().splitlines()
                self.trouble = last[-1] if last else f"it ended with code {process.returncode}"
                self._to(FAILED)
        errors.close()
        process.stdout.close()

    def _take(self, report: dict[str, object], weights: bytes) -> None:
        self.latest = report
        self._weights = weights or self._weights
        if report["step"] or report["accuracy"]:
            self.history.append(report)
        if self._is_last(report):
            with contextlib.suppress(OSError):
                self._process.stdin.close()  # nothing more is asked of it, and it ends
            self._to(FINISHED)
        elif report["resting"]:
            # A start may have come in the meantime; then it goes on by itself.
            self._to(STOPPED if self.state == STOPPING else self.state)
        else:
            self._to(RUNNING if self.state == STARTING else self.state)

    def _is_last(self, report: Mapping[str, object]) -> bool:
        return report["step"] == self.settings.steps

    def _to(self, state: str) -> None:
        self.state = state
        self._news += 1
        self._moved.notify_all()

    def _notify(self) -> None:
        told = 0
        while True:
            with self._moved:
                self._moved.wait_for(lambda seen=told: self._news > seen)
                told, watchers = self._news, list(self._watchers)
            for watcher in watchers:
                try:
                    watcher()
                except Exception:  # one that fails must not keep the news from the others
                    logging.getLogger(__name__).exception("A watcher of a training failed.")


_RUNS: dict[LiveSettings, LiveRun] = {}
_RUNNING: list[LiveRun] = []


def live_run(settings: LiveSettings) -> LiveRun:
    """The run of these settings in this notebook: the same one whenever it is asked for."""
    return _RUNS.setdefault(settings, LiveRun(settings))


@atexit.register
def _close_all() -> None:
    for run in _RUNNING:
        run.close()
