"""Known mistakes of lesson 10: the learning rate over the updates, and the loss over real words."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake

NONE = -100


def _half_cosine(done: Tensor) -> Tensor:
    return 0.5 * (1 + torch.cos(math.pi * done))


def _rates(
    steps: int,
    warm_up: int,
    first: int = 1,
    rise: Callable[[Tensor, int, int], Tensor] = lambda number, steps, warm_up: number / warm_up,
    done: Callable[[Tensor, int, int], Tensor] = lambda number, steps, warm_up: (
        (number - warm_up) / (steps - warm_up)
    ),
    fall: Callable[[Tensor], Tensor] = _half_cosine,
) -> Tensor:
    number = torch.arange(first, first + steps)
    falling = fall(done(number, steps, warm_up).float())
    return torch.where(number <= warm_up, rise(number, steps, warm_up).float(), falling)


RATE_MISTAKES = (
    Mistake(
        "counted-from-zero",
        lambda steps, warm_up: _rates(steps, warm_up, first=0),
        "Updates are counted from 0: the first one has rate 0 and changes nothing.",
        "the number of the first update.",
    ),
    Mistake(
        "no-warm-up",
        lambda steps, warm_up: _half_cosine((torch.arange(1, steps + 1) - 1) / (steps - 1)),
        "The cosine starts at the first update. The rise in front of it is missing.",
        "the first updates.",
    ),
    Mistake(
        "warm-up-only",
        lambda steps, warm_up: (torch.arange(1, steps + 1) / warm_up).clamp(max=1.0),
        "After the warm-up the rate stays at its largest. It should fall from there.",
        "the last updates.",
    ),
    Mistake(
        "cosine-from-the-first-update",
        lambda steps, warm_up: _rates(steps, warm_up, done=lambda number, steps, warm_up: number / steps),
        "The way behind is counted from the first update. Then the two pieces don't meet: it jumps down "
        "after the warm-up.",
        "`done` at update `warm_up`: it is 0.",
    ),
    Mistake(
        "divided-by-steps",
        lambda steps, warm_up: _rates(
            steps, warm_up, done=lambda number, steps, warm_up: (number - warm_up) / steps
        ),
        "The way from the warm-up on is divided by all steps, so the rate doesn't get down to 0.",
        "`done` at the last update: it is 1.",
    ),
    Mistake(
        "whole-cosine",
        lambda steps, warm_up: _rates(steps, warm_up, fall=lambda d: 0.5 * (1 + torch.cos(2 * math.pi * d))),
        "This is a whole turn of the cosine: it falls to 0 in the middle and rises again.",
        "what the cosine is taken of.",
    ),
    Mistake(
        "quarter-cosine",
        lambda steps, warm_up: _rates(steps, warm_up, fall=lambda d: torch.cos(0.5 * math.pi * d)),
        "This is a quarter turn of the cosine. It ends at 0 too, but drops there steeply.",
        "what the cosine is taken of, and the 1 beside it.",
    ),
    Mistake(
        "below-zero",
        lambda steps, warm_up: _rates(steps, warm_up, fall=lambda d: torch.cos(math.pi * d)),
        "The cosine runs from 1 to -1. A rate below 0 would climb up the loss.",
        "the 1 beside the cosine, and the division by 2.",
    ),
    Mistake(
        "straight-down",
        lambda steps, warm_up: _rates(steps, warm_up, fall=lambda d: 1 - d),
        "The rate falls in a straight line. A half cosine is asked for.",
        "the piece after the warm-up.",
    ),
    Mistake(
        "not-halved",
        lambda steps, warm_up: _rates(steps, warm_up, fall=lambda d: 1 + torch.cos(math.pi * d)),
        "The falling piece starts at 2: 1 plus a cosine of 1, not halved.",
        "the first update after the warm-up.",
    ),
    Mistake(
        "rise-too-short",
        lambda steps, warm_up: _rates(
            steps, warm_up, rise=lambda number, steps, warm_up: number / (warm_up + 1)
        ),
        "The rise is divided by one update more, so it stops short of 1.",
        "the rate at update `warm_up`: it is 1.",
    ),
    Mistake(
        "rise-over-all-steps",
        lambda steps, warm_up: _rates(steps, warm_up, rise=lambda number, steps, warm_up: number / steps),
        "The rise is divided by all steps, so the warm-up ends far below 1.",
        "the rate at update `warm_up`: it is 1.",
    ),
)


def _log_p(logits: Tensor, answers: Tensor, dim: int = -1) -> Tensor:
    """Log probability of each answer, 0 where none is asked: (b, n)."""
    found = logits.log_softmax(dim).gather(-1, answers.clamp(min=0)[..., None])[..., 0]
    return torch.where(answers == NONE, torch.zeros_like(found), found)


def _mean(values: Tensor, answers: Tensor) -> Tensor:
    return values.sum() / (answers != NONE).sum()


def _by_sentence(logits: Tensor, answers: Tensor) -> Tensor:
    asked = (answers != NONE).sum(1)
    return (-_log_p(logits, answers).sum(1) / asked).mean()


LOSS_MISTAKES = (
    Mistake(
        "padding-in-the-mean",
        lambda logits, answers: -_log_p(logits, answers).mean(),
        "The sum is right, but it is divided by all places. Those without an answer count as if they had "
        "been "
        "right.",
        "what the sum is divided by.",
    ),
    Mistake(
        "padding-as-class-0",
        lambda logits, answers: -logits.log_softmax(-1).gather(-1, answers.clamp(min=0)[..., None]).mean(),
        "Places without an answer are judged as if class 0 were right there.",
        "what becomes of -100.",
    ),
    Mistake(
        "last-class-for-padding",
        lambda logits, answers: (
            -logits.log_softmax(-1)
            .gather(-1, torch.where(answers == NONE, logits.shape[-1] - 1, answers)[..., None])
            .mean()
        ),
        "Places without an answer are judged as if the last class were right there.",
        "what becomes of -100.",
    ),
    Mistake(
        "sum-for-mean",
        lambda logits, answers: -_log_p(logits, answers).sum(),
        "This is the sum over the words. Longer batches would have larger losses.",
        "the last step.",
    ),
    Mistake(
        "sign-forgotten",
        lambda logits, answers: _mean(_log_p(logits, answers), answers),
        "The logarithm of a probability is below 0; a loss falls towards 0 from above.",
        "the sign.",
    ),
    Mistake(
        "logits-for-log-probabilities",
        lambda logits, answers: (
            -logits.gather(-1, answers.clamp(min=0)[..., None])[..., 0][answers != NONE].mean()
        ),
        "The logits themselves are averaged. Nothing keeps them from growing; they have to compete first.",
        "what comes before the logarithm.",
    ),
    Mistake(
        "probabilities-for-logarithms",
        lambda logits, answers: (
            -_mean(torch.where(answers == NONE, 0.0, _log_p(logits, answers).exp()), answers)
        ),
        "The probabilities are averaged, without a logarithm. Surely wrong words would cost no more than "
        "doubtful ones.",
        "what is taken of the probability.",
    ),
    Mistake(
        "softmax-over-words",
        lambda logits, answers: -_mean(_log_p(logits, answers, dim=1), answers),
        "The softmax goes over the words of the sentence. The classes of one word compete.",
        "`dim`.",
    ),
    Mistake(
        "softmax-over-sentences",
        lambda logits, answers: -_mean(_log_p(logits, answers, dim=0), answers),
        "The softmax goes over the sentences of the batch. The classes of one word compete.",
        "`dim`.",
    ),
    Mistake(
        "mean-by-sentence",
        _by_sentence,
        "Each sentence is averaged first, then the sentences: a word in a short sentence counts more than "
        "one in a "
        "long one.",
        "how many words the mean goes over.",
    ),
    Mistake(
        "one-loss-a-word",
        lambda logits, answers: -_log_p(logits, answers)[answers != NONE],
        "There is one loss for each word. One number is asked for.",
        "the last step.",
    ),
    Mistake(
        "base-two",
        lambda logits, answers: -_mean(_log_p(logits, answers), answers) / math.log(2),
        "This is the loss in bits. In nats the logarithm is the natural one.",
        "the base of the logarithm.",
    ),
    Mistake(
        "softmax-twice",
        lambda logits, answers: -_mean(_log_p(logits.softmax(-1), answers), answers),
        "The softmax is taken twice, so that all classes look nearly equal.",
        "what `log_softmax` is given.",
    ),
)
