"""Every fault can be found: the matrix of faults and probes, for several sizes and seeds."""

from __future__ import annotations

import math
from functools import lru_cache

import pytest
import torch

from mha_course.bug_hunt import all_probes, healthy, measure, suspect, suspects
from mha_course.bug_hunt.faults import all_faults, fault_of
from mha_course.bug_hunt.finding import Finding
from mha_course.bug_hunt.suspect import with_fault

# d_model, h, seed: all sizes differ from each other in every setting, and from the b and n that probes draw.
SETTINGS = [(12, 3, 0), (20, 4, 7), (8, 2, 3), (18, 6, 1)]

# Which probes answer otherwise than with the sound layer. Written down by hand, from what each fault is.
SHOWS = {
    "view-alone": {"order", "blocked", "future", "scale"},
    "heads-averaged": {"rows", "features", "scale"},
    "empty-row-nan": {"empty_row"},
    "head-size-floored": {"odd_width"},
    "scaled-by-d-model": {"scale"},
    "mask-added": {"blocked", "empty_row", "future"},
    "sequence-first": {"rows", "neighbours", "blocked", "empty_row", "future", "one_head", "scale", "half"},
    "weights-after-dropout": {"training"},
    "without-w-o": {"one_head", "gradients"},
    "large-negative": {"empty_row", "half"},
    "input-split": {"features", "scale", "gradients"},
    "mask-reversed": {"blocked", "empty_row", "future"},
}


@lru_cache
def sound_findings(setting: tuple[int, int, int]) -> dict[str, Finding]:
    return {key: measure(key, healthy(*setting)) for key in all_probes()}


@lru_cache
def findings(setting: tuple[int, int, int], key: str) -> dict[str, Finding]:
    layer = with_fault(all_faults()[key].layer, healthy(*setting))
    return {probe: measure(probe, layer) for probe in all_probes()}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_sound_layer_is_normal_in_every_probe(setting: tuple[int, int, int]) -> None:
    d_model, h, _ = setting
    found = {key: dict(finding.measures) for key, finding in sound_findings(setting).items()}
    expected = {
        "order": {"distance from the old output in the new order": 0},
        "neighbours": {"pairs in which another sentence's output moves": 0},
        "features": {"heads in the report": h, "share of slices that move a head's map": 1},
        "blocked": {"weight on blocked keys": 0, "weight on open keys": 1, "move of the other outputs": 0},
        "empty_row": {
            "sum of the empty row": 0,
            "sum of the other rows": 1,
            "largest number in its output": 0,
            "share of nan in the gradients": 0,
        },
        "one_head": {"distance from the formula": 0},
        "scale": {
            "factor of the scores": (d_model / h) ** -0.5,
            "m, if that is 1 / √m": d_model / h,
            "correlation with q · k": 1,
        },
        "gradients": {f"entries of {name} with a gradient": 1 for name in ("W_Q", "W_K", "W_V", "W_O")},
        "training": {
            "two calls in eval mode": "agree",
            "two calls in training": "differ",
            "smallest sum of a row in training": 1,
            "largest sum of a row in training": 1,
        },
        "half": {"distance from float32": 0},
        "odd_width": {"another width": "refused"},
    }
    for key, measures in expected.items():
        assert found[key].keys() == measures.keys()
        for name, value in measures.items():
            if not isinstance(value, str):
                value = pytest.approx(value, abs=5e-3 if key == "half" else 1e-4, rel=1e-4)
            assert found[key][name] == value, (key, name)
    assert found["future"]["outputs before the change that move"] == 0
    n = next(
        n for n in range(2, 20) if n * (n + 1) // 2 == found["future"]["outputs at or behind it that move"]
    )
    assert found["rows"]["shape of the report"].endswith(f", {h}, {n}, {n})")
    assert found["rows"]["smallest sum of a row"] == pytest.approx(1, abs=1e-5)
    assert found["rows"]["largest sum of a row"] == pytest.approx(1, abs=1e-5)
    assert expected.keys() | {"future", "rows"} == all_probes().keys()


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("key", SHOWS)
def test_each_fault_shows_where_it_should_and_nowhere_else(key: str, setting: tuple[int, int, int]) -> None:
    sound = sound_findings(setting)
    apart = {probe for probe, finding in findings(setting, key).items() if finding.apart(sound[probe])}
    assert apart == SHOWS[key]


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_two_suspects_have_the_same_pattern(setting: tuple[int, int, int]) -> None:
    sound = sound_findings(setting)
    patterns = {
        key: frozenset(
            (probe, measure)
            for probe, finding in findings(setting, key).items()
            for measure in finding.apart(sound[probe])
        )
        for key in SHOWS
    }
    assert all(patterns.values())
    assert len(set(patterns.values())) == len(SHOWS) == 12


@pytest.mark.parametrize("setting", SETTINGS)
def test_any_two_faults_are_told_apart_by_a_measurement(setting: tuple[int, int, int]) -> None:
    keys = list(all_faults())
    for i, one in enumerate(keys):
        for other in keys[:i]:
            mine, theirs = findings(setting, one), findings(setting, other)
            assert any(mine[probe].apart(theirs[probe]) for probe in mine), (one, other)


def test_the_numbers_lead_to_the_twelve_faults_and_their_order_tells_nothing() -> None:
    in_order = [fault_of(number).key for number in suspects()]
    assert sorted(in_order) == sorted(SHOWS) and list(suspects()) == list(range(1, 13))
    assert in_order != sorted(in_order)
    homes = [fault_of(number).layer.__module__ for number in suspects()]
    assert sum(a == b for a, b in zip(homes, homes[1:], strict=False)) <= 4
    for number in suspects():
        by_number = {probe: measure(probe, suspect(number)) for probe in ("blocked", "scale", "training")}
        for probe, finding in by_number.items():
            assert not finding.apart(findings((12, 3, 0), fault_of(number).key)[probe])


def test_a_sound_layer_never_differs_from_itself_and_nan_differs_from_a_number() -> None:
    for finding in sound_findings((12, 3, 0)).values():
        assert finding.apart(finding) == []
    nan, zero = Finding("", {"a": math.nan}), Finding("", {"a": 0.0})
    assert nan.apart(zero) == zero.apart(nan) == ["a"] and nan.apart(nan) == []
    assert Finding("", {"a": 1.0}).apart(Finding("", {"a": 1.01})) == []
    assert Finding("", {"a": 1.0}).apart(Finding("", {"a": 1.1, "b": 0})) == ["a", "b"]
    gaps = Finding("", {"a": 1.0, "b": "x", "c": -2.0, "d": 0.0}).gaps(
        Finding("", {"a": 4.0, "b": "y", "c": 2.0, "d": 3.0})
    )
    assert gaps == {"a": 0.75, "b": 1.0, "c": 1.0, "d": 1.0}


def test_a_probe_fails_when_the_sound_layer_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix is no tautology: break the sound layer's mask, and its own finding moves."""
    from mha_course.bug_hunt.sound_layer import SoundLayer

    before = measure("future", healthy())
    monkeypatch.setattr(SoundLayer, "weighed", lambda self, scores, mask: torch.softmax(scores, dim=-1))
    after = measure("future", healthy())
    assert after.apart(before) == ["outputs before the change that move"]
