"""Known mistakes of `finish_steps`: who gets a seat, when, how long it is kept, and what is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def in_line(answers: Sequence[int]) -> list[int]:
    """The requests in the order of the queue."""
    return list(range(len(answers)))


def first_free(free: list[int], k: int) -> int:
    """The seat that is free first."""
    return free.index(min(free))


def served_with(
    answers: Sequence[int],
    seats: int,
    *,
    room: Step = lambda seats, answers: seats,
    queue: Step = in_line,
    pick: Step = first_free,
    takes: Step = lambda answer: answer,
    free_again: Step = lambda start, end: end,
    note: Step = lambda start, end, answer: end,
    finish: Step = lambda done, answers, seats: done,
    whole: Step | None = None,
) -> list[int]:
    """The step in which each request is done, with the steps given; right without any."""
    answers = list(answers)
    if whole is not None:
        return whole(answers, seats)
    free, done = [0] * room(seats, answers), [0] * len(answers)
    for k, request in enumerate(queue(answers)):
        seat = pick(free, k)
        start = free[seat]
        end = start + takes(answers[request])
        free[seat], done[request] = free_again(start, end), note(start, end, answers[request])
    return finish(done, answers, seats)


def batches(answers: list[int], seats: int, together: bool = False) -> list[int]:
    """A batch stays until its slowest request is done. together: all of it counts as done then."""
    done, start = [], 0
    for at in range(0, len(answers), seats):
        batch = answers[at : at + seats]
        done += [start + (max(batch) if together else answer) for answer in batch]
        start += max(batch)
    return done


def step_by_step(answers: list[int], seats: int, skips: bool = False) -> list[int]:
    """Every step written out. skips: whoever is done is taken out of the list that a loop runs over."""
    waiting, batch, left, done = in_line(answers), [], list(answers), [0] * len(answers)
    step = 0
    while waiting or batch:
        while waiting and len(batch) < seats:
            batch.append(waiting.pop(0))
        step += 1
        for request in batch if skips else list(batch):
            left[request] -= 1
            if not left[request]:
                done[request] = step
                batch.remove(request)
    return done


def _blocks(answers: list[int], seats: int) -> list[int]:
    each = -(-len(answers) // seats)
    return [end for at in range(0, len(answers), each) for end in accumulate(answers[at : at + each])]


_with = partial(Otherwise, served_with)

SERVING_MISTAKES = (
    Mistake(
        "waits-for-the-slowest",
        _with(whole=batches),
        "A batch stays until its slowest request is done, and only then the next ones come in. That is what "
        "continuous batching does away with.",
        "when a free seat is taken again.",
    ),
    Mistake(
        "done-with-the-batch",
        _with(whole=partial(batches, together=True)),
        "All requests of a batch are done with its slowest one. Each is done when its own last token is "
        "written.",
        "the maximum of a batch.",
    ),
    Mistake(
        "one-after-another",
        _with(room=lambda seats, answers: 1),
        "One request is served after the other, as with one seat (or each waits for the seat that is free "
        "last). There are {seats} seats.",
        "where `seats` takes part, and which seat is chosen.",
    ),
    Mistake(
        "everyone-at-once",
        _with(room=lambda seats, answers: len(answers)),
        "Nobody waits here: each request starts in the first step. There are {seats} seats for {requests} "
        "requests.",
        "where `seats` takes part.",
    ),
    Mistake(
        "counted-from-zero",
        _with(finish=lambda done, answers, seats: [end - 1 for end in done]),
        "Steps are counted from 0. The first one is number 1.",
        "the number of the first step.",
    ),
    Mistake(
        "a-step-between",
        _with(free_again=lambda start, end: end + 1),
        "Between two requests every seat is empty for one step. The next one writes in the very next step.",
        "when the next request writes its first token.",
    ),
    Mistake(
        "in-the-same-step",
        _with(free_again=lambda start, end: max(start, end - 1)),
        "The next request writes in the very step in which its seat becomes free, so that one seat gives two "
        "tokens in it.",
        "when the next request writes its first token.",
    ),
    Mistake(
        "dealt-round",
        _with(pick=lambda free, k: k % len(free)),
        "Requests are dealt to the seats in turn, whichever seat is free. They should take the first seat "
        "that is.",
        "how a seat is chosen.",
    ),
    Mistake(
        "first-token",
        _with(note=lambda start, end, answer: start + 1),
        "This is the step in which each request writes its first token. The last one is asked for.",
        "what is noted down.",
    ),
    Mistake(
        "steps-waited",
        _with(note=lambda start, end, answer: start),
        "This is how many steps each request waits for a seat. The step of its last token is asked for.",
        "what is noted down.",
    ),
    Mistake(
        "shortest-first",
        _with(queue=lambda answers: sorted(in_line(answers), key=lambda i: answers[i])),
        "Short answers go first. The queue is served in its own order; nobody knows how long an answer will "
        "be.",
        "sorting.",
    ),
    Mistake(
        "longest-first",
        _with(queue=lambda answers: sorted(in_line(answers), key=lambda i: -answers[i])),
        "Long answers go first. The queue is served in its own order; nobody knows how long an answer will "
        "be.",
        "sorting.",
    ),
    Mistake(
        "queue-from-behind",
        _with(queue=lambda answers: in_line(answers)[::-1]),
        "The queue is served from its end: the last one comes first.",
        "which end of the queue is taken: `pop()` takes the last.",
    ),
    Mistake(
        "in-order-of-finishing",
        _with(finish=lambda done, answers, seats: sorted(done)),
        "The steps are right, in the order in which requests finish. They belong in the order of `answers`.",
        "where a step is put into the list.",
    ),
    Mistake(
        "who-finishes",
        _with(finish=lambda done, answers, seats: sorted(range(len(done)), key=lambda i: done[i])),
        "These are the requests, in the order in which they finish. Their steps are asked for.",
        "what is put into the list.",
    ),
    Mistake(
        "a-seat-too-many",
        _with(room=lambda seats, answers: seats + 1),
        "One seat too many is taken: {seats} are there.",
        "the comparison with `seats`.",
    ),
    Mistake(
        "a-seat-too-few",
        _with(room=lambda seats, answers: max(1, seats - 1)),
        "One seat stays empty: {seats} are there.",
        "the comparison with `seats`.",
    ),
    Mistake(
        "in-blocks",
        _with(whole=_blocks),
        "Each seat has its own stretch of the queue from the start. Requests should take the first seat that "
        "is free.",
        "how a seat is chosen.",
    ),
    Mistake(
        "skipped-in-the-loop",
        _with(whole=partial(step_by_step, skips=True)),
        "When a request is done, the one behind it writes nothing in that step: it is taken out of the list "
        "over which the loop runs, and the loop skips one.",
        "`remove` or `pop` inside a `for` loop over the same list.",
    ),
)
