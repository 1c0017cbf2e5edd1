"""Numbers that the later cards say in words, computed again or read from the course's records."""

from __future__ import annotations

import pytest
import torch

from mha_course import attention, cost, positions
from mha_course.interview.proof import run_proof
from mha_course.models import idle_heads, position_head, read_circuits, removal_records
from mha_course.models.cost_records import recorded_costs
from mha_course.models.course_models import load_course_model
from mha_course.models.leaderboard_records import difference, leaderboard, recorded_row
from mha_course.models.translator import translator_card
from mha_course.training.balance_trial import balance_runs
from mha_course.variants.composable import DynamicallyComposableHeads
from mha_course.variants.published_shapes import LLAMA_8B
from tests.interview.test_cards_told import told


def shown(name: str) -> list[float]:
    return list(run_proof(name).numbers.values())


def test_memory() -> None:
    text = told("memory-of-attention")
    assert "4 GiB of weights at 8,192 tokens and 16 GiB at 16,384" in text
    assert [cost.kept_weights_bytes(1, 32, n, n, 2) / 2**30 for n in (8192, 16_384)] == [4, 16]
    text = told("fused-kernel")
    assert (
        "69 GFLOP" in text
        and "1,141 MB" in text
        and "67 MB" in text
        and "has 1.25, the fused stage 1,024" in text
    )
    assert [round(number, 2) for number in shown("fused_means_fewer_bytes")] == [
        68.72,
        1140.85,
        67.11,
        1.25,
        1024,
    ]
    assert "`exp(89)` is infinite" in told("online-softmax") and torch.tensor(89.0).exp().isinf()
    assert "float16 ends at 65,504" in told("minus-a-billion") and torch.finfo(torch.float16).max == 65_504


def test_block() -> None:
    assert "mean cosine of 1.00, with the path about 0.76" in told("residual-path")
    around, without = shown("tokens_stay_apart_by_the_residual_path")
    assert without == pytest.approx(1, abs=0.005) and around == pytest.approx(0.76, abs=0.03)
    assert "misses one row in ten after a LayerNorm" in told("layer-norm-axis")
    places = positions.sinusoidal_encoding(12, 64, dtype=torch.float64)
    w_q, w_k = position_head.position_head(-1, 8.0, 64)
    right = []
    for x in (places, torch.nn.functional.layer_norm(places, (64,))):
        looked = attention.scaled_scores(x @ w_q, x @ w_k).argmax(-1)
        right.append((looked[1:] == torch.arange(11)).double().mean().item())
    assert right[0] == 1 and 1 - right[1] == pytest.approx(0.1, abs=0.02)


def test_teacher_forcing() -> None:
    text = told("teacher-forcing")
    assert "0.86 of the words are right when all earlier ones are given, and 0.61 in free translation" in text
    longer = [run["longer"] for run in translator_card()["seeds"]]
    assert sum(one["forced"] for one in longer) / len(longer) == pytest.approx(0.86, abs=0.01)
    assert sum(one["decoded"] for one in longer) / len(longer) == pytest.approx(0.61, abs=0.01)
    for run in translator_card()["seeds"]:
        assert 0 < run["held_out"]["forced"] - run["held_out"]["decoded"] < 0.02, "the gap is small there"


def test_serving() -> None:
    text = told("kv-cache")
    assert "64 GiB for one text of 131,072 tokens" in text and "128 KiB a token" in text
    assert LLAMA_8B.cache_bytes() == 128 * 1024
    assert LLAMA_8B.sharing(32).cache_bytes(131_072) == 64 * 2**30
    again = sum(cost.attention_flops(t, 512, 8)["total"] for t in range(1, 257))
    kept = 0
    for t in range(1, 257):
        one = cost.attention_flops(1, 512, 8, n_k=t)
        kept += one["scores"] + one["weighted_sum"] + 4 * 2 * 512**2
    assert "1/133" in text and round(again / kept) == 133
    assert "62.5 % of its parameters" in told("shared-key-heads")
    assert cost.parameter_count(4096, 32, n_kv_heads=8) / cost.parameter_count(4096, 32) == 0.625


