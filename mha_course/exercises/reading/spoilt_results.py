"""Results that are spoilt as a whole: kept from an earlier call, NaN, zeros, or right to a few digits."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import close
from mha_course.exercises.witness import counted

_WORDS = {"b": "sentence", "h": "head", "n": "token", "n_q": "query", "d_model": "feature"}


def spoilt(evidence: Evidence, i: int) -> Finding | None:
    """An earlier call's result, NaN, or zeros where numbers belong, in case i; or None."""
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    found = _kept(evidence, i)
    if found or want.shape != have.shape or not (have.is_floating_point() and want.is_floating_point()):
        return found
    if bool(have.isnan().any()) and not bool(want.isnan().any()):
        some = "Everything is" if bool(have.isnan().all()) else "Some entries are"
        look = "0/0, inf - inf, infinity times 0, or exp of a large number."
        return Finding("not-a-number", f"{some} NaN.", look=look)
    if not bool(have.any()) and want.ndim:
        return Finding(
            "all-zero", "Everything is 0.", look="what is returned, and whether it is ever filled."
        )
    return _part_is_zero(evidence.exercise.returns[0].axes, want, have)


def nearly_right(evidence: Evidence, i: int) -> Finding | None:
    """Numbers that are right to a few digits."""
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    if want.shape != have.shape or not have.is_floating_point() or not want.numel():
        return None
    gap = float((have.double() - want.double()).abs().max())
    if not 0 < gap <= 3e-3 * float(want.abs().max()):
        return None
    says = f"Nearly right: no number is off by more than {gap:.1g}. Is something rounded, or added?"
    look = "rounding, a narrower dtype (float16), and small numbers that are added."
    return Finding("nearly-right", says, look=look)


def _kept(evidence: Evidence, i: int) -> Finding | None:
    """What an earlier call gave, given once more."""
    have, want = evidence.got[i].leaves[0], evidence.expected[i].leaves[0]
    if have.numel() < 2 or not bool(have.any()) or not bool(have.isfinite().all()):
        return None
    for case, right, out in zip(evidence.cases[:i], evidence.expected[:i], evidence.got[:i], strict=True):
        same = len(out.leaves) == 1 and out.leaves[0].shape == have.shape and close(out.leaves[0], have)
        if same and (right.leaves[0].shape != want.shape or not close(right.leaves[0], want)):
            label = evidence.cases[i].label
            says = (
                f"{label[:1].upper()}{label[1:]} this call gives what an earlier one gave ({case.label}): "
                "something outside the function keeps it, or the inputs are not used."
            )
            return Finding("kept-from-before", says, look="names outside the function, and caches.")
    return None


def _part_is_zero(axes: tuple[str, ...], want: Tensor, have: Tensor) -> Finding | None:
    for axis, name in enumerate(axes if len(axes) == want.ndim else ()):
        if name not in _WORDS or want.shape[axis] < 2:
            continue
        others = [a for a in range(want.ndim) if a != axis]
        empty = (have == 0).all(others) if others else have == 0
        places = (empty & ((want != 0).any(others) if others else want != 0)).nonzero()[:, 0].tolist()
        rest = torch.tensor([p for p in range(want.shape[axis]) if p not in places], dtype=torch.long)
        if places and close(have.index_select(axis, rest), want.index_select(axis, rest)):
            one, word = len(places) == 1, _WORDS[name]
            which = in_a_row([str(counted(word, p)) for p in places])
            says = (
                f"{word[:1].upper()}{word[1:]}{'' if one else 's'} {which} {'is' if one else 'are'} 0 "
                "throughout; the rest is right."
            )
            return Finding("part-is-zero", says, look="where a loop or a slice ends.")
    return None
