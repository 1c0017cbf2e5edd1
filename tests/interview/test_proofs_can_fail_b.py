"""Proofs of memory, block, uses, positions and serving: break what each is about, and it says so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mha_course import attention, cost, layers, positions
from mha_course.interview.proof import all_proofs
from mha_course.models.random_layer import random_layer
from mha_course.transformer import EncoderLayer, Residual
from mha_course.variants.grouped_query import grouped_attention
from tests.interview.noticing import notices

# Attention


def over_queries(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = attention.scaled_scores(q, k).softmax(dim=-2)
    return weights @ v, weights


def unscaled(q: Tensor, k: Tensor) -> Tensor:
    return attention.scaled_scores(q, k, scale=1.0)


def unguarded(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


def everybody(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool)


def shared_out_in_turn(x: Tensor, h: int) -> Tensor:
    return x.repeat(1, h // x.shape[1], 1, 1)


def only_the_first_key_head(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return grouped_attention(q, k[:, :1], v[:, :1])


# Layers


def copies(**sizes: int) -> nn.Module:
    return nn.Identity()


def silent(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    layer = random_layer(d_model, h, seed)
    layer.w_o.weight.zero_()
    return layer


def one_wide_head(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    return random_layer(d_model, 1, seed)


class KnowsPlaces(nn.Module):
    """A layer that adds positions by itself."""

    def __init__(self, d_model: int, h: int) -> None:
        super().__init__()
        self.layer = random_layer(d_model, h)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.layer(x + positions.sinusoidal_encoding(*x.shape[1:]), mask=mask)


class AlwaysPost(Residual):
    def __init__(self, d_model: int, norm: str) -> None:
        super().__init__(d_model, "post")


class AlwaysPre(Residual):
    def __init__(self, d_model: int, norm: str) -> None:
        super().__init__(d_model, "pre")


class NormOverTheBatch(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        return (x - x.mean((0, 1))) / x.std((0, 1))


class NormOverTheSentence(NormOverTheBatch):
    def forward(self, x: Tensor) -> Tensor:
        return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)


def with_norm(norm: type[nn.Module]) -> SimpleNamespace:
    return SimpleNamespace(**vars(nn) | {"LayerNorm": norm})


class WithoutReLU(EncoderLayer):
    def __init__(self, d_model: int, h: int) -> None:
        super().__init__(d_model, h)
        feed = self.feed_forward
        feed.forward = lambda x: feed.w_2(feed.w_1(x))


class NarrowMiddle(EncoderLayer):
    def __init__(self, d_model: int, h: int) -> None:
        super().__init__(d_model, h, d_ff=d_model)


def without_a_memory(layer: layers.MultiHeadAttention, x: Tensor, cache: object) -> Tensor:
    return layer(x)


# Positions


def no_places(n: int, d_model: int, **options: Any) -> Tensor:
    return torch.zeros(n, d_model, **options)


def learned_places(n: int, d_model: int, **options: Any) -> Tensor:
    return torch.randn(n, d_model, generator=torch.Generator().manual_seed(0), **options)


def the_other_way(k: int, d_model: int, **options: Any) -> Tensor:
    return positions.shift_matrix(-k, d_model, **options)


def no_shift(k: int, d_model: int, **options: Any) -> Tensor:
    return torch.eye(d_model, **options)


def unturned(x: Tensor) -> Tensor:
    return x


def added_places(x: Tensor) -> Tensor:
    return x + positions.sinusoidal_encoding(*x.shape, dtype=x.dtype)


# Costs


def fused_that_writes_maps(**sizes: Any) -> dict[str, cost.StageCost]:
    stages = REAL_COSTS(**sizes)
    if sizes.get("fused"):
        softmax = REAL_COSTS(**sizes | {"fused": False})["softmax"]
        stages["attention"] = stages["attention"] + cost.StageCost(0, softmax.bytes)
    return stages


def weights_read_by_each_request(b: int, *args: Any, **sizes: Any) -> dict[str, cost.StageCost]:
    one = REAL_COSTS(1, *args, **sizes)
    return {name: cost.StageCost(b * stage.flops, b * stage.bytes) for name, stage in one.items()}


def served_in_hundreds(b: int, **sizes: Any) -> dict[str, cost.StageCost]:
    return REAL_COSTS(b=500 * b, **sizes)


REAL_COSTS = cost.stage_costs


# proof, its module, what is replaced there, and by what
BROKEN: list[tuple[str, str, str, Any]] = [
    ("blocks_of_queries_hold_fewer_scores", "memory", "scaled_dot_product_attention", over_queries),
    ("a_softmax_in_pieces", "memory", "scaled_scores", unscaled),
    ("a_softmax_in_pieces", "memory", "scaled_dot_product_attention", over_queries),
    ("a_billion_is_not_infinite", "memory", "masked_softmax", unguarded),
    ("tokens_stay_apart_by_the_residual_path", "block", "random_layer", copies),
    ("pre_norm_leaves_the_way_around_free", "block", "Residual", AlwaysPost),
    ("pre_norm_leaves_the_way_around_free", "block", "Residual", AlwaysPre),
    ("a_token_is_normed_by_itself", "block", "nn", with_norm(NormOverTheBatch)),
    ("a_token_is_normed_by_itself", "block", "nn", with_norm(NormOverTheSentence)),
    ("attention_mixes_feed_forward_does_not", "block", "EncoderLayer", WithoutReLU),
    ("attention_mixes_feed_forward_does_not", "block", "EncoderLayer", NarrowMiddle),
    ("three_uses_of_one_layer", "three_uses", "causal_mask", everybody),
    ("three_uses_of_one_layer", "three_uses", "random_layer", silent),
    ("one_pass_is_step_by_step", "three_uses", "causal_mask", everybody),
    ("one_pass_is_step_by_step", "three_uses", "random_layer", silent),
    ("order_is_invisible", "positions", "random_layer", KnowsPlaces),
    ("order_is_invisible", "positions", "sinusoidal_encoding", no_places),
    ("order_is_invisible", "positions", "causal_mask", everybody),
    ("a_shift_is_one_rotation", "positions", "shift_matrix", the_other_way),
    ("a_shift_is_one_rotation", "positions", "sinusoidal_encoding", learned_places),
    ("short_training_leaves_weights_open", "positions", "shift_matrix", no_shift),
    ("short_training_leaves_weights_open", "positions", "sinusoidal_encoding", learned_places),
    ("rotary_scores_know_the_distance", "positions", "rotate_by_position", unturned),
    ("rotary_scores_know_the_distance", "positions", "rotate_by_position", added_places),
    ("a_cache_changes_no_number", "serving", "attend_with_cache", without_a_memory),
    ("shared_keys_shrink_the_cache", "serving", "repeat_kv_heads", shared_out_in_turn),
    ("shared_keys_shrink_the_cache", "serving", "grouped_attention", only_the_first_key_head),
]
# As above, for functions of `cost` that a proof takes through that module.
WRONG_COSTS: list[tuple[str, str, Any]] = [
    ("fused_means_fewer_bytes", "stage_costs", fused_that_writes_maps),
    ("decoding_waits_for_bytes", "stage_costs", served_in_hundreds),
    ("a_batch_lifts_projections_only", "stage_costs", weights_read_by_each_request),
    ("blocks_of_queries_hold_fewer_scores", "kept_weights_bytes", lambda b, h, n_q, n_k, **_: b * h * n_q),
    ("shared_keys_shrink_the_cache", "kv_cache_bytes", lambda *sizes, **_: 1),
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
