"""The stamp that tells a start whether the environment is whole and up to date."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from mha_course.launcher.places import Places


@dataclass(frozen=True)
class Stamp:
    """What an environment was made from: fingerprints of its two lists, and the folder it was made in."""

    lessons: str
    tests: str
    root: str


def fingerprint(places: Places, tests: bool, python_version: str) -> str:
    """Hash of the requirement files, the environment's Python version and the platform; raises OSError."""
    digest = hashlib.sha256()
    for path in places.lists(tests):
        # Line ends and comments differ between checkouts without anything to install.
        lines = [line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
        digest.update("\n".join(line for line in lines if line).encode() + b"\0")
    digest.update(f"{python_version} {sys.platform} {platform.machine()}".encode())
    return digest.hexdigest()


def read_stamp(path: Path) -> Stamp | None:
    """The stamp, None when there is none or it can't be read: the set-up is then gone through again."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Stamp(lessons=str(found["lessons"]), tests=str(found["tests"]), root=str(found["root"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_stamp(path: Path, stamp: Stamp) -> None:
    """Write it in one step, on the disk before it is seen: half a stamp never vouches for an environment."""
    part = path.with_name(path.name + ".part")
    with open(part, "w", encoding="utf-8") as handle:
        json.dump(asdict(stamp), handle, indent=1)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(part, path)


def environment_python_version(places: Places) -> str | None:
    """Version that made the environment, as pyvenv.cfg has it ("3.12.1"); None when it has none."""
    try:
        lines = (places.venv / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.partition("=")
        if name.strip() in ("version", "version_info") and value.strip():
            return ".".join(value.strip().split(".")[:3])
    return None
