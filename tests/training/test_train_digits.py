"""Written digits: patches, the model that reads them, one split for all rows, training, what a run tells."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest
import torch

from mha_course.models.digit_model import DigitModel, digit_images, patch_names, patches
from mha_course.training.leaderboard import Row, parameters
from mha_course.training.train_digits import (
    DIGIT_ROWS,
    DigitSetting,
    digit_model_of,
    digit_split,
    digits_right,
    run_digits,
    train_digits,
)
from mha_course.variants.mixture_of_heads import MixtureOfHeads

SHORT = DigitSetting(d_model=16, n_layers=1, d_ff=24, dropout=0.0, pictures=70, steps=80, batch=9, rate=0.01)


def test_patches_are_cut_row_by_row() -> None:
    image = torch.arange(64.0).view(1, 8, 8)
    cut = patches(image.repeat(3, 1, 1))
    assert cut.shape == (3, 16, 4)
    assert cut[2, 0].tolist() == [0, 1, 8, 9] and cut[0, 1].tolist() == [2, 3, 10, 11]
    assert cut[1, 4].tolist() == [16, 17, 24, 25] and cut[0, 15].tolist() == [54, 55, 62, 63]
    assert patch_names()[:5] == ("r1c1", "r1c2", "r1c3", "r1c4", "r2c1") and len(set(patch_names())) == 16


def test_the_pictures_are_those_of_the_data_set() -> None:
    images, digits = digit_images()
    assert images.shape == (1797, 8, 8) and float(images.min()) == 0 and float(images.max()) == 1
    assert set(Counter(digits.tolist())) == set(range(10))


def test_one_split_for_all_rows_without_a_picture_in_both_parts() -> None:
    learn, _, test, digits = digit_split(SHORT)
    assert len(learn) == 70 and len(test) == 1797 - 70 == len(digits)
    assert torch.equal(digit_split(replace(SHORT, steps=3))[0], learn)
    # A few pictures of the data set are alike pixel by pixel; the parts together hold each once.
    everything = torch.cat([learn, test]).flatten(1)
    assert torch.equal(everything.sum(0), digit_images()[0].flatten(1).sum(0))


def test_without_positions_the_patches_are_a_bag() -> None:
    model = DigitModel(16, 4, 2, 24, 0.0).eval()
    images = torch.rand(5, 8, 8, generator=torch.Generator().manual_seed(2))
    turned = images.flip(1).flip(2).unfold(1, 2, 2).unfold(2, 2, 2)
    # The same patches, with their own pixels as they were, in the opposite order.
    turned = turned.flip(-1).flip(-2).permute(0, 1, 3, 2, 4).reshape(5, 8, 8)
    assert torch.equal(patches(turned), patches(images).flip(1))
    with torch.no_grad():
        assert not torch.allclose(model(images), model(turned), atol=1e-4)
        model.positions.zero_()
        assert torch.allclose(model(images), model(turned), atol=1e-5)


def test_attend_keeps_every_layer_and_head() -> None:
    model = DigitModel(12, 3, 2, 20, 0.2).train()
    maps = model.attend(digit_images()[0][3])
    assert maps.weights.shape == (2, 3, 16, 16) and maps.query_tokens == patch_names()
    assert torch.allclose(torch.as_tensor(maps.weights).sum(-1), torch.ones(2, 3, 16), atol=1e-5)
    assert model.training


def test_rows_have_equally_many_parameters() -> None:
    counts = [parameters(digit_model_of(row, DigitSetting(), 0)) for row in DIGIT_ROWS]
    # Half a feature of two feed-forward parts of 2 * 32 + 1 numbers each is rounded away.
    assert max(counts) - min(counts) <= 2 * 65


def test_training_learns_and_is_the_same_for_the_same_seed() -> None:
    model = digit_model_of(Row("plain", 4), SHORT, 3)
    before = digits_right(model, SHORT)[1]
    losses = list(train_digits(model, SHORT, 3))
    assert len(losses) == 80 and digits_right(model, SHORT)[1] < before
    again = list(islice(train_digits(digit_model_of(Row("plain", 4), SHORT, 3), SHORT, 3), 5))
    assert again == losses[:5]
    other = list(islice(train_digits(digit_model_of(Row("plain", 4), SHORT, 3), SHORT, 4), 5))
    assert other != losses[:5]


def test_looking_at_the_held_out_pictures_changes_nothing() -> None:
    row, seen = Row("mixture", 8), []
    plain = list(islice(train_digits(digit_model_of(row, SHORT, 1), SHORT, 1), 10))
    model = digit_model_of(row, SHORT, 1)
    assert isinstance(model.encoder.layers[0].attention, MixtureOfHeads)
    for loss in islice(train_digits(model, SHORT, 1), 10):
        seen.append(loss)
        digits_right(model, SHORT)
        assert model.training
    assert seen == plain


@pytest.mark.parametrize("row", [Row("overlapping", 8), Row("plain", 2)])
def test_a_run_tells_what_it_measured(row: Row) -> None:
    kept: list[DigitModel] = []
    told = run_digits(row, SHORT, 2, kept.append)
    right, loss = digits_right(kept[0], SHORT)
    assert told["right"] == round(right, 4) and told["loss"] == round(loss, 4)
    assert told["parameters"] == parameters(kept[0]) and told["seconds"] >= 0
