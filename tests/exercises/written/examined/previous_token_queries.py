"""previous_token_queries: written from the prompt alone, before the list of mistakes was seen."""

from __future__ import annotations

import math

import numpy as np
import torch


def s(pe):
    return math.sqrt(pe.shape[1])


WRONG = [
    ("looks-ahead", lambda pe, t, b: b * s(pe) * pe @ t),
    ("no-root", lambda pe, t, b: b * pe @ t.T),
    ("divided-by-root", lambda pe, t, b: b * (pe @ t.T) / s(pe)),
    ("beta-left-out", lambda pe, t, b: s(pe) * pe @ t.T),
    ("not-turned", lambda pe, t, b: b * s(pe) * pe),
    ("width-without-root", lambda pe, t, b: b * pe.shape[1] * pe @ t.T),
    ("root-of-n", lambda pe, t, b: b * math.sqrt(len(pe)) * pe @ t.T),
    ("turned-twice", lambda pe, t, b: b * s(pe) * pe @ t.T @ t.T),
    ("beta-under-the-root", lambda pe, t, b: math.sqrt(b) * s(pe) * pe @ t.T),
    ("rows-rolled", lambda pe, t, b: b * s(pe) * pe.roll(1, 0)),
    ("transposed", lambda pe, t, b: (b * s(pe) * pe @ t.T).T),
    ("scores-for-queries", lambda pe, t, b: b * pe @ t.T @ pe.T),
    ("scores-for-queries", lambda pe, t, b: b * s(pe) * pe @ t.T @ pe.T / s(pe)),
    ("divided-by-beta", lambda pe, t, b: s(pe) / b * pe @ t.T),
    ("looks-ahead", lambda pe, t, b: b * s(pe) * pe @ torch.linalg.inv(t).T),
    ("beta-under-the-root", lambda pe, t, b: math.sqrt(b * pe.shape[1]) * pe @ t.T),
]

RIGHT = [
    lambda pe, t, b: (t @ pe.T).T * b * pe.shape[-1] ** 0.5,
    lambda pe, t, b: torch.stack([b * math.sqrt(len(p)) * (t @ p) for p in pe]),
    lambda pe, t, b: torch.einsum("ij,nj->ni", t, pe) * b * math.sqrt(pe.size(1)),
    lambda pe, t, b: torch.nn.functional.linear(pe, t) * (b * pe.shape[1] ** 0.5),
    lambda pe, t, b: torch.from_numpy(
        b * np.sqrt(pe.shape[1]).astype(pe.numpy().dtype) * (pe.numpy() @ t.numpy().T)
    ),
    lambda pe, t, b: pe @ (b * math.sqrt(t.shape[0]) * t).T,
]

UNLISTED = [
    ("beta is squared\\.", lambda pe, t, b: b * b * s(pe) * pe @ t.T),
    (
        "Rows are moved up by one instead of turned, the first one to the end\\.",
        lambda pe, t, b: b * s(pe) * pe.roll(-1, 0),
    ),
    ("Rows are turned and moved down by one besides\\.", lambda pe, t, b: b * s(pe) * (pe @ t.T).roll(1, 0)),
    ("beta is added to every number; it should multiply\\.", lambda pe, t, b: b + s(pe) * pe @ t.T),
    ("stops with an error", lambda pe, t, b: b * s(pe) * t @ pe),
    (
        "The sign is turned round: the head looks away from the position",
        lambda pe, t, b: -b * s(pe) * pe @ t.T,
    ),
    (
        "Rows are multiplied number by number with the first row of `turn`; it",
        lambda pe, t, b: b * s(pe) * (pe * t[:1]),
    ),
    ("A softmax is taken of the queries\\.", lambda pe, t, b: (b * s(pe) * pe @ t.T).softmax(-1)),
    (
        "Turned rows are brought to length 1\\.",
        lambda pe, t, b: torch.nn.functional.normalize(pe @ t.T, dim=1) * b * s(pe),
    ),
    (
        "Row 0 is turned, and every other one replaced by the row before: a",
        lambda pe, t, b: torch.cat([b * s(pe) * pe[:1] @ t.T, b * s(pe) * pe[:-1]]),
    ),
    (
        "The result should have shape `\\(n, d_k\\)` = `\\(5, 8\\)`; yours has `\\(8,",
        lambda pe, t, b: b * s(pe) * t,
    ),
    ("pe itself is added to the queries\\.", lambda pe, t, b: pe + b * s(pe) * pe @ t.T),
    ("The queries lose their sign\\.", lambda pe, t, b: (b * s(pe) * pe @ t.T).abs()),
    (
        "The function changes its argument `pe`; whoever called it loses the",
        lambda pe, t, b: pe.mul_(b * s(pe)) @ t.T,
    ),
    ("The root is taken of 2 d_k\\.", lambda pe, t, b: b * math.sqrt(2 * pe.shape[1]) * pe @ t.T),
    (
        "The root is taken of d_k / 2, the number of pairs\\.",
        lambda pe, t, b: b * math.sqrt(pe.shape[1] / 2) * pe @ t.T,
    ),
    ("beta is cut to a whole number\\.", lambda pe, t, b: int(b) * s(pe) * pe @ t.T),
    ("beta takes no part, and the root of d_k divides\\.", lambda pe, t, b: pe @ t.T / s(pe)),
    (
        "It returns 2 things, tensors of shape `\\(5, 8\\)` in a tuple\\. One tensor",
        lambda pe, t, b: ((b * s(pe) * pe @ t.T, pe)),
    ),
    (
        "The result should have shape `\\(n, d_k\\)` = `\\(5, 8\\)`; yours has `\\(8,\\)`\\.",
        lambda pe, t, b: b * s(pe) * t @ pe[0],
    ),
    (
        "Row 0 is emptied: it has none before it, but its query is a turned",
        lambda pe, t, b: torch.cat([torch.zeros(1, pe.shape[1]), (b * s(pe) * pe @ t.T)[1:]]),
    ),
    ("The row itself is taken off the turned one\\.", lambda pe, t, b: b * s(pe) * (pe @ t.T - pe)),
    (
        "The rows are turned three times\\.",
        lambda pe, t, b: b * s(pe) * pe @ torch.linalg.matrix_power(t.T, 3),
    ),
    ("The exponential of beta multiplies\\.", lambda pe, t, b: math.exp(b) * s(pe) * pe @ t.T),
]
