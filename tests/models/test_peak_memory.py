"""Memory at its fullest moment: what lives at once; kept weights beside the fused kernel."""

from __future__ import annotations

import pytest
import torch

from mha_course import cost
from mha_course.layers import MultiHeadAttention
from mha_course.models.peak_memory import peak_bytes


def test_only_what_lives_at_once_counts() -> None:
    def one_after_the_other() -> None:
        for size in (1_000, 3_000, 2_000):
            torch.zeros(size)

    def together() -> list[torch.Tensor]:
        return [torch.zeros(size) for size in (1_000, 3_000, 2_000)]

    assert peak_bytes(one_after_the_other) == pytest.approx(12_000, abs=500)
    assert peak_bytes(together) == pytest.approx(24_000, abs=500)
    there = torch.zeros(50_000)
    assert peak_bytes(lambda: there.add_(1)) < 500


def test_the_fused_kernel_keeps_no_weights() -> None:
    layer, x = MultiHeadAttention(24, 6), torch.randn(2, 300, 24)
    weights = cost.kept_weights_bytes(2, 6, 300, 300)
    assert weights == 2 * 6 * 300 * 300 * 4
    traced, fused = peak_bytes(lambda: layer.trace(x)), peak_bytes(lambda: layer(x))
    assert 2 * weights < traced < 3 * weights  # scores and weights, and little besides
    assert fused < weights / 4


def test_nothing_is_said(capfd) -> None:
    peak_bytes(lambda: torch.zeros(5))
    assert capfd.readouterr() == ("", "")
