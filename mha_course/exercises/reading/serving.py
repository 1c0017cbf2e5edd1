"""What wrong steps of serving do: seats, queue, when a seat is free again, what is noted; small cases."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.mistakes.of_serving import SERVING_MISTAKES, batches, in_line, served_with
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, rare

_ROOMS = (
    rare("Two seats too many are taken.", lambda seats, answers: seats + 2),
    rare("Twice as many seats are taken.", lambda seats, answers: 2 * seats),
    rare("Half of the seats are taken.", lambda seats, answers: max(1, seats // 2)),
    rare("As many seats are taken as the first answer is long.", lambda seats, answers: answers[0]),
    rare("As many seats are taken as the longest answer is long.", lambda seats, answers: max(answers)),
)
_QUEUES = (
    rare("The first request stays behind.", lambda answers: [*in_line(answers)[1:], 0]),
    rare("The last request comes first.", lambda answers: [len(answers) - 1, *in_line(answers)[:-1]]),
    rare("The first request is left out.", lambda answers: in_line(answers)[1:]),
    rare("The last request is left out.", lambda answers: in_line(answers)[:-1]),
)
_PICKS = (
    rare("All but the first request queue at seat 1.", lambda free, k: 0),
    rare("Every request queues at the last seat.", lambda free, k: len(free) - 1),
    rare("Seats are dealt in turn, from the last one on.", lambda free, k: -1 - k % len(free)),
    rare(
        "Seats are dealt there and back again.",
        lambda free, k: [*range(len(free)), *range(len(free))[::-1]][k % (2 * len(free))],
    ),
)
_TAKES = (
    Way("Each request takes a step more than it has tokens.", lambda a: a + 1),
    Way("Each request takes a step less than it has tokens.", lambda a: a - 1),
    rare("Each request takes a step less than it has tokens, at least one.", lambda a: max(1, a - 1)),
    rare("Each request takes one step, however long its answer is.", lambda a: 1),
    rare("Each request takes twice as many steps as it has tokens.", lambda a: 2 * a),
    rare("Requests take no steps.", lambda a: 0),
)
_AGAIN = (
    rare("A seat is free again two steps later.", lambda start, end: end + 2),
    rare("A seat is free again after one step.", lambda start, end: start + 1),
    rare("A seat is never taken: it is always free.", lambda start, end: start),
    rare("A seat is free as soon as its answer is long, counted from the first step.", lambda s, e: e - s),
    rare("A seat is taken for two steps less than it should be.", lambda start, end: max(start, end - 2)),
)
_NOTES = (
    rare("The number of steps in a seat is noted, not the last step.", lambda start, end, a: a),
    rare("The last step is noted twice over: the start is counted again.", lambda s, e, a: e + s),
    rare("The first and the last step are added up.", lambda s, e, a: s + 1 + e),
    rare("Start and end have changed signs: end minus start is noted.", lambda s, e, a: e - s),
    rare("The middle of the stay is noted.", lambda s, e, a: (s + e) // 2),
)
_FINISHES = (
    Way("Steps are counted from 2.", lambda done, a, s: [end + 1 for end in done]),
    rare("The steps are in reverse order.", lambda done, a, s: done[::-1]),
    rare("The steps are in order, the last one first.", lambda done, a, s: sorted(done, reverse=True)),
    rare("Every request is done in the last step of all.", lambda done, a, s: [max(done)] * len(done)),
    rare("Only the last step of all comes back.", lambda done, a, s: [max(done)]),
    rare("The steps are added up one after the other.", lambda done, a, s: list(accumulate(done))),
    rare("Every step is there once: equal ones are left out.", lambda done, a, s: sorted(set(done))),
    rare("From the step the length of the answer is taken off.", lambda done, a, s: _less(done, a)),
    rare("The length of the answer is added to the step.", lambda done, a, s: _more_than(done, a)),
    rare("The steps are divided by the number of seats.", lambda done, a, s: [end // s for end in done]),
    rare("The steps are multiplied by the number of seats.", lambda done, a, s: [end * s for end in done]),
    rare("All steps are 0.", lambda done, a, s: [0] * len(done)),
)


def _less(done: list[int], answers: list[int]) -> list[int]:
    return [end - answer for end, answer in zip(done, answers, strict=True)]


def _more_than(done: list[int], answers: list[int]) -> list[int]:
    return [end + answer for end, answer in zip(done, answers, strict=True)]


def _first_seat_waits(answers: list[int], seats: int) -> list[int]:
    """A batch stays until its first request is done."""
    done, start = [], 0
    for at in range(0, len(answers), seats):
        batch = answers[at : at + seats]
        done += [start + answer for answer in batch]
        start += batch[0]
    return done


def _fastest_of_the_batch(answers: list[int], seats: int) -> list[int]:
    done, start = [], 0
    for at in range(0, len(answers), seats):
        batch = answers[at : at + seats]
        done += [start + answer for answer in batch]
        start += min(batch)
    return done


_WHOLES = (
    rare("A batch stays until its first request is done, then all are replaced.", _first_seat_waits),
    rare("A batch is replaced when its fastest request is done.", _fastest_of_the_batch),
    rare("All tokens before and of a request are shared out to the seats.", lambda a, s: _shared_out(a, s)),
    rare("All tokens before and of a request are shared out, rounded down.", lambda a, s: _floored(a, s)),
    rare(
        "A batch stays until its slowest request is done; the others get a step number within it only.",
        lambda a, s: [end for at in range(0, len(a), s) for end in a[at : at + s]],
    ),
    rare(
        "Only the slowest of each batch is noted.",
        lambda a, s: sorted(set(batches(a, s, together=True))),
    ),
    rare("The answers are handed back in order.", lambda a, s: sorted(a)),
)


def _shared_out(answers: list[int], seats: int) -> list[int]:
    return [-(-total // seats) for total in accumulate(answers)]


def _floored(answers: list[int], seats: int) -> list[int]:
    return [total // seats for total in accumulate(answers)]


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(SERVING_MISTAKES, name), *ways))


_RECIPE = Recipe(
    served_with,
    (
        _slot("room", "where `seats` takes part.", _ROOMS),
        _slot("free_again", "when a free seat is taken again.", _AGAIN),
        _slot("pick", "how a seat is chosen.", _PICKS),
        _slot("queue", "the order in which requests come in.", _QUEUES),
        _slot("takes", "how long a request keeps its seat.", _TAKES),
        _slot("note", "what is noted down.", _NOTES),
        _slot("finish", "the list at the end.", _FINISHES),
        Slot("whole", "when requests come in, and when they leave.", _WHOLES),
    ),
    lambda: (([4, 1, 1, 3, 2, 6, 2, 5, 1], 2), ([2, 7, 3, 1, 1, 4, 2, 2, 6, 3, 5], 4)),
)

# Small cases, each with what it shows where it goes wrong.
_SMALL: tuple[tuple[list[int], int, str], ...] = (
    ([3], 1, "One request alone"),
    ([3, 1, 2], 5, "With a seat for everybody"),
    ([3, 1, 2], 1, "With one seat"),
    ([2, 4, 3], 2, "With two seats and a third request that waits"),
    ([1, 1, 1, 1, 1], 2, "With answers of one token"),
)


def read_serving(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else the smallest case that goes wrong."""
    found = _RECIPE.read(evidence, i, call)
    if found:
        return found
    leaf, (answers, _) = evidence.got[i].leaves[0], evidence.cases[i].arguments
    want, have = evidence.expected[i].leaves[0].tolist(), leaf.flatten().tolist()
    if leaf.ndim == 0:
        says = "It returns one number; a list is wanted, with one for each request."
        return Finding("a-number", says, look="the `return` line.")
    if len(want) != len(have):
        entries = f"{len(have)} {'entry' if len(have) == 1 else 'entries'}"
        says = f"There are {len(want)} requests; your list has {entries}."
        return Finding("wrong-length", says, look="what is put into the list for each request.")
    found = _small_case(call)
    if found:
        return found
    first = next(k for k in range(len(want)) if want[k] != have[k])
    says = (
        f"Small cases come out right. Here the first wrong entry is that of request {first + 1}: the last "
        f"one of its tokens ({answers[first]}) is written in step {want[first]}; yours says {have[first]}."
    )
    return Finding("first-wrong-request", says, look="which seat it gets, and when.")


def _small_case(call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The smallest case that goes wrong, with what is wanted there."""
    for answers, seats, when in _SMALL:
        out, want = call((list(answers), seats)), served_with(answers, seats)
        if out.error is not None or not out.leaves:
            code = out.error_text.replace("`", "'") or "no result"
            says = f"{when}, `answers={answers}`, `seats={seats}`, it stops with `{code}`."
            return Finding("small-case", says, look="this small case, by hand.")
        have = out.leaves[0].flatten().tolist()
        if have != want:
            says = f"{when}, `answers={answers}`, `seats={seats}`, wanted is `{want}`; yours is `{have}`."
            return Finding("small-case", says, look="this small case, by hand.")
    return None
