"""Planted heads are found, all of them and nothing else; scores come with baselines and a control."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from mha_course.heads.criteria import (
    OFFSETS,
    TO_DEPENDENT,
    TO_HEAD,
    criteria_of,
    longest_words,
    questions,
    rarest_words,
)
from mha_course.heads.hits import count_hits
from mha_course.heads.roles import bootstrap_interval, score_roles
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.text.parsed_sentence import ParsedSentence
from tests.heads import planted

SENTENCES = [sentence.parsed for sentence in draw_sentences(240, seed=3)]
COUNTS = Counter(word for sentence in draw_sentences(3_000, seed=4) for word in sentence.words)

OLD_CAT = ParsedSentence(
    ("the", "old", "cat", "sees", "a", "bird", "."),
    ("DET", "ADJ", "NOUN", "VERB", "DET", "NOUN", "PUNCT"),
    (2, 2, 3, -1, 5, 3, 3),
    ("det", "amod", "nsubj", "root", "det", "obj", "punct"),
)


def maps_of(layers, sentences=SENTENCES):
    g = torch.Generator().manual_seed(0)
    return [torch.stack([torch.stack([h(s, g) for h in heads]) for heads in layers]) for s in sentences]


PLANTED = [
    [planted.offset(-1), planted.noise, planted.to_head("det"), planted.own_word],
    [planted.uniform, planted.to_dependent("case"), planted.offset(1), planted.noise],
    [planted.rarest(COUNTS), planted.to_dependent("nsubj"), planted.noise, planted.to_head("obj")],
]
EXPECTED = {
    (1, 1, "previous"),
    (2, 3, "next"),
    (1, 3, f"det: {TO_HEAD}"),
    (2, 2, f"case: {TO_DEPENDENT}"),
    (3, 2, f"nsubj: {TO_DEPENDENT}"),
    (3, 4, f"obj: {TO_HEAD}"),
    (3, 1, "rarest"),
    (3, 1, "one of the two rarest"),
}


def test_planted_heads_are_found_and_nothing_else() -> None:
    scores = score_roles(maps_of(PLANTED), SENTENCES, COUNTS)
    passing = {
        (layer + 1, head + 1, scores.criteria[i].name)
        for layer, head, i in scores.passing().nonzero().tolist()
    }
    assert passing == EXPECTED
    found = {(role.layer, role.head, role.criterion.name) for role in scores.roles()}
    assert found == EXPECTED


def test_a_model_without_roles_has_none() -> None:
    nothing = [[planted.noise, planted.uniform, planted.own_word], [planted.noise] * 3]
    scores = score_roles(maps_of(nothing), SENTENCES, COUNTS)
    assert not scores.passing().any()
    assert scores.roles() == []


def test_every_score_stands_beside_baseline_interval_and_control() -> None:
    control = maps_of([[planted.noise] * 4] * 3)
    scores = score_roles(maps_of(PLANTED), SENTENCES, COUNTS, control)
    by_name = {found.criterion.name: found for found in scores.found()}
    subject = by_name[f"nsubj: {TO_DEPENDENT}"]
    assert subject.held == 1.0 and subject.rule.startswith("always -") and 0.3 < subject.baseline < 0.8
    assert subject.control < 0.3 and subject.gain == pytest.approx(1 - subject.baseline)
    assert (subject.low, subject.high) == (1.0, 1.0)
    assert by_name["rarest"].rule == "longest word" and by_name["rarest"].control < 0.3
    assert by_name["previous"].rule == "chance" and by_name["previous"].control < 0.3
    few = [found for found in by_name.values() if found.asked < 30]
    assert few and all(found.verdict == "too few" for found in few)


def test_the_held_out_half_does_not_pick() -> None:
    """A head that is right on the sentences that pick and wrong on the others is no role."""
    right, wrong = planted.to_head("obj"), planted.noise
    g = torch.Generator().manual_seed(1)
    weights = [(right if i % 2 == 0 else wrong)(s, g)[None, None] for i, s in enumerate(SENTENCES)]
    scores = score_roles(weights, SENTENCES)
    found = next(f for f in scores.found() if f.criterion.name == f"obj: {TO_HEAD}")
    assert found.picked == 1.0 and found.held < 0.3 and found.verdict == "no"
    assert not scores.passing().any()


def test_hits_of_one_sentence_by_hand() -> None:
    criteria = criteria_of([OLD_CAT])
    weights = maps_of([[planted.offset(-1), planted.to_head("det")]], [OLD_CAT])
    counts = {"the": 90, "old": 20, "cat": 9, "sees": 12, "a": 80, "bird": 5}
    hits = count_hits(weights, [OLD_CAT], criteria, counts)
    column = {criterion.name: i for i, criterion in enumerate(criteria)}
    det = column[f"det: {TO_HEAD}"]
    assert hits.asked[0, det] == 2 and hits.heads[0, 0, :, det].tolist() == [0.0, 2.0]
    one_on = OFFSETS.index(1)
    assert hits.offsets[0, det, one_on] == 1 and hits.offsets[0, det, OFFSETS.index(2)] == 1
    assert hits.chance[0, det] == pytest.approx(2 / 6)
    previous = column["previous"]
    assert hits.asked[0, previous] == 6 and hits.heads[0, 0, 0, previous] == 6
    rare = column["rarest"]
    assert hits.asked[0, rare] == 7 and hits.chance[0, rare] == pytest.approx(7 / 7)
    assert hits.longest[0, rare] == pytest.approx(7 / 2)  # "sees" and "bird" are the longest


def test_rare_and_long_words() -> None:
    counts = {"the": 90, "old": 20, "cat": 5, "sees": 12, "a": 80, "bird": 5}
    assert rarest_words(OLD_CAT, counts) == ([2, 5], [2, 5])
    assert rarest_words(OLD_CAT, {**counts, "cat": 6}) == ([5], [2, 5])
    assert rarest_words(OLD_CAT, {}) == ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5])
    assert longest_words(OLD_CAT) == [3, 5]


def test_several_dependents_of_one_relation_are_one_question() -> None:
    twice = ParsedSentence(
        ("small", "red", "boxes", "fall"),
        ("ADJ", "ADJ", "NOUN", "VERB"),
        (2, 2, 3, -1),
        ("amod", "amod", "nsubj", "root"),
    )
    criteria = criteria_of([twice], rare=False)
    asked = questions(twice, criteria, None)
    down = next(i for i, c in enumerate(criteria) if c.name == f"amod: {TO_DEPENDENT}")
    rows = (asked.criterion == down).nonzero().flatten().tolist()
    assert len(rows) == 1 and asked.targets[rows[0]].tolist() == [True, True, False, False]


def test_the_word_itself_counts_only_where_it_may() -> None:
    weights = [planted.own_word(s, None)[None, None] for s in SENTENCES[:40]]
    criteria = criteria_of(SENTENCES[:40])
    rare = next(i for i, c in enumerate(criteria) if c.name == "rarest")
    with_self = count_hits(weights, SENTENCES[:40], criteria, COUNTS)
    without = count_hits(weights, SENTENCES[:40], criteria, COUNTS, self_counts=())
    assert with_self.heads[..., rare].sum() >= 40
    assert without.heads[..., rare].sum() < with_self.heads[..., rare].sum()
    assert without.chance[:, rare].sum() > with_self.chance[:, rare].sum()


def test_the_interval_narrows_with_more_sentences() -> None:
    g = torch.Generator().manual_seed(5)
    asked = torch.full((400,), 3.0)
    hits = torch.binomial(asked, torch.full((400,), 0.6), generator=g)
    low, high = bootstrap_interval(hits, asked, 500, seed=1)
    few_low, few_high = bootstrap_interval(hits[:40], asked[:40], 500, seed=1)
    assert low < 0.6 < high and high - low < (few_high - few_low) / 2
    assert (low, high) == bootstrap_interval(hits, asked, 500, seed=1)


def test_what_does_not_fit_is_refused() -> None:
    weights = maps_of([[planted.noise]], SENTENCES[:2])
    with pytest.raises(ValueError, match="needs weights"):
        score_roles([weights[0], weights[0][..., :-1]], SENTENCES[:2])
    with pytest.raises(ValueError, match="at least two"):
        score_roles(weights[:1], SENTENCES[:1])
