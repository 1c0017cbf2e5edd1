"""What comes out of a head that looks at targets: with which weights, or from which head and token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.factors import named_factor
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.witness import number

Call = Callable[[tuple[Any, ...]], Outcome]


def read_average(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """The weights that an average of targets was made with, or what else was made of the targets."""
    values, targets = evidence.cases[i].arguments
    got = evidence.got[i].leaves
    if len(got) != 1 or not got[0].is_floating_point():
        return None
    have = got[0].double()
    picked = values[targets].double()
    for words, look, made in _made_of(values.double(), picked, targets):
        if made.shape == have.shape and torch.allclose(made, have, rtol=1e-3, atol=2e-5):
            return Finding("made-otherwise", words, look=look)
    if have.shape != picked.shape[1:]:
        return _apart(values.double(), picked, targets, have)
    row = _weights(values, targets, have, call)
    return None if row is None else _about_weights(evidence, i, row, call)


def _weights(values: Tensor, targets: list[int], have: Tensor, call: Call) -> Tensor | None:
    """The row of weights, seen by handing over values that name their token; None when it is none."""
    out = call((torch.eye(len(values), dtype=values.dtype), list(targets)))
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].shape != (len(values),):
        return None
    row = out.leaves[0].double()
    return row if torch.allclose(row @ values.double(), have, rtol=1e-3, atol=2e-5) else None


def _about_weights(evidence: Evidence, i: int, row: Tensor, call: Call) -> Finding:
    _, targets = evidence.cases[i].arguments
    used = row.abs() > 1e-5
    strangers = [t for t in used.nonzero().flatten().tolist() if t not in targets]
    left_out = [t for t in targets if not bool(used[t])]
    listed = in_a_row([f"token {t} `{number(row[t])}`" for t in used.nonzero().flatten().tolist()])
    seen = f"Your weights, read from what comes out: {listed or 'all 0'}; they sum to `{number(row.sum())}`."
    if not bool(used.any()):
        return Finding("weights-all-zero", "No token has any weight.", seen, "where the weights are set.")
    if strangers:
        one = len(strangers) == 1
        which = f"Token{'' if one else 's'} {in_a_row([str(t) for t in strangers])}"
        says = f"{which} {'has' if one else 'have'} weight and {'is no target' if one else 'are no targets'}."
        if left_out:
            says += (
                f" Target{'' if len(left_out) == 1 else 's'} {in_a_row([str(t) for t in left_out])} has none."
            )
        steps = {tuple(sorted(t + step for t in targets)): step for step in (-2, -1, 1, 2)}
        moved = steps.get(tuple(used.nonzero().flatten().tolist()))
        if moved:
            side = "after" if moved > 0 else "before"
            says = f"The tokens {abs(moved)} {side} the targets come out, not the targets."
        return Finding("weight-on-others", says, seen, "which rows of `values` have weight.")
    if left_out:
        says = (
            f"Target{'' if len(left_out) == 1 else 's'} {in_a_row([str(t) for t in left_out])} has no weight."
        )
        return Finding("target-left-out", says, seen, "what becomes of each target.")
    own = row[targets]
    if float(own.max() - own.min()) > 1e-4:
        says = "The targets have different weights; one head gives them the same."
        return Finding("targets-unequal", says, seen, "how the weight of 1 is shared.")
    return _wrong_sum(evidence, row, seen, call)


def _wrong_sum(evidence: Evidence, row: Tensor, seen: str, call: Call) -> Finding:
    sizes, sums = [], []
    for case, counts in zip(evidence.cases, evidence.counts, strict=True):
        values, targets = case.fresh()
        out = call((torch.eye(len(values), dtype=values.dtype), targets))
        if counts and out.error is None and len(out.leaves) == 1 and out.leaves[0].shape == (len(values),):
            sizes.append({"n": len(values), "d_v": case.sizes["d_v"], "h": len(targets)})
            sums.append(float(out.leaves[0].sum()))
    words = named_factor(sizes, sums) if len(sums) > 1 else None
    words = (words or "").replace(" h", " the number of targets")
    if "fixed" in words or not words:
        words = f"{float(row.sum()):.4g} times what they should be"
    says = f"The targets share the weight equally, but it doesn't sum to 1: the weights are {words}."
    return Finding("weights-do-not-sum-to-one", says, seen, "what the weights of a row sum to.")


def _made_of(values: Tensor, picked: Tensor, targets: list[int]) -> Iterator[tuple[str, str, Tensor]]:
    """Other things that can be made of the targets' values."""
    mean = picked.mean(0)
    yield "In each feature the smallest value comes out.", "`min`.", picked.amin(0)
    yield "In each feature the middle value comes out.", "`median`.", picked.median(0).values
    yield "The values of the targets are multiplied with each other.", "`*` and `prod`.", picked.prod(0)
    yield "The difference of the targets comes out.", "the signs.", picked[0] - picked[1:].sum(0)
    yield "The difference of the targets comes out.", "the signs.", picked[-1] - picked[:-1].sum(0)
    yield "The spread of the targets comes out.", "`std` and `var`.", picked.std(0)
    yield "The spread of the targets comes out.", "`std` and `var`.", picked.var(0)
    yield "The average is divided by its length.", "what comes after the average.", mean / mean.norm()
    yield "A softmax is applied to the average.", "what comes after the average.", mean.softmax(0)
    yield "A ReLU is applied to the average.", "what comes after the average.", mean.relu()
    yield "The sign of the average is lost.", "what comes after the average.", mean.abs()
    yield "The average has the opposite sign.", "a minus.", -mean
    yield "The average of all tokens is taken from it.", "a minus.", mean - values.mean(0)
    yield "The average stands in reversed order of features.", "the order.", mean.flip(0)
    yield "The average is rounded.", "conversions to whole numbers.", mean.round()
    yield "The sum of the features of the targets comes out.", "the axis of the sum.", picked.sum(-1)
    softened = picked.softmax(0)
    yield "A softmax goes over the values themselves.", "what is softened.", (softened * picked).sum(0)
    yield "A softmax goes over the values themselves.", "what is softened.", values.softmax(0)[targets].sum(0)
    yield "The sum over everything comes out.", "the axis of the sum.", picked.sum()
    yield "The average over everything comes out.", "the axis of the mean.", picked.mean()
    yield (
        "The average of averages of all tokens and the targets comes out.",
        "the rows.",
        (mean + values.mean(0)) / 2,
    )


