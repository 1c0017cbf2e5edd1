"""BatchingTimeline: the same requests served one batch at a time, and with seats that change hands."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets

from mha_course import cost
from mha_course.plots import axes, numerals
from mha_course.plots.seat_timeline import KEY, seat_timeline, timeline_in_words
from mha_course.sizes import check_sizes
from mha_course.variants.continuous_batching import Request, Scheduling, Served, Server, serve
from mha_course.variants.drawn_requests import drawn_requests
from mha_course.variants.seat_runs import SeatRun, kept_share, seat_runs
from mha_course.widgets.base import CourseWidget

__all__ = ["BatchingTimeline"]

WAYS: dict[Scheduling, str] = {"static": "one batch at a time", "continuous": "continuous batching"}
CHOICES = {"seats": (1, 2, 3, 4, 6, 8), "spread": (1, 2, 4, 8, 16), "gap": (0, 5, 10, 20, 50, 100)}
LARGEST = {"seats": 16, "spread": 64, "gap": 1000, "requests": 48, "tokens": 512, "prompt": 1_000_000}


class BatchingTimeline(CourseWidget):
    """Requests on the seats of a batch over time: one batch at a time above, continuous batching below.

    seats: requests in a batch at most; spread: the longest answer over the shortest; gap: milliseconds from
    one request's arrival to the next, 0: all are there at the start; draw: which order of lengths. requests,
    tokens, prompt: how many, the mean length of their answers, and the tokens that each brings. server: whose
    time it takes, the attention layers of an 8B model on the first of `cost.PUBLISHED` when left out.
    `served()` gives what is drawn, for "static" and "continuous".
    Raises: ValueError for counts below 1 or beyond what can be drawn; TypeError for a server that isn't one.
    Source: Yu et al. 2022 (Orca).
    """

    js = ("svg_pieces.js", "cell_tips.js", "batching_chart.js", "batching.js")
    css = ("pieces.css", "cost_pieces.css", "batching.css")
    root = "mha-batch"
    settings = ("seats", "spread", "gap", "draw")

    seats = traitlets.Int(4).tag(sync=True)
    spread = traitlets.Int(8).tag(sync=True)
    gap = traitlets.Int(0).tag(sync=True)
    draw = traitlets.Int(0, min=0).tag(sync=True)
    stops = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        seats: int = 4,
        spread: int = 8,
        gap: int = 0,
        draw: int = 0,
        requests: int = 16,
        tokens: int = 64,
        prompt: int = 256,
        server: Server | None = None,
    ) -> None:
        if server is not None and not isinstance(server, Server):
            raise TypeError(f"server must be a continuous_batching.Server; got {type(server).__name__}.")
        check_sizes(0, draw=draw)
        offered = {"seats": seats, "spread": spread, "gap": gap}
        for name, value in (offered | {"requests": requests, "tokens": tokens, "prompt": prompt}).items():
            _check(name, value)
        self.server = server or Server(cost.PUBLISHED[0])
        self._drawn = {"count": requests, "tokens": tokens, "prompt": prompt}
        drawn_requests(spread=spread, **self._drawn)
        stops = {name: sorted({*CHOICES[name], int(value)}) for name, value in offered.items()}
        # Only spreads that leave a token for the shortest answer.
        stops["spread"] = [one for one in stops["spread"] if self._possible(one)]
        super().__init__(seats=int(seats), spread=int(spread), gap=int(gap), draw=int(draw), stops=stops)

    def _possible(self, spread: int) -> bool:
        try:
            drawn_requests(spread=spread, **self._drawn)
        except ValueError:
            return False
        return True

    @traitlets.validate("seats", "spread", "gap")
    def _can_be_drawn(self, proposal: Mapping) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        _check(name, value)
        if name == "spread":
            drawn_requests(spread=value, **self._drawn)
        return value

    def requests(self) -> list[Request]:
        """The requests as they arrive."""
        return drawn_requests(spread=self.spread, gap=self.gap / 1000, seed=self.draw, **self._drawn)

    def served(self) -> dict[Scheduling, Served]:
        """The same requests, served both ways."""
        requests = self.requests()
        server = self.server
        return {way: serve(requests, self.seats, way, server.decoding, server.reading) for way in WAYS}

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """The stretches of both ways, the ticks, the table, and what it comes to in words."""
        served = self.served()
        runs = {way: seat_runs(one, way, self.server.reading) for way, one in served.items()}
        end = max(run.stop for stretches in runs.values() for run in stretches)
        ticks = axes.value_ticks(axes.Axis(0, end, 0, 1))
        requests = self.requests()
        words = _compared(served, self.seats)
        self.alt = f"{timeline_in_words(_named(runs))} {words}"
        lengths = [request.answer for request in requests]
        header = {
            "end": end,
            "ticks": list(zip(ticks, axes.tick_texts(ticks), strict=True)),
            "ways": [
                {
                    "way": way,
                    "name": WAYS[way],
                    "done": max(served[way].done),
                    "runs": [[run.seat, run.request, run.start, run.stop, run.doing] for run in runs[way]],
                    "tips": [_tip(run, requests[run.request]) for run in runs[way]],
                    "facts": _facts(served[way], runs[way], self.seats),
                }
                for way in WAYS
            ],
            "seats": self.seats,
            "words": words,
            "told": _told(lengths, self._drawn["prompt"], self.gap, self.server),
        }
        return header, b""

    def still_png(self) -> bytes | None:
        """Both timelines."""
        served = self.served()
        runs = {way: seat_runs(one, way, self.server.reading) for way, one in served.items()}
        note = f"{_compared(served, self.seats)} {KEY}"
        return seat_timeline(_named(runs), "Who sits in the batch", note, self.seats).png()


def _check(name: str, value: int) -> None:
    check_sizes(0 if name == "gap" else 1, **{name: value})
    if value > LARGEST[name]:
        raise ValueError(f"{name}={value}: at most {LARGEST[name]:,} can be drawn.")


def _named(runs: Mapping[Scheduling, list[SeatRun]]) -> dict[str, list[SeatRun]]:
    return {WAYS[way]: stretches for way, stretches in runs.items()}


def _tip(run: SeatRun, request: Request) -> str:
    doing = {
        "reading": f"its prompt of {request.prompt} tokens is read",
        "writing": f"{request.answer} tokens are written",
        "kept": "done, computed all the same",
    }[run.doing]
    start, stop = (numerals.prefixed(moment, "s") for moment in (run.start, run.stop))
    return f"request {run.request + 1}, seat {run.seat + 1}: {doing}, {start} to {stop}"


def _facts(served: Served, runs: list[SeatRun], seats: int) -> dict[str, str]:
    return {
        "speed": f"{served.tokens_per_second:,.0f}",
        "wait": numerals.prefixed(served.mean_wait, "s"),
        "working": f"{served.mean_working:.2f} of {seats}",
        "kept": f"{100 * kept_share(runs):.0f} %",
        "done": numerals.prefixed(max(served.done), "s"),
    }


def _compared(served: Mapping[Scheduling, Served], seats: int) -> str:
    """The finding: how many times as fast, how much shorter the wait, and why if there is no difference."""
    static, continuous = served["static"], served["continuous"]
    speed = continuous.tokens_per_second / static.tokens_per_second
    wait = continuous.mean_wait / static.mean_wait
    if abs(speed - 1) < 0.005 and abs(wait - 1) < 0.005:
        why = "with one seat there is nobody to wait for" if seats == 1 else "nobody waits for a slower one"
        return f"Both ways take the same time: {why}."
    return (
        f"Continuous batching writes {speed:.2f} times as many tokens a second, and the mean wait is "
        f"{wait:.2f} times as long."
    )


def _told(lengths: list[int], prompt: int, gap: int, server: Server) -> str:
    arrive = "all there at the start" if gap == 0 else f"one every {gap} ms"
    span = f"{min(lengths)} to {max(lengths)}" if min(lengths) < max(lengths) else f"{lengths[0]}"
    return (
        f"{len(lengths)} requests, {arrive}; prompts of {prompt} tokens, answers of {span} tokens, "
        f"{sum(lengths):,} in all. Times: least ones by the roofline of {server.machine.name}, "
        f"{server.n_layers} attention layers, d_model = {server.d_model:,}, h = {server.h}, "
        f"n_kv_heads = {server.n_kv_heads}; feed-forward layers left out."
    )
