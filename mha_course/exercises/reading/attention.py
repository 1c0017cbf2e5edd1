"""What a wrong attention did: the weights that it returns, and the weights that its output is made with."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.factors import factor_finding, softmax_scale
from mha_course.exercises.reading.output import other_scores, other_than_weights, read_output
from mha_course.exercises.reading.softmax import read_weights
from mha_course.exercises.reading.weights import Reading, near

Call = Callable[[tuple[Any, ...]], Outcome]
_LARGE = 100.0
_LOOK_OUTPUT = "the last product: what is multiplied with what."
_INTO = " on their way into the softmax"


def read_attention(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """Which of output and weights is wrong, and what it is made of."""
    got, expected = evidence.got[i].leaves, evidence.expected[i].leaves
    if len(got) == 2 and got[0].shape != expected[0].shape:
        return _of_another_shape(*four(evidence.cases[i].arguments), *got)
    if [leaf.shape for leaf in got] != [leaf.shape for leaf in expected] or len(got) != 2:
        return None
    if not all(leaf.is_floating_point() for leaf in got):
        return None
    q, k, v, mask = four(evidence.cases[i].arguments)
    output, weights = got
    want_output, want = expected
    if float((q @ k.mT).abs().max()) > _LARGE:
        return _large(want, weights, mask)
    right_output, right_weights = close(output, want_output), close(weights, want)
    if right_weights:
        found = read_output(q, k, v, mask, want, output, _mixing(evidence, i, call))
        return _said("output-is-wrong", "The weights are right, the output isn't.", found)
    of_weights = _of_weights(evidence, i, weights, 1)
    if right_output:
        return _said("weights-are-wrong", "The output is right, the weights you return aren't.", of_weights)
    mixing = _mixing(evidence, i, call)
    together = near(weights.double() @ v.double(), output.double())
    if mixing is not None and not near(mixing, weights):
        together = False
    if together:
        found = _said("", "", of_weights)
        return found and dataclasses.replace(
            found, says=f"{found.says} The output follows from these weights."
        )
    of_output = read_output(q, k, v, mask, weights, output, mixing)
    if of_weights and of_output and of_output.says != of_weights.says:
        says = f"Weights: {of_weights.says} Output: {of_output.says}"
        return Finding(of_weights.id, says, look=f"{of_weights.look} And: {of_output.look}")
    return _said("", "", of_weights or of_output)


def _of_another_shape(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, output: Tensor, weights: Tensor
) -> Finding | None:
    """An output of another shape: other things than the values were mixed, or other weights."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    right = scores.softmax(-1)
    if weights.ndim < 2:
        return None
    for mixing in (weights, right):
        for says, made in (
            ("The weights mix the keys, not the values.", lambda w: w @ k),
            ("The weights are turned, and mix the queries, not the values.", lambda w: w.mT @ q),
            ("The weights mix the queries, not the values.", lambda w: w @ q),
            ("The weights are turned before they meet the values.", lambda w: w.mT @ v),
            (
                "The weights of each key are summed over the queries: a row for each key comes out.",
                _per_key(v),
            ),
            ("Each weight is multiplied with its value; the sum over the keys is missing.", _unsummed(v)),
            ("The output is summed over the queries.", lambda w: (w @ v).sum(-2)),
            ("The output is averaged over the queries.", lambda w: (w @ v).mean(-2)),
            ("The output is averaged over the sentences.", lambda w: (w @ v).mean(0)),
        ):
            with contextlib.suppress(RuntimeError, IndexError):
                if near(made(mixing), output):
                    return Finding("other-mix", says, look=_LOOK_OUTPUT)
    for says, a in (
        ("Queries meet queries: the keys take no part.", q),
        ("Keys meet keys: the queries take no part.", k),
    ):
        for factor in (1 / math.sqrt(q.shape[-1]), 1.0):
            if near((a @ a.mT * factor).softmax(-1), weights):
                return Finding("other-pairs", says, look="what is multiplied with what.")
    return None


