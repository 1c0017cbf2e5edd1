"""What wrong queries by position did: how they were turned, and what multiplies them."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.reading.recipes import Recipe, Slot, Step, Way, rare


def _back(pe: Tensor, turn: Tensor) -> Tensor:
    return pe @ turn.T


def _factor(beta: float, n: int, d_k: int) -> float:
    return beta * math.sqrt(d_k)


def queries_with(
    pe: Tensor,
    turn: Tensor,
    beta: float,
    *,
    turned: Step = _back,
    factor: Step = _factor,
    finish: Step = lambda rows, times, pe, turn, beta: rows * times,
) -> Tensor:
    """The queries with the steps given; without any they are right: (n, d_k)."""
    times = factor(beta, *pe.shape)
    return finish(turned(pe, turn), times, pe, turn, beta)


def _first_turned(pe: Tensor, turn: Tensor) -> Tensor:
    return torch.cat([pe[:1] @ turn.T, pe[:-1]])


_TURNED = (
    Way("The rows are turned the other way: the head looks at the next position.", lambda pe, t: pe @ t),
    Way("The rows are not turned: each position asks for itself.", lambda pe, t: pe),
    Way("The rows are turned twice: the head looks two positions back.", lambda pe, t: pe @ t.T @ t.T),
    Way("The rows are turned three times.", lambda pe, t: pe @ t.T @ t.T @ t.T),
    Way(
        "Rows are moved down by one instead of turned, the last one to the top.", lambda pe, t: pe.roll(1, 0)
    ),
    Way(
        "Rows are moved up by one instead of turned, the first one to the end.", lambda pe, t: pe.roll(-1, 0)
    ),
    Way(
        "Row 0 is turned, and every other one replaced by the row before: a head can only multiply.",
        _first_turned,
    ),
    Way("Rows are turned and moved down by one besides.", lambda pe, t: (pe @ t.T).roll(1, 0)),
    Way("Rows are turned and moved up by one besides.", lambda pe, t: (pe @ t.T).roll(-1, 0)),
    Way(
        "Row 0 is emptied: it has none before it, but its query is a turned one like the others.",
        lambda pe, t: torch.cat([0 * pe[:1], (pe @ t.T)[1:]]),
    ),
    Way("The turned row is added to the row itself.", lambda pe, t: pe + pe @ t.T),
    Way("The row itself is taken off the turned one.", lambda pe, t: pe @ t.T - pe),
    Way("The turned row is taken off the row itself.", lambda pe, t: pe - pe @ t.T),
    Way(
        "Rows are multiplied number by number with the first row of `turn`; it takes a matrix product.",
        lambda pe, t: pe * t[0],
    ),
    Way(
        "Rows are multiplied number by number with the diagonal of `turn`; it takes a matrix product.",
        lambda pe, t: pe * t.diagonal(),
    ),
    Way("Turned rows are brought to length 1.", lambda pe, t: F.normalize(pe @ t.T, dim=-1)),
    Way("Only the first row is turned, and stands for all.", lambda pe, t: (pe[:1] @ t.T).expand_as(pe)),
    rare("Rows are turned in both directions, and added up.", lambda pe, t: pe @ t.T + pe @ t),
    rare("The features of turned rows stand in reverse order.", lambda pe, t: (pe @ t.T).flip(-1)),
    rare("The positions of turned rows stand in reverse order.", lambda pe, t: (pe @ t.T).flip(0)),
    rare(
        "Rows are turned by the matrix and its inverse one after the other: not at all.",
        lambda pe, t: pe @ t.T @ t,
    ),
)
_FACTORS = (
    Way("The root of d_k is missing.", lambda beta, n, d: beta),
    Way("The root of d_k divides; it should multiply.", lambda beta, n, d: beta / math.sqrt(d)),
    Way("beta takes no part.", lambda beta, n, d: math.sqrt(d)),
    Way("There is no factor at all.", lambda beta, n, d: 1.0),
    Way("The factor is d_k; its root is wanted.", lambda beta, n, d: beta * d),
    Way("d_k divides; its root should multiply.", lambda beta, n, d: beta / d),
    Way("The root of n stands for the root of d_k.", lambda beta, n, d: beta * math.sqrt(n)),
    Way("beta stands under the root, too.", lambda beta, n, d: math.sqrt(beta * d)),
    Way("beta divides; it should multiply.", lambda beta, n, d: math.sqrt(d) / beta),
    Way("beta is squared.", lambda beta, n, d: beta**2 * math.sqrt(d)),
    Way("The root of beta is taken.", lambda beta, n, d: beta**0.5 * math.sqrt(d)),
    Way("beta is cut to a whole number.", lambda beta, n, d: int(beta) * math.sqrt(d)),
    Way("The exponential of beta multiplies.", lambda beta, n, d: math.exp(beta) * math.sqrt(d)),
    Way("The root is taken of 2 d_k.", lambda beta, n, d: beta * math.sqrt(2 * d)),
    Way("The root is taken of d_k / 2, the number of pairs.", lambda beta, n, d: beta * math.sqrt(d / 2)),
    Way(
        "The sign is turned round: the head looks away from the position before.",
        lambda beta, n, d: -beta * math.sqrt(d),
    ),
    Way("beta takes no part, and the root of d_k divides.", lambda beta, n, d: 1 / math.sqrt(d)),
    Way("beta is added to the root of d_k; it should multiply.", lambda beta, n, d: beta + math.sqrt(d)),
    Way("The root of d_k is taken off beta; it should multiply.", lambda beta, n, d: beta - math.sqrt(d)),
)
_FINISHES = (
    Way("beta is added to every number; it should multiply.", lambda r, f, pe, t, beta: beta + f / beta * r),
    Way("The factor is added to every number; it should multiply.", lambda r, f, pe, t, beta: r + f),
    Way("pe itself is added to the queries.", lambda r, f, pe, t, beta: pe + f * r),
    Way("pe itself is taken off the queries.", lambda r, f, pe, t, beta: f * r - pe),
    Way(
        "pe stands where beta belongs: rows are multiplied number by number with it.",
        lambda r, f, pe, t, beta: pe * f / beta * r,
    ),
    Way("A softmax is taken of the queries.", lambda r, f, pe, t, beta: (f * r).softmax(-1)),
    rare("The queries lose their sign.", lambda r, f, pe, t, beta: (f * r).abs()),
    rare("The first query stands for all.", lambda r, f, pe, t, beta: f * r[:1].expand_as(r)),
)
QUERIES = Recipe(
    queries_with,
    (
        Slot("factor", "what multiplies the rows: scores are divided by the root of d_k later.", _FACTORS),
        Slot("turned", "how the rows of `pe` are turned.", _TURNED),
        Slot("finish", "how rows and factor meet.", _FINISHES),
    ),
)
