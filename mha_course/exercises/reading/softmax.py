"""What a wrong softmax did: a factor in front, other steps, keys left out, rows that overflow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.factors import named_factor, softmax_scale
from mha_course.exercises.reading.places import mask_after_softmax, read_places
from mha_course.exercises.reading.steps_before_softmax import Step
from mha_course.exercises.reading.weights import Reading, near, nearly, read_steps, weights_changed

_TOO_LARGE = 50.0
_NEARLY = (
    "The weights are nearly right, to two or three digits. Something is rounded on the way, goes through "
    "float16 or bfloat16, or a small number is added."
)


def read_softmax(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The reading of a softmax over the rows of its first argument."""
    scores, have = evidence.cases[i].arguments[0], evidence.got[i].leaves[0]
    if len(evidence.got[i].leaves) != 1 or have.is_complex():
        return None
    if have.shape != scores.shape:
        return _one_number_each(scores, have)
    if not have.is_floating_point():
        return None
    found: Reading | None = None
    if float(scores.abs().max()) > _TOO_LARGE:
        found = _temperature(evidence, i) or _large(scores, have)
    found = found or _temperature(evidence, i) or read_weights(scores, have, None)
    if found is None:
        return None
    return Finding(found.id, found.says + _also_large(evidence, i), look=found.look)


def _one_number_each(scores: Tensor, have: Tensor) -> Finding | None:
    """One number for each row, or for each column."""
    powers = scores.exp()
    for axis, of in ((-1, "row"), (-2, "column")):
        for what, made in (
            ("sum of exponentials", powers.sum(axis)),
            ("logarithm of the sum of exponentials", scores.logsumexp(axis)),
            ("sum of the scores", scores.sum(axis)),
            ("largest score", scores.amax(axis)),
            ("place of the largest score", scores.argmax(axis)),
            ("largest weight", scores.softmax(-1).amax(axis)),
            ("sum of weights", scores.softmax(-1).sum(axis)),
            ("sum of shifted exponentials", (scores - scores.amax(-1, keepdim=True)).exp().sum(axis)),
        ):
            if have.numel() == made.numel() and near(made.reshape(-1), have.reshape(-1)):
                says = f"One number for each {of} comes out: its {what}. A weight for each score is wanted."
                return Finding("one-number-each", says, look="what is returned, and what it is divided by.")
    return None


def read_weights(
    scores: Tensor, have: Tensor, mask: Tensor | None, more: Sequence[Step] = (), root: float = 1
) -> Reading | None:
    """Other steps, or places that stand out, in weights that should be a softmax of scores.

    root: what the scores were divided by, for answers that leave it out; 1 where nothing is.
    """
    wide, hidden = (
        scores.double(),
        scores.double() if mask is None else scores.double().masked_fill(~mask, -math.inf),
    )
    if nearly(hidden.softmax(-1), have):
        found = weights_changed(wide, have.double(), mask) or read_places(wide, have, mask)
        return found or Reading(
            "nearly-right", _NEARLY, "conversions, `round`, and small numbers added for safety."
        )
    found = None if mask is None else mask_after_softmax(wide, have.double(), mask)
    found = found or read_steps(scores, have, mask, more) or read_places(scores, have, mask)
    found = found or _clipped(wide, hidden, have.double(), mask) or _row_by_row(wide, have.double(), mask)
    if found is None and root != 1:
        found = None if mask is None else mask_after_softmax(wide * root, have.double(), mask)
        left = wide.mul(root).softmax(-1) * (1.0 if mask is None else mask)
        if mask is not None and near(left, have):
            says = "The mask comes after the softmax, and what is left no longer sums to 1."
            found = Reading("mask-after-softmax-and-more", says, "the order of mask and softmax.")
        found = found or read_steps(scores * root, have, mask) or read_places(scores * root, have, mask)
        if found:
            lost = "The scores are not divided by the root of d_k. And:"
            return Reading(found.id, f"{lost} {found.says}", found.look)
    return found


def _clipped(scores: Tensor, hidden: Tensor, have: Tensor, mask: Tensor | None) -> Reading | None:
    """Scores that are cut off somewhere before the softmax."""
    look = "what is done to scores that are large, or far below the others."
    if not bool((have >= 0).all()):
        return None
    logs = have.clamp_min(1e-300).log()
    floor = float((logs - logs.amax(-1, keepdim=True))[hidden.isfinite()].min())
    below = (hidden - hidden.amax(-1, keepdim=True)).clamp(min=floor)
    below = below if mask is None else below.masked_fill(~mask, -math.inf)
    if near(below.softmax(-1), have):
        says = f"Scores more than {-floor:.3g} below the largest of their row are raised to that."
        return Reading("scores-clamped", says, look)
    for limit in (0.1, 0.5, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0):
        for low, high in ((-limit, limit), (None, limit), (-limit, None), (0.0, limit)):
            cut = scores.clamp(low, high)
            if near((cut if mask is None else cut.masked_fill(~mask, -math.inf)).softmax(-1), have):
                return Reading("scores-clamped", f"The scores are cut off at {limit:g} (a clamp).", look)
    return None


