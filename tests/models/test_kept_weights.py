"""Memory of the weights: measured beside b h n^2, and gone with the fused kernel."""

from __future__ import annotations

import pytest

from mha_course.models.kept_weights import memory_of_weights


def test_kept_is_two_sets_and_fused_grows_with_n_only() -> None:
    short, long = memory_of_weights((250, 500), d_model=24, h=6, b=3)
    assert (short.formula, long.formula) == (3 * 6 * 250**2 * 4, 3 * 6 * 500**2 * 4)
    for row in (short, long):
        assert 2 <= row.sets < 2.4  # scores and weights, and what is kept besides
        assert row.fused < row.formula / 4
    assert 3.5 < long.kept / short.kept <= 4
    assert long.fused / short.fused == pytest.approx(2, rel=0.1)


def test_more_heads_cost_memory_only_when_weights_are_kept() -> None:
    few, many = (memory_of_weights((300,), d_model=24, h=h, b=2)[0] for h in (2, 12))
    assert many.formula == 6 * few.formula
    assert many.kept > 4 * few.kept
    assert many.fused == pytest.approx(few.fused, rel=0.1)


def test_what_cannot_be_is_named() -> None:
    with pytest.raises(ValueError, match="d_model=10"):
        memory_of_weights((5,), d_model=10, h=3)
