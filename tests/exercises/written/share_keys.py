"""share_keys as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import torch


def listed(k, h, *, which=lambda i, kv, h: i // (h // kv), count=lambda kv, h: h, by=lambda head: head):
    kv = k.shape[1]
    return torch.stack([by(k[:, which(i, kv, h)]) for i in range(count(kv, h))], dim=1)


def written_into(k, h, *, which=lambda i, group, kv: i // group, only=lambda i, group: True):
    b, kv, n, d_k = k.shape
    out = torch.zeros(b, h, n, d_k, dtype=k.dtype)
    for i in range(h):
        if only(i, h // kv):
            out[:, i] = k[:, which(i, h // kv, kv)]
    return out


def interleaved(k, h, *, times=lambda kv, h: h // kv):
    return torch.repeat_interleave(k, times(k.shape[1], h), dim=1)


def expanded(k, h):
    b, kv, n, d_k = k.shape
    return k[:, :, None, :, :].expand(-1, -1, h // kv, -1, -1).reshape(b, h, n, d_k)


def by_index(k, h):
    return k[:, torch.arange(h) // (h // k.shape[1])]


def by_cat(k, h):
    group = h // k.shape[1]
    return torch.cat([head.repeat(1, group, 1, 1) for head in k.split(1, dim=1)], dim=1)


def by_einsum(k, h):
    kv = k.shape[1]
    reads = (torch.arange(h)[:, None] // (h // kv) == torch.arange(kv)).to(k.dtype)
    return torch.einsum("hj,bjnd->bhnd", reads, k)


def by_stack(k, h):
    return torch.stack([k] * (h // k.shape[1]), dim=2).flatten(1, 2)


def group(k, h):
    return h // k.shape[1]


WRONG = [
    ("dealt-in-turn", lambda k, h: k.repeat(1, group(k, h), 1, 1)),
    ("dealt-in-turn", partial(listed, which=lambda i, kv, h: i % kv)),
    ("dealt-in-turn", lambda k, h: k[:, None].expand(-1, group(k, h), -1, -1, -1).flatten(1, 2)),
    ("first-for-all", lambda k, h: k[:, :1].expand(-1, h, -1, -1)),
    ("first-for-all", partial(written_into, which=lambda i, group, kv: 0)),
    ("in-reverse-order", lambda k, h: interleaved(k.flip(1), h)),
    ("in-reverse-order", partial(written_into, which=lambda i, group, kv: kv - 1 - i // group)),
    ("copied-as-often-as-key-heads", partial(interleaved, times=lambda kv, h: kv)),
    (
        "copied-as-often-as-key-heads",
        partial(listed, which=lambda i, kv, h: i // kv, count=lambda kv, h: kv * kv),
    ),
    ("copied-h-times", partial(interleaved, times=lambda kv, h: h)),
    ("copied-h-times", partial(listed, which=lambda i, kv, h: i // h, count=lambda kv, h: kv * h)),
    ("not-shared-out", lambda k, h: k),
    ("not-shared-out", partial(listed, which=lambda i, kv, h: i, count=lambda kv, h: kv)),
    ("a-copy-too-few", partial(interleaved, times=lambda kv, h: h // kv - 1)),
    ("a-copy-too-few", lambda k, h: _copied(k, group(k, h) - 1)),
    ("a-copy-too-many", partial(interleaved, times=lambda kv, h: h // kv + 1)),
    ("a-copy-too-many", lambda k, h: _copied(k, group(k, h) + 1)),
    ("tokens-copied", lambda k, h: k.repeat_interleave(group(k, h), 2).view(len(k), h, *k.shape[2:])),
    (
        "tokens-copied",
        lambda k, h: k[:, :, :, None].expand(-1, -1, -1, group(k, h), -1).reshape(len(k), h, *k.shape[2:]),
    ),
    ("features-copied", lambda k, h: k.repeat_interleave(group(k, h), -1).view(len(k), h, *k.shape[2:])),
    (
        "features-copied",
        lambda k, h: k[..., None].expand(*k.shape, group(k, h)).reshape(len(k), h, *k.shape[2:]),
    ),
    ("sentences-copied", lambda k, h: k.repeat(group(k, h), 1, 1, 1).view(len(k), h, *k.shape[2:])),
    ("sentences-copied", lambda k, h: torch.cat([k] * group(k, h)).reshape(len(k), h, *k.shape[2:])),
    ("axis-of-its-own", lambda k, h: torch.stack([k] * group(k, h), dim=2)),
    ("axis-of-its-own", lambda k, h: k[:, :, None].expand(-1, -1, group(k, h), -1, -1)),
    ("heads-behind-tokens", lambda k, h: interleaved(k, h).transpose(1, 2)),
    ("heads-behind-tokens", lambda k, h: torch.stack([k[:, i // group(k, h)] for i in range(h)], dim=2)),
    ("averaged", lambda k, h: k.mean(1, keepdim=True).repeat(1, h, 1, 1)),
    ("averaged", lambda k, h: torch.stack([k.mean(1)] * h, 1)),
    ("divided", lambda k, h: interleaved(k, h) / group(k, h)),
    ("divided", lambda k, h: listed(k / h * k.shape[1], h)),
    ("first-of-the-group", partial(written_into, only=lambda i, group: i % group == 0)),
    ("first-of-the-group", lambda k, h: _first_only(k, h)),
    ("next-group", partial(listed, which=lambda i, kv, h: (i // (h // kv) + 1) % kv)),
    ("next-group", lambda k, h: interleaved(k.roll(-1, 1), h)),
]

RIGHT = [listed, written_into, interleaved, expanded, by_index, by_cat, by_einsum, by_stack]

UNLISTED = [
    ("last two axes", lambda k, h: interleaved(k, h).mT),
    ("multiplied by the number of heads", lambda k, h: interleaved(k, h) * group(k, h)),
    ("last key head", partial(written_into, which=lambda i, group, kv: kv - 1)),
    ("as many heads as copies", lambda k, h: interleaved(k, h)[:, : group(k, h)]),
    ("no more heads", lambda k, h: k.repeat_interleave(group(k, h), 2)),
    ("no more heads", lambda k, h: k.repeat(1, 1, 1, group(k, h))),
    ("side by side|put side", lambda k, h: interleaved(k, h).transpose(1, 2).flatten(2)),
    ("read the key heads", lambda k, h: _swapped(k, h)),
    ("read the key heads", lambda k, h: interleaved(k, h)[:, torch.randperm(h, generator=_seeded())]),
    ("shifted by one", lambda k, h: interleaved(k, h).roll(1, 3)),
    (
        "no key head as it came|off by the same",
        lambda k, h: interleaved(k, h) + (torch.arange(h) % 2)[:, None, None],
    ),
    ("reverse", lambda k, h: interleaved(k, h).flip(2)),
    ("Heads come first", lambda k, h: [k[:, i // group(k, h)] for i in range(h)]),
    ("added up", lambda k, h: k.sum(1, keepdim=True).expand(-1, h, -1, -1)),
    ("nothing", lambda k, h: print(interleaved(k, h).shape)),
]


def _copied(k, times):
    return torch.cat([k[:, j : j + 1].expand(-1, times, -1, -1) for j in range(k.shape[1])], dim=1)


def _first_only(k, h):
    b, kv, n, d_k = k.shape
    out = torch.zeros(b, kv, h // kv, n, d_k, dtype=k.dtype)
    out[:, :, 0] = k
    return out.flatten(1, 2)


def _swapped(k, h):
    out = interleaved(k, h).clone()
    out[:, 1] = k[:, -1]
    return out


def _seeded():
    return torch.Generator().manual_seed(4)
