"""What wrong shares of hits count: what is hidden, where a head looks, what is a hit, and of how many."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

Step = Callable[..., Tensor]


def _eye(w: Tensor) -> Tensor:
    return torch.eye(w.shape[-1], dtype=torch.bool)


def _places(w: Tensor) -> Tensor:
    return torch.arange(w.shape[-1])


def _asked(t: Tensor, look: Tensor) -> Tensor:
    return (t >= 0).expand(look.shape)


def _share(hits: Tensor, asked: Tensor) -> Tensor:
    return (hits * asked).sum(-1) / asked.sum(-1)


def share_with(
    weights: Tensor,
    targets: Tensor,
    *,
    hide: Step = lambda w: w.masked_fill(_eye(w), -1.0),
    look: Step = lambda w: w.argmax(-1),
    asked: Step = _asked,
    hit: Step = lambda look, t, w: look == t,
    share: Step = _share,
) -> Tensor:
    """The share of hits of each head with the steps given; without any it is right: (h,)."""
    others = hide(weights)
    places = look(others)
    real = asked(targets, places)
    hits = hit(places, targets, others)
    return share(hits.to(weights.dtype).expand(real.shape), real.to(weights.dtype)).to(weights.dtype)


def _on_target(w: Tensor, t: Tensor) -> Tensor:
    """The weight on the target, 0 where there is none: (h, n)."""
    index = t.clamp(min=0).expand(w.shape[:2])[..., None]
    return w.gather(-1, index)[..., 0] * (t >= 0)


def _without_own(w: Tensor) -> Tensor:
    """Places of the largest among the others, counted with a word's own left out."""
    n = w.shape[-1]
    return w[:, ~torch.eye(n, dtype=torch.bool)].view(len(w), n, n - 1).argmax(-1)


def _own_place(w: Tensor) -> Tensor:
    return w.argmax(-1)


