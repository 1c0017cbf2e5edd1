"""Exercises of lesson 02: one head gives the average of two targets, a head for each keeps them apart."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Mistake, Returned, draw
from mha_course.exercises.reading.parts import read_targets_of_heads
from mha_course.exercises.reading.targets import read_average


def average_of_targets(values: Tensor, targets: list[int]) -> Tensor:
    """What one head gives when its weight is shared equally by the targets: (n, d_v) -> (d_v,)."""
    weights = torch.zeros(values.shape[0], dtype=values.dtype)
    weights[targets] = 1 / len(targets)  # one row of attention: it sums to 1
    return weights @ values


def one_target_each(values: Tensor, targets: list[int]) -> Tensor:
    """What h heads give when head i looks at targets[i] only, concatenated: (h, n, d_v) -> (h * d_v,)."""
    # All weight of head i is on one token, so its output is that token's value, unmixed.
    heads = [values[i, target] for i, target in enumerate(targets)]
    return torch.cat(heads)


def _average_inputs(g: Generator) -> list[Case]:
    return [
        Case("with two targets", (draw(g, 5, 4), [3, 1]), {"n": 5, "d_v": 4}),
        Case("with three targets", (draw(g, 7, 6), [0, 5, 2]), {"n": 7, "d_v": 6}),
        Case("with one target", (draw(g, 6, 3), [2]), {"n": 6, "d_v": 3}, edge=True),
        Case("for values of one feature", (draw(g, 4, 1), [1, 2]), {"n": 4, "d_v": 1}, edge=True),
        Case("in float64", (draw(g, 5, 4, dtype=torch.float64), [4, 2]), {"n": 5, "d_v": 4}, required=False),
    ]


def _each_inputs(g: Generator) -> list[Case]:
    sizes = {"h": 2, "n": 5, "d_v": 4}
    return [
        Case("with two heads", (draw(g, 2, 5, 4), [3, 1]), sizes),
        Case("with three heads", (draw(g, 3, 7, 5), [0, 5, 2]), {"h": 3, "n": 7, "d_v": 5}),
        Case("with one head", (draw(g, 1, 6, 4), [2]), {"h": 1, "n": 6, "d_v": 4}, edge=True),
        Case(
            "for values of one feature", (draw(g, 3, 4, 1), [2, 0, 3]), {"h": 3, "n": 4, "d_v": 1}, edge=True
        ),
        Case(
            "with one target for two heads", (draw(g, 2, 6, 4), [3, 3]), {"h": 2, "n": 6, "d_v": 4}, edge=True
        ),
        Case("in float64", (draw(g, 2, 5, 4, dtype=torch.float64), [4, 2]), sizes, required=False),
    ]


def _hot_softmax(values: Tensor, targets: list[int]) -> Tensor:
    scores = torch.zeros(values.shape[0])
    scores[targets] = 1.0
    return scores.softmax(0).to(values.dtype) @ values


AVERAGE_MISTAKES = (
    Mistake(
        "sum-for-average",
        lambda values, targets: values[targets].sum(0),
        (
            "This is the sum of the targets' values. The weights of a row sum to 1, so two targets "
            "can't both get 1: each gets 1/2."
        ),
        "how much weight each target gets when all of them share 1.",
    ),
    Mistake(
        "first-target-only",
        lambda values, targets: values[targets[0]],
        "Only the first target comes out. All of them should, with the same weight.",
        "what becomes of the second target.",
    ),
    Mistake(
        "last-target-only",
        lambda values, targets: values[targets[-1]],
        "Only the last target comes out: what came before is overwritten.",
        "whether the loop adds or replaces.",
    ),
    Mistake(
        "average-of-everything",
        lambda values, targets: values.mean(0),
        "This is the average of all tokens. Only the targets have weight.",
        "which rows of `values` take part.",
    ),
    Mistake(
        "divided-by-n",
        lambda values, targets: values[targets].sum(0) / values.shape[0],
        "The sum of the targets is divided by the number of tokens; the weights then sum to less than 1.",
        "what the weights of the row sum to.",
    ),
    Mistake(
        "always-halved",
        lambda values, targets: values[targets].sum(0) / 2,
        "The sum is halved, however many targets there are.",
        "the case of three targets.",
    ),
    Mistake(
        "weight-leaks",
        _hot_softmax,
        "Some weight goes to tokens that are no targets: softmax of scores 0 and 1 never gives 0.",
        "the weights themselves: print them.",
    ),
    Mistake(
        "counted-from-one",
        lambda values, targets: values[[t - 1 for t in targets]].mean(0),
        "The neighbours before the targets come out: positions in code count from 0.",
        "the positions that you look up.",
    ),
    Mistake(
        "side-by-side",
        lambda values, targets: values[targets].flatten(),
        "The targets stand side by side. One head has no room for that: it gives one vector of d_v numbers.",
        "what a weighted sum does with several rows.",
    ),
    Mistake(
        "largest-of-targets",
        lambda values, targets: values[targets].max(0).values,
        "In each feature the largest value comes out. Attention adds values up, weighted.",
        "`max`.",
    ),
    Mistake(
        "rows-not-averaged",
        lambda values, targets: values[targets].mean(-1),
        "The average goes over the features. It should go over the targets.",
        "the axis of the mean.",
    ),
)

EACH_MISTAKES = (
    Mistake(
        "average-for-concat",
        lambda values, targets: torch.stack([values[i, t] for i, t in enumerate(targets)]).mean(0),
        "The heads are averaged. Then nobody can tell which value came from which target.",
        "how the heads' results are put together.",
    ),
    Mistake(
        "sum-for-concat",
        lambda values, targets: sum(values[i, t] for i, t in enumerate(targets)),
        "The heads are added up. They should stand side by side.",
        "how the heads' results are put together.",
    ),
    Mistake(
        "first-head-for-all",
        lambda values, targets: values[0, targets].flatten(),
        "Every target is read from head 1's values. Each head has values of its own.",
        "the first index of `values`.",
    ),
    Mistake(
        "same-target-for-all",
        lambda values, targets: values[:, targets[0]].flatten(),
        "All heads look at the first target.",
        "which target belongs to which head.",
    ),
    Mistake(
        "heads-reversed",
        lambda values, targets: torch.cat([values[i, t] for i, t in enumerate(targets)][::-1]),
        "The right vectors, in the wrong order; head 1 should come first.",
        "the order in the concatenation.",
    ),
    Mistake(
        "targets-reversed",
        lambda values, targets: torch.cat([values[i, t] for i, t in enumerate(targets[::-1])]),
        "The targets are given out in reversed order; head 1 should look at the first one.",
        "which target belongs to which head.",
    ),
    Mistake(
        "stacked",
        lambda values, targets: torch.stack([values[i, t] for i, t in enumerate(targets)]),
        "The heads lie on top of each other, with an axis of their own. Concatenated means one long vector.",
        "the difference between `torch.stack` and `torch.cat`.",
    ),
    Mistake(
        "features-interleaved",
        lambda values, targets: torch.stack([values[i, t] for i, t in enumerate(targets)], -1).flatten(),
        "The features of the heads alternate. All of head 1 comes first, then all of head 2.",
        "the order in the concatenation.",
    ),
    Mistake(
        "counted-from-one",
        lambda values, targets: torch.cat([values[i, t - 1] for i, t in enumerate(targets)]),
        "The neighbours before the targets come out: positions in code count from 0.",
        "the positions that you look up.",
    ),
    Mistake(
        "average-in-every-head",
        lambda values, targets: values[:, targets].mean(1).flatten(),
        "Every head averages all targets. Each should look at one only.",
        "which target belongs to which head.",
    ),
)

EXERCISES = (
    Exercise(
        name="average_of_targets",
        lesson="02",
        title="Two targets, one head",
        prompt=(
            "A head gives equal weight to the positions in `targets` and none to all others. `values` "
            "has shape "
            "`(n, d_v)`. Return what comes out of the head at this token, `(d_v,)`."
        ),
        signature="average_of_targets(values, targets) -> output",
        reference=average_of_targets,
        inputs=_average_inputs,
        returns=(Returned("output", ("d_v",)),),
        mistakes=AVERAGE_MISTAKES,
        hints=(
            "A row of weights sums to 1, and here the targets share it.",
            "Write the row of weights first, `(n,)`. Then it is a product with `values`.",
            (
                "weights = zeros, one a token\nweights at the targets = 1 / number of targets\noutput = "
                "weights times values"
            ),
        ),
        readers=(read_average,),
        why="One row of weights that sums to 1 can only average. Which value came from which target is lost.",
    ),
    Exercise(
        name="one_target_each",
        lesson="02",
        title="Two targets, two heads",
        prompt=(
            "Now head `i` gives all its weight to the position `targets[i]`. `values` has shape `(h, n, "
            "d_v)`: each head "
            "has values of its own. Return the heads' outputs concatenated, `(h * d_v,)`."
        ),
        signature="one_target_each(values, targets) -> output",
        reference=one_target_each,
        inputs=_each_inputs,
        returns=(Returned("output", ("h·d_v",)),),
        mistakes=EACH_MISTAKES,
        hints=(
            "With all its weight on one position, a head copies that position's value.",
            "`values[i, t]` is head i's value at position t. How do several vectors become one long one?",
            (
                "for each head and its target:\n    take the head's value at the target\nput them one "
                "after the other"
            ),
        ),
        why=(
            "Each head has a row of weights of its own, so the values arrive side by side instead of "
            "averaged."
        ),
        readers=(read_targets_of_heads,),
    ),
)
