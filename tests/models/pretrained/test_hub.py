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
PROGRAM = """
import sys
from mha_course.models import load_pretrained
try:
    model = load_pretrained(sys.argv[1])
    print(model, model.attend("a cat").weights.shape[0])
except ValueError as error:
    print("refused:", error)
"""


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


@pytest.fixture
def hub(folders: dict[str, Path], tmp_path: Path) -> Iterator[Hub]:
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    (pickled / "config.json").write_text("{}", encoding="utf-8")
    (pickled / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")
    (folders["bert"] / "unwanted.bin").write_bytes(b"not asked for")
    hub = Hub({"someone/tiny": folders["bert"], "someone/pickled": pickled})
    yield hub
    (folders["bert"] / "unwanted.bin").unlink()
    hub.server.shutdown()
    hub.server.server_close()


def loaded(name: str, hub: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {
        k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and not k.startswith("HF_")
    }
    env |= {"HF_ENDPOINT": hub, "HF_HOME": str(home), "OMP_NUM_THREADS": "1"} | variables
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, name], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120
    )


def test_a_model_is_downloaded_once_and_then_read_from_this_computer(hub, tmp_path) -> None:
    first = loaded("someone/tiny", hub.address, tmp_path / "home")
    told, made = first.stdout.splitlines()
    assert told.startswith("Downloading someone/tiny (0 MB)"), first.stderr
    assert made == "someone/tiny: encoder, 3 layers with 2 heads each 3"
    assert first.stderr == ""
    assert not any("unwanted" in asked for asked in hub.asked)
    hub.asked.clear()
    again = loaded("someone/tiny", hub.address, tmp_path / "home")
    assert again.stdout.strip() == made and again.stderr == ""
    assert hub.asked == []
    for file in (tmp_path / "home").rglob("tokenizer*.json"):  # as after an interrupted download
        file.unlink()
    mended = loaded("someone/tiny", hub.address, tmp_path / "home")
    assert mended.stdout.splitlines()[-1] == made, mended.stderr


def test_what_the_hub_does_not_have_or_has_as_a_pickle_is_refused(hub, tmp_path) -> None:
    absent = loaded("someone/absent", hub.address, tmp_path / "home")
    assert "refused: The model hub has no 'someone/absent'" in absent.stdout and absent.stderr == ""
    pickled = loaded("someone/pickled", hub.address, tmp_path / "home")
    assert "refused: 'someone/pickled' has its weights only as a pickle" in pickled.stdout
    assert not any("/resolve/" in asked for asked in hub.asked)


def test_a_hub_that_is_not_there_is_one_sentence(tmp_path) -> None:
    away = loaded("someone/tiny", "http://127.0.0.1:9", tmp_path / "home")
    assert "the model hub doesn't answer" in away.stdout and len(away.stdout.splitlines()) == 1
    assert away.stderr == ""
