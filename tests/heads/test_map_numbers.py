"""The share on itself and the mean distance, against maps whose numbers are known."""

from __future__ import annotations

import pytest
import torch

from mha_course.attention_maps import AttentionMaps
from mha_course.heads.map_numbers import mean_distance, share_on_itself

WORDS = ["a", "quiet", "owl", "hears", "rain"]


def maps(*heads: torch.Tensor) -> AttentionMaps:
    return AttentionMaps(torch.stack(heads)[None], WORDS, WORDS)


def test_known_maps() -> None:
    n = len(WORDS)
    itself, even = torch.eye(n), torch.full((n, n), 1 / n)
    before = torch.eye(n).roll(-1, dims=1)  # the last word looks at the first: a distance of 4
    found = maps(itself, even, before)
    assert share_on_itself(found)[0].tolist() == pytest.approx([1.0, 0.2, 0.0])
    assert mean_distance(found)[0].tolist() == pytest.approx([0.0, 1.6, (4 * 1 + 4) / 5])


def test_rows_without_weight_do_not_count() -> None:
    weights = torch.eye(len(WORDS))
    weights[3] = 0
    weights[4] = torch.tensor([1.0, 0, 0, 0, 0])
    found = maps(weights)
    assert share_on_itself(found).item() == pytest.approx(3 / 4)
    assert mean_distance(found).item() == pytest.approx(4 / 4)


def test_cross_attention_has_no_own_place() -> None:
    cross = AttentionMaps(torch.full((2, 3, 5, 4), 0.25), WORDS, WORDS[:4], kind="cross")
    for number in (share_on_itself, mean_distance):
        with pytest.raises(ValueError, match="different tokens"):
            number(cross)
