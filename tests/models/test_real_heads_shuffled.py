"""Recorded counts of what a real model's heads follow when words are shuffled."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch

from mha_course.models.real_heads_shuffled import real_heads_shuffled, shuffle_heads
from mha_course.models.recorded_heads import recorded_heads
from tests.real_model import real_model


def test_counts_belong_together() -> None:
    found = real_heads_shuffled()
    words = sum(len(sentence) for sentence in recorded_heads().sentences[: found.sentences])
    assert found.sentences == 50
    for counts in (found.trained, found.untrained):
        assert counts.asked.shape == (6, 12)
        assert (counts.rows == words).all()
        assert (counts.place + counts.word <= counts.asked).all()
        assert (counts.asked + counts.itself <= counts.rows).all()


def test_the_positional_heads_follow_the_place_and_no_untrained_head_does() -> None:
    found = real_heads_shuffled()
    for layer, head in ((1, 3), (2, 9)):
        assert found.trained.shares(layer - 1, head - 1)["place"] > 0.99
    untrained = found.untrained.place / found.untrained.asked.clamp(min=1)
    assert untrained.max() < 0.15


def test_the_model_gives_the_same_counts_again() -> None:
    real_model()
    found, again = real_heads_shuffled(), shuffle_heads()
    for name in ("trained", "untrained"):
        for field in fields(found.trained):
            kept, counted = (getattr(getattr(one, name), field.name) for one in (found, again))
            # Another machine's last digits may turn a tie; they don't turn more than a few.
            assert kept.float() == pytest.approx(counted.float(), abs=5), (name, field.name)
    assert torch.equal(found.trained.rows, again.trained.rows)
