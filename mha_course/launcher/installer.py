"""Running pip: what it does becomes a line that stays alive, and why it failed becomes a sentence."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TextIO

from mha_course.launcher.messages import LiveLine, Problem
from mha_course.launcher.places import Places, clean_environment
from mha_course.launcher.setup_lock import handed_on

_NETWORK = "|".join(
    (
        r"NewConnectionError|Failed to establish a new connection|Connection refused|No route to host",
        r"Name or service not known|getaddrinfo failed|nodename nor servname|NameResolutionError",
        r"Temporary failure in name resolution|Network is unreachable|Max retries exceeded",
        r"ReadTimeoutError|ConnectTimeoutError|Read timed out|Connection timed out|IncompleteRead",
        r"ConnectionResetError|Connection (?:broken|aborted|reset)|RemoteDisconnected|incomplete-download",
    )
)

# What pip and the system say, in the order in which one outdoes another: a full disk during a
# download also makes pip retry, and a refused connection ends in "no matching distribution".
_CAUSES: tuple[tuple[str, str], ...] = (
    (
        r"No space left on device|\[Errno 28\]|not enough space on the disk|WinError 112|Disk quota exceeded",
        "The disk ran full while the packages were being installed: make room "
        "(about {gb} GB free), then start again.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError|\bSSLError\b",
        "The package server's certificate wasn't accepted, which a proxy or a wrong clock can cause: "
        "check the date, or ask who runs the network for its pip settings, then start again.",
    ),
    (
        r"ProxyError|Tunnel connection failed|Cannot connect to proxy|\b407 Proxy",
        "The proxy didn't let the installer through: check the proxy settings, then start again.",
    ),
    (
        _NETWORK,
        "The network doesn't answer, and the packages must be downloaded once: "
        "check the connection, then start again; what is there already is kept.",
    ),
    (
        r"\[Errno 30\]|Read-only file system",
        "The folder is on a read-only disk: copy the course to a folder of your own, then start there.",
    ),
    (
        r"\[Errno 13\]|Permission denied|Access is denied|WinError (?:5|32)\b",
        "A file of the environment can't be written: close JupyterLab and other programs that use the "
        "folder .venv, check that the folder is yours, then start again.",
    ),
)
_NO_WHEEL = re.compile(r"No matching distribution found for (\S+)")


def explain(output: str, log: Path) -> str:
    """One sentence on why pip failed, from all that it printed."""
    gigabytes = "8" if "nvidia" in output else "2.5"  # PyTorch with CUDA's libraries, or without
    for pattern, sentence in _CAUSES:
        if re.search(pattern, output):
            return sentence.format(gb=gigabytes)
    missing = _NO_WHEEL.search(output)
    if missing:
        return (
            f"There is no package {missing.group(1)} for this computer and this Python "
            f"where pip looks: what it said is in {log}."
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["it gave no reason"]
    last = errors[-1] if errors[-1] != "ERROR: Exception:" else lines[-1]
    why = last.removeprefix("ERROR:").strip().rstrip(".")
    return f"The installer stopped: {why[:200]} (all that it said is in {log})."


class Installer:
    """pip inside the environment, with one log and one live line."""

    def __init__(self, places: Places, lock: int | None, line: LiveLine) -> None:
        self._places = places
        self._lock = lock
        self._line = line
        self._reader = _OutputReader(line, places)

    def pip(self, *arguments: str) -> None:
        """Run `pip ARGUMENTS`; raises Problem with the reason when it fails."""
        code, output = self._run([str(self._places.python), "-m", "pip", *arguments])
        if code:
            raise Problem(explain(output, self._places.log))

    def _run(self, command: Sequence[str]) -> tuple[int, str]:
        env = clean_environment(self._places)
        self._places.downloads.mkdir(exist_ok=True)
        env["TMPDIR"] = env["TEMP"] = env["TMP"] = str(self._places.downloads)
        env["PIP_NO_INPUT"] = "1"  # a question would wait for ever behind the live line
        env["PIP_USER"] = "0"
        env["PYTHONUNBUFFERED"] = "1"
        env.pop("COLUMNS", None)
        with open(self._places.log, "a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"\n{time.strftime('%Y-%m-%d %H:%M:%S')} $ {' '.join(command)}\n")
            with subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=self._places.root,
                env=env,
                **handed_on(self._lock),
            ) as process:
                try:
                    output = self._reader.read(process.stdout, log)
                    return process.wait(), output
                except BaseException:
                    _stop(process)
                    raise


def _stop(process: subprocess.Popen) -> None:
    """End an installer after Ctrl-C, which it got too: give it a moment to tidy up, then insist."""
    with contextlib.suppress(OSError):
        process.terminate()
    try:
        process.wait(timeout=5)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


class _OutputReader:
    """Turns pip's lines into stages; keeps all of them for the log and for `explain`."""

    def __init__(self, line: LiveLine, places: Places) -> None:
        self._line = line
        self._places = places
        self._warned = False

    def read(self, pipe: IO[bytes], log: TextIO) -> str:
        kept = []
        for raw in pipe:
            text = raw.decode("utf-8", errors="replace").rstrip()
            log.write(text + "\n")
            log.flush()
            kept.append(text)
            self._show(text.strip())
        return "\n".join(kept)

    def _show(self, text: str) -> None:
        if match := re.match(r"Collecting ([^\s(]+)", text):
            self._line.stage(f"looking for {_plain_name(match[1])}", brief=True)
        elif match := re.match(r"Downloading (\S+\.whl) \((.+)\)", text):
            self._line.stage(f"downloading {_wheel_name(match[1])}, {match[2]}", self._downloaded)
        elif match := re.match(r"(?:Using cached|Processing) (\S+\.whl)\b", text):
            self._line.stage(f"unpacking {_wheel_name(match[1])}", brief=True)
        elif text.startswith("Installing collected packages:"):
            names = [name.strip() for name in text.split(":", 1)[1].split(",")]
            what = names[0] if len(names) == 1 else f"{len(names)} packages"
            before = self._entries()
            self._line.stage(f"installing {what}", lambda: f"{max(0, self._entries() - before)} done")
        elif text.startswith("WARNING: Retrying") and not self._warned:
            self._warned = True
            self._line.note("The network doesn't answer. Trying a few more times ...")

    def _downloaded(self) -> str:
        """Size of the file that is coming in, since pip draws no bar into a pipe."""
        try:
            files = [path.stat() for path in self._places.downloads.glob("pip-unpack-*/*")]
        except OSError:  # taken away while it was being looked at
            return ""
        newest = max(files, key=lambda stat: stat.st_mtime, default=None)
        return f"{newest.st_size / 1e6:.0f} MB so far" if newest and newest.st_size > 1e6 else ""

    def _entries(self) -> int:
        packages = self._places.site_packages()
        return sum(1 for _ in packages.glob("*.dist-info")) if packages else 0


def _plain_name(requirement: str) -> str:
    return re.split(r"[<>=!~\[;@]", requirement, maxsplit=1)[0]


def _wheel_name(path: str) -> str:
    """ "numpy 2.4.6" from a wheel's file name or address."""
    parts = re.split(r"[/\\]", path)[-1].replace("%2B", "+").split("-")
    return " ".join(parts[:2]) if len(parts) > 2 else parts[0]
