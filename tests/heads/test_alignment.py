"""Alignment scores: planted heads are found, rules are scored as rules, padding is left out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mha_course.heads.alignment import score_alignment

GOLD = [(2, 0, 3), (0, 3, 2, 4)]
LENGTHS = [4, 5]


def looking_at(places: tuple[int, ...], n_k: int, spread: float = 0.3) -> Tensor:
    """(n_q, n_k): most weight on the place given, the rest spread evenly."""
    w = torch.full((len(places), n_k), spread / n_k)
    w[torch.arange(len(places)), torch.tensor(places)] += 1 - spread
    return w


def test_planted_heads_and_rules() -> None:
    weights = []
    for gold, n_k in zip(GOLD, LENGTHS, strict=True):
        right = looking_at(gold, n_k)
        same_place = looking_at(tuple(range(len(gold))), n_k)
        wrong = looking_at(tuple((s + 1) % n_k for s in gold), n_k)
        weights.append(
            torch.stack([torch.stack([wrong, same_place, wrong]), torch.stack([wrong, wrong, right])])
        )
    scores = score_alignment(weights, GOLD, LENGTHS)
    assert scores.heads.shape == (2, 3) and scores.asked == 7
    assert scores.best() == (1, 2) and scores.heads[1, 2] == 1
    assert scores.heads[0, 0] == 0
    # Places 0..2 and 0..3 against (2, 0, 3) and (0, 3, 2, 4): 0 and 2 of the second are where they were.
    assert scores.heads[0, 1] == pytest.approx(2 / 7)
    # Offsets 0, 1 and 2 hit twice each; the first of them counts.
    assert (scores.shift, scores.offset) == (0, pytest.approx(2 / 7))
    # Evenly: 0, 2 (1.5 rounds to even), 3 and 0, 1, 3, 4.
    assert scores.diagonal == pytest.approx(3 / 7)
    assert scores.chance == pytest.approx((3 / 4 + 4 / 5) / 7)


def test_the_best_offset_is_found() -> None:
    gold = [(3, 4, 5), (3, 4, 5, 0)]
    weights = [torch.full((1, 1, len(g), 6), 1 / 6) for g in gold]
    scores = score_alignment(weights, gold, [6, 6])
    assert (scores.shift, scores.offset) == (3, pytest.approx(6 / 7))


def test_rows_and_keys_of_padding_do_not_count() -> None:
    gold = (1, 2)
    w = torch.zeros(1, 1, 5, 7)
    w[0, 0, 0, 1], w[0, 0, 1, 2] = 0.4, 0.4
    w[0, 0, :, 5] = 0.6  # a key behind the end of the sentence
    assert score_alignment([w], [gold], [4]).heads.item() == 1


def test_nothing_to_ask_is_refused() -> None:
    with pytest.raises(ValueError, match="no word"):
        score_alignment([], [], [])
    with pytest.raises(ValueError):
        score_alignment([torch.ones(1, 1, 2, 3)], [(0, 1)], [])
