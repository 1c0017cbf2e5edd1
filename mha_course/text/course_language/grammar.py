"""Sentences of the course language, drawn from a probabilistic grammar with their dependency trees.

A sentence is about one of four topics, and its topic words are the rarest in it. Verbs agree with their
subject, also over a phrase that stands between them. Relations are those of Universal Dependencies.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import TypeVar

from mha_course.text.course_language import lexicon
from mha_course.text.course_language.lexicon import Noun, Verb
from mha_course.text.parsed_sentence import ParsedSentence

SHORTEST, LONGEST = 5, 24  # words, the full stop included
_TOPIC_SHARE = 0.2  # how often a noun is one of the topic's
_MOST_TOPIC_NOUNS = 3
_VOWELS = "aeiou"

T = TypeVar("T")


@dataclass(frozen=True)
class CourseSentence:
    """A sentence of the grammar: its tree, its hidden topic, and the lexicon's entry behind each word.

    lexemes: the `Noun` or `Verb` behind a word, else None.
    """

    parsed: ParsedSentence
    topic: str
    lexemes: tuple[Noun | Verb | None, ...]

    @property
    def words(self) -> tuple[str, ...]:
        return self.parsed.words


@dataclass(eq=False)
class _Node:
    """A word that is being placed: its head is another node, None for the root."""

    text: str
    upos: str
    relation: str
    head: _Node | None = None
    lexeme: Noun | Verb | None = None
    plural: bool = False


@dataclass
class _Draft:
    """The words so far, from left to right, and how many topic nouns are among them."""

    topic: str
    rng: random.Random
    nodes: list[_Node] = field(default_factory=list)
    topical: int = 0

    def add(self, text: str, upos: str, relation: str, head: _Node | None = None, **more: object) -> _Node:
        node = _Node(text, upos, relation, head, **more)
        self.nodes.append(node)
        return node

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, options: Sequence[T], flat: float = 0.0) -> T:
        """One option, the earlier ones more often: rank r has the weight 1 / (r + flat)."""
        return self.rng.choices(options, cum_weights=_summed_weights(len(options), flat))[0]


@lru_cache
def _summed_weights(count: int, flat: float) -> tuple[float, ...]:
    return tuple(accumulate(1 / (rank + flat) for rank in range(1, count + 1)))


def draw_sentence(rng: random.Random) -> CourseSentence:
    """One sentence of 5 to 24 words with one to three topic nouns."""
    while True:
        draft = _Draft(rng.choice(lexicon.TOPICS), rng)
        _sentence(draft)
        if SHORTEST <= len(draft.nodes) <= LONGEST and 1 <= draft.topical <= _MOST_TOPIC_NOUNS:
            return _finished(draft)


def draw_sentences(count: int, seed: int) -> Iterator[CourseSentence]:
    """`count` sentences, no two with the same words; the same for the same seed."""
    drawn = _drawn(seed)
    for i in range(count):
        yield drawn.at(i)


class _Drawn:
    """The sentences of one seed, each drawn once: trainings and their judges ask for thousands of them."""

    def __init__(self, seed: int) -> None:
        self._rng, self._lock = random.Random(seed), threading.Lock()
        self._seen: set[tuple[str, ...]] = set()
        self._sentences: list[CourseSentence] = []

    def at(self, i: int) -> CourseSentence:
        with self._lock:  # a live training draws on a thread of its own
            while len(self._sentences) <= i:
                sentence = draw_sentence(self._rng)
                if sentence.words not in self._seen:
                    self._seen.add(sentence.words)
                    self._sentences.append(sentence)
            return self._sentences[i]


_drawn = lru_cache(maxsize=12)(_Drawn)


def _finished(draft: _Draft) -> CourseSentence:
    nodes = draft.nodes
    for node, after in zip(nodes, nodes[1:], strict=False):
        if node.text == "a" and (after.text[0] in _VOWELS or after.text == "honest"):
            node.text = "an"
    place = {id(node): i for i, node in enumerate(nodes)}
    parsed = ParsedSentence(
        tuple(node.text for node in nodes),
        tuple(node.upos for node in nodes),
        tuple(-1 if node.head is None else place[id(node.head)] for node in nodes),
        tuple(node.relation for node in nodes),
    )
    return CourseSentence(parsed, draft.topic, tuple(node.lexeme for node in nodes))


def _sentence(draft: _Draft) -> None:
    main = _clause(draft, "root", None)
    if draft.chance(0.3):
        if draft.chance(0.5):
            joint = draft.add(draft.pick(lexicon.CONJUNCTIONS), "CCONJ", "cc")
            second = _clause(draft, "conj", main)
        else:
            joint = draft.add(draft.pick(lexicon.SUBORDINATORS), "SCONJ", "mark")
            second = _clause(draft, "advcl", main)
        joint.head = second
    draft.add(lexicon.STOP, "PUNCT", "punct", main)


def _clause(draft: _Draft, relation: str, head: _Node | None) -> _Node:
    """Subject, verb, object and phrases; returns the verb."""
    kind = "person" if draft.chance(0.72) else "animal"
    subject = _noun_phrase(draft, kind, "nsubj", None)
    verb = _verb_group(draft, _drawn_verb(draft, kind), subject.plural, relation, head)
    subject.head = verb
    _after_verb(draft, verb)
    return verb


def _drawn_verb(draft: _Draft, doer: str) -> Verb:
    return draft.pick([verb for verb in lexicon.VERBS if doer in verb.doers], flat=20.0)


def _verb_group(draft: _Draft, verb: Verb, plural: bool, relation: str, head: _Node | None) -> _Node:
    """An auxiliary or an adverb may come first; after an auxiliary the verb has its bare form."""
    before = None
    if draft.chance(0.1):
        before, plural = draft.add(draft.pick(lexicon.AUXILIARIES), "AUX", "aux"), True
    elif draft.chance(0.16):
        before = draft.add(draft.pick(lexicon.ADVERBS), "ADV", "advmod")
    form = verb.plural if plural else verb.singular
    node = draft.add(form, "VERB", relation, head, lexeme=verb, plural=plural)
    if before is not None:
        before.head = node
    return node


def _after_verb(draft: _Draft, verb: _Node, depth: int = 0) -> None:
    takes = verb.lexeme.takes
    if takes:
        _noun_phrase(draft, draft.rng.choice(takes), "obj", verb, depth + 1)
    if draft.chance(0.35 if takes else 0.8):
        _phrase(draft, "place" if draft.chance(0.75) else "person", "obl", verb, depth + 1)


def _phrase(draft: _Draft, kind: str, relation: str, head: _Node, depth: int) -> None:
    """A preposition with its noun phrase."""
    noun = _drawn_noun(draft, kind)
    there = noun.at and draft.chance(0.55)
    word = noun.at if there else draft.pick(lexicon.PREPOSITIONS[kind], flat=1.0)
    preposition = draft.add(word, "ADP", "case")
    preposition.head = _noun_phrase(draft, kind, relation, head, depth, noun)


def _noun_phrase(
    draft: _Draft, kind: str, relation: str, head: _Node | None, depth: int = 0, noun: Noun | None = None
) -> _Node:
    """Determiner, adjectives, noun, and sometimes a phrase or a relative clause; returns the noun."""
    plural = draft.chance(0.3 if kind == "place" else 0.4)
    before = _determiner(draft, plural, kind, plain=noun is not None)
    if draft.chance(0.42):
        before += _adjectives(draft, kind)
    noun = _drawn_noun(draft, kind) if noun is None else noun
    text = noun.plural if plural else noun.singular
    node = draft.add(text, "NOUN", relation, head, lexeme=noun, plural=plural)
    for other in before:
        other.head = other.head or node
    if depth < 2 and draft.chance(0.2 / (depth + 1)):
        _phrase(draft, "place" if draft.chance(0.6) else "thing", "nmod", node, depth + 1)
    elif depth < 2 and draft.chance(0.16 / (depth + 1)):
        _relative_clause(draft, node, kind, depth)
    return node


def _drawn_noun(draft: _Draft, kind: str) -> Noun:
    if draft.chance(_TOPIC_SHARE):
        draft.topical += 1
        return draft.pick([n for n in lexicon.TOPIC_NOUNS[draft.topic] if n.kind == kind], flat=8.0)
    return draft.pick([noun for noun in lexicon.NOUNS if noun.kind == kind], flat=8.0)


def _determiner(draft: _Draft, plural: bool, kind: str, plain: bool) -> list[_Node]:
    """A determiner, a possessive or a numeral; plural nouns may go without."""
    draw = draft.rng.random()
    if draw < (0.04 if kind == "place" else 0.16):
        return [draft.add(draft.pick(lexicon.POSSESSIVES), "PRON", "nmod:poss")]
    if plural and draw < 0.3:
        return [draft.add(draft.pick(lexicon.NUMERALS), "NUM", "nummod")]
    if plural and draw < 0.42:
        return []
    options = lexicon.PLURAL_DETERMINERS if plural else lexicon.SINGULAR_DETERMINERS
    options = options[: lexicon.PLAIN_DETERMINERS] if plain else options
    # "the" is the most frequent word of English.
    word = lexicon.ARTICLE if draft.chance(0.5) else draft.pick(options)
    return [draft.add(word, "DET", "det")]


def _adjectives(draft: _Draft, kind: str) -> list[_Node]:
    emphatic = draft.add(draft.pick(lexicon.EMPHATIC), "ADV", "advmod") if draft.chance(0.12) else None
    adjective = draft.add(draft.pick(lexicon.ADJECTIVES[kind], flat=2.0), "ADJ", "amod")
    if emphatic is not None:
        emphatic.head = adjective
        return [adjective, emphatic]
    if draft.chance(0.15):
        others = [word for word in lexicon.ADJECTIVES[kind] if word != adjective.text]
        return [adjective, draft.add(draft.pick(others, flat=2.0), "ADJ", "amod")]
    return [adjective]


def _relative_clause(draft: _Draft, noun: _Node, kind: str, depth: int) -> None:
    """ "that waits at the bridge", or, where someone can do it, "that the girl reads"."""
    that = draft.add(lexicon.RELATIVE, "PRON", "nsubj")
    if kind in ("person", "animal") and draft.chance(0.75):
        verb = _verb_group(draft, _drawn_verb(draft, kind), noun.plural, "acl:relcl", noun)
        _after_verb(draft, verb, depth + 1)
    else:
        that.relation = "obj"
        subject = _noun_phrase(draft, "person", "nsubj", None, depth=2)
        able = [v for v in lexicon.VERBS if kind in v.takes and "person" in v.doers]
        verb = _verb_group(draft, draft.pick(able, flat=20.0), subject.plural, "acl:relcl", noun)
        subject.head = verb
    that.head = verb
