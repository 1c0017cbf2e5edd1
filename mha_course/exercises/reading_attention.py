"""What a wrong attention did: the weights that it returns, and the weights that its output is made with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.factors import factor_finding, scale_of, softmax_scale
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading_softmax import read_weights
from mha_course.exercises.reading_weights import Reading
from mha_course.exercises.steps_before_softmax import Step

Call = Callable[[tuple[Any, ...]], Outcome]
_LOOK_OUTPUT = "the last product: what is multiplied with what."
_INTO = " on their way into the softmax"


def read_attention(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """Which of output and weights is wrong, and what it is made of."""
    got, expected = evidence.got[i].leaves, evidence.expected[i].leaves
    if [leaf.shape for leaf in got] != [leaf.shape for leaf in expected] or len(got) != 2:
        return None
    if not all(leaf.is_floating_point() for leaf in got):
        return None
    q, k, v, mask = four(evidence.cases[i].arguments)
    output, weights = got
    want_output, want = expected
    right_output, right_weights = close(output, want_output), close(weights, want)
    if right_weights:
        found = _of_output(q, k, v, mask, want, output, _mixing(evidence, i, call))
        return _said("output-is-wrong", "The weights are right, the output isn't.", found)
    of_weights = _of_weights(evidence, i, weights, 1)
    if right_output:
        return _said("weights-are-wrong", "The output is right, the weights you return aren't.", of_weights)
    mixing = _mixing(evidence, i, call)
    together = close(weights.double() @ v.double(), output.double())
    if mixing is not None and not close(mixing, weights):
        together = False
    if together:
        return _said("", "The output follows from your weights; the weights are wrong.", of_weights)
    of_output = _of_output(q, k, v, mask, weights, output, mixing)
    if of_weights and of_output and of_output.says != of_weights.says:
        says = f"Weights: {of_weights.says} Output: {of_output.says}"
        return Finding(of_weights.id, says, look=f"{of_weights.look} And: {of_output.look}")
    return _said("", "", of_weights or of_output)


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
    named = _named(q, k, v, mask, scores, weights)
    return named or read_weights(scores, weights, mask, tuple(other_scores(q, k)))


def _sums_to_one(weights: Tensor) -> bool:
    sums = weights.sum(-1)
    return close(sums, torch.ones_like(sums))


def _named(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, s: Tensor, have: Tensor) -> Reading | None:
    """Something else than weights, that has their shape."""
    bare = s * math.sqrt(q.shape[-1])
    for words, other in (
        ("These are the scores, not the weights: the softmax has not been applied to them.", s),
        ("These are the bare dot products, not the weights.", bare),
        *(
            (
                (
                    "These are the scores with hidden ones at -inf, not the weights.",
                    s.masked_fill(~mask, -math.inf),
                ),
                ("This is the mask, not the weights.", mask.double().expand_as(s)),
            )
            if mask is not None
            else ()
        ),
        ("These are the exponentials of the scores; they are not yet divided by their sum.", s.exp()),
    ):
        if torch.allclose(other, have.double(), rtol=1e-3, atol=2e-5):
            return Reading("scores-for-weights", words, "which tensor you return as weights.")
    return None


def other_scores(q: Tensor, k: Tensor) -> Iterator[Step]:
    """Other comparisons of queries and keys than the scaled dot product."""
    q, k = q.double(), k.double()
    d_k, root = q.shape[-1], math.sqrt(q.shape[-1])
    products = q @ k.mT
    unit_q, unit_k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    sums_q, sums_k = q.sum(-1)[..., :, None], k.sum(-1)[..., None, :]
    gaps = (q.unsqueeze(-2) - k.unsqueeze(-3)).square().sum(-1)
    lost = "The scores are not divided by the root of d_k."
    found = [
        (lost, products),
        ("Queries and keys are normalised to length 1 first (cosines).", unit_q @ unit_k.mT),
        (
            "Queries and keys are normalised to length 1 first (cosines), and then scaled.",
            unit_q @ unit_k.mT / root,
        ),
        ("The queries are normalised to length 1.", unit_q @ k.mT / root),
        ("The queries are normalised to length 1, and there is no scale.", unit_q @ k.mT),
        ("The keys are normalised to length 1.", q @ unit_k.mT / root),
        ("The keys are normalised to length 1, and there is no scale.", q @ unit_k.mT),
        ("Distances stand where dot products belong.", gaps.sqrt() / root),
        ("Distances stand where dot products belong.", gaps.sqrt()),
        ("Negative distances stand where dot products belong.", -gaps.sqrt() / root),
        ("Negative distances stand where dot products belong.", -gaps.sqrt()),
        ("Negative squared distances stand where dot products belong.", -gaps / root),
        ("Negative squared distances stand where dot products belong.", -gaps),
        (
            "The features of a query and a key are summed apart from each other, then added.",
            (sums_q + sums_k) / root,
        ),
        ("The features of a query and a key are summed apart from each other, then added.", sums_q + sums_k),
        (
            "The features of a query and a key are summed apart from each other, then multiplied.",
            sums_q * sums_k / root,
        ),
        ("The last feature takes no part in the dot products.", q[..., :-1] @ k[..., :-1].mT / root),
        ("The first feature takes no part in the dot products.", q[..., 1:] @ k[..., 1:].mT / root),
        (
            "Only the first half of the features takes part in the dot products.",
            q[..., : d_k // 2] @ k[..., : d_k // 2].mT / root,
        ),
        ("Only the first feature takes part in the dot products.", q[..., :1] @ k[..., :1].mT / root),
        ("The features of the queries stand in reversed order.", q.flip(-1) @ k.mT / root),
        ("The features are sorted before the dot products.", q.sort(-1).values @ k.sort(-1).values.mT / root),
        (
            "A softmax is applied to queries and keys before the product.",
            q.softmax(-1) @ k.softmax(-1).mT / root,
        ),
        ("The queries are softened, too.", q.softmax(-1) @ k.mT / root),
        ("The keys are softened, too.", q @ k.softmax(-1).mT / root),
        (
            "Only the largest product of features counts, not their sum.",
            (q.unsqueeze(-2) * k.unsqueeze(-3)).amax(-1) / root,
        ),
    ]
    if q.ndim > 2:
        found += [
            ("Queries meet the keys of another sentence.", q @ k.flip(0).mT / root),
            ("Queries meet the keys of another sentence.", q @ k.roll(1, 0).mT / root),
            ("Queries meet the keys of another sentence.", q @ k.roll(-1, 0).mT / root),
            ("Queries of every sentence meet the keys of the first one.", q @ k[:1].mT / root),
        ]
    for words, scores in found:
        yield words, lambda s, scores=scores: scores.expand_as(s)


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
    return mixing if close(mixing @ v, evidence.got[i].leaves[0]) else None


def _of_output(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    weights: Tensor,
    output: Tensor,
    mixing: Tensor | None,
) -> Reading | None:
    """What the output is made of, where it is not the product of `weights` and the values."""
    scores = q.double() @ k.double().mT / math.sqrt(q.shape[-1])
    if mixing is not None and not close(mixing, weights):
        scale = scale_of(weights, mixing)
        if scale is not None:
            says = f"The output is {scale:.4g} times the product of weights and values."
            return Reading("output-scaled", says, "what happens to the output after the product.")
        bare = scores.softmax(-1)
        if mask is not None and close(mixing.double(), bare):
            says = "The output is made with the weights from before the mask."
            return Reading("output-with-other-weights", says, _LOOK_OUTPUT)
        found = _named(q, k, v, mask, scores, mixing) or read_weights(
            scores, mixing, mask, tuple(other_scores(q, k))
        )
        scale = softmax_scale(scores if mask is None else scores.masked_fill(~mask, -math.inf), mixing)
        if scale is not None and found is None:
            found = factor_finding([{"d_k": q.shape[-1]}], [scale], _INTO)
        tail = f" In it: {found.says}" if found else ""
        says = f"The output is made with other weights than those you return.{tail}"
        return Reading("output-with-other-weights", says, _LOOK_OUTPUT)
    v, output, weights = v.double(), output.double(), weights.double()
    for words, other in _other_values(v):
        if torch.allclose(weights @ other, output, rtol=1e-3, atol=2e-5):
            return Reading("other-values", words, "what is done to `v` before the product.")
    for words, other in _after(weights @ v, v):
        if torch.allclose(other.expand_as(output), output, rtol=1e-3, atol=2e-5, equal_nan=True):
            return Reading("output-changed", words, "what happens after the product with the values.")
    return None


def _other_values(v: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield "The features of the values stand in reversed order.", v.flip(-1)
    yield "The values are normalised to length 1.", F.normalize(v, dim=-1)
    yield "A softmax is applied to the values.", v.softmax(-1)
    yield "A softmax is applied to the values.", v.softmax(-2)
    yield "Negative values are treated as 0 (a ReLU).", v.relu()
    yield "The sign of the values is lost.", v.abs()
    yield "The values are squared.", v * v
    yield "The values go through a tanh.", v.tanh()
    yield "Each value's mean is taken from it.", v - v.mean(-1, keepdim=True)
    yield "The mean of all values is taken from each.", v - v.mean(-2, keepdim=True)
    yield "The values are shifted by one feature.", v.roll(1, -1)
    yield "The values are shifted by one feature.", v.roll(-1, -1)
    yield "The values are standardised.", F.layer_norm(v, v.shape[-1:])
    yield "The values are sorted.", v.sort(-1).values
    yield "The features of each value are replaced by their mean.", v.mean(-1, keepdim=True).expand_as(v)
    if v.ndim > 2:
        yield "The weights meet the values of another sentence.", v.flip(0)
        yield "The weights meet the values of another sentence.", v.roll(1, 0)
        yield "The weights meet the values of another sentence.", v.roll(-1, 0)
        yield "The weights of every sentence meet the values of the first one.", v[:1].expand_as(v)


def _after(output: Tensor, v: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield "A ReLU comes after the product: negative numbers are 0.", output.relu()
    yield "A tanh comes after the product.", output.tanh()
    yield "A softmax comes after the product.", output.softmax(-1)
    yield "The output is normalised to length 1.", F.normalize(output, dim=-1)
    yield "The output is standardised (a layer norm).", F.layer_norm(output, output.shape[-1:])
    yield "The sign of the output is lost.", output.abs()
    yield "The output is rounded.", output.round()
    yield "The output is rounded to two decimals.", output.round(decimals=2)
    yield "The output is rounded to one decimal.", output.round(decimals=1)
    yield "The queries stand in reversed order in the output.", output.flip(-2)
    yield "The features stand in reversed order in the output.", output.flip(-1)
    yield "The output is summed up along the queries.", output.cumsum(-2)
    yield "The output is averaged over the queries.", output.mean(-2, keepdim=True)
    yield "The outputs are shifted by one query.", output.roll(1, -2)
    yield "The outputs are shifted by one query.", output.roll(-1, -2)
    yield "The mean of the values is added to the output.", output + v.mean(-2, keepdim=True)
    yield "The sum of the values is added to the output.", output + v.sum(-2, keepdim=True)
    yield "The output is what the values minus their mean give.", output - v.mean(-2, keepdim=True)
    yield "The output is squared.", output * output
    if output.shape[-2] == v.shape[-2]:
        yield "The values are added to the output (a residual).", output + v
    if output.ndim > 2:
        yield "The sentences have changed places in the output.", output.flip(0)
        yield "The output is averaged over the sentences.", output.mean(0, keepdim=True)


def four(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Queries, keys, values and the mask, None where it was left out."""
    return (*arguments, None)[:4]
