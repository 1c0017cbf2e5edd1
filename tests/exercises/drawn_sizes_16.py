"""Calls of lesson 16's exercises at sizes that hypothesis draws."""

from __future__ import annotations

from typing import Any

import torch

from mha_course.exercises.lessons.lesson_04_heads import projected
from mha_course.exercises.lessons.lesson_16 import drawn_allowed
from mha_course.exercises.lessons.lesson_16_block import drawn_parts


def _lengths(s: Any) -> tuple[Any, ...]:
    """Lengths of which one is 0."""
    lengths = torch.randint(1, s.n + 1, (s.b,), generator=s.g)
    lengths[s.m % s.b] = 0
    return lengths, s.n


def _layer(s: Any) -> tuple[Any, ...]:
    allowed = drawn_allowed(s.g, s.b, s.n, empty=False)
    return (*projected(s.g, s.b, s.n, s.d_model, 4), s.h, allowed)


def _block(s: Any) -> tuple[Any, ...]:
    allowed = drawn_allowed(s.g, s.b, s.n, empty=False)
    return (s.tensor(s.b, s.n, s.d_model), drawn_parts(s.g, s.d_model, 11), s.h, allowed)


CALLS_16 = {
    "allowed_keys": _lengths,
    "whole_attention": _layer,
    "frugal_attention": lambda s: (*_layer(s), 1 + s.m % (s.n - 1)),
    "encoder_block": _block,
}
