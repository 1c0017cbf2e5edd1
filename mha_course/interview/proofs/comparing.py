"""Comparing variants: what chance makes of nine that are all alike."""

from __future__ import annotations

import torch

from mha_course.interview.proof import Shown, proof


@proof
def nine_equal_variants_have_a_winner() -> Shown:
    """Nine variants as good as the baseline, three seeds each: how often does the best seem better?"""
    g = torch.Generator().manual_seed(0)
    losses = torch.randn(2000, 10, 3, generator=g)  # tables, rows (the first is the baseline), seeds
    means, spreads = losses.mean(-1), losses.amax(-1) - losses.amin(-1)
    gains = means[:, :1] - means[:, 1:]
    best, gain = gains.argmax(1), gains.amax(1)
    larger = torch.maximum(spreads[:, 0], spreads[torch.arange(2000), best + 1])
    by_mean = (gain > 0).double().mean().item()
    by_rule = (gain >= larger).double().mean().item()
    one_row = (gains[:, 0] >= torch.maximum(spreads[:, 0], spreads[:, 1])).double().mean().item()
    assert by_mean > 0.85, f"nine that are alike beat the baseline in {by_mean:.2f} of the tables"
    assert one_row < by_rule < by_mean / 2, f"the rule says better in {by_rule:.2f}, of one row {one_row:.2f}"
    numbers = {"best of nine, by means": by_mean, "by spread": by_rule, "one row, by spread": one_row}
    return Shown("No variant is better. How often the table says that one is:", numbers)
