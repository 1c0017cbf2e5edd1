"""The recorded pruning runs as they are read."""

from __future__ import annotations

import json

import pytest

from mha_course.models import pruning_records
from mha_course.models.pruning_records import (
    gate_runs,
    lost,
    removals,
    retrained,
    strongest_price,
    whole_accuracy,
)


def run(strength: float, seed: int, ending: float, frozen: bool = False) -> dict:
    role = {"kind": "rare", "name": "rarest", "score": 0.6, "baseline": 0.2}
    return {
        **{"seed": seed, "strength": strength, "frozen": frozen, "seconds": 21.5, "kept": 2},
        **{"on_the_way": [6, 3], "gates": [[0.0, 1.0, 0.0], [0.4, 0.0, 0.0]], "log_alpha": [[0] * 3] * 2},
        **{"accuracy": {"stem": 1.0, "ending": ending}, "heads": [[None, role, None], [None] * 3]},
    }


@pytest.fixture
def small(tmp_path, monkeypatch) -> None:
    orders = {"order": [[2, 1], [1, 1], [1, 2]], "accuracy": [{"stem": 1 - i / 4} for i in range(4)]}
    book = {
        "whole": [{"seed": s, "accuracy": {"stem": 1.0, "ending": 0.99}} for s in (0, 1)],
        "gates": [
            *(run(0.2, 1, 0.975), run(0.1, 1, 0.98), run(0.2, 0, 0.985), run(0.1, 0, 0.99)),
            *(run(0.4, 0, 0.96), run(0.4, 1, 0.985), run(0.8, 0, 0.99), run(0.1, 0, 0.5, frozen=True)),
        ],
        "removed": [{"seed": 1, "by": "random 2", **orders}],
        "retrained": [{"seed": 1, "by": "importance", "kept": 4, "accuracy": {"stem": 0.75}}],
    }
    (tmp_path / "gates.json").write_text(json.dumps(book), encoding="utf-8")
    monkeypatch.setattr(pruning_records, "data_path", lambda name: tmp_path / "gates.json")
    cached = (gate_runs, removals, retrained, whole_accuracy)
    for one in cached:
        one.cache_clear()
    yield
    for one in cached:
        one.cache_clear()


def test_runs_by_price_and_seed(small) -> None:
    runs = gate_runs()
    assert [(r.strength, r.seed) for r in runs] == [
        *((0.1, 0), (0.1, 1), (0.2, 0), (0.2, 1)),
        *((0.4, 0), (0.4, 1), (0.8, 0)),
    ]
    assert runs[0].survivors == ((1, 2), (2, 1)) and runs[0].heads[0][1]["name"] == "rarest"
    assert [r.accuracy["ending"] for r in gate_runs(frozen=True)] == [0.5]
    assert lost(runs[3]) == pytest.approx({"stem": 0, "ending": 1.5})


def test_a_price_counts_when_all_lower_ones_do(small) -> None:
    assert strongest_price() == 0.2
    assert strongest_price(points=3.5) == 0.8
    assert strongest_price(points=1.2) == 0.1
    assert strongest_price(points=0.3) is None
    assert strongest_price(frozen=True) is None


def test_removals_and_what_training_brings_back(small) -> None:
    (one,) = removals()
    assert one.order[0] == (2, 1) and one.with_kept(3) == {"stem": 1.0} and one.with_kept(1) == {"stem": 0.5}
    with pytest.raises(ValueError, match="kept=4"):
        one.with_kept(4)
    assert retrained()[0].kept == 4
    with pytest.raises(ValueError, match="seed=7"):
        whole_accuracy(7)


def test_at_least_half_of_the_heads_can_go_with_every_part_within_two_points() -> None:
    price = strongest_price()
    runs = [one for one in gate_runs() if one.strength == price]
    assert [one.seed for one in runs] == [0, 1, 2]
    for one in runs:
        assert one.kept <= 8
        assert max(lost(one).values()) <= 2
    higher = [one for one in gate_runs() if one.strength > price]
    assert max(max(lost(one).values()) for one in higher) > 2  # a higher price was tried, and too high


def test_what_is_recorded_fits_together() -> None:
    for one in gate_runs():
        assert one.kept == len(one.survivors) == one.on_the_way[-1]
        assert len(one.gates) == len(one.heads) == 2 and {len(row) for row in one.gates} == {8}
        for i, row in enumerate(one.heads, 1):
            for j, role in enumerate(row, 1):
                assert role is None or (i, j) in one.survivors
    for one in removals():
        assert sorted(one.order) == [(i, j) for i in (1, 2) for j in range(1, 9)]
        assert one.with_kept(16) == whole_accuracy(one.seed)
        # without any head the model can't know the neighbours
        assert one.with_kept(0)["mutation"] < 0.8 * one.with_kept(16)["mutation"]
    assert {one.by for one in removals()} >= {"importance", "confidence", "random 1", "random 5"}
