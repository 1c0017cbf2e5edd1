"""Reading a mask that is no known mistake: its shape, what it is made of, and which places it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome, close, kind_of
from mha_course.exercises.recognising import seen
from mha_course.exercises.witness import number


@dataclass(frozen=True)
class Part:
    """One thing that is wrong with a mask; several of them are said one after the other."""

    id: str
    says: str
    look: str


def read_causal_mask(evidence: Evidence, i: int, call: Callable[..., Outcome]) -> Finding | None:
    """What a mask over n tokens leaves open, as keys seen from the query; None when it can't be read."""
    finding = known_in_whole_numbers(evidence)
    if finding:
        return finding
    masks = [(evidence.cases[i].sizes["n"], evidence.got[i].leaves[0]) for i in readable(evidence)]
    if masks and masks[0][0] == 1 and masks[0][1].shape == (1, 1) and masks[0][1].dtype == torch.bool:
        return Finding("one-token", "For one token nothing is open.", seen(evidence), "the case n = 1.")
    if masks and (masks[0][1].ndim == 1 or 1 in masks[0][1].shape[-2:]) and masks[0][0] > 1:
        n, leaf = masks[0]
        says = f"Its shape is `{tuple(leaf.shape)}`: one row for all, and there are n = {n} queries."
        look = "which positions go down and which along."
        return Finding("one-row", says, seen(evidence), look)
    masks = [(n, leaf) for n, leaf in masks if n > 1 and leaf.ndim > 1]
    if not masks:
        return None
    n, leaf = masks[0]
    square, shape = _square(leaf, n)
    if square is None:
        return said(evidence, shape)
    opened, kind = open_places(square)
    if opened is None:
        return said(evidence, [kind, *shape])
    others = [_square(other, size)[0] for size, other in masks[1:]]
    others = [open_places(other)[0] for other in others if other is not None]
    pattern = _known(opened, evidence) or _pattern(opened, [other for other in others if other is not None])
    return said(evidence, [*pattern, *([kind] if kind else []), *shape])


def readable(evidence: Evidence) -> list[int]:
    """Cases in which the answer gave one tensor with something in it, a wrong one first."""
    cases = [
        i
        for i, out in enumerate(evidence.got)
        if evidence.counts[i] and out.error is None and len(out.leaves) == 1 and out.leaves[0].numel()
    ]
    return sorted(cases, key=lambda i: (evidence.right[i], i))


def known_in_whole_numbers(evidence: Evidence) -> Finding | None:
    """A listed mistake that gives the same in floats; whole numbers, of whatever dtype, make it no other."""
    cases = [i for i in readable(evidence) if kind_of(evidence.got[i].leaves[0]) == "whole"]
    for mistake in evidence.exercise.mistakes if cases else ():
        for i in cases:
            theirs, leaf = mistake.wrong(*evidence.cases[i].fresh()), evidence.got[i].leaves[0]
            if theirs.dtype == torch.bool or theirs.shape != leaf.shape or not close(theirs, leaf.float()):
                break
        else:
            return Finding(mistake.id, mistake.says, seen(evidence), mistake.look)
    return None


def _known(opened: Tensor, evidence: Evidence) -> list[Part]:
    """A listed mistake that leaves the same places open, whatever else is wrong with this mask."""
    for mistake in evidence.exercise.mistakes:
        theirs = mistake.wrong(opened.shape[0])
        if theirs.dtype == torch.bool and theirs.shape == opened.shape and torch.equal(theirs, opened):
            return [Part(mistake.id, mistake.says, mistake.look)]
    return []


def _square(leaf: Tensor, n: int) -> tuple[Tensor | None, list[Part]]:
    """The mask as a square, and what is wrong with its shape."""
    parts: list[Part] = []
    if leaf.ndim > 2:
        if leaf.shape[: leaf.ndim - 2].numel() != 1:
            return None, parts
        says = (
            f"It has {leaf.ndim} axes, `{tuple(leaf.shape)}`; `(n, n)` is wanted, and broadcasts by itself."
        )
        parts.append(Part("too-many-axes", says, "the shape of what you return."))
        leaf = leaf.reshape(leaf.shape[-2:])
    rows, columns = leaf.shape
    if rows != columns:
        says = f"It is not square: `{tuple(leaf.shape)}`, and there are n = {n} queries and n = {n} keys."
        return None, [*parts, Part("not-square", says, "the two sizes.")]
    if rows != n:
        more = "large" if rows > n else "small"
        by = abs(rows - n)
        says = f"For n = {n} it has {rows} rows and columns: {by} too {'many' if more == 'large' else 'few'}."
        parts.append(Part(f"too-{more}", says, "the size that you start from."))
    return leaf, parts


