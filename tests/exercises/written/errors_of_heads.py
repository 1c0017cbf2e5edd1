"""Answers that stop with an error in a well-known way, and what the message must say of it."""

from __future__ import annotations

import torch


def cut(y, h):
    return y.unflatten(-1, (h, -1)).transpose(1, 2)


def attended(turn, x, w_q, w_k, w_v, h):
    q, k, v = (cut(x @ w, h) for w in (w_q, w_k, w_v))
    return ((q @ turn(k) / q.shape[-1] ** 0.5).softmax(-1) @ v).transpose(1, 2).flatten(2)


def one_by_one(take, x, w_q, w_k, w_v, h, turn=lambda k: k.mT):
    found, d_k = [], x.shape[-1] // h
    for i in range(h):
        q, k, v = (take(x, w, slice(i * d_k, (i + 1) * d_k)) for w in (w_q, w_k, w_v))
        found.append((q @ turn(k) / d_k**0.5).softmax(-1) @ v)
    return torch.cat(found, -1)


def columns(x, w, mine):
    return x @ w[:, mine]


def keys_in_one_piece(x, w_q, w_k, w_v, h):
    found, d_k = [], x.shape[-1] // h
    for i in range(h):
        mine = slice(i * d_k, (i + 1) * d_k)
        found.append((x @ w_q[:, mine] @ (x @ w_k).mT / d_k**0.5).softmax(-1) @ (x @ w_v[:, mine]))
    return torch.cat(found, -1)


def input_overwritten(x, w_q, w_k, w_v, h):
    found, d_k = [], x.shape[-1] // h
    for i in range(h):
        q, k, v = (columns(x, w, slice(i * d_k, (i + 1) * d_k)) for w in (w_q, w_k, w_v))
        x = (q @ k.mT / d_k**0.5).softmax(-1) @ v
        found.append(x)
    return torch.cat(found, -1)


def cut_before(x, w_q, w_k, w_v, h):
    q, k, v = (cut(x, h) @ w for w in (w_q, w_k, w_v))
    return (q @ k.mT).softmax(-1) @ v


def joined_below(x, w_q, w_k, w_v, h):
    return (x @ torch.cat([w_q, w_k, w_v])).chunk(3, -1)[0]


# For functions of (x, w_q, w_k, w_v, h).
HEADS = [
    ("keys are not transposed", lambda *a: attended(lambda k: k, *a)),
    ("not the last two.*should meet `d_k`", lambda *a: attended(lambda k: k.transpose(1, 2), *a)),
    ("not the last two", lambda *a: attended(lambda k: k.permute(3, 2, 1, 0), *a)),
    ("keys are not transposed", lambda *a: one_by_one(columns, *a, turn=lambda k: k)),
    (
        r"keys of one head, `\(d_k, n, b\)`",
        lambda *a: one_by_one(columns, *a, turn=lambda k: k.permute(2, 1, 0)),
    ),
    ("rows of `w_q`.*A head owns columns", lambda *a: one_by_one(lambda x, w, mine: x @ w[mine], *a)),
    ("matrix stands on the left", lambda *a: one_by_one(lambda x, w, mine: w[:, mine] @ x, *a)),
    ("keys are not cut", keys_in_one_piece),
    ("no longer the input", input_overwritten),
    ("cut before it is projected", cut_before),
    ("Joined below each other", joined_below),
]


def behind(join, x, w_q, w_k, w_v, w_o, h, mask=None):
    q, k, v = (cut(x @ w, h) for w in (w_q, w_k, w_v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    scores = scores if mask is None else scores.masked_fill(~mask, -1e9)
    return join(scores.softmax(-1) @ v, w_o, h)


def columns_of_w_o(z, w, h):
    return sum(z[:, i] @ part for i, part in enumerate(w.chunk(h, 1)))


def mask_in_the_way(x, w_q, w_k, w_v, w_o, h, mask=None):
    mask = None if mask is None else mask.unsqueeze(1)
    return behind(lambda z, w, h: z.transpose(1, 2).flatten(2) @ w, x, w_q, w_k, w_v, w_o, h, mask)


# For functions of (x, w_q, w_k, w_v, w_o, h, mask).
LAYERS = [
    ("W_O stands on the left", lambda *a: behind(lambda z, w, h: w @ z.transpose(1, 2).flatten(2), *a)),
    ("columns of W_O", lambda *a: behind(columns_of_w_o, *a)),
    ("averaged or added up", lambda *a: behind(lambda z, w, h: z.mean(1) @ w, *a)),
    ("joined along the tokens", lambda *a: behind(lambda z, w, h: z.flatten(1, 2) @ w, *a)),
    ("a head meets all of W_O", lambda *a: behind(lambda z, w, h: z @ w, *a)),
    ("an axis that was put into the mask", mask_in_the_way),
    ("keys are not transposed", lambda x, q, k, v, o, h, mask=None: attended(lambda t: t, x, q, k, v, h) @ o),
]


def _pairs(z, w):
    return zip(z.unbind(1), w.chunk(z.shape[1], 1), strict=False)


# For functions of (heads, w_o).
SHARES = [
    ("columns of W_O", lambda z, w: torch.stack([a @ b for a, b in _pairs(z, w)], 1)),
    ("a head meets all of W_O", lambda z, w: z @ w),
]

# For functions of (lengths, n).
LENGTHS = [
    (
        "positions `\\(n\\)` and the lengths `\\(b\\)` lie along the same axis",
        lambda lengths, n: (torch.arange(n) < torch.as_tensor(lengths))[:, None, None],
    ),
]
