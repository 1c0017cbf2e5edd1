"""Reading weights: from which steps a wrong softmax came, found by trying the steps that people write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from mha_course.exercises.steps_before_softmax import BEFORE, Step
from mha_course.exercises.steps_of_softmax import AFTER, BY, BY_SENTENCES, POSITIVE

NEG_INF = float("-inf")


class Reading(NamedTuple):
    """What was read: a short id, what it means in words, and where to look."""

    id: str
    says: str
    look: str


def read_steps(
    scores: Tensor, have: Tensor, mask: Tensor | None, more: Sequence[Step] = ()
) -> Reading | None:
    """Which steps give these weights, when they are not the right ones; None when none that is known does.

    scores: as they should be, (..., n_q, n_k). mask: True = may attend, or None. more: other things that may
    have been done to the scores, as words and a function. Every combination of one thing before, one way to
    make scores positive and one divisor is looked at; the one with the fewest faults is taken.
    """
    scores, have = scores.double(), have.double()
    before = (*BEFORE, *more)
    bent = torch.stack([step(scores).expand_as(scores) for _, step in before])
    powers = torch.stack([step(bent) for _, step in POSITIVE])
    if mask is not None:
        powers = torch.where(mask, powers, 0.0)
    best: tuple[int, int, tuple[str, ...]] | None = None
    for b, (by_words, by) in enumerate(BY + (BY_SENTENCES if have.ndim > 2 else ())):
        given = powers / by(powers)
        fits = torch.isclose(given, have, rtol=1e-3, atol=2e-6).flatten(2).all(-1)
        for p, s in fits.nonzero().tolist():
            words = tuple(w for w in (before[s][0], POSITIVE[p][0], by_words) if w)
            rank = (len(words), s + p + b, words)
            if words and (best is None or rank < best):
                best = rank
    if best:
        return Reading("other-steps", " And: ".join(best[2]), "these steps, from the scores to the weights.")
    return _after(scores, have, mask)


def _after(scores: Tensor, have: Tensor, mask: Tensor | None) -> Reading | None:
    weights = (scores if mask is None else scores.masked_fill(~mask, NEG_INF)).softmax(-1)
    for words, step in AFTER:
        if torch.allclose(step(weights), have, rtol=1e-3, atol=2e-6, equal_nan=True):
            return Reading("weights-changed", words, "what happens to the weights after the division.")
    return None
