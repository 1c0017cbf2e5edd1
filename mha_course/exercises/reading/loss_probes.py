"""A cross-entropy asked about one word, two words, and places without an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.probing import probe
from mha_course.exercises.reading.loss import LOSS, loss_with
from mha_course.exercises.witness import number

Call = Callable[[tuple[Any, ...]], Outcome]


def read_loss(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """The steps done otherwise where they are known; else the smallest thing that goes wrong."""
    found = LOSS.read(evidence, i, call)
    got = evidence.got[i].leaves
    if found or len(got) != 1 or got[0].ndim or not got[0].is_floating_point():
        return found
    return probe(evidence, i, call) or _smallest(call)


def _smallest(call: Call) -> Finding | None:
    word = torch.tensor([[[2.0, 0.0, 1.0]]])
    pair = torch.tensor([[[2.0, 0.0, 1.0], [0.5, -1.0, 3.0]]])

    def asked(logits: Tensor, *answers: list[int]) -> tuple[Tensor, Tensor] | None:
        ids = torch.tensor(answers)
        out = call((logits.clone(), ids.clone()))
        if out.error is not None or len(out.leaves) != 1 or out.leaves[0].ndim:
            return None
        return loss_with(logits, ids), out.leaves[0].to(torch.float32)

    steps: tuple[tuple[str, Tensor, tuple[list[int], ...], str], ...] = (
        ("For a single word with the logits 2, 0, 1 and the answer 0", word, ([0],), "the loss of one word."),
        ("For a single word with the logits 2, 0, 1 and the answer 1", word, ([1],), "the loss of one word."),
        ("For a single word with the logits 2, 0, 1 and the answer 2", word, ([2],), "the loss of one word."),
        (
            "For a single word with 10 added to all logits",
            word + 10,
            ([1],),
            "what a constant in all logits does.",
        ),
        ("For one sentence of two words", pair, ([0, 1],), "how two words become one number."),
        (
            "For two sentences of one word",
            pair.transpose(0, 1),
            ([0], [1]),
            "how two sentences become one number.",
        ),
        (
            "With an answer for the first of two words only",
            pair,
            ([0, -100],),
            "the place without an answer.",
        ),
        (
            "With an answer for the second of two words only",
            pair,
            ([-100, 1],),
            "the place without an answer.",
        ),
        (
            "For two sentences, one with two answers and one with one",
            torch.cat([pair, pair.flip(1)]),
            ([0, 1], [2, -100]),
            "how sentences of different lengths become one number.",
        ),
    )
    passed = ""
    for says, logits, answers, look in steps:
        pair_of = asked(logits, *answers)
        if pair_of is None:
            return None
        want, have = pair_of
        if not close(want, have):
            fine = f" {passed} it is right." if passed else ""
            told = f"{says} the loss should be {number(want)}; yours is {number(have)}.{fine}"
            return Finding("smallest-example", told, look=look)
        passed = (
            "For a single word"
            if "single" in says
            else "Where every word has an answer"
            if "only" not in says
            else passed
        )
    return None
