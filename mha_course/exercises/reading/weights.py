"""Reading weights: from which steps a wrong softmax came, found by trying the steps that people write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from mha_course.exercises.reading.steps_before_softmax import BEFORE, Step
from mha_course.exercises.reading.steps_of_softmax import AFTER, BY, BY_SENTENCES, POSITIVE

NEG_INF = float("-inf")


def near(a: Tensor, b: Tensor) -> bool:
    """Equal up to the rounding of float32, whatever the dtypes are; NaN equals NaN."""
    return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=1e-3, atol=2e-5, equal_nan=True)


def nearly(want: Tensor, have: Tensor) -> bool:
    """Right in two or three digits everywhere."""
    gap, size = (have.double() - want.double()).abs(), want.double().abs()
    return bool((gap <= 1e-2 * size + 1e-2 * float(size.mean())).all())


class Reading(NamedTuple):
    """What was read: a short id, what it means in words, and where to look."""

    id: str
    says: str
    look: str


def read_steps(
    scores: Tensor, have: Tensor, mask: Tensor | None, more: Sequence[Step] = ()
) -> Reading | None:
    """Which steps give these weights, when they are not the right ones; None when none that is known does.

    scores: as they should be, (..., n_q, n_k). mask: True = may attend, or None. more: other scores that may
    stand in their place, as words and a function. Every combination of one thing before, one way to make
    scores positive and one divisor is looked at; the one with the fewest faults is taken.
    """
    scores, have = scores.double(), have.double()
    for words, step in more:
        made = step(scores)
        if not near(made, scores) and near(
            (made if mask is None else made.masked_fill(~mask, NEG_INF)).softmax(-1), have
        ):
            return Reading("compared-otherwise", words, "how a query is compared with a key.")
    before = BEFORE
    bent = torch.stack([step(scores).expand_as(scores) for _, step in before])
    powers = torch.stack([step(bent) for _, step in POSITIVE])
    if mask is not None:
        powers = torch.where(mask, powers, 0.0)
    want = (scores if mask is None else scores.masked_fill(~mask, NEG_INF)).softmax(-1)
    close_to_right = nearly(want, have)
    best: tuple[int, int, tuple[str, ...]] | None = None
    for b, (by_words, by) in enumerate(BY + (BY_SENTENCES if have.ndim > 2 else ())):
        given = powers / by(powers)
        fits = torch.isclose(given, have, rtol=1e-3, atol=2e-6).flatten(2).all(-1)
        if close_to_right and bool(fits.any()):
            fits &= ~torch.isclose(given, want, rtol=2e-3, atol=4e-6).flatten(2).all(-1)
        for p, s in fits.nonzero().tolist():
            words = tuple(w for w in (before[s][0], POSITIVE[p][0], by_words) if w)
            # Three faults at once fit by chance sooner than by design; a softmax before has its `exp`.
            if len(words) > 2 or (POSITIVE[p][0] and "twice" in before[s][0]):
                continue
            rank = (len(words), s + p + b, words)
            if words and (best is None or rank < best):
                best = rank
    changed = weights_changed(scores, have, mask) if best is None or best[0] > 1 else None
    changed = changed or (
        _other_divisor(scores, have) if mask is None and (best is None or best[0] > 1) else None
    )
    if best and changed is None:
        return Reading("other-steps", " And: ".join(best[2]), "these steps, from the scores to the weights.")
    return changed


def _other_divisor(scores: Tensor, have: Tensor) -> Reading | None:
    """Exponentials divided by something that is made of other numbers than they are."""
    top = scores.amax(-1, keepdim=True)
    raw, shifted = scores.exp(), (scores - top).exp()
    for top_words, above in (
        ("", shifted),
        ("", raw),
        ("The scores themselves, without an exponential, are divided. And: ", scores),
    ):
        for words, below in (
            ("is the sum of the scores, not of their exponentials.", scores.sum(-1, keepdim=True)),
            ("is the sum of the shifted scores, without `exp`.", (scores - top).sum(-1, keepdim=True)),
            ("sums other exponentials than those above it: the largest score is in them.", _row(raw)),
            ("sums other exponentials than those above it: the largest score is off them.", _row(shifted)),
            ("is the sum of the absolute scores.", scores.abs().sum(-1, keepdim=True)),
            ("is the row's largest score.", top),
            ("is the logarithm of the sum of exponentials.", scores.logsumexp(-1, keepdim=True)),
        ):
            if torch.allclose(above / below, have, rtol=1e-3, atol=2e-6):
                return Reading(
                    "other-divisor", f"{top_words}The divisor {words}", "what stands below the fraction bar."
                )
    return None


def _row(x: Tensor) -> Tensor:
    return x.sum(-1, keepdim=True)


def weights_changed(scores: Tensor, have: Tensor, mask: Tensor | None) -> Reading | None:
    """What was done to right weights afterwards: rounded, squared, sorted, mixed with others; or None."""
    weights = (scores if mask is None else scores.masked_fill(~mask, NEG_INF)).softmax(-1)
    down = (scores if mask is None else scores.masked_fill(~mask, NEG_INF)).softmax(-2)
    turned = scores.reshape(*scores.shape[:-2], scores.shape[-1], scores.shape[-2])
    for words, made in (
        ("A softmax over the keys is multiplied by one over the queries.", weights * down),
        ("A softmax over the keys is averaged with one over the queries.", (weights + down) / 2),
        (
            "The scores are reshaped before the softmax: its rows hold pieces of others.",
            turned.softmax(-1).reshape(scores.shape),
        ),
        (
            "Each score is compared with each other one by a sigmoid, and that is averaged.",
            (scores.unsqueeze(-1) - scores.unsqueeze(-2)).sigmoid().mean(-1),
        ),
    ):
        if torch.allclose(made, have, rtol=1e-3, atol=2e-6, equal_nan=True):
            return Reading("weights-changed", words, "these steps, from the scores to the weights.")
    for words, step in AFTER:
        if torch.allclose(step(weights), have, rtol=5e-5, atol=2e-6, equal_nan=True):
            return Reading("weights-changed", words, "what happens to the weights after the division.")
    return None
