"""What lesson 13 says in words and foretells in its predictions, computed again or read from its record."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mha_course import cost
from mha_course.models import own_machine
from mha_course.models.attention_or_recurrence import GATES, recurrent_flops
from mha_course.models.chain_of_products import attention, count_chains, recurrence
from mha_course.models.cost_records import recorded_costs
from mha_course.models.counted_flops import counted_flops
from mha_course.models.kept_weights import memory_of_weights
from mha_course.models.one_thread import one_thread
from mha_course.models.own_machine import Setting, predicted_seconds
from mha_course.models.random_layer import random_layer
from mha_course.models.time_over_heads import INNER
from mha_course.variants.continuous_batching import Request, Server, serve
from mha_course.variants.grouped_query import GroupedQueryAttention
from mha_course.variants.published_shapes import LLAMA_8B
from mha_course.variants.tensor_parallel import all_reduce, shards
from mha_course.widgets import BatchingTimeline
from mha_course.widgets.prediction import outcomes


def writing(b: int = 1, n: int = 1, n_kv: int | None = None, s: int = 2) -> dict[str, cost.StageCost]:
    """The layer of section 4 when it writes n tokens, the last of 4,096."""
    return cost.stage_costs(b, n, 4096, 32, n_kv, cached=4096 - n, bytes_per_number=s, fused=True)


def test_the_share_of_scores_and_weighted_sum() -> None:
    def share(n: int) -> float:
        flops = cost.attention_flops(n, 4096, 32)
        return (flops["scores"] + flops["weighted_sum"]) / flops["total"]

    assert share(2048) == pytest.approx(0.2) and outcomes()["13-share-of-scores"] == "20 %"
    assert share(8192) == pytest.approx(0.5) and share(2048) == 2048 / (2 * 4096 + 2048)
    stages = cost.stage_costs(1, 2048, 4096, 32).values()
    assert {min(one.intensity for one in stages), max(one.intensity for one in stages)} == {1.25, 1024}


def test_the_counter_sees_products_and_no_fused_kernel() -> None:
    seen = counted_flops(Setting(3, 70, 96, 6, 2))
    assert seen.plain == seen.total and seen.unseen == seen.formula["scores"] + seen.formula["weighted_sum"]


def test_equal_flops_are_not_equal_time() -> None:
    square, row = (cost.product_cost(*sizes, 4) for sizes in ((256, 256, 256), (1, 4096, 4096)))
    assert square.flops == row.flops == 33_554_432
    assert round(row.bytes / 1e6) == 67
    machine = recorded_costs().machine
    assert machine.least_seconds(row) > 2 * machine.least_seconds(square)
    a, b, c = torch.randn(256, 256), torch.randn(1, 4096), torch.randn(4096, 4096)
    with one_thread():
        quick, slow = (own_machine.shortest(call, 0.1) for call in (lambda: a @ a, lambda: b @ c))
    assert slow > 2 * quick and outcomes()["13-equal-flops"] == "more than twice as long"


def test_ridges_of_published_devices() -> None:
    ridges = [round(machine.ridge) for machine in cost.PUBLISHED]
    assert ridges == [153, 295, 206]


def test_nearly_all_pairs_agree() -> None:
    pairs = recorded_costs().pairs
    good = [c for c in pairs if c.off_by <= 2]
    assert len(pairs) == 19 and len(good) >= 16 and outcomes()["13-within-two"] == "16 or more"
    farthest = sorted(pairs, key=lambda c: c.off_by)[-5:]
    rows = [{s.n * s.h // (s.n_kv_heads or s.h) for s in (c.pair.first, c.pair.second)} for c in farthest]
    assert sum(any(4 <= row <= 16 for row in of_pair) for of_pair in rows) >= 3  # "most have few rows"
    wide = next(c for c in pairs if c.pair.question == "16 heads, not 4, writing")
    roof = {stage: wide.measured[0][stage] / wide.predicted[0][stage] for stage in INNER}
    assert roof["weighted_sum"] > 2.5 and roof["scores"] < 2  # "a single kernel"
    reading = [c for c in pairs if min(c.pair.first.n, c.pair.second.n) >= 64]
    assert len(reading) == 8 and all(c.off_by < 1.5 for c in reading)
    assert sum(c.off_by < 1.25 for c in reading) >= 6


def test_half_of_the_heads_are_a_sixth_of_the_block() -> None:
    rest = 16 * 128 * 768**2  # two products of 768 by 3072, 128 tokens
    assert rest == 2 * cost.product_cost(128, 768, 3072).flops
    whole, half = (cost.attention_flops(128, 768, h, d_k=64, d_v=64)["total"] + rest for h in (12, 6))
    assert 1 - half / whole == pytest.approx(0.176, abs=0.001)
    assert whole / half - 1 == pytest.approx(0.21, abs=0.005)  # 17.5 % were measured


def test_a_batch_lifts_the_projections_only() -> None:
    assert outcomes()["13-batch-intensity"] == "rise in the projections, stay in attention"
    one, many = writing(1), writing(256)
    assert many["projections"].intensity > 150 * one["projections"].intensity
    assert many["attention"].intensity == one["attention"].intensity < 1
    assert cost.PUBLISHED[0].ridge > 150 * one["projections"].intensity
    assert [round(cost.batch_at_the_ridge(m, 4096)) for m in cost.PUBLISHED] == [165, 345, 229]
    measured = [row.measured for row in recorded_costs().batches]
    assert measured[-1]["projections"] < measured[0]["projections"] / 4
    assert measured[-1]["attention"] > measured[0]["attention"] / 2
    # Farthest off with few rows, near in the end.
    off = {
        row.b: row.measured["projections"] / row.predicted["projections"] for row in recorded_costs().batches
    }
    assert max(off, key=off.get) in (2, 4, 8, 16) and off[64] < off[8]


def test_below_one_flop_a_byte_under_three_conditions() -> None:
    assert writing()["attention"].intensity < 1
    others = [writing(s=1), writing(n_kv=8), writing(n_kv=1), writing(n=4), writing(n=4096)]
    found = [round(one["attention"].intensity, 2) for one in others]
    assert found == [2.0, 4.0, 31.75, 4.0, 2048.0]


def test_where_the_cache_weighs_as_much_as_the_model() -> None:
    tokens = LLAMA_8B.tokens_as_heavy_as_weights()
    assert int(tokens) == 122_532 and int(tokens // 32) == 3_829
    assert round(tokens / LLAMA_8B.sharing(32).tokens_as_heavy_as_weights(), 1) == 3.6
    assert LLAMA_8B.cache_bytes() == 131_072 and outcomes()["13-bytes-a-token"] == "128 KiB"
    plain = LLAMA_8B.sharing(32).cache_bytes(131_072)
    assert plain == 64 * 2**30 and round(plain / (2 * LLAMA_8B.parameters)) == 4


def test_the_cache_saves_more_work_than_time() -> None:
    again = sum(cost.attention_flops(t, 512, 8)["total"] for t in range(1, 257))
    new = sum(
        sum(
            stage.flops
            for name, stage in Setting(1, 1, 512, 8, cached=t).costs().items()
            if name != "softmax"
        )
        for t in range(256)
    )
    assert round(again / new) == 133
    machine = recorded_costs().machine

    def foretold(settings: list[Setting]) -> float:
        return sum(predicted_seconds(s, machine, fused=True)["total"] for s in settings)

    roofline = foretold([Setting(1, t, 512, 8) for t in range(1, 257)]) / foretold(
        [Setting(1, 1, 512, 8, cached=t) for t in range(256)]
    )
    assert outcomes()["13-cache-speed"] == "5 to 50 times faster"
    assert 5 < roofline < 50 and 133 / roofline > 5
    # One run of a whole block, with words that each way picks for itself.
    decoding = recorded_costs().decoding
    assert 5 < decoding["times_faster"] < 50 and decoding["equal"] is True


def test_seats_that_change_hands() -> None:
    order = torch.randperm(40, generator=torch.Generator().manual_seed(1))
    answers = torch.tensor([20, 40, 80, 160, 320]).repeat(8)[order].tolist()
    server = Server(cost.PUBLISHED[0])

    def tokens_a_second(tokens: list[int], way: str) -> float:
        requests = [Request(prompt=512, answer=a) for a in tokens]
        return serve(requests, 8, way, server.decoding, server.reading).tokens_per_second

    static, continuous = (
        serve([Request(512, a) for a in answers], 8, way, server.decoding) for way in ("static", "continuous")
    )
    assert 8 * len(static.steps) == 11_520 and all(len(step.seats) == 8 for step in static.steps)
    assert sum(step.working for step in continuous.steps) == sum(answers) == 4_960
    gain = tokens_a_second(answers, "continuous") / tokens_a_second(answers, "static")
    assert 1.6 < gain < 2 and outcomes()["13-continuous"] == "nearly twice as many"
    assert sum(answers) == 40 * 124
    even = [124] * 40
    assert tokens_a_second(even, "continuous") == pytest.approx(tokens_a_second(even, "static"))


def test_nothing_is_gained_with_equal_answers_or_a_single_seat() -> None:
    for settings in ({"spread": 1}, {"seats": 1}):
        served = BatchingTimeline(**settings).served()
        assert served["continuous"].tokens_per_second == pytest.approx(served["static"].tokens_per_second)
    served = BatchingTimeline().served()
    assert served["continuous"].tokens_per_second > 1.2 * served["static"].tokens_per_second


def test_reading_half_of_the_weights_takes_20_microseconds() -> None:
    weights = 2 * cost.parameter_count(4096, 32, n_kv_heads=8) // 2
    assert round(weights / 1e6) == 42 and round(1e6 * weights / cost.PUBLISHED[0].bandwidth) in (20, 21)


def test_fewer_key_heads_move_attention_only() -> None:
    many, few = (writing(n_kv=n_kv) for n_kv in (32, 2))
    assert few["attention"].intensity > 10 * many["attention"].intensity
    assert few["projections"].bytes < many["projections"].bytes / 2
    assert few["projections"].intensity == pytest.approx(many["projections"].intensity, rel=0.01)
    assert few["output_projection"] == many["output_projection"]


def test_two_devices_add_up() -> None:
    layer = GroupedQueryAttention(64, 8, 4).double().requires_grad_(False)
    x = torch.randn(1, 9, 64, dtype=torch.float64)
    partial = [part(x) for part in shards(layer, 2)]
    assert (all_reduce(partial) - layer(x)).abs().max() < 1e-12
    assert torch.allclose(partial[0], layer.trace(x).contributions[:, :4].sum(1), atol=1e-12)
    assert outcomes()["13-two-outputs"] == "their sum"


def test_the_clock_knows_h() -> None:
    rows = recorded_costs().heads
    assert len({row.flops for row in rows}) == 1 and rows[-1].h == rows[-1].d_k * rows[-1].h == 128
    inner = {row.d_k: sum(row.seconds[name] for name in INNER) for row in rows}
    assert inner[1] > 5 * inner[128] and outcomes()["13-clock-over-h"] == "more than five times as long"
    assert 1.2 < inner[32] / inner[128] < 1.8 < inner[16] / inner[128] < 3 and inner[8] > 3 * inner[128]
    assert 25 < inner[1] / inner[128] < 60
    for row in rows:
        assert row.seconds["projections"] < 2 * rows[0].seconds["projections"]


def test_twice_the_tokens() -> None:
    half, whole = memory_of_weights((512, 1024))
    assert 3.5 < whole.kept / half.kept < 4.2 and 1.8 < whole.fused / half.fused < 2.3
    assert whole.sets > 2 and outcomes()["13-twice-the-tokens"] == "4 and 2 times as much"


def test_steps_and_paths() -> None:
    layer = random_layer(24, 4).requires_grad_(True)
    assert [count_chains(attention(layer), n, 24).steps for n in (10, 100)] == [4, 4]
    assert count_chains(attention(layer), 100, 24).path == 3
    rnn, gru = nn.RNN(24, 24, batch_first=True), nn.GRU(24, 24, batch_first=True)
    slow = count_chains(recurrence(rnn), 100, 24)
    assert (slow.steps, slow.path) == (100, 100)
    carried = count_chains(recurrence(gru), 100, 24)
    assert (carried.steps, carried.path) == (100, 1)
    assert outcomes()["13-steps-in-a-row"] == "100 and 4"


def test_who_reads_faster() -> None:
    rows = {row.n: row for row in recorded_costs().raced}
    short, long = rows[64], rows[max(rows)]
    assert short.seconds["attention"] < short.seconds["RNN"]
    assert long.seconds["RNN"] < long.seconds["attention"]
    assert outcomes()["13-race"] == "attention, then the RNN"
    ratios = [rows[n].flops["attention"] / rows[n].flops["RNN"] for n in (16, 256)]
    assert 2 < ratios[0] < ratios[1] == 6 and rows[256].seconds["attention"] < rows[256].seconds["RNN"]
    same = recurrent_flops(64, 64, GATES["GRU"])
    assert same == short.flops["attention"] and short.seconds["GRU"] > 3 * short.seconds["attention"]
