"""Wrong Python, wrong machine, wrong folder: one sentence each, before anything is installed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from mha_course.launcher import environment, machine
from mha_course.launcher.machine import Machine, check_machine, check_place
from mha_course.launcher.messages import Problem

ROOT = Path(__file__).resolve().parents[1]


def load_start():
    spec = importlib.util.spec_from_file_location("start_of_the_course", ROOT / "start.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def one_sentence(text: str) -> bool:
    return text.endswith(".") and not re.search(r"[.!?] [A-Z]", text) and "\n" not in text


START = load_start()


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 10, 13), (3, 15, 0), (4, 0, 1)])
def test_a_wrong_python_gets_one_sentence(version):
    sentence = START.version_problem(version)
    assert f"this is Python {version[0]}.{version[1]}:" in sentence
    assert one_sentence(sentence)


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 1), (3, 13, 0), (3, 14, 2)])
def test_a_right_python_gets_none(version):
    assert START.version_problem(version) is None


def test_start_py_itself_stops_on_a_wrong_python(monkeypatch, capsys):
    monkeypatch.setattr(START, "sys", SimpleNamespace(version_info=(3, 9, 1), stderr=sys.stderr))
    assert START.start(["setup"]) == 1
    assert "needs Python 3.11 to 3.14" in capsys.readouterr().err


def other_pythons() -> list[Path]:
    """Pythons that are too old, where this computer happens to have some."""
    found = [Path("/usr/bin/python2"), *sorted(Path.home().glob(".pyenv/versions/*/bin/python"))]
    old = re.compile(r"python2$|/versions/(2\.|3\.\d\.|3\.10\.)")
    return [path for path in found if old.search(str(path)) and path.exists()]


@pytest.mark.parametrize("python", other_pythons() or [None], ids=str)
def test_real_old_pythons_read_start_py(python):
    if python is None:
        # None on this computer: at least nothing newer than Python 3.0 may stand in the file.
        source = (ROOT / "start.py").read_text(encoding="utf-8")
        assert source.isascii()
        assert not re.search(r"""\bf["']|:=|\bmatch |-> |: (str|int|list)\b|\basync |\bprint """, source)
        return
    run = subprocess.run([str(python), str(ROOT / "start.py"), "setup"], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith("This course needs Python 3.11 to 3.14, and this is Python")
    assert len(run.stderr.splitlines()) == 1


def test_the_supported_range_is_told_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    newest = START.NEWEST
    expected = ">={}.{},<{}.{}".format(*START.OLDEST, newest[0], newest[1] + 1)
    assert project["requires-python"] == expected
    assert (environment.OLDEST, environment.NEWEST) == (START.OLDEST, START.NEWEST)
    assert f"(3, 11) <= sys.version_info[:2] <= {newest}" in (ROOT / ".ci" / "run").read_text(
        encoding="utf-8"
    )


def test_a_start_py_that_lost_its_package_says_so(tmp_path):
    shutil.copy(ROOT / "start.py", tmp_path)
    # -S -E: without the environment's own copy of the course
    run = subprocess.run(
        [sys.executable, "-S", "-E", str(tmp_path / "start.py")], capture_output=True, text=True, cwd=tmp_path
    )
    assert run.returncode == 1
    assert one_sentence(run.stderr.strip())
    assert "mha_course is missing" in run.stderr


LINUX = {"system": "Linux", "processor": "x86_64", "bits": 64}
MAC = {
    "system": "Darwin",
    "processor": "arm64",
    "bits": 64,
    "release": "15.1",
    "libc": "",
    "libc_version": (0, 0),
}
WINDOWS = {"system": "Windows", "processor": "AMD64", "bits": 64, "libc": "", "libc_version": (0, 0)}


@pytest.mark.parametrize(
    "this",
    [
        LINUX,
        LINUX | {"processor": "aarch64"},
        LINUX | {"libc_version": (2, 28)},
        MAC,
        MAC | {"release": "14.0"},
        WINDOWS,
    ],
)
def test_machines_that_can_run_the_course(this):
    check_machine(Machine(**this))


@pytest.mark.parametrize(
    ("this", "says"),
    [
        (MAC | {"processor": "x86_64"}, "Intel Macs, so the course can't run on this Mac"),
        (MAC | {"processor": "x86_64", "translated": True}, "your Mac has an Apple processor"),
        (MAC | {"release": "13.6.1"}, "this is macOS 13.6.1"),
        (LINUX | {"bits": 32}, "32-bit"),
        (WINDOWS | {"bits": 32, "processor": "x86"}, "32-bit"),
        (WINDOWS | {"processor": "ARM64"}, "Windows for Arm"),
        (LINUX | {"libc": "musl"}, "musl"),
        (LINUX | {"libc_version": (2, 17)}, "this Linux has 2.17"),
        (LINUX | {"processor": "riscv64"}, "riscv64"),
        (LINUX | {"system": "FreeBSD"}, "FreeBSD"),
        (LINUX | {"missing": ("ensurepip",), "version": "3.12"}, "apt install python3.12-venv"),
        (MAC | {"missing": ("venv",)}, "python.org"),
        (LINUX | {"missing": ("_ssl", "_sqlite3")}, "without ssl and sqlite3"),
        (LINUX | {"implementation": "pypy"}, "pypy"),
        (LINUX | {"free_threaded": True, "version": "3.14"}, "ordinary Python 3.14"),
    ],
)
def test_machines_that_cannot_get_one_sentence(this, says):
    with pytest.raises(Problem, match=re.escape(says)) as caught:
        check_machine(Machine(**this))
    assert one_sentence(str(caught.value))


def test_this_machine_is_described():
    here = Machine.here()
    assert here.bits == 64
    assert here.version == f"{sys.version_info[0]}.{sys.version_info[1]}"
    check_machine(here)


def test_too_little_space_is_said_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=300_000_000))
    with pytest.raises(Problem, match=r"0\.3 GB free, and the course needs 2\.5 GB"):
        check_place(tmp_path)
    check_place(tmp_path, need=200_000_000)


def test_a_folder_that_is_not_ones_own(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(Problem, match="can't be written to") as caught:
        check_place(tmp_path)
    assert one_sentence(str(caught.value))


@pytest.mark.parametrize("enabled", [False, True])
def test_a_name_too_long_for_windows(tmp_path, monkeypatch, enabled):
    monkeypatch.setattr(machine.platform, "system", lambda: "Windows")
    monkeypatch.setattr(machine, "_long_paths_enabled", lambda: enabled)
    deep = tmp_path / ("a" * 70)
    deep.mkdir()
    if enabled:
        check_place(deep, need=1)
        return
    with pytest.raises(Problem, match="too long for Windows"):
        check_place(deep, need=1)
