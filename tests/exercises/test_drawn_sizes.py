"""What holds at the sizes of the check holds at others: right answers, and what each mistake computes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from mha_course.exercises.outcome import agree, run
from mha_course.exercises.registry import EXERCISES
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
    yield
    torch.set_num_threads(threads)


def called(name: str, fn, sizes: Sizes, seed: int):
    """fn at these sizes, with the numbers of this seed: the same for every function."""
    sizes.g.manual_seed(seed)
    return run(fn, CALLS[name](sizes), EXERCISES[name].results, quiet=True)


@pytest.mark.parametrize("name", EXERCISES)
def test_right_answers_are_right_at_every_size(name: str) -> None:
    @DRAWN
    @given(drawn_sizes())
    def at(sizes: Sizes) -> None:
        expected = called(name, EXERCISES[name].reference, sizes, 5)
        for fn in written(name).RIGHT:
            got = called(name, fn, sizes, 5)
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
        listed = {id_: [called(name, way, sizes, 5) for way in fns] for id_, fns in ways.items()}
        for id_, fn in by_id:
            got = called(name, fn, sizes, 5)
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
        expected = called(name, exercise.reference, sizes, 5)
        shown.update(m.id for m in exercise.mistakes if not agree(expected, called(name, m.wrong, sizes, 5)))

    at()
    assert {m.id for m in exercise.mistakes} - shown == NEEDS_MORE.get(name, set())
