"""What wrong shares by offset count: where a head looks, where it should, which queries have such a place."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

Step = Callable[..., Tensor]


def _live(t: Tensor, n: int, q: Tensor, o: int) -> Tensor:
    return (t >= 0) & (t < n)


def _share(hits: Tensor, live: Tensor, o: int) -> Tensor:
    return hits[:, live].mean(-1)


def offset_share_with(
    weights: Tensor,
    offset: int,
    *,
    maps: Step = lambda w: w,
    look: Step = lambda w: w.argmax(-1),
    place: Step = lambda q, o, n: q + o,
    aim: Step = lambda t, n: t,
    live: Step = _live,
    hit: Step = lambda look, t, w, q: look == t,
    share: Step = _share,
) -> Tensor:
    """The shares of hits at an offset with the steps given; without any they are right: (h,)."""
    w = maps(weights)
    n = w.shape[-1]
    q = torch.arange(n)
    target = place(q, offset, n)
    hits = hit(look(w), aim(target, n), w, q).to(weights.dtype)
    return share(hits, live(target, n, q, offset), offset).to(weights.dtype)


def _on(w: Tensor, t: Tensor) -> Tensor:
    """The weight on the target, 0 beyond the ends: (h, n)."""
    n = w.shape[-1]
    index = t.clamp(0, n - 1).expand(w.shape[:2])[..., None]
    return w.gather(-1, index)[..., 0] * ((t >= 0) & (t < n))


_MAPS = (
    Way("The maps of all heads are averaged first.", lambda w: w.mean(0, keepdim=True).expand_as(w)),
    rare(
        "A word's weight on itself is left out; here it counts.",
        lambda w: w.masked_fill(torch.eye(w.shape[-1], dtype=torch.bool), -1.0),
    ),
    rare("Only what comes before a word is looked at.", lambda w: w.tril(-1)),
)
_LOOKS = (
    Way("The largest of each column is looked for; rows are the queries.", lambda w: w.argmax(-2)),
    rare("The smallest weight of a row is looked for.", lambda w: w.argmin(-1)),
    rare("The second largest weight is looked for.", lambda w: w.topk(2, -1).indices[..., 1]),
    Way(
        "The largest weight of the whole map is looked for, not of each row.",
        lambda w: w.flatten(1).argmax(-1, keepdim=True).expand(w.shape[:2]),
    ),
)
_PLACES = (
    Way("The sign of the offset is turned round.", lambda q, o, n: q - o),
    Way("Queries are counted from 1, keys from 0.", lambda q, o, n: q + 1 + o),
    rare("The position is multiplied by the offset; it should be added.", lambda q, o, n: q * o),
    rare(
        "The offset alone is the target: the query's position takes no part.",
        lambda q, o, n: torch.full_like(q, o),
    ),
    Way("The target is the query itself: the offset takes no part.", lambda q, o, n: q),
    rare("The target lies before the query, whatever the offset's sign is.", lambda q, o, n: q - abs(o)),
    rare("The target lies behind the query, whatever the offset's sign is.", lambda q, o, n: q + abs(o)),
    rare("The target is always the position before.", lambda q, o, n: q - 1),
    rare("The target is always the next position.", lambda q, o, n: q + 1),
    rare("The target lies one place too far to the right.", lambda q, o, n: q + o + 1),
    rare("The target lies one place too far to the left.", lambda q, o, n: q + o - 1),
    rare("Positions run backwards, from the end.", lambda q, o, n: n - 1 - q + o),
    rare("The number of positions stands for the query's.", lambda q, o, n: torch.full_like(q, n) + o),
    rare("Twice the offset is added.", lambda q, o, n: q + 2 * o),
)
_AIMS = (
    Way("Beyond an end it goes on at the other end (`%`).", lambda t, n: t % n),
    Way("Beyond an end the last position is taken.", lambda t, n: t.clamp(0, n - 1)),
)
_LIVES = (
    Way(
        "Every query counts, also those that have no such position.",
        lambda t, n, q, o: torch.ones_like(t, dtype=torch.bool),
    ),
    Way(
        "Queries whose target is position 0 are left out: 0 is a position.",
        lambda t, n, q, o: (t > 0) & (t < n),
    ),
    rare(
        "Queries whose target is the last position are left out.", lambda t, n, q, o: (t >= 0) & (t < n - 1)
    ),
    rare(
        "A query one beyond the end counts: positions end at n - 1.", lambda t, n, q, o: (t >= 0) & (t <= n)
    ),
    rare(
        "A query one before the start counts: positions begin at 0.", lambda t, n, q, o: (t >= -1) & (t < n)
    ),
    Way("Only the left end is looked after.", lambda t, n, q, o: t >= 0),
    Way("Only the right end is looked after.", lambda t, n, q, o: t < n),
    rare(
        "Queries at both ends are left out; at one of them they have such a position.",
        lambda t, n, q, o: (q >= abs(o)) & (q < n - abs(o)),
    ),
    Way("Queries at the wrong end are left out.", lambda t, n, q, o: (q - o >= 0) & (q - o < n)),
    rare("Query 0 is left out, and no other.", lambda t, n, q, o: q > 0),
    rare("The last query is left out, and no other.", lambda t, n, q, o: q < n - 1),
    rare("Only queries that have no such position are counted.", lambda t, n, q, o: ~_live(t, n, q, o)),
    rare(
        "Query 0 is left out besides those that have no such position.",
        lambda t, n, q, o: _live(t, n, q, o) & (q > 0),
    ),
)
_HITS = (
    Way("Misses are counted, not hits.", lambda look, t, w, q: look != t),
    rare("Everything at or behind the target counts as a hit.", lambda look, t, w, q: look >= t),
    rare("Everything at or before the target counts as a hit.", lambda look, t, w, q: look <= t),
    rare("One place beside the target counts as a hit, too.", lambda look, t, w, q: (look - t).abs() <= 1),
    Way(
        "Both sides count: the sign of the distance is lost.",
        lambda look, t, w, q: (look - q).abs() == (t - q).abs(),
    ),
    rare(
        "The two largest weights count.", lambda look, t, w, q: (w.topk(2, -1).indices == t[:, None]).any(-1)
    ),
    rare(
        "The three largest weights count.",
        lambda look, t, w, q: (w.topk(3, -1).indices == t[:, None]).any(-1),
    ),
    Way("The weight on the target is taken; a hit is 0 or 1.", lambda look, t, w, q: _on(w, t)),
    Way(
        "A hit is counted where the target has more than half of the weight.",
        lambda look, t, w, q: _on(w, t) > 0.5,
    ),
    Way("The distance to the largest weight is averaged; hits are wanted.", lambda look, t, w, q: look - q),
    rare(
        "The absolute distance to the largest weight is averaged; hits are wanted.",
        lambda look, t, w, q: (look - q).abs(),
    ),
    Way(
        "The distances, weighted by the weights, are averaged; hits are wanted.",
        lambda look, t, w, q: (w * (q - q[:, None])).sum(-1),
    ),
    Way("The place of the largest weight is averaged; hits are wanted.", lambda look, t, w, q: look),
)
_SHARES = (
    Way("The hits are divided by n.", lambda h, live, o: h[:, live].sum(-1) / h.shape[-1]),
    rare(
        "The hits are divided by n - 1, whatever the offset is.",
        lambda h, live, o: h[:, live].sum(-1) / (h.shape[-1] - 1),
    ),
    rare(
        "The hits are divided by n - offset; n - |offset| queries have such a position.",
        lambda h, live, o: h[:, live].sum(-1) / (h.shape[-1] - o),
    ),
    rare(
        "The hits are divided by n + offset; n - |offset| queries have such a position.",
        lambda h, live, o: h[:, live].sum(-1) / (h.shape[-1] + o),
    ),
    rare("The hits are divided by the number of heads.", lambda h, live, o: h[:, live].sum(-1) / len(h)),
    rare(
        "The hits are divided by one query too many.",
        lambda h, live, o: h[:, live].sum(-1) / (live.sum() + 1),
    ),
    rare(
        "The hits are divided by one query too few.", lambda h, live, o: h[:, live].sum(-1) / (live.sum() - 1)
    ),
    Way("The numbers are added up, not averaged.", lambda h, live, o: h[:, live].sum(-1)),
    Way("This is the share of misses.", lambda h, live, o: 1 - _share(h, live, o)),
    Way("These are per cent.", lambda h, live, o: 100 * _share(h, live, o)),
    rare("Hits are divided by misses.", lambda h, live, o: h[:, live].sum(-1) / (1 - h[:, live]).sum(-1)),
    rare(
        "Hits are divided by the words that look elsewhere than at themselves.",
        lambda h, live, o: h[:, live].sum(-1) / (h.shape[-1]),
    ),
    Way("The shares of the heads are averaged.", lambda h, live, o: _share(h, live, o).mean().expand(len(h))),
    rare("The share is rounded down (`//`).", lambda h, live, o: h[:, live].sum(-1) // live.sum()),
    rare("The heads' shares are sorted.", lambda h, live, o: _share(h, live, o).sort().values),
)


@functools.cache
def _more() -> tuple[tuple[Tensor, int], ...]:
    """Maps with many hits at the offset, which is other than in the cases."""
    g = torch.Generator().manual_seed(31)
    drawn = []
    for h, n, offset in ((3, 13, -4), (5, 10, 3), (2, 14, -1), (4, 11, 1)):
        scores = torch.randn(h, n, n, generator=g)
        q = torch.arange(n)
        scores[:, q, (q + offset) % n] += 4 * torch.rand(h, n, generator=g)
        drawn.append((scores.softmax(-1), offset))
    return tuple(drawn)


OFFSET_SHARES = Recipe(
    offset_share_with,
    (
        Slot("live", "which queries are counted.", _LIVES),
        Slot("place", "how the target of a query is made of its position.", _PLACES),
        Slot("hit", "what is compared with what.", _HITS),
        Slot("share", "what the hits are divided by.", _SHARES),
        Slot("aim", "the queries that have no such position.", _AIMS),
        Slot("look", "how the place of the largest weight is found.", _LOOKS),
        Slot("maps", "what is done with the maps first.", _MAPS),
    ),
    _more,
)
