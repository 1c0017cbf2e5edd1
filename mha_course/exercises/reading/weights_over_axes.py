"""Weights of a layer that are shared out over other axes than the keys of a row."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.reading.layer_probes import Asked


def over_other_axes(asked: Asked, have: Tensor, want: Tensor) -> str:
    """How weights (b, h, n, n) are shared out where that isn't over the keys of each row alone, or ""."""
    for axis, words in ((1, "the heads"), (0, "the sentences"), (-2, "the queries")):
        if torch.allclose(have, want / want.sum(axis, keepdim=True), atol=1e-4):
            return f"After the softmax they are divided once more, by their sum over {words}."
    scores = asked.scores().double()
    for axes, words in (
        ((1, 3), "the keys of all heads together"),
        ((2, 3), "all queries and keys together"),
        ((0, 3), "the keys of all sentences together"),
    ):
        joint = (scores - scores.logsumexp(axes, keepdim=True)).exp()
        if torch.allclose(have, joint, atol=1e-4):
            return f"One softmax goes over {words}: weights sum to 1 there, and not in each row."
    q, k = asked.queries_and_keys()
    for axis, words in ((0, "sentences"), (1, "heads")):
        summed = q @ k.sum(axis, keepdim=True).mT / asked.d_k**0.5
        if torch.allclose(have, summed.double().softmax(-1), atol=1e-4):
            return f"The keys are summed over the {words} before the queries meet them."
    return ""
