"""Proofs of reading heads, pruning, sharing, routing, comparing, PyTorch: each can fail, and says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mha_course import attention, layers, masks
from mha_course.heads.circuits import qk_circuit, read_through
from mha_course.heads.gating import FixedGates
from mha_course.heads.hard_concrete import HardConcrete
from mha_course.interview.proof import all_proofs
from mha_course.models.random_layer import random_layer
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.mixture_of_heads import MixtureOfHeads
from mha_course.variants.overlapping import OverlappingHeads
from mha_course.variants.some_heads import layer_of_heads
from mha_course.variants.talking_heads import TalkingHeads
from tests.interview.noticing import notices


class Torch:
    """torch, with some functions replaced."""

    def __init__(self, **instead: Any) -> None:
        self.instead = instead

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["instead"].get(name, getattr(torch, name))


def scores_themselves(scores: Tensor) -> Tensor:
    return scores


def reversed_mask(n: int) -> Tensor:
    return ~masks.causal_mask(n)


def split_by_view(x: Tensor, h: int) -> Tensor:
    return x.reshape(x.shape[0], h, x.shape[1], -1)


def always_four_heads(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    return random_layer(d_model, 4, seed)


def over_queries(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = attention.scaled_scores(q, k).softmax(dim=-2)
    return weights @ v, weights


def silent(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    layer = random_layer(d_model, h, seed)
    layer.w_o.weight.zero_()
    return layer


def one_wide_head(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    return random_layer(d_model, 1, seed)


# Heads


@contextmanager
def with_all_heads(model: nn.Module, heads: object) -> Iterator[None]:
    yield


class ThresholdGates(FixedGates):
    """Open or shut, so that a gate of 0.01 has an effect."""

    def __init__(self, values: Tensor) -> None:
        super().__init__((values > 0.5).float())


class FormulaWithoutTheStretch(HardConcrete):
    def probability_open(self, log_alpha: Tensor) -> Tensor:
        return torch.sigmoid(log_alpha)


def the_wrong_heads(layer: layers.MultiHeadAttention, heads: list[int]) -> layers.MultiHeadAttention:
    return layer_of_heads(layer, [0, 1])


def as_for_columns(layer: layers.MultiHeadAttention, head: int) -> Tensor:
    return qk_circuit(layer, head).T


def one_head_that_knows(*sizes: int, generator: torch.Generator) -> Tensor:
    drawn = torch.rand(*sizes, generator=generator)
    drawn[..., 5] = 0.0  # always a hit
    return drawn


def a_better_baseline(*sizes: int, generator: torch.Generator) -> Tensor:
    drawn = torch.randn(*sizes, generator=generator)
    drawn[:, 0] -= 9
    return drawn


# Variants


def all_ones(h: int, width: int) -> Tensor:
    return torch.ones(h, width)


class WithoutOverlap(OverlappingHeads):
    def __init__(self, d_model: int, h: int, overlap: int) -> None:
        super().__init__(d_model, h, overlap=0)


class EveryHeadForEveryToken(MixtureOfHeads):
    def __init__(self, d_model: int, h: int, shared: int, chosen: int) -> None:
        super().__init__(d_model, h, shared, h - shared)


class RowsBroughtTo1(TalkingHeads):
    def compose_weights(self, weights: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return super().compose_weights(weights, query, key).softmax(-1)


class NeverMixesScores(TalkingHeads):
    def compose_scores(self, scores: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return scores.flip(1)


class NeverPlain(DynamicallyComposableHeads):
    def identity(self) -> DynamicallyComposableHeads:
        return self


class OfOneSideOnly(DynamicallyComposableHeads):
    def compose_scores(self, scores: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return self.before(scores, query, torch.zeros_like(key))


def own_circuit_only(layer: layers.MultiHeadAttention, x: Tensor, weights: Tensor, shares: Tensor) -> Tensor:
    return read_through(layer, x, weights, torch.eye(layer.h))


def zeros_for_infinity(maps: Tensor, shares: Tensor) -> Tensor:
    return torch.einsum("bi...,ij->bj...", maps.nan_to_num(neginf=-1e9), shares)


# proof, its module, what is replaced there, and by what
BROKEN: list[tuple[str, str, str, Any]] = [
    ("other_weights_same_output", "reading_heads", "random_layer", one_wide_head),
    ("the_best_of_many_is_lucky", "reading_heads", "torch", Torch(rand=one_head_that_knows)),
    ("two_circuits_are_the_head", "reading_heads", "qk_circuit", as_for_columns),
    ("two_circuits_are_the_head", "reading_heads", "ov_circuit", as_for_columns),
    ("a_twin_hides_its_twin", "pruning", "without_heads", with_all_heads),
    ("hard_gates_reach_zero", "pruning", "HardConcrete", FormulaWithoutTheStretch),
    ("hard_gates_reach_zero", "pruning", "FixedGates", ThresholdGates),
    ("slopes_of_both_signs_cancel", "pruning", "random_layer", silent),
    ("only_what_is_taken_out_is_saved", "pruning", "layer_of_heads", the_wrong_heads),
    ("scores_are_narrow_weights_are_not", "sharing", "random_layer", always_four_heads),
    ("scores_are_narrow_weights_are_not", "sharing", "masked_softmax", scores_themselves),
    ("blocks_of_ones_are_plain_heads", "sharing", "starting_mixing", all_ones),
    ("neighbours_share_an_edge", "sharing", "OverlappingHeads", WithoutOverlap),
    ("a_mixture_keeps_all_keys", "routing", "MixtureOfHeads", EveryHeadForEveryToken),
    ("talk_before_the_mask", "routing", "TalkingHeads", RowsBroughtTo1),
    ("talk_before_the_mask", "routing", "TalkingHeads", NeverMixesScores),
    ("talk_before_the_mask", "routing", "mixed", zeros_for_infinity),
    ("a_matrix_for_every_pair", "routing", "DynamicallyComposableHeads", NeverPlain),
    ("a_matrix_for_every_pair", "routing", "DynamicallyComposableHeads", OfOneSideOnly),
    ("eight_maps_sixty_four_pairs", "routing", "read_through", own_circuit_only),
    ("nine_equal_variants_have_a_winner", "comparing", "torch", Torch(randn=a_better_baseline)),
    ("friendly_tests_see_nothing", "comparing", "split_heads", split_by_view),
    ("dropped_rows_sum_to_1_on_average", "pytorch", "scaled_dot_product_attention", over_queries),
    ("torch_wants_to_be_told", "pytorch", "causal_mask", reversed_mask),
    ("torch_wants_to_be_told", "pytorch", "random_layer", one_wide_head),
]
# As above, for functions of `cost` that a proof takes through that module.
WRONG_COSTS: list[tuple[str, str, Any]] = [
    ("only_what_is_taken_out_is_saved", "attention_flops", lambda *_, **__: {"total": 10**9}),
]


@pytest.mark.parametrize(("name", "module", "what", "instead"), BROKEN)
def test_it_notices_when_what_it_is_about_is_broken(
    name: str, module: str, what: str, instead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    notices(name, f"mha_course.interview.proofs.{module}", what, instead, monkeypatch)


@pytest.mark.parametrize(("name", "what", "instead"), WRONG_COSTS)
def test_it_notices_another_cost(name: str, what: str, instead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    notices(name, "mha_course.cost", what, instead, monkeypatch)


def test_every_proof_of_these_modules_can_fail() -> None:
    told = BROKEN + WRONG_COSTS
    modules = {f"mha_course.interview.proofs.{module}" for _, module, *_ in BROKEN}
    here = {name for name, proof in all_proofs().items() if proof.__module__ in modules}
    assert here - {name for name, *_ in told} == set()