def _apart(values: Tensor, picked: Tensor, targets: list[int], have: Tensor) -> Finding | None:
    """Results of other shapes: rows that are not yet added up."""
    look = "the sum that makes one vector of several."
    if have.shape == picked.shape:
        share = " each divided by the number of targets," if close(have, picked / len(targets)) else ""
        if share or close(have, picked):
            says = f"The values of the targets stand below each other,{share} not yet added up."
            return Finding("not-added-up", says, look=look)
    if have.shape == values.shape:
        weights = torch.zeros(len(values), dtype=values.dtype)
        weights[targets] = 1 / len(targets)
        if close(have, weights[:, None] * values):
            says = "Each value is multiplied by its weight; the sum over the tokens is missing."
            return Finding("not-added-up", says, look=look)
        if close(have, picked.mean(0).expand_as(values)):
            return Finding(
                "one-row-each", "The average is there, once for each token; one is wanted.", look=look
            )
    if have.shape == (len(values),) and close(have.sum(), torch.ones((), dtype=have.dtype)):
        return Finding(
            "weights-returned", "These are the weights; they are not yet applied.", look="the last step."
        )
    return None


def read_targets_of_heads(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """From which head and token each part of a concatenation comes, seen by coded values."""
    values, targets = evidence.cases[i].arguments
    got = evidence.got[i].leaves
    h, _, d_v = values.shape
    if len(got) != 1 or not got[0].is_floating_point():
        return None
    coded = torch.arange(values.numel(), dtype=values.dtype).reshape(values.shape) + 1
    out = call((coded, list(targets)))
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].shape != got[0].shape:
        return None
    codes = out.leaves[0].double().flatten()
    if got[0].numel() % d_v:
        return None
    parts = got[0].double().reshape(-1, d_v)
    if got[0].ndim == 1 and len(parts) != h:
        return _other_number(values.double(), targets, parts)
    if got[0].ndim != 1:
        return None
    words, fine = [], []
    for head, (part, code) in enumerate(zip(parts, codes.reshape(-1, d_v), strict=True)):
        if close(part, values[head, targets[head]].double()):
            fine.append(head)
            continue
        words.append(
            f"Part {head + 1} {_origin(values.double(), targets, part, code)}; it should hold head "
            f"{head + 1}'s value at token {targets[head]}."
        )
    tail = (
        f" Part{'' if len(fine) == 1 else 's'} {in_a_row([str(p + 1) for p in fine])} right." if fine else ""
    )
    tail = tail.replace(" right.", " is right." if len(fine) == 1 else " are right.")
    return Finding(
        "wrong-parts", " ".join(words) + tail, look="the indices of `values`, and the order of the parts."
    )


