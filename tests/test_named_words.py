"""Words of a reader's text in a sentence: each once, cut by what one sees, counted; sentences as lists."""

from __future__ import annotations

import pytest

from mha_course.widgets.named_words import as_sentence, named_words, short_word


def test_words_stand_once_and_the_rest_is_counted() -> None:
    assert named_words(["oboe", "lens", "oboe"]) == "oboe, lens"
    assert named_words([]) == ""
    eleven = [f"w{i}" for i in range(11)]
    assert named_words([*eleven, "w3"]) == "w0, w1, w2, w3, w4, w5, w6, w7 and 3 more"


def test_long_words_are_cut_between_what_one_sees_as_characters() -> None:
    assert short_word("a" * 24) == "a" * 24
    assert short_word("a" * 25) == "a" * 23 + "…"
    family = "👩‍👩‍👧"
    assert short_word(family * 30) == family * 23 + "…"
    assert short_word("é" * 24) == "é" * 24


def test_a_sentence_is_a_text_or_words() -> None:
    assert as_sentence("the old cat") == "the old cat"
    assert as_sentence(["the", "cat", "."]) == "the cat ."
    for wrong in (None, 5, b"cat", ["cat", 3], {"cat": 1}):
        with pytest.raises(ValueError, match="sentence="):
            as_sentence(wrong)
