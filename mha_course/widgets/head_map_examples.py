"""Example sentences from the one on which a head does best to the one on which it does worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.heads.criteria import Criterion, questions
from mha_course.heads.measured import Measured
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.widgets.head_sources import HeadSource, Reading

MOST_EXAMPLES = 60
ONE_LINE = 11  # words that stand level below their arcs
Targets = list[tuple[int, int]]


@dataclass(frozen=True)
class Ranked:
    """One example for one head. i: its place among the examples. right, asked: hits, and how many words."""

    i: int
    right: int
    asked: int


class Examples:
    """The first 60 examples of a source and where every head looks in them."""

    def __init__(self, source: HeadSource) -> None:
        self.source = source
        self.sentences: Sequence[ParsedSentence] = source.examples[:MOST_EXAMPLES]
        self._answers: list[tuple[Tensor, Tensor]] | None = None

    def __len__(self) -> int:
        return len(self.sentences)

    def ranked(self, measure: Measured | None, layer: int, head: int) -> list[Ranked]:
        """Examples in which something is asked, best first; all of them, unjudged, without a question.

        layer, head: from 1. Among equally good ones those stand at the ends in which more than one word is
        asked, that fit on one line, and in which most words are asked.
        """
        if measure is None:
            return [Ranked(i, 0, 0) for i in range(len(self))]
        found = []
        for i, (with_self, without) in enumerate(self._all_answers()):
            targets = targets_of(self.sentences[i], measure, self.source.counts)
            answers = (with_self if measure.kind == "rare" else without)[layer - 1, head - 1].tolist()
            asked = dict.fromkeys(q for q, _ in targets)
            hits = sum((q, answers[q]) in targets for q in asked)
            if asked:
                found.append(Ranked(i, hits, len(asked)))

        def order(one: Ranked) -> tuple[float, int, int]:
            share, size = one.right / one.asked, len(self.sentences[one.i])
            odd = 2 * (one.asked == 1) + (size > ONE_LINE)
            return (-share, odd, -one.asked) if share >= 0.5 else (-share, -odd, one.asked)

        return sorted(found, key=order)

    def _all_answers(self) -> list[tuple[Tensor, Tensor]]:
        if self._answers is None:
            readings = (self.source.maps(i) for i in range(len(self)))
            self._answers = [(largest(one), largest(one, itself=False)) for one in readings]
        return self._answers


def over_words(reading: Reading) -> Tensor:
    """(layers, heads, words, words): the weights between words, nothing rescaled."""
    places = list(reading.places)
    return reading.maps.weights[..., places, :][..., places]


def largest(reading: Reading, itself: bool = True) -> Tensor:
    """(layers, heads, words): where each word's largest weight lies; itself: whether it may be that word."""
    weights = over_words(reading)
    if not itself:
        weights = weights.masked_fill(torch.eye(weights.shape[-1], dtype=torch.bool), -1.0)
    return weights.argmax(-1)


def targets_of(
    sentence: ParsedSentence, measure: Measured, counts: Mapping[str, int] | None = None
) -> Targets:
    """(word asked, right word) pairs of one question on one sentence; several for a word with several."""
    relation, _, direction = measure.name.partition(": ") if measure.kind == "syntactic" else ("", "", "")
    asked = questions(sentence, [Criterion(measure.kind, measure.name, relation, direction)], counts)
    return [(row, k) for row, t in zip(asked.row.tolist(), asked.targets, strict=True) for k in _places(t)]


def unparsed(words: Sequence[str]) -> ParsedSentence:
    """Words without a tree, for questions that need none; what has no letter and no digit is punctuation."""
    upos = tuple("X" if any(sign.isalnum() for sign in word) else "PUNCT" for word in words)
    return ParsedSentence(tuple(words), upos, tuple(range(-1, len(words) - 1)), ("",) * len(words))


def _places(targets: Tensor) -> list[int]:
    return targets.nonzero().flatten().tolist()
