"""Calls of lesson 16's exercises at sizes that hypothesis draws."""

from __future__ import annotations

from typing import Any

import torch


def _lengths(s: Any) -> tuple[Any, ...]:
    """Lengths of which one is 0."""
    lengths = torch.randint(1, s.n + 1, (s.b,), generator=s.g)
    lengths[s.m % s.b] = 0
    return lengths, s.n


CALLS_16 = {
    "allowed_keys": _lengths,
}
