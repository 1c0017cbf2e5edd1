"""Wanted patterns, the width each needs, the kept heads that come nearest, and the widget that shows them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from mha_course.models import low_rank_fits, wanted_patterns
from mha_course.models.low_rank_fits import N, divergence, nearest_head
from mha_course.models.pattern_fit import fit_pattern, fit_scores
from mha_course.models.wanted_patterns import PATTERNS, centred, free_scores, numerical_rank, width_needed
from mha_course.training.record_pattern_fits import factors, record_pattern_fits
from mha_course.widgets.low_rank import LowRank

NEEDED = {
    "soft identity": 7, "sharp identity": 7, "neighbours": 7, "bell": 2, "two words": 1, "random": 7,
}  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda one: one.name)
def test_patterns_are_weights_and_need_the_width_that_is_told(pattern) -> None:
    wanted = pattern.make(N)
    assert wanted.shape == (N, N) and (wanted > 0).all()
    assert torch.allclose(wanted.sum(-1), torch.ones(N, dtype=torch.float64))
    assert width_needed(wanted) == NEEDED[pattern.name]
    scores = free_scores(wanted)
    assert torch.allclose(scores.softmax(-1), wanted, atol=1e-14)
    assert torch.allclose(scores.mean(-1), torch.zeros(N, dtype=torch.float64), atol=1e-12)


def test_no_other_shift_of_the_rows_has_a_lower_rank() -> None:
    g = torch.Generator().manual_seed(0)
    q, k = (torch.randn(size, 3, generator=g, dtype=torch.float64) for size in (6, 9))
    weights = (q @ k.T + torch.randn(6, 1, generator=g, dtype=torch.float64)).softmax(-1)
    assert width_needed(weights) == 3
    for _ in range(20):
        shifted = weights.log() + torch.randn(6, 1, generator=g, dtype=torch.float64)
        assert numerical_rank(shifted) >= 3
    # A shift of its own makes a row of uniform weights cost nothing.
    assert width_needed(torch.full((4, 5), 0.2, dtype=torch.float64)) == 0
    with pytest.raises(ValueError, match="above 0"):
        width_needed(torch.eye(3))


def test_patterns_say_what_they_are() -> None:
    bell, near = wanted_patterns.bell(9), wanted_patterns.neighbours(9)
    assert bell[4, 4] > bell[4, 5] > bell[4, 6] and math.isclose(bell[4, 3], bell[4, 5])
    assert near[4].topk(2).indices.sort().values.tolist() == [3, 5]
    both = wanted_patterns.two_words(6)
    assert torch.equal(both[0], both[5]) and both[0].topk(2).indices.sort().values.tolist() == [0, 3]
    assert not torch.equal(wanted_patterns.random_pattern(5), wanted_patterns.random_pattern(5, seed=1))
    with pytest.raises(ValueError, match="soft identity"):
        wanted_patterns.wanted_pattern("hard identity")
    with pytest.raises(ValueError, match="width=0"):
        wanted_patterns.bell(4, 0)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda one: one.name)
def test_kept_heads_have_their_width_and_come_nearer_with_each_feature(pattern) -> None:
    heads = [nearest_head(pattern.name, d_k) for d_k in range(1, N + 1)]
    for d_k, head in enumerate(heads, 1):
        assert numerical_rank(head.scores, 1e-11) <= d_k
        assert head.searched == (d_k < NEEDED[pattern.name])
        assert torch.allclose(head.weights.sum(-1), torch.ones(N, dtype=torch.float64))
        assert head.divergence == pytest.approx(divergence(head.wanted, head.scores))
    found = [head.divergence for head in heads]
    assert all(later < earlier or earlier < 1e-14 for earlier, later in zip(found, found[1:], strict=False))
    assert found[NEEDED[pattern.name] - 1] < 1e-14
    if NEEDED[pattern.name] > 1:
        assert found[NEEDED[pattern.name] - 2] > 1e-5


def test_what_is_known_of_the_soft_identity() -> None:
    known = {1: 0.724, 2: 0.420, 4: 0.065, 6: 0.022}
    for d_k, nats in known.items():
        assert nearest_head("soft identity", d_k).divergence == pytest.approx(nats, abs=6e-4)
    assert torch.linalg.matrix_rank(nearest_head("soft identity", 2).weights) == N


@pytest.mark.parametrize(("pattern", "d_k"), [("soft identity", 3), ("bell", 1)])
def test_a_new_search_finds_no_nearer_head(pattern: str, d_k: int) -> None:
    kept = nearest_head(pattern, d_k)
    found, scores = fit_scores(kept.wanted, d_k, seeds=2)
    assert kept.divergence <= found + 1e-7
    assert divergence(kept.wanted, scores) == pytest.approx(found, abs=1e-12)
    assert numerical_rank(scores, 1e-11) == d_k
    again, weights = fit_pattern(kept.wanted, d_k, seeds=2)
    assert again == found and torch.equal(weights, scores.softmax(-1))


def test_the_record_is_written_by_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bell = wanted_patterns.wanted_pattern("bell")
    monkeypatch.setattr("mha_course.training.record_pattern_fits.PATTERNS", (bell,))
    record_pattern_fits(tmp_path / "fits.json", seeds=1)
    made = json.loads((tmp_path / "fits.json").read_text(encoding="utf-8"))
    assert made["n"] == N and len(made["fits"]["bell"]) == 1
    q, k = (torch.tensor(made["fits"]["bell"][0][part], dtype=torch.float64) for part in ("q", "k"))
    assert q.shape == k.shape == (N, 1)
    kept = nearest_head("bell", 1)
    assert divergence(kept.wanted, q @ k.T) == pytest.approx(kept.divergence, abs=1e-5)


def test_factors_are_queries_and_keys() -> None:
    g = torch.Generator().manual_seed(3)
    scores = centred(torch.randn(7, 2, generator=g) @ torch.randn(2, 7, generator=g))
    q, k = factors(scores, 2)
    assert q.shape == k.shape == (7, 2) and torch.allclose(q @ k.T, scores, atol=1e-5)


def test_the_widget_answers_with_the_numbers_of_the_head() -> None:
    widget = LowRank("neighbours", 3)
    widget.d_k = 5
    head, answer = nearest_head("neighbours", 5), widget.answer
    assert widget.head() is head
    assert np.allclose(answer["nearest"], head.weights.numpy(), rtol=1e-4, atol=0)
    assert np.allclose(answer["wanted"], head.wanted.numpy(), rtol=1e-4, atol=0)
    assert answer["divergence"] == [nearest_head("neighbours", d).divergence for d in range(1, N + 1)]
    assert answer["ranks"] == {"scores": 5, "map": 8} and answer["needed"] == 7
    assert sum(v > answer["rounding"] * answer["scores"][0] for v in answer["scores"]) == 5
    assert "rank 8 of rank 5" in answer["words"] and "from d_k = 7 on" in widget.alt
    widget.pattern = "two words"
    assert "more than enough" in answer["words"] or "more than enough" in widget.answer["words"]
    assert widget.answer["ranks"] == {"scores": 1, "map": 1} and widget.answer["now"] == "0"
    json.dumps(widget.answer)
    data, metadata = widget._repr_mimebundle_()
    assert "image/png" in data and metadata["image/png"]["alt"] == widget.alt


def test_a_sharp_choice_is_nearly_met_far_below_the_width_that_meets_it() -> None:
    answer = LowRank("sharp identity", 2).answer
    assert (answer["needed"], answer["enough"]) == (7, 2)
    assert nearest_head("sharp identity", 1).divergence > 0.01 > nearest_head("sharp identity", 2).divergence
    assert "from d_k = 7 on, to 0.01 nats from 2 on" in answer["words"]
    assert "exactly, to 0.01 nats from 2 on" in LowRank("sharp identity", 7).answer["words"]
    assert "nats from" not in LowRank("two words", 3).answer["words"]


def test_every_pattern_has_a_remark() -> None:
    remarks = {LowRank(one.name).answer["remark"] for one in PATTERNS}
    assert len(remarks) == len(PATTERNS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hard identity",), "soft identity"),
        ((None,), "None is no pattern"),
        (("bell", 0), "d_k=0"),
        (("bell", 9), "d_k=9"),
        (("bell", 2.0), r"d_k=2\.0"),
    ],
)
def test_what_cannot_be_shown_is_refused(arguments: tuple, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        LowRank(*arguments)
    widget = LowRank()
    with pytest.raises(ValueError, match="no pattern"):
        widget.pattern = "none"
    with pytest.raises(ValueError, match="d_k=9"):
        widget.d_k = 9
    assert (widget.pattern, widget.d_k) == ("soft identity", 2)
    with pytest.raises(ValueError, match="d_k=0"):
        low_rank_fits.nearest_head("bell", 0)
