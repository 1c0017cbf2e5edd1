"""Heads that are chosen or that meet: mixture of heads, talking heads, dynamic composition."""

from __future__ import annotations

import torch

from mha_course.attention import masked_softmax
from mha_course.heads.circuits import circuit_rank, composed_qk_circuit, qk_circuit, read_through
from mha_course.interview.drawn import drawn
from mha_course.interview.proof import Shown, proof
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.talking_heads import TalkingHeads, mixed
from mha_course.variants.variant_costs import variant_cost


@proof
def a_mixture_keeps_all_keys() -> Shown:
    """Five of eight heads a token: more than five eighths of the FLOPs, and keys of all heads."""
    plain = drawn(lambda: MultiHeadAttention(256, 8))
    mixture = drawn(lambda: MixtureOfHeads(256, 8, shared=2, chosen=3))
    x = torch.randn(1, 33, 256, generator=torch.Generator().manual_seed(0))
    gates = mixture.routing(x).gates
    assert ((gates > 0).sum(-1) == 5).all(), "another number of heads is used"
    off = (mixture(x) - mixture.trace(x).output).abs().max().item()
    assert off < 1e-4, "the chosen heads alone give another output than all heads times gates"
    of_plain, of_mixture = variant_cost(plain, 256), variant_cost(mixture, 256)
    share = of_mixture.flops / of_plain.flops
    assert 5 / 8 < share < 1 and of_mixture.cached == of_plain.cached, f"{share:.2f} of the FLOPs"
    more = of_mixture.parameters - of_plain.parameters
    assert more == 256 * (8 + 2), f"routers of {more} numbers"
    numbers = {"share of the FLOPs, n = 256": share, "router parameters": more, "off by": off}
    return Shown("5 of 8 heads a token; keys and values of all 8 are made and kept.", numbers)


@proof
def talk_before_the_mask() -> Shown:
    """Mix, mask, softmax, mix: rows sum to columns of P; the mask first gives nan, and ranks rise."""
    layer = drawn(lambda: TalkingHeads(24, 8, d_k=2))
    x = torch.randn(1, 9, 24, generator=torch.Generator().manual_seed(0))
    t = layer.trace(x, mask=causal_mask(9))
    off = (t.composed_weights.sum(-1) - layer.p_weights.sum(0)[:, None]).abs().max().item()
    assert off < 1e-5, "rows sum to something else"
    assert t.composed_weights.min() < 0, "no weight below zero"
    hidden = t.raw_scores.masked_fill(~causal_mask(9), -torch.inf)
    assert mixed(hidden, torch.eye(8)).isnan().any(), "a mask before mixing does no harm"
    ranks = [circuit_rank(qk_circuit(layer, 0)), circuit_rank(composed_qk_circuit(layer, layer.p_scores, 0))]
    assert ranks == [2, 16], f"ranks are {ranks}"
    layer.p_scores.copy_(torch.eye(8))
    layer.p_weights.copy_(torch.eye(8))
    plain = masked_softmax(t.raw_scores, causal_mask(9))
    assert torch.allclose(layer.trace(x, mask=causal_mask(9)).composed_weights, plain), "not plain at P = 1"
    sums = {f"row sum, head {i + 1}": t.composed_weights[0, i, 0].sum().item() for i in range(3)}
    return Shown("Rows have any sum; mixing lifts the rank of a head's scores from 2 to 16.", sums)


@proof
def a_matrix_for_every_pair() -> Shown:
    """W of every pair, built and applied one by one, is what the low-rank branches compute."""
    layer = drawn(lambda: DynamicallyComposableHeads(24, 4))
    x = torch.randn(1, 9, 24, generator=torch.Generator().manual_seed(0))
    t, w = layer.trace(x), layer.before.matrices(x, x)[0]  # (9, 9, 4, 4)
    one_by_one = torch.einsum("its,tsij->jts", t.raw_scores[0], w)
    off = (one_by_one - t.scores[0]).abs().max().item()
    assert off < 1e-4, "the branches compute another W"
    apart = (w[2, 1] - w[2, 3]).abs().max().item()
    assert apart > 0.1, "two pairs of one query have one W"
    plain = MultiHeadAttention.trace(layer, x).weights
    same = layer.identity().trace(x).composed_weights
    assert torch.allclose(same, plain, atol=1e-6), "the identity isn't plain attention"
    added = sum(p.numel() for side in (layer.before, layer.after) for p in side.parameters())
    assert added == 20 * 4 * 24 + 64 * 4**2 + 2 * 4**2, "another number of parameters"
    return Shown(
        "One W for each of 81 pairs.", {"off by": off, "two pairs differ by": apart, "parameters more": added}
    )


@proof
def eight_maps_sixty_four_pairs() -> Shown:
    """Composed heads have h softmax maps, read through h OV circuits: h² pairs whose sum is the output."""
    layer = drawn(lambda: TalkingHeads(24, 8))
    x = torch.randn(1, 9, 24, generator=torch.Generator().manual_seed(0))
    t = layer.trace(x)
    through = read_through(layer, x[0], t.weights[0], layer.p_weights)
    off = (through.sum((0, 1)) - t.output[0]).abs().max().item()
    assert off < 1e-4, "the pairs don't add up to the output"
    assert t.weights.shape[1] == 8 and through.shape[:2] == (8, 8), "another number of maps or pairs"
    maps = torch.cat([t.weights[0], t.composed_weights[0]]).flatten(1).double()
    spanned = int(torch.linalg.matrix_rank(maps, atol=1e-5))
    assert spanned == 8, "mixing after the softmax made new maps"
    return Shown("8 maps and their 8 mixtures span 8 dimensions.", {"pairs": 64, "sum of pairs off by": off})
