"""Masks of four axes in a layer that takes those of two."""

from __future__ import annotations

from mha_course.exercises.evidence import Finding
from mha_course.exercises.exercise import Case
from mha_course.exercises.outcome import Outcome


def mask_of_four_axes(case: Case, expected: Outcome, got: Outcome) -> Finding | None:
    """An error, or another shape, with `(b, 1, 1, n)` or `(b, 1, n, n)`, where masks `(n, n)` are right.

    Such a case is the one looked at only when all others are right.
    """
    mask = case.arguments[6]
    if mask is None or mask.ndim != 4 or not case.edge:
        return None
    shape = "(b, 1, 1, n)" if mask.shape[2] == 1 else "(b, 1, n, n)"
    means = f"It is right with masks `(n, n)`. The mask `{shape}` has an axis for each one of the scores."
    look = "what is done to the mask: axes that are added, dropped or asked for by number."
    if got.error is not None:
        text, line = got.error_text.replace("`", "'"), got.line.replace("`", "'")
        at = f"\nIn your {line}" if line else ""
        says = f"{case.label[:1].upper()}{case.label[1:]} it stops with an error: `{text}`{at}\n{means}"
        return Finding("mask-of-four-axes", says, look=look)
    if len(got.leaves) == 1 and got.leaves[0].shape != expected.leaves[0].shape:
        have, want = tuple(got.leaves[0].shape), tuple(expected.leaves[0].shape)
        says = (
            f"{case.label[:1].upper()}{case.label[1:]} the result has shape `{have}`, not `{want}`. {means}"
        )
        return Finding("mask-of-four-axes", says, look=look)
    return None
