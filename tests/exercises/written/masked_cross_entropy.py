"""masked_cross_entropy as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.nn.functional as F

from tests.exercises.written.examined import masked_cross_entropy as examined


def looped(logits, answers, *, probability=None, of=None, skip=True, wrong=0, divide=None):
    """of(p): what one word adds; wrong: the class that stands in for -100 where nothing is skipped."""
    total, count = torch.zeros((), dtype=logits.dtype), 0
    for i in range(logits.shape[0]):
        for t in range(logits.shape[1]):
            answer = int(answers[i, t])
            if answer == -100:
                if skip:
                    continue
                answer = wrong
            p = (probability(logits, i, t) if probability else logits[i, t].softmax(0))[answer]
            total = total + (of(p) if of else -p.log())
            count += 1
    return total / (divide(logits, answers) if divide else count)


def flat(logits, answers, **options):
    return F.cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=-100, **options)


def zeroed(logits, answers):
    losses = F.cross_entropy(logits.transpose(1, 2), answers, ignore_index=-100, reduction="none")
    return losses.mean()


def clamped(logits, answers):
    return F.cross_entropy(logits.flatten(0, 1), answers.flatten().clamp(min=0))


def last_class(logits, answers):
    filled = answers.masked_fill(answers < 0, logits.shape[2] - 1)
    return F.cross_entropy(logits.transpose(1, 2), filled)


def python_index(logits, answers):
    answer = torch.where(answers == -100, -1, answers)
    log_p = logits.log_softmax(-1)
    rows = [log_p[i, t, answer[i, t]] for i in range(len(answers)) for t in range(answers.shape[1])]
    return -torch.stack(rows).mean()


def by_sentence(logits, answers):
    losses = []
    for one, right in zip(logits, answers, strict=True):
        losses.append(F.cross_entropy(one, right, ignore_index=-100))
    return torch.stack(losses).mean()


def by_sentence_sums(logits, answers):
    asked = answers != -100
    log_p = logits.log_softmax(2).gather(2, answers.clamp(min=0).unsqueeze(2)).squeeze(2)
    return -((log_p * asked).sum(1) / asked.sum(1)).sum() / len(answers)


def along(logits, answers, *, dim):
    asked = answers != -100
    p = logits.softmax(dim)[asked]
    return -p[torch.arange(len(p)), answers[asked]].log().mean()


def picked(logits, answers, *, log_p):
    asked = answers != -100
    return -log_p(logits[asked]).gather(1, answers[asked][:, None]).mean()


def one_hot(logits, answers):
    asked = (answers != -100).to(logits.dtype)
    right = F.one_hot(answers.clamp(min=0), logits.shape[-1]).to(logits.dtype) * asked[..., None]
    return -(right * logits.log_softmax(-1)).sum() / asked.sum()


def with_logsumexp(logits, answers):
    asked = answers != -100
    own = logits.gather(-1, answers.clamp(min=0)[..., None])[..., 0]
    return (logits.logsumexp(-1) - own)[asked].sum() / asked.sum()


def masked(logits, answers):
    losses = F.cross_entropy(logits.transpose(1, 2), answers.clamp(min=0), reduction="none")
    return losses[answers >= 0].mean()


def each(logits, answers):
    asked = answers != -100
    return F.cross_entropy(logits[asked], answers[asked], reduction="none")


def each_by_hand(logits, answers):
    found = []
    for i, t in (answers != -100).nonzero().tolist():
        found.append(-logits[i, t].log_softmax(0)[answers[i, t]])
    return torch.stack(found)


WRONG = [
    ("padding-in-the-mean", zeroed),
    ("padding-in-the-mean", partial(looped, divide=lambda logits, answers: answers.numel())),
    ("padding-as-class-0", clamped),
    ("padding-as-class-0", partial(looped, skip=False)),
    ("last-class-for-padding", last_class),
    ("last-class-for-padding", python_index),
    ("sum-for-mean", partial(flat, reduction="sum")),
    ("sum-for-mean", partial(looped, divide=lambda logits, answers: 1)),
    ("sign-forgotten", lambda logits, answers: -flat(logits, answers)),
    ("sign-forgotten", partial(looped, of=lambda p: p.log())),
    ("logits-for-log-probabilities", partial(picked, log_p=lambda z: z)),
    ("logits-for-log-probabilities", partial(looped, probability=lambda z, i, t: z[i, t], of=lambda z: -z)),
    ("probabilities-for-logarithms", partial(picked, log_p=lambda z: z.softmax(1))),
    ("probabilities-for-logarithms", partial(looped, of=lambda p: -p)),
    ("softmax-over-words", partial(along, dim=1)),
    ("softmax-over-words", partial(looped, probability=lambda z, i, t: z.softmax(1)[i, t])),
    ("softmax-over-sentences", partial(along, dim=0)),
    ("softmax-over-sentences", partial(looped, probability=lambda z, i, t: z.softmax(0)[i, t])),
    ("mean-by-sentence", by_sentence),
    ("mean-by-sentence", by_sentence_sums),
    ("one-loss-a-word", each),
    ("one-loss-a-word", each_by_hand),
    ("base-two", lambda logits, answers: flat(logits, answers) / math.log(2)),
    ("base-two", partial(looped, of=lambda p: -p.log2())),
    ("softmax-twice", lambda logits, answers: flat(logits.softmax(-1), answers)),
    ("softmax-twice", partial(looped, probability=lambda z, i, t: z[i, t].softmax(0).softmax(0))),
]

RIGHT = [
    flat,
    looped,
    one_hot,
    with_logsumexp,
    masked,
    partial(along, dim=2),
    partial(picked, log_p=lambda z: z - z.logsumexp(1, keepdim=True)),
]

UNLISTED = [
    ("smoothed.*0.1", lambda logits, answers: flat(logits, answers, label_smoothing=0.1)),
    ("Everything is NaN", lambda logits, answers: flat(logits, answers) * float("nan")),
    ("has no effect", lambda logits, answers: 0 * flat(logits, answers)),
    ("perplexity", lambda logits, answers: flat(logits, answers).exp()),
    ("base 10", partial(looped, of=lambda p: -p.log10())),
    (
        "index|out of|class",
        lambda logits, answers: -logits.log_softmax(-1).gather(-1, answers[..., None]).mean(),
    ),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
