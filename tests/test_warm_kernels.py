"""A forked kernel is a kernel as any other: its folder, its settings, interrupted, restarted, ended."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager, start_new_kernel

from tests.warm_kernels import warm_kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")


class Kernel:
    """A kernel that is asked for what a line prints."""

    def __init__(self, folder: Path) -> None:
        self.manager: KernelManager
        self.manager, self.client = start_new_kernel(cwd=str(folder))

    def prints(self, code: str) -> str:
        said: list[str] = []
        self.client.execute_interactive(
            code,
            output_hook=lambda message: said.append(
                message["content"].get("text") or message["content"].get("ename", "")
            ),
            timeout=60,
        )
        return "".join(said).strip()


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    for name, value in warm_kernels().settings.items() | {("MHA_COURSE_STEPS", "31")}:
        monkeypatch.setenv(name, value)
    kernel = Kernel(tmp_path)
    yield kernel
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel(now=True)


def test_it_has_imported_and_knows_its_place(kernel: Kernel, tmp_path: Path) -> None:
    assert (
        kernel.prints("import os, sys; print(os.getcwd(), os.environ['MHA_COURSE_STEPS'])")
        == f"{tmp_path} 31"
    )
    assert kernel.prints("print('torch' in sys.modules, 'torch' in globals())") == "True False"
    assert kernel.prints("import subprocess; print(subprocess.run(['false']).returncode)") == "1"


def test_two_kernels_share_nothing_that_one_of_them_changes(kernel: Kernel, tmp_path: Path) -> None:
    other = Kernel(tmp_path)
    kernel.prints("import mha_course.plots as p; p.odd = 1")
    assert other.prints("import mha_course.plots as p; print(hasattr(p, 'odd'))") == "False"
    assert other.prints("import os; print(os.getpid())") != kernel.prints("import os; print(os.getpid())")
    other.client.stop_channels()
    other.manager.shutdown_kernel()
    assert not other.manager.is_alive()
    assert kernel.prints("print(p.odd)") == "1"


def test_it_is_interrupted_and_restarted(kernel: Kernel) -> None:
    soon = threading.Timer(1, kernel.manager.interrupt_kernel)
    soon.start()
    begun = time.monotonic()
    assert kernel.prints("import time; time.sleep(60)") == "KeyboardInterrupt"
    assert time.monotonic() - begun < 30
    kernel.prints("kept = 5")
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=60)
    assert kernel.prints("print(kept)") == "NameError"


def test_a_killed_kernel_is_gone(kernel: Kernel, tmp_path: Path) -> None:
    other = Kernel(tmp_path)
    number = int(other.prints("import os; print(os.getpid())"))
    other.client.stop_channels()
    other.manager.shutdown_kernel(now=True)
    deadline = time.monotonic() + 20
    while Path(f"/proc/{number}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{number}").exists()
    assert kernel.prints("print(5)") == "5"
