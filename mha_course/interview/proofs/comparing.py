"""Comparing: what chance makes of nine variants that are all alike, and which tests see a wrong layer."""

from __future__ import annotations

import torch

from mha_course.attention import scaled_scores, split_heads
from mha_course.interview.proof import Shown, proof
from mha_course.models.random_layer import random_layer


@proof
def nine_equal_variants_have_a_winner() -> Shown:
    """Nine variants as good as the baseline, three seeds each: the best of them mostly looks better."""
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
    return Shown("No variant is better; this is how often the table says that one is.", numbers)


@proof
def friendly_tests_see_nothing() -> Shown:
    """Three wrong layers: each passes a test with friendly numbers, and fails one with others."""
    g = torch.Generator().manual_seed(0)
    x, ones = torch.randn(2, 9, 24, generator=g), torch.ones(2, 9, 24)
    by_view = [(z.view(2, 4, 9, 6) - split_heads(z, 4)).abs().max().item() for z in (ones, x)]
    by_scale = []
    for h in (1, 4):
        t = random_layer(d_model=24, h=h).trace(x)
        slip = scaled_scores(t.q, t.k, scale=24**-0.5).softmax(-1)
        by_scale.append((slip - t.weights).abs().max().item())
    layer, square = random_layer(d_model=24, h=4), torch.randn(5, 5, 24, generator=g)
    swapped = [layer.trace(z.transpose(0, 1)).weights.shape for z in (square, x)]
    same = [shape == layer.trace(z).weights.shape for shape, z in zip(swapped, (square, x), strict=True)]
    assert max(by_view[0], by_scale[0]) < 1e-6 and same[0], "the friendly tests see something"
    assert by_view[1] > 1 and by_scale[1] > 0.01 and not same[1], "the others see nothing"
    labels = ("view alone, input of ones", "random input", "√d_model, h = 1", "h = 4")
    return Shown("What two wrong layers are off by.", dict(zip(labels, by_view + by_scale, strict=True)))
