"""The gloss: for every word of a sentence one word of an invented language, in four parts.

- stem: the word's own; a frequent word has another stem for each topic of the sentence.
- ending: agreement or case, as the dependency tree says.
- mutation: the start of the word, softened or not by how the word before ends (as in Welsh).
- liaison: a sound at the end, by how the next word begins (as in French).

The task was built so that it pays to look at the word before, at the next one, at the word that governs,
and at the rare words that betray the topic. Nothing in it says where a head should look.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from mha_course.text.course_language import lexicon
from mha_course.text.course_language.grammar import CourseSentence
from mha_course.text.course_language.lexicon import Noun, Verb

PARTS = ("stem", "ending", "mutation", "liaison")
MUTATIONS = ("radical", "soft", "nasal", "aspirate")
LIAISONS = ("none", "linked", "closed")
GENDERS, NUMBERS, CASES = 3, 2, 3
# No ending, subject, three governed cases, and gender by number for whatever agrees.
ENDINGS = ("", "us", "im", "ed", "ol", "a", "o", "e", "as", "os", "es")
_NONE, _SUBJECT, _FIRST_CASE, _FIRST_AGREEMENT = 0, 1, 2, 5
_CONSONANTS = {"p": ("p", "b", "mh", "ph"), "t": ("t", "d", "nh", "th"), "c": ("c", "g", "ngh", "ch")}
_AGREEING = ("det", "nmod:poss", "nummod", "amod")


@dataclass(frozen=True)
class Gloss:
    """The four parts of every word, as numbers of classes, one tuple a part.

    stem: index in `stems()`; ending, mutation, liaison: index in `ENDINGS`, `MUTATIONS`, `LIAISONS`.
    """

    stem: tuple[int, ...]
    ending: tuple[int, ...]
    mutation: tuple[int, ...]
    liaison: tuple[int, ...]


def gloss(sentence: CourseSentence) -> Gloss:
    """The right gloss of a sentence of the grammar."""
    words = sentence.words
    stems = tuple(_stem_ids()[_stem_key(word, sentence.topic)] for word in words)
    before, after = ("", *words[:-1]), (*words[1:], "")
    return Gloss(
        stems,
        tuple(_ending(sentence, i) for i in range(len(words))),
        tuple(map(mutation_after, before)),
        tuple(map(liaison_before, after)),
    )


def mutation_after(word: str) -> int:
    """The mutation that follows a word: soft after a vowel, nasal after l, m, n, r or s, else aspirate."""
    if not word:
        return MUTATIONS.index("radical")
    last = word[-1]
    return MUTATIONS.index("soft" if last in "aeiouy" else "nasal" if last in "lmnrs" else "aspirate")


def liaison_before(word: str) -> int:
    """The liaison in front of a word: linked before a vowel, t or w, closed before b, f, h, k, m, p or s."""
    if not word:
        return LIAISONS.index("none")
    return LIAISONS.index("linked" if word[0] in "aeioutw" else "closed" if word[0] in "bfhkmps" else "none")


def gender(noun: Noun) -> int:
    """One of three genders, the noun's own; nothing in the English word shows it."""
    return _hidden(noun.singular, "gender", GENDERS)


def governed_case(word: str) -> int:
    """The case that a verb (by its bare form) or a preposition asks for: one of three."""
    return _hidden(word, "case", CASES)


def stems() -> tuple[str, ...]:
    """All stems of the invented language, in the order of their class numbers."""
    return tuple(_written_stems())


def written(gloss_of: Gloss, i: int) -> str:
    """Word i of a gloss as it is written, such as "bira·us·n"; the parts are set apart by dots."""
    stem = stems()[gloss_of.stem[i]]
    if stem == lexicon.STOP:
        return stem
    start = _CONSONANTS[stem[0]][gloss_of.mutation[i]]
    parts = [start + stem[1:], ENDINGS[gloss_of.ending[i]], ("", "z", "n")[gloss_of.liaison[i]]]
    return "·".join(part for part in parts if part)


