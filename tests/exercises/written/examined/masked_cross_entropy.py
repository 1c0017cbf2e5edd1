"""masked_cross_entropy: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F


def flat(logits, a):
    logits, a = (logits.flatten(0, 1), a.flatten())
    k = a >= 0
    return (logits[k], a[k])


def loop(logits, a):
    t = 0.0
    n = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] != -100:
                t = t - torch.log(logits[i, j].exp()[a[i, j]] / logits[i, j].exp().sum())
                n += 1
    return t / n


def gat(logits, a):
    m = a != -100
    lp = logits.log_softmax(-1).gather(-1, a.clamp(min=0)[..., None])[..., 0]
    return -(lp * m).sum() / m.sum()


def npx(logits, a):
    logits, a = (logits.numpy(), a.numpy())
    m = a != -100
    x = logits[m]
    x = x - x.max(1, keepdims=True)
    lp = x - np.log(np.exp(x).sum(1, keepdims=True))
    return torch.tensor(-lp[np.arange(len(lp)), a[m]].mean())


def lp(logits, a, d=-1):
    return logits.log_softmax(d).gather(-1, a.clamp(min=0)[..., None])[..., 0]


def M(a):
    return a != -100


def W(f):
    return lambda logits, a: f(logits, a, lp(logits, a), M(a))


WRONG = [
    ("padding-in-the-mean", W(lambda logits, a, p, m: -(p * m).sum() / a.numel())),
    ("padding-as-class-0", W(lambda logits, a, p, m: -p.mean())),
    ("sum-for-mean", W(lambda logits, a, p, m: -(p * m).sum())),
    ("sign-forgotten", W(lambda logits, a, p, m: p[m].mean())),
    ("probabilities-for-logarithms", W(lambda logits, a, p, m: -p.exp()[m].mean())),
    ("base-two", W(lambda logits, a, p, m: -p[m].mean() / math.log(2))),
    ("mean-by-sentence", W(lambda logits, a, p, m: (-(p * m).sum(1) / m.sum(1)).mean())),
    ("softmax-over-words", lambda logits, a: -lp(logits, a, 1)[M(a)].mean()),
    ("softmax-over-sentences", lambda logits, a: -lp(logits, a, 0)[M(a)].mean()),
    (
        "logits-for-log-probabilities",
        lambda logits, a: -flat(logits, a)[0].gather(1, flat(logits, a)[1][:, None]).mean(),
    ),
    ("softmax-twice", lambda logits, a: gat(logits.softmax(-1), a)),
    ("softmax-twice", lambda logits, a: gat(logits.log_softmax(-1).exp(), a)),
    ("padding-as-class-0", lambda logits, a: gat(logits, a.clamp_(min=0))),
]

RIGHT = [
    loop,
    gat,
    npx,
    lambda logits, a: (
        flat(logits, a)[0].logsumexp(1) - flat(logits, a)[0].gather(1, flat(logits, a)[1][:, None])[:, 0]
    ).mean(),
    lambda logits, a: F.nll_loss(logits.log_softmax(-1).transpose(1, 2), a),
    lambda logits, a: (
        -(F.one_hot(flat(logits, a)[1], logits.shape[-1]) * flat(logits, a)[0].log_softmax(-1)).sum()
        / len(flat(logits, a)[1])
    ),
]

UNLISTED = [
    (
        "The probability itself stands there, not the logarithm\\.",
        W(lambda logits, a, p, m: p.exp()[m].mean()),
    ),
    (
        "1 minus the probability stands there, not the logarithm\\.",
        W(lambda logits, a, p, m: 1 - p.exp()[m].mean()),
    ),
    (
        "The probability itself stands there, not the logarithm\\. And: The",
        W(lambda logits, a, p, m: -p.exp()[m].mean().log()),
    ),
    ("The logarithm is the one to base 10\\.", W(lambda logits, a, p, m: -p[m].mean() / math.log(10))),
    (
        "This is the perplexity: the exponential of the loss\\.",
        W(lambda logits, a, p, m: (-p[m].mean()).exp()),
    ),
    (
        "One number is wanted; yours has shape `\\(3,\\)`\\. There is one axis too",
        W(lambda logits, a, p, m: -(p * m).sum(1) / m.sum(1)),
    ),
    ("One number is wanted; yours has shape `\\(3, 6\\)`\\.", W(lambda logits, a, p, m: -p * m)),
    (
        "The sum is divided by the number of sentences, not of words\\.",
        W(lambda logits, a, p, m: -(p * m).sum() / len(a)),
    ),
    ("The loss is divided by the number of classes\\.", lambda logits, a: gat(logits, a) / logits.shape[-1]),
    (
        "The sum is divided by n, the places of one sentence\\.",
        W(lambda logits, a, p, m: -(p * m).sum() / a.shape[1]),
    ),
    (
        "The softmax goes over the words that are asked\\. The classes of one",
        lambda logits, a: (
            -flat(logits, a)[0]
            .log_softmax(0)[torch.arange(len(flat(logits, a)[1])), flat(logits, a)[1]]
            .mean()
        ),
    ),
    (
        "All classes are averaged; only the right one counts\\.",
        lambda logits, a: -flat(logits, a)[0].log_softmax(-1).mean(),
    ),
    (
        "The entropy of the prediction is taken: the answers have no part in",
        lambda logits, a: (
            -(flat(logits, a)[0].softmax(-1) * flat(logits, a)[0].log_softmax(-1)).sum(-1).mean()
        ),
    ),
    (
        "The most probable class is taken, not the right one\\.",
        lambda logits, a: -flat(logits, a)[0].log_softmax(-1).max(-1).values.mean(),
    ),
    (
        "-100 is used as an index, counted from the end and round and round\\.",
        lambda logits, a: -logits.log_softmax(-1).gather(-1, (a % logits.shape[-1])[..., None]).mean(),
    ),
    (
        "For a single word with the logits 2, 0, 1 and the answer 0 the loss",
        W(lambda logits, a, p, m: -p[~m].mean() if (~m).any() else torch.tensor(0.0)),
    ),
    (
        "Words whose answer is class 0 are left out, too: 0 is a class\\.",
        W(lambda logits, a, p, m: -p[a > 0].mean()),
    ),
    (
        "The class behind the right one is taken\\.",
        lambda logits, a: gat(logits, torch.where(M(a), (a + 1) % logits.shape[-1], a)),
    ),
    (
        "The first word of every sentence is left out\\.",
        W(lambda logits, a, p, m: -p[:, 1:][m[:, 1:]].mean()),
    ),
    ("Only the first sentence is looked at\\.", W(lambda logits, a, p, m: -p[0][m[0]].mean())),
    (
        "This is the share of words whose most probable class is right\\.",
        lambda logits, a: (flat(logits, a)[0].argmax(1) == flat(logits, a)[1]).float().mean(),
    ),
    (
        "This is the share of words whose most probable class is wrong\\.",
        lambda logits, a: 1 - (flat(logits, a)[0].argmax(1) == flat(logits, a)[1]).float().mean(),
    ),
    (
        "This is the mean squared error of the probabilities\\.",
        lambda logits, a: (
            (flat(logits, a)[0].softmax(-1) - F.one_hot(flat(logits, a)[1], logits.shape[-1])) ** 2
        ).mean(),
    ),
    (
        "This is the squared error of the probabilities, added up over the",
        lambda logits, a: (
            ((flat(logits, a)[0].softmax(-1) - F.one_hot(flat(logits, a)[1], logits.shape[-1])) ** 2)
            .sum(-1)
            .mean()
        ),
    ),
    (
        "This is the binary cross-entropy of every class for itself\\.",
        lambda logits, a: F.binary_cross_entropy_with_logits(
            flat(logits, a)[0], F.one_hot(flat(logits, a)[1], logits.shape[-1]).to(logits.dtype)
        ),
    ),
    (
        "The answers are smoothed \\(`label_smoothing`, 0\\.1\\); the right class",
        lambda logits, a: F.cross_entropy(flat(logits, a)[0], flat(logits, a)[1], label_smoothing=0.1),
    ),
    ("The logarithms are squared\\.", W(lambda logits, a, p, m: (p[m] ** 2).mean())),
    ("The median is taken, not the mean\\.", W(lambda logits, a, p, m: (-p[m]).median())),
    ("The largest loss of a word is taken, not the mean\\.", W(lambda logits, a, p, m: (-p[m]).max())),
    (
        "Every word is judged by the answers of all words \\(`\\[:, right\\]`\\)\\.",
        lambda logits, a: -flat(logits, a)[0].log_softmax(-1)[:, flat(logits, a)[1]].mean(),
    ),
    (
        "The logits themselves are taken: there is no softmax\\. And: All",
        lambda logits, a: -flat(logits, a)[0].exp().log().mean(),
    ),
    (
        "The numbers are right\\. The result is a number; a tensor is wanted\\.",
        lambda logits, a: float(gat(logits, a)),
    ),
    (
        "One number is wanted; yours has shape `\\(1,\\)`\\. There is one axis too",
        lambda logits, a: gat(logits, a)[None],
    ),
    (
        "The numbers are right\\. The dtype is `torch\\.float16`, the inputs have",
        lambda logits, a: torch.tensor(float(gat(logits, a))) if False else gat(logits, a).half(),
    ),
    (
        "A sigmoid stands for the softmax: classes do not compete\\.",
        lambda logits, a: -F.logsigmoid(flat(logits, a)[0]).gather(1, flat(logits, a)[1][:, None]).mean(),
    ),
    ("stops with an error", lambda logits, a: -logits.log_softmax(-1)[a].mean()),
    (
        "The function changes its argument `answers`; whoever called it loses",
        lambda logits, a: (
            lambda k: (
                gat(logits, a.masked_fill_(~k, -100))
                if False
                else -logits.log_softmax(-1).gather(-1, a.masked_fill_(~k, 0)[..., None])[..., 0][k].mean()
            )
        )(a != -100),
    ),
    (
        "The logarithm of the sum of exponentials is averaged; the right class",
        lambda logits, a: flat(logits, a)[0].logsumexp(-1).mean(),
    ),
    ("The sum is divided by one word too many\\.", W(lambda logits, a, p, m: -(p * m).sum() / (m.sum() + 1))),
    (
        "The sum of the logits is taken off, not the logarithm of the sum of",
        lambda logits, a: (
            -(flat(logits, a)[0] - flat(logits, a)[0].sum(1, keepdim=True))
            .gather(1, flat(logits, a)[1][:, None])
            .mean()
        ),
    ),
    (
        "The logits are divided by the root of the number of classes\\.",
        lambda logits, a: gat(logits / math.sqrt(logits.shape[-1]), a),
    ),
    (
        "The logarithm is taken of 1 plus the probability\\.",
        W(lambda logits, a, p, m: -p.exp()[m].log1p().mean()),
    ),
    (
        "With an answer for the first of two words only the loss should be",
        W(lambda logits, a, p, m: gat(logits * m[..., None], a.clamp(min=0))),
    ),
]
