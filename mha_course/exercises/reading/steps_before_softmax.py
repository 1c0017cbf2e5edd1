"""What people do to scores before a softmax: words and a function each."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

NAN = float("nan")
Step = tuple[str, Callable[[Tensor], Tensor]]


def _row(x: Tensor) -> Tensor:
    return x.sum(-1, keepdim=True)


def _standardised(s: Tensor) -> Tensor:
    return (s - s.mean(-1, keepdim=True)) / s.std(-1, keepdim=True)


# What is done to the scores before they are made positive. The first of each list is right.
BEFORE: tuple[Step, ...] = (
    ("", lambda s: s),
    ("", lambda s: s - s.amax(-1, keepdim=True)),
    ("The ranks of the scores go in, not the scores.", lambda s: s.argsort(-1).argsort(-1).to(s.dtype)),
    (
        "The ranks of the scores go in, not the scores.",
        lambda s: s.argsort(-1, descending=True).argsort(-1).to(s.dtype),
    ),
    ("The scores get a minus before the softmax, so the smallest one wins.", lambda s: -s),
    ("Negative scores are treated as 0 (a ReLU).", lambda s: s.relu()),
    (
        "Negative scores are made small, but not left alone (a leaky ReLU).",
        lambda s: torch.where(s > 0, s, s * 0.01),
    ),
    ("Positive scores are treated as 0.", lambda s: s.clamp(max=0)),
    ("The sign of the scores is lost: absolute values go in.", lambda s: s.abs()),
    ("The scores are squared before the softmax.", lambda s: s * s),
    ("The scores are taken to the third power before the softmax.", lambda s: s**3),
    ("The scores are rounded to whole numbers.", lambda s: s.round()),
    ("The scores are cut down to whole numbers (`int`, `trunc`).", lambda s: s.trunc()),
    ("The scores are rounded down (`floor`, `//`).", lambda s: s.floor()),
    ("The scores are rounded to one decimal.", lambda s: (s * 10).round() / 10),
    ("The scores are clamped to -1 ... 1.", lambda s: s.clamp(-1, 1)),
    ("The scores are clamped to 0 ... 1.", lambda s: s.clamp(0, 1)),
    ("Scores above 1 are clamped to 1.", lambda s: s.clamp(max=1)),
    ("Scores below -1 are clamped to -1.", lambda s: s.clamp(min=-1)),
    ("Scores above the diagonal become 0 (`tril`): a triangle that nobody asked for.", lambda s: s.tril()),
    ("Scores below the diagonal become 0 (`triu`): a triangle that nobody asked for.", lambda s: s.triu()),
    ("The scores go through a tanh first.", lambda s: s.tanh()),
    ("The scores go through a sigmoid first.", lambda s: s.sigmoid()),
    ("The scores go through a GELU first.", lambda s: torch.nn.functional.gelu(s)),
    ("Only the signs of the scores go in.", lambda s: s.sign()),
    ("The exponential is taken twice: once more inside the softmax.", lambda s: s.exp()),
    ("A softmax was applied before this one: softmax twice.", lambda s: s.softmax(-1)),
    ("A softmax over the queries was applied before this one: softmax twice.", lambda s: s.softmax(-2)),
    ("Each row of scores is standardised first (minus its mean, by its standard deviation).", _standardised),
    (
        "Each row of scores is standardised first (minus its mean, by its standard deviation).",
        lambda s: (s - s.mean(-1, keepdim=True)) / s.std(-1, keepdim=True, correction=0),
    ),
    ("All scores together are standardised first.", lambda s: (s - s.mean()) / s.std()),
    (
        "Each row of scores is divided by its largest entry before the softmax.",
        lambda s: s / s.amax(-1, keepdim=True),
    ),
    (
        "Each row of scores is divided by its largest absolute value before the softmax.",
        lambda s: s / s.abs().amax(-1, keepdim=True),
    ),
    (
        "Each row of scores is stretched to 0 ... 1 (its smallest and largest) before the softmax.",
        lambda s: (s - s.amin(-1, keepdim=True)) / (s.amax(-1, keepdim=True) - s.amin(-1, keepdim=True)),
    ),
    ("All scores are divided by the largest one before the softmax.", lambda s: s / s.max()),
    ("Each row of scores is divided by its sum before the softmax.", lambda s: s / _row(s)),
    (
        "Each row of scores is divided by its length (L2 norm) before the softmax.",
        lambda s: s / s.norm(dim=-1, keepdim=True),
    ),
    (
        "The mean of each column is taken from the scores; that changes a row's softmax.",
        lambda s: s - s.mean(-2, keepdim=True),
    ),
    (
        "The largest of each column is taken from the scores; that changes a row's softmax.",
        lambda s: s - s.amax(-2, keepdim=True),
    ),
    (
        "The smallest of each column is taken from the scores; that changes a row's softmax.",
        lambda s: s - s.amin(-2, keepdim=True),
    ),
    ("The row's largest score is multiplied in, not subtracted.", lambda s: s * s.amax(-1, keepdim=True)),
    ("The scores of a row are sorted before the softmax.", lambda s: s.sort(-1).values),
    ("The scores of a row are sorted before the softmax.", lambda s: s.sort(-1, descending=True).values),
    ("The scores of a row are summed up along the keys (`cumsum`) first.", lambda s: s.cumsum(-1)),
    ("The keys stand in reversed order.", lambda s: s.flip(-1)),
    ("The queries stand in reversed order.", lambda s: s.flip(-2)),
    ("The keys are shifted by one place.", lambda s: s.roll(1, -1)),
    ("The keys are shifted by one place.", lambda s: s.roll(-1, -1)),
    ("The queries are shifted by one place.", lambda s: s.roll(1, -2)),
    ("The queries are shifted by one place.", lambda s: s.roll(-1, -2)),
    ("Every query gets the scores of the first one.", lambda s: s[..., :1, :].expand_as(s)),
    ("Every query gets the scores of the last one.", lambda s: s[..., -1:, :].expand_as(s)),
    ("The scores are averaged over the queries first.", lambda s: s.mean(-2, keepdim=True).expand_as(s)),
    ("The sentences have changed places.", lambda s: s.flip(0) if s.ndim > 2 else s * NAN),
    ("The sentences have changed places.", lambda s: s.roll(1, 0) if s.ndim > 2 else s * NAN),
    (
        "Every sentence gets the scores of the first one.",
        lambda s: s[:1].expand_as(s) if s.ndim > 2 else s * NAN,
    ),
    (
        "The scores are averaged over the sentences first.",
        lambda s: s.mean(0, keepdim=True).expand_as(s) if s.ndim > 2 else s * NAN,
    ),
)
