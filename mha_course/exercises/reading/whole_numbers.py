"""Counts where a number with decimals is asked for: what was counted says more than the dtype does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.recipes import Recipe

Call = Callable[[tuple[Any, ...]], Outcome]


def counted_by(recipe: Recipe, else_says: str, else_look: str) -> Callable[[Evidence, Call], Finding | None]:
    """A reader of whole numbers and truth values: what the recipe makes of them as numbers with decimals.

    else_says, else_look: the words where the recipe knows no way to them.
    """

    def read(evidence: Evidence, call: Call) -> Finding | None:
        i = evidence.first_wrong()
        want, have = evidence.expected[i].leaves, evidence.got[i].leaves
        if not have or len(want) != len(have):
            return None
        if any(leaf.is_floating_point() or leaf.is_complex() for leaf in have):
            return None
        got = [_with_decimals(out) for out in evidence.got]
        decimal = dataclasses.replace(evidence, got=got)
        found = recipe.read(decimal, i, lambda arguments: _with_decimals(call(arguments)))
        if found or any(a.shape != b.shape for a, b in zip(want, have, strict=True)):
            return found
        return Finding("counted", else_says, look=else_look)

    return read


def _with_decimals(out: Outcome) -> Outcome:
    return dataclasses.replace(out, leaves=tuple(_float(leaf) for leaf in out.leaves))


def _float(leaf: Tensor) -> Tensor:
    return leaf if leaf.is_floating_point() or leaf.is_complex() else leaf.to(torch.float32)
