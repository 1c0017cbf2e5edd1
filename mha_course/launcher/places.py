"""Where things lie in a checkout of the course."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Places:
    """Paths of one checkout; all follow from its root."""

    root: Path

    @property
    def venv(self) -> Path:
        """The environment's folder."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The environment's own Python."""
        return self.venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def log(self) -> Path:
        """What the installer said, in full."""
        return self.venv / "install.log"

    @property
    def stamp(self) -> Path:
        """Written last: tells the next start that the environment is whole."""
        return self.venv / ".course-stamp.json"

    @property
    def lock(self) -> Path:
        """Held while the environment is being made."""
        return self.venv / ".course-lock"

    @property
    def downloads(self) -> Path:
        """Where the installer unpacks: on the same disk, since a small /tmp is easily full."""
        return self.venv / ".downloads"

    @property
    def lab_overrides(self) -> Path:
        """JupyterLab's settings for this environment."""
        return self.venv / "share" / "jupyter" / "lab" / "settings" / "overrides.json"

    @property
    def export_settings(self) -> Path:
        """Settings of the environment's nbconvert, which turns notebooks into pages."""
        return self.venv / "etc" / "jupyter" / "jupyter_nbconvert_config.json"

    def requirements(self, tests: bool) -> Path:
        """The list to install: what the lessons need, or what the tests need on top."""
        return self.root / ("requirements-dev.txt" if tests else "requirements.txt")

    @property
    def alone(self) -> Path:
        """What the tests need besides, installed without the packages that it asks for in turn."""
        return self.root / "requirements-dev-alone.txt"

    def lists(self, tests: bool) -> list[Path]:
        """All lists that an environment is made from."""
        return [self.requirements(False), *([self.requirements(True), self.alone] if tests else [])]

    def site_packages(self) -> Path | None:
        """The environment's package folder, None while there is none."""
        if os.name == "nt":
            found = self.venv / "Lib" / "site-packages"
            return found if found.is_dir() else None
        return next(iter(sorted(self.venv.glob("lib/python3.*/site-packages"))), None)


def clean_environment(places: Places) -> dict[str, str]:
    """Variables for what runs inside .venv: the user's own, less those that mix in another Python."""
    env = dict(os.environ)
    for name in (
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "__PYVENV_LAUNCHER__",
        "PIP_TARGET",
        "PIP_PREFIX",
    ):
        env.pop(name, None)
    env["VIRTUAL_ENV"] = str(places.venv)
    env["PATH"] = str(places.python.parent) + os.pathsep + env.get("PATH", "")
    env["PYTHONNOUSERSITE"] = "1"
    env["PYTHONUTF8"] = "1"
    return env
