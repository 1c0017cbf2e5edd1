"""PruningReplay in Python: what is drawn is what was recorded, runs in words, refusals, and stills."""

from __future__ import annotations

import json

import pytest

from mha_course import widgets
from mha_course.models.pruning_records import gate_runs, removals, retrained, strongest_price, whole_accuracy
from mha_course.text.course_language.gloss import PARTS
from mha_course.widgets.pruning_series import MEASURES, five, role_name, series, told


@pytest.fixture(scope="module")
def replay() -> widgets.PruningReplay:
    return widgets.PruningReplay()


def test_it_begins_at_the_price_that_the_lesson_speaks_of(replay: widgets.PruningReplay) -> None:
    assert replay.price == strongest_price() and (replay.seed, replay.part) == (0, "worst")
    assert replay.record["prices"] == sorted({run.strength for run in gate_runs()})
    assert len(replay.record["prices"]) == 7 and replay.record["seeds"] == [0, 1, 2]
    assert len(replay.record["runs"]) == 42
    json.dumps(replay.record, allow_nan=False)


def test_every_run_is_sent_as_it_was_recorded(replay: widgets.PruningReplay) -> None:
    for run in (*gate_runs(), *gate_runs(frozen=True)):
        sent = replay.record["runs"][f"{run.seed}|{run.strength}|{'stay' if run.frozen else 'learn'}"]
        assert sent["gates"] == [list(row) for row in run.gates] and sent["kept"] == run.kept
        assert sum(gate > 0 for row in sent["gates"] for gate in row) == run.kept
        for row, labels in zip(sent["gates"], sent["labels"], strict=True):
            assert all(label is None for gate, label in zip(row, labels, strict=True) if gate == 0)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_lines_hold_what_was_recorded(seed: int) -> None:
    stay = series(seed, "stay")
    assert [point["kept"] for point in stay["importance"]["points"]] == list(range(16, -1, -1))
    order = next(one for one in removals() if one.seed == seed and one.by == "confidence")
    for point in stay["confidence"]["points"]:
        assert point["right"] == five(order.with_kept(point["kept"])) and "low" not in point
    randomly = [one for one in removals() if one.seed == seed and one.by.startswith("random")]
    assert stay["random"]["orders"] == len(randomly) == 5
    at = stay["random"]["points"][16 - 9]
    worst = [min(one.with_kept(9).values()) for one in randomly]
    assert (at["low"][0], at["high"][0]) == (min(worst), max(worst))
    assert at["right"][0] == pytest.approx(sum(worst) / 5, abs=1e-4)
    learn = series(seed, "learn")
    assert [point["price"] for point in learn["gates"]["points"]] == [0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8]
    assert learn["gates"]["points"] != stay["gates"]["points"]
    for by in ("importance", "confidence", "random"):
        recorded = {one.kept: one for one in retrained() if one.seed == seed and one.by.startswith(by)}
        points = learn[by]["points"]
        assert [point["kept"] for point in points[1:]] == sorted(recorded, reverse=True)
        if points:
            assert points[0] == {"kept": 16, "right": five(whole_accuracy(seed))}
        for point in points[1:]:
            assert point["right"] == five(recorded[point["kept"]].accuracy)


def test_five_numbers_begin_with_the_worst_part() -> None:
    right = dict(zip(PARTS, (0.9, 0.7, 0.8, 1.0), strict=True))
    assert five(right) == [0.7, 0.9, 0.7, 0.8, 1.0] and MEASURES == ("worst", *PARTS)


def test_runs_in_words() -> None:
    for run in (*gate_runs(), *gate_runs(frozen=True)):
        words = told(run)
        assert words.startswith(f"At a price of {run.strength:g}, {run.kept} of 16 heads surviv")
        for layer, head in run.survivors:
            assert f"L{layer} H{head}" in words
        roles = {role_name(run.heads[layer - 1][head - 1]) for layer, head in run.survivors}
        for role in ("previous word", "next word", "rarest word", "a relation"):
            assert (role in words.split("Nobody is left for")[0]) == (role in roles)
        lost = max(100 * (whole_accuracy(run.seed)[part] - run.accuracy[part]) for part in PARTS)
        assert ("more than 2." in words) == (lost > 2)
        if lost >= 0.05:
            assert f"{lost:.1f}" in words


def test_words_and_still_follow_the_settings(replay: widgets.PruningReplay) -> None:
    assert "training run 1, the weights learn along" in replay.alt and "5 of 16 heads" in replay.alt
    first = replay.still_png()
    replay.set_state({"price": 0.4, "seed": 2, "weights": "stay", "part": "ending", "stamp": 1})
    run = next(run for run in gate_runs(frozen=True) if (run.seed, run.strength) == (2, 0.4))
    assert "training run 3, no weight moves" in replay.alt and told(run) in replay.alt
    assert f"with {run.kept} heads, ending: gates {run.accuracy['ending']:.3f}" in replay.alt
    assert first[:4] == b"\x89PNG" and replay.still_png() != first
    data, _ = replay._repr_mimebundle_()
    assert "training run 3" in data["text/html"] and data["image/png"]


def test_what_was_not_recorded_is_refused_and_nothing_moves(replay: widgets.PruningReplay) -> None:
    wrong = {
        "price": (0.3, -1, "0.2", None, float("nan"), True, [0.2]),
        "seed": (3, "0", None, 0.5, False),
        "part": ("root", None, 1, "<img src=x>"),
        "weights": ("frozen", None, True),
    }
    for name, values in wrong.items():
        for value in values:
            if name == "price" and value is None:
                continue  # the price that the lesson speaks of
            with pytest.raises(ValueError, match=name):
                widgets.PruningReplay(**{name: value})
        before = getattr(replay, name)
        with pytest.raises(ValueError, match=name):
            setattr(replay, name, "odd" if name in ("part", "weights") else 5)
        assert getattr(replay, name) == before