def open_places(mask: Tensor) -> tuple[Tensor | None, Part | None]:
    """Which places are open, and what to say when the mask is not boolean; (None, Part) when unclear."""
    if mask.dtype == torch.bool:
        return mask, None
    look = "the dtype of what you return."
    mask = mask.double()
    values = sorted(set(mask[~mask.isnan()].flatten().tolist()))
    named = [number(torch.tensor(v, dtype=torch.float64)) for v in values]
    if bool(mask.isnan().any()):
        values, named = [*values, float("nan")], [*named, "NaN"]
    if named == ["NaN"]:
        return None, Part(
            "nothing-but-nan", "Everything is NaN.", "0 times infinity, or infinity minus infinity."
        )
    if len(values) > 2:
        says = f"A mask is boolean here. Yours holds {len(values)} different numbers, {', '.join(named[:4])}"
        return None, Part("many-numbers", f"{says}{', ...' if len(named) > 4 else ''}: no comparison.", look)
    if "NaN" in named:
        says = (
            "It holds NaN, as 0 times infinity gives it, where other numbers belong. A mask is boolean here."
        )
        return (mask.isnan() if values[0] < 0 else ~mask.isnan()), Part("holds-nan", says, look)
    if len(values) == 1:
        says = f"It holds {named[0]} everywhere: nothing tells open places from hidden ones."
        return None, Part("one-number", says, "the condition, and the dtype of what you return.")
    # 1 (or 2, ...) stands for open beside 0; 0 stands for open beside a large number of either sign.
    opened = min(values, key=abs) if max(abs(v) for v in values) > 1e3 else max(values)
    says = f"It holds numbers, {' and '.join(named)}; a mask is boolean here, True = may attend."
    return mask == opened, Part("holds-numbers", says, look)


def _pattern(opened: Tensor, smaller: Sequence[Tensor | None]) -> list[Part]:
    """In words, which keys a query sees; nothing when they are the right ones."""
    rows, columns = opened.shape
    query, key = torch.arange(rows)[:, None], torch.arange(columns)[None, :]
    if torch.equal(opened, key <= query):
        return []
    if not bool(opened.any()):
        return [Part("nothing-open", "Nothing is open: no token sees anything.", "the condition.")]
    window = _band(opened)
    if window:
        edges = [(_band(other), other.shape[0]) for other in smaller if other is not None]
        clipped = [(max(window[0], 1 - n), min(window[1], n - 1)) for _, n in edges]
        always = all(edge == clip for (edge, n), clip in zip(edges, clipped, strict=True) if n > 2)
        return [_band_in_words(*window, rows, always or 1 - rows == window[0])]
    window = _band(~opened)
    if window == (0, 0):
        says = "A token can't see itself, and sees everything else, the future too."
        return [Part("all-but-itself", says, "`==` and `!=`, and which side is True.")]
    if window:
        says = f"Hidden are the keys {_reach(*window, rows)}; everything else is open."
        return [Part("another-band", says, "which side of the condition is True, and its limits.")]
    if bool((opened == opened[:1]).all()):
        says = "All rows are alike: every query sees the same keys, wherever it stands."
        return [Part("rows-alike", says, "where the query's own position takes part.")]
    if bool((opened == opened[:, :1]).all()):
        says = "Whole rows are open or closed: the position of the key takes no part."
        return [Part("columns-alike", says, "where the key's position takes part.")]
    part = _rows_apart(opened, key <= query) or _blocks(opened)
    if part:
        return [part]
    sums = (query + key)[opened].unique()
    if _depends_on(opened, query + key) and len(sums) > 2 and int(sums[-1] - sums[0]) == len(sums) - 1:
        says = "What is open depends on the sum of the two positions: the border leans on the other diagonal."
        return [Part("border-leans", says, "a flip, or a plus where positions should be compared.")]
    if rows == columns and torch.equal(opened, opened.T):
        says = "The mask is the same on both sides of the diagonal: past and future are not told apart."
        return [Part("symmetric", says, "the condition: which of the two positions must be the smaller one?")]
    leaks = opened & (key > query)
    if bool(leaks.any()):
        row, column = leaks.nonzero()[0].tolist()
        tail = f", {int(leaks.sum())} such places in all" if int(leaks.sum()) > 1 else ""
        says = f"Query {row} sees key {column}, which lies in its future{tail}."
        if bool((~opened & (key <= query)).any()):
            row, column = (~opened & (key <= query)).nonzero()[0].tolist()
            says += f" And query {row} does not see key {column}, which it may."
        return [Part("future-seen", says, "the condition, in that row.")]
    missing = ~opened & (key <= query)
    row, column = missing.nonzero()[0].tolist()
    says = f"No future is seen, but some of the past is missing: query {row} does not see key {column}."
    return [Part("past-missing", says, "the condition, in that row.")]


