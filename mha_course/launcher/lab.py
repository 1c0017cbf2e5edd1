"""Opening JupyterLab at the first lesson: on this computer only, with its token."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from mha_course.launcher.messages import Problem, say
from mha_course.launcher.places import Places, clean_environment
from mha_course.workspace import HOME_VARIABLE

FIRST_LESSON = "00_start_here.ipynb"
_OPTION = re.compile(r"--(?:\w+\.)?([\w-]+)(?:=(.*))?$")


def lab_command(places: Places, home: Path, options: Sequence[str]) -> list[str]:
    """The command that opens JupyterLab; raises Problem for an option that would open it to others."""
    refuse_open_doors(options)
    root, home = places.root.resolve(), home.resolve()
    folder = root if home.is_relative_to(root) else home
    lesson = home / FIRST_LESSON
    address = f"/lab/tree/{quote(lesson.relative_to(folder).as_posix())}" if lesson.is_file() else "/lab"
    command = [
        str(places.python),
        "-m",
        "jupyterlab",
        "--ServerApp.ip=localhost",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url={address}",
        # No language servers come with the course; looking for them fills the screen with their names.
        "--LanguageServerManager.autodetect=False",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return command + list(options)


def refuse_open_doors(options: Sequence[str]) -> None:
    """Raise Problem for an option that lets others in (an address, an empty token) or a port in use."""
    options = list(options)
    for place, option in enumerate(options):
        match = _OPTION.match(option)
        if not match:
            continue
        following = options[place + 1] if place + 1 < len(options) else ""
        value = (match[2] if match[2] is not None else following).strip("'\"")
        if match[1] == "ip" and value not in ("localhost", "127.0.0.1", "::1"):
            raise Problem(
                f"The course's JupyterLab listens on this computer only, so --ip {value} is refused."
            )
        if match[1] == "token" and not value:
            raise Problem("The course's JupyterLab keeps its token, so an empty one is refused.")
        if match[1] == "port" and value.isdigit() and int(value) and not _is_free(int(value)):
            raise Problem(
                f"Port {value} is in use: choose another one, or leave --port out and a free one is found."
            )


def _is_free(port: int) -> bool:
    if port > 65535:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name != "nt":
            # As the server does it: a port that was closed a moment ago counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def run_in_environment(places: Places, command: Sequence[str], extra: dict[str, str] | None = None) -> int:
    """Run a program of the environment in the course's folder until it ends; returns its exit code.

    Ctrl-C reaches the program itself, which asks or tidies up in its own way; 130 when that ended it.
    """
    interrupted = False

    def note(*_: object) -> None:
        nonlocal interrupted
        interrupted = True

    before = signal.signal(signal.SIGINT, note)
    try:
        env = clean_environment(places) | (extra or {})
        with subprocess.Popen(list(command), cwd=places.root, env=env) as process:
            code = process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted and code:
        return 130
    return code if code >= 0 else 128 - code


def open_lab(places: Places, home: Path, options: Sequence[str]) -> int:
    """Open JupyterLab at lesson 00 and stay until it is closed; returns its exit code."""
    command = lab_command(places, home, options)
    say("Opening JupyterLab. Keep this window open; Ctrl-C here ends it.")
    # The environment's own kernel comes first, whatever other Jupyter installations there are, and the
    # lessons find the same folder as this start, wherever they run.
    return run_in_environment(
        places, command, {"JUPYTER_PREFER_ENV_PATH": "1", HOME_VARIABLE: str(home.resolve())}
    )
