"""The grammar's sentences are well-formed, agree, and are about a topic; the gloss follows the tree."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from mha_course.text.course_language import gloss as glossing
from mha_course.text.course_language import grammar, lexicon
from mha_course.text.course_language.gloss import gloss, liaison_before, mutation_after, stems, written
from mha_course.text.course_language.grammar import LONGEST, SHORTEST, draw_sentences
from mha_course.text.course_language.lexicon import Noun, Verb, plural_of, third_person
from mha_course.text.parsed_sentence import ParsedSentence

SENTENCES = list(draw_sentences(2_000, seed=5))


def test_the_same_seed_gives_the_same_sentences_and_none_twice() -> None:
    grammar._drawn.cache_clear()
    again = list(draw_sentences(50, seed=5))
    assert [s.words for s in again] == [s.words for s in SENTENCES[:50]]
    assert len({s.words for s in SENTENCES}) == len(SENTENCES)
    assert {s.words for s in draw_sentences(50, seed=6)}.isdisjoint({s.words for s in again})


def test_sentences_are_drawn_once_and_by_several_who_take_turns() -> None:
    grammar._drawn.cache_clear()
    first, second = draw_sentences(40, seed=5), draw_sentences(70, seed=5)
    pairs = [(next(first), next(second)) for _ in range(40)]
    assert all(one is other for one, other in pairs)
    assert [one.words for one, _ in pairs] == [s.words for s in SENTENCES[:40]]
    assert [s.words for s in second] == [s.words for s in SENTENCES[40:70]]
    assert list(draw_sentences(0, seed=5)) == []

    grammar._drawn.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        drawn = list(
            pool.map(lambda count: [s.words for s in draw_sentences(count, seed=5)], (300, 200, 250, 1))
        )
    assert drawn == [[s.words for s in SENTENCES[:count]] for count in (300, 200, 250, 1)]


def test_lengths_and_topics() -> None:
    lengths = Counter(len(s.words) for s in SENTENCES)
    assert min(lengths) >= SHORTEST and max(lengths) <= LONGEST and len(lengths) >= 18
    for sentence in SENTENCES:
        topics = {x.topic for x in sentence.lexemes if isinstance(x, Noun) and x.topic}
        assert topics == {sentence.topic}
    assert min(Counter(s.topic for s in SENTENCES).values()) > 400


def test_verbs_agree_with_their_subjects_over_whatever_stands_between() -> None:
    far = 0
    for sentence in SENTENCES:
        for dependent, head, relation in sentence.parsed.arcs():
            verb, noun = sentence.lexemes[head], sentence.lexemes[dependent]
            helped = any(at == head and what == "aux" for _, at, what in sentence.parsed.arcs())
            if relation != "nsubj" or noun is None or helped:
                continue
            many = sentence.words[dependent] == noun.plural
            assert sentence.words[head] == (verb.plural if many else verb.singular), sentence.parsed.text()
            between = sentence.lexemes[dependent + 1 : head]
            far += any(isinstance(x, Noun) for x in between)
    assert far > 150


def test_determiners_fit_their_nouns() -> None:
    for sentence in SENTENCES:
        for dependent, head, relation in sentence.parsed.arcs():
            word, noun = sentence.words[dependent], sentence.lexemes[head]
            if relation == "det":
                many = sentence.words[head] == noun.plural
                allowed = lexicon.PLURAL_DETERMINERS if many else (*lexicon.SINGULAR_DETERMINERS, "an")
                assert word in ("the", *allowed)
            if word in ("a", "an"):
                after = sentence.words[dependent + 1]
                assert (word == "an") == (after[0] in "aeiou" or after == "honest"), sentence.parsed.text()


def test_words_are_spread_as_words_are() -> None:
    counts = Counter(word for s in SENTENCES for word in s.words)
    assert counts.most_common(1)[0][0] == "the" and len(counts) > 500
    # Zipf: the most frequent tenth of the words makes up most of the text.
    top = sum(count for _, count in counts.most_common(len(counts) // 10))
    assert top > 0.5 * sum(counts.values())
    topical = {form for t in lexicon.TOPIC_NOUNS.values() for n in t for form in (n.singular, n.plural)}
    rarest = [min(s.words, key=lambda word: counts[word]) for s in SENTENCES]
    assert sum(word in topical for word in rarest) > 0.7 * len(rarest)


def test_english_forms() -> None:
    assert [plural_of(w) for w in ("box", "lady", "boy", "child", "woman", "beach", "goose")] == [
        "boxes",
        "ladies",
        "boys",
        "children",
        "women",
        "beaches",
        "geese",
    ]
    assert [third_person(w) for w in ("carry", "play", "watch", "go", "sing")] == [
        "carries",
        "plays",
        "watches",
        "goes",
        "sings",
    ]
    assert set(glossing.vocabulary_words()) >= {word for s in SENTENCES for word in s.words}


def test_the_gloss_follows_the_tree() -> None:
    for sentence in SENTENCES[:400]:
        parts, parsed = gloss(sentence), sentence.parsed
        for dependent, head, relation in parsed.arcs():
            noun = sentence.lexemes[head]
            if relation in ("det", "amod", "nummod", "nmod:poss") and isinstance(noun, Noun):
                number = sentence.words[head] == noun.plural
                assert parts.ending[dependent] == 5 + glossing.gender(noun) + 3 * number
            if relation == "obj" and isinstance(sentence.lexemes[dependent], Noun):
                assert parts.ending[dependent] == 2 + glossing.governed_case(sentence.lexemes[head].plural)
        verb = next(i for i, x in enumerate(sentence.lexemes) if isinstance(x, Verb))
        assert parts.ending[verb] >= 5
        assert parts.mutation[0] == 0 and parts.liaison[-1] == 0


def test_frequent_words_have_a_stem_for_each_topic_and_topic_words_one() -> None:
    stems_of: dict[str, set[int]] = {}
    for sentence in SENTENCES:
        for word, stem in zip(sentence.words, gloss(sentence).stem, strict=True):
            stems_of.setdefault(word, set()).add(stem)
    assert len(stems_of["child"]) == 4 and len(stems_of["old"]) == 4 and len(stems_of["sees"]) == 4
    assert len(stems_of["sailor"]) == 1 and len(stems_of["the"]) == 1
    assert len(set(stems())) == len(stems())


def test_sounds_of_the_neighbours() -> None:
    names = [glossing.MUTATIONS[mutation_after(w)] for w in ("", "the", "old", "sailors", "in")]
    assert names == ["radical", "soft", "aspirate", "nasal", "nasal"]
    names = [glossing.LIAISONS[liaison_before(w)] for w in ("", "the", "old", "boat", "captain")]
    assert names == ["none", "linked", "linked", "closed", "none"]


def test_a_gloss_can_be_written() -> None:
    sentence = SENTENCES[0]
    words = [written(gloss(sentence), i) for i in range(len(sentence.words))]
    assert words[-1] == "." and all(word.replace("·", "").isalpha() for word in words[:-1])


@pytest.mark.parametrize(
    ("heads", "words"),
    [((-1, -1), "one root"), ((1, 0), "one root"), ((-1, 5), "indices"), ((-1, 1), "circle")],
)
def test_what_is_no_tree_is_refused(heads: tuple[int, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ParsedSentence(("a", "b"), ("DET", "NOUN"), heads, ("det", "root"))
    with pytest.raises(ValueError, match="2 words"):
        ParsedSentence(("a", "b"), ("DET",), (-1, 0), ("det", "root"))
