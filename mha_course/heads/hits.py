"""Counting, for every head at once, how often the largest weight of a row lies on a target."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import torch
from torch import Tensor

from mha_course.heads.criteria import Criterion, Questions, questions
from mha_course.text.parsed_sentence import ParsedSentence


@dataclass(frozen=True, eq=False)
class Hits:
    """Hits of every head and of every simple rule, kept apart for each sentence.

    heads: (sentences, layers, heads, criteria). asked: (sentences, criteria), how often each question came
    up. offsets: (sentences, criteria, len(OFFSETS)), what always looking at one distance would hit.
    chance: (sentences, criteria), what looking anywhere would hit on average. longest: (sentences,
    criteria), what looking at the longest word would hit. confidence, broad: (sentences, layers, heads),
    the mean largest weight of a row, and the mean entropy of rows over log n.
    """

    heads: Tensor
    asked: Tensor
    offsets: Tensor
    chance: Tensor
    longest: Tensor
    confidence: Tensor
    broad: Tensor


class HitCounter:
    """Counts hits sentence by sentence, for weights that don't all fit into memory.

    self_counts: kinds of criteria in which a token may answer with itself; in the others its own weight is
    left out of the row before the largest is taken. spread: whether `confidence` and `broad` are counted
    too; else they are 0.
    """

    def __init__(
        self, criteria: Sequence[Criterion], self_counts: Collection[str] = ("rare",), spread: bool = True
    ) -> None:
        self.criteria = tuple(criteria)
        self._with_self = torch.tensor([criterion.kind in self_counts for criterion in criteria])
        self._spread = spread
        self._parts: list[tuple[Tensor, ...]] = []

    def add(self, weights: Tensor, asked: Questions, rivals: Tensor | None = None) -> None:
        """Ask every head all questions to the next sentence.

        weights: (layers, heads, n, n), rows are queries, without special tokens. rivals: (layers, heads, n),
        the largest weight of each row on a special token; where it is the largest of all, the answer is no
        token and no hit. None: special tokens don't compete. A row without any weight has no answer.

        Raises: ValueError when questions and weights don't go together.
        """
        n = asked.targets.shape[-1]
        if weights.ndim != 4 or weights.shape[-2:] != (n, n):
            got = tuple(weights.shape)
            raise ValueError(f"a sentence of {n} words needs weights (layers, heads, {n}, {n}); got {got}.")
        if rivals is not None and rivals.shape != weights.shape[:-1]:
            raise ValueError(f"rivals must be {tuple(weights.shape[:-1])}; got {tuple(rivals.shape)}.")
        total, with_self = len(self.criteria), self._with_self[asked.criterion]
        # (layers, heads, m): where each row that is asked looks, and whether that is a token
        answer = asked.row.new_zeros(*weights.shape[:2], 0)
        if len(asked.row):
            answer = self._answers(weights, asked.row, with_self, rivals)
        hit = asked.targets[torch.arange(len(asked.row)), answer.clamp(min=0)] & (answer >= 0)
        chance = asked.n_targets / (n - 1 + with_self.long()).clamp(min=1)
        nothing = torch.zeros(weights.shape[:2])
        self._parts.append(
            (
                _summed(hit.float(), asked.criterion, total),
                torch.bincount(asked.criterion, minlength=total).float(),
                _summed(asked.by_offset, asked.criterion, total).T,
                _summed(chance, asked.criterion, total),
                _summed(asked.by_length, asked.criterion, total),
                weights.amax(-1).mean(-1) if self._spread and n else nothing,
                _evenness(weights) if self._spread else nothing,
            )
        )

    def hits(self) -> Hits:
        """What was counted so far. Raises: ValueError before the first sentence."""
        if not self._parts:
            raise ValueError("there is no sentence.")
        return Hits(*(torch.stack(tensors) for tensors in zip(*self._parts, strict=True)))

    @staticmethod
    def _answers(weights: Tensor, rows: Tensor, with_self: Tensor, rivals: Tensor | None) -> Tensor:
        """(layers, heads, m): the place that each row gives most to, -1 where that is a special token."""
        found = []
        for own, w in ((True, weights), (False, None)):
            if not bool((with_self == own).any()):
                found.append(torch.zeros((), dtype=torch.long))
                continue
            if w is None:
                w = weights.masked_fill(torch.eye(weights.shape[-1], dtype=torch.bool), -1.0)
            most, place = w.max(-1)
            # A rival with the same weight loses; weights of zero are no answer at all.
            answered = most > 0 if rivals is None else (most > 0) & (most >= rivals)
            found.append(torch.where(answered, place, -1)[..., rows])
        return torch.where(with_self, *found)


def count_hits(
    weights: Iterable[Tensor],
    sentences: Sequence[ParsedSentence],
    criteria: Sequence[Criterion],
    counts: Mapping[str, int] | None = None,
    self_counts: Collection[str] = ("rare",),
    rivals: Iterable[Tensor] | None = None,
) -> Hits:
    """Ask every head every question about words.

    weights: for each sentence (layers, heads, n, n), rows are queries, over words only. counts: how often
    each word occurs. self_counts and rivals (one a sentence): as in `HitCounter`.

    Raises: ValueError when a sentence and its weights don't go together.
    """
    counter = HitCounter(criteria, self_counts)
    rivals = repeat(None, len(sentences)) if rivals is None else rivals
    for w, sentence, rival in zip(weights, sentences, rivals, strict=True):
        counter.add(w, questions(sentence, criteria, counts), rival)
    return counter.hits()


def _summed(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """Sums of the last axis by group."""
    return values.new_zeros(*values.shape[:-1], groups).index_add_(-1, group, values)


def _evenness(weights: Tensor) -> Tensor:
    n = weights.shape[-1]
    if n < 2:
        return torch.zeros(weights.shape[:2])
    entropy = -torch.special.xlogy(weights, weights).sum(-1)
    return entropy.mean(-1) / torch.log(torch.tensor(float(n)))
