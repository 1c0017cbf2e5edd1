"""What lesson 15 asks to be written computes what the course's own modules do."""

from __future__ import annotations

import pytest
import torch

from mha_course.attention import scaled_dot_product_attention
from mha_course.exercises.registry import EXERCISES
from mha_course.heads import circuits
from mha_course.layers import MultiHeadAttention
from mha_course.masks import causal_mask
from mha_course.models.leaderboard_records import difference, leaderboard, recorded_row
from mha_course.variants.composable import DynamicComposition
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.talking_heads import TalkingHeads


def written(name: str):
    return EXERCISES[name].reference


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def scattered(layer: torch.nn.Module, seed: int) -> torch.nn.Module:
    """The layer with all its parameters drawn anew, so that none is where it starts."""
    g = torch.Generator().manual_seed(seed)
    for parameter in layer.parameters():
        parameter.data = 0.6 * torch.randn(parameter.shape, generator=g, dtype=torch.float64)
    return layer


def mixture(gates: str) -> MixtureOfHeads:
    return scattered(MixtureOfHeads(24, 8, shared=3, chosen=2, gates=gates).double(), 4)


def test_gates_are_those_of_the_layer_with_the_paper_s_gates() -> None:
    layer, x = mixture("paper"), drawn(2, 7, 24)
    routers = [r.weight.T for r in (layer.router_shared, layer.router_routed, layer.router_types)]
    torch.testing.assert_close(written("two_stage_gates")(x, *routers, 2), layer.routing(x).gates)


def test_the_balance_loss_is_that_of_the_layer_with_the_code_s_scale() -> None:
    x = drawn(3, 7, 24, seed=1)
    routing = mixture("code").routing(x)
    mine = written("balance_loss")(routing.probabilities, routing.chosen)
    torch.testing.assert_close(mine, routing.balance)
    torch.testing.assert_close(mine, 5 * mixture("paper").routing(x).balance)


def test_an_even_load_gives_the_number_of_chosen_heads_and_a_gathered_one_more() -> None:
    even = torch.full((1, 5, 5), 0.2)
    turns = (torch.arange(5)[:, None] + torch.arange(2)) % 5
    chosen = torch.zeros(1, 5, 5, dtype=torch.bool).scatter(-1, turns[None], True)
    assert written("balance_loss")(even, chosen).item() == pytest.approx(2)
    gathered = torch.tensor([0.5, 0.5, 0, 0, 0]).expand(1, 5, 5)
    assert written("balance_loss")(gathered, gathered > 0).item() == pytest.approx(5)


def test_the_router_learns_from_the_probabilities() -> None:
    p = drawn(2, 6, 4).softmax(-1).requires_grad_()
    chosen = torch.zeros(2, 6, 4, dtype=torch.bool).scatter(-1, p.detach().topk(2).indices, True)
    written("balance_loss")(p, chosen).backward()
    slope = 4 * chosen.double().mean((0, 1)) / 12
    torch.testing.assert_close(p.grad, slope.expand_as(p))


def test_talking_heads_weigh_as_the_layer_does() -> None:
    layer, x = scattered(TalkingHeads(18, 3).double(), 6), drawn(2, 5, 18, seed=2)
    q, k, v = layer.queries(x), *layer.shared_keys_and_values(x, x)
    scores = q @ k.mT / 6**0.5
    weights = written("talk")(scores, layer.p_scores, layer.p_weights, causal_mask(5))
    mine = layer.w_o((weights @ v).transpose(1, 2).flatten(2))
    torch.testing.assert_close(mine, layer(x, mask=causal_mask(5)))


def test_composition_matrices_are_those_of_the_module() -> None:
    module = scattered(DynamicComposition(14, 4, rank=2).double(), 8)
    query, key = drawn(1, 5, 14, seed=3), drawn(1, 6, 14, seed=4)
    sides = []
    for which, x in enumerate((query, key)):
        side = module.side(x, which)
        sides += [side.w_1[0].mT, side.w_2[0], side.g[0]]  # the module keeps branches in front of heads
    mine = written("composition_matrices")(module.w_b, *sides)
    torch.testing.assert_close(mine, module.matrices(query, key)[0])
    maps = drawn(1, 4, 5, 6, seed=5)
    torch.testing.assert_close(torch.einsum("bits,tsij->bjts", maps, mine), module(maps, query, key))


def test_circuits_are_the_course_s_and_make_scores_and_output() -> None:
    layer, x = scattered(MultiHeadAttention(12, 3, d_k=5, d_v=2).double(), 9), drawn(7, 12, seed=6)
    matrices = [w.weight.T for w in (layer.w_q, layer.w_k, layer.w_v, layer.w_o)]
    qk, ov = written("circuits")(*matrices, 3)
    for head in range(3):
        torch.testing.assert_close(qk[head], circuits.qk_circuit(layer, head))
        torch.testing.assert_close(ov[head], circuits.ov_circuit(layer, head))
    scores = x @ qk @ x.T
    trace = layer.trace(x[None])
    torch.testing.assert_close(scores, trace.scores[0])
    torch.testing.assert_close((scores.softmax(-1) @ x @ ov).sum(0), trace.output[0])
    _, weights = scaled_dot_product_attention(trace.q, trace.k, trace.v)
    torch.testing.assert_close(scores.softmax(-1), weights[0])


def test_what_counts_as_a_difference_counts_on_the_leaderboard() -> None:
    plain = recorded_row("plain", 8)
    others = [row for row in leaderboard("gloss") if row.row != plain.row and len(row.runs) > 1]
    assert others
    for row in others:
        losses, beside = (torch.tensor([r.losses], dtype=torch.float64) for r in (row, plain))
        mine = written("clear_difference")(losses, beside[0]).item()
        words = difference(row, plain).words
        assert words.startswith("no difference" if mine == 0 else "better" if mine < 0 else "worse"), words
