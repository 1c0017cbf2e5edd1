"""What wrong widths of patterns count: of which matrix, shifted how, and what is done to the number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.of_pattern_width import WIDTH_MISTAKES, rank, rows_centred, width_with
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

Call = Callable[[tuple[Any, ...]], Outcome]

_SCORES = (
    Way("A softmax is taken of the weights once more.", lambda p: p.softmax(-1)),
    rare("The logarithm is taken twice.", lambda p: (-p.log()).log()),
    rare("The root of the weights is taken.", lambda p: p.sqrt()),
    rare("1 is divided by the weights.", lambda p: 1 / p),
    rare("The weights are squared.", lambda p: p**2),
    rare("1 is added before the logarithm is taken (`log1p`).", torch.log1p),
    rare("Weights times their logarithms are taken, as in an entropy.", lambda p: p * p.log()),
    rare("The logit of the weights is taken, as for a sigmoid.", lambda p: p.logit()),
)
_SHIFTS = (
    Way("Rows are divided by their length.", lambda s: s / s.norm(dim=-1, keepdim=True)),
    Way("Columns are divided by their length.", lambda s: s / s.norm(dim=-2, keepdim=True)),
    rare("The largest score of all is subtracted.", lambda s: s - s.max()),
    rare("Each column is standardised.", lambda s: (s - s.mean(0)) / s.std(0)),
    rare(
        "The diagonal is subtracted from the columns.",
        lambda s: s - s.diagonal()[None] if len(s) == s.shape[1] else s,
    ),
)
_COUNTS = (
    Way("The result is the number of rows.", len),
    Way("The result is the number of columns.", lambda s: s.shape[1]),
    rare("The result is the sum of the singular values.", lambda s: torch.linalg.svdvals(s).sum()),
    rare("The result is the largest singular value.", lambda s: torch.linalg.svdvals(s)[0]),
    rare("All singular values are counted, those of 0 too.", lambda s: len(torch.linalg.svdvals(s))),
    rare(
        "Singular values that are not exactly 0 are counted.",
        lambda s: int((torch.linalg.svdvals(s) > 0).sum()),
    ),
    rare("Singular values come back, not their number.", torch.linalg.svdvals),
    rare("This is the trace.", lambda s: s.diagonal().sum()),
    rare("Entries that are not 0 are counted.", lambda s: int((s.abs() > 1e-9).sum())),
    rare("Singular values weighed by their share are counted (an effective rank).", lambda s: _effective(s)),
    rare("Squares of singular values, weighed by their share, are counted.", lambda s: _stable(s)),
    rare("Columns that differ are counted.", lambda s: len(torch.unique(s.round(decimals=8), dim=1).T)),
    rare("The rank of the square is taken, of scores times scores.", lambda s: rank(s @ s.mT @ s)),
    rare("Singular values that make up 90 % of their sum are counted.", lambda s: _most(s, 0.9)),
    rare("Singular values that make up 99 % of their sum are counted.", lambda s: _most(s, 0.99)),
)
_FINISHES = (
    Way("The number is one too small.", lambda count, p: count - 1),
    rare("The number is doubled.", lambda count, p: 2 * count),
    rare("The number of keys less the rank comes back.", lambda count, p: p.shape[1] - count),
    rare("The number of queries less the rank comes back.", lambda count, p: p.shape[0] - count),
    rare("The result is a `bool`.", lambda count, p: bool(count)),
    rare("The result is a float.", lambda count, p: float(count)),
    rare("The number is negative.", lambda count, p: -count),
    rare("The rank is divided by the number of tokens.", lambda count, p: count / min(p.shape)),
    rare("The number is never below 2.", lambda count, p: max(count, 2)),
)


def _effective(s: Tensor) -> Tensor:
    share = torch.linalg.svdvals(s) / torch.linalg.svdvals(s).sum()
    return torch.special.entr(share).sum().exp()


def _stable(s: Tensor) -> Tensor:
    squares = torch.linalg.svdvals(s) ** 2
    return squares.sum() / squares[0]


def _most(s: Tensor, part: float) -> int:
    values = torch.linalg.svdvals(s)
    return int((values.cumsum(0) < part * values.sum()).sum()) + 1


def _drawn(n_q: int, n_k: int, d_k: int) -> Tensor:
    """Weights of scores of rank d_k; where d_k is 0 uniform ones."""
    g = torch.Generator().manual_seed(17)
    q, k = (torch.randn(n, d_k, generator=g, dtype=torch.float64) for n in (n_q, n_k))
    return (q @ k.T).softmax(-1)


def _with_values(values: list[float]) -> Tensor:
    """A pattern whose scores, each row without its mean, have these singular values."""
    g = torch.Generator().manual_seed(29)
    m = torch.randn(11, 3, generator=g, dtype=torch.float64)
    queries = torch.linalg.qr(torch.randn(9, 3, generator=g, dtype=torch.float64)).Q
    keys = torch.linalg.qr(m - m.mean(0)).Q
    k = len(values)
    scaled = queries[:, :k] * torch.tensor(values, dtype=torch.float64)
    return (scaled @ keys[:, :k].T).softmax(-1)


def _limit(call: Call) -> Finding | None:
    """Where faint features stop counting: measured, since any number may stand in the answer."""

    def counted(values: list[float]) -> float | None:
        out = call((_with_values(values),))
        one = out.error is None and len(out.leaves) == 1 and out.leaves[0].numel() == 1
        return float(out.leaves[0]) if one and not out.leaves[0].is_complex() else None

    def edge(beside: list[float], largest: float) -> float | None:
        """The size from which on one feature more, next to those beside it, counts; None without any."""
        low, high = 1e-6 * largest, largest
        if counted([*beside, low]) != len(beside) or counted([*beside, high]) != len(beside) + 1:
            return None
        for _ in range(14):
            middle = (low * high) ** 0.5
            low, high = (middle, high) if counted([*beside, middle]) == len(beside) else (low, middle)
        return (low * high) ** 0.5

    look = "from which size on a singular value is more than rounding."
    alone = edge([], 30.0)
    if alone:
        says = (
            f"Singular values below about {alone:.2g} are left out. A feature may be faint and still be one."
        )
        return Finding("faint-left-out", says, look=look)
    beside = edge([30.0], 30.0)
    pair = beside and edge([30.0, 30.0], 30.0)
    # Where a share of the sum decides, the limit moves with the number of others.
    if beside and pair and abs(pair / beside - 1) < 0.02:
        says = f"Singular values below about {beside / 30:.2g} times the largest are left out. "
        return Finding("faint-left-out", f"{says}A feature may be faint and still be one.", look=look)
    return None


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(WIDTH_MISTAKES, name), *ways))


_RECIPE = Recipe(
    width_with,
    (
        _slot("scores", "what turns weights back into scores.", _SCORES),
        _slot("shift", "what is subtracted, and along which axis.", _SHIFTS),
        _slot("count", "what is counted.", _COUNTS),
        _slot("finish", "what is done to the number.", _FINISHES),
    ),
    lambda: ((_drawn(9, 7, 4),), (_drawn(6, 11, 3),), (_drawn(7, 7, 2),)),
)


def read_width(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """A limit below which nothing counts, or steps done otherwise; else the plainest wrong pattern."""
    found = _limit(call) or _RECIPE.read(evidence, i, call)
    if found:
        return found
    for d_k in range(6):
        weights = _drawn(8, 16, d_k)
        out = call((weights.clone(),))
        if out.error is not None or len(out.leaves) != 1 or out.leaves[0].numel() != 1:
            return None
        have = float(out.leaves[0])
        if have != rank(rows_centred(weights.log())):
            what = (
                f"of queries and keys with {d_k} feature{'s' if d_k > 1 else ''}"
                if d_k
                else "that is uniform"
            )
            says = f"For a pattern {what}, 8 queries and 16 keys, the answer is {d_k}; yours is {have:.6g}."
            says += " With fewer features it is right." if d_k else ""
            return Finding("other-width", says, look="the rank: of which matrix, and what counts as 0.")
    return None
