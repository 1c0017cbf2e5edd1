"""The way back through an answer whose numbers are right: gradients that are NaN, or cut off."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.exercise import Case
from mha_course.exercises.outcome import Outcome, run

_NO_WAY_BACK = "A model could not learn through this function: stay with `torch` from inputs to result."


def way_back(evidence: Evidence, fn: Callable[..., Any]) -> tuple[Finding | None, str]:
    """What keeps a right answer from passing, and a remark; (None, "") when gradients flow as they should.

    Only where NaN gradients are the point of the exercise (`finite_gradients`) do they decide.
    """
    exercise = evidence.exercise
    if not exercise.learns_through or any(returned.kind != "float" for returned in exercise.returns):
        return None, ""
    cases = [
        case for case, ok in zip(evidence.cases, evidence.right, strict=True) if ok and exercise.counts(case)
    ]
    remark = ""
    # Where finite gradients are asked for, a special case may spoil them that others don't show.
    for case in cases if exercise.finite_gradients else cases[:1]:
        finding, said = _way_back(evidence, case, fn)
        remark = remark or said
        if finding:
            return finding, ""
    return None, remark


def _way_back(evidence: Evidence, case: Case, fn: Callable[..., Any]) -> tuple[Finding | None, str]:
    exercise = evidence.exercise
    names = _learning(exercise.reference, case.arguments)
    if not names:
        return None, ""  # made of whole numbers: there is nothing to go back to
    wanted, got = _slopes(exercise.reference, case), _slopes(fn, case)
    if got.error is not None:
        code = got.error_text.replace("`", "'")
        return None, f"One remark: with gradients switched on it stops with `{code}`. {_NO_WAY_BACK}"
    cut = [
        f"`{name}`"
        for name, a, b in zip(names, wanted.leaves, got.leaves, strict=True)
        if a.numel() and not b.numel()
    ]
    if cut:
        which = "the inputs" if len(cut) == len(names) else in_a_row(cut)
        if exercise.finite_gradients:
            return _cut_off(case, which), ""
        return None, f"One remark: the numbers are right, but no gradient reaches {which}. {_NO_WAY_BACK}"
    broken = {name: b for name, b in zip(names, got.leaves, strict=True) if not bool(b.isfinite().all())}
    if not broken:
        return None, ""
    if not exercise.finite_gradients:
        listed = in_a_row([f"`{name}`" for name in broken])
        return None, f"One remark: the numbers are right, but gradients of {listed} are not finite."
    return _not_finite(case, broken), ""


def _cut_off(case: Case, which: str) -> Finding:
    """An answer whose gradients are asked for, and that gives none."""
    says = (
        f"The results are right, but no gradient reaches {which}: the way back is cut. Gradients are "
        "asked for here, and a model could not learn through this."
    )
    seen = f"{case.label[:1].upper()}{case.label[1:]}: after `backward` {which} would have no gradient."
    return Finding("no-gradients", says, seen, "`detach`, `no_grad`, `.data`, and ways through NumPy.")


def _not_finite(case: Case, broken: dict[str, Tensor]) -> Finding:
    """Weights that were NaN when they met the values spoil v; a softmax of nothing spoils q and k."""
    listed = in_a_row([f"`{name}`" for name in broken])
    name, slope = next(iter(broken.items()))
    count = int((~slope.isfinite()).sum())
    when = f"{case.label[:1].upper()}{case.label[1:]} ({case.in_words()})"
    seen = f"{when}: {count} of {slope.numel()} entries in the gradient of `{name}` are NaN."
    if {"v", "w_v"} & set(broken):
        says = (
            f"The results are right, but on the way back the gradients of {listed} are NaN: the weights were "
            "still NaN when they multiplied the values. Repairing the results afterwards hides that only "
            "from the eye."
        )
        look = "the order: repair of the weights, weighted sum."
        return Finding("nan-gradients-of-values", says, seen, look)
    says = (
        f"The results are right, but on the way back the gradients of {listed} are NaN: empty rows went "
        "through a 0/0 that was repaired afterwards, and backwards NaN times 0 is NaN. One step of training "
        "would spoil every weight."
    )
    look = "how hidden scores get their -inf (an added one lets gradients back in), or the sum divided by."
    return Finding("nan-gradients", says, seen, look)


def _slopes(fn: Callable[..., Any], case: Case) -> Outcome:
    """For each input that could learn: the gradient of one number made of all results, or nothing."""
    count = sum(_learns(value) for value in _flat(case.arguments))

    def there_and_back(*arguments: Any) -> Tensor | tuple[Tensor, ...]:
        inputs = [tensor.requires_grad_() for tensor in _flat(arguments) if _learns(tensor)]
        made = fn(*arguments)
        parts = [part for part in (made if isinstance(made, (tuple, list)) else (made,)) if _flows(part)]
        slopes: Sequence[Tensor | None] = [None] * count
        if parts:
            slopes = torch.autograd.grad([_one_number(part) for part in parts], inputs, allow_unused=True)
        found = tuple(torch.empty(0) if slope is None else slope for slope in slopes)
        return found if count > 1 else found[0]

    return run(there_and_back, case.fresh(), count, quiet=True)


def _learning(reference: Callable[..., Any], arguments: tuple[Any, ...]) -> list[str]:
    """The names of what could learn: tensors of floats, also those in a dictionary."""
    names = list(inspect.signature(reference).parameters)
    found = []
    for i, argument in enumerate(arguments):
        inside = argument if isinstance(argument, dict) else {names[i]: argument}
        found += [name for name, value in inside.items() if _learns(value)]
    return found


def _flat(arguments: tuple[Any, ...]) -> list[Any]:
    """The arguments, those of a dictionary in its place."""
    return [
        value
        for argument in arguments
        for value in (argument.values() if isinstance(argument, dict) else (argument,))
    ]


def _one_number(part: Tensor) -> Tensor:
    """Each entry with a weight of its own: a plain sum over weights would be 1 a row, whatever goes in."""
    return (part * torch.arange(1, part.numel() + 1, dtype=part.dtype).sin().reshape(part.shape)).sum()


def _learns(argument: Any) -> bool:
    return isinstance(argument, Tensor) and argument.is_floating_point()


def _flows(part: Any) -> bool:
    return isinstance(part, Tensor) and part.requires_grad and part.is_floating_point()
