"""The tiny models are made once and shared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from mha_course.models.pretrained import PretrainedModel, load_pretrained
from mha_course.models.pretrained.quiet import quietly
from tests.models.pretrained.tiny_models import FAMILIES


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each family."""
    made = {}
    with quietly():
        for name, make in FAMILIES.items():
            made[name] = tmp_path_factory.mktemp("models") / f"tiny-{name}"
            made[name].mkdir()
            make(made[name])
    return made


@pytest.fixture(scope="session")
def models(folders: dict[str, Path]) -> dict[str, PretrainedModel]:
    """All tiny models, loaded."""
    return {name: load_pretrained(folder) for name, folder in folders.items()}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny models gain nothing from more threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
