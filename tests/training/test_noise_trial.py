"""Noise in models: its places, that the order of its size is kept, ensembles, heads that vote."""

from __future__ import annotations

import json

import pytest
import torch

from mha_course.heads.ablation import all_heads, without_heads
from mha_course.models.course_models import load_course_model
from mha_course.models.gloss_model import GlossSizes
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training import noise_trial
from mha_course.training import record_noise as recorder
from mha_course.training.ensemble_trial import (
    ensemble_accuracy,
    heads_alone,
    heads_voting,
    mean_of_parts,
    pairs_voting,
    with_hidden_words,
)
from mha_course.training.gloss_batches import NO_ANSWER, gloss_data
from mha_course.training.gloss_marks import gloss_marks
from mha_course.training.gloss_without_heads import held_out_glosses
from mha_course.training.noise_trial import KINDS, noise_costs, noise_places
from mha_course.training.train_gloss import accuracy, fresh_model


def small(h: int, seed: int = 1):
    sizes = GlossSizes(d_model=32, h=h, n_layers=2, d_ff=20)
    return fresh_model(sizes, seed).requires_grad_(False).eval()


@pytest.fixture(scope="module")
def data():
    return gloss_data(list(draw_sentences(33, seed=12)), small(4).vocabulary)


def test_every_kind_of_noise_has_the_places_that_a_model_offers() -> None:
    counts = {h: [len(list(noise_places(small(h), kind))) for kind in KINDS] for h in (1, 2, 8)}
    assert counts[1] == [0, 0, 0, 3, 6, 0, 4, 3, 3, 3]
    assert counts[2] == [4, 0, 0, 3, 6, 4, 4, 3, 3, 3]
    assert counts[8] == [16, 8, 8, 3, 6, 16, 4, 3, 3, 3]
    with pytest.raises(ValueError, match="one head, own size"):
        list(noise_places(small(2), "everywhere"))


@pytest.mark.parametrize("kind", KINDS)
def test_noise_changes_answers_and_leaves_nothing_behind(kind: str, data) -> None:
    model = small(8)
    before, (noise, *_) = gloss_marks(model, data).loss, noise_places(model, kind)
    moved = []
    for share in (0.0, 0.1, 1.0):
        with noise(share, torch.Generator().manual_seed(4)):
            moved.append(float((gloss_marks(model, data).loss - before).abs().sum()))
    assert moved[0] < 1e-3 < moved[1] < moved[2]
    assert torch.equal(gloss_marks(model, data).loss, before)


def test_costs_by_part_and_of_the_worst_place(data, monkeypatch) -> None:
    monkeypatch.setattr(noise_trial, "SHARES", (0.5, 3.0))
    model, few = load_course_model(), held_out_glosses(25)
    cost = noise_costs(model, few, noise_trial.OUT_OF)
    mean = [sum(row) / 4 for row in zip(*cost.points.values(), strict=True)]
    assert len(cost.points) == 4 and mean[0] < mean[1]
    assert all(worst >= one for worst, one in zip(cost.worst, mean, strict=True))
    assert noise_costs(small(1), data, noise_trial.TWO_HEADS) is None


def test_an_ensemble_of_one_is_the_model_and_averaging_is_of_logits() -> None:
    models, few = [load_course_model(seed=seed) for seed in (0, 1)], held_out_glosses(30)
    assert ensemble_accuracy(models[:1], few) == pytest.approx(accuracy(models[0], few))
    assert ensemble_accuracy([models[0]] * 3, few) == ensemble_accuracy(models[:1], few)
    noisy = [mean_of_parts(ensemble_accuracy([model], few, noise=1.0)) for model in models]
    again = mean_of_parts(ensemble_accuracy([models[0]] * 4, few, noise=1.0))
    together = mean_of_parts(ensemble_accuracy(models, few, noise=1.0))
    assert again > noisy[0] + 0.02 and together > max(noisy)


def test_hidden_words_are_the_same_for_all_and_asked_for_no_stem(data) -> None:
    vocabulary = small(1).vocabulary
    hidden = with_hidden_words(data, 0.3, vocabulary)
    unknown = hidden.ids == vocabulary.encode(["<unk>"])[0]
    assert unknown.float().mean() == pytest.approx(0.3, abs=0.06)
    assert bool((hidden.answers["stem"][unknown] == NO_ANSWER).all())
    assert torch.equal(hidden.answers["ending"], data.answers["ending"])
    assert torch.equal(hidden.ids, with_hidden_words(data, 0.3, vocabulary).ids)


def test_heads_that_vote(data) -> None:
    model = small(4)
    alone = heads_alone(model, data)
    assert list(alone) == all_heads(model)
    with without_heads(model, set(all_heads(model)) - {(2, 3)}):
        assert alone[2, 3] == pytest.approx(accuracy(model, data))
    one = fresh_model(GlossSizes(d_model=12, h=1, n_layers=2, d_ff=20), 5).eval()
    # With one head a layer there is a single pair, and it is the model itself.
    assert pairs_voting(one, data) == pytest.approx(accuracy(one, data))
    assert heads_voting(one, data) != pairs_voting(one, data)


def test_a_small_recording_from_end_to_end(tmp_path, monkeypatch, data) -> None:
    monkeypatch.setattr(recorder, "KINDS", (noise_trial.ALL_HEADS, noise_trial.TWO_HEADS))
    monkeypatch.setattr(recorder, "SHARES", (0.5,))
    monkeypatch.setattr(noise_trial, "SHARES", (0.5,))
    monkeypatch.setattr(recorder, "HIDDEN_SHARES", (0.2, 0.3))
    models = {(h, seed): small(h, seed) for h in (1, 4) for seed in (0, 1)}
    monkeypatch.setattr(recorder, "EARLY_KINDS", (noise_trial.INTO,))
    recorder.record_noise(tmp_path, models, data, lambda line: None, early={1: small(4, 7)})
    written = json.loads((tmp_path / recorder.FILE).read_text(encoding="utf-8"))
    assert {kind: len(runs) for kind, runs in written.items()} == {
        **{"settings": 1, "models": 4, "early models": 1, "early": 1, "noise": 8, "ensemble": 8, "votes": 2},
    }
    assert [run["points"] is None for run in written["noise"]] == [False, True] * 2 + [False] * 4
    quiet = written["ensemble"][0]
    assert quiet["share"] == 0.0 and quiet["one"] == quiet["read_again"] and len(quiet["one"]) == 2
    assert [run["h"] for run in written["votes"]] == [4, 4] and len(written["votes"][0]["alone"]) == 8
