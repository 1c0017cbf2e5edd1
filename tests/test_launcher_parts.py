"""The launcher's parts: stamp, lock, pip's words, the wheel index, what is salvaged, JupyterLab's options."""

from __future__ import annotations

import http.server
import io
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mha_course.launcher import salvage, torch_wheels
from mha_course.launcher.installer import _OutputReader, explain
from mha_course.launcher.lab import lab_command, refuse_open_doors
from mha_course.launcher.messages import LiveLine, Problem
from mha_course.launcher.places import Places, clean_environment
from mha_course.launcher.setup_lock import setup_lock
from mha_course.launcher.stamp import Stamp, fingerprint, read_stamp, write_stamp


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "requirements.txt").write_text("# why\ntorch==2.13.0\nnumpy==2.4.6\n", encoding="utf-8")
    (tmp_path / "requirements-dev.txt").write_text("-r requirements.txt\npytest==9.2.0\n", encoding="utf-8")
    (tmp_path / "requirements-dev-alone.txt").write_text("large-model==0.1.0\n", encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    return Places(tmp_path)


# The stamp


def test_what_is_installed_alone_counts_for_the_tests_only(places):
    lessons, tests = fingerprint(places, False, "3.12.1"), fingerprint(places, True, "3.12.1")
    places.alone.write_text("large-model==0.1.1\n", encoding="utf-8")
    assert fingerprint(places, False, "3.12.1") == lessons
    assert fingerprint(places, True, "3.12.1") != tests


def test_the_fingerprint_follows_pins_python_and_list_but_not_comments(places):
    base = fingerprint(places, False, "3.12.1")
    assert fingerprint(places, False, "3.12.2") != base
    assert fingerprint(places, True, "3.12.1") != base
    lines = "torch==2.13.0   # another comment\r\n\r\nnumpy==2.4.6\r\n"
    places.requirements(False).write_bytes(lines.encode())
    assert fingerprint(places, False, "3.12.1") == base
    places.requirements(False).write_text("torch==2.13.1\nnumpy==2.4.6\n", encoding="utf-8")
    assert fingerprint(places, False, "3.12.1") != base


def test_the_tests_fingerprint_follows_the_lessons_list_too(places):
    base = fingerprint(places, True, "3.12.1")
    places.requirements(False).write_text("torch==2.13.1\n", encoding="utf-8")
    assert fingerprint(places, True, "3.12.1") != base


def test_the_stamp_comes_back_and_a_damaged_one_is_none(places):
    stamp = Stamp(lessons="a", tests="", root=str(places.root))
    write_stamp(places.stamp, stamp)
    assert read_stamp(places.stamp) == stamp
    assert [path.name for path in places.venv.iterdir()] == [places.stamp.name]
    for damage in ('{"lessons": "a"', "[]", "", '{"lessons": "a"}'):
        places.stamp.write_text(damage, encoding="utf-8")
        assert read_stamp(places.stamp) is None
    places.stamp.unlink()
    assert read_stamp(places.stamp) is None


# The lock


def test_the_lock_waits_for_its_holder_and_outlives_a_killed_start(tmp_path, capsys):
    path = tmp_path / "lock"
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from mha_course.launcher.setup_lock import setup_lock\n"
        "with setup_lock(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline().strip() == b"held"
        threading.Timer(0.8, holder.kill).start()
        begun = time.monotonic()
        with setup_lock(path):
            waited = time.monotonic() - begun
        assert 0.5 < waited < 20
        assert "Another start is setting up this folder" in capsys.readouterr().out
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


# What pip's words mean

REFUSED = (
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...: "
    "[Errno 111] Connection refused')'\n"
    "ERROR: Could not find a version that satisfies the requirement torch==2.13.0\n"
    "ERROR: No matching distribution found for torch==2.13.0"
)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (REFUSED, "The network doesn't answer"),
        ("...NameResolutionError: Temporary failure in name resolution", "The network doesn't answer"),
        ("pip._vendor.urllib3.exceptions.ReadTimeoutError: Read timed out.", "The network doesn't answer"),
        ("getaddrinfo failed", "The network doesn't answer"),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "ran full",
        ),
        ("OSError: [WinError 112] There is not enough space on the disk", "ran full"),
        (
            "SSLError(SSLCertVerificationError(1, 'CERTIFICATE_VERIFY_FAILED')); Max retries exceeded",
            "certificate",
        ),
        ("ProxyError('Cannot connect to proxy.', NewConnectionError(...))", "proxy"),
        ("[Errno 13] Permission denied: '/x'", "can't be written"),
        ("OSError: [WinError 5] Access is denied", "can't be written"),
        ("[Errno 30] Read-only file system", "read-only"),
        ("ERROR: No matching distribution found for torch==2.13.0", "no package torch==2.13.0"),
        ("a\nERROR: something odd.\nmore", "The installer stopped: something odd"),
        ("Traceback\nModuleNotFoundError: No module named 'x'\n", "No module named 'x'"),
        ("ERROR: Exception:\nTraceback\nTypeError: bad\n", "TypeError: bad"),
        ("", "it gave no reason"),
    ],
)
def test_a_failed_install_is_one_sentence(said, means, tmp_path):
    sentence = explain(said, tmp_path / "install.log")
    assert means in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


