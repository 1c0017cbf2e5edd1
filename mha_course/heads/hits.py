"""Counting, for every head at once, how often the largest weight of a row lies on a target."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.heads.criteria import Criterion, longest_words, questions
from mha_course.text.parsed_sentence import ParsedSentence

OFFSETS = tuple(k for k in range(-6, 7) if k != 0)


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


def count_hits(
    weights: Iterable[Tensor],
    sentences: Sequence[ParsedSentence],
    criteria: Sequence[Criterion],
    counts: Mapping[str, int] | None = None,
    self_counts: Collection[str] = ("rare",),
) -> Hits:
    """Ask every head every question.

    weights: for each sentence (layers, heads, n, n), rows are queries. counts: how often each word occurs.
    self_counts: kinds of criteria in which a word may answer with itself; in the others its own weight is
    left out of the row before the largest is taken. Special tokens must be gone from the weights already.

    Raises: ValueError when a sentence and its weights don't go together.
    """
    parts = [
        _of_one(w, sentence, criteria, counts, self_counts)
        for w, sentence in zip(weights, sentences, strict=True)
    ]
    return Hits(*(torch.stack(tensors) for tensors in zip(*parts, strict=True)))


def _of_one(
    weights: Tensor,
    sentence: ParsedSentence,
    criteria: Sequence[Criterion],
    counts: Mapping[str, int] | None,
    self_counts: Collection[str],
) -> tuple[Tensor, ...]:
    n = len(sentence)
    if weights.ndim != 4 or weights.shape[-2:] != (n, n):
        got = tuple(weights.shape)
        raise ValueError(f"a sentence of {n} words needs weights (layers, heads, {n}, {n}); got {got}.")
    asked = questions(sentence, criteria, counts)
    total = len(criteria)
    with_self = torch.tensor([criterion.kind in self_counts for criterion in criteria])[asked.criterion]
    others = weights.masked_fill(torch.eye(n, dtype=torch.bool), -1.0)
    # (layers, heads, m): where each row that is asked looks
    answer = torch.where(with_self, weights.argmax(-1)[..., asked.row], others.argmax(-1)[..., asked.row])
    hit = asked.targets[torch.arange(len(asked.row)), answer]
    heads = _summed(hit.float(), asked.criterion, total)
    rules = asked.row[:, None] + torch.tensor(OFFSETS)
    inside = (rules >= 0) & (rules < n)
    by_rule = asked.targets.gather(1, rules.clamp(0, n - 1)) & inside
    chance = asked.targets.float().sum(1) / (n - 1 + with_self.long()).clamp(min=1)
    long = asked.targets[:, longest_words(sentence)].float()
    longest = long.mean(1) if long.shape[1] else torch.zeros(len(asked.row))
    return (
        heads,
        torch.bincount(asked.criterion, minlength=total).float(),
        _summed(by_rule.T.float(), asked.criterion, total).T,
        _summed(chance, asked.criterion, total),
        _summed(longest, asked.criterion, total),
        weights.amax(-1).mean(-1),
        _evenness(weights),
    )


def _summed(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """Sums of the last axis by group."""
    return values.new_zeros(*values.shape[:-1], groups).index_add_(-1, group, values)


def _evenness(weights: Tensor) -> Tensor:
    n = weights.shape[-1]
    if n < 2:
        return torch.zeros(weights.shape[:2])
    entropy = -torch.special.xlogy(weights, weights).sum(-1)
    return entropy.mean(-1) / torch.log(torch.tensor(float(n)))
