"""Stacks of blocks with parts taken away: what each kind computes, and what lesson 09 says of them."""

from __future__ import annotations

import pytest
import torch

from mha_course.models import depth_trial
from mha_course.models.depth_trial import (
    CHANCE,
    D_MODEL,
    KINDS,
    Around,
    N,
    fresh_stack,
    likeness,
    train_stack,
)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(2, 9, 48, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_puts_around_a_sublayer_what_it_says(kind: str) -> None:
    y = torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(1))
    around, double = Around(kind, 8), lambda z: 2 * z + 1
    norm = around.residual.norm
    expected = {
        "pre-norm": y + 2 * norm(y) + 1,
        "post-norm": norm(3 * y + 1),
        "without residual": 2 * norm(y) + 1,
        "without norm": 3 * y + 1,
        "without both": 2 * y + 1,
    }
    torch.testing.assert_close(around(y, double), expected[kind])


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="sandwich"):
        fresh_stack("sandwich", layers=2)
    with pytest.raises(ValueError, match="pre-norm"):
        train_stack("sandwich", steps=1)


def test_likeness_of_equal_and_of_opposite_tokens() -> None:
    one = torch.randn(1, 1, 6, generator=torch.Generator().manual_seed(2))
    assert likeness(one.repeat(2, 4, 1)) == pytest.approx(1, abs=1e-6)
    assert likeness(torch.cat([one, -3 * one], dim=1)) == pytest.approx(-1, abs=1e-6)
    assert likeness(torch.eye(5)[None]) == 0


def test_without_residual_paths_tokens_become_one(x: torch.Tensor) -> None:
    alike = {
        kind: [likeness(y.detach()) for y in fresh_stack(kind, 24, 48).after_each(x)] for kind in KINDS[:3]
    }
    assert all(abs(values[0]) < 0.05 and len(values) == 25 for values in alike.values())
    assert alike["without residual"][2] > 0.98 and alike["without residual"][3] > 0.995
    assert alike["pre-norm"][4] < 0.4 and alike["post-norm"][4] < 0.6
    assert alike["pre-norm"][24] < 0.95 < alike["post-norm"][24]


def test_without_norm_numbers_grow(x: torch.Tensor) -> None:
    spread = {kind: fresh_stack(kind, 24, 48).after_each(x)[-1].std().item() for kind in KINDS[:4]}
    assert spread["without norm"] > 500
    assert 2 < spread["pre-norm"] < 8
    assert spread["post-norm"] == pytest.approx(1, abs=0.05)


def test_the_slope_of_the_first_block_vanishes_or_explodes(x: torch.Tensor) -> None:
    slopes = {}
    for kind in KINDS:
        stack = fresh_stack(kind, 24, 48)
        aim = torch.randn(2, 9, 48, generator=torch.Generator().manual_seed(1))
        (stack(x) * aim).sum().backward()
        slopes[kind] = [stack.attentions[i].w_v.weight.grad.norm().item() for i in (0, 23)]
    assert slopes["without both"][0] < 1e-10 < slopes["without both"][1]
    assert slopes["without norm"][0] > 1e7
    # With a norm nothing vanishes, with a residual path or without.
    for kind in ("pre-norm", "post-norm", "without residual"):
        assert 0.1 < slopes[kind][0] / slopes[kind][1] < 10


def test_training_is_the_same_for_the_same_seed_and_leaves_the_global_one_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    depth_trial._train.forget()
    first = train_stack("pre-norm", layers=2, steps=12, b=9, seed=3)
    assert torch.equal(before, torch.get_rng_state())
    depth_trial._train.forget()
    assert train_stack("pre-norm", layers=2, steps=12, b=9, seed=3) == first
    assert len(first.losses) == 12 and 0 <= first.accuracy <= 1


def test_what_the_lesson_says_of_seed_0() -> None:
    right = {kind: train_stack(kind).accuracy for kind in ("pre-norm", "without residual")}
    assert right["pre-norm"] > 0.95
    assert CHANCE < right["without residual"] < 0.3
    assert N != D_MODEL
