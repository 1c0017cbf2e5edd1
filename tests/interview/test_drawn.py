"""Layers for proofs: fixed by their seed, and nobody else's chance moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from mha_course.interview.drawn import drawn
from mha_course.layers import MultiHeadAttention
from mha_course.transformer import EncoderLayer
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.talking_heads import TalkingHeads

KINDS: dict[str, Callable[[], nn.Module]] = {
    "plain": lambda: MultiHeadAttention(24, 4, bias=True),
    "torch": lambda: nn.MultiheadAttention(20, 5),
    "collaborative": lambda: CollaborativeHeads(24, 3, mixing="normal"),
    "overlapping": lambda: OverlappingHeads(30, 5, overlap=2),
    "mixture": lambda: MixtureOfHeads(18, 6, shared=2, chosen=3),
    "talking": lambda: TalkingHeads(16, 4),
    "composable": lambda: DynamicallyComposableHeads(28, 4),
    "encoder": lambda: EncoderLayer(32, 4, dropout=0.1),
    "convolution": lambda: nn.Conv1d(7, 11, 3),
    "embedding": lambda: nn.Embedding(13, 6),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_fixes_it_and_the_global_state_stays(kind: str) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = drawn(KINDS[kind], seed=3)
    assert torch.equal(torch.get_rng_state(), before), "it drew from the global generator"
    torch.manual_seed(2)
    again, other = drawn(KINDS[kind], seed=3), drawn(KINDS[kind], seed=4)
    pairs = list(zip(first.state_dict().values(), again.state_dict().values(), strict=True))
    assert pairs and all(torch.equal(a, b) for a, b in pairs)
    changed = [not torch.equal(p, q) for p, q in zip(first.parameters(), other.parameters(), strict=True)]
    assert any(changed) and not first.training
    assert not any(p.requires_grad for p in first.parameters())


def test_parameters_have_the_spread_of_their_width_and_norms_start_as_they_do() -> None:
    layer = drawn(lambda: EncoderLayer(96, 4), seed=5)
    assert layer.feed_forward.w_2.weight.std().item() == pytest.approx(384**-0.5, rel=0.03)
    assert layer.attention.w_q.weight.std().item() == pytest.approx(96**-0.5, rel=0.03)
    norm = layer.around_attention.norm
    assert torch.equal(norm.weight, torch.ones(96)) and torch.equal(norm.bias, torch.zeros(96))


def test_draws_outside_are_as_before() -> None:
    """The generator of its own is gone when the layer is built."""
    torch.manual_seed(7)
    expected = [torch.rand(5), torch.randn(3, 2), torch.empty(4).uniform_(), torch.empty(6).normal_()]
    torch.manual_seed(7)
    drawn(lambda: MultiHeadAttention(24, 4))
    found = [torch.rand(5), torch.randn(3, 2), torch.empty(4).uniform_(), torch.empty(6).normal_()]
    assert all(torch.equal(a, b) for a, b in zip(expected, found, strict=True))


def test_a_mistake_while_building_leaves_everything_as_it_was() -> None:
    torch.manual_seed(8)
    expected = torch.rand(3)
    torch.manual_seed(8)
    with pytest.raises(ValueError, match="cannot be split"):
        drawn(lambda: MultiHeadAttention(10, 3))
    assert torch.equal(torch.rand(3), expected)
