"""Wrong answers that nothing explains, asked with numbers that can be done in one's head."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome, agree, close, run
from mha_course.exercises.reading.recipes import beyond_recipes
from mha_course.exercises.reading.weights import nearly
from mha_course.exercises.witness import number

Call = Callable[[tuple[Any, ...]], Outcome]
Reader = Callable[[Evidence, int, Call], Finding | None]


@dataclass(frozen=True)
class Question:
    """One call on plain numbers.

    asks: what is handed over, as the start of a sentence. look: where to look when the answer is wrong.
    part: what of the result is shown.
    """

    asks: str
    arguments: tuple[Any, ...]
    look: str
    part: Callable[[Tensor], Tensor] = lambda result: result


def asked_plainly(questions: Callable[[], Sequence[Question]]) -> Reader:
    """A reader that puts the questions in their order, from the plainest on, and tells the first that fails.

    Only of results in the right shape, to which nothing was done as a whole.
    """
    known = functools.cache(questions)

    def read(evidence: Evidence, i: int, call: Call) -> Finding | None:
        want, have = evidence.expected[i].leaves, evidence.got[i].leaves
        if not beyond_recipes(evidence, i) or (want[0].numel() > 1 and nearly(want[0], have[0])):
            return None
        asked = known()
        for k, question in enumerate(asked):
            right = run(evidence.exercise.reference, _copied(question.arguments), quiet=True)
            out = call(_copied(question.arguments))
            if not agree(right, out):
                return _finding(question, right.leaves[0], out, k)
        return None

    return read


def _finding(question: Question, want: Tensor, out: Outcome, before: int) -> Finding:
    if out.error is not None or not out.leaves:
        yours = f"yours stops with `{out.error_text.replace('`', chr(39))}`"
    elif out.leaves[0].shape != want.shape:
        yours = f"yours has shape `{tuple(out.leaves[0].shape)}`"
    elif close(question.part(want).double(), question.part(out.leaves[0]).double()):
        yours = "yours is, and other numbers are there beside it"
    else:
        yours = f"yours is {_shown(question.part(out.leaves[0]))}"
    plainer = " In plainer cases it is right." if before else ""
    says = f"{question.asks} the result should be {_shown(question.part(want))}; {yours}.{plainer}"
    return Finding(f"asked-plainly-{before + 1}", says, look=question.look)


def _shown(result: Tensor) -> str:
    flat = result.flatten()
    if flat.numel() == 1:
        return f"`{_short(flat[0])}`"
    return f"`({', '.join(_short(x) for x in flat)})`"


def _short(x: Tensor) -> str:
    text = number(x)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        a.clone() if isinstance(a, Tensor) else list(a) if isinstance(a, list) else a for a in arguments
    )


def plain(values: Any) -> Tensor:
    """Numbers in nested lists as a float32 tensor."""
    return torch.tensor(values, dtype=torch.float32)
