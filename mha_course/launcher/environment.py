"""Making .venv, seeing that nothing changed, and mending what was interrupted, moved or broken."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from mha_course.launcher import machine, salvage, torch_wheels
from mha_course.launcher.installer import Installer
from mha_course.launcher.messages import LiveLine, Problem, say
from mha_course.launcher.places import Places, clean_environment
from mha_course.launcher.setup_lock import handed_on, setup_lock
from mha_course.launcher.stamp import (
    Stamp,
    environment_python_version,
    fingerprint,
    read_stamp,
    write_stamp,
)

OLDEST, NEWEST = (3, 11), (3, 14)
# JupyterLab's news and update questions cover the lesson and ask the network.
NEWS_OFF = {"@jupyterlab/apputils-extension:notification": {"checkForUpdates": False, "fetchNews": "false"}}
# A page made by nbconvert would load live widgets from the network; without their state it has their stills.
STILLS_IN_EXPORTS = {"ExecutePreprocessor": {"store_widget_state": False}}

# Run by the environment's Python, apart from the folder it is started in: quick, imports nothing heavy.
_PROBE = """
import importlib.util as u, json, sys
def where(name):
    spec = u.find_spec(name)
    return (spec.origin or "") if spec else None
names = ["torch", "numpy", "matplotlib", "jupyterlab", "ipykernel", "ipywidgets", "anywidget", "bertviz"]
print(json.dumps({"version": list(sys.version_info[:3]), "course": where("mha_course"), "pip": where("pip"),
                  "missing": [n for n in names if where(n) is None]}))
"""

# The proof at the end of a set-up: everything that can fail on a student's machine is loaded once. The course
# is compiled as pip compiles packages, so that no kernel has to, whatever PYTHONDONTWRITEBYTECODE says.
_CHECK = """
import compileall, os, sys
import torch, numpy, matplotlib, anywidget, ipywidgets, jupyterlab, ipykernel, bertviz, safetensors
import mha_course
assert float(torch.ones(2, 3).sum()) == 6.0
for name in ("anywidget", "@jupyter-widgets/jupyterlab-manager"):
    path = os.path.join(sys.prefix, "share", "jupyter", "labextensions", *name.split("/"), "package.json")
    assert os.path.isfile(path), "JupyterLab's extension %s is missing" % name
