"""What wrong shared keys hold: which key head each query head reads, and what stands where in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.evidence import Evidence, Finding, in_a_row
from mha_course.exercises.mistakes.of_shared_keys import SHARED_MISTAKES, by_groups, shared_with
from mha_course.exercises.outcome import Outcome, close
from mha_course.exercises.reading.known_ways import ways_of
from mha_course.exercises.reading.recipes import Recipe, Slot, Way, of_the_whole, rare


def _copies(k: Tensor, h: int, axis: int) -> Tensor:
    return k.repeat_interleave(h // k.shape[1], axis)


_READS = (
    rare("Every query head reads the last key head.", lambda kv, h: [kv - 1] * h),
    rare("The groups are off by one head.", lambda kv, h: [min((i + 1) * kv // h, kv - 1) for i in range(h)]),
    rare("Key heads are dealt in turn, from the last one on.", lambda kv, h: [-1 - i % kv for i in range(h)]),
    rare(
        "All but the first query heads read the last key head.",
        lambda kv, h: [min(i, kv - 1) for i in range(h)],
    ),
    rare("There are only as many heads as copies.", lambda kv, h: by_groups(kv, h)[: h // kv]),
    rare("The last head is missing.", lambda kv, h: by_groups(kv, h)[:-1]),
    rare(
        "There are as many copies as query heads and key heads together.",
        lambda kv, h: [j for j in range(kv) for _ in range(h + kv)],
    ),
    rare("Whole copies stand behind one another, h of them.", lambda kv, h: list(range(kv)) * h),
    rare(
        "Whole copies stand behind one another, one too many.", lambda kv, h: list(range(kv)) * (h // kv + 1)
    ),
    rare(
        "Each key head is there twice, whatever h is.", lambda kv, h: [j for j in range(kv) for _ in range(2)]
    ),
    rare(
        "Whole copies stand behind one another, two of them whatever h is.", lambda kv, h: list(range(kv)) * 2
    ),
)
_FINISHES = (
    Way("The last two axes have changed places.", lambda x, k, h: x.mT),
    Way("Keys are multiplied by the number of heads that share them.", lambda x, k, h: x * (h // k.shape[1])),
    rare("Keys are divided by h.", lambda x, k, h: x / h),
    rare("Heads are put side by side, (b, n, h d_k).", lambda x, k, h: x.transpose(1, 2).flatten(2)),
    rare("Heads and tokens are one axis.", lambda x, k, h: x.flatten(1, 2)),
    rare("Heads come first, sentences second.", lambda x, k, h: x.transpose(0, 1)),
    rare("Heads and sentences are one axis.", lambda x, k, h: x.flatten(0, 1)),
    rare("The tokens are in reverse order.", lambda x, k, h: x.flip(2)),
    rare("The sentences are in reverse order.", lambda x, k, h: x.flip(0)),
    rare("The features are in reverse order.", lambda x, k, h: x.flip(3)),
    rare(
        "The copies stand in an axis in front of the groups.",
        lambda x, k, h: x.unflatten(1, (k.shape[1], -1)).transpose(1, 2),
    ),
    rare(
        "Features are cut off: each copy has its own part of them.",
        lambda x, k, h: x[..., : k.shape[-1] * k.shape[1] // h],
    ),
)
_WHOLES = (
    rare(
        "Tokens are copied, each next to itself, and there are no more heads.", lambda k, h: _copies(k, h, 2)
    ),
    rare("Features are copied, and there are no more heads.", lambda k, h: _copies(k, h, 3)),
    rare("Sentences are copied, and there are no more heads.", lambda k, h: _copies(k, h, 0)),
    rare(
        "All tokens are repeated, and there are no more heads.",
        lambda k, h: k.repeat(1, 1, h // k.shape[1], 1),
    ),
    rare(
        "All features are repeated, and there are no more heads.",
        lambda k, h: k.repeat(1, 1, 1, h // k.shape[1]),
    ),
    rare(
        "All sentences are repeated, and there are no more heads.",
        lambda k, h: k.repeat(h // k.shape[1], 1, 1, 1),
    ),
    rare(
        "All tokens are repeated, then heads are cut.",
        lambda k, h: k.repeat(1, 1, h // k.shape[1], 1).reshape(len(k), h, *k.shape[2:]),
    ),
    rare(
        "All features are repeated, then heads are cut.",
        lambda k, h: k.repeat(1, 1, 1, h // k.shape[1]).reshape(len(k), h, *k.shape[2:]),
    ),
    rare(
        "Each sentence is copied next to itself, then heads are cut.",
        lambda k, h: _copies(k, h, 0).reshape(len(k), h, *k.shape[2:]),
    ),
    rare("The key heads are added up.", lambda k, h: k.sum(1, keepdim=True).expand(-1, h, -1, -1)),
)


def _slot(name: str, look: str, ways: tuple[Way, ...]) -> Slot:
    return Slot(name, look, (*ways_of(SHARED_MISTAKES, name), *ways))


_RECIPE = Recipe(
    shared_with,
    (
        _slot("reads", "which key head each query head reads, and how many there are.", _READS),
        _slot("take", "what is taken of the key heads.", ()),
        _slot("finish", "the last step.", _FINISHES),
        _slot("whole", "the axis along which copies are made.", _WHOLES),
    ),
)


def read_shared(evidence: Evidence, i: int, call: Callable[[tuple[Any, ...]], Outcome]) -> Finding | None:
    """The steps done otherwise where they are known; else the key head that each query head reads."""
    found = _RECIPE.read(evidence, i, call)
    if found:
        return found
    k, h = evidence.cases[i].arguments
    want, have = evidence.expected[i].leaves[0], evidence.got[i].leaves[0]
    if have.shape != want.shape or not have.is_floating_point() or of_the_whole(evidence, i):
        return None
    read = [_head_of(k, have[:, head]) for head in range(h)]
    right = by_groups(k.shape[1], h)
    if all(head is not None for head in read):
        says = f"The {h} query heads read the key heads {_listed(read)}; they should read {_listed(right)}."
        return Finding("other-heads", says, look="which key head each query head reads.")
    intact = [head for head in range(h) if read[head] == right[head]]
    odd = [head for head in range(h) if read[head] is None]
    which = in_a_row([str(head + 1) for head in odd[:4]]) + (" and more" if len(odd) > 4 else "")
    says = f"Query head{'s' if len(odd) > 1 else ''} {which}: what stands there is no key head as it came"
    says += f"; {_of_tokens(k, have[:, odd[0]])}"
    if intact:
        says += f" {len(intact)} of {h} heads are right."
    return Finding("no-whole-head", says, look="the axis along which copies are made, and the last reshape.")


def _head_of(k: Tensor, keys: Tensor) -> int | None:
    """The key head that stands there, whole; None when it is none of them."""
    return next((j for j in range(k.shape[1]) if close(keys, k[:, j])), None)


def _of_tokens(k: Tensor, keys: Tensor) -> str:
    """Where the first row of an odd head comes from."""
    row, rows = keys[0, 0], k.flatten(0, 2)
    same = (rows - row).abs().amax(-1) < 1e-4
    if not bool(same.any()):
        held = torch.isin(row.double(), k.double())
        return f"of the {len(row)} numbers in its first row {int(held.sum())} stand in `k` at all."
    b, key_heads, n, _ = k.shape
    place = int(same.nonzero()[0])
    sentence, head, token = place // (key_heads * n), place // n % key_heads, place % n
    return f"its first row is sentence {sentence + 1}, key head {head + 1}, token {token}."


def _listed(heads: list[int]) -> str:
    return ", ".join(str(head + 1) for head in heads)
