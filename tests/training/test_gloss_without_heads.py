"""Accuracy of the gloss without some heads: held-out sentences, role groups, random groups."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.ablation import all_heads
from mha_course.models.course_models import load_course_model
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.training.gloss_without_heads import (
    MOST_SENTENCES,
    accuracy_without,
    compared_with_random,
    held_out_glosses,
    role_groups,
)
from mha_course.training.record import TESTING_SEED, TRAINING_SEED
from mha_course.training.train_gloss import Recipe, accuracy

SERVES = {"previous word": "mutation", "next word": "liaison", "syntax": "ending", "rarest word": "stem"}


def test_none_of_the_sentences_was_trained_on() -> None:
    trained = {sentence.words for sentence in draw_sentences(Recipe().sentences, TRAINING_SEED)}
    assert not any(s.words in trained for s in draw_sentences(MOST_SENTENCES, TESTING_SEED))
    assert len(held_out_glosses(23).lengths) == 23
    with pytest.raises(ValueError, match="count=401"):
        held_out_glosses(401)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_role_group_costs_the_part_that_needs_it_and_random_groups_do_not(seed: int) -> None:
    model, data, groups = load_course_model(seed=seed), held_out_glosses(60), role_groups(seed)
    heads = [head for group in groups.values() for head in group]
    assert len(heads) == len(set(heads)) and set(heads) <= set(all_heads(model))
    assert list(groups) == list(SERVES)
    for role, part in SERVES.items():
        found = compared_with_random(groups[role], data, model, draws=2)
        assert max(found.lost, key=found.lost.get) == part
        assert found.lost[part] > 4 > found.random[part] + 1
        assert found.worst[part] >= found.random[part]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_lesson_6_says_of_single_heads(seed: int) -> None:
    model, data = load_course_model(seed=seed), held_out_glosses(200)
    whole = accuracy_without([], data, model)["mutation"]
    for head in role_groups(seed)["previous word"]:
        assert whole - accuracy_without([head], data, model)["mutation"] < 0.01


def test_without_no_head_it_is_the_accuracy_and_the_model_stays_as_it_was() -> None:
    model, data = load_course_model(), held_out_glosses(30)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    whole = accuracy(model, data)
    assert accuracy_without([], data) == whole
    nothing = accuracy_without(all_heads(model), data)
    assert all(nothing[part] < whole[part] - 0.1 for part in whole)
    assert accuracy(model, data) == whole
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    with pytest.raises(ValueError, match="layer 2 has 8"):
        accuracy_without([(2, 9)], data)
