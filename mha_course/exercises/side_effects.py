"""What can be wrong with an answer whose numbers are right: its container, its dtype, what it changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, agree


def wrong_container(evidence: Evidence) -> Finding | None:
    """Right numbers in a NumPy array or a list where a tensor is wanted, or in another dtype."""
    for case, want, have in zip(evidence.cases, evidence.expected, evidence.got, strict=True):
        if not case.required or have.error is not None:
            continue
        for returned, word in zip(evidence.exercise.returns, have.odd, strict=False):
            if returned.kind in ("float", "bool") and word == "numpy":
                says = "The numbers are right. The result is a NumPy array; a tensor is wanted."
                return Finding("numpy-array", says, look="`torch.from_numpy`.")
            if returned.kind in ("float", "bool") and word:
                says = f"The numbers are right. The result is a {word}; a tensor is wanted."
                look = "`torch.stack`, `torch.cat` or `torch.tensor`."
                return Finding("a-list" if word == "list" else "a-number", says, look=look)
        for a, b in zip(want.leaves, have.leaves, strict=True):
            plain = "number" in have.odd or "number" in want.odd  # a Python number has no dtype to keep
            if a.is_floating_point() and a.dtype != b.dtype and not plain:
                says = f"The numbers are right. The dtype is `{b.dtype}`, the inputs have `{a.dtype}`."
                return Finding("wrong-dtype", says, look="conversions, and NumPy's float64 numbers.")
    return None


def changed_input(evidence: Evidence) -> Finding | None:
    """The function wrote into one of its arguments."""
    changed = next((out.changed for out in evidence.got if out.changed is not None), None)
    if changed is None:
        return None
    name = list(inspect.signature(evidence.exercise.reference).parameters)[changed]
    says = f"The function changes its argument `{name}`; whoever called it loses the original."
    look = "methods that end in `_`, `+=`, assignments into an argument."
    if isinstance(evidence.cases[0].arguments[changed], list):
        look = "methods that change a list (`pop`, `clear`, `sort`, ...), `del`, `+=`, assignments into it."
    return Finding("changed-input", says, look=look)


def not_repeatable(first: Outcome, again: Callable[[], Outcome]) -> Finding | None:
    """A second call with the same arguments gives something else."""
    if agree(again(), first):
        return None
    says = "Two calls with the same arguments give different results."
    look = "random numbers, dropout, names outside the function that change, and defaults that keep things."
    return Finding("not-repeatable", says, look=look)
