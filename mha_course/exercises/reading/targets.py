"""What comes out of one head that looks at targets: with which weights, or what else was made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.factors import named_factor, scale_of
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
    if not bool(have.isfinite().all()):
        return None
    found = _otherwise(evidence)
    if found:
        return found
    if have.shape != picked.shape[1:]:
        return _apart(values.double(), picked, targets, have)
    found = _scaled(evidence)
    if found:
        return found
    row = _weights(values, targets, have, call)
    return None if row is None else _about_weights(evidence, i, row)


def _otherwise(evidence: Evidence) -> Finding | None:
    """What else was made of the targets, the same in every case that came out wrong."""
    names: dict[str, str] | None = None
    for case, out, right, counts in zip(
        evidence.cases, evidence.got, evidence.right, evidence.counts, strict=True
    ):
        if right or not counts or case.edge or out.error is not None or len(out.leaves) != 1:
            continue
        values, targets = case.arguments
        have = out.leaves[0].double()
        fits = {
            words: look
            for words, look, made in _made_of(values.double(), values[targets].double(), targets)
            if made.shape == have.shape and torch.allclose(made, have, rtol=1e-3, atol=2e-5)
        }
        names = fits if names is None else {words: look for words, look in names.items() if words in fits}
    if not names:
        return None
    words, look = next(iter(names.items()))
    return Finding("made-otherwise", words, look=look)


def _scaled(evidence: Evidence) -> Finding | None:
    """The sum of the targets times the same expression of the sizes."""
    sizes, shares = [], []
    for case, out, counts in zip(evidence.cases, evidence.got, evidence.counts, strict=True):
        if counts and not case.edge and out.error is None and len(out.leaves) == 1:
            values, targets = case.arguments
            share = scale_of(values[targets].sum(0), out.leaves[0])
            if share is None:
                return None
            sizes.append({"n": len(values), "d_v": values.shape[1], "h": len(targets)})
            shares.append(share)
    words = named_factor(sizes, shares) if len(shares) > 1 else None
    if not words or words == "divided by h":
        return None
    words = re.sub(r"\bh\b", "the number of targets", words)
    says = f"The targets share the weight equally, but it doesn't sum to 1: their sum is {words}."
    return Finding("weights-do-not-sum-to-one", says, look="what the weights of a row sum to.")


def _weights(values: Tensor, targets: list[int], have: Tensor, call: Call) -> Tensor | None:
    """The row of weights, seen by handing over values that name their token; None when it is none."""
    out = call((torch.eye(len(values), dtype=values.dtype), list(targets)))
    if out.error is not None or len(out.leaves) != 1 or out.leaves[0].shape != (len(values),):
        return None
    row = out.leaves[0].double()
    return row if torch.allclose(row @ values.double(), have, rtol=1e-3, atol=2e-5) else None


def _about_weights(evidence: Evidence, i: int, row: Tensor) -> Finding:
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
            says += f" {_targets(left_out)} none."
        steps = {tuple(sorted(t + step for t in targets)): step for step in (-2, -1, 1, 2)}
        moved = steps.get(tuple(used.nonzero().flatten().tolist()))
        if moved:
            side = "after" if moved > 0 else "before"
            says = f"The tokens {abs(moved)} {side} the targets come out, not the targets themselves."
            if abs(float(row.sum()) - 1) > 1e-3:
                says += f" And: the weights sum to {float(row.sum()):.3g}."
        return Finding("weight-on-others", says, seen, "which rows of `values` have weight.")
    if left_out:
        says = f"{_targets(left_out)} no weight."
        return Finding("target-left-out", says, seen, "what becomes of each target.")
    own = row[targets]
    if float(own.max() - own.min()) > 1e-4:
        says = "The targets have different weights; one head gives them the same."
        return Finding("targets-unequal", says, seen, "how the weight of 1 is shared.")
    says = "The targets share the weight equally, but it doesn't sum to 1: it sums to "
    says += f"`{number(row.sum())}`."
    return Finding("weights-do-not-sum-to-one", says, seen, "what the weights of a row sum to.")


def _targets(left_out: list[int]) -> str:
    listed = in_a_row([str(t) for t in left_out])
    return f"Target {listed} has" if len(left_out) == 1 else f"Targets {listed} have"


def _made_of(values: Tensor, picked: Tensor, targets: list[int]) -> Iterator[tuple[str, str, Tensor]]:
    """Other things that can be made of the targets' values."""
    mean = picked.mean(0)
    yield "In each feature the middle value comes out.", "`median`.", picked.median(0).values
    yield "In each feature the smallest value comes out.", "`min`.", picked.amin(0)
    yield (
        "It is a geometric mean: a product and a root.",
        "the kind of mean.",
        picked.abs().log().mean(0).exp(),
    )
    yield "It is the root of the mean square.", "the kind of mean.", picked.square().mean(0).sqrt()
    yield "It is the mean of squares.", "the kind of mean.", picked.square().mean(0)
    yield "It is a harmonic mean.", "the kind of mean.", 1 / (1 / picked).mean(0)
    yield "It is the length of the targets' values, feature by feature.", "`norm`.", picked.norm(dim=0)
    yield "The average is rounded down (`//`, `floor`).", "conversions to whole numbers.", mean.floor()
    yield "The average is cut to whole numbers.", "conversions to whole numbers.", mean.trunc()
    yield "The average is rounded to one decimal.", "`round`.", mean.round(decimals=1)
    yield "The average is rounded to two decimals.", "`round`.", mean.round(decimals=2)
    yield "The average is rounded to three decimals.", "`round`.", mean.round(decimals=3)
    yield "The average loses the digits that float16 can't hold.", "conversions.", mean.half().double()
    yield "The average loses the digits that bfloat16 can't hold.", "conversions.", mean.bfloat16().double()
    if max(targets) < values.shape[1]:
        columns = values[:, targets]
        look = "which axis of `values` the targets stand for."
        says = "The targets are looked up along the features, not along the tokens"
        yield f"{says}, and averaged.", look, columns.mean(1)
        yield f"{says}, and averaged over the tokens.", look, columns.mean(0)
        yield f"{says}, and added up.", look, columns.sum(1)
        yield f"{says}.", look, columns
        yield "One number a target comes out: entry `[t, t]`.", "the indices.", values[targets, targets]
        if len(targets) == 2:
            one = "A tuple of indices picks one entry, row and column; a list picks rows."
            yield one, "the brackets around the targets.", values[targets[0], targets[1]]
    yield "Only the first feature of the average comes out.", "the last index.", mean[0]
    yield "Only the last feature of the average comes out.", "the last index.", mean[-1]
    yield "The last feature of the average is missing.", "where the loop or slice ends.", mean[:-1]
    yield "The first feature of the average is missing.", "where the loop or slice begins.", mean[1:]
    yield "Only the first target comes out, with an axis in front.", "what becomes of the others.", picked[:1]
    yield "Only the last target comes out, with an axis in front.", "what becomes of the others.", picked[-1:]
    yield "The sum comes out, with an axis in front.", "the sum.", picked.sum(0, keepdim=True)
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
        "Half of it is the average of all tokens.",
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
