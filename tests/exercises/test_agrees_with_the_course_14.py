"""What lesson 14 asks to be written computes what the course's own functions do."""

from __future__ import annotations

import math

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from mha_course.exercises.registry import EXERCISES
from mha_course.layers import MultiHeadAttention
from mha_course.models.pattern_fit import fit_pattern, soft_identity
from mha_course.variants.collaborative import CollaborativeHeads, starting_mixing
from mha_course.variants.overlapping import OverlappingHeads


def written(name: str):
    return EXERCISES[name].reference


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize(("h", "width"), [(4, 10), (3, 12), (5, 8), (6, 4), (1, 7)])
def test_blocks_are_what_a_layer_starts_from(h: int, width: int) -> None:
    assert torch.equal(written("mixing_of_blocks")(h, width), starting_mixing(h, width))


def test_scores_are_those_of_collaborative_heads_and_of_plain_ones() -> None:
    plain = MultiHeadAttention(24, 4).double()
    x, y, score = drawn(2, 5, 24), drawn(2, 7, 24, seed=1), written("collaborative_scores")
    blocks = written("mixing_of_blocks")(4, 24).double()
    same = score(plain.w_q(x), plain.w_k(y), blocks, 6)
    torch.testing.assert_close(same, plain.trace(x, y).scores, atol=1e-12, rtol=0)

    shared = CollaborativeHeads(24, 4, width=9, mixing="normal").double()
    mine = score(shared.w_q(x), shared.w_k(y), shared.mixing, 6)
    torch.testing.assert_close(mine, shared.trace(x, y).scores, atol=1e-12, rtol=0)


def test_content_bias_is_that_of_a_converted_layer() -> None:
    plain = MultiHeadAttention(20, 5, bias=True).double()
    with torch.no_grad():
        plain.w_q.bias.copy_(drawn(20, seed=2))
    c = written("content_bias")(plain.w_k.weight.T, plain.w_q.bias, 5)
    converted = CollaborativeHeads.from_layer(plain)
    torch.testing.assert_close(c, converted.content_bias.weight, atol=1e-12, rtol=0)


@pytest.mark.parametrize("overlap", [0, 1, 4])
def test_windows_are_those_of_overlapping_heads(overlap: int) -> None:
    layer, x = OverlappingHeads(20, 5, overlap), drawn(2, 3, 20)
    assert torch.equal(written("overlapping_windows")(x, 5, overlap), layer.windows(x))


def test_windows_give_the_scores_of_collaborative_heads_with_a_band() -> None:
    h, own, o = 3, 4, 2
    q, k = drawn(2, 5, h * own), drawn(2, 6, h * own, seed=3)
    feature, head = torch.arange(h * own), torch.arange(h)[:, None]
    band = ((feature >= head * own - o) & (feature < (head + 1) * own + o)).double()
    windows = written("overlapping_windows")
    scores = windows(q, h, o) @ windows(k, h, o).mT / math.sqrt(own)
    torch.testing.assert_close(scores, written("collaborative_scores")(q, k, band, own))


def test_the_width_of_a_pattern_is_where_its_fit_becomes_exact() -> None:
    wanted = soft_identity(6)
    width = written("pattern_width")(wanted)
    assert width == 5
    assert fit_pattern(wanted, width)[0] < 1e-9 < 1e-3 < fit_pattern(wanted, width - 1)[0]


def test_no_head_of_a_layer_has_a_wider_pattern_than_its_d_k() -> None:
    layer = MultiHeadAttention(24, 8).double()
    weights = layer.trace(drawn(1, 9, 24)).weights[0]
    assert [written("pattern_width")(head) for head in weights] == [3] * 8
    assert all(torch.linalg.matrix_rank(head) > 3 for head in weights)


@pytest.mark.parametrize(("n", "d_model", "h", "width"), [(5, 24, 4, 10), (9, 32, 2, 48)])
def test_flops_are_those_of_the_products(n: int, d_model: int, h: int, width: int) -> None:
    layer = CollaborativeHeads(d_model, h, width=width)
    x = torch.zeros(1, n, d_model)
    with FlopCounterMode(display=False) as counter:
        queries, keys = layer.queries(x), layer.w_k(x)[:, None]
        queries @ keys.mT
    assert written("collaborative_flops")(n, d_model, h, width) == counter.get_total_flops()
