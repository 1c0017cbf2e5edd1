"""The translation follows the tree: order, articles, and an alignment that leaves no word out."""

from __future__ import annotations

import pytest

from mha_course.text.course_language.grammar import CourseSentence
from mha_course.text.course_language.lexicon import Noun, Verb
from mha_course.text.course_language.translation import (
    ARTICLES,
    LONGEST_PAIR,
    Pair,
    draw_pairs,
    translated_words,
    translation,
)

PAIRS = list(draw_pairs(400, seed=5))
LONG = list(draw_pairs(150, seed=5, shortest=14, longest=24))


def dependents(sentence: CourseSentence, head: int) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for dependent, at, relation in sentence.parsed.arcs():
        if at == head:
            found.setdefault(relation, []).append(dependent)
    return found


@pytest.mark.parametrize("count", [-1, 1.5, "a", None, True])
def test_a_count_that_is_none_is_refused(count: object) -> None:
    assert list(draw_pairs(0, seed=5)) == []
    with pytest.raises(ValueError, match="count="):
        draw_pairs(count, seed=5)


def test_the_same_seed_gives_the_same_pairs_of_the_right_length() -> None:
    assert list(draw_pairs(20, seed=5)) == PAIRS[:20]
    lengths = {len(pair.sentence.words) for pair in PAIRS}
    assert lengths <= set(range(5, LONGEST_PAIR + 1)) and len(lengths) >= 6
    assert {len(pair.sentence.words) for pair in LONG} <= set(range(14, 25))


@pytest.mark.parametrize("pair", [*PAIRS[:150], *LONG[:60]], ids=lambda pair: pair.sentence.parsed.text())
def test_every_word_but_the_articles_is_translated_once(pair: Pair) -> None:
    kept = [i for i, word in enumerate(pair.sentence.words) if word not in ARTICLES]
    assert sorted(pair.translation.source) == kept
    assert len(pair.translation.words) == len(kept)
    assert set(pair.translation.words) <= set(translated_words())
    assert pair.translation == translation(pair.sentence)


def test_word_order() -> None:
    seen = dict.fromkeys(("amod", "case", "obj", "aux", "relative"), 0)
    for pair in (*PAIRS, *LONG):
        place = {source: i for i, source in enumerate(pair.translation.source)}
        for i, entry in enumerate(pair.sentence.lexemes):
            under = dependents(pair.sentence, i)
            if isinstance(entry, Noun):
                for adjective in under.get("amod", []):
                    assert place[adjective] > place[i]
                    seen["amod"] += 1
                for preposition in under.get("case", []):
                    assert place[preposition] > place[i] and preposition < i
                    assert all(place[preposition] > place[a] for a in under.get("amod", []))
                    seen["case"] += 1
                for verb in under.get("acl:relcl", []):
                    assert place[verb] < place[i]
                    seen["relative"] += 1
            if isinstance(entry, Verb):
                for relation in ("nsubj", "obl", "obj"):
                    assert all(place[j] < place[i] for j in under.get(relation, []))
                for there in under.get("obl", []):
                    for what in under.get("obj", []):
                        assert place[there] < place[what]
                        seen["obj"] += 1
                for helper in under.get("aux", []):
                    assert place[helper] == place[i] + 1
                    seen["aux"] += 1
    assert min(seen.values()) >= 20, seen


def test_the_full_stop_is_last_and_plurals_have_their_ending() -> None:
    plurals = 0
    for pair in PAIRS:
        assert pair.translation.words[-1] == "."
        for word, i in zip(pair.translation.words, pair.translation.source, strict=True):
            entry = pair.sentence.lexemes[i]
            if isinstance(entry, Noun):
                many = pair.sentence.words[i] == entry.plural
                assert word.endswith("ak") == many
                plurals += many
    assert plurals > 100


def test_that_has_two_translations() -> None:
    found: dict[str, set[str]] = {}
    for pair in (*PAIRS, *LONG):
        for word, i in zip(pair.translation.words, pair.translation.source, strict=True):
            if pair.sentence.words[i] == "that":
                found.setdefault(pair.sentence.parsed.upos[i], set()).add(word)
    assert set(found) == {"DET", "PRON"}
    assert all(len(words) == 1 for words in found.values())
    assert found["DET"].isdisjoint(found["PRON"])


def test_no_word_of_the_invented_language_is_there_twice() -> None:
    assert len(set(translated_words())) == len(translated_words()) > 400
