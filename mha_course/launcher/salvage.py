"""Going on with a half-made environment: what was interrupted is taken out, the rest is kept."""

from __future__ import annotations

import contextlib
import csv
import os
import re
import shutil
from pathlib import Path

from mha_course.launcher.messages import Problem
from mha_course.launcher.places import Places


def remove_unfinished(site_packages: Path) -> list[str]:
    """Make the installer see as missing whatever was left unfinished; returns the packages' names.

    The installer takes a package for whole as soon as its METADATA file is there, but unpacks the rest
    after it. The RECORD, written last, lists every file with its size: where one is missing or
    shorter, the package's entry goes, and the next install lays it down anew.
    """
    found = []
    for leftover in site_packages.glob("~*"):  # half uninstalled
        _remove(leftover)
    for info in sorted(site_packages.glob("*.dist-info")):
        if not _is_whole(info, site_packages):
            found.append(info.name.removesuffix(".dist-info"))
            _remove(info)
    return found


def has_pip(site_packages: Path) -> bool:
    """Whether a whole pip is there; to be asked after `remove_unfinished`."""
    return (site_packages / "pip" / "__main__.py").is_file() and any(site_packages.glob("pip-*.dist-info"))


def _is_whole(info: Path, site_packages: Path) -> bool:
    try:
        with open(info / "RECORD", encoding="utf-8", newline="") as handle:
            rows = [row for row in csv.reader(handle) if len(row) == 3]
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    names = {row[0] for row in rows}
    if not any(name.endswith(".dist-info/METADATA") for name in names):
        return False
    for name, _, size in rows:
        if not size.isdigit():
            continue  # compiled files and the RECORD itself have no size
        try:
            found = os.stat(os.path.join(site_packages, name)).st_size
            # Scripts name the folder they run in: after a move they differ from the record, and are whole.
            if found != int(size) and not re.match(r"(\.\./)+(bin|Scripts)/", name):
                return False
        except OSError:
            return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def clear_environment(places: Places) -> None:
    """Empty .venv, all but the lock that is being held; raises Problem when something in it can't be removed.

    A folder that is no environment at all is left alone: it is not this course's to delete.
    """
    entries = [entry for entry in places.venv.iterdir() if entry != places.lock]
    ours = {"pyvenv.cfg", "bin", "Scripts", places.log.name, places.stamp.name, places.downloads.name}
    if entries and not ours & {entry.name for entry in entries}:
        raise Problem(
            f"{places.venv} holds something else than a Python environment: move it away, then start again."
        )
    for entry in entries:
        try:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        except OSError as error:
            raise Problem(
                f"The old environment can't be removed ({error.strerror or error}: {error.filename}): "
                f"close every program that uses it, delete the folder {places.venv}, then start again."
            ) from None


def rename_scripts(places: Places, old_root: str) -> None:
    """After the course folder was moved: point the environment's small scripts to where it is now.

    On Windows the scripts are programs and stay as they are; the launcher doesn't use them.
    """
    old, new = os.fsencode(os.path.join(old_root, ".venv")), os.fsencode(str(places.venv))
    if os.name == "nt" or old == new:
        return
    for script in places.python.parent.iterdir():
        if script.is_symlink() or not script.is_file() or script.stat().st_size > 100_000:
            continue
        content = script.read_bytes()
        is_script = content.startswith(b"#!") or script.name.lower().startswith("activate")
        if is_script and old in content:
            script.write_bytes(content.replace(old, new))