def test_what_decoding_waits_for() -> None:
    text = told("decoding-is-memory-bound")
    assert "about 153" in text and "about 1 FLOP a byte" in text and "about 1,500" in text
    writing, reading, ridge = shown("decoding_waits_for_bytes")
    assert (round(writing), round(reading, -2), round(ridge)) == (1, 1500, 153)
    close = [pair.off_by <= 2 for pair in recorded_costs().pairs]
    assert "most predicted ratios" in text and sum(close) > 0.8 * len(close)
    text = told("batching")
    assert "228 times" in text and round(shown("a_batch_lifts_projections_only")[0]) == 228
    assert "from 165 requests on" in text and round(cost.batch_at_the_ridge(cost.PUBLISHED[0], 4096)) == 165


def test_reading_heads() -> None:
    assert "the right one of six endings for 96 % of 313 nouns" in told("qk-and-ov")
    share = read_circuits.written_endings(load_course_model(), head=5)[1]
    assert round(100 * share) == 96
    assert "more than 95 % of the rows" in told("maps-as-explanations")
    for seed in range(3):
        clear = [one for one in idle_heads.idle_heads(seed) if one.holds]
        assert clear and all(one.pattern.value >= 0.95 for one in clear)
    text = told("claiming-a-role")
    assert "twice as good as chance on the 20 words that picked it, and is at chance on others" in text
    picked, judged, _ = shown("the_best_of_many_is_lucky")
    assert picked / 0.2 > 2 and judged == pytest.approx(0.2, abs=0.02)


def test_pruning() -> None:
    assert "few of 16 heads cost more than a point alone" in told("which-heads-can-go")
    for seed in range(3):
        costs = [one.worst[1] for one in removal_records.single_removals(seed)]
        assert len(costs) == 16 and 1 <= sum(points > 1 for points in costs) <= 3
    text = told("learned-gates")
    assert "31 of 48, about two thirds; 35 % were kept" in text
    assert 48 - 17 == 31 and round(100 * 17 / 48) == 35
    text = told("what-pruning-saves")
    assert "82 % of its FLOPs" in text and "21 % faster" in text
    left = shown("only_what_is_taken_out_is_saved")[-1]
    assert round(100 * left) == 82 and round(100 / left - 100) == 21


def test_variants() -> None:
    assert "16 heads of width 3 are worse than 8 of width 6, and 16 of width 6 aren't" in told(
        "how-many-heads"
    )
    eight, sixteen, wide = recorded_row("plain", 8), recorded_row("plain", 16), recorded_row("wide", 16)
    assert difference(sixteen, eight).words.startswith("worse")
    assert not difference(wide, eight).words.startswith("worse")
    text = told("mixture-of-heads")
    share, routers, _ = shown("a_mixture_keeps_all_keys")
    assert "0.76 of the FLOPs" in text and round(share, 2) == 0.76
    assert "about 1 % here" in text and round(100 * routers / (4 * 256**2)) == 1
    unbalanced = [run.chosen[0] for run in balance_runs() if run.factor == 0]
    assert "in each of five runs" in text and len(unbalanced) == 5
    assert all(min(chosen) < 0.01 for chosen in unbalanced), "some heads were hardly ever picked"


@pytest.mark.parametrize(("d_model", "h"), [(40, 5), (24, 3)])
def test_what_composing_takes(d_model: int, h: int) -> None:
    assert "`20 · h · d_model + 66 · h²` parameters" in told("dynamic-composition")
    layer = DynamicallyComposableHeads(d_model, h)
    more = sum(p.numel() for p in layer.parameters()) - 4 * d_model**2
    assert more == 20 * h * d_model + 66 * h**2


def test_comparing() -> None:
    text = told("a-better-variant")
    assert "in nine tables of ten" in text and "lets one table in ten through, against one in fifty" in text
    by_mean, by_rule, one_row = shown("nine_equal_variants_have_a_winner")
    assert by_mean == pytest.approx(0.9, abs=0.03)
    assert by_rule == pytest.approx(0.1, abs=0.02) and one_row == pytest.approx(0.02, abs=0.01)
    others = [row for row in leaderboard() if row.row.variant != "plain"]
    worse = [
        sum(difference(row, recorded_row("plain", h)).words.startswith("worse") for row in others)
        for h in (8, 2)
    ]
    assert "two of nine variants are worse than eight plain heads" in text and "six are" in text
    assert len(others) == 9 and worse == [2, 6]
    plain = min((recorded_row("plain", h) for h in (1, 2, 4, 8, 16)), key=lambda row: row.loss)
    assert plain.h == 2 and "beside two plain heads, the best number at that width" in text
