"""Reading a result axis by axis: which axes it has, in which order, and what stands along each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations, product
from math import prod

import numpy as np

from mha_course.exercises.reading.axis_maps import Along, along, names, plural, run, verb
from mha_course.exercises.reading.coded_axes import Axes
from mha_course.exercises.reading.sharing_axes import axes_joined, laid_over

_MOST_CASES = 4


@dataclass(frozen=True)
class View:
    """A shape laid over the result for reading: for each of its own axes, the sizes it is cut into."""

    groups: tuple[tuple[int, ...], ...]
    flat: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """All sizes in a row."""
        return tuple(size for group in self.groups for size in group)


@dataclass
class Reading:
    """What a result holds. cost: how much has to be said; 0 when all is right."""

    cost: float
    layout: str = ""
    clauses: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        """Everything in one paragraph."""
        said = [f"{clause[:1].upper()}{clause[1:]}" for clause in self.clauses]
        return " ".join(part if part.endswith(".") else f"{part}." for part in [self.layout, *said] if part)


@dataclass(frozen=True, eq=False)
class _Part:
    """One thing to read along the axes: sentences, tokens, heads, ... with the index found everywhere."""

    word: str
    symbol: str
    size: int
    index: np.ndarray
    depends: tuple[int, ...]
    whole: bool = False  # heads and features in one, counted through


def read(axes: Axes, codes: np.ndarray, wanted: tuple[int, ...]) -> Reading | None:
    """The reading with the fewest words, or None when the axes are mixed. wanted: the right shape."""
    best: Reading | None = None
    for view in _views(axes, codes.shape):
        for joined in (False, True):
            found = _reading(axes, codes, view, joined, wanted)
            if found and (best is None or found.cost < best.cost):
                best = found
    return best


def _views(axes: Axes, shape: tuple[int, ...]) -> Iterator[View]:
    sizes = [size for size in axes.sizes if size > 1]
    cuts = {
        order
        for many in range(2, len(sizes) + 1)
        for some in permutations(range(len(sizes)), many)
        for order in [tuple(sizes[i] for i in some)]
    }
    options = [[(size,), *(cut for cut in cuts if prod(cut) == size)] for size in shape]
    yield from (View(groups) for groups in product(*options))
    if prod(shape) == prod(sizes):
        yield from (View((order,), flat=True) for order in set(permutations(sizes)))


def _reading(
    axes: Axes, codes: np.ndarray, view: View, joined: bool, wanted: tuple[int, ...]
) -> Reading | None:
    parts = _parts(axes, codes.reshape(view.shape), joined)
    if parts is None:
        return None
    found = Reading(0.1 if joined else 0)
    drives: dict[int, _Part] = {}  # which part a view axis belongs to
    for part in parts:
        own = _own_axis(part)
        if own is not None:
            if own in drives:
                return None
            drives[own] = part
    for part in parts:
        if len(part.depends) == 1:
            said = _along(axes, part, _line(part, part.depends[0]))
            found.cost += said.cost
            found.clauses += [_within(part) + said.words] if said.words else []
        elif len(part.depends) == 2 and part.whole and not any(j in drives for j in part.depends):
            drives |= dict.fromkeys(part.depends, part)
            _blocks(part, found)
        elif len(part.depends) == 2:
            others = [j for j in part.depends if drives.get(j, part) is not part]
            if len(others) != 1:
                return None
            own = next(j for j in part.depends if j != others[0])
            if drives.setdefault(own, part) is not part:
                return None
            _conditional(part, drives[others[0]], own, others[0], found)
    if joined and not any(part.whole and len(part.depends) == 2 for part in parts):
        found.cost += 0.5
    _constants(axes, parts, drives, view, found)
    _layout(axes, parts, drives, view, codes.shape, wanted, found)
    return found


def _parts(axes: Axes, codes: np.ndarray, joined: bool) -> list[_Part] | None:
    digits, parts = axes.digits(codes), []
    head = axes.words.index("head")
    last = len(axes.words) - 1
    for i in axes.order:
        word, symbol, size, index = axes.words[i], axes.symbols[i], axes.sizes[i], digits[i]
        if joined and i == head:
            if size == 1:
                return None
            word = "feature" if len(axes.input_axes) < len(axes.sizes) else "column"
            symbol, size, index = "h * d_k", size * axes.sizes[last], index * axes.sizes[last] + digits[last]
        elif joined and i == last:
            continue
        depends = tuple(j for j in range(index.ndim) if (index != index.take([0], axis=j)).any())
        if len(depends) > 2:
            return None
        parts.append(_Part(word, symbol, size, index, depends, joined and i == head))
    return parts


def _along(axes: Axes, part: _Part, held: list[int]) -> Along:
    """In words, what stands along an axis; whole heads where columns come in such blocks."""
    size = axes.sizes[-1]
    if part.word == "column" and part.whole and len(held) % size == 0:
        blocks = [held[k : k + size] for k in range(0, len(held), size)]
        if all(block == list(range(block[0], block[0] + size)) and block[0] % size == 0 for block in blocks):
            return along("head", part.size // size, [block[0] // size for block in blocks])
    return along(part.word, part.size, held)


def _within(part: _Part) -> str:
    """Features and columns of a head are counted anew in each."""
    return "in each head " if part.symbol == "d_k" else ""


def _own_axis(part: _Part) -> int | None:
    """The one axis along which this part runs; of two, the one along which it takes all its values."""
    if len(part.depends) == 1:
        return part.depends[0]
    if len(part.depends) != 2 or part.whole:
        return None
    full = [j for j in part.depends if part.index.shape[j] == part.size]
    return full[0] if len(full) == 1 else None


def _line(part: _Part, axis: int) -> list[int]:
    place: list[int | slice] = [0] * part.index.ndim
    place[axis] = slice(None)
    return [int(i) for i in part.index[tuple(place)]]


def _lines(part: _Part, own: int, other: int) -> list[list[int]]:
    """What stands along `own`, for each place along `other`."""
    place: list[int | slice] = [0] * part.index.ndim
    place[own] = place[other] = slice(None)
    table = part.index[tuple(place)]
    return (table if other < own else table.T).tolist()


def _conditional(part: _Part, other: _Part, own: int, axis: int, found: Reading) -> None:
    """Along one axis it depends on the place along another: "in head 2 the tokens run backwards"."""
    kinds: dict[str, list[int]] = {}
    for c, held in enumerate(_lines(part, own, axis)):
        said = along(part.word, part.size, held)
        found.cost += said.cost / 2
        kinds.setdefault(said.words, []).append(c)
    wrong = {words: where for words, where in kinds.items() if words}
    found.cost += 2
    listed = [f"in {names(other.word, where)} {words}" for words, where in wrong.items()]
    more = len(listed) - _MOST_CASES
    shown = "; ".join(listed[:_MOST_CASES]) + (f"; and so on for {more} more" if more > 0 else "")
    fine = kinds.get("", [])
    are = verb(fine, "is", "are")
    found.clauses.append(shown + (f". {names(other.word, fine).capitalize()} {are} in order" if fine else ""))


def _blocks(part: _Part, found: Reading) -> None:
    """What each head (or block of columns) holds of all features."""
    i, j = part.depends
    lines = _lines(part, j, i)
    what, block = plural(part.word), "head" if part.word == "feature" else "block"
    listed = [f"{block} {c + 1} holds {what} {run(held)}" for c, held in enumerate(lines[:_MOST_CASES])]
    listed += [f"and so on for {len(lines) - _MOST_CASES} more"] if len(lines) > _MOST_CASES else []
    held = [f for line in lines for f in line]
    lost = [f for f in range(part.size) if f not in held]
    twice = sorted({f for f in held if held.count(f) > 1})
    found.cost += 2.5
    found.clauses.append("; ".join(listed))
    if twice:
        found.clauses.append(
            f"{names(part.word, twice)} {verb(twice, 'stands', 'stand')} there more than once"
        )
    if lost:
        found.clauses.append(f"{names(part.word, lost)} {verb(lost, 'is', 'are')} missing")


def _constants(axes: Axes, parts: list[_Part], drives: dict[int, _Part], view: View, found: Reading) -> None:
    """Parts of which one index only is there: the axis is gone, or it holds the same everywhere."""
    idle = [j for j, size in enumerate(view.shape) if size > 1 and j not in drives]
    for part in parts:
        if part.depends or part.size == 1:
            continue
        held = int(part.index.flat[0])
        same = next((j for j in idle if view.shape[j] == part.size), None)
        found.cost += 1
        if same is None:
            lost = [i for i in range(part.size) if i != held]
            only = f"{_within(part)}only {names(part.word, [held])} is there"
            found.clauses.append(f"{only}; {names(part.word, lost)} {verb(lost, 'is', 'are')} missing")
        else:
            idle.remove(same)
            drives[same] = part
            found.clauses.append(
                f"{_within(part)}{names(part.word, [held])} stands in the place of every {part.word}"
            )
    for j in idle:
        found.cost += 2
        head = axes.words.index("head")
        if view.shape[j] == axes.sizes[head] and any(
            part.symbol == "h" or part.whole for part in drives.values()
        ):
            drives[j] = _Part("head", "h", view.shape[j], np.empty(0), ())
            found.clauses.append("every head holds all features: nothing is cut")
        else:
            found.clauses.append(f"the same numbers stand there {view.shape[j]} times over")


def _layout(
    axes: Axes,
    parts: list[_Part],
    drives: dict[int, _Part],
    view: View,
    shape: tuple[int, ...],
    wanted: tuple[int, ...],
    found: Reading,
) -> None:
    """The order of the axes and how they are joined, where that is not what it should be."""
    seen: list[_Part] = []
    for j in sorted(drives):
        if drives[j] not in seen:
            seen.append(drives[j])
    in_order = seen == [part for part in parts if part in seen]
    groups, j = [], 0
    for group in view.groups:
        symbols = []
        for size in group:
            symbols.append(drives[j].symbol if j in drives and drives[j].size == size else str(size))
            j += 1
        groups.append([symbol for name in symbols for symbol in name.split(" * ")])
    yours = f"`({', '.join(' * '.join(group) or '1' for group in groups)})`"
    if view.flat:
        found.cost += 2 + (not in_order)
        symbols = [part.symbol for part in seen]
        meant = ""
        if shape == wanted:
            right, at = [], 0
            for many in axes.groups:
                right.append(" * ".join(axes.symbols[i] for i in axes.order[at : at + many]))
                at += many
            meant = f"({', '.join(right)})"
        found.layout = laid_over(symbols, shape, in_order and not found.clauses, in_order, meant)
        if not (in_order or found.clauses) and symbols == [s for s in axes.symbols if s in symbols]:
            found.layout = f"No number has moved from its place in the input. {found.layout}"
        return
    same_shape = shape == wanted
    if in_order and (same_shape or found.clauses and len(shape) == len(wanted)):
        return
    found.cost += 1
    more = any(part not in parts for part in seen)  # an axis that should not be there at all
    if same_shape and len(view.groups[-1]) > 1:
        last = plural(seen[-1].word)
        found.layout = (
            f"The last axis is joined the other way round, {yours}: number by number the {last} take turns."
        )
        return
    said = [f"The axes are {yours}."]
    if not more and not found.clauses:
        said += axes_joined(axes, groups)
    if not in_order and not more:
        moved = [axes.symbols.index(part.symbol) for part in seen if part.symbol in axes.symbols]
        said.append(
            "They stand in the order of the input: none has moved."
            if moved == sorted(moved)
            else "They stand in another order than they should."
        )
    elif in_order and not found.clauses:
        said.append("They are in the right order, but joined or cut in another way.")
    found.layout = " ".join(said)
