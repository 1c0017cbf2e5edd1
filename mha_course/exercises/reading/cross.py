"""What a wrong cross-attention did: who asks, which matrix, which step of attention, what comes behind."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.workbench import merge, once, split
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.probing import probe
from mha_course.exercises.reading.cross_ways import (
    COMPARES,
    CUTS,
    FINISHES,
    FUSES,
    HIDES,
    JOINS,
    LATES,
    MIXES,
    SCALES,
    SOFTENS,
    TAKES,
    WHO,
)
from mha_course.exercises.reading.layer import read_inside
from mha_course.exercises.reading.recipes import Recipe, Slot, Step, of_the_whole


def _project(x: Tensor, w: Tensor) -> Tensor:
    return x @ w


def _products(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT


def _by_root(scores: Tensor, d_k: int, h: int) -> Tensor:
    return scores / math.sqrt(d_k)


def _hide(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -math.inf)


def _softmax(scores: Tensor) -> Tensor:
    return scores.softmax(-1)


def _weighted(weights: Tensor, v: Tensor, k: Tensor) -> Tensor:
    return weights @ v


def crossed(
    y: Tensor,
    memory: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    h: int,
    mask: Tensor | None = None,
    *,
    who: Step = lambda y, memory: (y, memory, memory),
    take: Step = lambda q, k, v, o: (q, k, v, o),
    cut: Step = split,
    compare: Step = _products,
    scale: Step = _by_root,
    hide: Step = _hide,
    soften: Step = _softmax,
    late: Step = lambda weights, mask: weights,
    mix: Step = _weighted,
    join: Step = merge,
    fuse: Step = lambda concat, w_o: concat @ w_o,
    finish: Step = lambda out, y: out,
) -> Tensor:
    """Cross-attention with the steps given; without any it is right: (b, n_q, d_model)."""
    *matrices, last = once(take, w_q, w_k, w_v, w_o)
    inputs = once(who, y, memory)
    q, k, v = (once(cut, once(_project, x, w), h) for x, w in zip(inputs, matrices, strict=True))
    scores = once(scale, once(compare, q, k), q.shape[-1], h)
    weights = once(soften, scores if mask is None else once(hide, scores, mask))
    weights = weights if mask is None else once(late, weights, mask)
    concat = once(join, once(mix, weights, v, k))
    return finish(once(fuse, concat, last), y)


CROSS = Recipe(
    crossed,
    (
        Slot("who", "who asks, and who is asked.", WHO),
        Slot("take", "where each of the four matrices is used.", TAKES),
        Slot("cut", "how the heads are cut.", CUTS),
        Slot("join", "how the heads are joined.", JOINS),
        Slot("soften", "what turns scores into weights.", SOFTENS),
        Slot("hide", "where `mask` takes part.", HIDES),
        Slot("late", "where `mask` takes part.", LATES),
        Slot("compare", "how a query is compared with a key.", COMPARES),
        Slot("scale", "what the scores are divided by.", SCALES),
        Slot("mix", "what the weights are multiplied with.", MIXES),
        Slot("fuse", "the step with W_O.", FUSES),
        Slot("finish", "the last step.", FINISHES),
    ),
)


def _turned_condition(evidence: Evidence, i: int) -> Finding | None:
    """Without a mask an error, and with one no effect of it: `is None` and `is not None` exchanged."""
    bare = [k for k, case in enumerate(evidence.cases) if case.arguments[7] is None and evidence.counts[k]]
    if not all(evidence.got[k].error for k in bare):
        return None
    if not close(crossed(*evidence.cases[i].fresh()[:7]), evidence.got[i].leaves[0]):
        return None
    says = "With a mask it takes no effect; without one it stops with an error, as if there were one: "
    error = evidence.got[bare[0]].error_text.replace("`", "'")
    return Finding(
        "condition-turned-round", f"{says}`{error}`.", look="the condition: `is None`, `is not None`."
    )


def _padding_counts(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """Whether hidden source words still change the output."""
    y, memory, *others, mask = evidence.cases[i].fresh()
    hidden = ~mask[:, 0, 0]
    memory[hidden] = memory[hidden] * 0.5 + 1
    out, old = call((y, memory, *others, mask)), evidence.got[i].leaves[0]
    if out.error is not None or out.leaves[0].shape != old.shape or close(out.leaves[0], old):
        return None
    says = "Padding still counts: other numbers in hidden source words change the output."
    return Finding("hidden-keys-count", says, look="what makes the score of a hidden word vanish.")


def read_cross(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else what is seen of it as a layer that asks itself."""
    found = CROSS.read(evidence, i, call)
    if found or evidence.got[i].leaves[0].shape != evidence.expected[i].leaves[0].shape:
        return found
    if any(argument is not None for argument in evidence.cases[i].arguments[7:]):
        return _turned_condition(evidence, i) or _padding_counts(evidence, i, call)
    if of_the_whole(evidence, i):
        return None

    def as_layer(arguments: tuple[Any, ...]) -> Outcome:
        x, *others = arguments
        return call((x, x.clone(), *others))

    # An argument that has no effect says more than what comes out.
    found = probe(evidence, i, call)
    if found:
        return found
    found = read_inside(as_layer)
    if found is None:
        return None
    return dataclasses.replace(found, says=f"Given the same words as target and as source: {found.says}")
