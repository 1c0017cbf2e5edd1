"""Heads set by hand: the pattern is where it should be, or as near as one column comes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mha_course.attention import masked_softmax
from mha_course.models.hand_set import (
    PATTERNS,
    clearest_pairs,
    hand_set_heads,
    hand_set_input,
    offset_head,
    pattern_matrices,
    patterns_of,
    share_on_target,
    wanted,
    widths,
)
from mha_course.models.narrow_heads import best_one_column
from mha_course.positions import sinusoidal_encoding
from mha_course.text.sentences import COURSE_SENTENCES
from mha_course.text.tokens import tokenize

VECTORS = Path(__file__).parent / "vectors"
WORDS = [token for sentence in COURSE_SENTENCES for token in tokenize(sentence)]


def shares(tokens: list[str], d_model: int, h: int) -> dict[str, float]:
    heads = hand_set_heads(tokens, d_model, h)
    weights = heads.layer.trace(heads.x[None]).weights[0]
    return {p: share_on_target(weights[i], p, tokens) for i, p in enumerate(heads.patterns[:4])}


def test_previous_token_head_equals_the_reference_vector():
    vector = load_file(VECTORS / "previous_token_head.safetensors")
    config = json.loads((VECTORS / "previous_token_head.json").read_text(encoding="utf-8"))["config"]
    d, n, beta = config["d"], config["n"], config["beta"]
    w_q, w_k = offset_head(-1, d, range(d // 2), beta, d_k=d)
    torch.testing.assert_close(w_q, vector["W_Q"], atol=1e-9, rtol=0)
    torch.testing.assert_close(w_k, vector["W_K"], atol=1e-9, rtol=0)
    pe = sinusoidal_encoding(n, d, dtype=torch.float64)
    torch.testing.assert_close(pe, vector["pe"], atol=1e-9, rtol=0)
    scores = (pe @ w_q) @ (pe @ w_k).T / math.sqrt(d)
    torch.testing.assert_close(scores, vector["scores"], atol=1e-8, rtol=0)
    torch.testing.assert_close(masked_softmax(scores), vector["attn"], atol=1e-8, rtol=0)


@pytest.mark.parametrize(
    ("d_model", "h", "n"),
    [(8, 4, 5), (8, 2, 24), (16, 4, 11), (24, 6, 13), (36, 9, 17), (48, 12, 31), (64, 8, 64), (96, 24, 20)],
)
def test_wide_heads_follow_their_pattern(d_model, h, n):
    tokens = WORDS[40 : 40 + n]
    for pattern, share in shares(tokens, d_model, h).items():
        assert share > 0.99, (pattern, d_model, h, n, share)


@pytest.mark.parametrize(("d_model", "h", "n"), [(64, 32, 64), (128, 64, 33), (48, 16, 50), (8, 4, 63)])
def test_two_columns_hold_positions_exactly_and_words_nearly(d_model, h, n):
    reached = shares(WORDS[7 : 7 + n], d_model, h)
    assert reached["previous word"] > 0.995 and reached["next word"] > 0.995
    assert 0.9 < reached["same word"] <= 1


@pytest.mark.parametrize("offset", [-1, 1])
def test_the_first_and_last_rows_are_the_only_ones_without_a_target(offset):
    pattern = {-1: "previous word", 1: "next word"}[offset]
    target = wanted(pattern, ["a", "b", "c", "d", "e"])
    empty = [q for q in range(5) if target[q].sum() == 0]
    assert empty == [0 if offset == -1 else 4]
    assert all(target[q, q + offset] == 1 for q in range(5) if q not in empty)


def test_same_word_shares_its_weight_among_all_occurrences():
    tokens = ["the", "cat", "saw", "the", "dog", "and", "the", "bird"]
    heads = hand_set_heads(tokens, 24, 4)
    weights = heads.layer.trace(heads.x[None]).weights[0, 2]
    torch.testing.assert_close(weights[3, [0, 3, 6]], torch.full((3,), 1 / 3), atol=1e-3, rtol=0)


def test_everything_alike_is_uniform_at_every_width():
    for d_model, h in ((8, 8), (20, 5), (64, 4)):
        heads = hand_set_heads(WORDS[:9], d_model, h)
        weights = heads.layer.trace(heads.x[None]).weights[0, 3]
        torch.testing.assert_close(weights, torch.full((9, 9), 1 / 9))


def test_wide_heads_know_nothing_of_the_sentence():
    one, other = hand_set_heads(["a", "b", "c"], 32, 4), hand_set_heads(["x", "y", "z", "x"], 32, 4)
    assert torch.equal(one.layer.w_q.weight, other.layer.w_q.weight)


def test_word_and_position_keep_to_their_own_columns():
    d_model, tokens = 28, ["rain", "fell", "rain", "again", "today"]
    d_content, d_position = widths(d_model)
    assert d_content + d_position == d_model and d_position % 2 == 0
    x = hand_set_input(tokens, d_model)
    assert torch.equal(x[0, :d_content], x[2, :d_content])
    assert not torch.equal(x[0, d_content:], x[2, d_content:])
    w_q, w_k = pattern_matrices("previous word", d_model, 7)
    assert w_q[:d_content].abs().max() == 0 and w_k[:d_content].abs().max() == 0
    w_q, w_k = pattern_matrices("same word", d_model, 7)
    assert w_q[d_content:].abs().max() == 0 and w_k[d_content:].abs().max() == 0


def test_one_column_is_too_narrow_and_the_search_beats_the_closed_forms():
    n = 11
    target = wanted("previous word", [str(i) for i in range(n)]).double()
    live = target.sum(-1) > 0

    def share(a: torch.Tensor, b: torch.Tensor) -> float:
        return float((((a[:, None] * b).softmax(-1) * target).sum(-1))[live].mean())

    factors = [2 ** (i / 4) for i in range(-20, 60)]
    ramp = torch.arange(n, dtype=torch.float64)
    ramps = max(share(f * (ramp - c / 2), ramp / n) for f in factors for c in range(20))
    centred = target - target.mean(0) - target.mean(1, keepdim=True) + target.mean()
    u, _, v = torch.linalg.svd(centred)
    best_rank_one = max(share(s * f * u[:, j], v[j]) for f in factors for j in range(n) for s in (1, -1))
    features = sinusoidal_encoding(n, 32, dtype=torch.float64)
    u, v = best_one_column(features, target)
    searched = share(features @ u, features @ v)
    u, v = best_one_column(torch.eye(n, dtype=torch.float64), target)
    free = share(u, v)
    assert ramps == pytest.approx(0.19, abs=0.01)
    assert best_rank_one == pytest.approx(0.27, abs=0.01)
    assert searched == pytest.approx(0.34, abs=0.015) and searched > 1.2 * best_rank_one
    assert free == pytest.approx(0.36, abs=0.015)
    # The key third from an end gets at most a third of any row, and so on from both ends.
    bound = 2 * sum(1 / rank for rank in range(1, n // 2 + 1)) / (n - 1)
    assert searched < bound


def test_narrow_layer_reaches_what_the_search_promises():
    tokens = WORDS[:11]
    reached = shares(tokens, 64, 64)
    for pattern in PATTERNS[:3]:
        assert 0.25 < reached[pattern] < 0.5, (pattern, reached[pattern])
    assert reached["everything alike"] == pytest.approx(1)


def test_a_search_leaves_the_global_generator_alone():
    before = torch.random.get_rng_state()
    hand_set_heads(["never", "seen", "before", "here"], 12, 12)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize(("d_model", "h"), [(1, 1), (2, 1), (2, 2), (3, 3), (3, 1), (5, 1), (7, 7), (9, 3)])
@pytest.mark.parametrize("n", [1, 4])
def test_odd_and_tiny_sizes_give_weights_that_sum_to_one(d_model, h, n):
    heads = hand_set_heads(WORDS[:n], d_model, h)
    weights = heads.layer.trace(heads.x[None]).weights
    assert weights.shape == (1, h, n, n)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, h, n))


def test_patterns_start_again_after_four():
    assert patterns_of(6) == PATTERNS + PATTERNS[:2]
    heads = hand_set_heads(WORDS[:5], 24, 6)
    weights = heads.layer.trace(heads.x[None]).weights[0]
    torch.testing.assert_close(weights[4], weights[0])


def test_clearest_pairs_leave_the_gap_they_promise():
    for d_position, count in ((16, 1), (16, 3), (32, 2)):
        pairs, gap = clearest_pairs(d_position, count)
        assert len(pairs) == count and gap > 0
        pe = sinusoidal_encoding(65, d_position, dtype=torch.float64).view(65, -1, 2)[:, list(pairs)]
        kernel = (pe[0] * pe).sum((-1, -2))
        assert float(kernel[0] - kernel[1:].max()) == pytest.approx(gap, abs=1e-9)


def test_offset_head_refuses_more_pairs_than_columns():
    with pytest.raises(ValueError, match="3 pairs need 6 columns, but d_k=5"):
        offset_head(-1, 16, (0, 1, 2), 4.0, 5)
