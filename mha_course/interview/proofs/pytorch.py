"""What PyTorch's own layer does differently, and what dropout does to weights."""

from __future__ import annotations

import torch
from torch import nn

from mha_course.attention import scaled_dot_product_attention
from mha_course.interview.drawn import drawn
from mha_course.interview.proof import Shown, proof
from mha_course.masks import causal_mask
from mha_course.models.random_layer import random_layer


@proof
def dropped_rows_sum_to_1_on_average() -> Shown:
    """Dropout on weights: single rows sum to other numbers, and output and sums are right on average."""
    g = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 11, 6, generator=g)
    output, weights = scaled_dot_product_attention(q, k, v)
    kept = torch.rand(4000, 11, 11, generator=g) > 0.1  # 4,000 draws of dropout 0.1
    dropped = weights * kept / 0.9
    sums = dropped.sum(-1)
    assert (sums[0] - 1).abs().max() > 0.05, "dropped rows still sum to 1"
    assert (sums.mean(0) - 1).abs().max() < 0.02, "rows don't sum to 1 on average"
    assert ((dropped @ v).mean(0) - output).abs().max() < 0.05, "the output is another one on average"
    assert (weights.sum(-1) - 1).abs().max() < 1e-5, "weights before dropout don't sum to 1"
    low, high = sums[0].aminmax()
    numbers = {"least sum in one draw": low.item(), "largest": high.item(), "mean": sums.mean().item()}
    return Shown("Rows after dropout sum to 1 on average only.", numbers)


@proof
def torch_wants_to_be_told() -> Shown:
    """nn.MultiheadAttention with our numbers: equal once it is told how, something else by default."""
    ours, may = random_layer(d_model=24, h=4), causal_mask(7)
    theirs = drawn(lambda: nn.MultiheadAttention(24, 4, bias=False, batch_first=True))
    theirs.in_proj_weight.copy_(torch.cat([w.weight for w in (ours.w_q, ours.w_k, ours.w_v)]))
    theirs.out_proj.weight.copy_(ours.w_o.weight)
    x = torch.randn(3, 7, 24, generator=torch.Generator().manual_seed(0))
    t = ours.trace(x, mask=may)
    output, weights = theirs(x, x, x, attn_mask=~may, average_attn_weights=False)
    off = max((output - t.output).abs().max().item(), (weights - t.weights).abs().max().item())
    assert off < 1e-5, "told how, the two still differ"
    averaged = torch.allclose(theirs(x, x, x, attn_mask=~may)[1], t.weights.mean(1), atol=1e-6)
    backwards = theirs(x, x, x, attn_mask=may, average_attn_weights=False)[1][:, :, :-1]
    future = backwards[..., ~may[:-1]].sum().item() / backwards.sum().item()
    theirs.batch_first = False
    assert averaged and future > 0.999 and theirs(x, x, x)[1].shape == (7, 3, 3), "a trap has been mended"
    numbers = {"told how, off by": off, "mask the wrong way round: weight on the future": future}
    return Shown("Equal when told; by default averaged, sequence first, True means blocked.", numbers)
