"""Known mistakes of a mask for order and padding: the decoder's, and what empty sentences add."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.of_decoder_inputs import DECODER_MASK_MISTAKES


def _both(lengths: Tensor, n: int) -> Tensor:
    place = torch.arange(n)
    return (place[None, :] <= place[:, None]) & (place < lengths[:, None])[:, None, None, :]


def _own(n: int) -> Tensor:
    return torch.eye(n, dtype=torch.bool)


def _opened(mask: Tensor, with_what: Tensor) -> Tensor:
    """Rows without any True get something to attend to."""
    return mask | (~mask.any(-1, keepdim=True) & with_what)


# The decoder's mask is told with what a decoder reads. Here any layer may stand behind the mask.
_OTHER_WORDS: dict[str, dict[str, str]] = {
    "only-padding": {"look": "what is hidden from a word besides the padding."},
    "padding-mask-alone": {"look": "what is hidden from a word besides the padding."},
    "itself-hidden": {
        "says": "A word does not see itself, and the first row of every sentence is empty. It may see itself."
    },
    "next-word-open": {"says": "Each word also sees the next one. It may see itself and what came before."},
}

_OF_EMPTY_SENTENCES = (
    Mistake(
        "empty-sentence-gets-a-word",
        lambda lengths, n: _both(lengths.clamp(min=1), n),
        (
            "Of an empty sentence key 0 is open, as if its length were 1. Key 0 is padding there; what a "
            "query with nothing to attend to gets is the layer's business."
        ),
        "what is done to lengths of 0, or to rows without any True.",
    ),
    Mistake(
        "empty-rows-opened",
        lambda lengths, n: _opened(_both(lengths, n), torch.ones(n, dtype=torch.bool)),
        (
            "Rows with nothing to attend to are opened throughout. The mask says what is allowed, and that "
            "is nothing; what such a query gets is the layer's business."
        ),
        "what happens to rows without any True.",
    ),
    Mistake(
        "empty-rows-see-themselves",
        lambda lengths, n: _opened(_both(lengths, n), _own(n)),
        (
            "Queries with nothing to attend to see themselves, which are padding. The mask says what is "
            "allowed; what such a query gets is the layer's business."
        ),
        "what happens to rows without any True.",
    ),
    Mistake(
        "empty-sentence-causal",
        lambda lengths, n: _both(lengths.masked_fill(lengths == 0, n), n),
        "A sentence of length 0 is treated as one without padding: everything that came before is open.",
        "what a length of 0 stands for.",
    ),
    Mistake(
        "padding-sees-itself",
        lambda lengths, n: _both(lengths, n) | _own(n),
        "Every place sees itself, padding as well. Nobody may attend to padding.",
        "the diagonal, in the columns of padding.",
    ),
    Mistake(
        "as-long-as-the-longest",
        lambda lengths, n: _both(lengths, int(lengths.max())),
        "The mask ends where the longest sentence ends. The batch is filled up to `n` all the same.",
        "where the number of places comes from.",
    ),
    Mistake(
        "padding-on-the-left",
        lambda lengths, n: _both(torch.full_like(lengths, n), n) & _right_end(lengths, n),
        "Padding is looked for at the left end. It stands behind the words.",
        "the comparison of positions with lengths.",
    ),
)


def _right_end(lengths: Tensor, n: int) -> Tensor:
    return (torch.arange(n) >= n - lengths[:, None])[:, None, None, :]


ALLOWED_MISTAKES = (
    *(dataclasses.replace(m, **_OTHER_WORDS.get(m.id, {})) for m in DECODER_MASK_MISTAKES),
    *_OF_EMPTY_SENTENCES,
)
