"""Which PyTorch wheel to take: on Linux without an NVIDIA card, the one without gigabytes of CUDA."""

from __future__ import annotations

import os
import platform
import shutil
import threading
import urllib.request
from pathlib import Path

from mha_course.launcher.places import Places

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PATIENCE = 3.0  # seconds


def has_nvidia_driver() -> bool:
    """Whether an NVIDIA driver is there, also inside Windows' Linux."""
    signs = ("/proc/driver/nvidia", "/dev/nvidia0", "/dev/nvidiactl", "/usr/lib/wsl/lib/nvidia-smi")
    return any(os.path.exists(sign) for sign in signs) or shutil.which("nvidia-smi") is not None


def answers(index: str, patience: float = PATIENCE) -> bool:
    """Whether the index has a page for torch, within `patience` seconds in all.

    Asked in a thread, since a stalled look-up of a host's name knows no time limit of its own.
    """
    good = threading.Event()
    done = threading.Event()

    def ask() -> None:
        try:
            with urllib.request.urlopen(f"{index}/torch/", timeout=patience) as reply:
                if reply.status == 200 and reply.read(1):
                    good.set()
        except (OSError, ValueError):
            pass
        finally:
            done.set()

    threading.Thread(target=ask, daemon=True).start()
    done.wait(patience)
    return good.is_set()


def cpu_index(index: str = CPU_INDEX) -> str | None:
    """PyTorch's index of CPU wheels when they are wanted here and can be had; else None."""
    if platform.system() != "Linux" or has_nvidia_driver():
        return None
    return index if answers(index) else None


def pinned_torch(requirements: Path) -> str:
    """The line that pins torch, such as "torch==2.13.0"; raises OSError, or ValueError without one."""
    for line in requirements.read_text(encoding="utf-8").splitlines():
        if line.strip().startswith("torch=="):
            return line.split("#")[0].strip()
    raise ValueError(f"{requirements.name} doesn't pin torch")


def installed_torch(places: Places) -> str | None:
    """The torch release in the environment without its local part ("2.13.0"), None when there is none."""
    packages = places.site_packages()
    found = sorted(packages.glob("torch-[0-9]*.dist-info")) if packages else []
    return found[0].name.removeprefix("torch-").removesuffix(".dist-info").split("+")[0] if found else None
