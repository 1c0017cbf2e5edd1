"""Attention maps with planted roles: heads that do one thing exactly, and heads that do nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Generator, Tensor

from mha_course.heads.criteria import rarest_words
from mha_course.text.parsed_sentence import ParsedSentence

Head = Callable[[ParsedSentence, Generator], Tensor]


def looking_at(target: Callable[[ParsedSentence, int], int | None]) -> Head:
    """A head with most of its weight on one word; where there is no target, all words get the same."""

    def head(sentence: ParsedSentence, g: Generator) -> Tensor:
        n = len(sentence)
        weights = torch.full((n, n), 1 / n)
        for row in range(n):
            place = target(sentence, row)
            if place is not None and 0 <= place < n:
                weights[row] = 0.1 / n
                weights[row, place] += 0.9
        return weights

    return head


def offset(k: int) -> Head:
    return looking_at(lambda sentence, row: row + k)


def to_head(relation: str) -> Head:
    return looking_at(lambda s, row: s.heads[row] if s.relations[row] == relation else None)


def to_dependent(relation: str) -> Head:
    def first(sentence: ParsedSentence, row: int) -> int | None:
        return next((i for i, at, what in sentence.arcs() if at == row and what == relation), None)

    return looking_at(first)


def rarest(counts: Mapping[str, int]) -> Head:
    return looking_at(lambda sentence, row: rarest_words(sentence, counts)[0][0])


def uniform(sentence: ParsedSentence, g: Generator) -> Tensor:
    return torch.full((len(sentence), len(sentence)), 1 / len(sentence))


def noise(sentence: ParsedSentence, g: Generator) -> Tensor:
    return torch.randn(len(sentence), len(sentence), generator=g).softmax(-1)


def own_word(sentence: ParsedSentence, g: Generator) -> Tensor:
    return torch.eye(len(sentence))
