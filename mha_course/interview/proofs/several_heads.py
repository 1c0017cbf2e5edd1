"""Why several heads: two rows of weights where one head has one, and what heads are not."""

from __future__ import annotations

import torch

from mha_course import cost
from mha_course.interview.proof import Shown, proof
from mha_course.models.random_layer import random_layer


@proof
def one_row_averages_two_targets() -> Shown:
    """One row of weights can't tell which of its two targets brought what; two rows can."""
    values = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
    exchanged = values[[0, 4, 2, 3, 1, 5]]  # tokens 1 and 4 trade places

    one_row, two_rows = torch.zeros(6), torch.zeros(2, 6)
    one_row[[1, 4]] = two_rows[0, 1] = two_rows[1, 4] = 30.0
    a, (a_1, a_2) = one_row.softmax(dim=-1), two_rows.softmax(dim=-1)

    def two_heads(v: torch.Tensor) -> torch.Tensor:
        return torch.cat([a_1 @ v[:, :2], a_2 @ v[:, 2:]])  # half the width each

    assert torch.allclose(a @ values, values[[1, 4]].mean(dim=0), atol=1e-5), "not the mean of the two"
    one = (a @ values - a @ exchanged).abs().max().item()
    two = (two_heads(values) - two_heads(exchanged)).abs().max().item()
    assert one < 1e-5 < 0.1 < two, "one head should miss the exchange, two should see it"
    return Shown("Two tokens trade places; how far the output moves.", {"one head": one, "two heads": two})


@proof
def one_wide_head_or_four_narrow_ones() -> Shown:
    """The same four matrices read as 1 head or as 4: parameters stay, rows and ranks change."""
    x = torch.randn(1, 9, 24, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    wide, narrow = random_layer(24, h=1).double(), random_layer(24, h=4).double()
    assert all(map(torch.equal, wide.parameters(), narrow.parameters())), "not the same matrices"
    assert cost.attention_flops(9, 24, h=1) == cost.attention_flops(9, 24, h=4), "not the same products"
    numbers = {"parameters of either": cost.parameter_count(24, h=1)}
    for name, layer in (("one wide head", wide), ("four narrow heads", narrow)):
        trace = layer.trace(x)
        numbers[f"{name}: rows of weights a token"] = trace.weights.shape[1]
        numbers[f"{name}: rank of head 1's scores"] = int(torch.linalg.matrix_rank(trace.scores[0, 0]))
    assert list(numbers.values())[1:] == [1, 9, 4, 6], "rows should be h, ranks min(n, d_k)"
    return Shown("Nine tokens, d_model = 24: more rows are paid for with a lower rank.", numbers)


@proof
def a_filter_sees_one_token_a_head_sees_all() -> Shown:
    """Change one token of five: a filter (W_V) notices there alone, a head everywhere."""
    x = torch.randn(1, 5, 12, generator=torch.Generator().manual_seed(2))
    changed = x.clone()
    changed[0, 3] += 1
    before, after = (random_layer(12, h=3).trace(inputs) for inputs in (x, changed))

    def tokens_that_notice(stage: str) -> int:
        moved = (getattr(before, stage) - getattr(after, stage)).abs() > 1e-6
        return int(moved[0].any(dim=-1).any(dim=0).sum())

    filtered, attended = tokens_that_notice("v"), tokens_that_notice("heads")
    change = (before.weights - after.weights).abs().max().item()
    assert (filtered, attended) == (1, 5), "a filter has no neighbours, a head has them all"
    assert change > 0.01, "a head's weights should come from the tokens at hand"
    numbers = {"values that moved": filtered, "outputs that moved": attended}
    return Shown("One of five tokens was changed.", numbers | {"largest change of a weight": change})


@proof
def heads_add_up_and_can_cancel() -> Shown:
    """The output is the sum of the heads' shares, so a head can undo another one."""
    x = torch.randn(2, 6, 10, generator=torch.Generator().manual_seed(3))
    layer = random_layer(10, h=2, seed=3)
    trace = layer.trace(x)
    gap = (trace.contributions.sum(dim=1) - trace.output).abs().max().item()
    assert gap < 1e-5, "concat · W_O should be the sum of the shares"
    for weight in (layer.w_q.weight, layer.w_k.weight, layer.w_v.weight):
        weight[5:] = weight[:5]  # head 2 becomes head 1 ...
    layer.w_o.weight[:, 5:] = -layer.w_o.weight[:, :5]  # ... and writes the opposite
    opposed = layer.trace(x)
    share, total = opposed.contributions[:, 0].norm().item(), opposed.output.norm().item()
    assert total < 1e-5 < 1 < share, "two large shares should cancel"
    numbers = {"sum of shares against output": gap, "length of one share": share, "of the sum": total}
    return Shown("Heads add up; here one takes back what the other writes.", numbers)


@proof
def twin_heads_stay_twins() -> Shown:
    """Two heads that start with the same numbers get the same gradient, so training can't part them."""
    generator = torch.Generator().manual_seed(4)
    x, wanted = torch.randn(2, 3, 6, 10, generator=generator)
    layer = random_layer(10, h=2, seed=4)
    for weight in (layer.w_q.weight, layer.w_k.weight, layer.w_v.weight):
        weight[5:] = weight[:5]
    layer.w_o.weight[:, 5:] = layer.w_o.weight[:, :5]
    start = layer.w_q.weight.clone()
    matrices = [weight.requires_grad_() for weight in layer.parameters()]
    for _ in range(20):
        slopes = torch.autograd.grad((layer(x) - wanted).square().mean(), matrices)
        for weight, slope in zip(matrices, slopes, strict=True):
            weight.data -= 0.5 * slope
    w_q = layer.w_q.weight.detach()
    moved, apart = (w_q - start).abs().max().item(), (w_q[5:] - w_q[:5]).abs().max().item()
    assert apart < 1e-5 < 0.01 < moved, "twins should learn, and learn the same"
    return Shown("20 steps later they are twins.", {"W_Q moved by": moved, "the twins differ by": apart})
