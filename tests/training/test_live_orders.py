"""Orders to live training: none is lost, however quickly they follow each other."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterator
from types import SimpleNamespace

from mha_course.training.live import Report
from mha_course.training.live_worker import Orders, work


class Counting:
    """A trainer of nothing: reports without end."""

    model = None

    def reports(self) -> Iterator[Report]:
        for step in range(1, 10_000):
            yield Report(step=step, loss=math.nan, accuracy=None, **REST_OF_A_REPORT)


REST_OF_A_REPORT = {
    name: None for name in Report.__dataclass_fields__ if name not in ("step", "loss", "accuracy")
}


def test_go_on_and_rest_before_anybody_waits_is_a_rest_told_again() -> None:
    read, write = os.pipe()
    orders = Orders(os.fdopen(read, "rb"))
    pipe = os.fdopen(write, "wb", buffering=0)
    told = io.BytesIO()

    def flush() -> None:
        # The notebook answers the first word of a rest at once: go on, and rest again.
        resting = [json.loads(line)["resting"] for line in told.getvalue().splitlines()]
        if sum(resting) == 1:
            pipe.write(b"go\nrest\n")
            settle(orders, goes=1, going=False)
        elif sum(resting) == 2:
            pipe.close()
            settle(orders, goes=1, going=True)

    pipe.write(b"rest\n")
    settle(orders, goes=0, going=False)
    out = SimpleNamespace(write=told.write, flush=flush)
    work(Counting(), orders, out)
    lines = [json.loads(line) for line in told.getvalue().splitlines()]
    assert [line["step"] for line in lines if line["resting"]] == [1, 2]


def settle(orders: Orders, goes: int, going: bool) -> None:
    """Wait until the thread that reads has come that far."""
    with orders._news:
        assert orders._news.wait_for(lambda: (orders.goes, orders.going) == (goes, going), timeout=20)
