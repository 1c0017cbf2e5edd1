"""What wrong importances hold: the product, the sums, where the sign goes, and the mean."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_importance import IMPORTANCE_MISTAKES, importance_with
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_MEETS = (
    Way("The absolute values of the heads are taken first.", lambda heads, slopes: heads.abs() * slopes),
    Way("The absolute values of the slopes are taken first.", lambda heads, slopes: heads * slopes.abs()),
    Way("Heads and slopes are added. They are multiplied.", lambda heads, slopes: heads + slopes),
    Way("Heads and slopes are subtracted. They are multiplied.", lambda heads, slopes: heads - slopes),
    Way("The slopes are squared.", lambda heads, slopes: slopes**2),
    rare("Heads are divided by slopes.", lambda heads, slopes: heads / slopes),
    rare("Slopes are divided by heads.", lambda heads, slopes: slopes / heads),
    rare("Heads are multiplied by themselves.", lambda heads, slopes: heads * heads),
    rare("The slopes are used twice.", lambda heads, slopes: heads * slopes * slopes),
    rare("The heads are used twice.", lambda heads, slopes: heads * heads * slopes),
    rare(
        "The mean of each head is subtracted first.",
        lambda heads, slopes: (heads - heads.mean((0, 2), keepdim=True)) * slopes,
    ),
    rare("The tokens of the slopes are in reverse order.", lambda heads, slopes: heads * slopes.flip(2)),
)
_ADDS = (
    Way(
        "Only the features are added up, and the tokens averaged by their absolute values.",
        lambda p: p.sum(3).abs().mean(2),
    ),
    Way("Of each sentence only the first token is there.", lambda p: p[:, :, 0].sum(-1)),
    Way("Of each sentence only the last token is there.", lambda p: p[:, :, -1].sum(-1)),
    Way("The root of the sum of squares is taken within a sentence.", lambda p: (p**2).sum((2, 3)).sqrt()),
    Way("The squares are added up within a sentence.", lambda p: (p**2).sum((2, 3))),
    Way("Absolute values are averaged within a sentence.", lambda p: p.abs().mean((2, 3))),
    rare("The largest token of each sentence is taken.", lambda p: p.sum(3).amax(2)),
    rare("The largest absolute value of each sentence is taken.", lambda p: p.abs().amax((2, 3))),
    rare("The largest product of each sentence is taken.", lambda p: p.amax((2, 3))),
    rare("The sum is over heads and features, so that a number a token is left.", lambda p: p.sum((1, 3))),
    rare("The sum is over heads and tokens, so that a number a feature is left.", lambda p: p.sum((1, 2))),
    rare(
        "The sum is over sentences and features, so that a token is left for a sentence.",
        lambda p: p.sum((0, 3)).T,
    ),
    rare(
        "The sum is over sentences and tokens, so that a feature is left for a sentence.",
        lambda p: p.sum((0, 2)).T,
    ),
    rare("Only the features are added up.", lambda p: p.sum(3)),
    rare("Only the tokens are added up.", lambda p: p.sum(2)),
    rare("Nothing is added up.", lambda p: p),
    rare("Products are multiplied with one another, not added.", lambda p: p.prod(3).sum(2)),
    rare("The deviation within a sentence is taken.", lambda p: p.std((2, 3))),
    rare("All heads of a sentence are added up.", lambda p: p.sum((1, 2, 3))),
)
_POSITIVES = (
    Way("Negative slopes are set to 0.", lambda s: s.clamp(min=0)),
    Way("Positive slopes are set to 0.", lambda s: s.clamp(max=0).abs()),
    Way("A minus stands for the absolute value.", lambda s: -s),
    Way("The root of the absolute value is taken.", lambda s: s.abs().sqrt()),
    rare("The result has a minus.", lambda s: -s.abs()),
    rare("Only signs are left.", lambda s: s.sign()),
    rare("Only whether there is a slope is counted.", lambda s: (s != 0).to(s.dtype)),
    rare("The share of sentences with a positive slope is taken.", lambda s: (s > 0).to(s.dtype)),
    rare("The exponential is taken.", lambda s: s.exp()),
    rare("The logarithm of the absolute value is taken.", lambda s: s.abs().log()),
    rare(
        "Within each sentence the heads are divided by their norm.",
        lambda s: (s / s.norm(dim=1, keepdim=True)).abs(),
    ),
    rare(
        "Within each sentence the heads are divided by their sum.",
        lambda s: s.abs() / s.abs().sum(1, keepdim=True),
    ),
    rare("A softmax over the heads is taken.", lambda s: s.softmax(1)),
    rare("A softmax over the heads is taken of the absolute values.", lambda s: s.abs().softmax(1)),
)
_AVERAGES = (
    Way("The largest sentence stands for all.", lambda s, heads: s.amax(0)),
    Way("The smallest sentence stands for all.", lambda s, heads: s.amin(0)),
    Way("The median over the sentences is taken.", lambda s, heads: s.median(0).values),
    Way("The root of the mean square over the sentences is taken.", lambda s, heads: (s**2).mean(0).sqrt()),
    Way("The norm over the sentences is taken.", lambda s, heads: s.norm(dim=0)),
    Way("The deviation over the sentences is taken.", lambda s, heads: s.std(0)),
    rare("The first sentence stands for all.", lambda s, heads: s[0]),
    rare("The last sentence stands for all.", lambda s, heads: s[-1]),
    rare("The mean is over the heads: there is one number a sentence.", lambda s, heads: s.mean(1)),
    rare("The sum is over the heads: there is one number a sentence.", lambda s, heads: s.sum(1)),
    Way("The sum is divided by h, the number of heads.", lambda s, heads: s.sum(0) / heads.shape[1]),
    Way("The sum is divided by n, the number of tokens.", lambda s, heads: s.sum(0) / heads.shape[2]),
    Way("The sum is divided by d_v, the number of features.", lambda s, heads: s.sum(0) / heads.shape[3]),
    rare("The sum is divided by one sentence too few.", lambda s, heads: s.sum(0) / (len(s) - 1)),
    rare("The sum is divided by one sentence too many.", lambda s, heads: s.sum(0) / (len(s) + 1)),
    rare("The first sentence is left out of the mean.", lambda s, heads: s[1:].mean(0)),
    rare("The last sentence is left out of the mean.", lambda s, heads: s[:-1].mean(0)),
    rare("The mean is over the last axis.", lambda s, heads: s.mean(-1)),
    rare("The sum is over the last axis.", lambda s, heads: s.sum(-1)),
)
_FINISHES = (
    Way("The scores are divided by the largest one.", lambda s: s / s.max()),
    Way("A softmax over the heads is taken.", lambda s: s.softmax(-1)),
    Way("The mean of the scores is subtracted.", lambda s: s - s.mean()),
    rare("This is the root of what is asked for.", lambda s: s.sqrt()),
    rare("This is the square of what is asked for.", lambda s: s**2),
    rare("This is the logarithm of what is asked for.", lambda s: s.log()),
    rare("The scores are sorted, and no longer stand at their heads.", lambda s: s.sort().values),
    rare(
        "The scores are sorted, and no longer stand at their heads.", lambda s: s.sort(descending=True).values
    ),
    rare("These are ranks, not scores.", lambda s: s.argsort().argsort().to(torch.float32)),
    rare("This is an order of the heads, not their scores.", lambda s: s.argsort().to(torch.float32)),
    rare("All heads are added up. Each one has its own number.", lambda s: s.sum()),
    rare("Every head gets the mean of all heads.", lambda s: s.mean().expand_as(s)),
    rare("This is 1 over what is asked for.", lambda s: 1 / s),
    rare("1 is subtracted from it, or it from 1.", lambda s: 1 - s),
)
_WHOLES = (
    Way(
        "The lengths of heads and of slopes are multiplied. What counts is how far they point the same way.",
        lambda h, s: (h.flatten(2).norm(dim=2) * s.flatten(2).norm(dim=2)).mean(0),
    ),
    rare(
        "Heads and slopes are added up each for itself, and then multiplied. They meet number by number.",
        lambda h, s: (h.sum((2, 3)) * s.sum((2, 3))).abs().mean(0),
    ),
    rare(
        "This is the cosine of the angle between heads and slopes. How long both are counts, too.",
        lambda h, s: torch.cosine_similarity(h.flatten(2), s.flatten(2), dim=2).abs().mean(0),
    ),
    rare(
        "This is the cosine of the angle between heads and slopes. How long both are counts, too.",
        lambda h, s: torch.cosine_similarity(h.flatten(2), s.flatten(2), dim=2).mean(0),
    ),
    rare(
        "This is how long the slopes are. The heads are not used.",
        lambda h, s: s.flatten(2).norm(dim=2).mean(0),
    ),
    rare(
        "This is how long the heads are. The slopes are not used.",
        lambda h, s: h.flatten(2).norm(dim=2).mean(0),
    ),
    rare("This is the mean absolute slope. The heads are not used.", lambda h, s: s.abs().mean((0, 2, 3))),
    rare(
        "This is the mean absolute value of the heads. The slopes are not used.",
        lambda h, s: h.abs().mean((0, 2, 3)),
    ),
    rare(
        "Absolute values of heads and of slopes are added up, each for itself, and multiplied.",
        lambda h, s: (h.abs().sum((2, 3)) * s.abs().sum((2, 3))).mean(0),
    ),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor], ...]:
    """Heads and slopes of other sizes than in the cases."""
    g = torch.Generator().manual_seed(61)
    shapes = ((5, 3, 4, 6), (7, 2, 6, 3))
    return tuple((torch.randn(s, generator=g), torch.randn(s, generator=g)) for s in shapes)


_KNOWN = functools.partial(ways_of, IMPORTANCE_MISTAKES)
IMPORTANCE = Recipe(
    importance_with,
    (
        Slot("positive", "how the sign is taken away.", (*_KNOWN("positive"), *_POSITIVES)),
        Slot("add", "what is added up within a sentence.", (*_KNOWN("add"), *_ADDS)),
        Slot("average", "what is done over the sentences.", (*_KNOWN("average"), *_AVERAGES)),
        Slot("meet", "what becomes of heads and slopes.", (*_KNOWN("meet"), *_MEETS)),
        Slot("finish", "the last step.", (*_KNOWN("finish"), *_FINISHES)),
        Slot("whole", "heads and slopes meet number by number, and then are added up.", _WHOLES),
    ),
    _more,
)
