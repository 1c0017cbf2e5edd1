"""The sentences on which a head is at its best and worst, and two heads beside each other."""

from __future__ import annotations

import pytest
import torch

from mha_course.heads.criteria import TO_HEAD
from mha_course.heads.roles import RoleScores, score_roles
from mha_course.heads.telling_sentences import best_and_worst, head_to_head
from mha_course.text.course_language.grammar import draw_sentences
from tests.heads import planted

SENTENCES = [sentence.parsed for sentence in draw_sentences(120, seed=21)]
GOOD = {2, 5, 11, 40}


@pytest.fixture(scope="module")
def scores() -> RoleScores:
    """Two layers of three heads; head 2 of layer 2 follows the determiner in four sentences only."""
    g, maps = torch.Generator().manual_seed(0), []
    for i, s in enumerate(SENTENCES):
        det = planted.to_head("det") if i in GOOD else planted.own_word
        rows = [[planted.uniform, planted.offset(1), planted.noise], [planted.noise, det, planted.offset(-1)]]
        maps.append(torch.stack([torch.stack([head(s, g) for head in row]) for row in rows]))
    return score_roles(maps, SENTENCES)


def test_the_best_and_worst_sentences(scores) -> None:
    best, worst = best_and_worst(scores, 2, 2, f"det: {TO_HEAD}", count=4)
    assert {sentence.place for sentence in best} == GOOD
    assert all(sentence.share == 1.0 and sentence.hits == sentence.asked for sentence in best)
    assert len(worst) == 4 and not {s.place for s in worst} & GOOD
    assert all(sentence.share == 0.0 for sentence in worst)
    asked = [sentence.asked for sentence in best]
    assert asked == sorted(asked, reverse=True), "of equal shares, the one with more questions first"


def test_a_sentence_is_in_one_list_only_and_must_be_asked(scores) -> None:
    criterion = scores.criteria[0]
    best, worst = best_and_worst(scores, 2, 3, criterion, count=500)
    assert len(best) == len(SENTENCES) and worst == []
    often = best_and_worst(scores, 2, 2, f"det: {TO_HEAD}", count=3, fewest=3)[1]
    assert often and all(sentence.asked >= 3 for sentence in often)


def test_two_heads_beside_each_other(scores) -> None:
    rows = head_to_head(scores, (1, 2), (2, 3))
    first = rows[0][0].name
    assert first in ("previous", "next")
    by_name = {criterion.name: (a, b, base) for criterion, a, b, base in rows}
    # The first row of "previous" has no target, and its largest weight then lies on the second word.
    assert by_name["next"][0] == by_name["previous"][1] == 1.0
    assert max(by_name["next"][1], by_name["previous"][0]) < 0.2
    assert 0 < by_name[f"det: {TO_HEAD}"][2] < 1
    gaps = [abs(a - b) for _, a, b, _ in rows]
    assert gaps == sorted(gaps, reverse=True)


def test_unknown_questions_and_heads_are_refused(scores) -> None:
    with pytest.raises(ValueError, match="nobody asked 'fixed'"):
        best_and_worst(scores, 1, 1, "fixed")
    with pytest.raises(ValueError, match="no head 4 in layer 1"):
        best_and_worst(scores, 1, 4, "next")
