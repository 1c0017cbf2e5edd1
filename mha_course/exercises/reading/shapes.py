"""Results of another shape: part of what is wanted, a sum over an axis, an axis too many, an older one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, in_a_row
from mha_course.exercises.reading.factors import scale_of

_WORDS = {
    "b": "sentence",
    "h": "head",
    "n": "token",
    "n_q": "query",
    "n_k": "key",
    "d_k": "feature",
    "d_v": "feature",
    "d_model": "feature",
}
_REDUCED = (
    ("added up", lambda x, a: x.sum(a, keepdim=True)),
    ("averaged", lambda x, a: x.mean(a, keepdim=True)),
    ("reduced to the largest", lambda x, a: x.amax(a, keepdim=True)),
    ("reduced to the smallest", lambda x, a: x.amin(a, keepdim=True)),
    ("multiplied with each other", lambda x, a: x.prod(a, keepdim=True)),
)


def read_shape(evidence: Evidence, i: int) -> str:
    """A sentence on what a result of the wrong shape is, made from the wanted one; "" when nothing fits."""
    returns, want, have = evidence.exercise.returns, evidence.expected[i].leaves, evidence.got[i].leaves
    for returned, a, b in zip(returns, want, have, strict=False):
        if a.shape == b.shape or not a.is_floating_point() or not b.is_floating_point():
            continue
        axes = returned.axes if len(returned.axes) == a.ndim else ("",) * a.ndim
        said = _older(evidence, i, b) or next(_made(a.double(), b.double(), axes), "")
        return said
    return ""


def _same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-3, atol=2e-5, equal_nan=True)


def _older(evidence: Evidence, i: int, have: Tensor) -> str:
    for k, (want, out) in enumerate(zip(evidence.expected[:i], evidence.got[:i], strict=True)):
        if any(_same(leaf.double(), have.double()) for leaf in (*want.leaves, *out.leaves)):
            label = evidence.cases[k].label
            return f"This is the result of an earlier call, {label}: something outside the function keeps it."
    return ""


def _made(want: Tensor, have: Tensor, axes: tuple[str, ...]) -> Iterator[str]:
    for axis in range(want.ndim):
        yield from _along(want, have, axis, _WORDS.get(axes[axis], ""))
    for order in permutations(range(want.ndim)):
        turned = want.permute(order)
        if turned.shape == have.shape and list(order) != sorted(order):
            scale = scale_of(turned, have)
            if scale is not None and abs(scale - 1) > 1e-3:
                says = "The axes stand in another order, and every number is"
                yield f"{says} {scale:.4g} times what it should be."
    if have.numel() == want.numel() and have.ndim > want.ndim and _same(have.squeeze(), want.squeeze()):
        more, right = have.ndim - want.ndim, "number is" if want.ndim == 0 else "numbers are"
        axes = "is one axis" if more == 1 else f"are {more} axes"
        yield f"There {axes} too many, of length 1; the {right} right."
    if have.ndim == want.ndim + 1 and have.shape[:-1] == want.shape and have.shape[-1] > 1:
        scale = scale_of(want, have.sum(-1))
        if scale is not None:
            tail = "" if abs(scale - 1) < 1e-3 else f" Added up it is {scale:.4g} times what it should be."
            yield f"There is one axis too many at the end: the sum over it is missing.{tail}"
    if have.ndim > want.ndim and have.numel() > want.numel():
        for axis in range(have.ndim):
            first = have.select(axis, 0)
            if first.shape == want.shape and _same(first, want):
                if _same(first.unsqueeze(axis).expand_as(have), have):
                    yield f"The right result stands there {have.shape[axis]} times, along axis {axis}."
                else:
                    yield f"There is an axis too many, axis {axis}; its first entry is the right result."


def _along(want: Tensor, have: Tensor, axis: int, word: str) -> Iterator[str]:
    """Part of the wanted result along one axis, or all of it reduced."""
    size, name = want.shape[axis], word or f"axis {axis}"
    several = f"{word[:-1]}ies" if word.endswith("y") and word != "key" else f"{word}s" if word else "entries"
    for k, which in ((0, "first"), (size - 1, "last")):
        one = want.narrow(axis, k, 1)
        if size > 1 and (_same(one, have) or _same(one.squeeze(axis), have)):
            yield f"Only the {which} {name} is there, of {size} {several}."
    if have.ndim == want.ndim and 0 < have.shape[axis] < size:
        count = have.shape[axis]
        left = size - count
        lost = "one is" if left == 1 else f"{left} are"
        if _same(want.narrow(axis, 0, count), have):
            yield f"What is there is right; of {size} {several} the last {lost} missing."
        elif _same(want.narrow(axis, left, count), have):
            yield f"What is there is right; of {size} {several} the first {lost} missing."
        else:
            kept = [k for k in range(size) if any(_same(want.select(axis, k), x) for x in have.unbind(axis))]
            if len(kept) == count and kept:
                yield f"Only the {several} {in_a_row([str(k) for k in kept])} are there, of {size}."
    if have.ndim == want.ndim and have.shape[axis] > size:
        if _same(have.narrow(axis, 0, size), want):
            yield f"The {several} wanted are right; {have.shape[axis] - size} too many follow."
        elif _same(have.narrow(axis, have.shape[axis] - size, size), want):
            yield f"The {several} wanted are right; {have.shape[axis] - size} too many stand in front."
    for words, reduced in _REDUCED:
        made = reduced(want, axis)
        if _same(made, have) or _same(made.squeeze(axis), have):
            over = f"its {several} are {words}" if word else f"it is {words} over axis {axis}"
            yield f"It is made of the right result: {over}."
