"""The nearest word of the right class, questions to pieces, and special tokens that compete."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.criteria import TO_DEPENDENT, TO_HEAD, criteria_of
from mha_course.heads.hits import HitCounter, count_hits
from mha_course.heads.nearest_word import nearest_words
from mha_course.heads.piece_criteria import PIECE_CRITERIA, piece_questions
from mha_course.heads.roles import score_roles
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.text.parsed_sentence import ParsedSentence
from tests.heads import planted

SENTENCES = [sentence.parsed for sentence in draw_sentences(130, seed=12)]
CAT = ParsedSentence(
    ("the", "old", "cat", "sees", "a", "bird", "."),
    ("DET", "ADJ", "NOUN", "VERB", "DET", "NOUN", "PUNCT"),
    (2, 2, 3, -1, 5, 3, 3),
    ("det", "amod", "nsubj", "root", "det", "obj", "punct"),
)


def test_the_nearest_word_of_the_right_class() -> None:
    rules = nearest_words([CAT, CAT], criteria_of([CAT]))
    det = rules[f"det: {TO_HEAD}"]
    assert (det.upos, det.side, det.held, det.total, det.asked) == (("NOUN",), "after", 1.0, 1.0, 2)
    obj = rules[f"obj: {TO_HEAD}"]
    assert (obj.upos, obj.side, obj.held) == (("VERB",), "before", 1.0)
    assert rules[f"punct: {TO_HEAD}"].held == 1.0  # the only verb
    assert "previous" not in rules and str(obj) == "nearest VERB before it: 1.00"


def test_its_side_is_chosen_on_one_half_and_judged_on_the_other() -> None:
    turned = ParsedSentence(("sees", "cat"), ("VERB", "NOUN"), (-1, 0), ("root", "nsubj"))
    usual = ParsedSentence(("cat", "sees"), ("NOUN", "VERB"), (1, -1), ("nsubj", "root"))
    rule = nearest_words([usual, turned, usual, turned], criteria_of([usual]))[f"nsubj: {TO_HEAD}"]
    assert (rule.side, rule.held, rule.total) == ("after", 0.0, 0.5)


def test_it_beats_every_fixed_offset_on_the_grammar() -> None:
    scores = score_roles([planted.uniform(s, None)[None, None] for s in SENTENCES], SENTENCES)
    rules = nearest_words(SENTENCES, scores.criteria)
    for i, criterion in enumerate(scores.criteria):
        if criterion.name in (f"det: {TO_HEAD}", f"nsubj: {TO_DEPENDENT}"):
            assert rules[criterion.name].held > scores.baseline(i)[0]


def test_questions_to_pieces_by_hand() -> None:
    pieces = ["the", "en", "##zyme", ",", "rots", "."]
    asked = piece_questions(pieces, [90, 4, 2, 0, 2, 0])
    by_name = {c.name: asked.targets[asked.criterion == i] for i, c in enumerate(PIECE_CRITERIA)}
    assert by_name["previous"].shape == (5, 6) and by_name["next"].shape == (5, 6)
    rarest = by_name["rarest"]
    assert rarest.shape == (6, 6)
    # Marks are rarer still, but have no letter; of two equally rare pieces both are right.
    assert all(row.nonzero().flatten().tolist() == [2, 4] for row in rarest)
    assert asked.longest.nonzero().flatten().tolist() == [2, 4], "## is no letter of the piece"
    rare = asked.criterion == 2
    assert asked.by_length[rare].tolist() == [1.0] * 6 and asked.n_targets[rare].tolist() == [2.0] * 6
    marks = piece_questions(["!", "?"], [3, 5])
    assert set(marks.criterion.tolist()) == {0, 1}, "no letters, no rare piece"
    with pytest.raises(ValueError, match="as many counts"):
        piece_questions(pieces, [1, 2])


def test_special_tokens_compete_only_when_they_may() -> None:
    criteria = criteria_of([CAT], rare=False)
    weights = planted.offset(-1)(CAT, None)[None, None]
    previous = next(i for i, c in enumerate(criteria) if c.name == "previous")
    rivals = torch.zeros(1, 1, 7)
    rivals[0, 0, 2:5] = 0.99
    rivals[0, 0, 5] = weights[0, 0, 5, 4]  # equal: the word wins
    without = count_hits([weights], [CAT], criteria)
    with_rivals = count_hits([weights], [CAT], criteria, rivals=[rivals])
    assert float(without.heads[0, 0, 0, previous]) == 6
    assert float(with_rivals.heads[0, 0, 0, previous]) == 3
    with pytest.raises(ValueError, match="rivals must be"):
        count_hits([weights], [CAT], criteria, rivals=[rivals[..., :-1]])


def test_a_row_without_weight_has_no_answer() -> None:
    criteria = criteria_of([CAT], rare=False)
    hits = count_hits([torch.zeros(1, 2, 7, 7)], [CAT], criteria)
    assert not hits.heads.any() and float(hits.asked.sum()) > 0
    with pytest.raises(ValueError, match="no sentence"):
        HitCounter(criteria).hits()
