"""Queries by position, row by row: which rows are right, and what the others hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, differing
from mha_course.exercises.reading.position_queries import QUERIES
from mha_course.exercises.reading.recipes import beyond_recipes
from mha_course.exercises.reading.turns import read_queries

Call = Callable[[tuple[Any, ...]], Outcome]


def read_query_rows(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """The steps done otherwise where they are known; else rows that are no turned ones."""
    found = QUERIES.read(evidence, i, call) or read_queries(evidence, i, call)
    want, got = evidence.expected[i].leaves[0], evidence.got[i].leaves
    if found or not beyond_recipes(evidence, i):
        return found
    have = got[0]
    pe, turn, beta = evidence.cases[i].arguments
    wrong = differing(want, have).any(1)
    rows = [str(k) for k in wrong.nonzero().flatten().tolist()]
    if not bool(wrong.all()):
        factor = beta * math.sqrt(pe.shape[1])
        kinds = (
            ("not turned", factor * pe),
            ("not turned, and without the factor", pe),
            ("turned, and without the factor", pe @ turn.T),
            ("all 0", 0 * pe),
            ("turned the other way", factor * pe @ turn),
        )
        what = next(
            (
                words
                for words, made in kinds
                if torch.allclose(made[wrong], have[wrong], rtol=1e-3, atol=1e-4)
            ),
            "no turned one",
        )
        one = len(rows) == 1
        says = (
            f"Row{'' if one else 's'} {in_a_row(rows)} {'is' if one else 'are'} {what}; all others are right."
        )
        return Finding("other-rows", says, look="what differs between the rows.")
    lengths = have.double().norm(dim=1) / want.double().norm(dim=1)
    says = (
        f"The queries should be as long as the rows of `pe`, times beta and the root of d_k; yours are "
        f"{float(lengths.min()):.4g} to {float(lengths.max()):.4g} times as long, and point elsewhere."
    )
    return Finding("queries-elsewhere", says, look="`turn`, and how it meets the rows of `pe`.")
