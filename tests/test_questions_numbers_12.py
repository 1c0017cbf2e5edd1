"""The numbers in the questions of lesson 12, computed again."""

from __future__ import annotations

import torch

from mha_course import cost
from mha_course.heads.hard_concrete import HardConcrete
from mha_course.heads.pruning import attention_size, pruned_layer
from mha_course.layers import MultiHeadAttention
from mha_course.models.pruning_records import gate_runs, removals, retrained
from mha_course.widgets.question_texts import find_question


def told(key: str) -> str:
    """All that a question says, as one text."""
    question = find_question(key)
    return " ".join([question.text, *(part for c in question.choices for part in (c.text, c.because))])


def test_doubles_cost_more_together_than_apart() -> None:
    assert 120 / (1 + 1) == 60
    assert "120 of 1,000" in told("12-doubles") and "60 times" in told("12-doubles")


def test_four_gates_are_open_1_94_times_on_average() -> None:
    concrete, log_alpha = HardConcrete(), torch.tensor([-9.0, -9.0, 2.0, 9.0])
    chances = concrete.probability_open(log_alpha)
    assert [f"{chance:.2f}" for chance in chances] == ["0.00", "0.00", "0.94", "1.00"]
    assert f"{float(concrete.expected_l0(log_alpha)):.2f}" == "1.94"
    assert chances[0] < 1e-3 and round(100 * (1 - float(chances[2]))) == 6
    text = told("12-penalty")
    assert "−9, −9, 2 and 9" in text and "about 1.94" in text and "6 draws of 100" in text


def test_slopes_cancel_and_their_sizes_do_not() -> None:
    slopes = torch.tensor([0.03, -0.02, -0.02, 0.01])
    assert abs(float(slopes.mean())) < 1e-8
    assert round(float(slopes.abs().mean()), 4) == 0.02 and round(float(slopes.abs().sum()), 4) == 0.08
    assert "+0.03, −0.02, −0.02 and +0.01" in told("12-slopes") and "0.08 / 4" in told("12-slopes")


def test_the_report_compares_what_section_7_compares() -> None:
    def mean(rows: list) -> float:
        return sum(min(row.values()) for row in rows) / len(rows)

    gates = [run.accuracy for run in gate_runs() if run.strength == 0.1]
    alone = [one.with_kept(6) for one in removals() if one.by == "importance"]
    trained = [one.accuracy for one in retrained() if one.by == "importance" and one.kept == 6]
    assert len(gates) == len(alone) == len(trained) == 3
    assert mean(gates) > 0.99 and round(100 * mean(alone)) == 85
    assert mean(trained) >= mean(gates) - 0.002
    assert "99 %" in told("12-fair") and "85 %" in told("12-fair")


def test_a_layer_of_two_heads_has_a_quarter_of_the_parameters() -> None:
    layer = MultiHeadAttention(128, 8, bias=False)
    gate = torch.tensor([0.0, 1, 0, 0, 0, 0, 1, 0])
    left = attention_size(pruned_layer(layer, gate), n=5).parameters
    assert cost.parameter_count(128, 8) == 65_536 and left == 4 * 128 * 32 == 16_384
    shrunk = 3 * 128 * 32 + 128 * 128
    assert shrunk == 28_672 and left // 4 == 4_096
    text = told("12-smaller")
    assert all(number in text for number in ("65,536", "28,672", "16,384", "4,096", "96 rows"))
