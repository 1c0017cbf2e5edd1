"""Exercises of lesson 16, from scratch: the mask, and the whole layer behind it."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from mha_course.exercises.exercise import Case, Exercise, Returned
from mha_course.exercises.mistakes.of_allowed_keys import ALLOWED_MISTAKES
from mha_course.exercises.reading.decoder_masks import read_decoder_mask


def allowed_keys(lengths: Tensor, n: int) -> Tensor:
    """No later words and no padding: (b, 1, n, n) bool, True = may attend."""
    position = torch.arange(n, device=lengths.device)
    earlier = position[None, :] <= position[:, None]  # (n, n): keys along, queries down
    real = position[None, :] < lengths[:, None]  # (b, n): of an empty sentence nothing is
    return earlier & real[:, None, None, :]


def _mask_inputs(g: Generator) -> list[Case]:
    def case(label: str, lengths: list[int], n: int) -> Case:
        return Case(label, (torch.tensor(lengths), n), {"b": len(lengths), "n": n})

    return [
        case("for sentences of different lengths", [4, 2, 5], 6),
        case("for sentences of different lengths", [3, 6, 1, 5], 7),
        case("where a sentence is empty", [3, 0], 5),
        case("where a sentence is empty", [0, 2, 4], 8),
    ]


EXERCISES = (
    Exercise(
        name="allowed_keys",
        lesson="16",
        title="Who may look",
        prompt=(
            "Who may look at whom, in one mask. `lengths` is a tensor `(b,)`, the number of real words of "
            "each sentence; behind them stands padding, up to `n`. A word sees itself and earlier words, and "
            "nobody sees padding. In a sentence of length 0 there is nothing to see. Return `(b, 1, n, n)`, "
            "boolean, True = may attend; query down, key along."
        ),
        signature="allowed_keys(lengths, n) -> (b, 1, n, n)",
        reference=allowed_keys,
        inputs=_mask_inputs,
        returns=(Returned("mask", ("b", "1", "n", "n"), kind="bool"),),
        mistakes=ALLOWED_MISTAKES,
        hints=(
            "Two rules: one about order, the same for every sentence; one about lengths, the same for every "
            "query. When is a key open?",
            "One mask `(n, n)`, one `(b, 1, 1, n)`; a key is open where both are True.",
            "earlier = key at or before the query\nreal = key below the sentence's length\nboth at once",
        ),
        why=(
            "Both masks broadcast to the same four axes; the 1 stands for every head. Rows of an empty "
            "sentence are all False, which the layer has to bear."
        ),
        twins=("masks.causal_mask", "masks.padding_mask"),
        readers=(read_decoder_mask,),
    ),
)
