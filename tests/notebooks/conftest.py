"""What the tests of lessons share: a folder for lessons that were run, known to all workers of a session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of one session of tests, for all of its workers."""
    own = tmp_path_factory.getbasetemp()
    # pytest-xdist gives each worker a folder below that of the session.
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "lessons"
    folder.mkdir(exist_ok=True)
    return folder
