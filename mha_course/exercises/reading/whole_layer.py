"""A layer whose mask leaves some queries nothing: its insides as those of any layer, then these rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.as_another import AsAnother
from mha_course.exercises.recognising import seen

Arguments = tuple[Any, ...]
Call = Callable[[Arguments], Outcome]
_LOOK = "queries with nothing to attend to: before the softmax, and after it."


def with_full_mask(arguments: Arguments) -> Arguments | None:
    """(x, w_q, w_k, w_v, w_o, h, mask) with the mask as (b, 1, n, n); None for a mask of each head.

    The mask may be None or missing.
    """
    x, *matrices, h = arguments[:6]
    mask = arguments[6] if len(arguments) > 6 else None
    b, n, _ = x.shape
    if mask is None:
        mask = torch.ones(n, n, dtype=torch.bool)
    if mask.ndim == 4 and mask.shape[1] > 1:
        return None
    return (x, *matrices, h, mask.expand(b, 1, n, n).clone())


def ordinary_rows(inside: AsAnother) -> Callable[[Evidence, int, Call], Finding | None]:
    """A reader for what goes wrong where every query has something to attend to."""

    def read(evidence: Evidence, i: int, call: Call) -> Finding | None:
        return None if evidence.cases[i].edge else inside.read(call)

    return read


def wrong_rows_zeroed(evidence: Evidence, call: Call) -> Finding | None:
    """Nothing but 0 for all queries, save for those that may attend to nothing."""
    i = evidence.first_wrong()
    got = [out.leaves[0] for out in evidence.got if out.error is None and len(out.leaves) == 1]
    if evidence.cases[i].edge or len(got) < len(evidence.got) or bool(got[i].any()):
        return None
    for case, have in zip(evidence.cases, got, strict=True):
        if case.edge and have.shape == case.arguments[0].shape:
            empty = _empty_of(case.arguments)
            if bool(have[empty].any()) and not bool(have[~empty].any()):
                says = (
                    "Everything is 0, save for queries with nothing to attend to: the wrong rows are emptied."
                )
                return Finding("wrong-rows-zeroed", says, seen(evidence), "which rows `any` is True for.")
    return None


def _empty_of(arguments: Arguments) -> Tensor:
    """Which queries have nothing to attend to: (b, n)."""
    allowed = next(a for a in arguments if isinstance(a, Tensor) and a.dtype == torch.bool)
    return ~allowed[:, 0].any(-1)


def read_rows_of_layer(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """What stands in the rows of queries with nothing to attend to, and whether it spoils others."""
    case, want, got = evidence.cases[i], evidence.expected[i].leaves, evidence.got[i].leaves
    if not case.edge or len(got) != 1 or got[0].shape != want[0].shape or not got[0].is_floating_point():
        return None
    empty = _empty_of(case.arguments)
    want, have = want[0], got[0]
    # A block adds its attention to x: then not 0 is wanted of such a row, but what it is without any.
    nothing = "0" if not bool(want[empty].any()) else "what it is without attention"
    if close(want[~empty], have[~empty]):
        start = "Queries with something to attend to are right."
        places = _places(empty & ~_same(want, have), empty)
        held = _held(have, want, empty, case.arguments)
        says = f"{start} For those without, the output should be {nothing}{places}; {held}."
        return Finding("empty-rows-wrong", says, look=_LOOK)
    others = ~empty & ~_same(want, have)
    nan = " They turn to NaN, too." if bool(have[others].isnan().all()) else ""
    where = _places(others, ~empty)
    says = f"As soon as one query has nothing to attend to, others go wrong as well{where}.{nan}"
    return Finding(
        "empty-rows-spoil-others", says, look="sums and conditions that take in more than one row."
    )


def _same(want: Tensor, have: Tensor) -> Tensor:
    """Which tokens are right: (b, n)."""
    return torch.isclose(want, have, rtol=2e-4, atol=2e-5, equal_nan=True).all(-1)


def _places(wrong: Tensor, of: Tensor) -> str:
    """In which sentences, where it is not in all of those that it could be in."""
    touched, could = wrong.any(1), of.any(1)
    if bool((touched == could).all()) and bool((wrong == of).all()):
        return ""
    if bool((wrong == (of & touched[:, None])).all()):
        listed = in_a_row([str(s + 1) for s in touched.nonzero()[:, 0].tolist()])
        return f" (it goes wrong in sentence{'s' * (int(touched.sum()) > 1)} {listed} only)"
    return f" (it goes wrong in {int(wrong.sum())} of {int(of.sum())} such places)"


def _held(have: Tensor, want: Tensor, empty: Tensor, arguments: Arguments) -> str:
    """What stands there instead, as the end of a sentence."""
    rows = have[empty]
    if bool(rows.isnan().any()):
        return "yours is NaN"
    if bool(rows.isinf().any()):
        return "yours is infinite"
    x = arguments[0]
    if close(rows, x[empty]):
        return "yours is the token of `x` itself"
    if close(rows, x[empty] + want[empty]):
        return "`x` is added to it"
    if rows.numel() > 1 and close(rows, rows.flatten()[:1].expand(rows.shape)):
        return f"yours is `{float(rows.flatten()[0]):.4g}` throughout"
    if len(rows) > 1 and close(rows, rows[:1].expand_as(rows)):
        return "yours is the same vector for all of them"
    return "yours still attends to something"


def renamed(finding: Finding | None, start: str) -> Finding | None:
    """A finding with a sentence in front."""
    return dataclasses.replace(finding, says=f"{start} {finding.says}") if finding else None
