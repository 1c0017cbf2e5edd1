"""Known mistakes of `offset_score`: special pieces that stay, the side, the edges, what counts as a hit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Tensor]
# What is left of the maps, which rows count, and which targets do.
Taken = tuple[Tensor, Tensor, Tensor]


def cut(weights: Tensor, special: Tensor) -> Taken:
    """Special pieces out of the rows and out of the columns."""
    kept = ~special
    w = weights[:, kept][:, :, kept]
    every = torch.ones(w.shape[-1], dtype=torch.bool)
    return w, every, every


def _within(t: Tensor, n: int, q: Tensor, offset: int) -> Tensor:
    return (t >= 0) & (t < n)


def offset_score_with(
    weights: Tensor,
    offset: int,
    special: Tensor,
    *,
    take: Callable[[Tensor, Tensor], Taken] = cut,
    maps: Step = lambda w: w,
    look: Step = lambda w: w.argmax(-1),
    place: Step = lambda q, o, n: q + o,
    aim: Step = lambda t, n: t,
    live: Step = _within,
    hit: Step = lambda look, t, w, q: look == t,
    share: Step = lambda hits, live, o: hits[:, live].mean(-1),
    finish: Step = lambda shares, counted, special: shares,
) -> Tensor:
    """The share of rows that look `offset` places away with the steps given; right without any: (h,)."""
    w, rows, targets = take(weights, special)
    w = maps(w)
    n = w.shape[-1]
    q = torch.arange(n)
    t = place(q, offset, n)
    hits = hit(look(w), aim(t, n), w, q).to(weights.dtype)
    counted = live(t, n, q, offset) & rows & targets[t.clamp(0, n - 1)]
    return finish(share(hits, counted, offset), counted, special).to(weights.dtype)


def on_target(look: Tensor, t: Tensor, w: Tensor, q: Tensor) -> Tensor:
    """The weight on the target, 0 beyond the ends: (h, n)."""
    n = w.shape[-1]
    index = t.clamp(0, n - 1).expand(w.shape[:2])[..., None]
    return w.gather(-1, index)[..., 0] * ((t >= 0) & (t < n))


def _nothing_cut(weights: Tensor, special: Tensor) -> Taken:
    every = torch.ones_like(special)
    return weights, every, every


def _columns_kept(weights: Tensor, special: Tensor) -> Taken:
    return weights, ~special, ~special


def _rows_kept(weights: Tensor, special: Tensor) -> Taken:
    every = torch.ones_like(special)
    return weights.masked_fill(special, -1.0), every, every


def _other_way(weights: Tensor, special: Tensor) -> Taken:
    return cut(weights, ~special)


_with = partial(Otherwise, offset_score_with)

OFFSET_SCORE_MISTAKES = (
    Mistake(
        "special-kept",
        _with(take=_nothing_cut),
        "The special pieces are still there: their rows count, and their columns can be the largest.",
        "`special`: is it used for rows and for columns?",
    ),
    Mistake(
        "special-columns-kept",
        _with(take=_columns_kept),
        "The rows of special pieces are left out, their columns are not: a row may still look at one.",
        "the columns, before the largest weight is taken.",
    ),
    Mistake(
        "special-rows-counted",
        _with(take=_rows_kept),
        "No row can look at a special piece any more, but their own rows are counted, and so are the rows "
        "next to them.",
        "which rows are counted.",
    ),
    Mistake(
        "only-special",
        _with(take=_other_way),
        "The special pieces are kept and all others taken out. `special` is `True` where a piece should go.",
        "`~`.",
    ),
    Mistake(
        "other-direction",
        _with(place=lambda q, o, n: q - o),
        "It looks at the other side: offset -1 is the piece before.",
        "the sign of the offset.",
    ),
    Mistake(
        "edges-counted-as-misses",
        _with(live=lambda t, n, q, o: torch.ones_like(t, dtype=torch.bool)),
        "Rows that have no such place count as misses: the first one has none before it.",
        "what the hits are divided by.",
    ),
    Mistake(
        "hits-counted",
        _with(share=lambda hits, live, o: hits[:, live].sum(-1)),
        "These are numbers of hits. A share is asked for.",
        "what comes after counting.",
    ),
    Mistake(
        "columns-for-rows",
        _with(look=lambda w: w.argmax(-2)),
        "For each piece the row that looks at it most is taken. Rows are the ones that look.",
        "the axis of the argmax.",
    ),
    Mistake(
        "weight-for-hits",
        _with(hit=on_target),
        "This is the mean weight on the place. Asked for is how often that weight is the largest of its row.",
        "how a row becomes a hit.",
    ),
    Mistake(
        "more-than-half",
        _with(hit=lambda look, t, w, q: on_target(look, t, w, q) > 0.5),
        "A hit is counted only where the place has more than half of the weight. The largest can be smaller.",
        "when a row counts as a hit.",
    ),
    Mistake(
        "wrapped-around",
        _with(aim=lambda t, n: t % n, live=lambda t, n, q, o: torch.ones_like(t, dtype=torch.bool)),
        "Beyond an end it goes on at the other one: the first piece gets the last for the one before.",
        "what `%`, `roll` or an index of -1 do at the ends.",
    ),
    Mistake(
        "sign-lost",
        _with(hit=lambda look, t, w, q: (look - q).abs() == (t - q).abs()),
        "Both sides count as hits: the sign of the distance is lost.",
        "`abs`.",
    ),
    Mistake(
        "own-weight-left-out",
        _with(maps=lambda w: w.masked_fill(torch.eye(w.shape[-1], dtype=torch.bool), -1.0)),
        "A piece's weight on itself is left out. Here it counts: a row that looks at itself is a miss.",
        "the diagonal.",
    ),
    Mistake(
        "misses-counted",
        _with(hit=lambda look, t, w, q: look != t),
        "This is the share of misses.",
        "the comparison.",
    ),
    Mistake(
        "heads-averaged-first",
        _with(maps=lambda w: w.mean(0, keepdim=True).expand_as(w)),
        "The maps of all heads are averaged before the largest weight is taken, so all get the same score.",
        "where the head axis goes.",
    ),
)
