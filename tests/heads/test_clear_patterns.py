"""Which heads have a clear pattern, on a table made by hand."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.clear_patterns import clear_patterns
from mha_course.heads.head_table import HeadTable
from mha_course.heads.measured import Measured


def measure(name: str, kind: str, picked: list[float], values: list[float], **other: object) -> Measured:
    table = torch.tensor([picked[:3], picked[3:]]), torch.tensor([values[:3], values[3:]])
    given = {
        **{"name": name, "kind": kind, "picked": table[0], "values": table[1], "total": table[1]},
        **{"low": table[1] - 0.02, "high": table[1] + 0.02, "control": table[1] * 0.1},
        **{"baseline": 0.4, "rule": "always +1", "total_baseline": 0.5, "nearest": 0.6},
        **{"asked": 210, "total_asked": 400},
    }
    return Measured(**{**given, **other})


def test_the_rule_of_share_gain_and_questions() -> None:
    det = measure("det: head → dependent", "syntactic", [0.97, 0.2, 0.94, 0.96, 1.0, 0.3], [0.9] * 6)
    high = measure("obj: head → dependent", "syntactic", [1.0] * 6, [1.0] * 6, total_baseline=0.91)
    rare = measure("amod: head → dependent", "syntactic", [1.0] * 6, [1.0] * 6, total_asked=300)
    stop = measure("punct: head → dependent", "syntactic", [1.0] * 6, [1.0] * 6)
    broad = measure("broad", "broad", [1.0] * 6, [1.0] * 6)
    before = measure(
        *("previous", "positional", [0.99, 0.1, 0.1, 0.1, 0.96, 0.1], [0.98] * 6), total_baseline=0.08
    )
    table = HeadTable("by hand", "", 400, "", (det, high, rare, stop, broad, before))
    found = list(clear_patterns(table))
    assert [(one.head, one.score.name.split(":")[0]) for one in found] == [
        *(((1, 1), "previous"), ((2, 1), "det"), ((2, 2), "previous")),
    ]
    assert [one.picked for one in found] == pytest.approx([0.99, 0.96, 0.96])
    # 90 % on the sentences that judge is no longer clear
    assert [one.holds for one in found] == [True, False, True]
    assert found[1].score.control == pytest.approx(0.09)