def test_a_full_disk_outdoes_the_retries_it_causes(tmp_path):
    said = REFUSED + "\nERROR: [Errno 28] No space left on device"
    assert "2.5 GB" in explain(said, tmp_path)
    assert "8 GB" in explain(said + "\nCollecting nvidia-cublas", tmp_path)


def test_pips_lines_become_stages(places):
    shown = io.StringIO()
    said = b"""Collecting torch==2.13.0
  Downloading https://host/torch-2.13.0%2Bcpu-cp312-cp312-manylinux_2_28_x86_64.whl.metadata (29 kB)
  Downloading https://host/torch-2.13.0%2Bcpu-cp312-cp312-manylinux_2_28_x86_64.whl (190.1 MB)
WARNING: Retrying (Retry(total=4)) after x
WARNING: Retrying (Retry(total=3)) after x
Installing collected packages: numpy, torch, \xff
"""
    log = io.StringIO()
    _OutputReader(LiveLine(shown), places).read(io.BytesIO(said), log)
    lines = [line.split("] ", 1)[-1].strip() for line in shown.getvalue().splitlines()]
    assert lines == [
        "downloading torch 2.13.0+cpu, 190.1 MB",
        "The network doesn't answer. Trying a few more times ...",
        "installing 3 packages",
    ]
    assert "Collecting torch" in log.getvalue()


def test_a_quiet_stage_gives_signs_of_life_in_a_log():
    shown = io.StringIO()
    with LiveLine(shown, quiet=0.1) as line:
        line.stage("installing 7 packages", lambda: "4 done")
        time.sleep(1.3)
    lines = shown.getvalue().splitlines()
    assert len(lines) >= 2
    assert "(4 done)" in lines[-1]
    assert "\r" not in shown.getvalue()


# The wheel index


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slow/torch/":
            time.sleep(2)
        self.send_response(200 if "missing" not in self.path else 404)
        self.end_headers()
        self.wfile.write(b"<a>torch</a>")

    def log_message(self, *_):
        pass


