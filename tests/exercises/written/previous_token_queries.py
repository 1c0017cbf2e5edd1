"""previous_token_queries as students write it: wrong in known ways, right, and wrong in their own ways."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch

from tests.exercises.written.examined import previous_token_queries as examined


def row_by_row(
    pe,
    turn,
    beta,
    *,
    factor=lambda pe, beta: beta * math.sqrt(pe.shape[1]),
    move=lambda turn, row: turn @ row,
):
    return torch.stack([factor(pe, beta) * move(turn, row) for row in pe])


def einsum(pe, turn, beta, *, places="nd,ed->ne", power=0.5):
    return beta * pe.shape[-1] ** power * torch.einsum(places, pe, turn)


def as_matrix(pe, turn, beta, *, turned=lambda turn: turn.T):
    w_q = turned(turn) * beta * pe.size(1) ** 0.5
    return pe @ w_q


def with_numpy(pe, turn, beta, *, root=lambda pe: np.sqrt(pe.shape[1])):
    rows = pe.numpy() @ turn.numpy().T
    return torch.from_numpy((float(beta * root(pe)) * rows).astype(pe.numpy().dtype))


def rolled(pe, turn, beta):
    order = [len(pe) - 1, *range(len(pe) - 1)]
    return beta * math.sqrt(pe.shape[1]) * pe[order]


def emptied(pe, turn, beta):
    rows = [torch.zeros(pe.shape[1], dtype=pe.dtype), *pe[:-1]]
    return beta * math.sqrt(pe.shape[1]) * torch.stack(rows)


def scored(pe, turn, beta):
    return as_matrix(pe, turn, beta) @ pe.T / math.sqrt(pe.shape[1])


WRONG = [
    ("looks-ahead", partial(as_matrix, turned=lambda turn: turn)),
    ("looks-ahead", partial(einsum, places="nd,de->ne")),
    ("no-root", partial(einsum, power=0)),
    ("no-root", partial(row_by_row, factor=lambda pe, beta: beta)),
    ("divided-by-root", partial(einsum, power=-0.5)),
    ("divided-by-root", partial(row_by_row, factor=lambda pe, beta: beta / math.sqrt(pe.shape[1]))),
    ("beta-left-out", partial(row_by_row, factor=lambda pe, beta: math.sqrt(pe.shape[1]))),
    ("beta-left-out", lambda pe, turn, beta: einsum(pe, turn, 1.0)),
    ("not-turned", lambda pe, turn, beta: beta * pe.shape[1] ** 0.5 * pe),
    ("not-turned", partial(row_by_row, move=lambda turn, row: row)),
    ("turned-twice", partial(row_by_row, move=lambda turn, row: turn @ (turn @ row))),
    ("turned-twice", partial(as_matrix, turned=lambda turn: (turn @ turn).T)),
    ("root-of-n", partial(with_numpy, root=lambda pe: np.sqrt(len(pe)))),
    ("root-of-n", partial(row_by_row, factor=lambda pe, beta: beta * math.sqrt(pe.shape[0]))),
    ("width-without-root", partial(einsum, power=1)),
    ("width-without-root", partial(with_numpy, root=lambda pe: pe.shape[1])),
    ("beta-under-the-root", partial(row_by_row, factor=lambda pe, beta: (beta * pe.shape[1]) ** 0.5)),
    ("beta-under-the-root", lambda pe, turn, beta: einsum(pe, turn, math.sqrt(beta))),
    ("divided-by-beta", lambda pe, turn, beta: as_matrix(pe, turn, 1 / beta)),
    ("divided-by-beta", partial(row_by_row, factor=lambda pe, beta: math.sqrt(pe.shape[1]) / beta)),
    ("rows-rolled", rolled),
    ("rows-rolled", lambda pe, turn, beta: torch.roll(pe, 1, dims=0) * beta * math.sqrt(pe.shape[1])),
    ("first-row-empty", emptied),
    (
        "first-row-empty",
        lambda pe, turn, beta: (
            beta * pe.shape[1] ** 0.5 * torch.cat([torch.zeros_like(pe[:1]), pe[: len(pe) - 1]])
        ),
    ),
    ("transposed", lambda pe, turn, beta: as_matrix(pe, turn, beta).T),
    ("transposed", partial(einsum, places="nd,ed->en")),
    ("scores-for-queries", scored),
    ("scores-for-queries", lambda pe, turn, beta: beta * torch.einsum("nd,ed,me->nm", pe, turn, pe)),
]

RIGHT = [
    row_by_row,
    einsum,
    as_matrix,
    with_numpy,
    lambda pe, turn, beta: (turn @ pe.T).T * (beta * math.sqrt(pe.shape[1])),
    lambda pe, turn, beta: torch.nn.functional.linear(pe, turn) * beta * pe.shape[1] ** 0.5,
    lambda pe, turn, beta: (beta * pe.shape[1] ** 0.5 * pe) @ turn.inverse(),
]

UNLISTED = [
    (r"turned three times", lambda pe, turn, beta: as_matrix(pe, turn @ turn @ turn, beta)),
    (r"look 2 positions ahead", lambda pe, turn, beta: as_matrix(pe, (turn @ turn).T, beta)),
    (r"root of d_k is missing.*next position", lambda pe, turn, beta: beta * pe @ turn),
    (r"at their own position.*times as long", lambda pe, turn, beta: 0.5 * beta * pe),
    (r"sign is turned round", lambda pe, turn, beta: -as_matrix(pe, turn, beta)),
    (r"shape", lambda pe, turn, beta: as_matrix(pe, turn, beta)[1:]),
    (r"as it came", lambda pe, turn, beta: pe),
    (r"as it came", lambda pe, turn, beta: turn),
    (r"stops with", lambda pe, turn, beta: turn @ pe),
    (r"times|factor|multiplied", lambda pe, turn, beta: 3 * as_matrix(pe, turn, beta)),
    (r".", lambda pe, turn, beta: as_matrix(pe, turn, beta).softmax(-1)),
    (r"list", lambda pe, turn, beta: as_matrix(pe, turn, beta).tolist()),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
