"""Whether a proof notices that something is broken."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from mha_course.interview.proof import run_proof


def notices(name: str, module: str, what: str, instead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof holds as it is; once `what` of that module is replaced it fails, and says why."""
    run_proof(name)
    monkeypatch.setattr(importlib.import_module(module), what, instead)
    with pytest.raises(AssertionError) as failed:
        run_proof(name)
    assert str(failed.value).strip(), "it should say what was expected"
