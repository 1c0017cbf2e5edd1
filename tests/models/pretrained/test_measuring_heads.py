"""Heads of every family can be measured on a treebank, with or without special tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from mha_course.models.measure_real_heads import measure_treebank
from mha_course.models.real_heads_report import report
from tests.models.test_measure_real_heads import odd_treebank


@pytest.mark.parametrize("family", ["bert", "gpt2", "t5"])
def test_heads_of_every_family_are_measured(family: str, folders: dict[str, Path], tmp_path: Path) -> None:
    roles = measure_treebank(odd_treebank(tmp_path / "odd.conllu"), model=str(folders[family]), sentences=11)
    table = roles.table
    assert table.sentences == 11 and table.model == f"tiny-{family}"
    assert [role.key for role in table.roles()] == ["previous", "next", "rare", "special", "broad"]
    special = table.measure("special tokens").total
    assert (special > 0).all() if family != "gpt2" else not special.any(), "GPT-2 adds no tokens"
    assert table.best("previous").verdict == "no" and family in report(roles)
