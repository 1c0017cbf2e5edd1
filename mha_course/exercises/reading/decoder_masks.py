"""What a wrong decoder mask leaves open: another rule for order, another for lengths, joined otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding
from mha_course.exercises.outcome import Outcome
from mha_course.exercises.reading.recipes import Recipe, Slot, Way

Step = Callable[..., Tensor]


def _earlier(q: Tensor, k: Tensor, n: int, length: Tensor) -> Tensor:
    return k <= q


def _real(q: Tensor, k: Tensor, n: int, length: Tensor) -> Tensor:
    return k < length


def mask_with(
    lengths: Tensor,
    n: int,
    *,
    known: Step = lambda lengths, n: lengths,
    order: Step = _earlier,
    real: Step = _real,
    join: Step = torch.logical_and,
    finish: Step = lambda mask: mask,
) -> Tensor:
    """The decoder's mask with the steps given; without any it is right: (b, 1, n, n) bool."""
    places = torch.arange(n)
    q, k, length = places[:, None], places[None, :], known(lengths, n)[:, None, None, None]
    empty = torch.zeros(len(lengths), 1, n, n, dtype=torch.bool)
    return finish(join(order(q, k, n, length) | empty, real(q, k, n, length) | empty))


_LENGTHS = (
    Way("Every sentence gets the length of the sentence before.", lambda lengths, n: lengths.roll(1)),
    Way("Every sentence gets the length of the next one.", lambda lengths, n: lengths.roll(-1)),
    Way(
        "Every sentence gets the length of the first one.", lambda lengths, n: lengths[:1].expand_as(lengths)
    ),
    Way(
        "Every sentence gets the length of the last one.", lambda lengths, n: lengths[-1:].expand_as(lengths)
    ),
    Way("Every sentence gets the largest length.", lambda lengths, n: lengths.max().expand_as(lengths)),
    Way("Every sentence gets the smallest length.", lambda lengths, n: lengths.min().expand_as(lengths)),
    Way("The lengths are sorted.", lambda lengths, n: lengths.sort().values),
    Way("The lengths stand in reverse order.", lambda lengths, n: lengths.flip(0)),
    Way(
        "The number of padding pieces, n minus length, stands for the length.", lambda lengths, n: n - lengths
    ),
    Way("The length is one too large: the first piece of padding is open.", lambda lengths, n: lengths + 1),
    Way("The length is one too small: the last real word is hidden.", lambda lengths, n: lengths - 1),
)
_ORDERS = (
    Way("Order plays no part: later words are open.", lambda q, k, n, length: k >= 0),
    Way("A word does not see itself.", lambda q, k, n, length: k < q),
    Way("A word also sees the next one.", lambda q, k, n, length: k <= q + 1),
    Way("A word sees itself and later words, not earlier ones.", lambda q, k, n, length: k >= q),
    Way("A word sees later words only.", lambda q, k, n, length: k > q),
    Way("A word sees only itself.", lambda q, k, n, length: k == q),
    Way("A word sees all words but itself.", lambda q, k, n, length: k != q),
    Way(
        "A word sees itself and the one before, and none that is farther back.",
        lambda q, k, n, length: (k <= q) & (k >= q - 1),
    ),
    Way("A word sees itself and its two neighbours only.", lambda q, k, n, length: (k - q).abs() <= 1),
    Way("The rows run from the last query to the first.", lambda q, k, n, length: k <= n - 1 - q),
    Way("The columns run from the last key to the first.", lambda q, k, n, length: n - 1 - k <= q),
    Way("Key 0 is hidden from all.", lambda q, k, n, length: (k <= q) & (k > 0)),
    Way("The last row is hidden.", lambda q, k, n, length: (k <= q) & (q < n - 1)),
    Way("The first row is hidden.", lambda q, k, n, length: (k <= q) & (q > 0)),
    Way("Key 0 is open for all.", lambda q, k, n, length: (k <= q) | (k == 0)),
    Way("The rows of padding see everything.", lambda q, k, n, length: (k <= q) | (q >= length)),
)
_REALS = (
    Way("The lengths play no part: padding is open.", lambda q, k, n, length: k >= 0),
    Way("The rows of padding are hidden, not its columns.", lambda q, k, n, length: q < length),
    Way(
        "The rows of padding are hidden as well as its columns.",
        lambda q, k, n, length: (q < length) & (k < length),
    ),
    Way("Real words are hidden, padding is open.", lambda q, k, n, length: k >= length),
    Way(
        "Real words are hidden, and the first piece of padding too; the rest of it is open.",
        lambda q, k, n, length: k > length,
    ),
    Way("Only the first piece of padding is hidden.", lambda q, k, n, length: k != length),
    Way("Only the first piece of padding is open.", lambda q, k, n, length: k == length),
    Way("Only the last real word is open.", lambda q, k, n, length: k == length - 1),
    Way(
        "Padding is looked for at the left end; it stands at the right.",
        lambda q, k, n, length: k >= n - length,
    ),
    Way("Padding sees itself; nobody should see it.", lambda q, k, n, length: (k < length) | (k == q)),
    Way("In the rows of padding the padding is open.", lambda q, k, n, length: (k < length) | (q >= length)),
    Way(
        "In the rows of real words the padding is open.", lambda q, k, n, length: (k < length) | (q < length)
    ),
)
_JOINS = (
    Way("A key is open where one of the two masks opens it; both have to.", torch.logical_or),
    Way("A key is open where exactly one of the two masks opens it; both have to.", torch.logical_xor),
    Way("A key is open where the two masks agree, also in hiding it.", lambda a, b: a == b),
    Way("A key is open where neither mask opens it.", lambda a, b: ~(a | b)),
)
_FINISHES = (
    Way("Everything is turned round: True stands on what is hidden.", torch.logical_not),
    Way("Rows and columns have changed places.", lambda mask: mask.mT),
    Way("The columns stand in reverse order.", lambda mask: mask.flip(-1)),
    Way("The rows stand in reverse order.", lambda mask: mask.flip(-2)),
    Way("Everything is open.", torch.ones_like),
    Way("Everything is hidden.", torch.zeros_like),
    Way("The sentences stand in reverse order.", lambda mask: mask.flip(0)),
    Way(
        "The second key is open for all, whatever the rules are.",
        lambda mask: mask | (torch.arange(mask.shape[-1]) == 1),
    ),
)
DECODER_MASK = Recipe(
    mask_with,
    (
        Slot("order", "the part about order: query down, key along.", _ORDERS),
        Slot("real", "the part made from `lengths`.", _REALS),
        Slot("join", "how the two masks become one.", _JOINS),
        Slot("known", "which length belongs to which sentence.", _LENGTHS),
        Slot("finish", "the last step.", _FINISHES),
    ),
)


