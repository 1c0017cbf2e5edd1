"""Kernels that start in a moment: forked from a process that has imported what every lesson imports.

To start Python and import PyTorch, Matplotlib and the course takes some five seconds of computing, and the
tests start more than a hundred kernels. A forked one is an IPython kernel as any other: it is told
its connection file, runs in its folder, is interrupted, restarted and ended by JupyterLab. That the lessons
import in a plain kernel, too, is seen by tests/notebooks/test_one_kernel.py.

Run as a script, with the path of a socket:
    warm_kernels.py SOCKET                       imports, then forks a kernel for each caller
    warm_kernels.py SOCKET --kernel ARGUMENTS    what JupyterLab starts: lives as long as its kernel does
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import lru_cache
from pathlib import Path

IMPORTED = (
    "torch",
    "torch._dynamo",  # what the first optimiser loads
    "matplotlib.figure",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "mha_course.attention",
    "mha_course.plots",
    "mha_course.widgets",
    "mha_course.exercises",
    "mha_course.models",
    "mha_course.training",
    "mha_course.variants",
)
# What JupyterLab does to a kernel, it does to the process it started, which hands it on.
HANDED_ON = {b"i": signal.SIGINT, b"t": signal.SIGTERM}


class WarmKernels:
    """The process that kernels are forked from. Elsewhere than on Linux kernels are plain.

    settings: what a server, or a test that starts kernels itself, needs in its environment.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mha-")  # a socket's path must be short
        self._process: subprocess.Popen | None = None
        self.settings: dict[str, str] = {}
        if sys.platform != "linux":
            return
        at = str(Path(self._folder.name) / "kernels")
        self._process = subprocess.Popen([sys.executable, __file__, at], stdin=subprocess.PIPE)
        spec = Path(self._folder.name) / "jupyter" / "kernels" / "python3"
        spec.mkdir(parents=True)
        start = [sys.executable, "-I", "-S", __file__, at, "--kernel", "-f", "{connection_file}"]
        described = {"argv": start, "display_name": "Python 3 (ipykernel)", "language": "python"}
        (spec / "kernel.json").write_text(json.dumps(described), encoding="utf-8")
        self.settings["JUPYTER_PATH"] = str(spec.parents[1])

    def close(self) -> None:
        """End the process; kernels that are still alive belong to who started them."""
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait(20)
        self._folder.cleanup()


@lru_cache(maxsize=1)
def warm_kernels() -> WarmKernels:
    """One process for all servers of a test session, ended with it."""
    kernels = WarmKernels()
    atexit.register(kernels.close)
    return kernels


def fork_kernels(path: str) -> bool:
    """Import, then fork for every caller, until the tests' end closes the input. Whether this is a fork."""
    os.environ["MPLBACKEND"] = (
        "module://matplotlib_inline.backend_inline"  # as every kernel sets it for itself
    )
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # what is shared with the kernels stays shared
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended kernels leave nothing behind
    with socket.socket(socket.AF_UNIX) as server, selectors.DefaultSelector() as selector:
        server.bind(path)
        server.listen(64)
        selector.register(server, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while all(key.fileobj is server for key, _ in selector.select()):
            caller = server.accept()[0]
            if os.fork() == 0:
                become_kernel(caller)
                return True
            caller.close()
    return False


def become_kernel(caller: socket.socket) -> None:
    """Take over the caller's arguments, folder, environment and outputs."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    told, handles, _, _ = socket.recv_fds(caller, 1 << 20, 3)
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    said = json.loads(told)
    os.setsid()
    os.chdir(said["folder"])
    os.environ.clear()
    os.environ.update(said["environment"])
    sys.argv = ["ipykernel_launcher.py", *said["arguments"]]
    threading.Thread(target=_obey, args=(caller,), daemon=True).start()


def _obey(caller: socket.socket) -> None:
    while order := caller.recv(1):
        os.kill(os.getpid(), HANDED_ON[order])
    os._exit(1)  # the caller was killed, and with it this kernel


def call_for_kernel(path: str, arguments: list[str]) -> None:
    """Ask for a kernel and wait until it ends."""
    kernel = socket.socket(socket.AF_UNIX)
    for _ in range(600):
        try:
            kernel.connect(path)
            break
        except (FileNotFoundError, ConnectionRefusedError):
            threading.Event().wait(0.1)  # still importing
    said = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    for order, number in HANDED_ON.items():
        signal.signal(number, lambda *_, order=order: kernel.send(order))
    socket.send_fds(kernel, [json.dumps(said).encode()], [0, 1, 2])
    kernel.recv(1)  # nothing is ever sent: it ends with the kernel


if __name__ == "__main__":
    if sys.argv[2:3] == ["--kernel"]:
        call_for_kernel(sys.argv[1], sys.argv[3:])
    elif fork_kernels(sys.argv[1]):
        from ipykernel import kernelapp

        kernelapp.launch_new_instance()
