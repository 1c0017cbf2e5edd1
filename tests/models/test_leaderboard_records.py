"""The recorded leaderboard: what is read, what counts as a difference, its table while rows are missing."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from mha_course.models.leaderboard_records import (
    REFERENCE,
    THRESHOLD,
    difference,
    leaderboard,
    recorded_row,
    steps_in_words,
    table,
)
from mha_course.models.leaderboard_rows import difference_of
from mha_course.training.leaderboard import ROWS, Row, Setting
from mha_course.training.train_digits import DIGIT_ROWS, DigitSetting


def gloss_run(variant: str, h: int, seed: int, *losses: float, seconds: float = 10.0) -> dict[str, object]:
    return {
        "task": "gloss",
        "variant": variant,
        "h": h,
        "seed": seed,
        "parameters": 1_234,
        "attention_parameters": 56,
        "flops": 789_000,
        "cached": 12,
        "losses": list(losses),
        "accuracy": {"stem": 0.5 + seed / 10, "ending": 0.9},
        "seconds": seconds,
    }


def digits_run(variant: str, h: int, seed: int, right: float, loss: float) -> dict[str, object]:
    told = {"parameters": 99, "right": right, "loss": loss, "seconds": 3.0}
    return {"task": "digits", "variant": variant, "h": h, "seed": seed, **told}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Two seeds of plain and of talking heads, one of a mixture; digits with three seeds of two rows."""
    runs = [
        gloss_run("plain", 8, 1, 3.0, 2.0, 1.2, seconds=30.0),
        gloss_run("plain", 8, 0, 3.0, 1.5, 1.0),
        gloss_run("talking", 8, 0, 3.0, 2.0, 1.05),
        gloss_run("talking", 8, 1, 3.0, 2.0, 1.55),
        gloss_run("mixture", 8, 0, 2.0, 1.0, 0.5),
        *(digits_run("plain", 8, seed, 0.9 + seed / 100, 0.4) for seed in range(3)),
        *(digits_run("mixture", 8, seed, 0.95 + seed / 200, 0.3 + seed / 10) for seed in range(3)),
    ]
    settings = {"gloss": asdict(Setting(n_layers=3, look=40)), "digits": asdict(DigitSetting(n_layers=1))}
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"settings": settings, "machine": "here", "runs": runs}), encoding="utf-8")
    return path


def test_rows_come_best_first_with_their_seeds_in_order(record: Path) -> None:
    rows = leaderboard(path=record)
    assert [row.row.variant for row in rows] == ["mixture", "plain", "talking"]
    plain = rows[1]
    assert plain.seeds == (0, 1) and plain.losses == (1.0, 1.2)
    assert plain.loss == pytest.approx(1.1) and plain.spread == pytest.approx(0.2)
    assert plain.seconds == 20.0 and plain.right is None and plain.right_spread is None
    assert plain.accuracy == pytest.approx({"stem": 0.55, "ending": 0.9})
    assert plain.cache_bytes == 4 * 3 * 12 and plain.words == "plain heads"
    assert plain.curve == ((40, 3.0), (80, pytest.approx(1.75)), (120, pytest.approx(1.1)))
    assert rows[0].spread is None and rows[0].source == "Jin et al. 2024"


def test_steps_to_a_threshold_are_told_a_seed(record: Path) -> None:
    plain, talking = recorded_row("plain", path=record), recorded_row("talking", path=record)
    assert plain.steps_to() == (80, 120) and plain.steps_to(2.5) == (80, 80)
    assert talking.steps_to(THRESHOLD) == (120, None)
    assert steps_in_words((80, 120)) == "100 (80 to 120)" and steps_in_words((80, 80)) == "80 (80)"
    assert steps_in_words((120, None)) == "never in 1 of 2" and steps_in_words((None, None)) == "never"


def test_a_difference_below_the_spread_is_none(record: Path) -> None:
    plain, talking, mixture = (recorded_row(name, path=record) for name in ("plain", "talking", "mixture"))
    against = difference(talking, plain)
    # 1.3 against 1.1; talking heads spread over 0.5, plain ones over 0.2.
    assert against.amount == pytest.approx(-0.2) and against.spread == pytest.approx(0.5)
    assert not against.told and against.words == "no difference"
    assert difference(plain, talking).words == "no difference"
    assert difference(mixture, plain).words == "too few seeds" and not difference(mixture, plain).told
    assert difference(plain, plain).words == "no difference"


