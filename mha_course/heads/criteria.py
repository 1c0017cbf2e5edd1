"""What a head can be asked for: one target (or several) for each word of a sentence that has one.

A criterion is answered by the largest weight of a row: does it lie on a target?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from mha_course.text.parsed_sentence import ParsedSentence

PREVIOUS, NEXT, RAREST, TWO_RAREST = "previous", "next", "rarest", "one of the two rarest"
OFFSETS = tuple(k for k in range(-6, 7) if k != 0)
TO_HEAD, TO_DEPENDENT = "dependent → head", "head → dependent"


@dataclass(frozen=True, order=True)
class Criterion:
    """One question. kind: "positional", "syntactic" or "rare"; name: as in a table."""

    kind: str
    name: str
    relation: str = ""
    direction: str = ""


@dataclass(frozen=True, eq=False)
class Questions:
    """All questions to one sentence of n tokens, as pairs of a row and its targets.

    criterion: (m,) index into the list of criteria. row: (m,) the token that is asked. targets: (m, n)
    bool, True where the largest weight would be a hit. longest: (n,) bool, the longest tokens.
    """

    criterion: Tensor
    row: Tensor
    targets: Tensor
    longest: Tensor

    @cached_property
    def by_offset(self) -> Tensor:
        """(len(OFFSETS), m) 1.0 where always looking at one distance is a hit."""
        n = self.targets.shape[-1]
        places = self.row + torch.tensor(OFFSETS)[:, None]
        inside = (places >= 0) & (places < n)
        return (self.targets[torch.arange(len(self.row)), places.clamp(0, n - 1)] & inside).float()

    @cached_property
    def by_length(self) -> Tensor:
        """(m,): how often looking at one of the longest tokens is a hit, on average."""
        long = self.targets[:, self.longest].float()
        return long.mean(1) if long.shape[1] else torch.zeros(len(self.row))

    @cached_property
    def n_targets(self) -> Tensor:
        """(m,): how many targets each question has."""
        return self.targets.sum(1).float()

    @classmethod
    def of(cls, asked: Mapping[tuple[int, int], Iterable[int]], n: int, longest: Iterable[int]) -> Questions:
        """From targets by (criterion, row)."""
        targets = torch.zeros(len(asked), n, dtype=torch.bool)
        places = [(k, target) for k, row in enumerate(asked.values()) for target in row]
        if places:
            targets[tuple(torch.tensor(places).T)] = True
        pairs = torch.tensor(list(asked), dtype=torch.long).reshape(-1, 2)
        long = torch.zeros(n, dtype=torch.bool)
        long[list(longest)] = True
        return cls(pairs[:, 0], pairs[:, 1], targets, long)


def criteria_of(sentences: Sequence[ParsedSentence], rare: bool = True) -> list[Criterion]:
    """Both positional questions, every relation in both directions, and both about rare words."""
    relations = sorted({relation for sentence in sentences for _, _, relation in sentence.arcs()})
    found = [Criterion("positional", PREVIOUS), Criterion("positional", NEXT)]
    for relation in relations:
        for direction in (TO_HEAD, TO_DEPENDENT):
            found.append(Criterion("syntactic", f"{relation}: {direction}", relation, direction))
    return found + ([Criterion("rare", RAREST), Criterion("rare", TWO_RAREST)] if rare else [])


def questions(
    sentence: ParsedSentence, criteria: Sequence[Criterion], counts: Mapping[str, int] | None
) -> Questions:
    """Everything that is asked about one sentence.

    counts: how often each word occurs; words that are not in it count 0. None leaves rare words out. Every
    word is asked for the rarest one (ties count as hits), punctuation is no target. A head with several
    dependents of one relation hits with any of them; the first and the last word have one neighbour only.
    """
    n, index = len(sentence), {criterion.name: i for i, criterion in enumerate(criteria)}
    asked: dict[tuple[int, int], set[int]] = {}

    def ask(name: str, row: int, target: int) -> None:
        if name in index:
            asked.setdefault((index[name], row), set()).add(target)

    for i in range(n):
        if i > 0:
            ask(PREVIOUS, i, i - 1)
        if i < n - 1:
            ask(NEXT, i, i + 1)
    for dependent, head, relation in sentence.arcs():
        ask(f"{relation}: {TO_HEAD}", dependent, head)
        ask(f"{relation}: {TO_DEPENDENT}", head, dependent)
    if counts is not None:
        one, two = rarest_words(sentence, counts)
        for i in range(n):
            for target in one:
                ask(RAREST, i, target)
            for target in two:
                ask(TWO_RAREST, i, target)
    return Questions.of(asked, n, longest_words(sentence))


def rarest_words(sentence: ParsedSentence, counts: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """Places of the rarest word, and of the two rarest; more than that when words occur equally often."""
    places = [i for i, pos in enumerate(sentence.upos) if pos != "PUNCT"]
    return rarest({i: counts.get(sentence.words[i].lower(), 0) for i in places})


def rarest(often: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """From how often the token at each place occurs: the places of the rarest, and of the two rarest."""
    if not often:
        return [], []
    levels = sorted(often.values())
    one, two = levels[0], levels[min(1, len(levels) - 1)]
    return [i for i in often if often[i] <= one], [i for i in often if often[i] <= two]


def longest_words(sentence: ParsedSentence) -> list[int]:
    """Places of the longest word; the baseline for rare words, since rare words tend to be long."""
    return longest({i: len(sentence.words[i]) for i, pos in enumerate(sentence.upos) if pos != "PUNCT"})


def longest(lengths: Mapping[int, int]) -> list[int]:
    """The places of the longest, from the length at each place."""
    most = max(lengths.values(), default=0)
    return [i for i in lengths if lengths[i] == most]
