"""Decoding, timed: with a cache and without, and for one request or many at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mha_course import cost
from mha_course.models import own_machine
from mha_course.models.one_thread import one_thread
from mha_course.models.own_machine import Setting, measured_seconds, predicted_seconds
from mha_course.sizes import check_sizes
from mha_course.transformer import Encoder
from mha_course.variants.kv_cache import decode

VOCABULARY = 50


@dataclass(frozen=True)
class DecodedBothWays:
    """seconds with the cache and without; words that each chose, (b, new_tokens); apart: the largest
    difference between two outputs; largest: the largest output, to compare it with.
    """

    with_cache: float
    without: float
    words_with: Tensor
    words_without: Tensor
    apart: float
    largest: float

    @property
    def times_faster(self) -> float:
        """Seconds without the cache over seconds with it."""
        return self.without / self.with_cache

    @property
    def equal(self) -> bool:
        """The same words, and outputs that differ by no more than rounding."""
        same = bool(torch.equal(self.words_with, self.words_without))
        return same and self.apart <= 1e-4 * max(1.0, self.largest)


def decode_both_ways(
    new_tokens: int = 256, d_model: int = 512, h: int = 8, prompt: int = 32, n_layers: int = 1, b: int = 1
) -> DecodedBothWays:
    """Write new tokens behind a random prompt twice, with a cache and computing everything again.

    A random causal stack, made from seed 0. The next word is the likeliest of 50 random ones, so the two ways
    part when their numbers do. One thread, and its seconds of processor time where the system has them.
    Raises: ValueError for sizes below 1 or that no such layer can have.
    """
    check_sizes(new_tokens=new_tokens, prompt=prompt, b=b)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        stack = Encoder(n_layers, d_model, h).eval().requires_grad_(False)
        words, start = torch.randn(VOCABULARY, d_model), torch.randn(b, prompt, d_model)
        readout = torch.randn(VOCABULARY, d_model)  # were it `words`, every word would choose itself

    def chosen(last: Tensor) -> Tensor:
        return (last @ readout.T).argmax(-1)

    outputs, seconds = [], []
    with one_thread():
        for cached in (True, False):
            decode(stack, start, 1, lambda last: words[chosen(last)], cached)  # what only the first call pays
            began = own_machine.now()
            outputs.append(decode(stack, start, new_tokens, lambda last: words[chosen(last)], cached))
            seconds.append(own_machine.now() - began)
    a, again = outputs
    apart, largest = float((a - again).abs().max()), float(a.abs().max())
    return DecodedBothWays(seconds[0], seconds[1], chosen(a), chosen(again), apart, largest)


@dataclass(frozen=True)
class BatchTimed:
    """One step of decoding for b requests. predicted, measured: seconds a token, a step's over b, of the four
    projections ("projections") and of attention to the cache ("attention"). flop_per_byte: intensity of both.
    """

    b: int
    predicted: Mapping[str, float]
    measured: Mapping[str, float]
    flop_per_byte: Mapping[str, float]


def time_over_batches(
    machine: cost.Machine,
    batches: Sequence[int] = (1, 2, 4, 8, 16, 32, 64),
    d_model: int = 512,
    h: int = 8,
    n_kv_heads: int | None = None,
    cached: int = 255,
    seconds: float = 0.03,
) -> list[BatchTimed]:
    """Seconds a token of projections and of cached attention over batches, predicted and measured, float32.

    Attention in one kernel; every request has `cached` tokens before the new one. seconds: for each stage.
    Raises: ValueError for sizes that no such layer can have.
    """
    found = []
    for b in batches:
        setting = Setting(b, 1, d_model, h, n_kv_heads, cached)
        costs = setting.costs(fused=True)
        parts = {
            "projections": costs["projections"] + costs["output_projection"],
            "attention": costs["attention"],
        }
        found.append(
            BatchTimed(
                b,
                _a_token(predicted_seconds(setting, machine, fused=True), b),
                _a_token(measured_seconds(setting, True, seconds), b),
                {name: part.intensity for name, part in parts.items()},
            )
        )
    return found


def _a_token(stages: Mapping[str, float], b: int) -> dict[str, float]:
    return {
        "projections": (stages["projections"] + stages["output_projection"]) / b,
        "attention": stages["attention"] / b,
    }
