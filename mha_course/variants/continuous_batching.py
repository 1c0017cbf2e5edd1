"""Many requests at once: a batch filled anew after every token, beside one that waits for its slowest.

A step writes one token for every request in the batch. With static batching a batch is taken in together and
stays until its last request is done; who is done earlier keeps the seat and is computed all the same. With
continuous batching seats change hands after every step. Larger batches make the projections cheaper for each
token, since weights are read once for all; keys and values belong to one request, so attention gains nothing.
Source: Yu et al. 2022 (Orca), iteration-level scheduling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from mha_course import cost
from mha_course.attention import multi_head_sizes
from mha_course.sizes import check_number, check_sizes

Scheduling = Literal["static", "continuous"]


@dataclass(frozen=True)
class Request:
    """prompt: tokens that are read; answer: tokens that are written; arrives: in seconds from the start.

    Raises: ValueError for lengths below 1, and for a time that is below 0 or not finite.
    """

    prompt: int
    answer: int
    arrives: float = 0.0

    def __post_init__(self) -> None:
        check_number(0, arrives=self.arrives)
        sizes = check_sizes(prompt=self.prompt, answer=self.answer)
        for name, size in zip(("prompt", "answer"), sizes, strict=True):
            object.__setattr__(self, name, size)  # a Python integer, since lengths are added up


@dataclass(frozen=True)
class Step:
    """One step: when it began, its seconds, for each seat the request in it (None: empty, or done already),
    and how many requests were read in, prompt and all.
    """

    start: float
    seconds: float
    seats: tuple[int | None, ...]
    joined: int

    @property
    def working(self) -> int:
        """Requests that got a token in this step."""
        return sum(seat is not None for seat in self.seats)


@dataclass(frozen=True)
class Served:
    """All steps in order, and when each request was done."""

    steps: tuple[Step, ...]
    done: tuple[float, ...]
    requests: tuple[Request, ...]

    @property
    def tokens_per_second(self) -> float:
        """Written tokens over the time until the last request was done; inf when no step took any."""
        tokens = sum(request.answer for request in self.requests)
        return tokens / max(self.done) if max(self.done) else math.inf

    @property
    def mean_wait(self) -> float:
        """Mean seconds from arrival to the last token."""
        waits = [end - request.arrives for end, request in zip(self.done, self.requests, strict=True)]
        return sum(waits) / len(waits)

    @property
    def mean_working(self) -> float:
        """Requests that got a token, a step."""
        return sum(step.working for step in self.steps) / len(self.steps)


@dataclass(frozen=True)
class Server:
    """A stack of attention layers on a machine; how long its steps take, by the roofline model.

    Feed-forward layers are left out: they behave as the projections do.
    Raises: ValueError for sizes that no such layer can have, and for counts below 1.
    """

    machine: cost.Machine
    d_model: int = 4096
    h: int = 32
    n_kv_heads: int = 8
    n_layers: int = 32
    bytes_per_number: int = 2

    def __post_init__(self) -> None:
        multi_head_sizes(self.d_model, self.h, None, None, self.n_kv_heads)
        check_sizes(n_layers=self.n_layers, bytes_per_number=self.bytes_per_number)

    def decoding(self, cached: Sequence[int]) -> float:
        """Seconds of a step: one token each for requests with so many tokens in their caches."""
        shape = (self.d_model, self.h, self.n_kv_heads)
        stages = cost.stage_costs(len(cached), 1, *shape, 0, self.bytes_per_number, fused=True)
        parts = [stages["projections"], stages["output_projection"]]
        parts.append(
            cost.total_cost(_over_the_cache(*shape, length, self.bytes_per_number) for length in cached)
        )
        return self.n_layers * sum(self.machine.least_seconds(part) for part in parts)

    def reading(self, prompt: int) -> float:
        """Seconds to read a prompt, before its first token is written."""
        shape = (self.d_model, self.h, self.n_kv_heads)
        stages = cost.stage_costs(1, prompt, *shape, 0, self.bytes_per_number, fused=True)
        return self.n_layers * sum(self.machine.least_seconds(part) for part in stages.values())


@lru_cache(maxsize=8192)
def _over_the_cache(
    d_model: int, h: int, n_kv_heads: int, length: int, bytes_per_number: int
) -> cost.StageCost:
    """Attention of one new token over a cache of so many; a simulation asks for each length often."""
    return cost.stage_costs(1, 1, d_model, h, n_kv_heads, length, bytes_per_number, fused=True)["attention"]


def serve(
    requests: Iterable[Request],
    seats: int,
    scheduling: Scheduling,
    decoding: Callable[[Sequence[int]], float],
    reading: Callable[[int], float] = lambda prompt: 0.0,
) -> Served:
    """Serve all requests in the order of their arrival, with so many seats in the batch.

    decoding: seconds of a step, from the tokens in the cache of every seat that is computed. reading: seconds
    for a prompt, added to the step in which its request joins. (`Server` has both.)

    Raises: ValueError for no requests, for seats below 1, for another scheduling, and when decoding or
    reading returns what can't be seconds.
    """
    (seats,), requests = check_sizes(seats=seats), tuple(requests)
    if not requests:
        raise ValueError("there is no request.")
    if scheduling not in ("static", "continuous"):
        raise ValueError(f'scheduling={scheduling!r} must be "static" or "continuous".')
    waiting = sorted(range(len(requests)), key=lambda i: requests[i].arrives)
    batch: list[int] = []
    written, done, steps, now = [0] * len(requests), [0.0] * len(requests), [], 0.0
    while waiting or batch:
        if not batch and requests[waiting[0]].arrives > now:
            now = float(requests[waiting[0]].arrives)  # nothing to do until somebody comes
        joined = []
        if scheduling == "continuous" or not batch:
            while waiting and len(batch) < seats and requests[waiting[0]].arrives <= now:
                joined.append(waiting.pop(0))
                batch.append(joined[-1])
        working = [i for i in batch if written[i] < requests[i].answer]
        cached = [requests[i].prompt + written[i] for i in batch]
        seconds = _seconds("decoding", decoding(cached))
        seconds += sum(_seconds("reading", reading(requests[i].prompt)) for i in joined)
        seated = [i if i in working else None for i in batch]
        steps.append(Step(now, seconds, (*seated, *[None] * (seats - len(batch))), len(joined)))
        now += seconds
        for i in working:
            written[i] += 1
            if written[i] == requests[i].answer:
                done[i] = now
        left = [i for i in batch if written[i] < requests[i].answer]
        batch = left if scheduling == "continuous" or not left else batch
    return Served(tuple(steps), tuple(done), requests)


def _seconds(name: str, found: float) -> float:
    """What a function of the caller's returned, if it is a time: with nan, no request would ever arrive."""
    check_number(0, **{name: found})
    return float(found)
