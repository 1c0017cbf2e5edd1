"""Questions put to a wrong answer by changing its inputs: what does it use, and what leaks where?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, agree, close, run


def probe(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """Arguments without any effect, sentences that influence each other, hidden keys that still count.

    i: the case to ask about, in which the answer gave numbers of the right shape. call: one more call.
    """
    return _unused(evidence, i, call) or _leak(evidence, i, call) or _sentences_mix(evidence, i, call)


def _unused(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    names, unused = _names(evidence), []
    for position, argument in enumerate(evidence.cases[i].arguments):
        if isinstance(argument, Tensor) and argument.is_floating_point():
            if _same(call(_with(evidence, i, {position: _other(argument)})), evidence.got[i]):
                unused.append(f"`{names[position]}`")
    if not unused:
        return None
    listed = in_a_row(unused)
    one = len(unused) == 1
    says = f"{listed} {'has' if one else 'have'} no effect: with other numbers in {'it' if one else 'them'} "
    look = f"where {listed} should take part."
    return Finding("unused-argument", f"{says}the result stays the same.", look=look)


def _same(new: Outcome, old: Outcome) -> bool:
    """Whether two results agree, also for their size: numbers near 0 may be right in another unit."""
    return agree(new, old) and all(
        torch.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-5 * float(b.abs().max()), equal_nan=True)
        for a, b in zip(new.leaves, old.leaves, strict=True)
        if b.is_floating_point() and b.numel() and bool(b.isfinite().all())
    )


def _leak(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    names = _names(evidence)
    arguments = dict(zip(names, evidence.cases[i].arguments, strict=False))
    mask = arguments.get("mask")
    if not isinstance(mask, Tensor) or mask.ndim != 2:
        return None
    for query, key in (~mask).nonzero().tolist():
        if "x" in arguments and query == key:
            continue  # x makes the query as well
        changes = {}
        for name in {"k", "v", "x"} & set(arguments):
            other = arguments[name].clone()
            other[..., key, :] = _other(other[..., key, :])
            changes[names.index(name)] = other
        new = call(_with(evidence, i, changes))
        old = evidence.got[i].leaves[0]
        if new.error is None and new.leaves and new.leaves[0].shape == old.shape:
            if not close(new.leaves[0][..., query, :], old[..., query, :]):
                says = (
                    f"Hidden tokens still count: token {key} is hidden from query {query}, and yet "
                    "another token there changes that query's output."
                )
                return Finding("hidden-keys-count", says, look="where the mask takes effect.")
        return None
    return None


def _sentences_mix(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    case, old = evidence.cases[i], evidence.got[i].leaves[0]
    b = case.sizes.get("b", 1)
    if b < 2 or not evidence.exercise.returns[0].axes[:1] == ("b",):
        return None
    changes = {}
    for position, argument in enumerate(case.arguments):
        if (
            isinstance(argument, Tensor)
            and argument.is_floating_point()
            and argument.shape[:1] == (b,)
            and argument.ndim > 2
        ):
            other = argument.clone()
            other[-1] = _other(other[-1])
            changes[position] = other
    new = call(_with(evidence, i, changes))
    if new.error is not None or not new.leaves or new.leaves[0].shape != old.shape:
        return None
    right = run(evidence.exercise.reference, _with(evidence, i, changes), quiet=True)
    # In some exercises sentences do meet, as where a mean goes over all of them.
    if close(new.leaves[0][0], old[0]) or not close(right.leaves[0][0], evidence.expected[i].leaves[0][0]):
        return None
    says = "Sentences influence each other: another last sentence changes the result for the first one."
    return Finding("sentences-mix", says, look="what happens to axis 0.")


def _names(evidence: Evidence) -> list[str]:
    return list(inspect.signature(evidence.exercise.reference).parameters)


def _with(evidence: Evidence, i: int, changes: dict[int, Any]) -> tuple[Any, ...]:
    fresh = evidence.cases[i].fresh()
    return tuple(changes.get(position, argument) for position, argument in enumerate(fresh))


def _other(x: Tensor) -> Tensor:
    """Other numbers of the same shape and kind, in no simple relation to the old ones."""
    wave = torch.arange(x.numel(), dtype=x.dtype).reshape(x.shape).mul(1.7).sin()
    return x * 0.6 + wave + 0.3
