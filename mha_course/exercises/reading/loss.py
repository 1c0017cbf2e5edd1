"""What a wrong cross-entropy did: which words, which probability, which class, and what is averaged."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.mistakes.workbench import once
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

NONE = -100
Step = Callable[..., Tensor]


def _asked(answers: Tensor) -> Tensor:
    return answers != NONE


def _log_softmax(logits: Tensor, asked: Tensor) -> Tensor:
    return logits[asked].log_softmax(-1)


def _at_answer(log_p: Tensor, right: Tensor) -> Tensor:
    return log_p[torch.arange(len(right)), right % log_p.shape[-1]]


def _mean(values: Tensor, asked: Tensor, answers: Tensor) -> Tensor:
    return values.mean()


def loss_with(
    logits: Tensor,
    answers: Tensor,
    *,
    fill: Step = lambda answers, logits: answers,
    asked: Step = _asked,
    log_p: Step = _log_softmax,
    pick: Step = _at_answer,
    each: Step = torch.neg,
    reduce: Step = _mean,
    finish: Step = lambda loss: loss,
    whole: Step = lambda loss, logits, right: loss,
) -> Tensor:
    """The masked cross-entropy with the steps given; without any it is right: one number."""
    answers = once(fill, answers, logits)
    real = once(asked, answers)
    right = answers[real]
    values = once(each, once(pick, once(log_p, logits, real), right))
    return whole(finish(reduce(values, real, answers)), logits[real], right)


def _modulo(answers: Tensor, logits: Tensor) -> Tensor:
    return answers % logits.shape[-1]


def _by_sentence(values: Tensor, asked: Tensor, answers: Tensor) -> Tensor:
    parts = values.split(asked.sum(1).tolist())
    return torch.stack([part.mean() for part in parts if len(part)]).mean()


_FILLS = (
    Way("Places without an answer are judged as if class 0 were right there.", lambda a, x: a.clamp(min=0)),
    Way(
        "Places without an answer are judged as if the last class were right there.",
        lambda a, x: torch.where(a == NONE, x.shape[-1] - 1, a),
    ),
    rare("-100 is used as an index, counted from the end and round and round.", _modulo),
)
_ASKED = (
    Way("Words whose answer is class 0 are left out, too: 0 is a class.", lambda a: a > 0),
    Way("Only places without an answer are looked at.", lambda a: a == NONE),
    rare("The first word of every sentence is left out.", lambda a: _but(a, (slice(None), 0))),
    rare("The last word of every sentence is left out.", lambda a: _but(a, (slice(None), -1))),
    rare("Only the first sentence is looked at.", lambda a: _but(a, (slice(1, None),))),
    rare("Only the last sentence is looked at.", lambda a: _but(a, (slice(0, -1),))),
    rare(
        "Only the first word of each sentence is looked at.", lambda a: _but(a, (slice(None), slice(1, None)))
    ),
)


def _but(answers: Tensor, left_out: tuple[object, ...]) -> Tensor:
    asked = answers != NONE
    asked[left_out] = False
    return asked


_LOG_PS = (
    Way("The logits themselves are taken: there is no softmax.", lambda x, m: x[m]),
    Way("The probabilities are taken, without a logarithm.", lambda x, m: x[m].softmax(-1)),
    Way(
        "The softmax goes over the words that are asked. The classes of one word compete.",
        lambda x, m: x[m].log_softmax(0),
    ),
    Way(
        "The softmax goes over the words of the sentence. The classes of one word compete.",
        lambda x, m: x.log_softmax(1)[m],
    ),
    Way(
        "The softmax goes over the sentences. The classes of one word compete.",
        lambda x, m: x.log_softmax(0)[m],
    ),
    rare(
        "The softmax goes over all numbers of all words at once.",
        lambda x, m: x[m].flatten().log_softmax(0).view_as(x[m]),
    ),
    Way("The softmax is taken twice.", lambda x, m: x[m].softmax(-1).log_softmax(-1)),
    Way("A sigmoid stands for the softmax: classes do not compete.", lambda x, m: F.logsigmoid(x[m])),
    rare(
        "The sum of the logits is taken off, not the logarithm of the sum of their exponentials.",
        lambda x, m: x[m] - x[m].sum(-1, keepdim=True),
    ),
    rare(
        "The sum of the exponentials is taken off without a logarithm.",
        lambda x, m: x[m] - x[m].exp().sum(-1, keepdim=True),
    ),
    rare(
        "The largest logit is taken off, not the logarithm of the sum of the exponentials.",
        lambda x, m: x[m] - x[m].amax(-1, keepdim=True),
    ),
    rare(
        "The mean logit is taken off, not the logarithm of the sum of the exponentials.",
        lambda x, m: x[m] - x[m].mean(-1, keepdim=True),
    ),
    rare(
        "The logits are divided by the root of the number of classes.",
        lambda x, m: (x[m] / x.shape[-1] ** 0.5).log_softmax(-1),
    ),
    rare("The logits have the wrong sign.", lambda x, m: (-x[m]).log_softmax(-1)),
    Way("The logarithm is taken of 1 plus the probability.", lambda x, m: x[m].softmax(-1).log1p()),
    Way("The logarithm is taken of 1 minus the probability.", lambda x, m: (1 - x[m].softmax(-1)).log()),
    rare("The logits are halved (log softmax of x / 2).", lambda x, m: (x[m] / 2).log_softmax(-1)),
)
_PICKS = (
    Way("All classes are averaged; only the right one counts.", lambda lp, a: lp.mean(-1)),
    Way("All classes are added up; only the right one counts.", lambda lp, a: lp.sum(-1)),
    Way("The most probable class is taken, not the right one.", lambda lp, a: lp.amax(-1)),
    rare("The least probable class is taken, not the right one.", lambda lp, a: lp.amin(-1)),
    Way(
        "Every word is judged by the answers of all words (`[:, right]`).",
        lambda lp, a: lp[:, a % lp.shape[-1]].mean(-1),
    ),
    Way("The class behind the right one is taken.", lambda lp, a: _at_answer(lp, a + 1)),
    rare("The class before the right one is taken.", lambda lp, a: _at_answer(lp, a - 1)),
    rare("Class 0 is taken for every word.", lambda lp, a: lp[:, 0]),
    rare("The last class is taken for every word.", lambda lp, a: lp[:, -1]),
    Way(
        "The entropy of the prediction is taken: the answers have no part in it.",
        lambda lp, a: (lp.exp() * lp).sum(-1),
    ),
    rare(
        "The logarithm of the sum of exponentials is left alone, with its sign turned.",
        lambda lp, a: -lp.logsumexp(-1),
    ),
    rare("The answers are handed to the words in reverse order.", lambda lp, a: _at_answer(lp, a.flip(0))),
    Way("The answers are shifted by one word.", lambda lp, a: _at_answer(lp, a.roll(1, 0))),
    Way("The answers are shifted by one word.", lambda lp, a: _at_answer(lp, a.roll(-1, 0))),
)
_EACH = (
    Way("The minus is missing.", lambda v: v),
    Way("The probability itself stands there, with a minus.", lambda v: -v.exp()),
    Way("The probability itself stands there, not the logarithm.", lambda v: v.exp()),
    Way("1 minus the probability stands there, not the logarithm.", lambda v: 1 - v.exp()),
    rare("The logarithms are squared.", torch.square),
    rare("The loss is clamped to 0 ... 1.", lambda v: (-v).clamp(0, 1)),
)
_REDUCES = (
    Way("This is the sum; a mean over the words that are asked is wanted.", lambda v, m, a: v.sum()),
    Way(
        "The sum is divided by all places, those without an answer among them.",
        lambda v, m, a: v.sum() / a.numel(),
    ),
    Way("The sum is divided by the number of sentences, not of words.", lambda v, m, a: v.sum() / len(a)),
    Way("The sum is divided by n, the places of one sentence.", lambda v, m, a: v.sum() / a.shape[1]),
    rare("The sum is divided by one word too many.", lambda v, m, a: v.sum() / (len(v) + 1)),
    rare("The sum is divided by one word too few.", lambda v, m, a: v.sum() / (len(v) - 1)),
    Way("Each sentence is averaged first, then the sentences.", _by_sentence),
    rare("The median is taken, not the mean.", lambda v, m, a: v.median()),
    rare("The largest loss of a word is taken, not the mean.", lambda v, m, a: v.max()),
    rare("The smallest loss of a word is taken, not the mean.", lambda v, m, a: v.min()),
    rare("The loss of the first word stands for all.", lambda v, m, a: v[0]),
    rare("The loss of the last word stands for all.", lambda v, m, a: v[-1]),
    rare("The sum is divided by the root of the number of words.", lambda v, m, a: v.sum() / len(v) ** 0.5),
    rare("The spread of the losses is taken, not the mean.", lambda v, m, a: v.std()),
)
_FINISHES = (
    Way("This is the perplexity: the exponential of the loss.", torch.exp),
    Way("This is the loss in bits: it is divided by the logarithm of 2.", lambda loss: loss / math.log(2)),
    Way("The logarithm is the one to base 10.", lambda loss: loss / math.log(10)),
    Way("The logarithm is taken of the mean: probabilities are averaged first.", lambda loss: -loss.log()),
    rare("The root of the loss is taken at the end.", torch.sqrt),
    rare("The absolute value is taken at the end.", torch.abs),
)


def _per_class(loss: Tensor, x: Tensor, a: Tensor) -> Tensor:
    return loss / x.shape[-1]


def _one_hot(x: Tensor, a: Tensor) -> Tensor:
    return F.one_hot(a % x.shape[-1], x.shape[-1]).to(x.dtype)


def _accuracy(loss: Tensor, x: Tensor, a: Tensor) -> Tensor:
    return (x.argmax(-1) == a).to(x.dtype).mean()


_WHOLE = (
    Way("The loss is divided by the number of classes.", _per_class),
    rare(
        "The logarithm of the sum of exponentials is averaged; the right class has no part in it.",
        lambda loss, x, a: x.logsumexp(-1).mean(),
    ),
    rare("This is the share of words whose most probable class is right.", _accuracy),
    rare(
        "This is the share of words whose most probable class is wrong.",
        lambda loss, x, a: 1 - _accuracy(loss, x, a),
    ),
    rare(
        "This is the mean squared error of the probabilities.",
        lambda loss, x, a: ((x.softmax(-1) - _one_hot(x, a)) ** 2).mean(),
    ),
    rare(
        "This is the squared error of the probabilities, added up over the classes.",
        lambda loss, x, a: ((x.softmax(-1) - _one_hot(x, a)) ** 2).sum(-1).mean(),
    ),
    rare(
        "This is the binary cross-entropy of every class for itself.",
        lambda loss, x, a: F.binary_cross_entropy_with_logits(x, _one_hot(x, a)),
    ),
    *(
        rare(
            f"The answers are smoothed (`label_smoothing`, {share:g}); the right class alone counts.",
            lambda loss, x, a, share=share: F.cross_entropy(x, a, label_smoothing=share),
        )
        for share in (0.1, 0.05, 0.2)
    ),
)
LOSS = Recipe(
    loss_with,
    (
        Slot("fill", "what becomes of -100.", _FILLS),
        Slot("asked", "which words are looked at.", _ASKED),
        Slot("log_p", "how logits become logarithms of probabilities.", _LOG_PS),
        Slot("pick", "which class of each word is taken.", _PICKS),
        Slot("each", "what is done with the number of each word.", _EACH),
        Slot("reduce", "how many words become one number.", _REDUCES),
        Slot("finish", "the last step.", _FINISHES),
        Slot("whole", "what is computed: a loss, minus the logarithm of the right class.", _WHOLE),
    ),
)
