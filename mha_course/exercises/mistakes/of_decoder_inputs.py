"""Known mistakes of what a decoder is given: the target moved one place on, and the mask over it."""

from __future__ import annotations

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake


def _first(targets: Tensor, start: int) -> Tensor:
    return torch.full_like(targets[:, :1], start)


def _in_one_row(targets: Tensor, start: int) -> Tensor:
    flat = targets.flatten()
    return torch.cat([flat.new_tensor([start]), flat[:-1]]).view_as(targets)


SHIFT_MISTAKES = (
    Mistake(
        "not-shifted",
        lambda targets, start: targets.clone(),
        "Nothing has moved: the decoder would read the very word that it is asked for.",
        "which word stands where the first one was.",
    ),
    Mistake(
        "start-for-the-first-word",
        lambda targets, start: torch.cat([_first(targets, start), targets[:, 1:]], 1),
        "The start has taken the place of the first word; the other words have not moved.",
        "which word is dropped: the first or the last?",
    ),
    Mistake(
        "one-too-long",
        lambda targets, start: torch.cat([_first(targets, start), targets], 1),
        "The start stands in front, and the last word is still there, so there is one place too many.",
        "the word that nothing follows.",
    ),
    Mistake(
        "start-left-out",
        lambda targets, start: targets[:, :-1].clone(),
        "The last word is gone, and no start stands in front: there is one place too few.",
        "what is read before the first word is written.",
    ),
    Mistake(
        "shifted-left",
        lambda targets, start: torch.cat([targets[:, 1:], _first(targets, start)], 1),
        "The words have moved to the left: each place holds the word that comes after the one asked for.",
        "the direction.",
    ),
    Mistake(
        "last-comes-first",
        lambda targets, start: targets.roll(1, 1),
        "The last word has come round to the front (`roll`). The start belongs there.",
        "the first place.",
    ),
    Mistake(
        "first-comes-last",
        lambda targets, start: targets.roll(-1, 1),
        "The words have moved to the left, and the first one has come round to the end (`roll`).",
        "the direction, and the first place.",
    ),
    Mistake(
        "start-everywhere",
        lambda targets, start: torch.full_like(targets, start),
        "The start stands in every place: nothing of the targets is read.",
        "where `targets` takes part.",
    ),
    Mistake(
        "start-for-the-last-word",
        lambda targets, start: torch.cat([targets[:, :-1], _first(targets, start)], 1),
        "The start has taken the place of the last word; nothing has moved.",
        "the order of the two parts that are joined.",
    ),
    Mistake(
        "start-behind",
        lambda targets, start: torch.cat([targets, _first(targets, start)], 1),
        "The start stands behind the last word, and there is one place too many.",
        "the order of the two parts that are joined.",
    ),
    Mistake(
        "shifted-by-two",
        lambda targets, start: torch.cat([_first(targets, start)] * 2 + [targets], 1)[
            :, : max(2, targets.shape[1])
        ],
        "The start stands there twice, so that the words have moved two places.",
        "how far the words move.",
    ),
    Mistake(
        "zero-for-start",
        lambda targets, start: torch.cat([torch.zeros_like(targets[:, :1]), targets[:, :-1]], 1),
        "The first place holds 0, which is padding, and not `start`.",
        "where `start` takes part.",
    ),
    Mistake(
        "first-word-twice",
        lambda targets, start: torch.cat([targets[:, :1], targets[:, :-1]], 1),
        "The first place still holds the first word: the decoder would read what it is asked for.",
        "where `start` takes part.",
    ),
    Mistake(
        "sentences-shifted",
        lambda targets, start: torch.cat([torch.full_like(targets[:1], start), targets[:-1]], 0),
        "The sentences have moved, not the words: each row holds the sentence before.",
        "the axis along which parts are joined.",
    ),
    Mistake(
        "over-the-edge",
        _in_one_row,
        "The words move over the edge: a sentence begins with the last word of the one before.",
        "what stands first in the second sentence.",
    ),
    Mistake(
        "reversed",
        lambda targets, start: torch.cat([_first(targets, start), targets.flip(1)[:, 1:]], 1),
        "The words run backwards behind the start.",
        "a `flip`, or a step of -1.",
    ),
)


def _causal(n: int, up_to: int = 0) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril(up_to)


def _real(lengths: Tensor, n: int, more: int = 0) -> Tensor:
    return torch.arange(n)[None, :] < lengths[:, None] + more


def _keys(lengths: Tensor, n: int, more: int = 0) -> Tensor:
    return _real(lengths, n, more)[:, None, None, :]


def _queries(lengths: Tensor, n: int) -> Tensor:
    return _real(lengths, n)[:, None, :, None]


