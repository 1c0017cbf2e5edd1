"""Habits of heads: where their weight goes on average, in Clark's terms."""

from __future__ import annotations

import math

import pytest
import torch

from mha_course.heads import habits as h

# One layer of three heads over [CLS], two words, a full stop and [SEP]; rows are queries.
TO_FIRST = torch.zeros(5, 5).index_fill(1, torch.tensor([0]), 1.0)
EVEN = torch.full((5, 5), 0.2)
BACK = torch.eye(5).roll(-1, 1)  # the weight of row t is at t - 1, that of row 0 at 4


@pytest.fixture(scope="module")
def habits() -> h.Habits:
    weights = torch.stack([TO_FIRST, EVEN, BACK])[None]
    return h.count_habits([weights, weights[..., :4, :4] + 0.0], [[0, 4], [0]], [[3], []])


def first_only() -> h.Habits:
    return h.count_habits([torch.stack([TO_FIRST, EVEN, BACK])[None]], [[0, 4]], [[3]])


def of(habits: h.Habits, habit: str) -> list[float]:
    return pytest.approx(habits.mean(habit)[0].tolist(), abs=1e-6)


def test_means_by_hand() -> None:
    found = first_only()
    assert found.rows.tolist() == [3.0]
    assert [1, 0.2, 1 / 3] == of(found, h.FIRST_SPECIAL)
    assert [0, 0.2, 0] == of(found, h.LAST_SPECIAL)
    assert [1, 0.4, 1 / 3] == of(found, h.SPECIAL)
    assert [0, 0.2, 0] == of(found, h.ITSELF)
    assert [1 / 3, 0.2, 1] == of(found, h.PREVIOUS_TOKEN)
    assert [0, 0.2, 0] == of(found, h.NEXT_TOKEN)
    assert [0, 0.2, 0] == of(found, h.PUNCTUATION)
    assert [0, 1, 0] == of(found, h.BROAD)
    assert [0, math.log(5), 0] == of(found, h.ENTROPY)
    assert [0.8, 0, 0.8] == of(found, h.NEAR_ZERO)
    assert [1, 0.2, 1] == of(found, h.LARGEST)


def test_sentences_count_by_their_rows(habits) -> None:
    assert habits.rows.tolist() == [3.0, 3.0]
    assert habits.totals.shape == (2, 1, 3, len(h.HABITS))
    assert float(habits.mean(h.LAST_SPECIAL)[0, 1]) == pytest.approx(0.1), (
        "one special token is the first one"
    )


def test_clarks_categories_and_their_order() -> None:
    found = first_only()
    assert h.clark_categories(found) == [["[CLS]", "", "previous"]]
    low = (("broad", h.ENTROPY, 1.0), ("any", h.NEAR_ZERO, 0.5))
    assert h.clark_categories(found, low) == [["any", "broad", "any"]]


def test_depth_is_told_by_layer() -> None:
    two = torch.stack([torch.stack([EVEN, EVEN]), torch.stack([TO_FIRST, EVEN])])
    found = h.by_layer(h.count_habits([two], [[0]]))
    assert found[h.BROAD].tolist() == pytest.approx([1, 0.5])
    assert not found[h.PUNCTUATION].any()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="no habit 'sleep'"):
        first_only().mean("sleep")
    with pytest.raises(ValueError, match="layers, heads, n, n"):
        h.count_habits([EVEN], [[0]])
    with pytest.raises(ValueError, match="no sentence"):
        h.count_habits([], [])
