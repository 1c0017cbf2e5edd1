"""The course model on the written treebank, and the recorded real heads on it: what is told in a lesson."""

from __future__ import annotations

import time

import pytest
import torch

from mha_course.heads.criteria import TO_HEAD
from mha_course.models.course_model_roles import course_model_roles, known_words
from mha_course.models.course_models import load_course_model
from mha_course.models.recorded_head_roles import recorded_head_roles
from mha_course.models.recorded_heads import recorded_heads
from mha_course.text.treebank import course_treebank


def test_readable_sentences_and_all_with_their_coverage() -> None:
    start = time.process_time()
    roles = course_model_roles()
    assert time.process_time() - start < 10
    model = load_course_model()
    whole = [s for s in course_treebank() if all(known_words(model, s))]
    assert roles.readable.sentences == tuple(whole) and len(whole) >= 60
    assert (roles.readable.known, roles.readable.whole) == (1.0, len(whole))
    assert roles.every.whole == len(whole) and len(roles.every.sentences) == len(course_treebank())
    assert 0.4 < roles.every.known < 0.7
    assert f"{len(whole)} of {len(course_treebank())} sentences wholly" in roles.every.coverage()
    assert course_model_roles() is roles, "kept"


def test_roles_hold_where_the_words_are_known_and_fade_where_not() -> None:
    roles = course_model_roles()
    readable, every = roles.readable.table(), roles.every.table()
    for name in ("previous", "next"):
        assert readable.best(name).verdict == every.best(name).verdict == "yes"
        assert readable.best(name).control < 0.25
    obj = f"obj: {TO_HEAD}"
    assert readable.best(obj).value > every.best(obj).value + 0.1
    assert readable.best("rarest").value > every.best("rarest").value + 0.1
    assert [role.key for role in readable.roles()] == ["previous", "next", "syntactic", "rare", "broad"]
    assert f"{roles.every.known:.0%} of the words known" in every.note


def test_other_models_and_sentences() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    few = [s for s in course_treebank() if all(known_words(load_course_model(), s))][:5]
    roles = course_model_roles(load_course_model(32, 2), few)
    assert roles.every.scores.hits.heads.shape[:3] == (5, 2, 2)
    assert torch.equal(torch.get_rng_state(), before), "the control's weights leave the generator alone"
    unknown = [s for s in course_treebank() if not all(known_words(load_course_model(), s))][:4]
    with pytest.raises(ValueError, match="0 of 4 sentences are wholly"):
        course_model_roles(sentences=unknown)


def test_recorded_heads_keep_their_places_on_our_own_treebank() -> None:
    roles = recorded_head_roles()
    table = roles.table
    assert table.sentences == len(recorded_heads().sentences)
    previous, following = table.best("previous"), table.best("next")
    assert (previous.layer, previous.head, previous.verdict) == (1, 3, "yes")
    assert (following.layer, following.head, following.verdict) == (2, 9, "yes")
    det = table.measure(f"det: {TO_HEAD}")
    assert divmod(int(det.total.argmax()), 12) == (2, 8), "L3H9, as on a large treebank"
    assert table.best(f"det: {TO_HEAD}").verdict == "no", "here the next word is a good guess already"
    assert all(measure.control is None for measure in table.measures)
    assert roles.layers_differ.within < roles.layers_differ.between and roles.layers_differ.p < 0.01
    assert roles.control_habits == {} and roles.rare_by_sum != roles.rare_by_sum