DECODER_MASK_MISTAKES = (
    Mistake(
        "only-causal",
        lambda lengths, n: _causal(n).repeat(len(lengths), 1, 1, 1),
        "The padding is open: only what comes later is hidden.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "only-padding",
        lambda lengths, n: _keys(lengths, n).repeat(1, 1, n, 1),
        "Later words are open: only the padding is hidden.",
        "what the decoder must not see yet.",
    ),
    Mistake(
        "or-for-and",
        lambda lengths, n: _causal(n) | _keys(lengths, n),
        "A key is open when one of the two masks opens it. Both have to.",
        "`|` and `&`.",
    ),
    Mistake(
        "polarity",
        lambda lengths, n: ~(_causal(n) & _keys(lengths, n)),
        "Everything is turned round: True stands on what is hidden. True = may attend.",
        "what True means.",
    ),
    Mistake(
        "padding-polarity",
        lambda lengths, n: _causal(n) & ~_keys(lengths, n),
        "The half about padding is turned round: real words are hidden.",
        "what True means in the part made from `lengths`.",
    ),
    Mistake(
        "causal-polarity",
        lambda lengths, n: ~_causal(n) & _keys(lengths, n),
        "The half about order is turned round: only what comes later is open.",
        "what True means in the part about order.",
    ),
    Mistake(
        "future-for-past",
        lambda lengths, n: _causal(n).T & _keys(lengths, n),
        "Each word sees itself and what comes later. Rows are queries, columns are keys.",
        "the half of the square that is open.",
    ),
    Mistake(
        "itself-hidden",
        lambda lengths, n: _causal(n, -1) & _keys(lengths, n),
        (
            "A word does not see itself, and the first row is empty. It may: what it reads was written one "
            "place before."
        ),
        "the diagonal.",
    ),
    Mistake(
        "next-word-open",
        lambda lengths, n: _causal(n, 1) & _keys(lengths, n),
        "Each word also sees the next one, which is the word that it is asked for.",
        "the diagonal.",
    ),
    Mistake(
        "queries-hidden",
        lambda lengths, n: _causal(n) & _queries(lengths, n),
        "The rows of the padding are hidden, so they are empty. It is its columns that nobody should see.",
        "which of the last two axes holds the keys.",
    ),
    Mistake(
        "one-too-many",
        lambda lengths, n: _causal(n) & _keys(lengths, n, 1),
        "The first piece of padding is open.",
        "`<` and `<=`: positions count from 0.",
    ),
    Mistake(
        "one-too-few",
        lambda lengths, n: _causal(n) & _keys(lengths, n, -1),
        "The last real word is hidden.",
        "`<` and `<=`: positions count from 0.",
    ),
    Mistake(
        "without-the-head-axis",
        lambda lengths, n: _causal(n) & _real(lengths, n)[:, None, :],
        "The pattern is right; the axis for the heads is missing. `(b, n, n)` lays sentences over heads.",
        "the shape `(b, 1, n, n)`.",
    ),
    Mistake(
        "head-axis-in-front",
        lambda lengths, n: (_causal(n) & _real(lengths, n)[:, None, :])[None],
        "The axis of size 1 stands in front, `(1, b, n, n)`: sentences would be taken for heads.",
        "where the new axis goes.",
    ),
    Mistake(
        "causal-mask-alone",
        lambda lengths, n: _causal(n),
        "This is the causal mask `(n, n)`: the same for every sentence, and the padding is open.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "padding-mask-alone",
        lambda lengths, n: _keys(lengths, n),
        "This is the padding mask `(b, 1, 1, n)`, the same for every query: later words are open.",
        "what the decoder must not see yet.",
    ),
    Mistake(
        "keys-reversed",
        lambda lengths, n: (_causal(n) & _keys(lengths, n)).flip(-1),
        "The keys run backwards: position 0 is the first column.",
        "the direction in which positions are counted.",
    ),
    Mistake(
        "lengths-sorted",
        lambda lengths, n: _causal(n) & _keys(lengths.sort().values, n),
        "The lengths were sorted: sentences get each other's length.",
        "the order of `lengths`.",
    ),
    Mistake(
        "shortest-for-all",
        lambda lengths, n: _causal(n) & _keys(lengths.min().expand(len(lengths)), n),
        "Every sentence gets the length of the shortest one.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "first-length-for-all",
        lambda lengths, n: _causal(n) & _keys(lengths[:1].expand(len(lengths)), n),
        "Every sentence gets the length of the first one.",
        "where `lengths` takes part.",
    ),
    Mistake(
        "longest-for-all",
        lambda lengths, n: _causal(n) & _keys(lengths.max().expand(len(lengths)), n),
        "Every sentence gets the length of the longest one.",
        "where `lengths` takes part.",
    ),
)
