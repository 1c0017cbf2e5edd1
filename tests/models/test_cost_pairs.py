"""Pairs of settings: a wide spread, ratios as they are defined, and what was recorded about them."""

from __future__ import annotations

import pytest

from mha_course import cost
from mha_course.models import cost_pairs
from mha_course.models.cost_pairs import PAIRS, Compared, Pair, compare
from mha_course.models.own_machine import Setting, measure_machine, predicted_seconds

TOY = cost.Machine("toy", peak=1e9, bandwidth=1e8)


def test_pairs_are_many_different_and_of_all_kinds() -> None:
    assert len({pair.question for pair in PAIRS}) == len(PAIRS) >= 14
    assert len({(pair.first, pair.second) for pair in PAIRS}) == len(PAIRS)
    settings = [one for pair in PAIRS for one in (pair.first, pair.second)]
    assert {one.n == 1 for one in settings} == {True, False}
    assert {one.n_kv_heads for one in settings} >= {None, 1, 2, 4}
    assert len({one.d_model for one in settings}) >= 5 and len({one.b for one in settings}) >= 6
    for pair in PAIRS:
        assert pair.first != pair.second
        least = min(predicted_seconds(one, TOY)["total"] for one in (pair.first, pair.second))
        # On this slow machine 0.05 s: some 0.5 ms on a real one, beside which starting calls counts little.
        assert least > 0.05, pair.question


def test_a_question_tells_the_numbers_that_differ() -> None:
    times = {"four": 4, "twice": 2, "eight": 8}
    found = 0
    for pair in PAIRS:
        word = pair.question.split()[0]
        if word not in times:
            continue
        a, b = pair.first, pair.second
        grown = {b.b / a.b, b.n / a.n, b.d_model / a.d_model, (b.cached + b.n) / (a.cached + a.n)}
        assert times[word] in grown, pair.question
        found += 1
    assert found >= 4


def test_ratios_are_second_over_first() -> None:
    pair = Pair("more", Setting(1, 5, 12, 3), Setting(2, 7, 12, 3))
    made = Compared(pair, ({"total": 2.0}, {"total": 6.0}), ({"total": 5.0}, {"total": 6.0}))
    assert (made.predicted_ratio, made.measured_ratio) == (3.0, 1.2)
    assert made.off_by == pytest.approx(2.5)
    turned = Compared(pair, made.measured, made.predicted)
    assert turned.off_by == pytest.approx(2.5)


def test_settings_take_turns_and_the_fastest_try_of_a_stage_counts(monkeypatch) -> None:
    asked: list[int] = []
    tries = iter(
        [
            {"scores": 3.0, "softmax": 1.0, "total": 4.0},
            {"scores": 7.0, "softmax": 5.0, "total": 12.0},
            {"scores": 2.0, "softmax": 4.0, "total": 6.0},
            {"scores": 9.0, "softmax": 2.0, "total": 11.0},
        ]
    )

    def measured(setting: Setting, seconds: float) -> dict[str, float]:
        asked.append(setting.n)
        return next(tries)

    monkeypatch.setattr(cost_pairs, "measured_seconds", measured)
    made = compare(Pair("more", Setting(1, 5, 12, 3), Setting(2, 7, 12, 3)), TOY, rounds=2)
    assert asked == [5, 7, 5, 7]
    assert made.measured[0] == {"scores": 2.0, "softmax": 1.0, "total": 3.0}
    assert made.measured[1] == {"scores": 7.0, "softmax": 2.0, "total": 9.0}
    assert made.predicted[1] == predicted_seconds(Setting(2, 7, 12, 3), TOY)
    with pytest.raises(ValueError, match="rounds=0"):
        compare(PAIRS[0], TOY, rounds=0)


@pytest.mark.slow
@pytest.mark.parametrize("question", ["twice the width", "four times the batch", "16 requests, not 2"])
def test_ratios_agree_on_this_machine(question: str) -> None:
    pair = next(one for one in PAIRS if one.question == question)
    assert compare(pair, measure_machine(), rounds=2).off_by < 2
