"""What wrong attention with a cache does: steps done otherwise; else the rows returned, and who sees whom."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.of_cached_attention import (
    CACHED_MISTAKES,
    behind,
    cached_with,
    hide_later,
    later,
)
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.cached_sight import who_sees_whom
from mha_course.exercises.reading.changed_afterwards import changed_afterwards
from mha_course.exercises.reading.factors import factor_finding, scale_of, softmax_scale
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_GIVEN = (
    rare("Keys and values have changed places.", lambda q, k, v, a, b: (q, v, k, b, a)),
    rare("Old and new tokens have changed places.", lambda q, k, v, a, b: (q, a, b, k, v)),
    rare("Queries and new keys have changed places.", lambda q, k, v, a, b: (k, q, v, a, b)),
    rare("The new keys are the queries.", lambda q, k, v, a, b: (q, q, v, a, b)),
    rare("The queries are the new keys.", lambda q, k, v, a, b: (k, k, v, a, b)),
)
_GROWS = (
    rare("The new tokens are in reverse order.", lambda a, b: torch.cat((a, b.flip(2)), 2)),
    rare("All tokens are in reverse order.", lambda a, b: torch.cat((a, b), 2).flip(2)),
    rare("Only the first new token is put behind the cache.", lambda a, b: torch.cat((a, b[:, :, :1]), 2)),
    rare("Only the last new token is put behind the cache.", lambda a, b: torch.cat((a, b[:, :, -1:]), 2)),
    rare("The oldest token is dropped.", lambda a, b: torch.cat((a[:, :, 1:], b), 2)),
    rare("The last token of the cache is overwritten.", lambda a, b: torch.cat((a[:, :, :-1], b), 2)),
    rare("The last tokens of the cache are overwritten.", lambda a, b: _overwritten(a, b)),
    rare(
        "The first tokens of the cache are overwritten.",
        lambda a, b: torch.cat((b, a[:, :, b.shape[2] :]), 2),
    ),
    rare("Zeros stand where the new tokens should.", lambda a, b: torch.cat((a, 0 * b), 2)),
    rare("Zeros stand where the cache should.", lambda a, b: torch.cat((0 * a, b), 2)),
    rare("Only the cache is there.", lambda a, b: a),
    rare("Only the new tokens are there.", lambda a, b: b),
    rare("New tokens are put together with the cache along the features.", lambda a, b: torch.cat((a, b), 3)),
    rare("New tokens are put together with the cache along the heads.", lambda a, b: torch.cat((a, b), 1)),
    rare(
        "New tokens are put together with the cache along the sentences.", lambda a, b: torch.cat((a, b), 0)
    ),
)
_SEES = (
    rare("The new tokens attend to the cache only.", lambda keys, values, k, v, a, b: (a, b)),
    rare(
        "The last token is left out.",
        lambda keys, values, k, v, a, b: (keys[:, :, :-1], values[:, :, :-1]),
    ),
    rare("The first token is left out.", lambda keys, values, k, v, a, b: (keys[:, :, 1:], values[:, :, 1:])),
    rare("The values are in reverse order.", lambda keys, values, k, v, a, b: (keys, values.flip(2))),
    rare(
        "The values begin with the new tokens.", lambda keys, values, k, v, a, b: (keys, torch.cat((v, b), 2))
    ),
    rare(
        "The keys begin with the new tokens.", lambda keys, values, k, v, a, b: (torch.cat((k, a), 2), values)
    ),
)
_COMPARES = (
    rare("The products have a minus.", lambda q, k: -(q @ k.mT)),
    rare("Distances take the place of products.", lambda q, k: -torch.cdist(q, k)),
    rare("Cosines take the place of products.", lambda q, k: _unit(q) @ _unit(k).mT),
)
_FACTORS = (
    rare("The scores are divided by d_k, not by its root.", lambda q, **sizes: 1 / q.shape[-1]),
    rare("The scores are multiplied by the root of d_k.", lambda q, **sizes: math.sqrt(q.shape[-1])),
    rare("The scores are multiplied by d_k.", lambda q, **sizes: q.shape[-1]),
    rare("The scores are divided by the root of the new tokens' number.", lambda q, **s: q.shape[-2] ** -0.5),
    rare("The scores are divided by the root of h.", lambda q, h, **sizes: h**-0.5),
    rare("The scores are divided by the root of b.", lambda q, **sizes: len(q) ** -0.5),
    rare("The scores are divided by the root of h · d_k.", lambda q, h, **s: (h * q.shape[-1]) ** -0.5),
    rare("The root of d_k is rounded down.", lambda q, **sizes: 1 / math.isqrt(q.shape[-1])),
    rare("The scores are negative.", lambda q, **sizes: -(q.shape[-1] ** -0.5)),
    rare("The scores are divided by exp(d_k).", lambda q, **sizes: math.exp(-q.shape[-1])),
)
_HIDES = (
    rare(
        "Tokens of the cache are hidden from the first new ones: the mask is shifted.",
        lambda s: _hidden(s, later(*s.shape[-2:], -1)),
    ),
    rare("A new token sees two tokens ahead.", lambda s: _hidden(s, later(*s.shape[-2:], 3))),
    rare("New tokens see the cache only.", lambda s: _hidden(s, ~_cache(s))),
    rare(
        "New tokens see the cache and the new tokens from themselves on.",
        lambda s: _hidden(s, ~_cache(s) & ~later(*s.shape[-2:], 0)),
    ),
    rare(
        "A new token sees all but itself.",
        lambda s: _hidden(s, later(*s.shape[-2:], 0) & ~later(*s.shape[-2:])),
    ),
    rare(
        "A new token sees itself only.", lambda s: _hidden(s, ~later(*s.shape[-2:], 0) | later(*s.shape[-2:]))
    ),
    rare("1 is taken off hidden scores; that hides little.", lambda s: s - later(*s.shape[-2:]).to(s)),
    rare("1 is added to scores that should be seen.", lambda s: s + (~later(*s.shape[-2:])).to(s)),
    rare("Hidden scores become +inf.", lambda s: s.masked_fill(later(*s.shape[-2:]), math.inf)),
    rare("Hidden scores become 1.", lambda s: s.masked_fill(later(*s.shape[-2:]), 1.0)),
    rare("Hidden scores become -1.", lambda s: s.masked_fill(later(*s.shape[-2:]), -1.0)),
)
_SOFTENS = (
    rare("There is no softmax.", lambda s: s.nan_to_num(neginf=0.0)),
    rare("The softmax is taken over the heads.", lambda s: s.softmax(1)),
    rare("The softmax is taken over the sentences.", lambda s: s.softmax(0)),
    rare("The softmax is a log_softmax.", lambda s: s.log_softmax(-1)),
    rare("The softmax is a sigmoid.", lambda s: s.sigmoid()),
    rare("Exponentials are taken, and no row is divided by its sum.", lambda s: s.exp()),
    rare("The softmax is taken twice.", lambda s: s.softmax(-1).softmax(-1)),
    rare("The largest weight is 1, all others 0.", lambda s: (s == s.amax(-1, keepdim=True)).to(s)),
)
_KEEPS = (
    rare("The values returned are those of the new tokens.", lambda keys, values, k, v, a, b: (keys, v)),
    rare("The keys returned are those of the new tokens.", lambda keys, values, k, v, a, b: (k, values)),
    rare("The values returned are the old ones.", lambda keys, values, k, v, a, b: (keys, b)),
    rare("The keys returned are the old ones.", lambda keys, values, k, v, a, b: (a, values)),
    rare(
        "The keys are returned in the other order: new ones first.",
        lambda keys, values, k, v, a, b: (behind(k, a), values),
    ),
    rare(
        "The values are returned in the other order: new ones first.",
        lambda keys, values, k, v, a, b: (keys, behind(v, b)),
    ),
    rare(
        "Both are returned in the other order: new ones first.",
        lambda keys, values, k, v, a, b: (behind(k, a), behind(v, b)),
    ),
    rare("The keys are returned transposed.", lambda keys, values, k, v, a, b: (keys.mT, values)),
    rare("Both are returned transposed.", lambda keys, values, k, v, a, b: (keys.mT, values.mT)),
    rare(
        "The keys are returned divided by the root of d_k.",
        lambda keys, values, *rest: (keys / keys.shape[-1] ** 0.5, values),
    ),
)
_FINISHES = (
    rare("Only the first new token's output comes back.", lambda o: o[:, :, :1]),
    rare("The output of the last new token lost its axis.", lambda o: o[:, :, -1]),
    rare("Heads are joined in the output.", lambda o: o.transpose(1, 2).flatten(2)),
    rare("Heads and tokens have changed places in the output.", lambda o: o.transpose(1, 2)),
    rare("The output is averaged over heads.", lambda o: o.mean(1)),
)


def _overwritten(a: Tensor, b: Tensor) -> Tensor:
    return torch.cat((a[:, :, : max(0, a.shape[2] - b.shape[2])], b), 2)


def _unit(x: Tensor) -> Tensor:
    return x / x.norm(dim=-1, keepdim=True)


def _hidden(scores: Tensor, hidden: Tensor) -> Tensor:
    return scores.masked_fill(hidden, -math.inf)


def _cache(scores: Tensor) -> Tensor:
    n, n_k = scores.shape[-2:]
    return (torch.arange(n_k) < n_k - n).expand(n, n_k)


def _slot(name: str, look: str, ways: tuple[Way, ...] = ()) -> Slot:
    return Slot(name, look, (*ways_of(CACHED_MISTAKES, name), *ways))


_RECIPE = Recipe(
    cached_with,
    (
        _slot("grow", "what is put together, and in which order.", _GROWS),
        _slot("hide", "who may see whom among the new tokens.", _HIDES),
        _slot("keep", "what is returned.", _KEEPS),
        _slot("sees", "what the scores and the weighted sum take.", _SEES),
        _slot("factor", "the factor of the scores.", _FACTORS),
        _slot("soften", "what becomes of the scores.", _SOFTENS),
        _slot("mix", "the weighted sum."),
        _slot("finish", "the output.", _FINISHES),
        _slot("compare", "the products of queries and keys.", _COMPARES),
        _slot("given", "which argument is used for what.", _GIVEN),
    ),
)


def read_cached(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else what is returned, then who sees whom."""
    found = _RECIPE.read(evidence, i, call)
    if found:
        return found
    want, have = evidence.expected[i].leaves, evidence.got[i].leaves
    if len(have) != 3:
        return None
    _, k, v, cached_k, cached_v = evidence.cases[i].arguments
    whole = _of_one(want, have)
    if whole:
        return whole
    for name, old, new, a, b in (
        ("keys", cached_k, k, want[1], have[1]),
        ("values", cached_v, v, want[2], have[2]),
    ):
        if a.shape[-1] == b.shape[-1] and b.ndim == 4 and not (a.shape == b.shape and close(a, b)):
            return _rows(name, old, new, b)
    if want[0].shape == have[0].shape and not close(want[0], have[0]):
        return _sight(call)
    return None


