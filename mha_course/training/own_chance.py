"""Chance of one's own for a training: dropout asks torch's global generator, and others ask it, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import torch

T = TypeVar("T")


def with_own_chance(steps: Iterator[T], seed: int) -> Iterator[T]:
    """The same steps, each taken while torch's global generator is at this training's own place.

    Equal seeds draw equal dropout, whatever ran before or runs between two steps; and whoever asks for the
    steps finds the global generator as they left it.
    """
    own = torch.Generator().manual_seed(seed).get_state()
    while True:
        others = torch.get_rng_state()
        torch.set_rng_state(own)
        try:
            step = next(steps)
        except StopIteration:
            return
        finally:
            own = torch.get_rng_state()
            torch.set_rng_state(others)
        yield step
