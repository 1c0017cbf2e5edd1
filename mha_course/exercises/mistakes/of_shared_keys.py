"""Known mistakes of `share_keys`: who reads which key head, how often each is copied, along which axis."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_course.exercises.exercise import Mistake
from mha_course.exercises.mistakes.otherwise import Otherwise

Step = Callable[..., Any]


def by_groups(key_heads: int, h: int) -> list[int]:
    """The key head of each query head: neighbours share."""
    return [i // (h // key_heads) for i in range(h)]


def shared_with(
    k: Tensor,
    h: int,
    *,
    reads: Step = by_groups,
    take: Step = lambda k, heads: k[:, heads],
    finish: Step = lambda keys, k, h: keys,
    whole: Step | None = None,
) -> Tensor:
    """The keys of each query head with the steps given; right without any: (b, h, n, d_k)."""
    if whole is not None:
        return whole(k, h)
    return finish(take(k, reads(k.shape[1], h)), k, h)


def _along(axis: int, k: Tensor, h: int) -> Tensor:
    """Copies along another axis than that of heads, then cut into h heads."""
    b, key_heads, n, d_k = k.shape
    return k.repeat_interleave(h // key_heads, axis).reshape(b, h, n, d_k)


def _sentences(k: Tensor, h: int) -> Tensor:
    b, key_heads, n, d_k = k.shape
    return k.repeat(h // key_heads, 1, 1, 1).reshape(b, h, n, d_k)


def _first_of_each_group(keys: Tensor, k: Tensor, h: int) -> Tensor:
    first = torch.arange(h) % (h // k.shape[1]) == 0
    return keys * first[:, None, None]


_with = partial(Otherwise, shared_with)

SHARED_MISTAKES = (
    Mistake(
        "dealt-in-turn",
        _with(reads=lambda key_heads, h: [i % key_heads for i in range(h)]),
        "Key heads are dealt in turn: 1, 2, ..., 1, 2, ... Neighbours should share one. Weights made for the "
        "other order then meet the wrong keys.",
        "`repeat` and `cat` put whole copies behind one another, and `%` counts like that; each has a "
        "relative that keeps copies together.",
    ),
    Mistake(
        "first-for-all",
        _with(reads=lambda key_heads, h: [0] * h),
        "Every query head reads key head 1. Each group has its own.",
        "the axis of key heads.",
    ),
    Mistake(
        "in-reverse-order",
        _with(reads=lambda key_heads, h: by_groups(key_heads, h)[::-1]),
        "The groups are in reverse order: the first query heads read the last key head.",
        "the order of the key heads.",
    ),
    Mistake(
        "copied-as-often-as-key-heads",
        _with(reads=lambda key_heads, h: [j for j in range(key_heads) for _ in range(key_heads)]),
        "Each key head is copied {n_kv_heads} times, as often as there are key heads. A group has "
        "h / n_kv_heads query heads.",
        "the number of copies.",
    ),
    Mistake(
        "copied-h-times",
        _with(reads=lambda key_heads, h: [j for j in range(key_heads) for _ in range(h)]),
        "Each key head is copied {h} times. All together there should be {h}.",
        "the number of copies.",
    ),
    Mistake(
        "not-shared-out",
        _with(reads=lambda key_heads, h: list(range(key_heads))),
        "The keys come back as they are: still one head for each group.",
        "what makes {n_kv_heads} heads into {h}.",
    ),
    Mistake(
        "a-copy-too-few",
        _with(reads=lambda key_heads, h: [j for j in range(key_heads) for _ in range(h // key_heads - 1)]),
        "Each key head has one copy too few: the original is one of them.",
        "the number of copies.",
    ),
    Mistake(
        "a-copy-too-many",
        _with(reads=lambda key_heads, h: [j for j in range(key_heads) for _ in range(h // key_heads + 1)]),
        "Each key head has one copy too many: the original is one of them.",
        "the number of copies.",
    ),
    Mistake(
        "tokens-copied",
        _with(whole=partial(_along, 2)),
        "Tokens are copied, or copies stand behind the tokens, before heads are cut: one head then holds the "
        "same token several times.",
        "the axis along which copies are made.",
    ),
    Mistake(
        "features-copied",
        _with(whole=partial(_along, 3)),
        "Features are copied, each next to itself, before heads are cut. Whole heads should be.",
        "the axis along which copies are made.",
    ),
    Mistake(
        "sentences-copied",
        _with(whole=_sentences),
        "Copies are made along the axis of sentences, and then cut into heads: heads hold keys of other "
        "sentences.",
        "the axis along which copies are made.",
    ),
    Mistake(
        "axis-of-its-own",
        _with(finish=lambda keys, k, h: keys.unflatten(1, (k.shape[1], -1))),
        "The copies stand in an axis of their own. Groups and copies together are the {h} heads.",
        "the last step: two axes become one.",
    ),
    Mistake(
        "heads-behind-tokens",
        _with(finish=lambda keys, k, h: keys.transpose(1, 2)),
        "Heads stand behind tokens, (b, n, h, d_k). Wanted is (b, h, n, d_k).",
        "the order of the axes.",
    ),
    Mistake(
        "averaged",
        _with(take=lambda k, heads: k.mean(1, keepdim=True).expand(-1, len(heads), -1, -1)),
        "Every query head reads the mean of all key heads. Each group has its own.",
        "the mean.",
    ),
    Mistake(
        "divided",
        _with(finish=lambda keys, k, h: keys / (h // k.shape[1])),
        "Keys are divided by the number of heads that share them. Sharing copies them.",
        "the division.",
    ),
    Mistake(
        "first-of-the-group",
        _with(finish=_first_of_each_group),
        "Only the first query head of each group has keys; the others have zeros.",
        "which heads are written to.",
    ),
    Mistake(
        "next-group",
        _with(reads=lambda key_heads, h: [(j + 1) % key_heads for j in by_groups(key_heads, h)]),
        "Each group reads the key head of the next one.",
        "the index of the key head.",
    ),
)
