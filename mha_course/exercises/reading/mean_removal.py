"""What wrong means of a head hold: another head, another mean, another place."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_mean_removal import (
    MEAN_REMOVAL_MISTAKES,
    in_its_place,
    mean_removal_with,
    per_sentence,
)
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare


def _place_by_place(head: Tensor, real: Tensor) -> Tensor:
    kept = real[..., None].to(head.dtype)
    return (head * kept).sum(0) / kept.sum(0)


_WHICH = (
    Way("This is the head after: `i` is the index as it is, and nothing is added.", lambda i, h: (i + 1) % h),
    rare("Heads are counted from the end.", lambda i, h: h - 1 - i),
    rare("It is the first head, whatever `i` is.", lambda i, h: 0),
    rare("It is the last head, whatever `i` is.", lambda i, h: h - 1),
    rare("Minus `i` is used as the index.", lambda i, h: -i),
)
_TAKEN = (
    Way("The mean is the next head's.", lambda heads, i: heads[:, (i + 1) % heads.shape[1]]),
    Way("The mean is the first head's, whatever `i` is.", lambda heads, i: heads[:, 0]),
    Way("The mean is the last head's, whatever `i` is.", lambda heads, i: heads[:, -1]),
    rare("The mean is that of the head before.", lambda heads, i: heads[:, i - 1]),
    rare(
        "The mean is over the sentence with the index `i`, padding too. `real` is not used.",
        lambda heads, i: heads[i, i].mean(0).expand_as(heads[:, i]),
    ),
    Way("All heads are added up before the mean is taken.", lambda heads, i: heads.sum(1)),
    Way(
        "The mean is over the other heads.",
        lambda heads, i: (heads.sum(1) - heads[:, i]) / (heads.shape[1] - 1),
    ),
)
_AVERAGES = (
    Way("The mean is over the first sentence only.", lambda head, real: head[0][real[0]].mean(0)),
    Way("The mean is over the last sentence only.", lambda head, real: head[-1][real[-1]].mean(0)),
    Way(
        "The means of the sentences are averaged, each over all its places, padding too.",
        lambda head, real: head.mean(1)[:, None],
    ),
    Way(
        "Each place in a sentence has a mean of its own, over the sentences that reach it.",
        lambda head, real: _place_by_place(head, real).nan_to_num(0.0),
    ),
    rare(
        "Each place in a sentence has a mean of its own, over the sentences that reach it.", _place_by_place
    ),
    Way("The mean is over the features of each token.", lambda head, real: head.mean(-1, keepdim=True)),
    Way("The mean is one number, over tokens, features and padding.", lambda head, real: head.mean()),
    Way("The median is taken. The mean is asked for.", lambda head, real: head[real].median(0).values),
    Way("The largest number of each feature is taken.", lambda head, real: head[real].amax(0)),
    Way("The smallest number of each feature is taken.", lambda head, real: head[real].amin(0)),
    rare("The first token stands for all.", lambda head, real: head[0, 0]),
    rare("The first token of each sentence stands for all of it.", lambda head, real: head[:, :1]),
    rare("All places are added up, padding too.", lambda head, real: head.sum((0, 1))),
    rare(
        "The sum over real tokens is divided by one too few.",
        lambda head, real: head[real].sum(0) / (real.sum() - 1),
    ),
    rare(
        "The sum over real tokens is divided by the number of sentences.",
        lambda head, real: head[real].sum(0) / len(real),
    ),
    rare(
        "The sum over real tokens is divided by n, the number of places in one sentence.",
        lambda head, real: head[real].sum(0) / real.shape[1],
    ),
    rare(
        "The sum over all places is divided by the number of real tokens.",
        lambda head, real: head.sum((0, 1)) / real.sum(),
    ),
    rare("The numbers are 1 instead of the mean.", lambda head, real: torch.ones_like(head[0, 0])),
    rare("The deviation over real tokens is taken.", lambda head, real: head[real].std(0)),
    rare(
        "Each sentence has the sum over its own real tokens, divided by n.",
        lambda head, real: (head * real[..., None]).mean(1)[:, None],
    ),
    rare(
        "Each sentence has the sum over its own real tokens.",
        lambda head, real: (head * real[..., None]).sum(1)[:, None],
    ),
    rare(
        "The sentences are averaged place by place, padding counted as 0.",
        lambda head, real: (head * real[..., None]).mean(0),
    ),
    rare(
        "The means are those of the sentences, in reverse order.",
        lambda h, r: per_sentence(h, r).flip(0)[:, None],
    ),
)


def _only_padding(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    return torch.where(real[:, None, :, None], heads, in_its_place(heads, real, i, mean))


def _added(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    return in_its_place(heads, real, i, heads[:, i] + mean)


def _half(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    return in_its_place(heads, real, i, (heads[:, i] + mean) / 2)


def _times(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    return in_its_place(heads, real, i, heads[:, i] * mean)


def _one_sentence(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    replaced = heads.clone()
    replaced[0, i] = mean
    return replaced


def _all_but(heads: Tensor, real: Tensor, i: int, mean: Tensor) -> Tensor:
    replaced = torch.zeros_like(heads) + mean
    replaced[:, i] = heads[:, i]
    return replaced


_PUTS = (
    Way("Only padding is replaced; real tokens are as they were.", _only_padding),
    Way("The mean is added to the head. It should stand in its place.", _added),
    Way("The head is halfway between itself and its mean.", _half),
    Way("Head and mean are multiplied.", _times),
    Way("Only the first sentence is changed.", _one_sentence),
    Way("Every head gets the mean of head `i`.", lambda heads, real, i, mean: torch.zeros_like(heads) + mean),
    Way("Every head but head `i` gets its mean.", _all_but),
    Way("Only head `i` comes back, without the others.", lambda h, r, i, m: in_its_place(h, r, i, m)[:, i]),
    rare("Nothing is replaced.", lambda heads, real, i, mean: heads),
    rare(
        "Head `i` is left out of the result.",
        lambda heads, real, i, mean: torch.cat([heads[:, :i], heads[:, i + 1 :]], 1),
    ),
    rare("It is the sentence with the index `i` that is replaced.", lambda h, r, i, m: _sentence(h, i, m)),
    rare("It is the token with the index `i` that is replaced.", lambda h, r, i, m: _token(h, i, m)),
    rare("Every number of head `i` is `i` itself.", lambda h, r, i, m: in_its_place(h, r, i, m * 0 + i)),
    rare("The mean alone comes back.", lambda heads, real, i, mean: mean),
)


def _sentence(heads: Tensor, i: int, mean: Tensor) -> Tensor:
    replaced = heads.clone()
    replaced[i] = mean
    return replaced


def _token(heads: Tensor, i: int, mean: Tensor) -> Tensor:
    replaced = heads.clone()
    replaced[:, :, i] = mean
    return replaced


_FINISHES = (
    Way("Padding is set to 0 in every head.", lambda y, heads, real, i: y * real[:, None, :, None]),
    rare("The change alone comes back.", lambda y, heads, real, i: y - heads),
    rare("The other heads are at their means over all places, too.", lambda y, heads, real, i: _others(y, i)),
)


def _others(y: Tensor, i: int) -> Tensor:
    replaced = y.mean((0, 2), keepdim=True).expand_as(y).clone()
    replaced[:, i] = y[:, i]
    return replaced


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor, int], ...]:
    """Heads of other sizes than in the cases, with padding."""
    g = torch.Generator().manual_seed(59)
    drawn = []
    for h, d_v, lengths, i in ((3, 4, (2, 6), 1), (4, 2, (5, 3, 8), 0), (2, 6, (7, 5, 4, 3), 1)):
        n = max(lengths) + 1
        real = torch.arange(n) < torch.tensor(lengths)[:, None]
        drawn.append((1 + torch.randn(len(lengths), h, n, d_v, generator=g), real, i))
    return tuple(drawn)


_KNOWN = functools.partial(ways_of, MEAN_REMOVAL_MISTAKES)
MEAN_REMOVAL = Recipe(
    mean_removal_with,
    (
        Slot("average", "which numbers the mean is over.", (*_KNOWN("average"), *_AVERAGES)),
        Slot("put", "what is replaced, and by what.", (*_KNOWN("put"), *_PUTS)),
        Slot("which", "the index of the head.", (*_KNOWN("which"), *_WHICH)),
        Slot("taken", "of which head the mean is.", (*_KNOWN("taken"), *_TAKEN)),
        Slot("finish", "what is done with the others.", _FINISHES),
    ),
    _more,
)