def _per_key(v: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda w: w.sum(-2).unsqueeze(-1) * v


def _unsummed(v: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda w: w.unsqueeze(-1) * v.unsqueeze(-3)


def _large(want: Tensor, weights: Tensor, mask: Tensor | None) -> Finding | None:
    """What goes wrong with large scores, where the others come out right."""
    open_keys = torch.ones_like(want, dtype=torch.bool) if mask is None else mask.expand_as(want)
    leaking = ~open_keys & (weights.abs() > 1e-4)
    if bool(leaking.any()):
        *_, query, key = leaking.nonzero()[0].tolist()
        says = (
            "With large scores hidden keys get weight: what is put in for a hidden score, or added to it, is "
            f"no longer far below the others. Query {query} gives key {key}, a hidden one, a weight of "
            f"{float(weights[leaking][0]):.3g}."
        )
        return Finding("penalty-too-small", says, look="the number that makes a hidden score vanish.")
    empty = weights.abs().sum(-1) < 1e-6
    if bool(empty.any()):
        says = "With large scores some rows of weights are all 0: the exponentials overflowed or vanished, "
        says += "and what came of it (NaN) was replaced."
        return Finding("large-scores-lost", says, look="what goes into `exp`, and what hides its result.")
    wrong = ~torch.isclose(weights, want, rtol=1e-3, atol=2e-5)
    if bool(wrong.any()):
        says = (
            "With large scores the weights come out too even: differences between large scores get lost, as "
        )
        says += "when they are clamped."
        return Finding("large-scores-lost", says, look="what is done to large scores.")
    return None


def _said(id_: str, before: str, found: Reading | None) -> Finding | None:
    if found is None:
        return Finding(id_, before, look=_LOOK_OUTPUT if id_ == "output-is-wrong" else "") if id_ else None
    return Finding(id_ or found.id, f"{before} {found.says}".strip(), look=found.look)


def _of_weights(evidence: Evidence, i: int, weights: Tensor, leaf: int) -> Reading | None:
    """What returned weights are, where they are not the right ones."""
    sizes, scales = [], []
    for case, out, counts in zip(evidence.cases, evidence.got, evidence.counts, strict=True):
        if counts and out.error is None and len(out.leaves) == 2:
            q, k, _, mask = four(case.arguments)
            scores = q @ k.mT / math.sqrt(q.shape[-1])
            hidden = scores if mask is None else scores.masked_fill(~mask, -math.inf)
            scale = softmax_scale(hidden, out.leaves[leaf])
            scale = softmax_scale(scores, out.leaves[leaf]) if scale is None else scale
            if scale is not None and _sums_to_one(out.leaves[leaf]):
                sizes.append(case.sizes)
                scales.append(scale)
    q, k, v, mask = four(evidence.cases[i].arguments)
    scores = q.double() @ k.double().mT / math.sqrt(q.shape[-1])
    own = softmax_scale(scores if mask is None else scores.masked_fill(~mask, -math.inf), weights)
    if own is not None and _sums_to_one(weights):
        factor = factor_finding(sizes, scales, _INTO)
        if factor:
            return Reading(factor.id, factor.says, factor.look)
    named = other_than_weights(q, mask, scores, weights)
    return named or read_weights(scores, weights, mask, tuple(other_scores(q, k)), math.sqrt(q.shape[-1]))


def _sums_to_one(weights: Tensor) -> bool:
    sums = weights.sum(-1)
    return near(sums, torch.ones_like(sums))


def _mixing(evidence: Evidence, i: int, call: Call) -> Tensor | None:
    """The weights that the output is really made with, where it is a weighted sum of the values; or None.

    Seen by handing over values that name their token: an identity matrix.
    """
    q, k, v, mask = four(evidence.cases[i].fresh())
    n_k = v.shape[-2]
    names = torch.eye(n_k, dtype=v.dtype).expand(*v.shape[:-2], n_k, n_k).clone()
    out = call((q, k, names, mask))
    if out.error is not None or not out.leaves or out.leaves[0].shape != (*q.shape[:-1], n_k):
        return None
    mixing = out.leaves[0]
    if not bool(mixing.isfinite().all()):
        return None
    return mixing if near(mixing.double() @ v.double(), evidence.got[i].leaves[0]) else None


def four(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Queries, keys, values and the mask, None where it was left out."""
    return (*arguments, None)[:4]
