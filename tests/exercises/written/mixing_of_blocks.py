"""mixing_of_blocks as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch


def sliced(
    h,
    width,
    *,
    size=lambda h, width: math.ceil(width / h),
    start=lambda i, size, h, width: i * size,
    stop=lambda i, size, h, width: (i + 1) * size,
    value=lambda i, size: 1.0,
    fill=0.0,
    rows=lambda h: range(h),
):
    """Block by block, with slices."""
    mixing = torch.full((h, width), fill)
    s = size(h, width)
    for i in rows(h):
        mixing[i, start(i, s, h, width) : stop(i, s, h, width)] = value(i, s)
    return mixing


def one_by_one(h, width, *, reads=lambda i, r, size, h: i * size <= r < (i + 1) * size, size=None):
    s = (width + h - 1) // h if size is None else size(h, width)
    return torch.tensor([[float(reads(i, r, s, h)) for r in range(width)] for i in range(h)])


def by_owner(h, width, *, owner=lambda r, h, width: r // -(-width // h), last=lambda same: same.float()):
    r = torch.arange(width)
    return last(torch.arange(h).unsqueeze(1) == owner(r, h, width))


def by_numpy(h, width):
    size = int(np.ceil(width / h))
    full = np.kron(np.eye(h, dtype=np.float32), np.ones((1, size), dtype=np.float32))
    return torch.from_numpy(full[:, :width].copy())


def by_repeating(h, width):
    return torch.eye(h).repeat_interleave(-(-width // h), dim=1)[:, :width]


def by_one_hot(h, width):
    owner = torch.arange(width).div(math.ceil(width / h), rounding_mode="floor")
    return torch.nn.functional.one_hot(owner, h).T.float()


def by_splitting(h, width):
    out = torch.zeros(h, width)
    for head, features in enumerate(torch.arange(width).split(math.ceil(width / h))):
        out[head, features] = 1
    return out


def by_chunk(h, width):
    rows = [torch.zeros(width) for _ in range(h)]
    for row, block in zip(rows, torch.arange(width).chunk(h), strict=False):
        row[block] = 1.0
    return torch.stack(rows)


def by_block_diag(h, width):
    size = math.ceil(width / h)
    return torch.block_diag(*[torch.ones(1, size)] * h)[:, :width].contiguous()


def by_tensor_split(h, width):
    out = torch.zeros(h, width)
    for head, features in enumerate(torch.arange(width).tensor_split(h)):
        out[head, features] = 1
    return out


def by_array_split(h, width):
    out = np.zeros((h, width), dtype=np.float32)
    for row, block in zip(out, np.array_split(np.arange(width), h), strict=True):
        row[block] = 1
    return torch.from_numpy(out)


def in_turn(h, width):
    mixing = torch.zeros(h, width)
    for r in range(width):
        mixing[r % h, r] = 1
    return mixing


def strided(h, width):
    mixing = torch.zeros(h, width)
    for i in range(h):
        mixing[i, i::h] = 1
    return mixing


def down(h, width):
    return width // h


def to_the_end(i, size, h, width):
    return width if i == h - 1 else (i + 1) * size


WRONG = [
    ("rounded-down", partial(sliced, size=down)),
    ("rounded-down", partial(one_by_one, size=down)),
    ("rounded-down", partial(sliced, size=lambda h, width: int(width / h))),
    ("rest-to-the-last", partial(sliced, size=down, stop=to_the_end)),
    (
        "rest-to-the-last",
        partial(one_by_one, size=down, reads=lambda i, r, s, h: min(r // max(s, 1), h - 1) == i),
    ),
    ("spread-evenly", by_tensor_split),
    ("spread-evenly", by_array_split),
    ("dealt-in-turn", in_turn),
    ("dealt-in-turn", strided),
    ("dealt-in-turn", partial(by_owner, owner=lambda r, h, width: r % h)),
    ("columns-for-heads", lambda h, width: by_owner(h, width).T),
    ("columns-for-heads", lambda h, width: by_numpy(h, width).transpose(0, 1)),
    ("ones-everywhere", lambda h, width: torch.ones(h, width)),
    ("ones-everywhere", partial(sliced, fill=1.0)),
    ("rows-sum-to-one", partial(sliced, value=lambda i, size: 1 / size)),
    ("rows-sum-to-one", lambda h, width: by_repeating(h, width) / -(-width // h)),
    ("up-to-its-block", partial(sliced, start=lambda i, size, h, width: 0)),
    ("up-to-its-block", partial(one_by_one, reads=lambda i, r, s, h: r // s <= i)),
    ("from-its-block-on", partial(sliced, stop=lambda i, size, h, width: width)),
    ("from-its-block-on", partial(one_by_one, reads=lambda i, r, s, h: r >= i * s)),
    ("blocks-in-reverse", lambda h, width: by_owner(h, width).flip(0)),
    ("blocks-in-reverse", partial(one_by_one, reads=lambda i, r, s, h: r // s == h - 1 - i)),
    ("one-feature-too-many", partial(sliced, stop=lambda i, size, h, width: (i + 1) * size + 1)),
    ("one-feature-too-many", partial(one_by_one, reads=lambda i, r, s, h: i * s <= r <= (i + 1) * s)),
    (
        "blocks-from-feature-one",
        partial(
            sliced,
            start=lambda i, size, h, width: i * size + 1,
            stop=lambda i, size, h, width: (i + 1) * size + 1,
        ),
    ),
    ("blocks-from-feature-one", partial(one_by_one, reads=lambda i, r, s, h: r > 0 and (r - 1) // s == i)),
    ("one-feature-each", lambda h, width: torch.eye(h, width)),
    ("one-feature-each", partial(one_by_one, reads=lambda i, r, s, h: i == r)),
    ("no-floats", partial(by_owner, last=lambda same: same.int())),
    ("no-floats", lambda h, width: one_by_one(h, width).long()),
    ("mask-for-numbers", partial(by_owner, last=lambda same: same)),
    ("mask-for-numbers", lambda h, width: one_by_one(h, width) > 0),
]

RIGHT = [
    sliced,
    one_by_one,
    by_owner,
    by_numpy,
    by_repeating,
    by_one_hot,
    by_splitting,
    by_block_diag,
]

UNLISTED = [
    ("also where h divides", partial(sliced, size=lambda h, width: width // h + 1)),
    ("divided by how many ones", lambda h, w: by_owner(h, w) / by_owner(h, w).sum(1, keepdim=True)),
    ("-1 stands", lambda h, w: 2 * by_owner(h, w) - 1),
    ("-inf", lambda h, w: by_owner(h, w).log()),
    ("exchanged|opposite", lambda h, w: 1 - by_owner(h, w)),
    ("head's number", lambda h, w: by_owner(h, w) * torch.arange(1, h + 1.0)[:, None]),
    ("dealt in turn, `%` by the length", partial(by_owner, owner=lambda r, h, w: r % -(-w // h))),
    ("block is h long", partial(by_owner, owner=lambda r, h, w: r // h)),
    ("lengths of the blocks", lambda h, w: by_owner(h, w).sum(1)),
    ("last head has no block", partial(sliced, rows=lambda h: range(h - 1))),
    ("first head has no block", partial(sliced, rows=lambda h: range(1, h))),
    ("axis too many", lambda h, w: by_owner(h, w)[None]),
    ("block of each feature", lambda h, w: (torch.arange(w) // -(-w // h)).float()),
    ("softmax", lambda h, w: by_owner(h, w).softmax(-1)),
    ("too early", partial(sliced, stop=lambda i, s, h, w: (i + 1) * s - 1)),
    ("should read", partial(sliced, rows=lambda h: range(0, h, 2))),
    ("holds 0.5", lambda h, w: by_owner(h, w).clamp(min=0.5)),
    ("in one", lambda h, w: by_owner(h, w).flatten()),
    ("nothing", lambda h, w: print(by_owner(h, w))),
]