def _of_one(want: tuple[Tensor, ...], have: tuple[Tensor, ...]) -> Finding | None:
    """One thing done to one of the results when it was right."""
    axes = ("b", "h", "n", "d")
    for name, a, b in zip(("output is", "keys are", "values are"), want, have, strict=True):
        if a.shape != b.shape or close(a, b):
            continue
        scale, off = scale_of(a, b), (b - a).double()
        if scale is not None:
            says = f"The {name} {scale:.4g} times what should be there."
            return Finding("scaled", says, look="the factor, and which size it is made of.")
        if float(off.std()) < 1e-5:
            says = f"In the {name.split()[0]} every number is off by {float(off.mean()):.4g}."
            return Finding("shifted", says, look="a sum.")
        found = changed_afterwards(a, b, axes) if a is want[0] else None  # rows are told by their tokens
        if found:
            return Finding(found.id, f"In the {name.split()[0]}: {found.says}", look=found.look)
    return None


def _rows(name: str, old: Tensor, new: Tensor, have: Tensor) -> Finding | None:
    """Which tokens the returned keys or values hold, row by row."""
    source, named = behind(old, new)[0, 0], []
    for row in have[0, 0]:
        same = (source - row).abs().amax(-1) < 1e-4
        place = int(same.nonzero()[0]) if bool(same.any()) else None
        if place is None:
            named.append("neither")
        elif place < old.shape[2]:
            named.append(f"cached {place}")
        else:
            named.append(f"new {place - old.shape[2]}")
    shown = ", ".join(named[:12]) + (", ..." if len(named) > 12 else "")
    says = (
        f"The {name} returned hold in their rows (first sentence and head): {shown}. Wanted are all cached "
    )
    says += "tokens in order, then all new ones."
    return Finding(f"other-{name}", says, look="what is returned, and how it is put together.")


