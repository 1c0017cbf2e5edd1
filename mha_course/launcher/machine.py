"""Can this machine run the course? Asked before anything is installed, answered in one sentence."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import struct
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mha_course.launcher.messages import Problem

SPACE_NEEDED = (
    2_500_000_000  # bytes: the environment with PyTorch's CPU wheel, and its wheels while they are unpacked
)
SPACE_WITH_CUDA = 8_000_000_000  # PyTorch's ordinary Linux packages bring CUDA's libraries along
LONGEST_ROOT_ON_WINDOWS = 60  # the longest path inside .venv has about 190 characters, and 260 is the limit


@dataclass(frozen=True)
class Machine:
    """What matters about a machine, gathered once so that tests can describe any other."""

    system: str  # "Linux", "Darwin", "Windows"
    processor: str  # "x86_64", "arm64", ...
    bits: int
    release: str = ""  # macOS version
    libc: str = "glibc"
    libc_version: tuple[int, int] = (2, 36)
    translated: bool = False  # an Intel Python on an Apple Silicon Mac
    implementation: str = "cpython"
    free_threaded: bool = False
    missing: tuple[str, ...] = ()  # parts of the standard library
    version: str = "3.11"

    @classmethod
    def here(cls) -> Machine:
        """This machine, with this Python."""
        libc, libc_version = _libc()
        parts = ("venv", "ensurepip", "zlib", "_ssl", "_ctypes", "_sqlite3")
        return cls(
            system=platform.system(),
            processor=platform.machine(),
            bits=struct.calcsize("P") * 8,
            release=platform.mac_ver()[0],
            libc=libc,
            libc_version=libc_version,
            translated=platform.system() == "Darwin" and "ARM64" in platform.version(),
            implementation=sys.implementation.name,
            free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
            missing=tuple(part for part in parts if importlib.util.find_spec(part) is None),
            version=f"{sys.version_info[0]}.{sys.version_info[1]}",
        )


def _libc() -> tuple[str, tuple[int, int]]:
    if platform.system() != "Linux":
        return "", (0, 0)
    name, version = platform.libc_ver()
    if name != "glibc":
        is_musl = "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "") or any(
            Path("/lib").glob("ld-musl-*")
        )
        return ("musl" if is_musl else "glibc"), (9, 9)
    numbers = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    return "glibc", (numbers[0], numbers[1]) if len(numbers) == 2 else (9, 9)


def check_machine(machine: Machine) -> None:
    """Raise Problem for the first thing that keeps the course from running here."""
    for sentence in _obstacles(machine):
        raise Problem(sentence)


def _obstacles(machine: Machine) -> Iterator[str]:
    if machine.implementation != "cpython":
        yield f"This is {machine.implementation}, and the course needs CPython, the Python from python.org."
    if machine.free_threaded:
        yield (
            "This is the free-threaded build of Python, which some packages of the course don't support: "
            f"start again with the ordinary Python {machine.version}."
        )
    if machine.bits != 64:
        yield (
            "This Python is a 32-bit one, and PyTorch needs 64 bits: "
            "install a 64-bit Python 3, then start again with it."
        )
    yield from _platform_obstacles(machine)
    yield from _python_obstacles(machine)


def _platform_obstacles(machine: Machine) -> Iterator[str]:
    processor = machine.processor.lower()
    if machine.system == "Darwin" and processor == "x86_64":
        if machine.translated:
            yield (
                "This Python is made for Intel Macs, but your Mac has an Apple processor: "
                "install the universal Python from python.org, then start again with it."
            )
        yield (
            "PyTorch no longer offers packages for Intel Macs, so the course can't run on this Mac: "
            "use a Mac with an Apple processor, Windows, or Linux."
        )
    if machine.system == "Darwin" and machine.release and int(machine.release.split(".")[0]) < 14:
        yield f"PyTorch needs macOS 14 or newer, and this is macOS {machine.release}: update macOS first."
    if machine.system == "Windows" and processor not in ("amd64", "x86_64"):
        yield (
            "PyTorch has no package for Python on Windows for Arm: install the 64-bit Intel/AMD Python "
            "(Windows runs it), then start again with it."
        )
    if machine.system == "Linux" and machine.libc == "musl":
        yield (
            "This Linux uses the C library musl (Alpine does), and PyTorch needs glibc: "
            "use Debian, Ubuntu, Fedora or a container made from one of them."
        )
    if machine.system == "Linux" and machine.libc_version < (2, 28):
        version = ".".join(map(str, machine.libc_version))
        yield f"PyTorch needs glibc 2.28 or newer, and this Linux has {version}: use a newer Linux."
    if machine.system == "Linux" and processor not in ("x86_64", "amd64", "aarch64", "arm64"):
        yield f"PyTorch has no package for Linux on {machine.processor}: use another computer."
    if machine.system not in ("Linux", "Darwin", "Windows"):
        yield f"PyTorch has no package for {machine.system or 'this system'}: use Linux, macOS or Windows."


def _python_obstacles(machine: Machine) -> Iterator[str]:
    if "venv" in machine.missing or "ensurepip" in machine.missing:
        if machine.system == "Linux":
            yield (
                "This Python can't make environments, since its venv is not whole: on Debian and Ubuntu "
                f"`sudo apt install python{machine.version}-venv` adds it, then start again."
            )
        yield "This Python can't make environments (its venv is not whole): install Python from python.org."
    names = [part.strip("_") for part in machine.missing]
    if names:
        yield (
            f"This Python was built without {' and '.join(names)}, which the course needs: "
            "install a complete Python (python.org, or your system's package), then start again with it."
        )


def check_place(root: Path, need: int = SPACE_NEEDED) -> None:
    """Raise Problem when this folder won't do: not writable, too little space (bytes), too long a name."""
    if not os.access(root, os.W_OK | os.X_OK):
        raise Problem(
            f"The folder {root} can't be written to: "
            "copy the course to a folder of your own, then start there."
        )
    free = shutil.disk_usage(root).free
    if free < need:
        raise Problem(
            f"The disk has {free / 1e9:.1f} GB free, and the course needs {need / 1e9:.1f} GB: "
            "make room, then start again."
        )
    if (
        platform.system() == "Windows"
        and len(str(root)) > LONGEST_ROOT_ON_WINDOWS
        and not _long_paths_enabled()
    ):
        raise Problem(
            f"The folder's name is too long for Windows ({len(str(root))} characters, "
            f"{LONGEST_ROOT_ON_WINDOWS} would do): move the course to a shorter place such as C:\\course."
        )


def _long_paths_enabled() -> bool:
    try:
        import winreg

        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SYSTEM\CurrentControlSet\Control\FileSystem") as key:
            return bool(winreg.QueryValueEx(key, "LongPathsEnabled")[0])
    except (ImportError, OSError):
        return False