compileall.compile_dir(os.path.dirname(mha_course.__file__), quiet=2)
print("whole", torch.__version__)
"""


def ensure_environment(places: Places, tests: bool = False) -> bool:
    """Make .venv whole and up to date; returns whether anything had to be done.

    With `tests`, what the tests need is installed too. Raises Problem with one sentence when it fails.
    """
    for path in places.lists(tests):
        if not path.is_file():
            raise Problem(f"{path.name} is missing beside start.py: get the whole course, then start again.")
    if is_current(places, tests):
        return False
    with _plain_errors(places):
        machine.check_machine(machine.Machine.here())
        _check_place(places)
        _make_folder(places)
        with setup_lock(places.lock) as lock:
            if not is_current(places, tests):  # another start may have done it meanwhile
                _bring_up(places, tests, lock)
    return True


def is_current(places: Places, tests: bool) -> bool:
    """Whether the environment is the one that the requirement files describe, here, and runs."""
    stamp = read_stamp(places.stamp)
    version = environment_python_version(places)
    if stamp is None or version is None or stamp.root != str(places.root):
        return False
    if stamp.lessons != fingerprint(places, False, version):
        return False
    if tests and stamp.tests != fingerprint(places, True, version):
        return False
    return _is_sound(places, probe(places))


def probe(places: Places) -> dict | None:
    """What the environment's Python says about itself, None when it doesn't run."""
    try:
        # -I keeps the folder and the user's variables out, so that the installed course is looked for.
        run = subprocess.run(
            [str(places.python), "-I", "-c", _PROBE],
            capture_output=True,
            timeout=60,
            cwd=places.root,
            env=clean_environment(places),
        )
        return json.loads(run.stdout.decode("utf-8")) if run.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def _is_sound(places: Places, found: dict | None) -> bool:
    if found is None or found["missing"] or not found["course"]:
        return False
    return Path(found["course"]).resolve().parent == (places.root / "mha_course").resolve()


def _check_place(places: Places) -> None:
    """Enough room? Less is needed when torch is there already, which is most of it."""
    with contextlib.suppress(ValueError):
        pin = torch_wheels.pinned_torch(places.requirements(False)).removeprefix("torch==")
        if torch_wheels.installed_torch(places) == pin:
            machine.check_place(places.root, need=machine.SPACE_NEEDED // 4)
            return
    machine.check_place(places.root)


def _make_folder(places: Places) -> None:
    if places.venv.exists() and not places.venv.is_dir():
        raise Problem(f"{places.venv} is a file where a folder is needed: move it away, then start again.")
    if places.venv.is_symlink():
        # A link may lead to the environment of another copy of the course, which would be taken away from it.
        raise Problem(
            f"{places.venv} is a link to {places.venv.resolve()}, and an environment belongs to one copy of "
            "the course: remove the link, then start again."
        )
    places.venv.mkdir(exist_ok=True)


def _bring_up(places: Places, tests: bool, lock: int | None) -> None:
    stamp = read_stamp(places.stamp)
    tests = tests or bool(stamp and stamp.tests)  # an update keeps what was there
    places.stamp.unlink(missing_ok=True)
    with LiveLine() as line:
        say(f"Setting up the course in {places.venv} ...")
        kept_whole = _make_python(places, line, lock)
        installer = Installer(places, lock, line)
        moved = stamp is not None and stamp.root != str(places.root)
        if moved:
            salvage.rename_scripts(places, stamp.root)
        version = environment_python_version(places) or ""
        if not (moved and kept_whole and _lists_unchanged(places, stamp, version, tests)):
            _install(places, tests, installer, line)
        line.stage("installing the course package")
        # No build isolation: setuptools is in the list, so that this step needs no network.
        installer.pip(
            "install", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-e", "."
        )
        _settle(places.lab_overrides, NEWS_OFF)
        _settle(places.export_settings, STILLS_IN_EXPORTS)
        line.stage("checking that everything loads")
        _check_loads(places)
        shutil.rmtree(places.downloads, ignore_errors=True)
        lists = fingerprint(places, False, version), fingerprint(places, True, version) if tests else ""
        write_stamp(places.stamp, Stamp(*lists, root=str(places.root)))
        seconds = line.elapsed()
    say(f"The environment is ready ({seconds:.0f} s).")


def _lists_unchanged(places: Places, stamp: Stamp, version: str, tests: bool) -> bool:
    return stamp.lessons == fingerprint(places, False, version) and (
        not tests or stamp.tests == fingerprint(places, True, version)
    )


def _make_python(places: Places, line: LiveLine, lock: int | None) -> bool:
    """A working Python with pip in .venv: the one that is there, mended where that does, or a new one.

    Returns whether all that was there was whole.
    """
    found = probe(places)
    usable = found is not None and OLDEST <= tuple(found["version"][:2]) <= NEWEST
    packages = places.site_packages()
    if usable and packages:
        shutil.rmtree(places.downloads, ignore_errors=True)
        line.stage("looking through what is there")
        unfinished = salvage.remove_unfinished(packages)
        if salvage.has_pip(packages):
            return not unfinished and not found["missing"]
    if not usable or tuple(found["version"][:2]) != sys.version_info[:2]:
        # Nothing to build on, or another Python's packages that lost their pip.
        salvage.clear_environment(places)
    line.stage("making the environment")
    # The base Python, never .venv's own: that one may be what is being replaced.
    base = getattr(sys, "_base_executable", None) or sys.executable
    run = subprocess.run(
        [base, "-m", "venv", str(places.venv)],
        capture_output=True,
        env=_base_environment(),
        cwd=places.root,
        **handed_on(lock),
    )
    if run.returncode or not (probe(places) or {}).get("pip"):
        said = (run.stdout + run.stderr).decode("utf-8", errors="replace")
        with open(places.log, "a", encoding="utf-8") as log:
            log.write(said)
        if "No space left" in said or "Errno 28" in said:
            raise OSError(errno.ENOSPC, "No space left on device")
        raise Problem(
            f"Python could not make the environment: what it said is in {places.log}. Delete the folder "
            f"{places.venv}, and start again with a complete Python (python.org has one)."
        )
    return False


def _base_environment() -> dict[str, str]:
    return {
        k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__")
    }


def _install(places: Places, tests: bool, installer: Installer, line: LiveLine) -> None:
    pin = torch_wheels.pinned_torch(places.requirements(False))
    ordinary = ["install", "--prefer-binary", "--disable-pip-version-check"]
    if torch_wheels.installed_torch(places) != pin.removeprefix("torch=="):
        line.stage("looking for the lighter PyTorch without CUDA")
        index = torch_wheels.cpu_index()
        if index:
            line.stage("looking for torch")
            # Only torch, and only added to the places where the user's pip looks anyway. If it fails, the
            # ordinary list below has torch too; a full disk fails there again, with its sentence.
            with contextlib.suppress(Problem):
                installer.pip(*ordinary, "--no-deps", "--extra-index-url", index, pin)
        elif sys.platform == "linux" and shutil.disk_usage(places.root).free < machine.SPACE_WITH_CUDA:
            line.note("PyTorch's lighter packages can't be had here. The ordinary ones may need 8 GB.")
        line.stage("looking for packages")
    installer.pip(*ordinary, "-r", places.requirements(tests).name)
    if tests:
        line.stage("looking for what is installed alone")
        installer.pip(*ordinary, "--no-deps", "-r", places.alone.name)


def _settle(path: Path, chosen: dict[str, object]) -> None:
    """Add the chosen settings to a JSON file of the environment's Jupyter, beside what is there already."""
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        settings = {}
    settings = (settings if isinstance(settings, dict) else {}) | chosen
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def _check_loads(places: Places) -> None:
    run = subprocess.run(
        [str(places.python), "-I", "-c", _CHECK],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=places.root,
        env=clean_environment(places),
    )
    said = run.stdout.decode("utf-8", errors="replace").strip()
    if run.returncode == 0:
        return
    with open(places.log, "a", encoding="utf-8") as log:
        log.write(said + "\n")
    if "WinError 126" in said or "DLL load failed" in said:
        raise Problem(
            "PyTorch could not be loaded, since Windows lacks a library: install Microsoft's "
            "Visual C++ Redistributable (x64), then start again."
        )
    last = said.splitlines()[-1] if said else f"exit code {run.returncode}"
    raise Problem(
        f"The packages are installed but don't load ({last[:160]}): delete the folder {places.venv}, "
        f"then start again; what was said is in {places.log}."
    )


@contextlib.contextmanager
def _plain_errors(places: Places) -> Iterator[None]:
    """Turn what the file system refuses into sentences."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            raise Problem("The disk is full: make room (about 2.5 GB free), then start again.") from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise Problem(
                f"{error.filename or places.root} can't be written to: "
                "copy the course to a folder of your own, then start there."
            ) from None
        raise Problem(f"The set-up stopped: {error}. Start again to go on from here.") from None