def _rows_apart(opened: Tensor, right: Tensor) -> Part | None:
    """Some rows or columns that are empty or full, where the rest is as it should be, or follows one rule."""
    for axis, name in ((0, "row"), (1, "column")):
        table, want = (opened, right) if axis == 0 else (opened.T, right.T)
        wrong = (table != want).any(1)
        if bool(wrong.all()) or not bool(wrong.any()):
            continue
        places = wrong.nonzero()[:, 0].tolist()
        for full, word in ((False, "closed"), (True, "open")):
            if bool((table[wrong] == full).all()):
                one = len(places) == 1
                listed = in_a_row([str(place) for place in places])
                some = f"{name.capitalize()}{'' if one else 's'} {listed} {'is' if one else 'are'}"
                says = f"{some} {word} throughout"
                meaning = {
                    ("row", False): "nothing is visible from there"
                    if one
                    else "nothing is visible from them",
                    ("row", True): "everything is visible from there",
                    ("column", False): "no query sees that key" if one else "no query sees those keys",
                    ("column", True): "every query sees that key" if one else "every query sees those keys",
                }[name, full]
                look = "where the loop or the range starts and ends." if not full else "what that part gets."
                return Part(f"{name}s-{word}", f"{says}: {meaning}. The rest is right.", look)
    for row, others in ((0, slice(1, None)), (len(opened) - 1, slice(None, -1))):
        window = _band(opened[others], row == 0)
        if window and len(opened) > 3:
            rule = _band_in_words(*window, len(opened), True).says
            says = f"Row {row} is unlike the others. Elsewhere: {rule}"
            return Part(
                "one-row-apart", says, f"row {row}: an index that turns negative, or a repair of it alone."
            )
    return None


def _blocks(opened: Tensor) -> Part | None:
    """Tokens that see to the end of their block."""
    n = len(opened)
    for width in range(2, n):
        block = torch.arange(n) // width
        if torch.equal(opened, block[None, :] <= block[:, None]):
            says = f"Tokens see to the end of their block of {width}, and so a part of the future."
            return Part("blocks", says, "a division of the positions.")
    return None


def _depends_on(opened: Tensor, index: Tensor) -> bool:
    return all(len(opened[index == value].unique()) == 1 for value in index.unique())


def _band(opened: Tensor, from_row_1: bool = False) -> tuple[int, int] | None:
    """First and last distance key - query that is open, where only the distance matters; else None."""
    rows, columns = opened.shape
    distance = torch.arange(columns)[None, :] - torch.arange(rows)[:, None] - int(from_row_1)
    if not bool(opened.any()) or not _depends_on(opened, distance):
        return None
    inside = sorted(set(distance[opened].tolist()))
    return (inside[0], inside[-1]) if inside[-1] - inside[0] == len(inside) - 1 else None


def _band_in_words(first: int, last: int, n: int, always: bool) -> Part:
    """always: the limits are the same for other sizes."""
    when = "Each token" if always else f"For n = {n}, each token"
    says = f"{when} sees the keys {_reach(first, last, n)}."
    if last == 0:
        says += " A part of the past is missing."
    if first > 0:
        says += " That is the future."
    elif last > 0:
        says += " That is, besides itself, the future." if first == 0 else " That includes the future."
    if last < 0:
        says += " It does not see itself."
    return Part("another-band", says, "the limits of the condition, or the diagonal of the triangle.")


def _reach(first: int, last: int, n: int) -> str:
    """Like "from 2 tokens back to itself", with the ends of the sentence by name."""
    start = "from the first one" if first <= 1 - n else f"from {_away(first)}"
    stop = "to the last one" if last >= n - 1 else f"to {_away(last)}"
    return f"{start} {stop}" if first != last else f"{_away(first)}, and no others"


def _away(distance: int) -> str:
    if distance == 0:
        return "itself"
    tokens = f"{abs(distance)} token{'s' if abs(distance) > 1 else ''}"
    return f"{tokens} {'ahead' if distance > 0 else 'back'}"


def said(evidence: Evidence, parts: Sequence[Part]) -> Finding | None:
    """All parts one after the other, with one entry that shows the difference; None when there are none."""
    if not parts:
        return None
    look = " And: ".join(dict.fromkeys(part.look for part in parts))
    return Finding(
        "+".join(part.id for part in parts), " ".join(part.says for part in parts), seen(evidence), look
    )
