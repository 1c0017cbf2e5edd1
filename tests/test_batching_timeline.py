"""Seats over time: stretches by hand, requests drawn with any spread, the picture and the widget."""

from __future__ import annotations

import pytest
from matplotlib.text import Text

from mha_course import cost
from mha_course.plots.seat_timeline import seat_timeline
from mha_course.variants.continuous_batching import Request, Server, serve
from mha_course.variants.drawn_requests import drawn_requests
from mha_course.variants.seat_runs import SeatRun, kept_share, seat_runs
from mha_course.widgets.batching import BatchingTimeline

THREE = [Request(prompt=4, answer=1), Request(prompt=2, answer=3), Request(prompt=7, answer=2)]


def runs_of(scheduling: str, reading=lambda prompt: 0.0, requests=THREE, seats: int = 2) -> list[SeatRun]:
    served = serve(requests, seats, scheduling, lambda cached: 1.0, reading)
    return seat_runs(served, scheduling, reading)


def test_a_static_batch_keeps_the_seats_of_those_who_are_done() -> None:
    assert runs_of("static") == [
        SeatRun(0, 0, 0, 1, "writing"),
        SeatRun(0, 0, 1, 3, "kept"),
        SeatRun(0, 2, 3, 5, "writing"),
        SeatRun(1, 1, 0, 3, "writing"),
    ]
    assert kept_share(runs_of("static")) == pytest.approx(2 / 8)


def test_in_a_continuous_batch_nobody_changes_seats() -> None:
    assert runs_of("continuous") == [
        SeatRun(0, 0, 0, 1, "writing"),
        SeatRun(0, 2, 1, 3, "writing"),
        SeatRun(1, 1, 0, 3, "writing"),
    ]
    assert kept_share(runs_of("continuous")) == 0


def test_prompts_are_read_before_tokens_are_written() -> None:
    read = runs_of("continuous", lambda prompt: prompt / 10)
    # The first step reads 4 + 2 tokens: 0.6 seconds, and writes for one; the second reads 7.
    times = [(run.seat, run.request, run.doing, pytest.approx((run.start, run.stop))) for run in read]
    assert times == [
        (0, 0, "reading", (0, 0.6)),
        (0, 0, "writing", (0.6, 1.6)),
        (0, 2, "reading", (1.6, 2.3)),
        (0, 2, "writing", (2.3, 4.3)),
        (1, 1, "reading", (0, 0.6)),
        (1, 1, "writing", (0.6, 4.3)),
    ]


@pytest.mark.parametrize("scheduling", ["static", "continuous"])
def test_stretches_fit_the_steps(scheduling: str) -> None:
    requests = drawn_requests(11, 7, spread=6, gap=3.0, prompt=5, seed=4)
    served = serve(requests, 3, scheduling, lambda cached: 1 + len(cached) / 8, lambda prompt: prompt / 20)
    runs = seat_runs(served, scheduling, lambda prompt: prompt / 20)
    for request, done in enumerate(served.done):
        own = [run for run in runs if run.request == request and run.doing != "kept"]
        assert len({run.seat for run in own}) == 1
        assert [run.doing for run in own] == ["reading", "writing"]
        assert own[0].start >= requests[request].arrives and own[1].stop == pytest.approx(done)
    for seat in range(3):
        own = [run for run in runs if run.seat == seat]
        assert all(a.stop <= b.start + 1e-9 for a, b in zip(own, own[1:], strict=False))


