"""The recorded costs: what the lesson tells of them is so, and a record is read as it was made."""

from __future__ import annotations

import json

import pytest

from mha_course.data_files import data_path
from mha_course.models import cost_records
from mha_course.models.cost_pairs import PAIRS
from mha_course.models.cost_records import from_json, recorded_costs


def test_most_pairs_agree_within_a_factor_of_two() -> None:
    record = recorded_costs()
    assert [one.pair for one in record.pairs] == list(PAIRS)
    assert sum(one.off_by <= 2 for one in record.pairs) >= 12
    for one in record.pairs:
        for i in range(2):
            assert set(one.measured[i]) == set(one.predicted[i])
            stages = sum(value for name, value in one.measured[i].items() if name != "total")
            assert one.measured[i]["total"] == pytest.approx(stages, rel=2e-3)


def test_what_else_was_recorded() -> None:
    record = recorded_costs()
    assert record.machine.peak > record.machine.bandwidth > 1e9 and "torch" in record.made_on
    assert record.decoding["equal"] is True and record.decoding["times_faster"] >= 5
    heads = record.heads
    assert len({row.flops for row in heads}) == 1 and heads[-1].d_k == 1
    assert heads[-1].total > 5 * heads[0].total
    assert all(2 <= row.sets < 3 and row.fused < row.formula for row in record.weights)
    assert [row.b for row in record.batches] == [row.b for row in record.shared_batches]
    first, last = record.batches[0], record.batches[-1]
    assert last.measured["projections"] < first.measured["projections"] / 5
    assert {round(row.flop_per_byte["attention"], 2) for row in record.batches} == {0.5}
    assert all(row.flop_per_byte["attention"] > 1.9 for row in record.shared_batches)
    short, long = record.raced[0], record.raced[-1]
    assert short.seconds["attention"] < short.seconds["GRU"]
    assert long.seconds["attention"] > long.seconds["RNN"]


def test_a_record_of_other_pairs_is_refused() -> None:
    found = json.loads(data_path(cost_records.FILE).read_text(encoding="utf-8"))
    found["pairs"][0]["question"] = "another"
    with pytest.raises(ValueError, match="other pairs"):
        from_json(found)


def test_measuring_makes_what_can_be_read(monkeypatch) -> None:
    """With the slow parts taken small; the real ones are run by the benchmark."""
    few = PAIRS[:2]
    monkeypatch.setattr(cost_records, "PAIRS", few)
    monkeypatch.setattr(cost_records, "measure_machine", lambda: recorded_costs().machine)
    monkeypatch.setattr(cost_records, "compare", lambda pair, machine, seconds: recorded_costs().pairs[0])
    monkeypatch.setattr(cost_records, "time_over_heads", lambda **_: list(recorded_costs().heads[:2]))
    monkeypatch.setattr(cost_records, "memory_of_weights", lambda: list(recorded_costs().weights))
    monkeypatch.setattr(cost_records, "race", lambda **_: list(recorded_costs().raced))
    monkeypatch.setattr(cost_records, "time_over_batches", lambda *_, **__: list(recorded_costs().batches))
    small = cost_records.decode_both_ways(3, d_model=12, h=3, prompt=2)
    monkeypatch.setattr(cost_records, "decode_both_ways", lambda: small)
    said: list[str] = []
    found = cost_records.measure_costs(said.append)
    found["pairs"][1]["question"] = few[1].question
    made = from_json(json.loads(json.dumps(found)))
    assert made.heads == recorded_costs().heads[:2] and made.batches == recorded_costs().batches
    assert made.raced == recorded_costs().raced and made.weights == recorded_costs().weights
    assert made.pairs[0].measured == recorded_costs().pairs[0].measured
    assert made.decoding["equal"] is True
    assert len(said) >= 6 and few[1].question in said[2]
    assert "torch" in made.made_on
