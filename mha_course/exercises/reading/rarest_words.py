"""What wrong shares for the rarest word count: where a head looks, what is rare, what is a hit, the share."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from mha_course.exercises.mistakes.of_rarest_words import RAREST_MISTAKES, on_rare, only_first, rarest_with
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare


def _share(hits: Tensor, asked: Tensor) -> Tensor:
    return (hits * asked).sum(-1) / asked.sum(-1)


_MAPS = (
    Way(
        "The rows are averaged before the largest weight is taken: each head then hits or not.",
        lambda w: w.mean(-2, keepdim=True).expand_as(w),
    ),
    rare("Only what comes before a word is looked at.", lambda w: w.tril(-1)),
    rare("Only what comes at or before a word is looked at.", lambda w: w.tril()),
    rare("All but a word's weight on itself is left out.", lambda w: w * torch.eye(w.shape[-1])),
)
_LOOKS = (
    Way("The smallest weight of a row is looked for.", lambda w: w.argmin(-1)),
    Way(
        "The largest weight of the whole map is looked for, not of each row.",
        lambda w: (w.flatten(1).argmax(-1, keepdim=True) % w.shape[-1]).expand(w.shape[:2]),
    ),
    rare("The second largest weight is looked for.", lambda w: w.topk(2, -1).indices[..., 1]),
    rare("The largest of all heads is looked for.", lambda w: w.argmax(0)[: len(w)]),
)
_RARE = (
    Way("Words are rare that occur less often than the mean.", lambda c: c < c.float().mean()),
    rare("Words are rare that occur less often than the median.", lambda c: c < c.median()),
    rare("Every word but the rarest counts as rare.", lambda c: c != c.min()),
    rare("Only words with a count of 0 are rare.", lambda c: c == 0),
    rare("Only the second rarest count is a hit.", lambda c: c == c.unique()[1]),
    rare("The second smallest entry of `counts` is compared with.", lambda c: c == c.sort().values[1]),
    rare("Only words with a count of 1 are rare.", lambda c: c == 1),
    rare(
        "Of several most frequent words only the first one is a hit; rare is the smallest count.",
        lambda c: only_first(c == c.max()),
    ),
    rare("The last word counts as the rarest.", lambda c: torch.arange(len(c)) == len(c) - 1),
    rare("Word 0 counts as the rarest.", lambda c: torch.arange(len(c)) == 0),
    rare(
        "The two rarest words are hits.", lambda c: torch.arange(len(c))[:, None].eq(c.argsort()[:2]).any(1)
    ),
)
_HITS = (
    Way(
        "The two largest weights count.",
        lambda look, r, w, c: r[w.topk(2, -1).indices].any(-1),
    ),
    rare("The three largest weights count.", lambda look, r, w, c: r[w.topk(3, -1).indices].any(-1)),
    rare(
        "Only where a word looks at itself it can be a hit.",
        lambda look, r, w, c: r[look] & (look == torch.arange(len(c))),
    ),
    rare("It is asked whether the word that looks is rare.", lambda look, r, w, c: r.expand(look.shape)),
    rare(
        "Where a word looks at one as rare as itself is counted, whatever that is.",
        lambda look, r, w, c: c[look] == c,
    ),
    rare(
        "The place of the largest weight is averaged; the share of hits is asked for.",
        lambda look, r, w, c: look,
    ),
    rare("Hits weigh as much as their weight.", lambda look, r, w, c: r[look] * w.amax(-1)),
    rare(
        "The weight on the first of the rarest words is averaged; a hit is 0 or 1.",
        lambda look, r, w, c: on_rare(look, only_first(r), w, c),
    ),
    rare(
        "Every weight above 1/n on a rare word is a hit.",
        lambda look, r, w, c: ((w > 1 / len(c)) & r).any(-1),
    ),
    rare(
        "The mean weight on a rare word is taken; a hit is 0 or 1.",
        lambda look, r, w, c: on_rare(look, r, w, c) / r.sum(),
    ),
    rare(
        "Compared is the word looked at with the one that looks, not with the rarest.",
        lambda look, r, w, c: c[look] < c,
    ),
    rare(
        "Compared is the word looked at with the one that looks, equals among the hits.",
        lambda look, r, w, c: c[look] <= c,
    ),
    rare(
        "A hit is counted where one rare word alone has more than half of the weight.",
        lambda look, r, w, c: ((w > 0.5) & r).any(-1),
    ),
    rare(
        "A place is compared with whether a word is rare (True is 1).",
        lambda look, r, w, c: look == r,
    ),
    rare(
        "The largest weight on a rare word is averaged; a hit is 0 or 1.",
        lambda look, r, w, c: (w * r).amax(-1),
    ),
    rare("The smallest count stands for a place.", lambda look, r, w, c: c.min() == look),
)
_ASKED = (
    Way("Rows that look at themselves are left out.", lambda r, look: look != torch.arange(len(r))),
    rare("Only the rows of the rarest words are counted.", lambda r, look: r.expand(look.shape)),
    rare("Row 0 is left out.", lambda r, look: (torch.arange(len(r)) > 0).expand(look.shape)),
    rare("The last row is left out.", lambda r, look: (torch.arange(len(r)) < len(r) - 1).expand(look.shape)),
    rare(
        "The row of the first of the rarest words is left out.",
        lambda r, look: (~only_first(r)).expand(look.shape),
    ),
)
_SHARES = (
    Way("The hits are divided by n - 1.", lambda h, a: (h * a).sum(-1) / (h.shape[-1] - 1)),
    rare("The hits are divided by n + 1.", lambda h, a: (h * a).sum(-1) / (h.shape[-1] + 1)),
    rare("The hits are divided by all rows.", lambda h, a: (h * a).sum(-1) / h.shape[-1]),
    rare("The hits are divided by the number of heads.", lambda h, a: (h * a).sum(-1) / len(h)),
    rare("The hits are divided by h · n.", lambda h, a: (h * a).sum(-1) / h.numel()),
    rare("The hits are divided by n · n.", lambda h, a: (h * a).sum(-1) / h.shape[-1] ** 2),
    Way("This is the share of misses.", lambda h, a: 1 - _share(h, a)),
    Way("These are per cent.", lambda h, a: 100 * _share(h, a)),
    Way("The shares of the heads are averaged.", lambda h, a: _share(h, a).mean().expand(len(h))),
    Way("The shares of the heads are averaged to one number.", lambda h, a: _share(h, a).mean()),
    rare("The heads are averaged, and there is one number a row.", lambda h, a: h.mean(0)),
    rare("Rows are not averaged: there is one number for each head and row.", lambda h, a: h),
    rare("The first head's share stands for all.", lambda h, a: _share(h, a)[:1].expand(len(h))),
    rare("Hits are divided by misses.", lambda h, a: (h * a).sum(-1) / ((1 - h) * a).sum(-1)),
    rare("The share is rounded down (`//`).", lambda h, a: (h * a).sum(-1) // a.sum(-1)),
    rare("The heads' shares are sorted.", lambda h, a: _share(h, a).sort().values),
    rare("It says whether there is a hit, not how many.", lambda h, a: (h * a).amax(-1)),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, Tensor], ...]:
    """Sentences with one rarest word, with two, and with three that were never seen."""
    g = torch.Generator().manual_seed(41)
    drawn = []
    for h, counts in (
        (3, [50, 8, 8, 2, 90, 30, 71, 12, 6, 300, 45]),
        (5, [7, 7, 220, 30, 64, 9, 510, 12, 33]),
        (2, [14, 0, 5, 0, 66, 81, 0, 230, 5, 9, 70, 31]),
    ):
        n = len(counts)
        c = torch.tensor(counts)
        scores = torch.randn(h, n, n, generator=g) + 3 * torch.rand(h, n, 1, generator=g) * (c == c.min())
        scores += torch.diag_embed(3 * torch.rand(h, n, generator=g))
        drawn.append((scores.softmax(-1), c))
    return tuple(drawn)


RAREST = Recipe(
    rarest_with,
    (
        Slot("rare", "which words count as the rarest.", (*ways_of(RAREST_MISTAKES, "rare"), *_RARE)),
        Slot(
            "look",
            "how the place of the largest weight is found.",
            (*ways_of(RAREST_MISTAKES, "look"), *_LOOKS),
        ),
        Slot("hit", "what is compared with what.", (*ways_of(RAREST_MISTAKES, "hit"), *_HITS)),
        Slot("asked", "which rows are counted.", (*ways_of(RAREST_MISTAKES, "asked"), *_ASKED)),
        Slot("share", "what the hits are divided by.", (*ways_of(RAREST_MISTAKES, "share"), *_SHARES)),
        Slot("maps", "what is done with the maps first.", (*ways_of(RAREST_MISTAKES, "maps"), *_MAPS)),
    ),
    _more,
)