@functools.cache
def _asked(n: int = 3, length: int = 4) -> tuple[Tensor, ...]:
    """Values that are 1 at their own place, so that the output holds the weights."""
    g, one = torch.Generator().manual_seed(31), torch.eye(length + n, dtype=torch.float64)
    q, k, cached_k = (torch.randn(2, 5, m, 6, generator=g, dtype=torch.float64) for m in (n, n, length))
    return q, k, one[length:].expand(2, 5, -1, -1), cached_k, one[:length].expand(2, 5, -1, -1)


def _sight(call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """From outputs that are weights: who sees whom, sums of rows, the factor of the scores."""
    asked = _asked()
    n, length = asked[0].shape[2], asked[3].shape[2]
    out = call(tuple(a.clone() for a in asked))
    if out.error is not None:
        code = out.error_text.replace("`", "'")
        says = f"The output is not right, and with other sizes (b=2, h=5, n={n}, length={length}, d_k=6, "
        says += f"d_v={length + n}) it stops with `{code}`."
        return Finding("stops-elsewhere", says, look="sizes that fit by chance: print every shape.")
    if len(out.leaves) != 3 or out.leaves[0].shape != (*asked[0].shape[:3], length + n):
        return None
    weights = out.leaves[0].double()
    if not bool(weights.isfinite().all()):
        return None
    if close(weights, cached_with(*asked)[0]):
        return None
    found = who_sees_whom(weights.abs().amax((0, 1)) > 1e-6, weights.abs().amin((0, 1)) < 1e-9, n, length)
    if found:
        return found
    sums = weights.sum(-1)
    if not close(sums, torch.ones_like(sums)):
        worst = float(sums.flatten()[(sums - 1).abs().argmax()])
        says = f"The right tokens are seen, but the weights of a row sum to {worst:.4g}."
        return Finding("rows-do-not-sum-to-one", says, look="the softmax, and what comes behind it.")
    scores = hide_later(asked[0] @ behind(asked[3], asked[1]).mT / asked[0].shape[-1] ** 0.5)
    scale = softmax_scale(scores, weights)
    sizes = {"b": 2, "h": 5, "n": n, "n_k": length + n, "d_k": 6, "d_v": length + n}
    found = None if scale is None else factor_finding([sizes], [scale], "")
    if found:
        return found
    says = (
        "The right tokens are seen, and weights sum to 1, but they are no softmax of products with the keys."
    )
    return Finding("other-weights", says, look="the scores: which query meets which key.")
