"""Trained weights in the AttentionExplorer: the model's own maps, accuracies, roles, unknown words, gaps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mha_course.attention import masked_softmax, scaled_scores
from mha_course.heads.role_names import head_labels, percent, role_in_full, role_in_short
from mha_course.models import trained_settings
from mha_course.models.course_models import Card, load_course_model
from mha_course.models.gloss_model import GlossSizes
from mha_course.models.trained_settings import Accuracy, accuracy_by_part, mean_accuracy, trained_card
from mha_course.text.vocabulary import Vocabulary
from mha_course.widgets import AttentionExplorer, trained_source
from mha_course.widgets.explorer_words import below_a_still
from mha_course.widgets.prepared import NoSuchSetting
from mha_course.widgets.trained_source import KNOWN_SENTENCE

SENTENCE = "The captain that the sailors follow leaves this ship ."


def explorer(sentence: str = SENTENCE, **settings) -> AttentionExplorer:
    return AttentionExplorer(sentence, **{"d_model": 128, "h": 8, "weights": "trained", **settings})


def sent(shown: AttentionExplorer) -> np.ndarray:
    """The weights (h, n, n) that the view gets."""
    n, h = shown.answer["n"], shown.answer["h"]
    return np.frombuffer(bytes(shown.payload), np.uint16, h * n * n).reshape(h, n, n) / 65535


@pytest.mark.parametrize("layer", [1, 2])
def test_maps_are_those_of_the_model_on_lower_case_words(layer: int) -> None:
    shown = explorer(layer=layer)
    expected = load_course_model(128, 8).attend(SENTENCE.lower().split()).weights[layer - 1]
    torch.testing.assert_close(shown.maps().weights[0], expected)
    assert abs(sent(shown) - expected.numpy()).max() < 1e-4
    assert shown.answer["tokens"] == SENTENCE.split() and shown.answer["unknown"] == []
    assert (shown.answer["layer"], shown.answer["layers"]) == (layer, 2)
    assert f"layer {layer} of 2" in shown.alt


def test_the_head_that_opens_the_course_sends_each_verb_to_its_subject() -> None:
    words, map_ = SENTENCE.split(), explorer().maps().weights[0, 2]
    for verb, subject in (("follow", "sailors"), ("leaves", "captain"), ("this", "ship")):
        assert words[map_[words.index(verb)].argmax()] == subject
        assert map_[words.index(verb), words.index(subject)] > 0.8


def test_layers_differ_and_a_source_of_one_layer_has_no_second() -> None:
    shown = explorer(layer=1)
    first = sent(shown)
    shown.layer = 2
    assert abs(sent(shown) - first).max() > 0.3
    shown.weights = "random"
    assert (shown.answer["layers"], shown.answer["with_weights"]) == (1, None)
    with pytest.raises(ValueError, match="layer=0"):
        shown.layer = 0


def test_masks_reach_every_layer() -> None:
    model, words = load_course_model(128, 8), SENTENCE.lower().split()
    causal = explorer(mask="causal")
    kept = []
    ids = torch.tensor([model.vocabulary.encode(words)])
    with torch.no_grad():
        model.encoder(model.read(ids), torch.ones(10, 10, dtype=torch.bool).tril(), kept)
    torch.testing.assert_close(causal.maps().weights[0], kept[1].weights[0])
    padded = explorer(mask="padding")
    assert padded.answer["tokens"][-3:] == [Vocabulary.PAD] * 3 and padded.answer["unknown"] == []
    # Padding that nobody sees leaves the words as they are without it.
    torch.testing.assert_close(padded.maps().weights[0][:, :10, :10], explorer().maps().weights[0])


def test_without_scale_only_the_layer_on_show_is_recomputed() -> None:
    kept = []
    model = load_course_model(128, 8)
    ids = torch.tensor([model.vocabulary.encode(SENTENCE.lower().split())])
    with torch.no_grad():
        model(ids, kept)
    sharp = masked_softmax(scaled_scores(kept[1].q, kept[1].k, scale=1.0), None)
    torch.testing.assert_close(explorer(scale=False).maps().weights, sharp)


def test_words_outside_the_vocabulary_are_read_as_unknown_and_said_to_be() -> None:
    shown = explorer("My oboe helps the Sailor , oboe")
    assert shown.answer["unknown"] == [1, 5, 6]
    box = shown.answer["notices"][0]
    assert box["heading"] == "2 words that the model doesn’t know: oboe, ," and "<unk>" in box["text"]
    assert "Read as <unk>, unknown to the model: oboe, ,." in shown.alt
    words = ["my", "<unk>", "helps", "the", "sailor", "<unk>", "<unk>"]
    torch.testing.assert_close(shown.maps().weights[0], load_course_model(128, 8).attend(words).weights[1])
    assert box["sentence"] == KNOWN_SENTENCE
    shown.sentence = KNOWN_SENTENCE
    assert shown.answer["unknown"] == [] == shown.answer["notices"] and "<unk>" not in shown.alt


def test_a_still_picture_names_heads_and_unknown_words_below() -> None:
    below = below_a_still(explorer("my oboe waits .").answer)
    assert "Heads: " in below and "verb → subj" in below and below.endswith("unknown to the model: oboe.")
    assert below_a_still(explorer("rain falls .", weights="random").answer) == ""
    assert explorer("my oboe waits .").still_png().startswith(b"\x89PNG")


def test_sentences_longer_than_those_of_the_training_are_named() -> None:
    shown = explorer(" ".join(["the sailor"] * 14))
    assert shown.answer["notices"][0]["heading"] == "28 tokens in a row are new to the model"


def test_heads_carry_their_roles_and_the_note_the_accuracy_of_the_card() -> None:
    card = trained_card(128, 8)
    role = next(role for role in card.seeds[0]["roles"] if role["role"] == "previous")
    layer, head = role["head"]
    shown = explorer(layer=layer)
    assert shown.answer["names"][head - 1].startswith(f"previous {percent(role['held'])}")
    assert "word → previous word" in shown.answer["details"][head - 1]
    assert len(shown.answer["names"]) == len(shown.answer["details"]) == 8
    for part, accuracy in accuracy_by_part(card).items():
        assert f"{part} {accuracy}" in shown.answer["note"]
    assert "stem" not in explorer(facts=False).answer["note"]


def test_a_setting_without_a_model_is_marked_and_says_so() -> None:
    shown = explorer(d_model=24, h=3)
    missing = shown.answer["missing"]
    assert missing["heading"] == "No model was trained with d_model = 24 and h = 3"
    assert bytes(shown.payload) == b"" and "No model was trained" in shown.alt
    assert shown.answer["with_weights"]["h"] == [] and 24 not in shown.answer["with_weights"]["d_model"]
    with pytest.raises(NoSuchSetting, match="d_model 128 with h .*8"):
        shown.maps()
    assert "image/png" not in shown._repr_mimebundle_()[0]
    offer = missing["offers"][0]
    shown.set_state({**offer, "stamp": 1})
    assert "missing" not in shown.answer and (shown.d_model, shown.h) == (offer["d_model"], offer["h"])


def test_widths_are_marked_for_the_h_that_would_be_shown() -> None:
    shown = explorer(d_model=128, h=8)
    known = set(trained_settings.settings_with_models())
    marked = shown.answer["with_weights"]
    assert 128 in marked["d_model"] and 8 in marked["h"]
    assert marked["h"] == [h for h in (1, 2, 4, 8, 16, 32, 64, 128) if (128, h) in known]
    assert 24 not in marked["d_model"]


def test_without_the_folder_of_the_models_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> tuple[tuple[int, int], ...]:
        raise FileNotFoundError("data/models/cards.json is missing")

    monkeypatch.setattr(trained_settings, "trained_settings", missing)
    assert trained_settings.settings_with_models() == ()
    with pytest.raises(NoSuchSetting, match="no trained models here") as caught:
        trained_source.trained_source(["the"], 128, 8, 0)
    assert caught.value.nearest == ()


def test_accuracy_is_told_with_its_spread() -> None:
    runs = tuple(
        {"accuracy": {"stem": stem, "ending": 0.5, "mutation": 0.25, "liaison": 0.75}, "roles": []}
        for stem in (0.9, 0.7, 0.8)
    )
    card = Card(GlossSizes(32, 4), 1_800, runs, "", "", "")
    by_part = accuracy_by_part(card)
    assert by_part["stem"] == Accuracy(pytest.approx(0.8), 0.7, 0.9)
    assert str(by_part["stem"]) == "80.0 % (70.0 to 90.0)"
    assert mean_accuracy(card) == Accuracy(pytest.approx(0.575), pytest.approx(0.55), pytest.approx(0.6))
    assert str(Accuracy(0.1 + 0.2, 0.3, 0.3)) == "30.0 % (30.0 to 30.0)"


def role(name: str, head: tuple[int, int], held: float, baseline: float, asked: int, rule: str = "chance"):
    found = {"role": name, "head": list(head), "held": held, "baseline": baseline, "asked": asked}
    return {**found, "rule": rule}


def test_labels_put_the_role_first_that_explains_most_words() -> None:
    roles = [
        role("nmod:poss: dependent → head", (1, 2), 1.0, 0.5, 60, "always +1"),
        role("det: dependent → head", (1, 2), 0.98, 0.6, 900, "always +1"),
        role("rarest", (2, 3), 0.6, 0.23, 700, "longest word"),
        role("one of the two rarest", (2, 3), 0.8, 0.4, 700, "longest word"),
        role("one of the two rarest", (2, 1), 0.8, 0.4, 700, "longest word"),
    ]
    labels = head_labels(roles, n_layers=2, h=3)
    assert [label.short for label in labels] == [
        "",
        "det → noun 98 % +1",
        "",
        "2 rarest 80 %",
        "",
        "rarest 60 %",
    ]
    assert labels[1].full == (
        "determiner → its noun 98 % (always +1: 60 %)",
        "his, her, my … → its noun 100 % (always +1: 50 %)",
    )
    assert labels[5].full == ("word → rarest word of the sentence 60 % (the longest word: 23 %)",)


def test_heads_that_are_best_at_nothing_are_named_after_a_role_that_they_pass() -> None:
    best = [role("next", (1, 2), 0.999, 0.08, 900)]
    passed = [[None, {"name": "previous", "score": 0.9}], [{"name": "next", "score": 0.96}, None]]
    labels = head_labels(best, n_layers=2, h=2, passed=passed)
    assert [label.short for label in labels] == ["", "next 99 %", "next 96 %", ""]
    assert labels[2].full == ("word → next word 96 % (another head is better at it)",)


@pytest.mark.parametrize(
    ("name", "short", "full"),
    [
        ("previous", "previous", "word → previous word"),
        ("nsubj: head → dependent", "verb → subj", "verb → its subject"),
        ("acl:relcl: dependent → head", "relcl → noun", "verb of a relative clause → its noun"),
        ("dep: dependent → head", "dep → head", "dep → its head"),
    ],
)
def test_roles_in_words(name: str, short: str, full: str) -> None:
    assert (role_in_short(name), role_in_full(name)) == (short, full)


def test_a_hundred_percent_means_all() -> None:
    assert [percent(share) for share in (1.0, 0.997, 0.604, 0.0)] == ["100 %", "99 %", "60 %", "0 %"]
