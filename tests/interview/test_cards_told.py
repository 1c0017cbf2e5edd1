"""Numbers that the first cards say in words, computed again."""

from __future__ import annotations

import math

import pytest
import torch

from mha_course import cost
from mha_course.attention import masked_softmax, scaled_scores
from mha_course.interview.card import find_card
from mha_course.interview.proof import run_proof
from mha_course.layers import MultiHeadAttention, SingleHeadAttention
from mha_course.models.noise_records import votes
from mha_course.training import gloss_without_heads as glosses
from mha_course.transformer import EncoderLayer


def told(key: str) -> str:
    """All that a card says, as one text."""
    card = find_card(key)
    further = (card.follow_up.question, card.follow_up.answer) if card.follow_up else ()
    return " ".join((card.question, *card.answer, *further, card.pitfall))


@pytest.mark.parametrize(("d_k", "said"), [(64, "19 in 100"), (512, "58 in 100 at `d_k = 512`")])
def test_the_share_of_dead_rows(d_k: int, said: str) -> None:
    assert said in told("why-sqrt-d-k")
    g = torch.Generator().manual_seed(5)
    dead = []
    for _ in range(8):
        q, k = (torch.randn(n, d_k, generator=g, dtype=torch.float64) for n in (1000, 64))
        dead.append((masked_softmax(scaled_scores(q, k, 1.0)).amax(-1) > 0.99).double().mean().item())
    # As in lesson 01 all rows of a draw share their 64 keys, so draws differ by a few points.
    assert 100 * sum(dead) / len(dead) == pytest.approx(int(said[:2]), abs=4)
    assert "a typical score at `d_k = 64` is 8" in told("why-sqrt-d-k") and math.sqrt(64) == 8


def test_a_pointing_head_needs_large_scores() -> None:
    assert "A weight of 0.9 on one of nine keys needs a score 4.3 above the others" in told(
        "when-the-scale-fails"
    )
    scores = torch.zeros(9).index_fill(0, torch.tensor(3), 4.3)
    assert scores.softmax(dim=-1)[3].item() == pytest.approx(0.9, abs=0.005)


def test_how_fresh_layers_start() -> None:
    text = told("when-the-scale-fails")
    assert "a variance of 1/3" in text and "start near 1/9" in text
    assert "Glorot's start gives 1 for square matrices, about 2 for the narrow head" in text
    fresh = torch.nn.Linear(384, 960, bias=False)(torch.randn(500, 384))
    assert fresh.var().item() == pytest.approx(1 / 3, rel=0.05)
    square = MultiHeadAttention(256, 4).trace(torch.randn(2, 90, 256)).scores.var().item()
    narrow = torch.stack(
        [SingleHeadAttention(16, 6).trace(torch.randn(1, 40, 16)).scores for _ in range(150)]
    )
    assert square == pytest.approx(1, rel=0.1)
    assert narrow.var().item() == pytest.approx(2, rel=0.15)


def test_tied_queries_and_keys() -> None:
    text = told("three-different-projections")
    assert "about 0.7 of its weight on itself" in text and "it was 0.1" in text
    apart, tied = run_proof("tied_queries_and_keys_look_at_themselves").numbers.values()
    assert apart == pytest.approx(0.1, abs=0.01) and tied == pytest.approx(0.7, abs=0.03)


def test_an_added_one_is_a_factor() -> None:
    assert "keeps 1/e, about 37 %" in told("added-mask-of-ones") and round(100 / math.e) == 37
    assert "a factor of about 2.72" in told("softmax-saturation") and round(math.e, 2) == 2.72
    text = told("softmax-saturation")
    assert "about 104 below" in text
    gaps = torch.tensor([[0.0, -103.0], [0.0, -104.0]]).softmax(dim=-1)
    assert gaps[0, 1] > 0 and gaps[1, 1] == 0


def test_counts_of_parameters() -> None:
    text = told("parameters-by-heart")
    assert "4 · 262,144 = 1,048,576" in text and cost.parameter_count(512, 8) == 4 * 262_144 == 1_048_576
    assert "2,048" in text and cost.parameter_count(512, 8, bias=True) - 1_048_576 == 2048
    assert "655,360" in text and cost.parameter_count(512, 8, n_kv_heads=2) == 655_360
    block = EncoderLayer(d_model=48, h=3, d_ff=192)
    sizes = {
        name: sum(w.numel() for w in part.parameters() if w.ndim == 2)
        for name, part in block.named_children()
    }
    assert sizes["feed_forward"] == 2 * sizes["attention"] and "attention holds a third" in text
    assert "2,048 of a million numbers, 0.2 %" in told("bias-or-not")


def test_flops_as_formulas_and_where_the_two_parts_meet() -> None:
    text = told("what-h-changes")
    assert "`8 n d_model² + 4 n² d_model`" in text and "at `n = 2 · d_model`" in text
    for n, d_model, h in ((7, 48, 3), (96, 48, 16), (200, 40, 5)):
        parts = cost.attention_flops(n, d_model, h)
        assert parts["total"] == 8 * n * d_model**2 + 4 * n**2 * d_model
        projections = parts["projections"] + parts["output_projection"]
        more = projections - parts["scores"] - parts["weighted_sum"]
        assert (more > 0) == (n < 2 * d_model) and (more == 0) == (n == 2 * d_model)


def test_what_rounding_down_loses() -> None:
    text = told("h-does-not-divide")
    assert "gives 33, 48 heads of 33 make 1584 columns, and 16 of the 1600 features" in text
    assert (1600 // 48, 48 * 33, 1600 - 48 * 33) == (33, 1584, 16)


def test_heads_that_stand_in_for_each_other() -> None:
    text = told("heads-as-an-ensemble")
    assert "less than one mutation lost of 100; without both, 12 are lost" in text
    data = glosses.held_out_glosses(200)
    whole = glosses.accuracy_without([], data)["mutation"]
    one, two, both = (
        100 * (whole - glosses.accuracy_without(off, data)["mutation"])
        for off in ([(2, 2)], [(2, 4)], [(2, 2), (2, 4)])
    )
    assert max(one, two) < 1 and round(both) == 12


def test_averaged_heads() -> None:
    assert (
        "right in about 74 of 100 cases; the model that adds up what its heads write, in more than 99"
        in told("heads-as-an-ensemble")
    )
    for seed in range(3):
        found = votes(seed)
        averaged, together = (sum(right.values()) / len(right) for right in (found.voting, found.whole))
        assert 100 * averaged == pytest.approx(74, abs=1) and together > 0.99


def test_what_concat_alone_misses() -> None:
    assert "concat alone misses about a third of a target" in told("what-w-o-is-for")
    missed = []
    for seed in range(12):
        g = torch.Generator().manual_seed(seed)
        w_v, w_o = torch.randn(2, 6, 3, generator=g), torch.randn(2, 3, 6, generator=g)
        ring = torch.randn(40, 6, generator=g)
        read = [ring.roll(1, dims=0), ring.roll(-1, dims=0)]
        target = sum(read[i] @ w_v[i] @ w_o[i] for i in range(2))
        halves = target.split(3, dim=-1)
        best = [read[i] @ torch.linalg.lstsq(read[i], halves[i]).solution for i in range(2)]
        left = (torch.cat(best, dim=-1) - target).square().sum() / target.square().sum()
        missed.append(left.item())
    assert min(missed) > 0.1, "with every draw a good part is out of reach"
    assert sum(missed) / len(missed) == pytest.approx(0.37, abs=0.1)
