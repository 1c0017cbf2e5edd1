"""Exercises of lesson 12, on guessing what a head is worth: by slopes, and by how sure it looks."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned, draw
from mha_course.exercises.mistakes.of_confidence import CONFIDENCE_MISTAKES
from mha_course.exercises.mistakes.of_importance import IMPORTANCE_MISTAKES
from mha_course.exercises.reading.column_maxima import read_column_maxima
from mha_course.exercises.reading.confidence import CONFIDENCE
from mha_course.exercises.reading.importance import IMPORTANCE
from mha_course.exercises.reading.plain_heads import CONFIDENCE_PLAINLY, IMPORTANCE_PLAINLY
from mha_course.exercises.reading.whole_numbers import counted_by


def head_importance(heads: Tensor, slopes: Tensor) -> Tensor:
    """Mean absolute slope of a mask in front of each head: twice (b, h, n, d_v) -> (h,)."""
    of_each = (heads * slopes).sum(dim=(2, 3))
    # A head that helps one sentence and harms another matters to both: signs must not cancel.
    return of_each.abs().mean(dim=0)


def head_confidence(weights: Tensor, lengths: Tensor) -> Tensor:
    """Mean largest weight of a row, end token left out as a target: (b, h, n, n), (b,) -> (h,)."""
    place = torch.arange(weights.shape[-1])
    rows = place < lengths[:, None]
    # The end token is the last one of a sentence, so targets stop one place before rows do.
    targets = place < lengths[:, None] - 1
    largest = weights.masked_fill(~targets[:, None, None], 0).amax(dim=-1)
    return (largest * rows[:, None]).sum(dim=(0, 2)) / rows.sum()


def drawn_maps(g: Generator, h: int, lengths: Tensor, n: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Maps of padded sentences: no weight on padding, often much of it on the end token."""
    scores = draw(g, len(lengths), h, n, n, spread=1.3, dtype=dtype)
    scores += torch.linspace(0.0, 1.2, h, dtype=dtype)[:, None, None] * scores
    end = torch.arange(n) == lengths[:, None] - 1
    scores += 1.5 * end[:, None, None].to(dtype) * torch.rand(scores.shape, generator=g)
    padding = torch.arange(n) >= lengths[:, None]
    return scores.masked_fill(padding[:, None, None], float("-inf")).softmax(-1)


def _importance_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, h: int, n: int, d_v: int, **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        heads = draw(g, b, h, n, d_v, dtype=dtype)
        slopes = draw(g, b, h, n, d_v, dtype=dtype) + 0.3 * heads * draw(g, b, h, 1, 1, dtype=dtype)
        return Case(label, (heads, slopes), {"b": b, "h": h, "n": n, "d_v": d_v}, **options)

    return [
        case("with four heads", 3, 4, 5, 2),
        case("with many sentences", 6, 3, 4, 5),
        case("with long heads", 4, 5, 3, 7),
        case("with one sentence", 1, 4, 6, 3, edge=True),
        case("in float64", 2, 3, 5, 4, dtype=torch.float64, required=False),
    ]


def _confidence_inputs(g: Generator) -> list[Case]:
    def case(label: str, h: int, n: int, lengths: list[int], **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        of = torch.tensor(lengths)
        sizes = {"b": len(lengths), "h": h, "n": n}
        return Case(label, (drawn_maps(g, h, of, n, dtype), of), sizes, **options)

    return [
        case("with two sentences", 3, 7, [7, 4]),
        case("with sentences of many lengths", 3, 9, [4, 9, 6, 3]),
        case("with padding in every sentence", 2, 8, [6, 3, 5]),
        case("without padding", 4, 6, [6, 6], edge=True),
        case("in float64", 2, 6, [5, 3, 6], dtype=torch.float64, required=False),
    ]


EXERCISES = (
    Exercise(
        name="head_importance",
        lesson="12",
        title="Importance by one way back",
        prompt=(
            "`heads` is `(b, h, n, d_v)`, and `slopes` has the same shape: the gradient of each sentence's "
            "loss at each of these numbers. The slope of a factor in front of a head is the sum of head "
            "times slope over the tokens and features of one sentence. Return the mean of its absolute value "
            "over the sentences, for each head: `(h,)`."
        ),
        signature="head_importance(heads, slopes) -> importance",
        reference=head_importance,
        inputs=_importance_inputs,
        returns=(Returned("importance", ("h",)),),
        mistakes=IMPORTANCE_MISTAKES,
        hints=(
            "Four steps: multiply, add up, take the sign away, average. Which axes does each one touch?",
            "`sum` takes several axes at once: `dim=(…, …)`. Where the sign goes there are `(b, h)` numbers.",
            (
                "products of heads and slopes\nsum over tokens and features: one slope a sentence and head\n"
                "absolute values\nmean over the sentences"
            ),
        ),
        why=(
            "One forward and one backward pass score all heads at once, without removing any. It is the "
            "slope at the whole model, so it can't see what happens further away."
        ),
        readers=(IMPORTANCE.read, IMPORTANCE_PLAINLY),
    ),
    Exercise(
        name="head_confidence",
        lesson="12",
        title="How sure a head looks",
        prompt=(
            "`weights` is `(b, h, n, n)`. `lengths` is `(b,)`: sentence s has `lengths[s]` tokens, the last "
            "of them the end token; what comes after is padding. For each head, take the largest weight of "
            "each row, and average over all rows of real tokens of all sentences: `(h,)`. The end token is "
            "no target: its column doesn't count. Its row does."
        ),
        signature="head_confidence(weights, lengths) -> confidence",
        reference=head_confidence,
        inputs=_confidence_inputs,
        returns=(Returned("confidence", ("h",)),),
        mistakes=CONFIDENCE_MISTAKES,
        hints=(
            "Two questions: in which columns may the largest weight lie, and which rows are averaged?",
            "`torch.arange(n) < lengths[:, None]` is `(b, n)`. Hidden weights can be 0 before the maximum.",
            (
                "rows = places before the length\ntargets = places before the end token\n"
                "largest weight among the targets, for each row\n"
                "sum over the rows of all sentences / how many rows there are"
            ),
        ),
        why=(
            "Many heads with a role look at one token. But sure of what? A head that parks its weight on the "
            "end token would come first, which is why it is no target."
        ),
        reads=counted_by(
            CONFIDENCE,
            "Rows are counted, or places given: whole numbers. The mean of weights is asked for.",
            "comparisons, `argmax`, and the mean.",
        ),
        readers=(CONFIDENCE.read, read_column_maxima, CONFIDENCE_PLAINLY),
    ),
)
