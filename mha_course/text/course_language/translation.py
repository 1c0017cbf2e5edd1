"""Sentences of the course language translated into an invented language with another word order.

The invented language has no articles. Adjectives follow their noun, a preposition follows its phrase, the
verb follows subject, place and object, and an auxiliary follows the verb. Every word of the translation
stands for one word of the sentence, so the right alignment is known.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from mha_course.sizes import check_sizes
from mha_course.text.course_language import lexicon
from mha_course.text.course_language.grammar import CourseSentence, draw_sentences
from mha_course.text.course_language.lexicon import Noun, Verb

LONGEST_PAIR = 11  # words of the English sentence, the full stop included
ARTICLES = ("the", "a", "an")
PLURAL = "ak"
# Words that a reader would take for English ones, or for worse.
_FAMILIAR = frozenset(
    "ale one are ate era ore use eta emu ala ani oto ira via uno ita aya ama ana eva ava ora uma ute "
    "anu iota hole here hale live lane line more mare nude name nerve rave role rule rune tune tale "
    "tare zone zero none mule nave lave love rove hate hare have male lame menu mane mere zulu nene "
    "homu lure lute mole mute move tame toner lemon melon baron raven demon human level lever never "
    "river ruler later robot motor tumor humor rotor tutor meter metal total tonal vital novel manor "
    "tenor liner miner latin linen dozen dinar moral rural medal model modem diver nadir radar razor "
    "rival naval nasal label libel bezel bidet tamal zebra hitler homor titel liter tinen".split()
)
# Where a word stands in the phrase of its head: from the far left, over the head at 0, to the far right.
_PLACES = {
    "cc": -9,
    "mark": -8,
    "nsubj": -7,
    "obl": -6,
    "obj": -5,
    "acl:relcl": -4,
    "nmod": -3,
    "nmod:poss": -2,
    "nummod": -2,
    "det": -2,
    "advmod": -1,
    "amod": 1,
    "aux": 1,
    "case": 2,
    "conj": 3,
    "advcl": 3,
    "punct": 4,
}


@dataclass(frozen=True)
class Translation:
    """A translation with its alignment.

    words: of the invented language. source: for each of them the index of the English word it stands for.
    """

    words: tuple[str, ...]
    source: tuple[int, ...]


@dataclass(frozen=True)
class Pair:
    """A sentence of the course language and its translation."""

    sentence: CourseSentence
    translation: Translation


def translation(sentence: CourseSentence) -> Translation:
    """The right translation of a sentence of the grammar."""
    order = [i for i in _ordered(sentence, sentence.parsed.heads.index(-1)) if not _is_article(sentence, i)]
    return Translation(tuple(_word(sentence, i) for i in order), tuple(order))


def draw_pairs(count: int, seed: int, shortest: int = 5, longest: int = LONGEST_PAIR) -> Iterator[Pair]:
    """`count` pairs whose English side has shortest to longest words; the same for the same seed.

    Raises: ValueError for a count that is no whole number from 0 on.
    """
    check_sizes(0, count=count)
    return islice(_all_pairs(seed, shortest, longest), count)


def _all_pairs(seed: int, shortest: int, longest: int) -> Iterator[Pair]:
    for sentence in draw_sentences(1_000_000, seed):
        if shortest <= len(sentence.words) <= longest:
            yield Pair(sentence, translation(sentence))


@cache
def translated_words() -> tuple[str, ...]:
    """Every word of the invented language, each once."""
    plurals = (_invented()[f"noun {noun.singular}"] + PLURAL for noun in _all_nouns())
    return (*_invented().values(), *plurals)


def _ordered(sentence: CourseSentence, at: int) -> Iterator[int]:
    """The word at `at` with everything that depends on it, in the order of the invented language."""
    places = {at: 0}
    for dependent, head, relation in sentence.parsed.arcs():
        if head == at:
            places[dependent] = _PLACES[relation]
    for i in sorted(places, key=lambda i: (places[i], i)):
        if i == at:
            yield i
        else:
            yield from _ordered(sentence, i)


def _is_article(sentence: CourseSentence, i: int) -> bool:
    return sentence.words[i] in ARTICLES


def _word(sentence: CourseSentence, i: int) -> str:
    word, entry = sentence.words[i], sentence.lexemes[i]
    if isinstance(entry, Noun):
        return _invented()[f"noun {entry.singular}"] + (PLURAL if word == entry.plural else "")
    if isinstance(entry, Verb):
        return _invented()[f"verb {entry.plural}"]
    # "that" in front of a noun and "that" in front of a relative clause are two words.
    return _invented()[f"relative {word}" if sentence.parsed.upos[i] == "PRON" and word == "that" else word]


def _all_nouns() -> tuple[Noun, ...]:
    return (*lexicon.NOUNS, *(noun for nouns in lexicon.TOPIC_NOUNS.values() for noun in nouns))


@cache
def _invented() -> dict[str, str]:
    """An invented word for every noun, verb and other word of the lexicon; articles have none."""
    rest = [
        *(word for words in lexicon.ADJECTIVES.values() for word in words),
        *("in", "on", "at"),
        *(word for words in lexicon.PREPOSITIONS.values() for word in words),
        *(*lexicon.SINGULAR_DETERMINERS, *lexicon.PLURAL_DETERMINERS, *lexicon.POSSESSIVES),
        *(*lexicon.NUMERALS, *lexicon.ADVERBS, *lexicon.AUXILIARIES, *lexicon.CONJUNCTIONS),
        *(*lexicon.SUBORDINATORS, f"relative {lexicon.RELATIVE}", *lexicon.EMPHATIC),
    ]
    short = dict.fromkeys(word for word in rest if word not in ARTICLES)
    rng, made = random.Random(3), {lexicon.STOP: lexicon.STOP}
    taken = {lexicon.STOP}
    verbs = [f"verb {verb.plural}" for verb in lexicon.VERBS]
    nouns = [f"noun {noun.singular}" for noun in _all_nouns()]
    for names, sounds in (
        (short, ("aeiou", "lmnrtvz", "aeiou")),
        (verbs, ("hlmnrtvz", "aeou", "lmnrv", "eu")),
        (nouns, ("bdhlmnrtvz", "aeiou", "bdlmnrtvz", "aeo", "lmnrz")),
    ):
        for name in names:
            word = lexicon.STOP
            while word in taken or word in _FAMILIAR:
                word = "".join(rng.choice(letters) for letters in sounds)
            taken.add(word)
            made[name] = word
    return made
