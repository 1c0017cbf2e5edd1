"""Decoding with a cache and without, and over batches."""

from __future__ import annotations

import pytest
import torch

from mha_course import cost
from mha_course.models.decoding_time import DecodedBothWays, decode_both_ways, time_over_batches

TOY = cost.Machine("toy", peak=1e9, bandwidth=1e8)


def test_both_ways_choose_the_same_words_of_several() -> None:
    state = torch.random.get_rng_state()
    found = decode_both_ways(11, d_model=24, h=3, prompt=5, n_layers=2, b=2)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert found.equal and found.apart < 1e-4
    assert found.words_with.shape == found.words_without.shape == (2, 11)
    assert len(found.words_with.unique()) > 3  # else "the same" would say little
    again = decode_both_ways(11, d_model=24, h=3, prompt=5, n_layers=2, b=2)
    assert torch.equal(again.words_with, found.words_with)


def test_equal_is_refused_when_words_or_numbers_part() -> None:
    a, b = torch.tensor([[3, 4]]), torch.tensor([[3, 5]])
    assert DecodedBothWays(1.0, 6.0, a, a, 1e-6, 3.0).equal
    assert not DecodedBothWays(1.0, 6.0, a, b, 1e-6, 3.0).equal
    assert not DecodedBothWays(1.0, 6.0, a, a, 1e-2, 3.0).equal
    assert DecodedBothWays(2.0, 6.0, a, a, 0.0, 3.0).times_faster == 3


@pytest.mark.slow
def test_256_tokens_are_five_times_faster_with_a_cache() -> None:
    found = decode_both_ways(256, d_model=512)
    assert found.equal and len(found.words_with.unique()) > 3
    assert found.times_faster >= 5  # 8 to 10 where it was written


def test_batches_share_weights_and_not_caches() -> None:
    one, eight = time_over_batches(TOY, (1, 8), d_model=48, h=6, cached=19, seconds=0)
    assert one.flop_per_byte["attention"] == eight.flop_per_byte["attention"]
    assert eight.flop_per_byte["projections"] > 5 * one.flop_per_byte["projections"]
    stages = cost.stage_costs(8, 1, 48, 6, None, 19, 4, fused=True)
    projections = [stages[name] for name in ("projections", "output_projection")]
    assert eight.predicted["projections"] == pytest.approx(sum(map(TOY.least_seconds, projections)) / 8)
    assert eight.predicted["attention"] == pytest.approx(one.predicted["attention"])
    assert eight.flop_per_byte["projections"] == cost.total_cost(projections).intensity
    assert set(one.measured) == {"projections", "attention"} and min(one.measured.values()) > 0


@pytest.mark.slow
def test_projections_of_many_requests_take_less_time_each() -> None:
    one, many = time_over_batches(TOY, (1, 32), d_model=512, h=8, cached=127, seconds=0.05)
    assert many.measured["projections"] < one.measured["projections"] / 3  # here a tenth
    assert many.measured["attention"] > one.measured["attention"] / 3  # here the same
    shared = time_over_batches(TOY, (32,), d_model=512, h=8, n_kv_heads=1, cached=127, seconds=0.05)[0]
    assert shared.flop_per_byte["attention"] > 5 * many.flop_per_byte["attention"]
    assert shared.measured["attention"] < many.measured["attention"]
