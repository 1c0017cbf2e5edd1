"""Continuous against static batching: small schedules by hand, and what a larger batch makes cheaper."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mha_course import cost
from mha_course.variants.continuous_batching import Request, Server, serve
from mha_course.variants.drawn_requests import drawn_requests

THREE = [Request(prompt=4, answer=1), Request(prompt=2, answer=3), Request(prompt=7, answer=2)]


def one_second(cached) -> float:
    return 1.0


def test_a_static_batch_waits_for_its_slowest() -> None:
    served = serve(THREE, 2, "static", one_second)
    assert [step.seats for step in served.steps] == [(0, 1), (None, 1), (None, 1), (2, None), (2, None)]
    assert served.done == (1, 3, 5)
    assert [step.joined for step in served.steps] == [2, 0, 0, 1, 0]


def test_a_continuous_batch_gives_the_seat_away() -> None:
    served = serve(THREE, 2, "continuous", one_second)
    assert [step.seats for step in served.steps] == [(0, 1), (1, 2), (1, 2)]
    assert served.done == (1, 3, 3)
    assert served.tokens_per_second == 2 and served.mean_working == 2
    assert served.mean_wait == pytest.approx(7 / 3)


def test_steps_cost_what_is_in_the_caches_and_prompts_are_read_once() -> None:
    seen: list[list[int]] = []

    def decoding(cached) -> float:
        seen.append(list(cached))
        return 0.5

    served = serve(THREE, 2, "static", decoding, reading=lambda prompt: prompt / 10)
    assert seen == [[4, 2], [5, 3], [5, 4], [7], [8]]
    assert served.done == pytest.approx((1.1, 2.1, 3.8))
    assert [step.seconds for step in served.steps] == pytest.approx([1.1, 0.5, 0.5, 1.2, 0.5])


@pytest.mark.parametrize("scheduling", ["static", "continuous"])
def test_nobody_is_served_before_arriving(scheduling: str) -> None:
    late = [Request(3, 2, arrives=10.0), Request(5, 1), Request(4, 1, arrives=10.5)]
    served = serve(late, 5, scheduling, one_second)
    assert served.done == ((12, 1, 12) if scheduling == "continuous" else (12, 1, 13))
    assert served.steps[1].start == 10


def test_every_token_is_written_once() -> None:
    many = [Request(1 + i % 7, 1 + (5 * i) % 11, arrives=i / 3) for i in range(29)]
    for scheduling in ("static", "continuous"):
        served = serve(many, 6, scheduling, one_second)
        got = [seat for step in served.steps for seat in step.seats if seat is not None]
        assert [got.count(i) for i in range(29)] == [request.answer for request in many]
        assert max(step.working for step in served.steps) <= 6
    assert serve(many, 6, "continuous", one_second).mean_wait < serve(many, 6, "static", one_second).mean_wait


def test_a_larger_batch_shares_the_weights_but_no_keys() -> None:
    server = Server(cost.PUBLISHED[0])
    short, long = ([server.decoding([length] * b) / b for b in (1, 16)] for length in (8, 50_000))
    assert short[1] < short[0] / 12  # weights are read once for all
    assert long[1] > long[0] / 2  # keys and values are most of it
    machine = cost.Machine("toy", peak=1e9, bandwidth=1e6)
    small = Server(machine, d_model=24, h=4, n_kv_heads=2, n_layers=3)
    numbers = 2 * (24 * 24 + 24 * 12 + 24 * 12 + 24 * 24) + 2 * (3 * 24 + 24 + 12 + 12 + 24 + 24)
    keys = 2 * (24 + 2 * 12 * 6 + 24)
    assert small.decoding([5]) == pytest.approx(3 * (numbers + keys) / 1e6)
    assert small.reading(9) > small.decoding([0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: serve([], 2, "static", one_second), "no request"),
        (lambda: serve(THREE, 0, "static", one_second), "seats=0"),
        (lambda: serve(THREE, 2, "fair", one_second), "fair"),
        (lambda: Request(0, 3), "prompt=0"),
        (lambda: serve(iter([]), 2, "static", one_second), "no request"),
        (lambda: Request(3, 3, arrives=-1), "arrives=-1"),
        (lambda: Request(3, 3, arrives=math.inf), "arrives=inf"),
        (lambda: Request(3, 3, arrives="1"), "arrives='1'"),
        (lambda: Server(cost.PUBLISHED[0], n_layers=-1), "n_layers=-1"),
        (lambda: Server(cost.PUBLISHED[0], h=33), "h=33"),
        (lambda: Server(cost.PUBLISHED[0], n_kv_heads=5), "n_kv_heads=5"),
        (lambda: Server(cost.PUBLISHED[0], bytes_per_number=0), "bytes_per_number=0"),
        (lambda: drawn_requests(5, spread="2"), "spread='2'"),
        (lambda: drawn_requests(5, spread=0.5), "spread=0.5"),
        (lambda: drawn_requests(5, gap=math.inf), "gap=inf"),
        (lambda: drawn_requests(0), "count=0"),
        (lambda: drawn_requests(9, tokens=3, spread=1000), "shortest answer has none"),
    ],
)
def test_what_cannot_be_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", ["decoding", "reading"])
@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1.0, "2", None])
def test_what_cannot_be_seconds_ends_the_serving(name: str, seconds: object) -> None:
    functions = {"decoding": one_second, "reading": lambda prompt: 0.5} | {name: lambda asked: seconds}
    late = [Request(1, 2), Request(1, 1, arrives=3.0)]
    with pytest.raises(ValueError, match=f"{name}={seconds!r} must be a finite number of at least 0"):
        serve(late, 1, "continuous", **functions)


def test_steps_that_take_no_time_give_tokens_without_end() -> None:
    served = serve((one for one in THREE), 2, "continuous", lambda cached: 0.0)
    assert served.done == (0, 0, 0) and served.tokens_per_second == math.inf
    assert served.requests == tuple(THREE)


def test_numpy_lengths_are_added_up_as_python_ones() -> None:
    eight = [Request(np.int8(one.prompt + 120), np.int8(one.answer + 100)) for one in THREE]
    seen: list[int] = []

    def decoding(cached) -> float:
        seen.extend(cached)
        return 1.0

    served = serve(eight, np.int8(2), "continuous", decoding)
    assert min(seen) == 122 and max(seen) == 127 + 101
    assert served.tokens_per_second * max(served.done) == pytest.approx(306)
    drawn = [drawn_requests(*sizes, spread=4, prompt=90) for sizes in ((20, 100), map(np.int8, (20, 100)))]
    assert drawn[0] == drawn[1] and sum(one.answer for one in drawn[0]) == 2000
