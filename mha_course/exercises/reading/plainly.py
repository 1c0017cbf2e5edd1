"""What any wrong result can be, whatever it should hold: remembered, all zero, NaN, right in part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, close


def read_plainly(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The plainest true thing about numbers in the result of case i, or None."""
    got, want = evidence.got[i].leaves, evidence.expected[i].leaves
    if not got or any(leaf.is_complex() or not leaf.is_floating_point() for leaf in got):
        return None
    for j in range(i):
        if _same(evidence.got[j], evidence.got[i]) and not _same(evidence.expected[j], evidence.expected[i]):
            says = "This call gives what an earlier one gave: something outside the function keeps it."
            return Finding("remembers", says, look="names outside the function that it writes to and reads.")
    if not any(bool(leaf.any()) for leaf in got) and any(bool(leaf.any()) for leaf in want):
        return Finding("all-zero", "Everything is 0.", look="where the result gets its numbers.")
    if all(bool(leaf.isnan().all()) for leaf in got):
        look = "0/0, inf - inf, 0 times inf, or exp of a large number."
        return Finding("nothing-but-nan", "Everything is NaN.", look=look)
    if [leaf.shape for leaf in got] != [leaf.shape for leaf in want]:
        return None
    return _by_sentence(evidence, i)


def _same(one: Outcome, other: Outcome) -> bool:
    return (
        bool(one.leaves)
        and [leaf.shape for leaf in one.leaves] == [leaf.shape for leaf in other.leaves]
        and all(bool((a == b).all()) for a, b in zip(one.leaves, other.leaves, strict=True))
    )


def _by_sentence(evidence: Evidence, i: int) -> Finding | None:
    """Some sentences right, the others 0, NaN or another sentence's."""
    if not all(returned.axes[:1] == ("b",) for returned in evidence.exercise.returns):
        return None
    pairs = list(zip(evidence.expected[i].leaves, evidence.got[i].leaves, strict=True))
    count = len(pairs[0][0])
    right = [s for s in range(count) if all(close(a[s], b[s]) for a, b in pairs)]
    others = [s for s in range(count) if s not in right]
    if not right or not others:
        return None
    what = {_stands([b[s] for _, b in pairs], [a for a, _ in pairs]) for s in others}
    if len(what) != 1 or not (held := what.pop()):
        return None
    verbs = ["is" if len(right) == 1 else "are", "holds" if len(others) == 1 else "hold"]
    says = f"Of {count} sentences, {_listed(right)} {verbs[0]} right; {_listed(others)} {verbs[1]} {held}."
    return Finding("some-sentences", says, look="what happens to axis 0, and where a loop starts and ends.")


def _stands(have: list[Tensor], want: list[Tensor]) -> str:
    if not any(bool(part.any()) for part in have):
        return "nothing but 0"
    if all(bool(part.isnan().all()) for part in have):
        return "nothing but NaN"
    for s in range(len(want[0])):
        if all(close(part, whole[s]) for part, whole in zip(have, want, strict=True)):
            return f"what belongs to sentence {s + 1}"
    return ""


def _listed(places: list[int]) -> str:
    return in_a_row([str(place + 1) for place in places])
