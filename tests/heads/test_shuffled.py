"""Place or word: heads that follow one of them by construction, and those that can't tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch

from mha_course.attention_maps import AttentionMaps
from mha_course.heads.shuffled import followed, followed_over, over_words, shuffled_order

WORDS = "the quiet owl hears rain above our barn".split()
SENTENCES = [
    WORDS,
    "a warm chair waits for cats".split(),
    "two dogs chase a ball near old trees .".split(),
] * 5


def by_rule(*rules: Callable[[Sequence[str], int], int]) -> Callable[[Sequence[str]], AttentionMaps]:
    """A layer whose heads look, from each place, where a rule says."""

    def attend(words: Sequence[str]) -> AttentionMaps:
        weights = torch.zeros(1, len(rules), len(words), len(words))
        for head, rule in enumerate(rules):
            for place in range(len(words)):
                weights[0, head, place, rule(words, place)] = 1.0
        return AttentionMaps(weights, words, words)

    return attend


def before(words: Sequence[str], place: int) -> int:
    return max(0, place - 1)


def after(words: Sequence[str], place: int) -> int:
    return min(len(words) - 1, place + 1)


def longest(words: Sequence[str], place: int) -> int:
    return max(range(len(words)), key=lambda i: (len(words[i]), words[i]))


def itself(words: Sequence[str], place: int) -> int:
    return place


def first(words: Sequence[str], place: int) -> int:
    return 0


def test_heads_that_follow_the_place_or_the_word_are_told_apart() -> None:
    found = followed_over(by_rule(before, after, longest, itself), SENTENCES, seed=3)
    assert [found.verdict(0, head) for head in range(4)] == ["place", "place", "word", "cannot tell"]
    assert found.shares(0, 0)["place"] == pytest.approx(1.0, abs=0.06)
    assert found.shares(0, 2) == {"place": 0.0, "word": 1.0, "neither": 0.0}
    assert found.asked[0, 3] == 0 and found.itself[0, 3] == found.rows[0, 3] == sum(map(len, SENTENCES))


def test_the_first_place_is_neither_a_distance_nor_a_word() -> None:
    found = followed_over(by_rule(first, before), SENTENCES, seed=4)
    assert found.verdict(0, 0) == "neither"
    # A word that kept its own place keeps its distance to the first one: that happens now and then.
    assert 0 < found.shares(0, 0)["place"] < 0.4


def test_one_sentence_by_hand() -> None:
    words = ["a", "b", "c", "d"]
    order = [2, 0, 3, 1]  # now: c a d b
    looks = torch.zeros(1, 1, 4, 4)
    looks[0, 0, [0, 1, 2, 3], [1, 2, 3, 2]] = 1.0  # a→b, b→c, c→d, d→c
    now = torch.zeros(1, 1, 4, 4)
    # c (place 0): +1 leads to a; it looks there, so the place is kept.
    # a (place 1): +1 leads to d; it looks at b, so the word is kept.
    # d (place 2): −1 leads to a; it looks at itself: neither.
    # b (place 3): +1 leads out of the sentence: not asked.
    now[0, 0, [0, 1, 2, 3], [1, 3, 2, 0]] = 1.0
    found = followed(looks, now, order, words)
    counts = [int(each) for each in (found.asked, found.place, found.word, found.itself, found.rows)]
    assert counts == [3, 1, 1, 0, 4]
    assert found.place_chance.item() == pytest.approx(3 / 4)


def test_equal_words_are_the_same_answer() -> None:
    words = ["the", "cat", "sees", "The", "owl"]
    order = [1, 2, 4, 0, 3]  # now: cat sees owl the The
    looks = torch.eye(5)[[3, 3, 3, 0, 3]][None, None]  # all look at one of the two "the"
    now = torch.eye(5)[[3, 4, 3, 4, 3]][None, None]
    found = followed(looks, now, order, words)
    assert int(found.word) == int(found.asked) == 4
    assert found.word_chance.item() == pytest.approx(4 * 2 / 5)


def test_orders_come_from_the_seed_and_move_something() -> None:
    assert shuffled_order(9, 5) == shuffled_order(9, 5) != shuffled_order(9, 6)
    assert all(shuffled_order(2, seed) == [1, 0] for seed in range(12))
    assert shuffled_order(1, 0) == [0] and shuffled_order(0, 0) == []


def test_special_tokens_are_cut_off_and_pieces_refused() -> None:
    weights = torch.rand(2, 3, 10, 10)
    tokens = ["[CLS]", *(word.upper() for word in WORDS), "[SEP]"]
    assert torch.equal(over_words(AttentionMaps(weights, tokens, tokens), WORDS), weights[..., 1:9, 1:9])
    pieces = [*WORDS, "##s", "."]
    with pytest.raises(ValueError, match="8 words became 10 tokens"):
        over_words(AttentionMaps(weights, pieces[::-1], pieces[::-1]), WORDS)


def test_what_does_not_belong_together_is_refused() -> None:
    square = torch.rand(1, 2, 4, 4)
    with pytest.raises(ValueError, match="3 words"):
        followed(square, square, [1, 0, 2], ["a", "b", "c"])
    with pytest.raises(ValueError, match="each place"):
        followed(square, square, [1, 1, 2, 3], ["a", "b", "c", "d"])
    with pytest.raises(ValueError, match="no sentence"):
        followed_over(by_rule(before), [["two", "words"]])


def test_the_course_models_previous_word_head_follows_the_place() -> None:
    from mha_course.models.course_models import load_course_model
    from mha_course.models.training_records import forming
    from mha_course.text.course_language.grammar import draw_sentences
    from mha_course.training.record import TESTING_SEED

    sentences = [sentence.words for sentence in draw_sentences(25, TESTING_SEED)]
    found = followed_over(load_course_model().attend, sentences)
    best = forming()[-1].best
    layer, head = (best["previous"][name] - 1 for name in ("layer", "head"))
    assert found.verdict(layer, head) == "place"
    layer, head = (best["rarest"][name] - 1 for name in ("layer", "head"))
    assert found.verdict(layer, head) == "word"
