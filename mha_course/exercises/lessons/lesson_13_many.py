"""Exercises of lesson 13, on many at once: requests that share a machine, and devices that share a layer."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Generator

from mha_course.exercises.exercise import Case, Exercise, Returned
from mha_course.exercises.mistakes.of_serving import SERVING_MISTAKES
from mha_course.exercises.reading.serving import read_serving


def finish_steps(answers: Sequence[int], seats: int) -> list[int]:
    """The step in which each request writes its last token, with continuous batching."""
    free = [0] * seats  # for each seat: the last step in which it is taken
    done = [0] * len(answers)
    for i, answer in enumerate(answers):
        # Nobody waits for a whole batch: whoever is next takes the first seat that is free.
        seat = free.index(min(free))
        free[seat] += answer
        done[i] = free[seat]
    return done


def _serving_inputs(g: Generator) -> list[Case]:
    def case(label: str, answers: list[int], seats: int, **options: bool) -> Case:
        return Case(label, (answers, seats), {"requests": len(answers), "seats": seats}, **options)

    return [
        case("with two seats", [3, 1, 4, 2, 5, 1, 2], 2),
        case("with three seats", [5, 2, 7, 1, 3, 4, 2, 6], 3),
        case("with four seats", [2, 9, 4, 1, 1, 6, 3, 3, 2, 5, 1], 4),
        case("with one seat", [2, 4, 1], 1, edge=True),
        case("with more seats than requests", [4, 2, 3], 6, edge=True),
    ]


EXERCISES = (
    Exercise(
        name="finish_steps",
        lesson="13",
        title="Continuous batching",
        prompt=(
            "Continuous batching, counted in steps. `answers` is a list: how many tokens each request will "
            "write, at least 1, in the order of the queue. There are `seats` seats. In every step each "
            "request that has a seat writes one token. When it has written its last one, its seat goes to "
            "the next in the queue, who writes from the next step on. Return a list: the step in which each "
            "request writes its last token, where the first step is number 1."
        ),
        signature="finish_steps(answers, seats) -> steps",
        reference=finish_steps,
        inputs=_serving_inputs,
        returns=(Returned("list of steps", ("requests",), kind="numbers"),),
        mistakes=SERVING_MISTAKES,
        hints=(
            "Go through the queue once. Which seat does the next one get, and until when is it taken then?",
            "For each seat it is enough to know the last step in which it is taken.",
            (
                "for each seat: taken until step 0\nfor each request, in order:\n    the seat that is free "
                "first\n    is taken for as many steps more as the answer has tokens\n    note until when"
            ),
        ),
        why=(
            "A batch that waits for its slowest request leaves seats empty. Filled at once, every step "
            "serves as many requests as there are seats, and the weights are read for all of them together."
        ),
        readers=(read_serving,),
    ),
)
