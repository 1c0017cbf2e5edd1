"""Memory of attention: blocks, a softmax in pieces, what a kernel saves, and minus a billion in 16 bits."""

from __future__ import annotations

import torch

from mha_course import cost
from mha_course.attention import masked_softmax, scaled_dot_product_attention, scaled_scores
from mha_course.interview.proof import Shown, proof


@proof
def blocks_of_queries_hold_fewer_scores() -> Shown:
    """Some queries at a time: the same output, and a sixth of the weights at once."""
    g = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 2, 4, 96, 8, generator=g)
    whole, weights = scaled_dot_product_attention(q, k, v)
    blocks = [scaled_dot_product_attention(rows, k, v) for rows in q.split(16, dim=2)]
    off = (torch.cat([output for output, _ in blocks], dim=2) - whole).abs().max().item()
    held = max(part.numel() for _, part in blocks)
    assert off < 1e-6, "blocks of queries give another output"
    assert 6 * held == weights.numel() == sum(part.numel() for _, part in blocks), "not a sixth at a time"
    short, long = (
        cost.kept_weights_bytes(b=1, h=32, n_q=n, n_k=n, bytes_per_number=2) for n in (8192, 16384)
    )
    assert long == 4 * short, "twice the tokens, four times the weights"
    return Shown(
        f"Blocks of 16 queries hold {held:,} weights at once in place of {weights.numel():,}.",
        {"largest difference": off, "GiB at n = 8192": short / 2**30, "GiB at n = 16384": long / 2**30},
    )


@proof
def a_softmax_in_pieces() -> Shown:
    """Ten keys at a time: largest score, sum and output so far are enough for the exact result."""
    g = torch.Generator().manual_seed(1)
    q, k, v = torch.randn(3, 37, 6, generator=g, dtype=torch.float64)
    largest = torch.full((37, 1), -torch.inf, dtype=torch.float64)
    total, output = torch.zeros_like(largest), torch.zeros_like(v)
    for keys, values in zip(k.split(10), v.split(10), strict=True):
        scores = scaled_scores(q, keys)  # (37, 10), never (37, 37)
        now = torch.maximum(largest, scores.amax(-1, keepdim=True))
        rescale, part = (largest - now).exp(), (scores - now).exp()
        total = total * rescale + part.sum(-1, keepdim=True)
        output, largest = output * rescale + part @ values, now
    whole, _ = scaled_dot_product_attention(q, k, v)
    off = (output / total - whole).abs().max().item()
    assert off < 1e-12, "the softmax in pieces is another one"
    assert torch.tensor(89.0).exp().isinf(), "exponentials don't overflow"
    return Shown("Four pieces of keys give the softmax over all 37.", {"largest difference": off})


@proof
def fused_means_fewer_bytes() -> Shown:
    """The fused kernel does the same products and moves a fraction of the bytes."""
    sizes = {"b": 1, "n": 2048, "d_model": 4096, "h": 32, "bytes_per_number": 2}
    plain, fused = cost.stage_costs(**sizes), cost.stage_costs(**sizes, fused=True)["attention"]
    assert fused.flops == plain["scores"].flops + plain["weighted_sum"].flops, "another number of products"
    moved = sum(plain[stage].bytes for stage in ("scores", "softmax", "weighted_sum"))
    assert moved > 10 * fused.bytes, "scores and weights are not most of what is moved"
    numbers = {
        "GFLOP of both products": fused.flops / 1e9,
        "MB in single stages": moved / 1e6,
        "MB fused": fused.bytes / 1e6,
        "FLOP/byte, softmax": plain["softmax"].intensity,
        "FLOP/byte, fused": fused.intensity,
    }
    assert numbers["FLOP/byte, softmax"] < 2 and numbers["FLOP/byte, fused"] > 1000, f"{numbers}"
    return Shown("The same products, and a seventeenth of the bytes.", numbers)


@proof
def a_billion_is_not_infinite() -> Shown:
    """-1e9 doesn't fit into float16, overflows when added, and lets an empty row read what is hidden."""
    scores = torch.tensor([3.0, 1.0, 2.0])
    nobody = torch.zeros(1, 3, dtype=torch.bool)
    refused = False
    try:
        scores.half().masked_fill(~nobody[0], -1e9)
    except RuntimeError:
        refused = True
    added = scores.half() - 1e9
    lowest = torch.tensor(torch.finfo(torch.float16).min, dtype=torch.float16)
    assert refused and added.isinf().all() and (lowest + lowest).isinf(), "float16 has room for it"
    even = (scores - 1e9).softmax(-1)
    assert torch.allclose(even, torch.full((3,), 1 / 3)), "a row at -1e9 isn't uniform"
    zeros = masked_softmax(scores[None], nobody)
    assert (zeros == 0).all(), "an empty row isn't zero"
    numbers = {"largest float16": -lowest.item(), "weight on a hidden key": even[0].item()}
    return Shown("-1e9 is refused or infinite in float16, and uniform over hidden keys in float32.", numbers)
