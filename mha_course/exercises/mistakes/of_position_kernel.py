"""Known mistakes of lesson 08, the product of two position vectors by their distance."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake


def _angles(m: Tensor, w: Tensor) -> Tensor:
    return m[:, None] * w


KERNEL_MISTAKES = (
    Mistake(
        "mean-for-sum",
        lambda m, w: _angles(m, w).cos().mean(-1),
        "The cosines are averaged. The product of two vectors is a sum.",
        "the value at distance 0: it is the number of frequencies.",
    ),
    Mistake(
        "sine-for-cosine",
        lambda m, w: _angles(m, w).sin().sum(-1),
        "These are sines: the value at distance 0 comes out as 0.",
        "sin a sin b + cos a cos b, in one function.",
    ),
    Mistake(
        "product-for-sum",
        lambda m, w: _angles(m, w).cos().prod(-1),
        "The cosines are multiplied with each other. They are added up.",
        "how the frequencies are put together.",
    ),
    Mistake(
        "summed-over-distances",
        lambda m, w: _angles(m, w).cos().sum(0),
        "The sum goes over the distances. One value for each distance is wanted.",
        "the axis of the sum.",
    ),
    Mistake(
        "not-summed",
        lambda m, w: _angles(m, w).cos(),
        "The cosines of all frequencies stand side by side. Their sum is wanted.",
        "the last step.",
    ),
    Mistake(
        "first-frequency-only",
        lambda m, w: _angles(m, w).cos()[:, 0],
        "Only the first frequency is there.",
        "how many cosines a distance has.",
    ),
    Mistake(
        "counted-twice",
        lambda m, w: 2 * _angles(m, w).cos().sum(-1),
        "Every frequency counts twice: a pair has two columns, but one cosine.",
        "the value at distance 0: it is the number of frequencies.",
    ),
    Mistake(
        "divided-by-frequency",
        lambda m, w: (m[:, None] / w).cos().sum(-1),
        "Distances are divided by the frequencies. The angle is a product.",
        "the angle.",
    ),
    Mistake(
        "cosine-of-the-sum",
        lambda m, w: _angles(m, w).sum(-1).cos(),
        "The angles are added up first, and then there is one cosine.",
        "the order of sum and cosine.",
    ),
    Mistake(
        "distance-of-vectors",
        lambda m, w: 2 * (len(w) - _angles(m, w).cos().sum(-1)),
        "This is the squared distance of the two vectors. It is 0 where their product is largest.",
        "the value at distance 0.",
    ),
    Mistake(
        "gap-for-kernel",
        lambda m, w: len(w) - _angles(m, w).cos().sum(-1),
        "This is how far the product lies below its largest value, and not the product.",
        "the value at distance 0.",
    ),
    Mistake(
        "sines-added",
        lambda m, w: (_angles(m, w).cos() + _angles(m, w).sin()).sum(-1),
        "The entries of one vector are added up. The product with the other one is missing.",
        "what is multiplied with what.",
    ),
    Mistake(
        "every-pair-of-distances",
        lambda m, w: _angles((m[:, None] - m).flatten(), w).cos().sum(-1).view(len(m), len(m)),
        "This compares every entry of `distances` with every other one. They are distances already.",
        "the shape of the result: one value for each distance.",
    ),
    Mistake(
        "degrees",
        lambda m, w: torch.deg2rad(_angles(m, w)).cos().sum(-1),
        "Angles are read as degrees. Here they are radians, as `cos` takes them.",
        "what goes into the cosine.",
    ),
)
