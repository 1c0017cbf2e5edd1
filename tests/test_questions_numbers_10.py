"""The numbers in the questions of lesson 10, computed again."""

from __future__ import annotations

import torch

from mha_course.models.training_records import forming
from mha_course.training.train_gloss import Recipe, rate_at
from mha_course.widgets.question_texts import find_question


def told(key: str) -> str:
    """All that a question says, as one text."""
    question = find_question(key)
    return " ".join([question.text, *(part for c in question.choices for part in (c.text, c.because))])


def test_padding_lifts_the_accuracy() -> None:
    lengths, right = torch.tensor([4, 6, 10]), 12
    words, places = int(lengths.sum()), 3 * 10
    assert words == 20 and round((right + places - words) / places, 2) == 0.73 and right / words == 0.6
    assert right / places == 0.4
    text = told("10-padding-accuracy")
    assert "(12 + 10) / 30 = 0.73" in text and "12 / 20 = 0.60" in text and "12 / 30 = 0.40" in text


def test_the_best_of_many_is_lucky() -> None:
    g = torch.Generator().manual_seed(0)
    hits = (torch.rand(2_000, 2, 144, 40, generator=g) < 0.08).sum(-1)  # runs, halves, heads
    best = hits[:, 0].argmax(1)
    picked = hits[:, 0].gather(1, best[:, None]).float().mean()
    judged = hits[:, 1].gather(1, best[:, None]).float().mean()
    assert round(picked.item()) == 8 and round(judged.item()) == 3
    assert "8 of 40 words" in told("10-picked-and-judged") and "144" in told("10-picked-and-judged")


def test_the_rare_word_head_is_late() -> None:
    for seed in range(3):
        scores = {c.step: c.best["rarest"]["score"] for c in forming(seed)}
        assert all(score < 0.2 for step, score in scores.items() if step <= 750)
        assert scores[1100] > 0.55 and scores[1800] - scores[1100] < 0.05
    rates = [rate_at(step, Recipe()) for step in range(1, 1_801)]
    assert rates.index(max(rates)) + 1 == 300
    text = told("10-late-role")
    assert "flat for 750 steps" in text and "within 350" in text and "largest at step 300" in text
