"""An endless loop in an answer can be stopped, and a cell that failed before a check is mentioned."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client import KernelManager
from jupyter_client.blocking import BlockingKernelClient

ENDLESS = "def split_heads(x, h):\n    while True:\n        pass\n\n\ncheck('split_heads', split_heads)"


@pytest.fixture
def kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def replied(client: BlockingKernelClient, sent: str) -> dict:
    while True:
        reply = client.get_shell_msg(timeout=120)
        if reply["parent_header"].get("msg_id") == sent:
            return reply["content"]


def test_interrupting_takes_seconds_and_shows_the_students_lines(kernel) -> None:
    manager, client = kernel
    first = client.execute("from mha_course.exercises import check\ncheck('split_heads', lambda x, h: x)")
    assert replied(client, first)["status"] == "ok"
    # Without this the kernel may throw away what is sent right after an error.
    sent = client.execute(ENDLESS, stop_on_error=False)
    time.sleep(1.5)
    start = time.monotonic()
    manager.interrupt_kernel()
    content = replied(client, sent)
    assert time.monotonic() - start < 5
    assert content["ename"] == "KeyboardInterrupt"
    shown = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(content["traceback"]))
    assert "while True" in shown
    assert "mha_course" not in shown, shown
    after = client.execute("check('split_heads', lambda x, h: x)")
    assert replied(client, after)["status"] == "ok"


def test_after_a_cell_that_failed_the_verdict_doubts_what_it_checked(kernel) -> None:
    _, client = kernel
    checked = "check('split_heads', split_heads)"

    def remarks() -> str:
        content = replied(
            client, client.execute("", user_expressions={"r": f"'\\n'.join({checked}.remarks)"})
        )
        return content["user_expressions"]["r"]["data"]["text/plain"]

    def run(source: str) -> str:
        return replied(client, client.execute(source))["status"]

    assert run("from mha_course.exercises import check\ndef split_heads(x, h): return x") == "ok"
    assert "older version" not in remarks()
    assert run("def split_heads(x, h) return x") == "error"
    sent = client.execute(f"print('\\n'.join({checked}.remarks))")
    printed = ""
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != sent:
            continue
        if message["msg_type"] == "stream":
            printed += message["content"]["text"]
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    assert "older version was checked" in printed