def _origin(values: Tensor, targets: list[int], part: Tensor, code: Tensor) -> str:
    """Where one part of the result comes from, in words that follow "Part 2"."""
    h, n, _ = values.shape
    rows = values.reshape(h * n, -1)
    if not bool(part.abs().max() > 1e-9):
        return "is all 0"
    scale = (rows @ part) / (rows * rows).sum(-1)
    gaps = (part - scale[:, None] * rows).abs().amax(-1)
    best = int(gaps.argmin())
    if float(gaps[best]) < 1e-4:
        head, token = divmod(best, n)
        c = float(scale[best])
        times = "" if abs(c - 1) < 1e-3 else f"{c:.4g} times "
        return f"holds {times}head {head + 1}'s value at token {token}"
    for head in range(h):
        for what, made in (
            ("the average of all tokens", values[head].mean(0)),
            ("the sum of all tokens", values[head].sum(0)),
            ("the average of all targets", values[head, targets].mean(0)),
            ("the sum of all targets", values[head, targets].sum(0)),
            ("the largest of all targets", values[head, targets].amax(0)),
            ("the largest of all tokens", values[head].amax(0)),
        ):
            if torch.allclose(made, part, rtol=1e-3, atol=2e-5):
                return f"holds {what} in head {head + 1}"
    for token in range(n):
        for what, made in (("average", values[:, token].mean(0)), ("sum", values[:, token].sum(0))):
            if torch.allclose(made, part, rtol=1e-3, atol=2e-5):
                return f"holds the {what} of all heads at token {token}"
    for head, token in ((a, b) for a in range(h) for b in range(n)):
        row = values[head, token]
        for what, made in (
            ("with its features in reversed order", row.flip(0)),
            ("sorted", row.sort().values),
            ("after a softmax", row.softmax(0)),
            ("after a ReLU", row.relu()),
            ("divided by its length", row / row.norm()),
            ("rounded", row.round()),
            ("without its sign", row.abs()),
        ):
            if torch.allclose(made, part, rtol=1e-3, atol=2e-5):
                return f"holds head {head + 1}'s value at token {token}, {what}"
    whole = code.round() - 1
    if close(whole + 1, code) and bool((whole >= 0).all()) and bool((whole < values.numel()).all()):
        places = [tuple(int(x) for x in torch.unravel_index(c.long(), values.shape)) for c in whole]
        listed = in_a_row([f"head {a + 1} token {b} feature {c}" for a, b, c in places[:2]])
        return f"starts with {listed}"
    return "is no single value"


def _other_number(values: Tensor, targets: list[int], parts: Tensor) -> Finding | None:
    """A result with too many or too few parts."""
    h, n, _ = values.shape
    rows = values.reshape(h * n, -1)
    places = []
    for part in parts:
        gaps = (rows - part).abs().amax(-1)
        best = int(gaps.argmin())
        places.append(
            f"head {best // n + 1} token {best % n}" if float(gaps[best]) < 1e-4 else "another vector"
        )
    if "another vector" in places and len(set(places)) == 1:
        return None
    shown = in_a_row(places[:4]) + (" and so on" if len(places) > 4 else "")
    count = f"{len(parts)} part{'' if len(parts) == 1 else 's'}"
    says = f"The result has {count} of d_v numbers; with {h} heads there should be {h}. Yours: {shown}."
    return Finding("wrong-number-of-parts", says, look="what one head contributes.")
