"""whole_attention as students write it: answers of lesson 07 where they fit, and rows that may be empty."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.exercises.written import multi_head_attention as before
from tests.exercises.written.layer_workbenches import einsum_layer, looped

INF = float("inf")


def parts(x, w_q, w_k, w_v, h):
    return [(x @ w).unflatten(-1, (h, -1)).transpose(1, 2) for w in (w_q, w_k, w_v)]


def joined(z, w_o):
    return z.transpose(1, 2).flatten(2) @ w_o


def summed(x, w_q, w_k, w_v, w_o, h, allowed):
    b, n, d_model = x.shape
    d_k = d_model // h
    out = torch.zeros_like(x)
    for i in range(h):
        mine = slice(i * d_k, (i + 1) * d_k)
        s = (x @ w_q[:, mine]) @ (x @ w_k[:, mine]).mT / d_k**0.5
        here = allowed[:, 0]
        some = here.any(-1, keepdim=True)
        w = s.masked_fill(~here & some, -INF).softmax(-1) * some
        out = out + w @ (x @ w_v[:, mine]) @ w_o[mine]
    return out


def lowest_then_zero(x, w_q, w_k, w_v, w_o, h, allowed):
    q, k, v = parts(x, w_q, w_k, w_v, h)
    s = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    w = torch.where(allowed, s, torch.finfo(s.dtype).min).softmax(-1)
    return joined(torch.where(allowed, w, torch.zeros(())), w_o)


def lowest_then_zero_joined(x, w_q, w_k, w_v, w_o, h, allowed):
    q, k, v = parts(x, w_q, w_k, w_v, h)
    s = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    w = torch.where(allowed, s, torch.finfo(s.dtype).min).softmax(-1)
    return joined((w * allowed) @ v, w_o)


def exponentials(x, w_q, w_k, w_v, w_o, h, allowed):
    q, k, v = parts(x, w_q, w_k, w_v, h)
    s = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~allowed, -1e30)
    powers = (s - s.amax(-1, keepdim=True)).exp() * allowed
    total = powers.sum(-1, keepdim=True)
    return joined((powers / total.masked_fill(total == 0, 1)) @ v, w_o)


def one_by_one(x, w_q, w_k, w_v, w_o, h, allowed):
    b, n, d_model = x.shape
    sentences = []
    for s in range(b):
        rows = []
        for t in range(n):
            keys = allowed[s, 0, t].nonzero()[:, 0]
            if len(keys) == 0:
                rows.append(x.new_zeros(d_model))
                continue
            q = (x[s, t] @ w_q).view(h, -1)
            k, v = ((x[s, keys] @ w).view(len(keys), h, -1) for w in (w_k, w_v))
            w = torch.einsum("hd,khd->hk", q, k).div(math.sqrt(d_model / h)).softmax(-1)
            rows.append(torch.einsum("hk,khd->hd", w, v).flatten() @ w_o)
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)


class Layer(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.h = h

    def forward(self, x, w_q, w_k, w_v, w_o, allowed):
        q, k, v = (torch.stack((x @ w).chunk(self.h, -1), 1) for w in (w_q, w_k, w_v))
        s = torch.matmul(q, k.permute(0, 1, 3, 2)) / np.sqrt(q.size(-1))
        w = F.softmax(s.masked_fill(allowed.logical_not(), -INF), dim=3)
        w = w.masked_fill(~allowed.any(3, keepdim=True), 0)
        return torch.cat(torch.matmul(w, v).unbind(1), 2) @ w_o


def as_a_module(x, w_q, w_k, w_v, w_o, h, allowed):
    return Layer(h)(x, w_q, w_k, w_v, w_o, allowed)


def folded(x, w_q, w_k, w_v, w_o, h, allowed):
    b, n, d_model = x.shape
    q, k, v = (
        t.reshape(b, n, h, -1).permute(0, 2, 1, 3).reshape(b * h, n, -1)
        for t in (x @ torch.cat([w_q, w_k, w_v], 1)).split(d_model, -1)
    )
    mask = allowed.expand(b, h, n, n).reshape(b * h, n, n)
    s = torch.baddbmm(
        torch.zeros(b * h, n, n, dtype=x.dtype).masked_fill(~mask, -1e9), q, k.mT, alpha=(h / d_model) ** 0.5
    )
    z = torch.bmm(s.softmax(-1), v) * mask.any(-1, keepdim=True)
    return z.view(b, h, n, -1).permute(0, 2, 1, 3).reshape(b, n, d_model) @ w_o


def emptied_at_the_end(x, w_q, w_k, w_v, w_o, h, allowed):
    q, k, v = parts(x, w_q, w_k, w_v, h)
    s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~allowed, -1e9)
    return (joined(s.softmax(-1) @ v, w_o)).masked_fill(~allowed[:, 0].any(-1, keepdim=True), 0.0)


def fused(x, w_q, w_k, w_v, w_o, h, allowed):
    return joined(F.scaled_dot_product_attention(*parts(x, w_q, w_k, w_v, h), attn_mask=allowed), w_o)


RIGHT = [
    summed,
    lowest_then_zero_joined,
    exponentials,
    one_by_one,
    as_a_module,
    folded,
    emptied_at_the_end,
    fused,
    before.fused_layer,
    before.chunked_layer,
]


def in_one_go(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    h,
    allowed,
    *,
    hide=lambda s, m: s.masked_fill(~m, -1e9),
    late=lambda w, m: w,
    last=lambda y, x, m: y,
):
    """The layer without a loop, with every step that concerns rows open to a slip."""
    q, k, v = parts(x, w_q, w_k, w_v, h)
    w = late(hide(q @ k.mT / q.shape[-1] ** 0.5, allowed).softmax(-1), allowed)
    return last(joined(w @ v, w_o), x, allowed)


def with_rows(**steps):
    return partial(in_one_go, **steps)


def row(mask):
    """Rows with something to attend to: (b, 1, n, 1)."""
    return mask.sum(-1, keepdim=True) > 0


def alone(mask, place):
    """Each empty row gets one open key, by place(query, n)."""
    out = mask.clone()
    for s, _, t in (~mask.any(-1)).nonzero().tolist():
        out[s, 0, t, place(t, mask.shape[-1])] = True
    return out


def lower(scores, mask):
    return torch.where(mask, scores, scores.new_tensor(-INF))


def spoilt(y, fine):
    """NaN beside every row that is not fine, in its sentence."""
    return torch.where(fine.all(1, keepdim=True) | ~fine, y, math.nan)


def small(s, mask):
    powers = s.exp() * mask
    return powers / (1 + powers.sum(-1, keepdim=True))


def loop_with(**steps):
    return partial(looped, **steps)


def tidy(w):
    return torch.nan_to_num(w, nan=0.0)


EMPTY = [
    ("empty-rows-nan", with_rows(hide=lower)),
    ("empty-rows-nan", looped),
    ("empty-rows-nan", with_rows(hide=lambda s, m: s + m.log())),
    ("empty-rows-uniform", with_rows()),
    ("empty-rows-uniform", einsum_layer),
    ("empty-rows-attend-freely", with_rows(hide=lambda s, m: lower(s, m | ~row(m)))),
    (
        "empty-rows-attend-freely",
        with_rows(hide=lambda s, m: torch.where(row(m), s.masked_fill(~m, -1e9), s)),
    ),
    ("empty-rows-look-at-the-first", with_rows(hide=lambda s, m: lower(s, alone(m, lambda t, n: 0)))),
    (
        "empty-rows-look-at-the-first",
        loop_with(hide=lambda s, m: lower(s, torch.cat([m[:, :1] | ~m.any(1, keepdim=True), m[:, 1:]], 1))),
    ),
    ("empty-rows-look-at-themselves", with_rows(hide=lambda s, m: lower(s, alone(m, lambda t, n: t)))),
    (
        "empty-rows-look-at-themselves",
        loop_with(hide=lambda s, m: lower(s, m | torch.diag(~m.any(1)))),
    ),
    ("empty-rows-causal", with_rows(hide=lambda s, m: lower(s, alone(m, lambda t, n: slice(0, t + 1))))),
    (
        "empty-rows-causal",
        loop_with(hide=lambda s, m: lower(s, m | (~m.any(1, keepdim=True) & torch.ones_like(m).tril()))),
    ),
    ("empty-rows-nan-to-one", with_rows(hide=lower, late=lambda w, m: torch.nan_to_num(w, nan=1.0))),
    ("empty-rows-nan-to-one", with_rows(late=lambda w, m: torch.where(row(m), w, 1.0))),
    ("empty-rows-keep-the-token", with_rows(last=lambda y, x, m: torch.where(row(m)[:, 0], y, x))),
    ("empty-rows-keep-the-token", with_rows(hide=lower, last=lambda y, x, m: torch.where(y.isnan(), x, y))),
    ("whole-sentence-emptied", with_rows(last=lambda y, x, m: y * row(m).flatten(1).all(1)[:, None, None])),
    (
        "whole-sentence-emptied",
        with_rows(
            last=lambda y, x, m: torch.stack(
                [0 * a if (~c.any(-1)).any() else a for a, c in zip(y, m, strict=True)]
            )
        ),
    ),
    ("everything-emptied", with_rows(last=lambda y, x, m: y if bool(row(m).all()) else torch.zeros_like(y))),
    ("everything-emptied", with_rows(last=lambda y, x, m: y * int((m.sum(-1) > 0).all()))),
    ("masked-rows-all-zero", with_rows(late=lambda w, m: w * m.all(-1, keepdim=True))),
    (
        "masked-rows-all-zero",
        with_rows(last=lambda y, x, m: torch.where(m[:, 0].all(-1, keepdim=True), y, torch.zeros(()))),
    ),
    ("mask-polarity", with_rows(hide=lambda s, m: lower(s, ~m), late=lambda w, m: tidy(w))),
    ("over-the-queries", loop_with(soft=lambda s: tidy(torch.softmax(s, 0)))),
]


def tiny(x, w_q, w_k, w_v, w_o, h, allowed):
    q, k, v = parts(x, w_q, w_k, w_v, h)
    return joined(small(q @ k.mT / q.shape[-1] ** 0.5, allowed) @ v, w_o)


def tiny_in_a_loop(s):
    return s.exp() / (s.exp().sum(1, keepdim=True) + 1.0)


EMPTY += [("tiny-denominator", tiny), ("tiny-denominator", loop_with(soft=tiny_in_a_loop))]

# In lesson 07 some calls have no mask, and none has a row of nothing: there these are told otherwise.
ELSEWHERE = {
    "mask-large-after-softmax",
    "mask-infinity-after-softmax",
    "heads-not-moved",
    "heads-moved-at-the-end-only",
    "causal",
    "w_o-transposed+projections-transposed+mask-ignored",
}

# What lesson 07 tells otherwise, since there a call may have no mask, and no row is empty.
LISTED_HERE = {
    "too large by 1": "tiny-denominator",
    "the wrong way round": "mask-polarity",
    "Everything is NaN": "mask-not-a-number",
}
IN_OTHER_WORDS = {
    "own place is hidden": "The key at a query's own place gets no weight",
    "an axis that was put into the mask": "it stops with an error",
    "divided once more, by their sum over the heads": "0 is divided by 0",
}

WRONG = [
    *EMPTY,
    *(pair for pair in before.WRONG if pair[0] not in ELSEWHERE),
    *((LISTED_HERE[words], fn) for words, fn in before.UNLISTED if words in LISTED_HERE),
]

UNLISTED = [
    *((IN_OTHER_WORDS.get(words, words), fn) for words, fn in before.UNLISTED if words not in LISTED_HERE),
    ("Everything is 0, save for queries with nothing", with_rows(late=lambda w, m: w * ~row(m))),
    (
        "Everything is 0, save for queries with nothing",
        with_rows(last=lambda y, x, m: y.masked_fill(row(m)[:, 0], 0)),
    ),
    (
        "gradients of `x`, `w_q` and `w_k` are NaN",
        with_rows(hide=lambda s, m: s + m.log(), late=lambda w, m: tidy(w)),
    ),
    ("gradients of .* are NaN: the weights were", with_rows(hide=lower, last=lambda y, x, m: tidy(y))),
    ("no gradient reaches `w_q` and `w_k`", with_rows(hide=lower, late=lambda w, m: tidy(w.detach()))),
    ("no gradient reaches", lambda *given: in_one_go(*given, late=lambda w, m: w * row(m)).detach()),
    (
        r"output should be 0 \(it goes wrong in sentence 3 only\); yours still attends",
        with_rows(late=lambda w, m: torch.cat([w[:-1] * row(m)[:-1], w[-1:]])),
    ),
    (
        "the output should be 0; yours is `7` throughout",
        with_rows(last=lambda y, x, m: torch.where(row(m)[:, 0], y, 7.0)),
    ),
    (
        "the output should be 0; yours is the same vector for all of them",
        with_rows(last=lambda y, x, m: torch.where(row(m)[:, 0], y, x[0, 0])),
    ),
    ("the output should be 0; yours is infinite", with_rows(last=lambda y, x, m: y / row(m)[:, 0])),
    (
        "As soon as one query has nothing to attend to, others go wrong as well",
        with_rows(late=lambda w, m: w * row(m) * row(m).roll(1, 2)),
    ),
    (
        r"others go wrong as well \(it goes wrong in sentences 1 and 3 only\). They turn to NaN",
        with_rows(
            late=lambda w, m: w * row(m),
            last=lambda y, x, m: spoilt(y, row(m)[:, 0]),
        ),
    ),
]