def test_a_difference_above_the_spread_has_a_size_and_a_direction(record: Path) -> None:
    plain, mixture = (recorded_row(name, task="digits", path=record) for name in ("plain", "mixture"))
    assert mixture.right == pytest.approx(0.955) and plain.right_spread == pytest.approx(0.02)
    assert difference(mixture, plain).words == "better by 4.5 points"
    assert difference(plain, mixture).words == "worse by 4.5 points"
    # The losses are 0.4 with every seed, and 0.3 to 0.5: the means are alike.
    assert difference(mixture, plain, "loss").words == "no difference"
    assert [row.row.variant for row in leaderboard("digits", record)] == ["mixture", "plain"]


def test_steps_and_seconds_are_compared_by_the_same_rule(record: Path) -> None:
    plain, talking = recorded_row("plain", path=record), recorded_row("talking", path=record)
    assert difference(talking, plain, "steps").words == "not reached with every seed"
    # 30 s and 10 s against twice 10 s: means of 20 and 10, a spread of 20.
    assert difference(talking, plain, "seconds").words == "no difference"
    assert difference_of((100, 150), (300, 400), "steps").words == "faster by 225 steps"
    assert difference_of((9.0, 9.5), (4.0, 4.25), "seconds").words == "longer by 5.1 s"


def test_the_digits_costs_are_counted(record: Path) -> None:
    plain, mixture = (recorded_row(name, task="digits", path=record) for name in ("plain", "mixture"))
    d, n, d_ff = 32, 16, 128
    # Four projections, scores and averages, two feed-forward matrices; a product and a sum each.
    assert plain.flops == 2 * (4 * n * d * d + 2 * n * n * d + 2 * n * d * d_ff)
    assert plain.cached == mixture.cached == 2 * d and plain.cache_bytes == 4 * 2 * d
    assert mixture.flops < plain.flops


def test_what_cannot_be_asked_is_told(record: Path) -> None:
    with pytest.raises(ValueError, match="'gloss' or 'digits'"):
        leaderboard("sums", record)
    with pytest.raises(ValueError, match=r"no row 'talking' with h=4.*mixture, h = 8; plain, h = 8"):
        recorded_row("talking", 4, path=record)
    gloss, digits = recorded_row("plain", path=record), recorded_row("plain", task="digits", path=record)
    with pytest.raises(ValueError, match="two tasks"):
        difference(gloss, digits)
    with pytest.raises(ValueError, match="measure='right'.*for the gloss"):
        difference(gloss, gloss, "right")


def test_the_table_says_what_is_missing(record: Path) -> None:
    lines = table(path=record).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert len({len(line) for line in lines}) == 1 and len({len(row) for row in cells}) == 1
    head, _, mixture, plain, talking = cells
    at = head.index("against plain, h = 8")
    assert (mixture[at], plain[at], talking[at]) == ("too few seeds", "–", "no difference")
    assert mixture[head.index("seeds")] == "1" and talking[head.index("from, to")] == "1.050 to 1.550"
    assert plain[head.index("steps to 1.5")] == "100 (80 to 120)"
    digits = table("digits", record)
    assert "better by 4.5 points" in digits and "95.0 to 96.0" in digits


def test_a_record_that_has_hardly_begun_has_a_table(tmp_path: Path) -> None:
    settings = {"gloss": asdict(Setting()), "digits": asdict(DigitSetting())}
    path = tmp_path / "begun.json"
    begun = {"settings": settings, "runs": [gloss_run("grouped", 8, 0, 2.0)]}
    path.write_text(json.dumps(begun), encoding="utf-8")
    assert "not run yet" in table(path=path) and "never" in table(path=path)
    assert table("digits", path).count("\n") == 1 and leaderboard("digits", path) == ()


def test_the_record_of_the_course_is_of_the_setting_in_the_code() -> None:
    gloss = leaderboard()
    assert {row.row for row in gloss} <= set(ROWS) and REFERENCE in {row.row for row in gloss}
    assert {row.row for row in leaderboard("digits")} <= set(DIGIT_ROWS)
    for row in gloss:
        assert len(row.curve) == Setting().recipe.steps // Setting().look
        assert row.look == Setting().look and row.layers == Setting().n_layers
        assert row.loss < row.curve[0][1] / 2
    assert recorded_row("plain", 8).row == Row("plain", 8)


def test_a_mean_is_rounded_as_it_is_written() -> None:
    # The mean of these is 1.0255; their sum in binary, divided by 3, is a little less.
    runs = [replace(recorded_row("plain", 4).runs[0], losses=(one,)) for one in (0.9891, 1.0663, 1.0211)]
    row = replace(recorded_row("plain", 4), runs=tuple(runs))
    assert f"{row.loss:.3f}" == "1.026"
