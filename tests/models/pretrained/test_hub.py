"""Downloading from a model hub, tried with a small one on this machine."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]
COMMIT = "5" * 40
# One process for several models: most of its time is spent on importing what loads them.
PROGRAM = """
import contextlib, os, sys, urllib.request
from pathlib import Path
from mha_course.models import load_pretrained
for name in sys.argv[1:]:
    print("##", name)
    if Path(name).is_absolute():
        for file in Path(name).rglob("tokenizer*.json"):  # as after an interrupted download
            file.unlink()
        with contextlib.suppress(OSError):
            urllib.request.urlopen(os.environ["HF_ENDPOINT"] + "/between", timeout=60)
        continue
    try:
        model = load_pretrained(name)
        print(model, model.attend("a cat").weights.shape[0])
    except ValueError as error:
        print("refused:", error)
"""
MADE = "someone/tiny: encoder, 3 layers with 2 heads each 3"


class Hub:
    """What the library asks a hub for: a list of a model's files, and the files."""

    def __init__(self, models: dict[str, Path]) -> None:
        hub = self
        self.asked: list[str] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.do_GET()

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                hub.asked.append(f"{self.command} {path}")
                for name, folder in models.items():
                    if path.startswith(f"/api/models/{name}/tree"):
                        tree = [
                            {"type": "file", "path": file["rfilename"], "size": file["size"], "oid": "7" * 40}
                            for file in _described(name, folder)["siblings"]
                        ]
                        return self.answer(json.dumps(tree).encode(), {})
                    if path.startswith(f"/api/models/{name}"):
                        return self.answer(json.dumps(_described(name, folder)).encode(), {})
                    if path.startswith(f"/{name}/resolve/"):
                        content = (folder / path.rpartition("/")[2]).read_bytes()
                        etag = hashlib.sha256(content).hexdigest()
                        return self.answer(content, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})
                self.send_error(404)

            def answer(self, content: bytes, headers: dict[str, str]) -> None:
                self.send_response(200)
                for key, value in (headers | {"Content-Length": str(len(content))}).items():
                    self.send_header(key, value)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


def _described(name: str, folder: Path) -> dict[str, object]:
    files = [
        {"rfilename": file.name, "size": file.stat().st_size, "blobId": "7" * 40}
        for file in sorted(folder.iterdir())
    ]
    return {"_id": "1", "id": name, "modelId": name, "sha": COMMIT, "private": False, "siblings": files}


@pytest.fixture(scope="module")
def hub(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    pickled = tmp_path_factory.mktemp("pickled")
    (pickled / "config.json").write_text("{}", encoding="utf-8")
    (pickled / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")
    (folders["bert"] / "unwanted.bin").write_bytes(b"not asked for")
    hub = Hub({"someone/tiny": folders["bert"], "someone/pickled": pickled})
    yield hub
    (folders["bert"] / "unwanted.bin").unlink()
    hub.server.shutdown()
    hub.server.server_close()


class Loaded:
    """What a process prints of each model that it loads, in their order, and what it warns of."""

    def __init__(self, names: list[str], hub: str, home: Path) -> None:
        env = {
            k: v
            for k, v in os.environ.items()
            if not k.lower().endswith("_proxy") and not k.startswith("HF_")
        }
        env |= {"HF_ENDPOINT": hub, "HF_HOME": str(home), "OMP_NUM_THREADS": "1"}
        program = [sys.executable, "-c", PROGRAM, *names]
        done = subprocess.run(program, cwd=ROOT, env=env, capture_output=True, text=True, timeout=240)
        self.printed = [part.splitlines()[1:] for part in done.stdout.split("## ")[1:]]
        self.stderr = done.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where models are kept; nothing is there at first."""
    return tmp_path_factory.mktemp("hub") / "home"


@pytest.fixture(scope="module")
def first(hub: Hub, home: Path) -> tuple[Loaded, list[str]]:
    """A first process: a model that is absent, one that is a pickle, and one to download; what it asked."""
    hub.asked.clear()
    made = Loaded(["someone/absent", "someone/pickled", "someone/tiny"], hub.address, home)
    return made, list(hub.asked)


def test_a_model_is_downloaded_once_and_then_read_from_this_computer(hub, home, first) -> None:
    process, asked = first
    told, made = process.printed[2]
    assert told.startswith("Downloading someone/tiny (0 MB)"), process.stderr
    assert made == MADE
    assert process.stderr == ""
    assert not any("unwanted" in path for path in asked)
    hub.asked.clear()
    # Again, in another process; then with a file missing.
    later = Loaded(["someone/tiny", str(home), "someone/tiny"], hub.address, home)
    again, _, mended = later.printed
    assert again == [MADE] and later.stderr == ""
    assert hub.asked[0] == "GET /between"  # nothing was asked while all files were there
    assert mended[-1] == MADE and len(hub.asked) > 1


def test_what_the_hub_does_not_have_or_has_as_a_pickle_is_refused(first) -> None:
    process, asked = first
    absent, pickled, _ = process.printed
    assert absent[-1].startswith("refused: The model hub has no 'someone/absent'") and process.stderr == ""
    assert pickled[-1].startswith("refused: 'someone/pickled' has its weights only as a pickle")
    assert any("someone/pickled" in path for path in asked)
    assert not any("/someone/pickled/resolve/" in path for path in asked)


def test_a_hub_that_is_not_there_is_one_sentence(tmp_path) -> None:
    away = Loaded(["someone/tiny"], "http://127.0.0.1:9", tmp_path / "home")
    assert len(away.printed[0]) == 1 and "the model hub doesn't answer" in away.printed[0][0]
    assert away.stderr == ""
