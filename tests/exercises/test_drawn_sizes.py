"""What holds at the sizes of the check holds at others: right answers, and what each mistake computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from mha_course.exercises.exercise import Case
from mha_course.exercises.outcome import Outcome, agree, run
from mha_course.exercises.registry import EXERCISES
from mha_course.exercises.world import world_saved_once
from tests.exercises.drawn_sizes import CALLS, Sizes, drawn_sizes, some_sizes
from tests.exercises.test_written import source, written

DRAWN = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

FEW_SIZES = some_sizes(4)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    # No answer here touches what others share; saving that for each call takes as long as the calls.
    with world_saved_once():
        yield
    torch.set_num_threads(threads)


class Drawn:
    """The call of an exercise at these sizes, with the numbers of one seed: the same for every function."""

    def __init__(self, name: str, sizes: Sizes) -> None:
        sizes.g.manual_seed(5)
        self._case = Case("", CALLS[name](sizes))
        self._results = EXERCISES[name].results

    def given_to(self, fn: Callable[..., Any]) -> Outcome:
        return run(fn, self._case.fresh(), self._results, quiet=True)


@pytest.mark.parametrize("name", EXERCISES)
def test_right_answers_are_right_at_every_size(name: str) -> None:
    @DRAWN
    @given(drawn_sizes())
    def at(sizes: Sizes) -> None:
        call = Drawn(name, sizes)
        expected = call.given_to(EXERCISES[name].reference)
        for fn in written(name).RIGHT:
            got = call.given_to(fn)
            assert agree(expected, got), (source(fn), got.error_text)

    at()


@pytest.mark.parametrize("name", EXERCISES)
def test_a_mistake_is_the_same_mistake_at_every_size(name: str) -> None:
    exercise = EXERCISES[name]
    ways = {}
    for mistake in exercise.mistakes:
        ways.setdefault(mistake.id, []).extend(exercise.ways(mistake))
    by_id = [(id_, fn) for id_, fn in written(name).WRONG if id_ in ways]

    # Every listed and every written mistake runs at each of these sizes, so they are few.
    for sizes in FEW_SIZES:
        call = Drawn(name, sizes)
        listed = {id_: [call.given_to(way) for way in fns] for id_, fns in ways.items()}
        for id_, fn in by_id:
            got = call.given_to(fn)
            same = any(agree(one, got) or (one.error and got.error) for one in listed[id_])
            assert same, (id_, source(fn), sizes, got.error_text)


# What no ordinary input shows: it takes a size that can't be, or a number that is out of range.
NEEDS_MORE = {
    "token_ids": {"small-letters", "each-word-once"},
    "softmax_rows": {"overflow", "one-maximum-for-all-rows", "minimum-subtracted"},
    "average_of_targets": {"always-halved"},
    "head_size": {m.id for m in EXERCISES["head_size"].mistakes if "impossible" in m.id}
    | {"silently-floored", "rounded", "rounded-up"},
    # Queries with nothing to attend to come in the check only.
    "whole_attention": {m.id for m in EXERCISES["whole_attention"].mistakes if "empt" in m.id},
    "frugal_attention": {"empty-rows-nan", "empty-rows-uniform"},
}


@pytest.mark.parametrize("name", EXERCISES)
def test_a_mistake_shows_at_ordinary_sizes(name: str) -> None:
    exercise, shown = EXERCISES[name], set()

    @DRAWN
    @given(drawn_sizes())
    def at(sizes: Sizes) -> None:
        call = Drawn(name, sizes)
        expected = call.given_to(exercise.reference)
        # What has shown once need not show again.
        hidden = [m for m in exercise.mistakes if m.id not in shown]
        shown.update(m.id for m in hidden if not agree(expected, call.given_to(m.wrong)))

    at()
    assert {m.id for m in exercise.mistakes} - shown == NEEDS_MORE.get(name, set())
