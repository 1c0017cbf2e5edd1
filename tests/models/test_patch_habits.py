"""Habits of heads over patches: on models whose attention is known, then on the leaderboard's."""

from __future__ import annotations

import pytest
import torch

from mha_course.models.digit_model import DigitModel, patches
from mha_course.models.patch_habits import INKED, patch_habits
from mha_course.training.kept_rows import kept_digit_row
from mha_course.training.leaderboard import Row
from mha_course.training.train_digits import DigitSetting, digit_model_of, digit_split


def pictures(count: int) -> torch.Tensor:
    return digit_split(DigitSetting())[2][:count]


def test_even_heads_have_even_habits() -> None:
    model = DigitModel(d_model=12, h=3, n_layers=2, d_ff=20).train()
    for layer in model.encoder.layers:
        torch.nn.init.zeros_(layer.attention.w_q.weight)
    images = pictures(7)
    habits = patch_habits(model, images)
    assert habits.on_ink.shape == (2, 3) and model.training
    assert habits.even == pytest.approx(float((patches(images).mean(-1) >= INKED).float().mean()))
    assert torch.allclose(habits.on_ink, torch.full((2, 3), habits.even), atol=1e-5)
    assert torch.allclose(habits.spread, torch.ones(2, 3), atol=1e-5)
    assert float(habits.by_patch.max()) < 1e-6


def test_habits_of_one_picture_by_hand() -> None:
    model = digit_model_of(Row("plain", 4), DigitSetting(), 5).eval()
    image = pictures(3)[2]
    weights = model.attend(image).weights
    habits = patch_habits(model, image[None])
    inked = patches(image[None])[0].mean(-1) >= INKED
    assert torch.allclose(habits.on_ink, weights[..., inked].sum(-1).mean(-1), atol=1e-6)
    first = weights[1, 2]
    apart = torch.stack([(row - first.mean(0)).abs().sum() / 2 for row in first]).mean()
    assert float(habits.by_patch[1, 2]) == pytest.approx(float(apart), abs=1e-6)
    entropy = torch.stack([-(row * row.log()).sum() for row in first]).mean() / torch.log(torch.tensor(16.0))
    assert float(habits.spread[1, 2]) == pytest.approx(float(entropy), abs=1e-5)


def test_what_the_lesson_says() -> None:
    images = pictures(200)
    trained = patch_habits(kept_digit_row("plain"), images)
    untrained = patch_habits(digit_model_of(Row("plain", 8), DigitSetting(), 1_000).eval(), images)
    # The first layer has heads for ink and heads for paper; the second one hardly chooses at all.
    assert int((trained.on_ink[0] > 0.9).sum()) >= 2 and float(trained.on_ink[0].min()) < trained.even
    assert float(trained.spread[1].min()) > 0.9 > float(trained.spread[0].max())
    # All patches of a picture look at the same ones.
    assert float(trained.by_patch.max()) < 0.25
    # Some head prefers ink without any training.
    assert untrained.even + 0.2 < float(untrained.on_ink[0].max()) < float(trained.on_ink[0].max())
