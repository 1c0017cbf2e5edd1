"""The leaderboard is recorded run by run: stopped and started again it goes on; some weights are kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from mha_course.models.leaderboard_records import leaderboard
from mha_course.training import record_leaderboard as recording
from mha_course.training.kept_rows import KEPT, row_file
from mha_course.training.leaderboard import ROWS, Row
from mha_course.training.train_digits import DIGIT_ROWS, DigitSetting


class Here:
    """A pool that runs at once, in this process."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *trouble: object) -> None:
        pass

    def shutdown(self, **options: object) -> None:
        pass

    def submit(self, work: Callable, *args: object) -> Future:
        done: Future = Future()
        try:
            done.set_result(work(*args))
        except RuntimeError as trouble:
            done.set_exception(trouble)
        return done


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What was run, in a record whose runs cost nothing; the eleventh run ends in an error."""
    calls: list[tuple] = []

    def one_run(task: str, row: Row, seed: int, folder: Path) -> dict[str, object]:
        calls.append((task, row, seed))
        if len(calls) == 11:
            raise RuntimeError("the plug was pulled")
        if seed == 0 and row in KEPT[task]:
            (folder / row_file(task, row)).touch()
        return {"task": task, "variant": row.variant, "h": row.h, "seed": seed, "seconds": 1.0}

    monkeypatch.setattr(recording, "one_run", one_run)
    monkeypatch.setattr(recording, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(recording, "as_completed", iter)
    return calls


def told(path: Path) -> list[tuple[str, Row, int]]:
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return [(run["task"], Row(run["variant"], run["h"]), run["seed"]) for run in runs]


def test_what_is_there_is_not_run_again(tmp_path: Path, ran: list[tuple]) -> None:
    path, said = tmp_path / "board.json", []
    with pytest.raises(RuntimeError, match="plug"):
        recording.record_leaderboard(path, [0], [], say=said.append)
    assert told(path) == sorted(ran[:10], key=lambda one: (one[1].variant, one[1].h))
    assert said[0] == f"0 of {len(ROWS)} runs are there already"

    first, said = set(ran[:10]), []
    ran.clear()
    ran.extend([("", Row("", 0), 0)] * 11)  # no more errors
    recording.record_leaderboard(path, [0, 1], [2], say=said.append)
    assert said[0] == f"10 of {2 * len(ROWS) + len(DIGIT_ROWS)} runs are there already"
    new = ran[11:]
    assert first.isdisjoint(new) and len(set(new)) == len(new)
    wanted = {("gloss", row, seed) for row in ROWS for seed in (0, 1)} | {
        ("digits", row, 2) for row in DIGIT_ROWS
    }
    assert first | set(new) == wanted == set(told(path))
    assert [task for task, _, _ in told(path)] == ["gloss"] * 2 * len(ROWS) + ["digits"] * len(DIGIT_ROWS)

    ran.clear()
    recording.record_leaderboard(path, [0, 1], [2], say=said.append)
    assert ran == [] and not path.with_suffix(".part").exists()


def test_another_setting_is_refused(
    tmp_path: Path, ran: list[tuple], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "board.json"
    recording.record_leaderboard(path, [], [0], say=lambda line: None)
    monkeypatch.setattr(recording, "DigitSetting", lambda: DigitSetting(steps=601))
    with pytest.raises(ValueError, match="another setting"):
        recording.record_leaderboard(path, [], [0], say=lambda line: None)
    assert len(told(path)) == len(DIGIT_ROWS)


def test_weights_of_the_first_seed_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = DigitSetting(pictures=60, steps=3, batch=8)
    monkeypatch.setattr(recording, "DigitSetting", lambda: short)
    kept, not_kept = Row("overlapping", 8), Row("plain", 4)
    assert kept in KEPT["digits"] and not_kept not in KEPT["digits"]
    for row, seed in ((kept, 1), (not_kept, 0)):
        recording.one_run("digits", row, seed, tmp_path)
    assert list(tmp_path.iterdir()) == []
    run = recording.one_run("digits", kept, 0, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [row_file("digits", kept)]
    assert (run["task"], run["variant"], run["h"], run["seed"]) == ("digits", "overlapping", 8, 0)
    assert 0 <= run["right"] <= 1 and run["loss"] > 0


def test_a_failing_run_ends_the_others_that_have_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    def one_run(task: str, row: Row, seed: int, folder: Path) -> dict[str, object]:
        begun.append(seed)
        time.sleep(0.05)
        if len(begun) == 3:
            raise RuntimeError("the plug was pulled")
        return {"task": task, "variant": row.variant, "h": row.h, "seed": seed, "seconds": 1.0}

    monkeypatch.setattr(recording, "one_run", one_run)
    monkeypatch.setattr(recording, "ProcessPoolExecutor", lambda count, *_: ThreadPoolExecutor(count))
    path = tmp_path / "board.json"
    with pytest.raises(RuntimeError, match="plug"):
        recording.record_leaderboard(path, [0, 1], [], say=lambda line: None)
    assert len(begun) <= 5 and len(told(path)) == 2


def test_a_run_whose_weights_are_gone_is_made_again(tmp_path: Path, ran: list[tuple]) -> None:
    path = tmp_path / "board.json"
    ran.extend([("", Row("", 0), 0)] * 11)  # no errors
    recording.record_leaderboard(path, [0], [], say=lambda line: None)
    kept = KEPT["gloss"]
    (tmp_path / row_file("gloss", kept[0])).unlink()
    ran[:] = ran[:11]
    recording.record_leaderboard(path, [0], [], say=lambda line: None)
    assert ran[11:] == [("gloss", kept[0], 0)] and len(told(path)) == len(ROWS)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"settings": {}, "machine": "", "runs": [{"seed": 1}]}'])
def test_a_damaged_record_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "board.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="board.json is damaged"):
        recording.record_leaderboard(path, [0], [])
    with pytest.raises(ValueError, match="board.json is damaged"):
        leaderboard(path=path)


def test_of_two_runs_with_one_seed_the_last_counts(tmp_path: Path) -> None:
    run = {"task": "gloss", "variant": "plain", "h": 8, "seed": 1}
    runs = [run | {"seconds": 1.0}, run | {"seed": 2}, run | {"seconds": 3.0}]
    path = tmp_path / "board.json"
    path.write_text(json.dumps({"settings": {}, "machine": "", "runs": runs}), encoding="utf-8")
    assert recording.read_record(path)["runs"] == [run | {"seconds": 3.0}, run | {"seed": 2}]


CHILD = """
import sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from mha_course.training.record_leaderboard import _end_with_the_command
import os
if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn"), _end_with_the_command) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600).result()
"""


@pytest.mark.skipif(os.name == "nt", reason="asks for a process as POSIX systems do")
def test_a_killed_command_leaves_no_process_at_work(tmp_path: Path) -> None:
    script = tmp_path / "command.py"
    script.write_text(CHILD, encoding="utf-8")
    folder = str(Path(recording.__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": folder},
    ) as command:
        worker = int(command.stdout.readline())
        time.sleep(0.5)  # it is asleep in its second task now
        command.kill()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and _runs(worker):
        time.sleep(0.1)
    assert not _runs(worker)


def _runs(process: int) -> bool:
    """Whether a process is there and not only waiting to be counted as ended."""
    try:
        os.kill(process, 0)
        status = Path(f"/proc/{process}/stat")
        return not status.exists() or status.read_text(encoding="utf-8").split(")")[-1].split()[0] != "Z"
    except ProcessLookupError:
        return False
