"""A proof that can't fail proves nothing: break what it is about, and it must say so."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mha_course import attention, layers, masks
from mha_course.interview.drawn import drawn
from mha_course.interview.proof import run_proof
from mha_course.models.random_layer import random_layer


def masked_late(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    weights = scores.softmax(dim=-1)
    return weights if mask is None else weights * mask


def mask_ignored(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    return scores.softmax(dim=-1)


def unguarded(scores: Tensor, mask: Tensor) -> Tensor:
    return (scores + mask.float().log()).softmax(dim=-1)


def unscaled(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    return attention.scaled_scores(q, k, scale=1.0)


def scale_ignored(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    return attention.scaled_scores(q, k)


def squared(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    return -torch.cdist(q, k).square()


def later_keys_higher(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    return attention.scaled_scores(q, k, scale) + torch.arange(float(k.shape[-2]))


def split_by_view(x: Tensor, h: int) -> Tensor:
    b, n, d_model = x.shape
    return x.reshape(b, h, n, d_model // h)


def merged_by_reshape(x: Tensor) -> Tensor:
    b, h, n, d_k = x.shape
    return x.reshape(b, n, h * d_k)


def mean_of_heads(x: Tensor) -> Tensor:
    return x.mean(dim=1, keepdim=True).expand_as(x).transpose(1, 2).flatten(2)


def heads_share_a_softmax(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = attention.scaled_scores(q, k).softmax(dim=1 if q.ndim == 4 else -1)
    return weights @ v, weights


def with_biases(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    return drawn(lambda: layers.MultiHeadAttention(d_model, h, bias=True), seed)


def other_numbers_for_each_h(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    return random_layer(d_model, h, seed=seed + h)


def asks_nothing(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    layer = random_layer(d_model, h, seed)
    layer.w_q.weight.zero_()
    return layer


def without_meeting(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    layer = random_layer(d_model, h, seed)
    layer.w_o.weight.copy_(torch.eye(d_model))
    return layer


class FirstHeadLouder(nn.Module):
    """Head 1 counts twice, so that no other head is its twin."""

    def forward(self, heads: Tensor) -> Tensor:
        return torch.cat([2 * heads[:, :1], heads[:, 1:]], dim=1)


def one_head_louder(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
    layer = random_layer(d_model, h, seed)
    layer.gate = FirstHeadLouder()
    return layer


class RoundsDown(layers.MultiHeadAttention):
    """Takes d_model // h for the head size, as a bare division would."""

    def __init__(self, d_model: int, h: int, **options: Any) -> None:
        super().__init__(d_model, h, **{"d_k": d_model // h, "d_v": d_model // h} | options)


def a_bias_too_many(d_model: int, h: int, bias: bool = False) -> int:
    return 4 * d_model**2 + 5 * d_model * bias


def flops_that_grow_with_h(n: int, d_model: int, h: int) -> dict[str, int]:
    return {"total": 8 * n * d_model**2 + 4 * n**2 * d_model * h}


# proof, its module, what is replaced there, and by what
BROKEN: list[tuple[str, str, str, Callable]] = [
    ("masks_are_joined_before_the_softmax", "masking", "masked_softmax", masked_late),
    ("future_tokens_must_not_matter", "masking", "causal_mask", lambda n: ~masks.causal_mask(n)),
    ("future_tokens_must_not_matter", "masking", "causal_mask", lambda n: torch.ones(n, n) > 0),
    ("future_tokens_must_not_matter", "masking", "causal_mask", lambda n: masks.causal_mask(n).roll(1, 1)),
    ("an_added_mask_of_ones_hides_nothing", "masking", "masked_softmax", mask_ignored),
    ("an_empty_row_poisons_gradients", "masking", "masked_softmax", unguarded),
    ("an_empty_row_poisons_gradients", "masking", "causal_mask", lambda n: torch.ones(n, n) > 0),
    ("hiding_padding_columns_is_enough", "masking", "random_layer", asks_nothing),
    ("padding_has_to_leave_the_loss", "masking", "random_layer", asks_nothing),
    ("every_head_reads_every_feature", "splitting", "split_heads", split_by_view),
    ("merging_needs_a_transpose_and_a_copy", "splitting", "merge_heads", merged_by_reshape),
    ("merging_needs_a_transpose_and_a_copy", "splitting", "split_heads", split_by_view),
    (
        "a_loop_over_heads_equals_one_product",
        "splitting",
        "scaled_dot_product_attention",
        heads_share_a_softmax,
    ),
    ("rounding_the_head_size_down_loses_features", "splitting", "MultiHeadAttention", RoundsDown),
    ("variance_of_a_score_is_d_k", "scale_and_softmax", "scaled_scores", unscaled),
    ("where_the_scale_argument_fails", "scale_and_softmax", "scaled_scores", unscaled),
    ("dividing_by_sqrt_d_model_is_too_flat", "scale_and_softmax", "scaled_scores", scale_ignored),
    ("dividing_by_sqrt_d_model_is_too_flat", "scale_and_softmax", "random_layer", asks_nothing),
    ("only_products_of_q_and_k_count", "queries_keys_values", "scaled_scores", squared),
    ("tied_queries_and_keys_look_at_themselves", "queries_keys_values", "scaled_scores", later_keys_higher),
    ("one_wide_head_or_four_narrow_ones", "several_heads", "random_layer", other_numbers_for_each_h),
    ("one_wide_head_or_four_narrow_ones", "several_heads", "random_layer", asks_nothing),
    ("a_filter_sees_one_token_a_head_sees_all", "several_heads", "random_layer", asks_nothing),
    ("heads_add_up_and_can_cancel", "several_heads", "random_layer", with_biases),
    ("twin_heads_stay_twins", "several_heads", "random_layer", one_head_louder),
    ("w_o_lets_heads_meet", "output_and_biases", "random_layer", without_meeting),
    ("w_o_lets_heads_meet", "output_and_biases", "merge_heads", mean_of_heads),
    ("the_key_bias_does_nothing", "output_and_biases", "rotated", lambda x: x),
    ("h_changes_maps_not_products", "counting", "random_layer", asks_nothing),
]
# As above, for what a module takes from another by its name there.
BROKEN_ELSEWHERE: list[tuple[str, str, str, Callable]] = [
    ("biases_are_few_and_one_passes_the_norm", "mha_course.cost", "parameter_count", a_bias_too_many),
    ("h_changes_maps_not_products", "mha_course.cost", "attention_flops", flops_that_grow_with_h),
]


@pytest.mark.parametrize(
    ("name", "module", "what", "instead"),
    [(name, f"mha_course.interview.proofs.{module}", *rest) for name, module, *rest in BROKEN]
    + BROKEN_ELSEWHERE,
    ids=lambda value: getattr(value, "__name__", str(value).rpartition(".")[2]),
)
def test_it_notices_when_what_it_is_about_is_broken(
    name: str, module: str, what: str, instead: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_proof(name)
    monkeypatch.setattr(importlib.import_module(module), what, instead)
    with pytest.raises(AssertionError) as failed:
        run_proof(name)
    assert str(failed.value).strip(), "it should say what was expected"


def test_the_numbers_are_computed_and_not_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other sizes lead to other numbers: nothing that is shown stands in the text of the proof."""
    module = importlib.import_module("mha_course.interview.proofs.masking")
    before = run_proof("an_added_mask_of_ones_hides_nothing").numbers
    assert before["hidden key against allowed key"] == pytest.approx(1 / math.e)

    def other(d_model: int, h: int, seed: int = 0) -> layers.MultiHeadAttention:
        return random_layer(d_model, h, seed=seed + 17)

    for name in ("future_tokens_must_not_matter", "padding_has_to_leave_the_loss"):
        first = run_proof(name).numbers
        with monkeypatch.context() as patch:
            patch.setattr(module, "random_layer", other)
            second = run_proof(name).numbers
        assert first.keys() == second.keys() and first != second
