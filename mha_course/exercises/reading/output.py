"""What an attention's output is made of, and what stands in the place of weights."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.reading.factors import factor_finding, scale_of, softmax_scale
from mha_course.exercises.reading.scores_otherwise import compared
from mha_course.exercises.reading.softmax import read_weights
from mha_course.exercises.reading.steps_before_softmax import Step
from mha_course.exercises.reading.weights import Reading, near

_LOOK_OUTPUT = "the last product: what is multiplied with what."
_INTO = " on their way into the softmax"


def other_than_weights(q: Tensor, mask: Tensor | None, s: Tensor, have: Tensor) -> Reading | None:
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
    root = math.sqrt(q.shape[-1])
    plain = (q @ k.mT).softmax(-1)
    for words, made in compared(q, k):
        # What a softmax can't tell from the plain product is nothing that was done otherwise.
        if made.shape == (*q.shape[:-1], k.shape[-2]) and not near(made.softmax(-1), plain):
            yield f"{words}.", lambda s, made=made: made / root
            yield f"{words}, and not divided by anything.", lambda s, made=made: made


def read_output(
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
    if mixing is not None and not near(mixing, weights):
        scale = scale_of(weights, mixing)
        if scale is not None:
            says = f"The output is {scale:.4g} times the product of weights and values."
            return Reading("output-scaled", says, "what happens to the output after the product.")
        extra = mixing - weights
        level = float(extra.mean())
        if abs(level) > 1e-4 and float((extra - level).abs().max()) < 1e-4:
            share = level * v.shape[-2]
            what = (
                "the average of all values"
                if abs(share - 1) < 1e-2
                else f"{level:.3g} times the sum of all values"
            )
            says = f"To the output {what} is added."
            return Reading("output-changed", says, "what is added after the product.")
        bare = scores.softmax(-1)
        if mask is not None and near(mixing.double(), bare):
            says = "The output is made with the weights from before the mask."
            return Reading("output-with-other-weights", says, _LOOK_OUTPUT)
        scale = softmax_scale(scores if mask is None else scores.masked_fill(~mask, -math.inf), mixing)
        root = math.sqrt(q.shape[-1])
        if scale is not None and abs(scale / root - 1) < 1e-3:
            same = ", or the weights are squared (with d_k = 4 that is the same)" if root == 2 else ""
            found = Reading(
                "wrong-scale", f"The scores in them are not divided by the root of d_k{same}.", ""
            )
        else:
            found = other_than_weights(q, mask, scores, mixing) or read_weights(
                scores, mixing, mask, tuple(other_scores(q, k)), root
            )
        if scale is not None and found is None:
            found = factor_finding([{"d_k": q.shape[-1]}], [scale], _INTO)
        says = "The output is made with other weights than those you return."
        says += f" Those in it: {found.says}" if found else ""
        return Reading("output-with-other-weights", says, _LOOK_OUTPUT)
    v, output, weights = v.double(), output.double(), weights.double()
    for words, other in _other_values(v):
        if torch.allclose(weights @ other, output, rtol=1e-3, atol=2e-5):
            return Reading("other-values", words, "what is done to `v` before the product.")
    scale = scale_of(weights @ v, output)
    if scale is not None and scale > 0:
        says = f"The output is {scale:.4g} times the product of weights and values."
        says += next(
            (
                f" That is a division by {words}."
                for words, size in (
                    ("the root of d_v", math.sqrt(v.shape[-1])),
                    ("d_v", v.shape[-1]),
                    ("the root of d_k", math.sqrt(q.shape[-1])),
                    ("d_k", q.shape[-1]),
                    ("the number of keys", v.shape[-2]),
                    ("the root of the number of keys", math.sqrt(v.shape[-2])),
                    ("the number of queries", q.shape[-2]),
                )
                if abs(scale * size - 1) < 1e-3
            ),
            "",
        )
        return Reading("output-scaled", says, "what happens to the output after the product.")
    for words, other in _after(weights @ v, v, output):
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


def _after(output: Tensor, v: Tensor, have: Tensor) -> Iterator[tuple[str, Tensor]]:
    extra = have - output
    if float((extra - extra.mean()).abs().max()) < 1e-4:
        yield f"To every number of the output {float(extra.mean()):.3g} is added.", have
    elif float((extra - extra.mean(-2, keepdim=True)).abs().max()) < 1e-4:
        yield "Something is added to the output that is the same for all queries.", have
    elif float((extra - extra.mean(-1, keepdim=True)).abs().max()) < 1e-4:
        yield "Something is added to the output that is the same for all features.", have
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