@pytest.fixture
def index():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_index_is_used_only_when_it_answers_in_time(index, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert torch_wheels.answers(f"{index}/good", patience=5)
    assert not torch_wheels.answers(f"{index}/missing", patience=5)
    begun = time.monotonic()
    assert not torch_wheels.answers(f"{index}/slow", patience=0.4)
    assert time.monotonic() - begun < 1.5


def test_a_stalled_name_look_up_counts_towards_the_time(monkeypatch):
    over = threading.Event()

    def stall(*_: object, **__: object) -> None:
        over.wait(30)
        raise OSError("no such host")

    monkeypatch.setattr(torch_wheels.urllib.request, "urlopen", stall)
    begun = time.monotonic()
    assert not torch_wheels.answers("https://nowhere.invalid", patience=0.3)
    assert time.monotonic() - begun < 2
    over.set()
    assert torch_wheels.PATIENCE <= 3


@pytest.mark.parametrize(
    ("system", "driver", "asked"), [("Linux", False, True), ("Linux", True, False), ("Darwin", False, False)]
)
def test_who_is_offered_the_cpu_wheels(monkeypatch, system, driver, asked):
    monkeypatch.setattr(torch_wheels.platform, "system", lambda: system)
    monkeypatch.setattr(torch_wheels, "has_nvidia_driver", lambda: driver)
    monkeypatch.setattr(torch_wheels, "answers", lambda index: True)
    assert torch_wheels.cpu_index("https://index") == ("https://index" if asked else None)


# What is salvaged


def install(
    site: Path, name: str, *, record: bool = True, short: bool = False, metadata: bool = True
) -> Path:
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (site / name).mkdir()
    (site / name / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    rows = [
        f"{name}/__init__.py,sha256=abc,{7 if short else 6}",
        f"{name}/__pycache__/a.pyc,,",
        f"../../../bin/{name},,99",
    ]
    (site.parents[2] / "bin").mkdir(exist_ok=True)
    (site.parents[2] / "bin" / name).write_text("#!", encoding="utf-8")
    if metadata:
        (info / "METADATA").write_text("Name: x", encoding="utf-8")
        rows.append(f"{info.name}/METADATA,,7")
    if record:
        (info / "RECORD").write_text("\n".join(rows), encoding="utf-8")
    return info


def test_unfinished_packages_are_taken_out_and_whole_ones_stay(tmp_path):
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    whole = install(site, "whole")
    install(site, "cut", record=False)
    install(site, "short", short=True)
    install(site, "bare", metadata=False)
    gone = install(site, "gone")
    (site / "gone" / "__init__.py").unlink()
    (site / "~alf").mkdir()
    assert salvage.remove_unfinished(site) == ["bare-1.0", "cut-1.0", "gone-1.0", "short-1.0"]
    assert [path.name for path in site.glob("*.dist-info")] == [whole.name]
    assert not gone.exists()
    assert not (site / "~alf").exists()


def test_clearing_keeps_the_lock_and_refuses_what_is_no_environment(places):
    places.lock.touch()
    (places.venv / "pyvenv.cfg").touch()
    (places.venv / "bin").mkdir()
    salvage.clear_environment(places)
    assert [path.name for path in places.venv.iterdir()] == [places.lock.name]
    (places.venv / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(Problem, match="holds something else"):
        salvage.clear_environment(places)
    assert (places.venv / "thesis.txt").exists()


@pytest.mark.skipif(os.name == "nt", reason="scripts are programs there and stay as they are")
def test_scripts_follow_a_moved_folder(places):
    folder = places.python.parent
    folder.mkdir()
    (folder / "jupyter").write_text("#!/old/place/.venv/bin/python\nprint(1)\n", encoding="utf-8")
    (folder / "python3").symlink_to(sys.executable)
    (folder / "data").write_bytes(b"\x7fELF /old/place/.venv")
    salvage.rename_scripts(places, "/old/place")
    assert (folder / "jupyter").read_text(encoding="utf-8").startswith(f"#!{places.venv}/bin/python\n")
    assert (folder / "data").read_bytes() == b"\x7fELF /old/place/.venv"


# JupyterLab's options and the environment it runs in


@pytest.mark.parametrize(
    "options",
    [
        ["--ip=0.0.0.0"],
        ["--ip", "0.0.0.0"],
        ["--ServerApp.ip=*"],
        ["--ip="],
        ["--ServerApp.token="],
        ["--no-browser", "--IdentityProvider.token=''"],
        ["--NotebookApp.token", ""],
    ],
)
def test_options_that_open_the_lab_to_others_are_refused(options):
    with pytest.raises(Problem, match="refused") as caught:
        refuse_open_doors(options)
    assert "\n" not in str(caught.value)


def test_other_options_pass_and_a_port_in_use_is_said():
    refuse_open_doors(
        ["--no-browser", "--ip=127.0.0.1", "--IdentityProvider.token=abc", "--port=0", "x.ipynb"]
    )
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Problem, match=f"Port {port} is in use"):
            refuse_open_doors(["--port", str(port)])
    refuse_open_doors([f"--port={port}"])


def test_the_lab_opens_lesson_00_in_the_students_folder(places, tmp_path):
    home = places.root / "my_course"
    home.mkdir()
    assert "--LabApp.default_url=/lab" in lab_command(places, home, [])
    (home / "00_start_here.ipynb").touch()
    command = lab_command(places, home, ["--no-browser"])
    assert f"--ServerApp.root_dir={places.root.resolve()}" in command
    assert "--LabApp.default_url=/lab/tree/my_course/00_start_here.ipynb" in command
    assert "--ServerApp.ip=localhost" in command
    assert command[-1] == "--no-browser"
    assert not any("token" in part for part in command)
    assert ("--allow-root" in command) == (hasattr(os, "geteuid") and os.geteuid() == 0)
    other = Places(tmp_path / "elsewhere")
    assert f"--ServerApp.root_dir={home.resolve()}" in lab_command(other, home, [])
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in lab_command(other, home, [])


def test_another_pythons_variables_stay_outside(places, monkeypatch):
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET"):
        monkeypatch.setenv(name, "/other")
    monkeypatch.setenv("PIP_INDEX_URL", "https://own.index")
    env = clean_environment(places)
    assert not {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET"} & set(env)
    assert env["PIP_INDEX_URL"] == "https://own.index", "the user's own pip settings hold"
    assert env["PATH"].split(os.pathsep)[0] == str(places.python.parent)
