"""Taking heads away: twins, gates that reach zero, slopes that cancel, and what is saved."""

from __future__ import annotations

import torch

from mha_course import cost
from mha_course.heads.ablation import without_heads
from mha_course.heads.gating import FixedGates
from mha_course.heads.hard_concrete import HardConcrete
from mha_course.interview.proof import Shown, proof
from mha_course.models.random_layer import random_layer
from mha_course.variants.some_heads import layer_of_heads


@proof
def a_twin_hides_its_twin() -> Shown:
    """Two heads that do the same: no answer changes without either, many without both."""
    layer = random_layer(d_model=24, h=4)
    for part in (layer.w_q, layer.w_k, layer.w_v):
        part.weight[6:12] = part.weight[:6]  # head 2 becomes head 1
    layer.w_o.weight[:, 6:12] = layer.w_o.weight[:, :6]
    layer.w_o.weight[:, 12:] *= 0.02
    x = torch.randn(50, 9, 24, generator=torch.Generator().manual_seed(0))
    answers, changed = layer(x).argmax(-1), {}
    for name, gone in (("without head 1", [1]), ("without head 2", [2]), ("without both", [1, 2])):
        with without_heads(layer, [(1, head) for head in gone]):
            changed[name] = (layer(x).argmax(-1) != answers).double().mean().item()
    one, other, both = changed.values()
    assert max(one, other) < 0.1 and both > 0.5, f"answers that change: {changed}"
    return Shown("Share of the answers that change: neither twin is missed, both are.", changed)


@proof
def hard_gates_reach_zero() -> Shown:
    """A hard concrete gate is often exactly 0, by formula; a sigmoid never is, and W_O can undo it."""
    u = torch.rand(100_000, generator=torch.Generator().manual_seed(0))
    log_alpha, concrete = torch.tensor(-1.0, requires_grad=True), HardConcrete()
    opened = (concrete.sample(log_alpha.detach().expand_as(u), u) > 0).double().mean().item()
    chance = concrete.probability_open(log_alpha)
    chance.backward()
    assert abs(opened - chance.item()) < 0.01, f"open in {opened:.3f}, by formula {chance.item():.3f}"
    assert log_alpha.grad > 0 and torch.sigmoid(torch.tensor(-9.0)) > 0, "no slope to learn by"
    layer = random_layer(d_model=24, h=4)
    x = torch.randn(2, 7, 24, generator=torch.Generator().manual_seed(1))
    before, layer.gate = layer(x), FixedGates(torch.tensor([0.01, 1, 1, 1]))
    layer.w_o.weight[:, :6] *= 100  # the rows of head 1
    assert torch.allclose(layer(x), before, atol=1e-4), "a gate of 0.01 has an effect of its own"
    numbers = {"open in draws": opened, "by formula": chance.item(), "its slope": log_alpha.grad.item()}
    return Shown(f"Exactly 0 in {1 - opened:.0%} of the draws, and the chance has a slope.", numbers)


@proof
def slopes_of_both_signs_cancel() -> Shown:
    """A head that helps some sentences and harms others: slopes cancel in the mean, their sizes don't."""
    layer = random_layer(d_model=24, h=4)
    g = torch.Generator().manual_seed(0)
    x, wanted = torch.randn(400, 7, 24, generator=g), torch.randn(400, 7, 24, generator=g)
    xi = torch.ones(400, 4, requires_grad=True)  # a factor for every sentence and head
    added = layer.trace(x).contributions * xi[:, :, None, None]
    (-(added.sum(1) * wanted).mean((1, 2))).sum().backward()
    cancelled, importance = xi.grad.mean(0).abs(), xi.grad.abs().mean(0)
    assert (importance > 5 * cancelled).all(), "slopes don't cancel"
    without = (layer.trace(x).contributions * wanted[:, None]).mean((2, 3))  # what each removal costs
    assert torch.allclose(without.abs().mean(0), importance, atol=1e-6), "the slope isn't the cost"
    return Shown(
        "The absolute value first, then the mean: the other way round slopes cancel.",
        {"mean of |slope|, head 1": importance[0].item(), "|mean of slopes|": cancelled[0].item()},
    )


@proof
def only_what_is_taken_out_is_saved() -> Shown:
    """Two of four heads held at zero or taken out: the same output, half of the work only when taken out."""
    layer = random_layer(d_model=24, h=4)
    x = torch.randn(2, 7, 24, generator=torch.Generator().manual_seed(0))
    small = layer_of_heads(layer, [0, 2])
    layer.gate = FixedGates(torch.tensor([1.0, 0, 1, 0]))
    off = (small(x) - layer(x)).abs().max().item()
    assert off < 1e-6, "taken out is not held at zero"
    held, taken_out = (sum(p.numel() for p in one.parameters()) for one in (layer, small))
    flops = [cost.attention_flops(128, 768, heads, d_k=64, d_v=64)["total"] for heads in (12, 6)]
    assert 2 * taken_out == held and 2 * flops[1] == flops[0], "half of the heads is not half of the work"
    feed_forward = 16 * 128 * 768**2  # two products, four times as wide
    block = (flops[1] + feed_forward) / (flops[0] + feed_forward)
    assert 0.8 < block < 0.85, f"a block keeps {block:.0%} of its FLOPs"
    numbers = {"parameters, held at zero": held, "taken out": taken_out, "FLOPs of a BERT block left": block}
    return Shown("Half of attention's work is gone, and a sixth of the block's.", numbers)
