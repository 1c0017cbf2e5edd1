"""The lock between programs: one holder at a time, freed by a death, patient for as long as was asked."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mha_course import file_lock as module
from mha_course.file_lock import file_lock

HOLD = (
    "import sys, time\nfrom pathlib import Path\nfrom mha_course.file_lock import file_lock\n"
    "with file_lock(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(60)\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a lock"


@pytest.fixture
def holder(path: Path):
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.wait()


def test_one_program_at_a_time(path: Path, tmp_path: Path) -> None:
    count = tmp_path / "count"
    count.write_text("0", encoding="utf-8")
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom mha_course.file_lock import file_lock\n"
        "count = Path(sys.argv[2])\n"
        "for _ in range(15):\n    with file_lock(Path(sys.argv[1]), pause=0.001):\n"
        "        n = int(count.read_text()); time.sleep(0.002); count.write_text(str(n + 1))\n"
    )
    command = [sys.executable, "-c", program, str(path), str(count)]
    children = [subprocess.Popen(command) for _ in range(3)]
    assert [child.wait(timeout=60) for child in children] == [0, 0, 0]
    assert count.read_text(encoding="utf-8") == "45"


def test_patience_ends_and_waiting_is_told_once(path: Path, holder: subprocess.Popen) -> None:
    told, start = [], time.monotonic()
    with pytest.raises(TimeoutError, match="another program"):
        with file_lock(path, patience=0.15, when_taken=lambda: told.append(1)):
            pytest.fail("two hold it")
    assert 0.1 < time.monotonic() - start < 5
    assert told == [1]


def test_a_killed_holder_frees_it(path: Path, holder: subprocess.Popen) -> None:
    threading.Timer(0.2, holder.kill).start()
    with file_lock(path, patience=30) as descriptor:
        assert isinstance(descriptor, int)


def test_an_error_inside_frees_it_and_a_free_one_is_taken_in_silence(path: Path) -> None:
    with pytest.raises(KeyError):
        with file_lock(path):
            raise KeyError("inside")
    told = []
    with file_lock(path, patience=0.0, when_taken=lambda: told.append(1)):
        assert path.exists() and told == []


@pytest.mark.skipif(os.name == "nt", reason="on Windows a child can't hold the lock")
def test_a_child_that_got_the_descriptor_holds_it_too(path: Path) -> None:
    with file_lock(path) as descriptor:
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(descriptor,)
        )
    with pytest.raises(TimeoutError):
        with file_lock(path, patience=0.05):
            pytest.fail("the child still holds it")
    child.communicate(b"\n", timeout=30)
    with file_lock(path, patience=5):
        pass


@pytest.mark.skipif(os.name == "nt", reason="flock is not there")
def test_where_there_are_no_locks_work_goes_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with file_lock(path, patience=0.0) as descriptor:
        assert descriptor is None


def test_a_place_without_a_folder_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        with file_lock(tmp_path / "no" / "folder"):
            pytest.fail("held nothing")


def test_it_needs_the_standard_library_alone() -> None:
    # start.py uses it before anything is installed.
    program = "import sys; import mha_course.file_lock; print('torch' in sys.modules, 'numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, cwd=_root())
    assert run.stdout.split() == ["False", "False"], run.stderr


def _root() -> Path:
    return Path(module.__file__).parents[1]