def _ending(sentence: CourseSentence, i: int) -> int:
    parsed, lexemes = sentence.parsed, sentence.lexemes
    relation, head = parsed.relations[i], parsed.heads[i]
    if relation in _AGREEING:
        return _agreement(sentence, head)
    if isinstance(lexemes[i], Verb):
        return _agreement(sentence, _subject_of(sentence, i))
    if relation == "nsubj" and isinstance(lexemes[i], Noun):
        return _SUBJECT
    if relation == "obj" and isinstance(lexemes[i], Noun):
        return _FIRST_CASE + governed_case(lexemes[head].plural)
    if relation in ("obl", "nmod"):
        preposition = _dependent(sentence, i, "case")
        return _FIRST_CASE + governed_case(parsed.words[preposition])
    return _NONE


def _subject_of(sentence: CourseSentence, verb: int) -> int:
    """The noun that a verb agrees with; "that" hands on the number of the noun it stands for."""
    subject = _dependent(sentence, verb, "nsubj")
    return subject if sentence.lexemes[subject] is not None else sentence.parsed.heads[verb]


def _dependent(sentence: CourseSentence, head: int, relation: str) -> int:
    return next(i for i, at, what in sentence.parsed.arcs() if at == head and what == relation)


def _agreement(sentence: CourseSentence, noun: int) -> int:
    entry = sentence.lexemes[noun]
    plural = sentence.words[noun] == entry.plural
    return _FIRST_AGREEMENT + gender(entry) + GENDERS * plural


def _hidden(word: str, what: str, classes: int) -> int:
    """A class that is fixed for a word and looks random."""
    return zlib.crc32(f"{what} of {word}".encode()) % classes


def _stem_key(word: str, topic: str) -> tuple[str, str]:
    return (word, topic) if word in _ambiguous() else (word, "")


@cache
def _ambiguous() -> frozenset[str]:
    """Words whose stem depends on the topic: nouns, adjectives and verbs that belong to none."""
    nouns = {form for noun in lexicon.NOUNS for form in (noun.singular, noun.plural)}
    verbs = {form for verb in lexicon.VERBS for form in (verb.singular, verb.plural)}
    return frozenset(nouns | verbs | {word for words in lexicon.ADJECTIVES.values() for word in words})


@cache
def _stem_ids() -> dict[tuple[str, str], int]:
    keys = []
    for word in vocabulary_words():
        keys += [(word, topic) for topic in lexicon.TOPICS] if word in _ambiguous() else [(word, "")]
    return {key: i for i, key in enumerate(keys)}


@cache
def _written_stems() -> list[str]:
    """A pronounceable stem for each class: consonant, vowel, consonant, vowel, and more where needed."""
    rng = random.Random(7)
    stems: dict[str, None] = {}
    for word, _ in _stem_ids():
        while True:
            stem = "".join(
                rng.choice(letters) for letters in ("ptc", "aeiou", "lnrsvmdgbk", "aeiou", "lnrsk")
            )
            if stem not in stems:
                break
        stems[lexicon.STOP if word == lexicon.STOP else stem] = None
    return list(stems)


@cache
def vocabulary_words() -> tuple[str, ...]:
    """Every word of the course language, each once, nouns and verbs in both forms."""
    nouns = [*lexicon.NOUNS, *(noun for topic in lexicon.TOPIC_NOUNS.values() for noun in topic)]
    groups: list[Sequence[str]] = [
        [form for noun in nouns for form in (noun.singular, noun.plural)],
        [form for verb in lexicon.VERBS for form in (verb.singular, verb.plural)],
        [word for words in lexicon.ADJECTIVES.values() for word in words],
        [*("in", "on"), *(word for words in lexicon.PREPOSITIONS.values() for word in words)],
        [
            lexicon.ARTICLE,
            *lexicon.SINGULAR_DETERMINERS,
            "an",
            *lexicon.PLURAL_DETERMINERS,
            *lexicon.POSSESSIVES,
        ],
        [*lexicon.NUMERALS, *lexicon.ADVERBS, *lexicon.AUXILIARIES, *lexicon.CONJUNCTIONS],
        [*lexicon.SUBORDINATORS, lexicon.RELATIVE, *lexicon.EMPHATIC, lexicon.STOP],
    ]
    return tuple(dict.fromkeys(word for group in groups for word in group))
