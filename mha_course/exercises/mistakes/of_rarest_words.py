"""Known mistakes of `rarest_word_share`: which word is rare, ties, the word itself, the share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Tensor]


def rarest_with(
    weights: Tensor,
    counts: Tensor,
    *,
    maps: Step = lambda w: w,
    look: Step = lambda w: w.argmax(-1),
    rare: Step = lambda counts: counts == counts.min(),
    hit: Step = lambda look, rare, w, counts: rare[look],
    asked: Step = lambda rare, look: torch.ones_like(look, dtype=torch.bool),
    share: Step = lambda hits, asked: (hits * asked).sum(-1) / asked.sum(-1),
) -> Tensor:
    """The share of rows that look at the rarest word with the steps given; right without any: (h,)."""
    w = maps(weights)
    wanted, places = rare(counts), look(w)
    hits = hit(places, wanted, w, counts).to(weights.dtype)
    return share(hits, asked(wanted, places).to(weights.dtype)).to(weights.dtype)


def only_first(rare: Tensor) -> Tensor:
    """Of the places that are True the first alone."""
    return rare & (rare.cumsum(0) == 1)


def on_rare(look: Tensor, rare: Tensor, w: Tensor, counts: Tensor) -> Tensor:
    """The weight on all the rarest words together: (h, n)."""
    return (w * rare).sum(-1)


def _two_rarest(counts: Tensor) -> Tensor:
    return counts <= counts.unique()[:2][-1]


def _own_hidden(w: Tensor) -> Tensor:
    return w.masked_fill(torch.eye(w.shape[-1], dtype=torch.bool), -1.0)


_with = partial(Otherwise, rarest_with)

RAREST_MISTAKES = (
    Mistake(
        "most-frequent",
        _with(rare=lambda counts: counts == counts.max()),
        "The most frequent word is looked for. Rare is the one with the smallest count.",
        "`max` and `min`.",
    ),
    Mistake(
        "first-of-equals",
        _with(rare=lambda counts: only_first(counts == counts.min())),
        "Of several equally rare words only the first one is a hit.",
        "`argmin`, which gives one place.",
    ),
    Mistake(
        "last-of-equals",
        _with(rare=lambda counts: only_first((counts == counts.min()).flip(0)).flip(0)),
        "Of several equally rare words only the last one is a hit.",
        "how the rarest word is found where several are.",
    ),
    Mistake(
        "two-rarest",
        _with(rare=_two_rarest),
        "The second rarest count is a hit, too.",
        "how many words count as the rarest.",
    ),
    Mistake(
        "zeros-left-out",
        _with(rare=lambda counts: counts == counts[counts > 0].min()),
        "Words with a count of 0 are left out. A word that was never seen is the rarest of all.",
        "what is done with counts of 0.",
    ),
    Mistake(
        "columns-for-rows",
        _with(look=lambda w: w.argmax(-2)),
        "For each word the row that looks at it most is taken. Rows are the words that look.",
        "the axis of the argmax.",
    ),
    Mistake(
        "own-weight-left-out",
        _with(maps=_own_hidden),
        "A word's weight on itself is left out. Here a word may look at itself.",
        "the diagonal.",
    ),
    Mistake(
        "rarest-rows-left-out",
        _with(asked=lambda rare, look: ~rare.expand(look.shape)),
        "The rows of the rarest words are not counted. They may look at themselves, and count as others do.",
        "which rows are counted.",
    ),
    Mistake(
        "hits-counted",
        _with(share=lambda hits, asked: (hits * asked).sum(-1)),
        "These are numbers of hits. A share is asked for.",
        "what comes after counting.",
    ),
    Mistake(
        "weight-for-hits",
        _with(hit=on_rare),
        "This is the mean weight on the rarest words. Asked for is how often the largest weight lies there.",
        "how a row becomes a hit.",
    ),
    Mistake(
        "more-than-half",
        _with(hit=lambda look, rare, w, counts: on_rare(look, rare, w, counts) > 0.5),
        "A hit is counted only where the rarest words have more than half of the weight.",
        "when a row counts as a hit.",
    ),
    Mistake(
        "misses-counted",
        _with(hit=lambda look, rare, w, counts: ~rare[look]),
        "This is the share of misses.",
        "the comparison.",
    ),
    Mistake(
        "heads-averaged-first",
        _with(maps=lambda w: w.mean(0, keepdim=True).expand_as(w)),
        "The maps of all heads are averaged before the largest weight is taken, so all get the same share.",
        "where the head axis goes.",
    ),
    Mistake(
        "mean-count",
        _with(hit=lambda look, rare, w, counts: counts[look]),
        "This is the mean count of the words that are looked at. The share of hits is asked for.",
        "what `counts` at the place of the largest weight is compared with.",
    ),
    Mistake(
        "count-for-place",
        _with(hit=lambda look, rare, w, counts: look == counts.min()),
        "A place in the sentence is compared with a count. These are different things.",
        "what stands on both sides of `==`.",
    ),
)
