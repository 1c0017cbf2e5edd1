"""What a word tells by itself: counted right on planted sentences, and the recorded shares still hold."""

from __future__ import annotations

import pytest

from mha_course.text.course_language.gloss import gloss
from mha_course.text.course_language.grammar import draw_sentences
from mha_course.text.course_language.word_alone import WORD_ALONE, right_by_word_alone


def test_every_word_gets_its_most_frequent_answer() -> None:
    one, other = list(draw_sentences(2, seed=3))
    assert right_by_word_alone([one], [one]).keys() == WORD_ALONE.keys()
    # Counted in one sentence only, a word that stands there once is answered as it stood there.
    words = one.words
    once = [i for i, word in enumerate(words) if words.count(word) == 1]
    right = right_by_word_alone([one], [one])["mutation"] * len(words)
    assert len(once) <= round(right) <= len(words)
    known = [i for i, word in enumerate(other.words) if word in words]
    assert right_by_word_alone([one], [other])["stem"] <= len(known) / len(other.words)
    assert len(gloss(one).stem) == len(words)


def test_the_recorded_shares_hold_for_fewer_sentences_too() -> None:
    found = right_by_word_alone(draw_sentences(6_000, seed=11), draw_sentences(400, seed=22))
    assert found == {part: pytest.approx(share, abs=0.02) for part, share in WORD_ALONE.items()}
