"""Exercises of lesson 13, on many at once: requests that share a machine, and devices that share a layer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned
from mha_course.exercises.lessons.lesson_04_heads import projected
from mha_course.exercises.mistakes.of_devices import DEVICE_MISTAKES
from mha_course.exercises.mistakes.of_serving import SERVING_MISTAKES
from mha_course.exercises.reading.devices import read_devices
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


def partial_outputs(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, h: int, devices: int
) -> Tensor:
    """What each device computes of the layer, before anything is added up: (devices, b, n, d_model)."""
    b, n, d_model = x.shape
    d_k = d_model // h
    width = d_model // devices  # of all heads on one device
    shares = []
    for first in range(0, d_model, width):
        own = slice(first, first + width)
        # Columns make whole heads, so no device needs anything of another before the sum.
        q, k, v = ((x @ w[:, own]).view(b, n, -1, d_k).transpose(1, 2) for w in (w_q, w_k, w_v))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(d_k), dim=-1)
        concat = (weights @ v).transpose(1, 2).reshape(b, n, width)
        shares.append(concat @ w_o[own])
    return torch.stack(shares)


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


def _device_inputs(g: Generator) -> list[Case]:
    def case(label: str, b: int, n: int, h: int, d_k: int, devices: int, **options: object) -> Case:
        dtype = options.pop("dtype", torch.float32)
        sizes = {"b": b, "n": n, "d_model": h * d_k, "h": h, "d_k": d_k, "devices": devices}
        if devices == h:
            del sizes["devices"]
        return Case(label, (*projected(g, b, n, h * d_k, 4, dtype), h, devices), sizes, **options)

    return [
        case("with two devices", 4, 5, 6, 8, 2),
        case("with three devices", 2, 7, 12, 5, 3),
        case("with a device for each head", 2, 5, 3, 4, 3, edge=True),
        case("with one device", 2, 5, 3, 4, 1, edge=True),
        case("in float64", 3, 5, 4, 6, 2, dtype=torch.float64, required=False),
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
    Exercise(
        name="partial_outputs",
        lesson="13",
        title="Heads over devices",
        prompt=(
            "A layer of `h` heads over several devices, h / devices heads on each, in order. `x` is "
            "`(b, n, d_model)`; the four matrices are `(d_model, d_model)` and multiply from the right. A "
            "device gets all of `x`, its heads' columns of `w_q`, `w_k` and `w_v`, and their rows of `w_o`. "
            "Return what each device computes, before anything is added up: `(devices, b, n, d_model)`. "
            "There is no mask; scores are divided by the root of d_k."
        ),
        signature="partial_outputs(x, w_q, w_k, w_v, w_o, h, devices) -> shares",
        reference=partial_outputs,
        inputs=_device_inputs,
        returns=(Returned("shares", ("devices", "b", "n", "d_model")),),
        mistakes=DEVICE_MISTAKES,
        hints=(
            "A device computes a smaller layer: fewer heads, as wide as ever, from the same `x`.",
            "Which columns of W_Q make its heads? The rows of W_O with the same numbers take them.",
            (
                "for each device:\n    own = the features of its h / devices heads\n"
                "    q, k, v from the columns `own`, split into those heads\n    attend, join\n"
                "    times the rows `own` of W_O\nall shares in a new first axis"
            ),
        ),
        why=(
            "The output is a sum of what heads contribute, so it can be summed over devices as well. That "
            "sum is all they have to tell each other."
        ),
        twins=("variants.tensor_parallel.shards", "variants.some_heads.layer_of_heads"),
        readers=(read_devices,),
    ),
)