_HIDES = (
    Way("A word's weight on itself is not left out.", lambda w: w),
    rare("All but a word's weight on itself is left out.", lambda w: w.masked_fill(~_eye(w), -1.0)),
    rare("Only what comes behind a word is looked at.", lambda w: w.triu(1)),
    rare("Only what comes before a word is looked at.", lambda w: w.tril(-1)),
    rare(
        "Word 0 is left out as a place to look at.",
        lambda w: w.masked_fill(_eye(w) | (_places(w) == 0), -1.0),
    ),
    Way(
        "The maps of all heads are averaged first.",
        lambda w: w.mean(0, keepdim=True).masked_fill(_eye(w), -1.0).expand_as(w),
    ),
)
_LOOKS = (
    Way("The largest of each column is looked for; rows are the words that look.", lambda w: w.argmax(-2)),
    Way(
        "The smallest weight of a row is looked for.", lambda w: w.abs().masked_fill(_eye(w), 9.0).argmin(-1)
    ),
    rare(
        "A word's own weight is cut out of the row, so that the places behind it move by one.", _without_own
    ),
    rare("The second largest weight is looked for.", lambda w: w.topk(2, -1).indices[..., 1]),
)
_ASKED = (
    Way("Words without a target are among those that are counted.", lambda t, look: torch.ones_like(look)),
    Way(
        "Words whose target is word 0 are left out: 0 is a position.",
        lambda t, look: (t > 0).expand(look.shape),
    ),
    rare("Only words without a target are counted.", lambda t, look: (t < 0).expand(look.shape)),
    rare("Word 0 is left out.", lambda t, look: ((t >= 0) & (torch.arange(len(t)) > 0)).expand(look.shape)),
    rare(
        "The last word is left out.",
        lambda t, look: ((t >= 0) & (torch.arange(len(t)) < len(t) - 1)).expand(look.shape),
    ),
    Way(
        "Words that look at themselves are left out; the next largest weight should be taken.",
        lambda t, look: (t >= 0) & (look != torch.arange(len(t))),
    ),
    Way(
        "All words that don't look at themselves are counted, those without a target too.",
        lambda t, look: look != torch.arange(len(t)),
    ),
)
_HITS = (
    Way("Misses are counted, not hits.", lambda look, t, w: look != t),
    Way("Targets are moved by one place to the left.", lambda look, t, w: look == t - 1),
    Way("Targets are moved by one place to the right.", lambda look, t, w: look == t + 1),
    rare("One place beside the target counts as a hit, too.", lambda look, t, w: (look - t).abs() <= 1),
    rare(
        "The distance is compared with the target's position.",
        lambda look, t, w: look - torch.arange(len(t)) == t,
    ),
    Way("Words without a target get word 0 for one.", lambda look, t, w: look == t.clamp(min=0)),
    Way("Words without a target count as hits.", lambda look, t, w: (look == t) | (t < 0)),
    Way("The two largest weights count.", lambda look, t, w: (w.topk(2, -1).indices == t[:, None]).any(-1)),
    rare(
        "The three largest weights count.", lambda look, t, w: (w.topk(3, -1).indices == t[:, None]).any(-1)
    ),
    Way(
        "It is asked whether the target looks at the word, not the word at the target.",
        lambda look, t, w: look[:, t.clamp(min=0)] == torch.arange(len(t)),
    ),
    Way("The weight on the target is averaged; a hit is 0 or 1.", lambda look, t, w: _on_target(w, t)),
    Way(
        "The weight on the target, made to sum to 1 without the word itself, is averaged; a hit is 0 or 1.",
        lambda look, t, w: _on_target(w.clamp(min=0) / w.clamp(min=0).sum(-1, keepdim=True), t),
    ),
    Way(
        "A hit is counted where the target has more than half of the weight.",
        lambda look, t, w: _on_target(w, t) > 0.5,
    ),
    rare("Everything at or before the target counts as a hit.", lambda look, t, w: look <= t),
    rare("Everything at or behind the target counts as a hit.", lambda look, t, w: look >= t),
    rare(
        "Hits are looked up at the targets' places, not at the words that have one.",
        lambda look, t, w: (look == t)[:, t],
    ),
    rare(
        "Places are compared with whether there is a target (True is 1), not with the target.",
        lambda look, t, w: look == (t >= 0),
    ),
)
_SHARES = (
    Way(
        "The hits are divided by all words, those without a target too.",
        lambda hits, asked: (hits * asked).sum(-1) / hits.shape[-1],
    ),
    Way("The hits are divided by n - 1.", lambda hits, asked: (hits * asked).sum(-1) / (hits.shape[-1] - 1)),
    rare(
        "The hits are divided by one word too many.",
        lambda hits, asked: (hits * asked).sum(-1) / (asked.sum(-1) + 1),
    ),
    rare(
        "The hits are divided by one word too few.",
        lambda hits, asked: (hits * asked).sum(-1) / (asked.sum(-1) - 1),
    ),
    rare(
        "The hits are divided by the number of heads.", lambda hits, asked: (hits * asked).sum(-1) / len(hits)
    ),
    rare("The hits are divided by h · n.", lambda hits, asked: (hits * asked).sum(-1) / hits.numel()),
    Way("The hits are not divided.", lambda hits, asked: (hits * asked).sum(-1)),
    Way("This is the share of misses.", lambda hits, asked: 1 - _share(hits, asked)),
    Way("These are per cent.", lambda hits, asked: 100 * _share(hits, asked)),
    Way(
        "The shares of the heads are averaged.",
        lambda hits, asked: _share(hits, asked).mean().expand(len(hits)),
    ),
    rare("The share is rounded down (`//`).", lambda hits, asked: (hits * asked).sum(-1) // asked.sum(-1)),
    rare(
        "The first head's share stands for all.",
        lambda hits, asked: _share(hits, asked)[:1].expand(len(hits)),
    ),
    rare(
        "Hits are divided by misses.",
        lambda hits, asked: (hits * asked).sum(-1) / ((1 - hits) * asked).sum(-1),
    ),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor], ...]:
    """Maps with many hits and targets for some of the words."""
    g = torch.Generator().manual_seed(23)
    drawn = []
    for h, n in ((3, 12), (2, 9), (5, 14)):
        places = (torch.arange(n) + torch.randint(1, n, (n,), generator=g)) % n
        scores = torch.randn(h, n, n, generator=g)
        scores[:, torch.arange(n), places] += 4 * torch.rand(h, n, generator=g)
        scores += torch.diag_embed(4 * torch.rand(h, n, generator=g))
        missing = torch.rand(n, generator=g) < 0.35
        drawn.append((scores.softmax(-1), places.masked_fill(missing, -1)))
    return tuple(drawn)


SHARES = Recipe(
    share_with,
    (
        Slot("hide", "what is left out before the largest weight is looked for.", _HIDES),
        Slot("look", "how the place of the largest weight is found.", _LOOKS),
        Slot("asked", "which words are counted.", _ASKED),
        Slot("hit", "what is compared with what.", _HITS),
        Slot("share", "the denominator.", _SHARES),
    ),
    _more,
)
