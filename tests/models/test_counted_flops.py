"""The formula for FLOPs beside PyTorch's counter, with and without the fused kernel."""

from __future__ import annotations

import pytest

from mha_course.models.counted_flops import counted_flops
from mha_course.models.own_machine import Setting


@pytest.mark.parametrize(
    "setting",
    [
        Setting(2, 7, 24, 6),
        Setting(3, 5, 48, 4, 2),
        Setting(5, 1, 48, 6, None, 13),
        Setting(3, 2, 40, 10, 1, 17),
        Setting(1, 11, 36, 1),
    ],
    ids=str,
)
def test_the_formula_is_what_is_counted(setting: Setting) -> None:
    counted = counted_flops(setting)
    assert counted.total == counted.plain == sum(counted.formula.values())
    # The fused kernel's two products are not seen at all, the rest is.
    assert counted.unseen == counted.formula["scores"] + counted.formula["weighted_sum"] > 0
    assert counted.fused == counted.formula["projections"] + counted.formula["output_projection"]


def test_numbers_of_the_paper_s_layer() -> None:
    """d_model 512, h 8, n 128: 8 n d^2 and 4 n^2 d, of which a counter of fused layers sees the first."""
    counted = counted_flops(Setting(1, 128, 512, 8))
    assert counted.fused == 8 * 128 * 512**2
    assert counted.unseen == 4 * 128**2 * 512
