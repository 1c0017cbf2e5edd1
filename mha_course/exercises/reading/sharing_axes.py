"""Axes in words: those that share one and should not, those that are apart, a shape laid over numbers."""

from __future__ import annotations

from mha_course.exercises.evidence import in_a_row
from mha_course.exercises.reading.axis_maps import plural
from mha_course.exercises.reading.coded_axes import Axes


def laid_over(order: list[str], shape: tuple[int, ...], alone: bool, in_order: bool, meant: str = "") -> str:
    """A shape laid over numbers in this order. alone: all else is right; in_order: it is the right order.

    meant: the axes by which the shape reads the numbers, where it is the right shape.
    """
    if alone:
        return f"The numbers stand in the right order; only the shape `{shape}` is another one."
    if in_order:
        return f"The shape `{shape}` is laid over the numbers."
    if meant:
        return f"The numbers come in the order `({', '.join(order)})`; the shape reads them as `{meant}`."
    return (
        f"The numbers come in the order `({', '.join(order)})`, row by row, and the shape `{shape}` is laid "
        "over them. So its axes don't hold what they should."
    )


def axes_joined(axes: Axes, groups: list[list[str]]) -> list[str]:
    """Axes that share one and should not, and those that are apart and should share one."""
    wanted, at = [], 0
    for many in axes.groups:
        wanted.append({axes.symbols[i] for i in axes.order[at : at + many]})
        at += many
    words = dict(zip(axes.symbols, axes.words, strict=True))
    said = []
    for group in groups:
        if len(group) > 1 and set(group) not in wanted and all(symbol in words for symbol in group):
            share = in_a_row([plural(words[symbol]) for symbol in group])
            said.append(f"{share.capitalize()} share one axis.")
    for part in wanted:
        if len(part) > 1 and not any(part <= set(group) for group in groups):
            apart = in_a_row([plural(words[symbol]) for symbol in axes.symbols if symbol in part])
            said.append(f"{apart.capitalize()} are not joined.")
    return said
