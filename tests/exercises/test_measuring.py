"""What an answer takes is measured: products, steps, the largest tensor, and what is kept at once."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from mha_course.exercises.measuring import measure

X = torch.randn(30, 4, generator=torch.Generator().manual_seed(5))


def test_products_and_the_largest_tensor_are_those_of_the_sum() -> None:
    took = measure(lambda x: (x @ x.T).softmax(-1) @ x, (X.clone(),))
    assert took.products == 2 and took.largest.shape == (30, 30) and took.largest.numbers == 900
    assert (
        took.peak == 1_800
    )  # scores and weights side by side; the product with x comes when scores are gone


def test_einsum_counts_as_the_product_that_it_is() -> None:
    took = measure(lambda q: torch.einsum("bhqd,bhkd->bhqk", q, q), (torch.randn(2, 3, 5, 4),))
    assert took.products == 1 and took.largest.numbers == 2 * 3 * 5 * 5


def test_views_and_arguments_take_nothing() -> None:
    took = measure(lambda x: x.view(2, 15, 4).transpose(0, 1)[3:].expand(12, 2, 4), (X.clone(),))
    assert (took.products, took.steps, took.largest, took.peak) == (0, 0, None, 0)


def test_a_part_keeps_the_whole_that_it_lies_in() -> None:
    def parts_of_one(x):
        return [(x @ x.T)[i : i + 1] for i in range(3)]

    def rows(x):
        return [x[i : i + 1] @ x.T for i in range(3)]

    whole = measure(lambda x: parts_of_one(x)[0], (X.clone(),))
    assert whole.peak == 3 * 900
    assert measure(lambda x: rows(x)[0], (X.clone(),)).peak == 3 * 30


def test_what_is_let_go_counts_once() -> None:
    def one_by_one(x):
        for i in range(20):
            part = x[i : i + 1] @ x.T
        return part

    took = measure(one_by_one, (X.clone(),))
    assert took.products == 20 and took.peak <= 2 * 30


def test_what_is_kept_counts_in_full() -> None:
    took = measure(lambda x: torch.cat([x[i : i + 1] @ x.T for i in range(20)]), (X.clone(),))
    assert took.peak == 2 * 20 * 30  # the rows, and what they are joined to


def test_masks_are_no_floats() -> None:
    took = measure(lambda x: (x @ x.T > 0).any(-1), (X.clone(),))
    assert took.largest.shape == (30, 30) and took.peak == 900
    assert measure(lambda x: torch.ones(500, 500, dtype=torch.bool), (X.clone(),)).largest is None


def test_pytorch_s_own_attention_is_seen_with_its_queries() -> None:
    took = measure(
        lambda x: F.scaled_dot_product_attention(x[None, None, :7], x[None, None], x[None, None]), (X,)
    )
    assert took.queries_of_fused == (7,)
    mask = torch.ones(7, 30, dtype=torch.bool)
    took = measure(
        lambda x: F.scaled_dot_product_attention(
            x[None, None, :7], x[None, None], x[None, None], attn_mask=mask
        ),
        (X,),
    )
    assert took.queries_of_fused == (7,)


@pytest.mark.parametrize("fn", [lambda x: x.nothing, lambda x: 1 / 0, lambda x: x @ x])
def test_what_stops_is_not_measured(fn) -> None:
    assert measure(fn, (X.clone(),)) is None


def test_tensors_in_a_dictionary_are_arguments_as_well() -> None:
    took = measure(lambda parts: parts["w"].T, ({"w": X.clone()},))
    assert took.steps == 0 and took.largest is None
