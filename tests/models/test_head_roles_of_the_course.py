"""The course model on the written treebank, and the recorded real heads on it: what is told in a lesson."""

from __future__ import annotations

import torch

from mha_course.heads.criteria import TO_HEAD
from mha_course.models.course_models import load_course_model
from mha_course.models.recorded_head_roles import recorded_head_roles
from mha_course.models.recorded_heads import recorded_heads
from mha_course.text.treebank import course_treebank
from mha_course.training.head_tables import course_head_table
from mha_course.widgets import HeadMap, pretrained_heads


def test_roles_hold_where_the_words_are_known_and_fade_where_not() -> None:
    readable, every = course_head_table(on="known treebank"), course_head_table(on="treebank")
    vocabulary = load_course_model().vocabulary
    known = [[word.lower() in vocabulary for word in s.words] for s in course_treebank()]
    whole = sum(map(all, known))
    assert (readable.sentences, every.sentences) == (whole, len(known)) and whole >= 60
    assert (
        f"knows {sum(map(sum, known)) / sum(map(len, known)):.0%} of the words, and {whole} of" in every.note
    )
    for name in ("previous", "next"):
        assert readable.best(name).verdict == every.best(name).verdict == "yes"
        assert readable.best(name).control < 0.25
    obj = f"obj: {TO_HEAD}"
    assert readable.best(obj).value > every.best(obj).value + 0.1
    assert readable.best("rarest").value > every.best("rarest").value + 0.1
    assert [role.key for role in readable.roles()] == ["previous", "next", "syntactic", "rare", "broad"]


def test_a_small_model_is_scored_and_the_generator_left_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    table = course_head_table(load_course_model(32, 2), "known treebank")
    assert (table.n_layers, table.n_heads) == (2, 2)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_map_of_recorded_heads_shows_these_roles_without_the_large_treebank(monkeypatch) -> None:
    monkeypatch.setattr(pretrained_heads, "measured_minilm", lambda heads: None)
    assert pretrained_heads.RecordedMiniLM().table is recorded_head_roles(recorded_heads()).table
    assert HeadMap("MiniLM").table.best("next").head == 9


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
