"""Reading a padding mask that is no known mistake: which axis is which, and where it is open."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, product

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.exercise import Case
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.masks import Part, known_in_whole_numbers, open_places, readable, said

_LOOK_SHAPE = "the shape `(b, 1, 1, n)`, and where the new axes go."


def read_padding_mask(evidence: Evidence, i: int, call: Callable[..., Outcome]) -> Finding | None:
    """Shape, kind and open places of a mask made from lengths; None when it can't be read."""
    finding = known_in_whole_numbers(evidence)
    if finding:
        return finding
    tables: list[tuple[Case, Tensor]] = []
    about: list[Part] = []
    for i in readable(evidence):
        opened, kind = open_places(evidence.got[i].leaves[0])
        if opened is None:
            return said(evidence, [kind])
        table, shape = _table(opened, evidence.cases[i])
        # The first one is talked about; the others show whether what is said of it holds for them as well.
        about = about or [*([kind] if kind else []), *shape]
        if table is None:
            return said(evidence, about)
        tables.append((evidence.cases[i], table))
    if not tables:
        return None
    return said(evidence, [*(_known(tables, evidence) or _interval(tables)), *about])


def _known(tables: list[tuple[Case, Tensor]], evidence: Evidence) -> list[Part]:
    """A listed mistake that leaves the same places open, whatever else is wrong with this mask."""
    for mistake in evidence.exercise.mistakes:
        theirs = [mistake.wrong(*case.fresh()) for case, _ in tables]
        if all(
            mask.dtype == torch.bool
            and mask.shape == (len(t), 1, 1, t.shape[1])
            and torch.equal(mask[:, 0, 0], t)
            for mask, (_, t) in zip(theirs, tables, strict=True)
        ):
            return [Part(mistake.id, mistake.says, mistake.look)]
    return []


def _table(opened: Tensor, case: Case) -> tuple[Tensor | None, list[Part]]:
    """The mask as (b, n), and what is wrong with its shape; None when no such table is in it."""
    b, n = case.sizes["b"], case.sizes["n"]
    shape = tuple(opened.shape)
    if len(shape) == 4 and shape[:3] == (b, 1, 1):
        return opened[:, 0, 0], []
    names = ", ".join({b: "b", n: "n"}.get(size, str(size)) for size in shape)
    says = f"Its shape is `{shape}`, `({names})`; `(b, 1, 1, n)` is wanted."
    sentences = [axis for axis, size in enumerate(shape) if size == b]
    tokens = [axis for axis, size in enumerate(shape) if size != b and size > 1]
    first = shape[0] if shape else 0
    if not sentences and len(shape) == 4 and shape[1:3] == (1, 1) and first > 1:
        says = f"The mask has room for {first} sentences; there are b = {b}."
        return None, [Part("another-batch", says, "where the number of sentences comes from.")]
    if (
        not sentences
        and shape[-2:] == (n, n)
        and torch.equal(opened.any(0).reshape(-1, n)[-n:], _triangle(n))
    ):
        says = "This is a causal mask: `lengths` plays no part."
        return None, [Part("causal-mask", says, "where `lengths` takes part.")]
    if shape[-2:] == (n, n) and torch.equal(opened, _triangle(n).expand(shape)):
        says = "This is a causal mask, the same for each sentence: `lengths` plays no part."
        return None, [Part("causal-mask", says, "where `lengths` takes part.")]
    if not sentences:
        says += " No axis is left for the sentences: they have one mask in common, or were cut off."
        return None, [Part("no-axis-of-sentences", says, "what happens to the axis of `lengths`.")]
    if not tokens:
        says += " No axis is left for the tokens."
        return None, [Part("no-axis-of-tokens", says, "where positions take part.")]
    # Of several axes of tokens only one may matter: the others are the mask written out.
    for keep in reversed(tokens):
        others = [axis for axis in range(opened.ndim) if axis not in (keep, sentences[0])]
        first = opened
        for axis in others:
            first = first.narrow(axis, 0, 1)
        if torch.equal(first.expand(shape), opened):
            table = first.movedim((sentences[0], keep), (0, 1)).reshape(b, shape[keep])
            if sentences[0] > keep:
                says += " The sentences stand behind the tokens."
            elif len(tokens) > 1:
                says += " It is written out for every query or head; a 1 there broadcasts by itself."
            return table, [Part("shape", says, _LOOK_SHAPE)]
    last = opened.select(-2, -1) if opened.ndim > 1 else opened
    if shape[-2:] == (n, n) and torch.equal(last.unsqueeze(-2) & _triangle(n), opened):
        says += " A causal mask is mixed in."
        return last.reshape(-1, n)[:b], [Part("causal-mask-too", says, "what the mask is made of.")]
    if len(tokens) == 2 and sentences[0] < tokens[0]:
        query, key = tokens
        keys = opened.any(query, keepdim=True)
        if torch.equal(keys & opened.any(key, keepdim=True), opened):
            says += " Rows of the padding are hidden as well, so they have nothing to attend to."
            return keys.reshape(b, shape[key]), [Part("rows-hidden-too", says, _LOOK_SHAPE)]
    return None, [Part("shape", says, _LOOK_SHAPE)]


