"""A held-out score asked with one head only; and which head it judges where there are several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.probing import probe
from mha_course.exercises.reading.held_out import HELD_OUT, score_with
from mha_course.exercises.witness import number

Call = Callable[[tuple[Any, ...]], Outcome]


def read_held_out(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """The steps done otherwise where they are known; else whether picking or judging goes wrong."""
    found = HELD_OUT.read(evidence, i, call)
    got = evidence.got[i].leaves
    if found or len(got) != 1 or got[0].ndim or not got[0].is_floating_point():
        return found
    unused = probe(evidence, i, call)
    if unused:
        return unused
    hits, asked = evidence.cases[i].fresh()
    alone = [
        (call((hits[:, [k]].clone(), asked.clone())), score_with(hits[:, [k]], asked))
        for k in range(hits.shape[1])
    ]
    if any(out.error is not None or len(out.leaves) != 1 or out.leaves[0].ndim for out, _ in alone):
        return None
    wrong = [(out.leaves[0], want) for out, want in alone if not close(out.leaves[0].to(want.dtype), want)]
    if wrong:
        have, want = wrong[0]
        says = (
            "With one head alone, where there is nothing to pick, it goes wrong already: its share in odd "
            f"sentences is {number(want)}; yours is {number(have)}."
        )
        return Finding("share-is-wrong", says, look="what is divided by what.")
    best = hits[0::2].sum(0)
    picked = [k for k, (_, want) in enumerate(alone) if close(want, got[0].to(want.dtype))]
    head = int(best.argmax())
    if not picked:
        says = "With one head alone it is right; with several the result is the share of none of them."
        return Finding("no-head's-share", says, look="the step between picking and judging.")
    k = picked[0]
    says = (
        f"Head {k + 1} is judged. On even sentences it has {number(best[k])} hits, and head {head + 1} has "
        f"{number(best[head])}."
    )
    return Finding("another-head", says, look="how the head is picked.")
