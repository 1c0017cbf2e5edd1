"""The search for the head nearest to a pattern: known optima, and what it refuses."""

from __future__ import annotations

import math

import pytest
import torch

from mha_course.models.pattern_fit import fit_pattern, soft_identity


def test_soft_identity_is_what_it_says() -> None:
    wanted = soft_identity(5, 2.0)
    assert wanted.shape == (5, 5)
    assert torch.allclose(wanted.sum(-1), torch.ones(5, dtype=torch.float64))
    assert torch.allclose((wanted[0, 0] / wanted[0, 3]).log(), torch.tensor(2.0, dtype=torch.float64))


@pytest.mark.parametrize(("d_k", "expected"), [(1, 0.724), (2, 0.420), (4, 0.065), (6, 0.022)])
def test_too_narrow_heads_reach_the_known_optimum(d_k: int, expected: float) -> None:
    found, weights = fit_pattern(soft_identity(8), d_k)
    assert found == pytest.approx(expected, abs=1.5e-3)
    assert torch.allclose(weights.sum(-1), torch.ones(8, dtype=torch.float64))


def test_one_less_than_n_is_wide_enough() -> None:
    # log P + c has rank n - 1 for the right row shifts c, and row shifts are free under softmax.
    wanted = soft_identity(8)
    found, weights = fit_pattern(wanted, 7)
    assert found < 1e-10
    assert torch.allclose(weights, wanted, atol=1e-5)


def test_a_pattern_of_one_column_of_scores_is_reached_exactly_by_width_one() -> None:
    scores = torch.tensor([[1.0], [-2.0], [0.5]]) @ torch.tensor([[0.3, -1.0, 0.2, 0.9, 0.0]])
    found, _ = fit_pattern(scores.double().softmax(-1), 1)
    assert found < 1e-10


def test_works_under_no_grad_and_leaves_the_global_seed_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    with torch.no_grad():
        found, _ = fit_pattern(soft_identity(4), 2, seeds=1)
    assert math.isfinite(found)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("wanted", "d_k", "says"),
    [(torch.eye(4), 2, "above 0"), (torch.ones(3, 4), 2, "sum to 1"), (soft_identity(4), 0, "d_k=0")],
)
def test_refusals(wanted: torch.Tensor, d_k: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        fit_pattern(wanted, d_k)
