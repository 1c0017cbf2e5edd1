"""Why the scores are divided by sqrt(d_k), what that needs, and what a sharp softmax does."""

from __future__ import annotations

import torch

from mha_course.attention import masked_softmax, scaled_scores
from mha_course.interview.proof import Shown, proof
from mha_course.models.random_layer import random_layer


@proof
def variance_of_a_score_is_d_k() -> Shown:
    """Independent components with variance 1: q · k has variance d_k, and undivided rows go dead."""
    generator, numbers = torch.Generator().manual_seed(0), {}
    for d_k in (16, 64, 256):
        q = torch.randn(1000, d_k, generator=generator)
        k = torch.randn(64, d_k, generator=generator)
        raw, divided = q @ k.T, scaled_scores(q, k)
        assert abs(raw.var() / d_k - 1) < 0.2, "the variance of q · k should be near d_k"
        assert abs(divided.var() - 1) < 0.2, "divided by sqrt(d_k) it should be near 1"
        dead = [(s.softmax(dim=-1).amax(dim=-1) > 0.99).float().mean().item() for s in (raw, divided)]
        assert dead[1] == 0, "no row should be dead after the division"
        numbers[f"d_k = {d_k}: variance of q · k"] = raw.var().item()
        numbers[f"d_k = {d_k}: share of dead rows, undivided"] = dead[0]
    return Shown("1,000 queries, 64 keys; dead: one weight above 0.99. Divided, no row is.", numbers)


@proof
def where_the_scale_argument_fails() -> Shown:
    """Take away one assumption after the other, and look at the variance of a score at d_k = 64."""
    generator = torch.Generator().manual_seed(1)
    q, k = torch.randn(2, 12_000, 64, generator=generator)
    one_q, one_k = q[:, :1].expand(-1, 64), k[:, :1].expand(-1, 64)
    x, weights = torch.randn(400, 96, generator=generator), torch.rand(40, 2, 96, 24, generator=generator)
    w_q, w_k = ((2 * weights - 1) / 96**0.5).unbind(dim=1)  # as nn.Linear starts
    cases = {
        "mean 0, variance 1, independent": ((q * k).sum(-1).var(), 64),
        "mean 1 in place of 0": (((q + 1) * (k + 1)).sum(-1).var(), 64 * 3),
        "64 copies of one component": ((one_q * one_k).sum(-1).var(), 64**2),
        "fresh nn.Linear, d_k = 24, divided": (scaled_scores(x @ w_q, x @ w_k).var(), 1 / 9),
    }
    for case, (found, theory) in cases.items():
        assert abs(found / theory - 1) < 0.15, f"{case}: {found:.2f}, not near {theory:.2f}"
    return Shown("Variance of a score, d_k = 64.", {case: float(n) for case, (n, _) in cases.items()})


@proof
def temperature_sharpens_and_stills() -> Shown:
    """A lower temperature sharpens a row, keeps its order, and ends with next to no gradient."""
    scores = torch.randn(12, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    numbers, entropies, slopes = {}, [], []
    for temperature in (8, 1, 0.3, 0.02):
        a = (scores / temperature).softmax(dim=-1)
        assert torch.equal(a.argsort(), scores.argsort()), "the order of the keys should stay"
        entropies.append(-(a * a.log()).sum().item())
        slopes.append((a.diag() - torch.outer(a, a)).norm().item())  # how the weights answer to scores
        numbers[f"temperature {temperature}: largest weight"] = a.max().item()
        numbers[f"temperature {temperature}: slope"] = slopes[-1]
    assert entropies == sorted(entropies, reverse=True), "each step down should sharpen the row"
    assert slopes[-1] < 1e-3 < slopes[0] < slopes[1], "flat answers little, one-hot hardly at all"
    return Shown("One row of twelve scores, four temperatures.", numbers)


@proof
def dividing_by_sqrt_d_model_is_too_flat() -> Shown:
    """Divided by sqrt(d_model): right for one head, sqrt(h) too flat for several, unseen when saturated."""
    x = torch.randn(2, 7, 48, generator=torch.Generator().manual_seed(3))
    numbers = {}
    for name, h, size in (("h = 1", 1, 1), ("h = 4", 4, 1), ("h = 4, saturated", 4, 1000)):
        trace = random_layer(48, h).trace(x * size)
        slip = masked_softmax(scaled_scores(trace.q, trace.k, scale=48**-0.5))
        numbers[f"{name}: largest error of a weight"] = (slip - trace.weights).abs().max().item()
        repaired = masked_softmax(scaled_scores(h**0.5 * trace.q, trace.k, scale=48**-0.5))
        assert torch.allclose(repaired, trace.weights, atol=1e-3), "the slip should be a factor sqrt(h)"
    alone, several, saturated = numbers.values()
    assert alone < 1e-6 and several > 0.05 > 1e-3 > saturated, "only unsaturated scores with h > 1 show it"
    return Shown("Off by a factor sqrt(h): found with several heads and moderate scores only.", numbers)