def _row_by_row(scores: Tensor, have: Tensor, mask: Tensor | None) -> Reading | None:
    """Some rows right, and something else in the others."""
    want = (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-1)
    n_q = scores.shape[-2]
    rows = [near(want[..., i, :], have[..., i, :]) for i in range(n_q)]
    wrong = [i for i, ok in enumerate(rows) if not ok]
    if not wrong or len(wrong) == n_q:
        return None
    kinds = (
        ("the scores themselves", scores),
        ("exponentials that are not divided", scores.exp()),
        ("exponentials that are not divided", (scores - scores.amax(-1, keepdim=True)).exp()),
        ("zeros", torch.zeros_like(scores)),
        ("equal weights", torch.full_like(scores, 1 / scores.shape[-1])),
    )
    which = f"query {wrong[0]}" if len(wrong) == 1 else f"queries {in_a_row([str(i) for i in wrong])}"
    for words, made in kinds:
        if all(near(made[..., i, :], have[..., i, :]) for i in wrong):
            says = f"The other rows are right; {which} {'holds' if len(wrong) == 1 else 'hold'} {words}."
            return Reading("some-rows-wrong", says, "where the loop or the assignment ends.")
    return None


def _temperature(evidence: Evidence, i: int) -> Reading | None:
    sizes, scales = [], []
    for case, out, counts in zip(evidence.cases, evidence.got, evidence.counts, strict=True):
        scores = case.arguments[0]
        if counts and out.error is None and len(out.leaves) == 1 and out.leaves[0].shape == scores.shape:
            scale = softmax_scale(scores, out.leaves[0])
            if scale is not None and float(scores.abs().max()) < _TOO_LARGE:
                sizes.append(case.sizes)
                scales.append(scale)
    have = evidence.got[i].leaves[0]
    first = softmax_scale(evidence.cases[i].arguments[0], have)
    if first is None or abs(first - 1) < 2e-3 or not near(have.sum(-1), torch.ones(have.shape[:-1])):
        return None
    if abs(first + 1) < 2e-3:
        says = "The scores get a minus before the softmax: the smallest one gets the largest weight."
        return Reading("sign-turned-too", says, "a minus, or a difference the wrong way round.")
    words = named_factor(sizes, scales, closely=2e-3) if all(abs(x - 1) > 1e-3 for x in scales) else None
    words = words or f"multiplied by {first:.4g}"
    says = f"Before the softmax the scores are {words}: a temperature that nobody asked for."
    base = math.exp(first) if 0 < first < 10 else 0.0
    if base and abs(base - round(base, 1)) < 2e-3 * base:
        says += f" It is as if powers of {base:.3g} stood where powers of e belong."
    return Reading("temperature", says, "what is done to the scores before `exp`.")


def _large(scores: Tensor, have: Tensor) -> Reading | None:
    """Which rows of large scores went wrong, and how."""
    want = scores.double().softmax(-1)
    kinds: dict[str, list[int]] = {"NaN": [], "all zeros": [], "all equal": [], "wrong": []}
    for row, (a, b) in enumerate(
        zip(want.reshape(-1, want.shape[-1]), have.reshape(-1, want.shape[-1]), strict=True)
    ):
        if near(a, b):
            continue
        if bool(b.isnan().any()):
            kinds["NaN"].append(row)
        elif not bool(b.any()):
            kinds["all zeros"].append(row)
        elif float(b.max() - b.min()) < 1e-6:
            kinds["all equal"].append(row)
        else:
            kinds["wrong"].append(row)
    parts = []
    for kind, rows in kinds.items():
        if rows:
            at = scores.reshape(-1, scores.shape[-1])[rows[0]]
            one = len(rows) == 1
            listed = f"row{'' if one else 's'} {in_a_row([str(r) for r in rows])}"
            parts.append(
                f"{listed} {'is' if one else 'are'} {kind} (scores from {at.min():.0f} to {at.max():.0f})"
            )
    says = f"Large scores go wrong: {in_a_row(parts)}."
    if kinds["NaN"]:
        look = "what goes into `exp`: how large can it get, and how small can the sum of a row get?"
        cut = kinds["all equal"] and any(
            float(scores.reshape(-1, want.shape[-1])[r].max()) > 0 for r in kinds["all equal"]
        )
        says += (
            " Differences between large scores get lost, as when they are cut off (a clamp)." if cut else ""
        )
        return Reading("overflow-in-some-rows", f"{says} {_why_nan(scores, have)}".strip(), look)
    if kinds["all equal"]:
        says += " Differences between large scores get lost, as when they are clamped or rounded."
    elif kinds["all zeros"]:
        says += " The sum of such a row has vanished, or NaN was replaced by 0."
    elif kinds["wrong"]:
        says += " Differences between scores get lost there, as when they are clamped or divided."
    return Reading("large-scores-lost", says, "what goes into `exp`, and what is done to large numbers.")


def _why_nan(scores: Tensor, have: Tensor) -> str:
    """What was not taken away from a row that became NaN."""
    rows = [row for row, out in zip(scores, have, strict=True) if bool(out.isnan().any())]
    if all(float(row.max()) < 0 for row in rows):
        return "The exponentials of such a row all vanish: 0 / 0."
    return "What is taken away from a row, if anything, is not its largest score."


def _also_large(evidence: Evidence, i: int) -> str:
    for case, out, counts, right in zip(
        evidence.cases, evidence.got, evidence.counts, evidence.right, strict=True
    ):
        if counts and not right and out is not evidence.got[i] and out.error is None and out.leaves:
            if bool(torch.isnan(out.leaves[0]).any()):
                return f" Besides: {case.label} some entries are NaN."
    return ""