@pytest.mark.parametrize(("count", "tokens", "spread"), [(16, 64, 8), (5, 9, 3), (7, 20, 1), (1, 6, 4)])
def test_the_spread_changes_lengths_but_not_their_sum(count: int, tokens: int, spread: int) -> None:
    drawn = drawn_requests(count, tokens, spread, gap=0.5, prompt=3, seed=2)
    lengths = sorted(request.answer for request in drawn)
    assert sum(lengths) == count * tokens and {request.prompt for request in drawn} == {3}
    if count > 1:
        assert max(lengths) / min(lengths) == pytest.approx(spread, rel=0.3)
    assert [request.arrives for request in drawn] == [0.5 * i for i in range(count)]
    other = drawn_requests(count, tokens, spread, seed=3)
    assert sorted(request.answer for request in other) == lengths
    assert count == 1 or spread == 1 or [r.answer for r in other] != [r.answer for r in drawn]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"count": 0}, "count=0"),
        ({"spread": 0.5}, "spread=0.5"),
        ({"gap": -1.0}, "gap=-1.0"),
        ({"gap": float("nan")}, "gap=nan"),
        ({"spread": 200, "tokens": 2}, "shortest answer has none"),
    ],
)
def test_requests_that_cannot_be_are_refused(changes: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        drawn_requests(**{"count": 12, "tokens": 6} | changes)


def test_a_simulated_step_costs_what_its_stages_cost() -> None:
    server = Server(cost.PUBLISHED[1], d_model=512, h=8, n_kv_heads=2, n_layers=3)
    stages = cost.stage_costs(2, 1, 512, 8, 2, fused=True)
    parts = [stages["projections"], stages["output_projection"]]
    over = [cost.stage_costs(1, 1, 512, 8, 2, cached, fused=True)["attention"] for cached in (30, 700)]
    parts.append(cost.total_cost(over))
    expected = 3 * sum(cost.PUBLISHED[1].least_seconds(part) for part in parts)
    assert server.decoding([30, 700]) == pytest.approx(expected) == server.decoding([700, 30])


def test_the_picture_carries_numbers_and_tells_the_waste() -> None:
    both = {"one batch at a time": runs_of("static"), "continuous": runs_of("continuous")}
    picture = seat_timeline(both, "Three requests", seats=2)
    words = [text.get_text() for text in picture.figure.findobj(Text)]
    assert words.count("seat 2") == 2 and words.count("3") >= 2
    assert "one batch at a time: 3 requests done after 5 s, 25 % of the seats' time" in picture.alt
    assert picture.png("dark") != picture.png()
    for nothing in ({}, {"none": []}):
        with pytest.raises(ValueError, match="at least one"):
            seat_timeline(nothing)


def test_the_widget_sends_what_was_served() -> None:
    server = Server(cost.PUBLISHED[2], d_model=2048, h=16, n_kv_heads=4, n_layers=60)
    widget = BatchingTimeline(seats=3, spread=4, requests=10, tokens=20, prompt=32, server=server)
    widget.gap = 2
    requests = drawn_requests(10, 20, 4, 0.002, 32)
    assert widget.requests() == requests
    for sent in widget.answer["ways"]:
        served = serve(requests, 3, sent["way"], server.decoding, server.reading)
        assert sent["facts"]["speed"] == f"{served.tokens_per_second:,.0f}"
        assert sent["facts"]["working"] == f"{served.mean_working:.2f} of 3"
        assert sent["done"] == max(served.done) and widget.served()[sent["way"]] == served
        runs = seat_runs(served, sent["way"], server.reading)
        assert [tuple(run) for run in sent["runs"]] == [
            (run.seat, run.request, run.start, run.stop, run.doing) for run in runs
        ]
        assert len(sent["tips"]) == len(runs) and "request 1, seat 1: its prompt of 32" in sent["tips"][0]
    served = widget.served()
    times = served["continuous"].tokens_per_second / served["static"].tokens_per_second
    assert f"{times:.2f} times as many tokens a second" in widget.answer["words"] and times > 1
    assert "NVIDIA H200" in widget.answer["told"] and "one every 2 ms" in widget.answer["told"]
    data, metadata = widget._repr_mimebundle_()
    assert "image/png" in data and metadata["image/png"]["alt"] == widget.alt
    assert widget.answer["words"] in widget.alt


def test_where_nobody_waits_both_ways_are_equal() -> None:
    assert "with one seat" in BatchingTimeline(seats=1, spread=4, requests=5, tokens=12).answer["words"]
    even = BatchingTimeline(seats=3, spread=1, requests=6, tokens=12)
    assert "nobody waits for a slower one" in even.answer["words"]
    even.spread = 8
    before = even.answer["words"]
    assert "times as many tokens" in before
    even.draw = 1
    assert even.answer["ways"][0]["runs"] != [] and even.requests() != drawn_requests(6, 12, 8, prompt=256)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"seats": 0}, "seats=0"),
        ({"seats": 17}, "at most 16"),
        ({"spread": 0}, "spread=0"),
        ({"gap": -5}, "gap=-5"),
        ({"requests": 49}, "at most 48"),
        ({"tokens": 2, "spread": 64}, "shortest answer has none"),
        ({"prompt": 1.5}, "prompt=1.5"),
        ({"prompt": 10**30}, "at most 1,000,000"),
        ({"tokens": 513}, "tokens=513: at most 512"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        BatchingTimeline(**arguments)
    with pytest.raises(TypeError, match="Server"):
        BatchingTimeline(server=cost.PUBLISHED[0])


def test_a_setting_that_cannot_be_drawn_stays_and_stops_are_possible() -> None:
    widget = BatchingTimeline(seats=5, spread=2, requests=7, tokens=2, prompt=8)
    assert widget.stops["seats"] == [1, 2, 3, 4, 5, 6, 8] and widget.stops["spread"] == [1, 2, 4, 8]
    for name, value in (("seats", 99), ("spread", 64), ("gap", -1)):
        before = getattr(widget, name)
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, value)
        assert getattr(widget, name) == before
