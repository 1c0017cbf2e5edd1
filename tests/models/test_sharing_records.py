"""The record of lesson 14: complete, made again in part, and what the lesson says of it."""

from __future__ import annotations

import math

import pytest
import torch

from mha_course.heads.shared_space import dimensions_needed, effective_rank, heads_turned, shared_space
from mha_course.models.course_models import load_course_model
from mha_course.models.one_thread import one_thread
from mha_course.models.recorded_heads import recorded_heads
from mha_course.models.sharing_records import (
    MODELS,
    WIDTHS,
    conversions,
    sparse_heads,
    spectra,
    untouched,
    without_scores,
)
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.training.kept_rows import kept_gloss_row
from mha_course.training.record_sharing import _conversions, _scores_error, _seen_by_layers
from mha_course.variants.collaborative import CollaborativeHeads
from mha_course.variants.narrowed import narrowed


def test_the_record_holds_every_model_and_width() -> None:
    assert [len(spectra(model)) for model in MODELS] == [2, 2, 6, 6]
    for model, widths in WIDTHS.items():
        assert tuple(row.width for row in conversions(model, "shared")) == widths
        cut = conversions(model, "cut")
        assert tuple(row.width for row in cut) == tuple(width for width in widths if width % 8 == 0)
        assert all(row.turned_error is None for row in cut)
    with pytest.raises(ValueError, match="nothing was recorded of 'other'"):
        spectra("other")


def test_spectra_of_the_course_model_are_those_of_its_weights() -> None:
    for layer, told in zip(load_course_model().encoder.layers, spectra("course"), strict=True):
        space = shared_space(layer.attention)
        assert tuple(dimensions_needed(space.heads, 0.9).tolist()) == told.heads
        assert int(dimensions_needed(space.summed, 0.9)) == told.summed
        turned = [shared_space(heads_turned(layer.attention, seed)).summed for seed in range(3)]
        mean = sum(int(dimensions_needed(one, 0.9)) for one in turned) / 3
        assert told.summed_turned == pytest.approx(mean, abs=0.4)


def test_a_conversion_comes_out_as_recorded() -> None:
    model = kept_gloss_row("plain")
    with one_thread():
        made = _conversions(model, (8,), held_out_glosses(300), lambda line: None)
    assert made["before"]["loss"] == pytest.approx(untouched("narrow").loss, abs=2e-3)
    assert made["uniform"]["loss"] == pytest.approx(without_scores("narrow").loss, abs=5e-3)
    for row, way in zip(made["rows"], ("shared", "cut"), strict=True):
        (told,) = (one for one in conversions("narrow", way) if one.width == 8)
        # The search for factors may end elsewhere on another machine, though hardly far away.
        assert row["way"] == way and row["loss"] == pytest.approx(told.loss, abs=0.1)
        assert row["weights_error"] == pytest.approx(list(told.weights_error), abs=0.02)
        assert row["scores_error"] == pytest.approx(list(told.scores_error), abs=0.05)


def test_scores_error_is_blind_to_what_softmax_does_not_see() -> None:
    model = kept_gloss_row("plain")
    seen = _seen_by_layers(model, held_out_glosses(20))
    layer = model.encoder.layers[0].attention
    whole = CollaborativeHeads.from_layer(layer)
    # A key bias adds one number to a whole row, so conversion may drop it.
    assert float(layer.w_k.bias.abs().max()) > 0
    assert _scores_error(layer, whole, seen[0]) < 1e-5
    whole.mixing.data *= 2
    whole.content_bias.weight.data *= 2
    assert _scores_error(layer, whole, seen[0]) == pytest.approx(1, abs=1e-4)
    assert 0 < _scores_error(layer, narrowed(layer, 24), seen[0]) < 1


def test_sparse_heads_of_the_recorded_model() -> None:
    told, heads = sparse_heads("all-MiniLM-L6-v2"), recorded_heads()
    long = [weights for weights in heads.weights_over_words() if weights.shape[-1] >= 8]
    assert told.sentences == len(long)
    near = torch.stack([(w < 0.01).double().mean((-2, -1)) for w in long]).mean(0)
    rank = torch.stack([effective_rank(w) / w.shape[-1] for w in long]).mean(0)
    assert torch.allclose(told.near_zero.double(), near, atol=1e-3)
    assert torch.allclose(told.rank.double(), rank, atol=1e-3)


def test_what_the_lesson_says() -> None:
    for model in (MODELS[0], MODELS[2]):
        for layer in spectra(model):
            # Heads alone need most of their d_k; their sum needs far less than unrelated heads would.
            assert sum(layer.heads) / len(layer.heads) > 0.5 * layer.d_k
            assert layer.summed < 0.65 * layer.summed_turned
    for model in (MODELS[1], MODELS[3]):
        for layer in spectra(model):
            assert layer.summed == pytest.approx(layer.summed_turned, rel=0.05)
            assert layer.summed < 0.4 * layer.d_model  # "a third of the dimensions" without any training
    for model, width in (("course", 16), ("narrow", 24)):
        shared, cut = (
            next(row for row in conversions(model, way) if row.width == width) for way in ("shared", "cut")
        )
        assert shared.loss < untouched(model).loss + 0.05 < cut.loss - 0.3
        assert min(shared.weights_error) > 0.4
        assert max(shared.scores_error) < min(cut.scores_error)
    # Were sparse maps of low rank, these would be clearly negative.
    assert sparse_heads("course").correlation > 0.4 and sparse_heads(MODELS[2]).correlation > 0.2
    assert math.isnan(sparse_heads(MODELS[3]).correlation)