def _triangle(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril()


def _interval(tables: list[tuple[Case, Tensor]]) -> list[Part]:
    """From where to where each sentence is open, as expressions of its length; nothing when that is right."""
    case, table = tables[0]
    columns = table.shape[1]
    if columns != case.sizes["n"]:
        says = f"There are {columns} places for tokens; the batch is filled up to n = {case.sizes['n']}."
        if columns == 1:
            says = "There is one place for all tokens: positions play no part."
        return [Part("another-width", says, "the last axis.")]
    look = "the comparison of positions and lengths: its two sides, and its direction."
    if all(bool(t.all()) for _, t in tables):
        return [
            Part("everything-open", "Everything is open, the padding as well.", "where `lengths` counts.")
        ]
    if not any(bool(t.any()) for _, t in tables):
        return [Part("nothing-open", "Nothing is open: the real tokens are hidden as well.", look)]
    part = _sentences_apart(case, table) or _mixed(case, table)
    if part:
        return [part]
    for turned in (False, True):
        for (start, first), (stop, last) in product(_PLACES.items(), _PLACES.items()):
            if all(_fits(c, t != turned, first, last) for c, t in tables):
                if (start, stop, turned) == ("position 0", "the sentence's length", False):
                    return []
                if (start, turned) == ("position 0", False) and stop in _LENGTHS_OF_OTHERS:
                    return [Part("lengths-of-others", _LENGTHS_OF_OTHERS[stop], "the order of `lengths`.")]
                if (start, stop) == ("the sentence's length", "the sentence's length + 1"):
                    only = "hidden; everything else is open" if turned else "open"
                    return [
                        Part(
                            "behind-the-sentence",
                            f"Only the place right behind each sentence is {only}.",
                            look,
                        )
                    ]
                hidden = "Hidden" if turned else "Open"
                says = f"{hidden} are the positions from {start} up to, not including, {stop}."
                return [Part("another-interval", says, look)]
    rows = _rows([tables[0]])
    sentence = next((k for k, (row, wanted) in enumerate(rows) if not torch.equal(row, wanted)), 0)
    row, wanted = rows[sentence]
    some = "padding is open" if bool((row & ~wanted).any()) else "real tokens are hidden"
    says = f"In sentence {sentence + 1} (length {_lengths(case)[sentence]}) {some}."
    return [Part("some-sentences-wrong", says, look)]


def _sentences_apart(case: Case, table: Tensor) -> Part | None:
    """Sentences that are closed (or open) throughout, where the others are right."""
    lengths, wrong, b = _lengths(case), [], len(table)
    for i, (row, length) in enumerate(zip(table, lengths, strict=True)):
        if not torch.equal(row, torch.arange(len(row)) < length):
            wrong.append(i)
    if not wrong or len(wrong) == b:
        return None
    for full, word in ((False, "closed"), (True, "open")):
        if bool((table[wrong] == full).all()):
            one = len(wrong) == 1
            listed = in_a_row([str(i + 1) for i in wrong])
            says = f"Sentence{'' if one else 's'} {listed} of {b} {'is' if one else 'are'} {word} throughout"
            look = "which sentences the loop (or the index) reaches."
            return Part(f"sentences-{word}", f"{says}; the others are right.", look)
    return None


def _mixed(case: Case, table: Tensor) -> Part | None:
    """Made as (n, b), and brought into shape by `reshape`, which moves no axis."""
    b, n = table.shape
    if torch.equal(table.reshape(n, b), (torch.arange(n)[None, :] < torch.tensor(_lengths(case))[:, None]).T):
        says = (
            "Positions run down and sentences along, `(n, b)`, and a reshape cuts that anew: sentences mix."
        )
        return Part("reshaped", says, "how `(n, b)` becomes `(b, n)`: one moves axes, the other doesn't.")
    return None


def _rows(tables: list[tuple[Case, Tensor]]) -> list[tuple[Tensor, Tensor]]:
    return [
        (row, torch.arange(len(row)) < length)
        for case, table in tables
        for row, length in zip(table, _lengths(case), strict=True)
    ]


def _lengths(case: Case) -> list[int]:
    return [int(length) for length in case.arguments[0]]


def _fits(case: Case, table: Tensor, first: Callable, last: Callable) -> bool:
    lengths, n = _lengths(case), case.sizes["n"]
    position = torch.arange(table.shape[1])[None, :]
    start, stop = torch.tensor(first(lengths, n))[:, None], torch.tensor(last(lengths, n))[:, None]
    return torch.equal(table, (position >= start) & (position < stop))


def _each(place: Callable[[int, int], int]) -> Callable[[list[int], int], list[int]]:
    return lambda lengths, n: [place(length, n) for length in lengths]


def _same(place: Callable[[list[int], int], int]) -> Callable[[list[int], int], list[int]]:
    return lambda lengths, n: [place(lengths, n)] * len(lengths)


_LENGTHS_OF_OTHERS = {
    "the length in the list read backwards": "Sentences get each other's length, in reversed order.",
    "the length in the list sorted downwards": "The lengths were sorted, the longest first.",
    "the previous sentence's length": "Each sentence gets the length of the one before it.",
    "the next sentence's length": "Each sentence gets the length of the one behind it.",
    "the last sentence's length": "Every sentence gets the length of the last one.",
    "the mean length": "Every sentence gets the mean length.",
    "the mean length, rounded up": "Every sentence gets the mean length.",
    "the number of sentences (b)": "Every sentence gets the number of sentences, b, for its length.",
}

# Places in a sentence, in words and as numbers; the nearest at hand come first.
_PLACES: dict[str, Callable[[list[int], int], list[int]]] = {
    "position 0": _each(lambda length, n: 0),
    "the sentence's length": _each(lambda length, n: length),
    "the end (n)": _each(lambda length, n: n),
    "position 1": _each(lambda length, n: 1),
    "the sentence's length + 1": _each(lambda length, n: length + 1),
    "the sentence's length - 1": _each(lambda length, n: length - 1),
    "the sentence's length + 2": _each(lambda length, n: length + 2),
    "the sentence's length - 2": _each(lambda length, n: length - 2),
    "the last position (n - 1)": _each(lambda length, n: n - 1),
    "n minus the length": _each(lambda length, n: n - length),
    "n minus the length + 1": _each(lambda length, n: n - length + 1),
    "n minus the length - 1": _each(lambda length, n: n - length - 1),
    "twice the length": _each(lambda length, n: 2 * length),
    "half the length": _each(lambda length, n: length // 2),
    "the longest length": _same(lambda lengths, n: max(lengths)),
    "the shortest length": _same(lambda lengths, n: min(lengths)),
    "the first sentence's length": _same(lambda lengths, n: lengths[0]),
    "the last sentence's length": _same(lambda lengths, n: lengths[-1]),
    "the mean length": _same(lambda lengths, n: sum(lengths) // len(lengths)),
    "the mean length, rounded up": _same(lambda lengths, n: -(-sum(lengths) // len(lengths))),
    "the number of sentences (b)": _same(lambda lengths, n: len(lengths)),
    "the sum of the lengths so far": lambda lengths, n: list(accumulate(lengths)),
    "the sum of the lengths before": lambda lengths, n: [0, *accumulate(lengths)][:-1],
    "the length in the sorted list": lambda lengths, n: sorted(lengths),
    "the length in the list sorted downwards": lambda lengths, n: sorted(lengths, reverse=True),
    "the length in the list read backwards": lambda lengths, n: lengths[::-1],
    "the previous sentence's length": lambda lengths, n: [lengths[-1], *lengths[:-1]],
    "the next sentence's length": lambda lengths, n: [*lengths[1:], lengths[0]],
    "the sentence's number in the batch": lambda lengths, n: list(range(len(lengths))),
    "the sentence's number + 1": lambda lengths, n: [i + 1 for i in range(len(lengths))],
}
