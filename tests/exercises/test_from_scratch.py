"""What the exercises of lesson 16 say of right numbers: loops, room, and weights in a dictionary."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mha_course.exercises import check
from mha_course.exercises.exercise import Case
from mha_course.exercises.judging import prepared
from mha_course.exercises.reading.at_once import loop_remark
from mha_course.exercises.unchanged import frozen, unchanged
from tests.exercises.written import encoder_block as block
from tests.exercises.written import frugal_attention as frugal
from tests.exercises.written import whole_attention as whole


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_COURSE_HOME", str(tmp_path))


def test_what_goes_in_one_go_gets_no_remark() -> None:
    for fn in (whole.folded, whole.exponentials, whole.emptied_at_the_end):
        assert loop_remark(fn) == ""
        assert check("whole_attention", fn).remarks == ()


def test_a_loop_is_told_with_its_products() -> None:
    heads = loop_remark(whole.summed)  # six products a head: three slices, scores, weighted sum, W_O's rows
    assert "takes the heads one by one" in heads and "makes 36 matrix products" in heads
    assert "takes the sentences and queries one by one" in loop_remark(whole.one_by_one)
    assert check("whole_attention", whole.summed).passed


def test_pytorch_s_own_attention_passes_with_a_remark() -> None:
    verdict = check("whole_attention", whole.fused)
    assert verdict.passed and "From scratch means these, too" in verdict.message


@pytest.mark.parametrize(
    "change", [lambda p: p["w_1"].mul_(2), lambda p: p.pop("b_1"), lambda p: p.update(z=1)]
)
def test_a_dictionary_of_weights_is_to_stay_as_it_was(change) -> None:
    def fn(x, parts, h, allowed):
        made = block.RIGHT[0](x, dict(parts), h, allowed)
        change(parts)
        return made

    verdict = check("encoder_block", fn)
    assert verdict.diagnosis == "changed-input" and "`parts`" in verdict.message
    assert check("encoder_block", block.RIGHT[0]).passed


def test_gradients_are_looked_for_in_a_dictionary_by_its_keys() -> None:
    def cut(x, parts, h, allowed):
        return block.RIGHT[0](x, {**parts, "w_2": parts["w_2"].detach()}, h, allowed)

    assert "`w_2`" in check("encoder_block", cut).message


def test_what_is_frozen_stays_and_changes_are_seen() -> None:
    parts = {"a": torch.ones(3), "b": [1, 2]}
    kept = frozen(parts)
    assert unchanged(kept, parts)
    parts["a"][1] = 2
    assert not unchanged(kept, parts) and kept["a"].tolist() == [1, 1, 1]
    assert not unchanged(frozen({"a": 1}), {"a": 1, "b": 2})


def test_cases_hand_out_copies_of_what_a_dictionary_holds() -> None:
    case = Case("once", ({"w": torch.ones(2)},))
    case.fresh()[0]["w"].zero_()
    assert case.arguments[0]["w"].tolist() == [1, 1]


def test_gradients_of_a_special_case_decide_where_they_are_asked_for() -> None:
    cases, _ = prepared("whole_attention")
    assert cases[0].label == "with padding and order" and any(case.edge for case in cases)
    hidden = whole.with_rows(hide=lambda s, m: s + m.log(), late=lambda w, m: whole.tidy(w))
    verdict = check("whole_attention", hidden)
    assert verdict.diagnosis == "nan-gradients" and "Where queries may attend to nothing" in verdict.witness


def test_keys_in_blocks_pass_with_a_remark_and_queries_without() -> None:
    by_keys = check("frugal_attention", frugal.by_keys)
    assert by_keys.passed and "keys are cut here, not queries" in by_keys.message
    for fn in (frugal.chunked, frugal.collected, frugal.by_a_function, frugal.rows_of_the_whole):
        verdict = check("frugal_attention", fn)
        assert verdict.passed and verdict.remarks == (), verdict
