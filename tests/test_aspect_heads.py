"""Hand-set aspect heads, and how much of several answers one row of weights carries."""

from __future__ import annotations

import pytest
import torch

from mha_course.models.aspect_heads import (
    aspect_maps,
    aspect_projection,
    best_single_rows,
    one_for_all_map,
    share_carried,
)
from mha_course.text.emphasised import ASPECTS, NOTICE, alike, style_features


@pytest.fixture
def wanted() -> torch.Tensor:
    return torch.stack([alike(NOTICE, aspect) for aspect in ASPECTS])


def test_each_head_finds_the_words_alike_in_its_aspect(wanted):
    assert (aspect_maps(NOTICE, sharpness=20.0) - wanted).abs().max() < 1e-6


def test_scores_count_agreement_in_one_aspect():
    q = style_features(NOTICE) @ aspect_projection("style", sharpness=7.0)
    scores = q @ q.T / 5**0.5
    same = alike(NOTICE, "style") > 0
    assert torch.allclose(scores, 7.0 * same, atol=1e-5)


def test_the_head_for_all_looks_mostly_at_the_word_itself():
    weights = one_for_all_map(NOTICE)
    assert torch.allclose(weights.sum(-1), torch.ones(11))
    assert weights.diagonal().mean() > 0.85


def test_share_carried_is_what_a_linear_reading_explains():
    generator = torch.Generator().manual_seed(3)
    weights = torch.tensor([0.7, 0.2, 0.1, 0.0])
    wanted = torch.tensor([0.5, 0.0, 0.5, 0.0])
    v = torch.randn(200_000, 4, generator=generator, dtype=torch.float64)
    got, want = v @ weights.double(), v @ wanted.double()
    slope = (got * want).mean() / (got**2).mean()
    explained = 1 - ((want - slope * got) ** 2).mean() / (want**2).mean()
    assert share_carried(weights, wanted).item() == pytest.approx(explained.item(), abs=0.01)
    assert share_carried(torch.zeros(4), wanted).item() == 0.0


def test_two_separate_targets_leave_half_for_any_single_row():
    wanted = torch.eye(5)[[1, 3]][:, None]
    best = best_single_rows(wanted)
    shares = share_carried(best, wanted).mean().item()
    assert shares == pytest.approx(0.5, abs=1e-6)
    tried = torch.rand(2000, 1, 5, generator=torch.Generator().manual_seed(0))
    assert share_carried(tried[:, None], wanted).mean(1).max() <= 0.5 + 1e-6


def test_no_drawn_row_beats_the_best_single_row(wanted):
    best = best_single_rows(wanted)
    assert (best >= 0).all()
    assert torch.allclose(best.sum(-1), torch.ones(11))
    reached = share_carried(best, wanted).mean(0)
    tried = torch.rand(3000, 1, 11, 11, generator=torch.Generator().manual_seed(1)) ** 3
    assert (share_carried(tried, wanted).mean(1) <= reached + 1e-6).all()
    assert share_carried(one_for_all_map(NOTICE), wanted).mean() < reached.mean() < 0.7
