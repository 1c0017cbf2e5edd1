"""The leaderboard: every row is the same model but for its attention, and a run tells what it measured."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from mha_course.training.gloss_batches import gloss_data
from mha_course.training.leaderboard import (
    ROWS,
    Row,
    Setting,
    attention_layers,
    encoder_flops,
    held_out_loss,
    model_of,
    parameters,
    run_row,
    steps_to,
)
from mha_course.training.record import TESTING_SEED, TRAINING_SEED, held_out
from mha_course.training.train_gloss import Recipe, training_data
from mha_course.variants.mixture_of_heads import MixtureOfHeads

TINY = Setting(32, 2, 64, recipe=Recipe(steps=4, warm_up=2, sentences=60, tokens=96), look=2)


def test_rows_have_as_many_parameters_as_can_be() -> None:
    counts = {row: parameters(model_of(row, Setting(), 0)) for row in ROWS}
    plain = counts[Row("plain", 8)]
    assert all(counts[Row("plain", h)] == plain for h in (1, 2, 4, 16))
    # A feature of the feed-forward part is 2 * 48 + 1 numbers, in two layers; half of one is rounded away.
    assert all(abs(count - plain) <= 2 * 48 for count in counts.values())
    inner = {row: attention_layers(row, 48, 2, 192, 0.0)[1] for row in ROWS}
    assert inner[Row("composable", 8)] < inner[Row("wide", 16)] < inner[Row("plain", 8)] == 192
    assert inner[Row("multi-query", 8)] > inner[Row("grouped", 8)] > 192


def test_a_feed_forward_part_gives_no_more_than_it_has() -> None:
    # Heads twice as wide have 4 * 64 * 64 + 3 * 64 numbers more, those of 128 features; 64 must stay.
    setting = Setting(64, 2, 128)
    plain, wide = (model_of(row, setting, 0) for row in (Row("plain", 8), Row("wide", 16)))
    assert attention_layers(Row("wide", 16), 64, 2, 128, 0.0)[1] == 64
    assert parameters(wide) - parameters(plain) == 2 * (4 * 64 * 64 + 3 * 64 - 64 * 129)


def test_rows_differ_in_their_attention_only() -> None:
    plain, mixture = (model_of(row, TINY, 5) for row in (Row("plain", 8), Row("mixture", 8)))
    assert isinstance(mixture.encoder.layers[1].attention, MixtureOfHeads)
    assert encoder_flops(mixture, 12) < encoder_flops(plain, 12)
    again = model_of(Row("mixture", 8), TINY, 5)
    assert all(torch.equal(a, b) for a, b in zip(mixture.parameters(), again.parameters(), strict=True))


@pytest.mark.parametrize("row", [Row("plain", 2), Row("mixture", 8)])
def test_a_run_tells_what_it_measured(row: Row) -> None:
    model = model_of(row, TINY, 1)
    data = training_data(TINY.recipe, model.vocabulary, TRAINING_SEED)
    tested = gloss_data(held_out(30, TESTING_SEED), model.vocabulary)
    told = run_row(row, TINY, 1, data, tested)
    assert len(told["losses"]) == 2 and told["losses"][1] < held_out_loss(model, tested)
    assert set(told["accuracy"]) == {"stem", "ending", "mutation", "liaison"}
    assert told["parameters"] == parameters(model) and told["cached"] == 64
    longer = replace(TINY, recipe=replace(TINY.recipe, steps=2))
    assert run_row(row, longer, 1, data, tested)["losses"][0] != told["losses"][1]


def test_steps_to_a_threshold() -> None:
    assert steps_to([5.0, 4.0, 3.0, 3.5], 4.0, 50) == 100
    assert steps_to([5.0, 4.0], 1.0, 50) is None
