"""Ids that should have moved one place on: what stands in each place instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.outcome import Outcome

# What stands in a place: a kind and a number (the column, the constant, how many sentences on).
Held = tuple[str, int]
_LOOK = "what each place should hold: print the result for one sentence."


def read_shifted(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """Place by place, what it holds: the start, a word, one changed, one of another sentence."""
    targets, start = evidence.cases[i].arguments
    want, got = evidence.expected[i].leaves[0], evidence.got[i].leaves
    if len(got) != 1 or got[0].shape != want.shape or got[0].is_floating_point():
        return None
    have, n = got[0], targets.shape[1]
    whole = _of_all(targets, want, have, start)
    if whole:
        return whole
    uneven = _of_some_sentences(want, have, targets, start)
    if uneven:
        return uneven
    wrong = [p for p in range(n) if not bool((have[:, p] == want[:, p]).all())]
    told = [_said(p, _held(targets, have[:, p], start, p), start, targets) for p in wrong]
    if not wrong or None in told:
        return None
    says = " ".join(told[:3]) + (f" And so on, {len(told)} places in all." if len(told) > 3 else "")
    right = [str(p) for p in range(n) if p not in wrong]
    if right:
        subject, verb = ("Places", "are") if len(right) > 1 else ("Place", "is")
        says += f" {subject} {in_a_row(right)} {verb} right."
    return Finding("other-places", says, look=_LOOK)


def _of_all(targets: Tensor, want: Tensor, have: Tensor, start: int) -> Finding | None:
    """A right result in another order, or one number added to all ids."""
    for words, made in (
        ("The sentences stand in reverse order", want.flip(0)),
        ("The places stand in reverse order", want.flip(1)),
        ("The sentences have moved by one", want.roll(1, 0)),
        ("The sentences have moved by one", want.roll(-1, 0)),
    ):
        if bool((made == have).all()):
            says = f"{words}; before that the result was right."
            return Finding("other-order", says, look="the last step.")
    off = have - targets
    if bool((off == off[0, 0]).all()) and int(off[0, 0]):
        number = int(off[0, 0])
        of = " (`start`)" if number == start else ""
        done = "added" if number > 0 else "taken off"
        says = f"Nothing has moved; the ids are changed: {abs(number)}{of} is {done}. "
        return Finding(
            "ids-changed", says + "An id is a name, and no quantity.", look="what moves: places, not numbers."
        )
    return None


def _of_some_sentences(want: Tensor, have: Tensor, targets: Tensor, start: int) -> Finding | None:
    """Some sentences right, the others with the same thing wrong."""
    right = (have == want).all(1)
    if not bool(right.any()) or bool(right.all()):
        return None
    wrong = (~right).nonzero().flatten().tolist()
    same = bool((have[wrong] == targets[wrong]).all())
    rolled = bool((have[wrong] == targets[wrong].roll(1, 1)).all())
    what = (
        "did not move" if same else "have their last word in front, and no start" if rolled else "are wrong"
    )
    sentences = in_a_row([str(s + 1) for s in right.nonzero().flatten().tolist()])
    one = int(right.sum()) == 1
    says = f"Sentence{'' if one else 's'} {sentences} {'is' if one else 'are'} right; the others {what}."
    return Finding(
        "only-some-sentences", says, look="the index of the sentences: `:` stands for all of them."
    )


def _held(targets: Tensor, column: Tensor, start: int, place: int) -> Held | None:
    """What one place holds in every sentence."""
    n = targets.shape[1]
    if bool((column == column[0]).all()) and len(column) > 1:
        return "constant", int(column[0])
    for word in sorted(range(n), key=lambda word: abs(word - place + 1)):
        if bool((column == targets[:, word]).all()):
            return "word", word
    for step in range(1, len(column)):
        for word in range(n):
            if bool((column == targets[:, word].roll(step, 0)).all()):
                return "other sentence", word
    for word in range(n):
        off = column - targets[:, word]
        if bool((off == off[0]).all()) and abs(int(off[0])) <= max(3, start):
            return "changed", word
    ordered: Sequence[Tensor] = targets.sort(1).values.unbind(1)
    if any(bool((column == values).all()) for values in ordered):
        return "sorted", place
    if all(int(value) in row.tolist() for value, row in zip(column, targets, strict=True)):
        return "other words", place
    return None


def _said(place: int, held: Held | None, start: int, targets: Tensor) -> str | None:
    if held is None:
        return None
    kind, number = held
    wanted = "the start" if place == 0 else f"word {place - 1}"
    if kind == "constant":
        size = {targets.shape[1]: ", which is n,", targets.shape[0]: ", which is b,"}.get(number, "")
        name = "the start" if number == start else f"{number}{size} in every sentence"
        return f"Place {place} holds {name}; {wanted} belongs there."
    if kind == "word":
        return f"Place {place} holds word {number}; {wanted} belongs there."
    if kind == "other sentence":
        return f"Place {place} holds word {number} of another sentence; {wanted} belongs there."
    if kind == "changed":
        return f"Place {place} holds word {number} with a number added to its id; {wanted} belongs there."
    if kind == "sorted":
        return f"Place {place} holds a word by the size of its id (sorted); {wanted} belongs there."
    return f"Place {place} holds another word in each sentence; {wanted} belongs there."