def read_decoder_mask(
    evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]
) -> Finding | None:
    """The rules where they are known; else what is open and should not be, kind by kind."""
    found = DECODER_MASK.read(evidence, i, call)
    if found:
        return found
    want, got = evidence.expected[i].leaves[0], evidence.got[i].leaves
    if len(got) != 1 or got[0].shape != want.shape or got[0].dtype != torch.bool:
        return None
    lengths, n = evidence.cases[i].arguments
    have, places = got[0], torch.arange(n)
    later = (places[None, :] > places[:, None]).expand_as(want)
    padding = (places >= lengths[:, None])[:, None, None, :].expand_as(want)
    kinds = (
        ("later words are open", have & later & ~padding, later & ~padding),
        ("padding is open", have & padding & ~later, padding & ~later),
        ("padding that comes later is open", have & padding & later, padding & later),
        ("earlier words, or the word itself, are hidden", ~have & want, want),
    )
    parts = []
    for words, wrong, of in kinds:
        if bool(wrong.any()):
            s, _, query, key = wrong.nonzero()[0].tolist()
            share = "all" if bool((wrong == of).all()) else f"{int(wrong.sum())} of {int(of.sum())}"
            parts.append(f"{words} ({share}; in sentence {s + 1}, query {query}, key {key})")
    says = "; ".join(parts)
    return Finding("other-pattern", f"{says[:1].upper()}{says[1:]}.", look="one row of one sentence.")
