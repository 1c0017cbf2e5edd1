"""What was done to a result that was right before: squeezed, normalised, summed up, turned round, rounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, close, kind_of
from mha_course.exercises.reading.factors import times_right
from mha_course.exercises.reading.spoilt_results import nearly_right, spoilt

Call = Callable[[tuple[Any, ...]], Outcome]

# What is done to every number, or along the last axis.
_STEPS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("negative numbers become 0 (a ReLU)", F.relu),
    ("negative numbers are made small (a leaky ReLU)", F.leaky_relu),
    ("each number goes through a GELU", F.gelu),
    ("each number goes through a GELU", lambda y: F.gelu(y, approximate="tanh")),
    ("each number goes through a SiLU", F.silu),
    ("each number goes through an ELU", F.elu),
    ("each number is squeezed by a tanh", torch.tanh),
    ("each number is squeezed by a sigmoid", torch.sigmoid),
    ("signs are dropped (an absolute value)", torch.abs),
    ("each number goes through an exponential", torch.exp),
    ("each number is squared", torch.square),
    ("numbers are rounded", torch.round),
    ("numbers are rounded to one digit behind the point", lambda y: torch.round(y, decimals=1)),
    ("numbers are rounded to three digits behind the point", lambda y: torch.round(y, decimals=3)),
    ("numbers are rounded to four digits behind the point", lambda y: torch.round(y, decimals=4)),
    ("numbers are rounded to two digits behind the point", lambda y: torch.round(y, decimals=2)),
    ("digits behind the point are cut off", torch.trunc),
    ("numbers are kept between 0 and 1", lambda y: y.clamp(0, 1)),
    ("numbers are kept between -1 and 1", lambda y: y.clamp(-1, 1)),
    ("a softmax is applied to the last axis", lambda y: y.softmax(-1)),
    ("a log-softmax is applied to the last axis", lambda y: y.log_softmax(-1)),
    ("rows are normalised (LayerNorm)", lambda y: F.layer_norm(y, y.shape[-1:])),
    ("rows are divided by their root mean square (RMSNorm)", lambda y: y / y.square().mean(-1, True).sqrt()),
    ("rows are scaled to length 1", lambda y: F.normalize(y, dim=-1)),
    ("rows are divided by their sum", lambda y: y / y.sum(-1, keepdim=True)),
    ("rows are divided by their largest number", lambda y: y / y.amax(-1, keepdim=True)),
    ("the mean of each row is taken off", lambda y: y - y.mean(-1, keepdim=True)),
    ("the features stand in reversed order", lambda y: y.flip(-1)),
    ("the features are moved on by one place", lambda y: y.roll(1, -1)),
    ("the features are moved back by one place", lambda y: y.roll(-1, -1)),
    ("the features are sorted", lambda y: y.sort(-1).values),
    ("the features are summed up along the row", lambda y: y.cumsum(-1)),
)


def done_afterwards(evidence: Evidence, i: int, call: Call) -> Finding | None:
    """A right result to which something was done at the end, or None."""
    if len(evidence.expected[i].leaves) != 1 or len(evidence.got[i].leaves) != 1:
        return None
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    # A ReLU leaves zeros, too: what gives exactly these numbers comes before what only tells where they are.
    found = _step_at_the_end(evidence, i) or spoilt(evidence, i)
    if found:
        return found
    if not want.is_floating_point() or kind_of(have) == "complex" or not want.ndim:
        return None
    return times_right(evidence) or nearly_right(evidence, i)


def _step_at_the_end(evidence: Evidence, i: int) -> Finding | None:
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    if not want.is_floating_point() or kind_of(have) == "complex" or not want.ndim:
        return None
    if want.shape == have.shape and not bool(have.any()):
        return None  # nothing but 0: it comes from too many things
    axes = evidence.exercise.returns[0].axes
    for words, step in _steps(axes if len(axes) == want.ndim else ()):
        made = step(want)
        if made.shape == have.shape and close(made, have.to(made.dtype)) and not close(want, made):
            if _everywhere(evidence, step):
                says = f"All is right up to the last step: then {words}. That is not asked for."
                return Finding("right-before-the-end", says, look="the last lines.")
    return None


def _everywhere(evidence: Evidence, step: Callable[[Tensor], Tensor]) -> bool:
    """Whether the step explains every other case that counts and gave one result."""
    for counts, want, have in zip(evidence.counts, evidence.expected, evidence.got, strict=True):
        if not counts or have.error is not None or len(have.leaves) != 1:
            continue
        made, leaf = step(want.leaves[0]), have.leaves[0]
        if made.shape != leaf.shape or not close(made, leaf.to(made.dtype)):
            return False
    return True


def _steps(axes: tuple[str, ...]) -> Iterator[tuple[str, Callable[[Tensor], Tensor]]]:
    yield from _STEPS
    words = {"b": "sentences", "h": "heads", "n": "tokens", "n_q": "queries"}
    for axis, name in enumerate(axes):
        if name not in words:
            continue
        what = words[name]
        yield f"the {what} are summed up one after the other", lambda y, a=axis: y.cumsum(a)
        yield f"the {what} are averaged (the axis stays)", lambda y, a=axis: y.mean(a, True).expand_as(y)
        yield f"the {what} are averaged", lambda y, a=axis: y.mean(a)
        yield f"the {what} are averaged", lambda y, a=axis: y.mean(a, keepdim=True)
        yield f"the {what} are added up (the axis stays)", lambda y, a=axis: y.sum(a, True).expand_as(y)
        yield f"the {what} are added up", lambda y, a=axis: y.sum(a)
        yield f"the {what} are added up", lambda y, a=axis: y.sum(a, keepdim=True)
        yield f"only the first of the {what} is kept", lambda y, a=axis: y.select(a, 0)
        yield f"only the first of the {what} is kept", lambda y, a=axis: y.narrow(a, 0, 1)
        yield f"only the last of the {what} is kept", lambda y, a=axis: y.select(a, y.shape[a] - 1)
        yield f"only the last of the {what} is kept", lambda y, a=axis: y.narrow(a, y.shape[a] - 1, 1)
        yield f"the largest of the {what} is taken", lambda y, a=axis: y.amax(a)
        yield f"the {what} stand in reversed order", lambda y, a=axis: y.flip(a)
        yield f"the {what} are moved on by one place", lambda y, a=axis: y.roll(1, a)
        yield f"the {what} are moved back by one place", lambda y, a=axis: y.roll(-1, a)
        yield f"a softmax goes over the {what}", lambda y, a=axis: y.softmax(a)
        yield f"the mean over the {what} is taken off", lambda y, a=axis: y - y.mean(a, keepdim=True)
    yield "everything is added up to one number", lambda y: y.sum()
    yield "everything is averaged to one number", lambda y: y.mean()
