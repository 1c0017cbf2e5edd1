"""Calls of lesson 14's exercises at sizes that hypothesis draws."""

from __future__ import annotations

from typing import Any

import torch

from mha_course.exercises.exercise import draw, numbered


def _scores(s: Any) -> tuple[Any, ...]:
    shapes = (s.b, s.n, s.d_v), (s.b, s.m, s.d_v), (s.h, s.d_v)
    return (*(s.tensor(*shape) for shape in shapes), s.d_k)


def _windows(s: Any) -> tuple[Any, ...]:
    # With three heads and more every window fits into the row of features.
    h = s.h + 1
    return numbered(s.b, s.n, h * s.d_k) + 1, h, 1 + s.m % s.d_k


def _pattern(s: Any) -> tuple[Any, ...]:
    """Scores of three features; where d_v allows, rows that are all alike, or uniform."""
    alike, uniform = s.d_v % 3 == 1, s.d_v % 3 == 2
    n_q, n_k = s.n + 3, 8 if uniform else s.m + 3
    # Fewer than three features would leave weights of nearly low rank.
    queries, keys = (draw(s.g, n, 3, dtype=torch.float64) for n in (n_q, n_k))
    scores = (queries[:1] if alike else 0 * queries if uniform else queries) @ keys.T
    return (scores.expand(n_q, -1).softmax(-1),)


CALLS_14 = {
    "mixing_of_blocks": lambda s: (s.h, s.d_model + s.m % s.h),
    "collaborative_scores": _scores,
    "content_bias": lambda s: (s.tensor(s.n, s.d_model), s.tensor(s.d_model), s.h),
    "overlapping_windows": _windows,
    "pattern_width": _pattern,
    "collaborative_flops": lambda s: (s.n, s.d_model, s.h, s.d_v + s.m),
}
