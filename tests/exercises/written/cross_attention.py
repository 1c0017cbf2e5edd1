"""cross_attention as students write it: each known mistake twice, right ones, unlisted ones."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.exercises.written.examined import cross_attention as examined

INF = float("inf")


def looped(*, q_of="y", kv_of="memory", q_by=0, k_by=1, v_by=2, turned=False, scale=None, soften=None,
           hide="scores", which=None, fuse=None, finish=None):  # fmt: skip
    """Head by head, with slices; each setting changes one step."""

    def cross(y, memory, w_q, w_k, w_v, w_o, h, mask=None):
        d_k = y.shape[-1] // h
        given, matrices = {"y": y, "memory": memory}, [w_q, w_k, w_v]
        matrices = [w.T for w in matrices] if turned else matrices
        big_q, big_k, big_v = (
            given[of] @ matrices[by] for of, by in ((q_of, q_by), (kv_of, k_by), (kv_of, v_by))
        )
        heads = []
        for i in range(h):
            j = i if which is None else which(i)
            mine = slice(j * d_k, (j + 1) * d_k)
            scores = big_q[..., mine] @ big_k[..., mine].mT
            scores = scores / (d_k**0.5 if scale is None else scale(d_k, h))
            here = None if mask is None else mask[:, 0]
            if here is not None and hide == "scores":
                scores = scores.masked_fill(~here, -INF)
            if here is not None and hide == "open":
                scores = scores.masked_fill(here, -INF)
            weights = scores.softmax(-1) if soften is None else soften(scores, here)
            if here is not None and hide == "late":
                weights = weights * here
            heads.append(weights @ big_v[..., mine])
        concat = torch.cat(heads, -1)
        out = concat @ w_o if fuse is None else fuse(concat, w_o)
        return out if finish is None else finish(out, y)

    return cross


def einsum(*, q_of=0, kv_of=1, take=(0, 1, 2), turned=False, factor=None, soften=None, hide=None, late=None,
           cut="b n (h d)", fuse=True, finish=None):  # fmt: skip
    """All heads at once, with einsum; each setting changes one step."""

    def split(x, h):
        if cut == "view":
            return x.contiguous().view(x.shape[0], h, x.shape[1], -1)
        if cut == "apart":
            return x.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)
        if cut == "first":
            return torch.stack([x[..., : x.shape[-1] // h]] * h, 1)
        return torch.stack(x.chunk(h, -1), 1)

    def cross(y, memory, w_q, w_k, w_v, w_o, h, mask=None):
        given = (y, memory)
        w = [m.mT if turned else m for m in ((w_q, w_k, w_v)[i] for i in take)]
        q, k, v = (split(given[of] @ m, h) for of, m in zip((q_of, kv_of, kv_of), w, strict=True))
        s = torch.einsum("bhqd,bhkd->bhqk", q, k)
        s = s * (q.shape[-1] ** -0.5 if factor is None else factor(q.shape[-1], h))
        if mask is not None:
            s = torch.where(mask, s, -INF) if hide is None else hide(s, mask)
        weights = F.softmax(s, 3) if soften is None else soften(s)
        if mask is not None and late is not None:
            weights = late(weights, mask)
        heads = torch.einsum("bhqk,bhkd->bhqd", weights, v)
        if cut == "apart":
            concat = heads.permute(0, 2, 3, 1).flatten(2)
        elif cut == "joined badly":
            concat = heads.reshape(heads.shape[0], heads.shape[2], -1)
        else:
            concat = torch.cat(heads.unbind(1), -1)
        out = F.linear(concat, w_o.T) if fuse is True else fuse(concat, w_o)
        return out if finish is None else finish(out, y)

    return cross


def in_torch(y, memory, w_q, w_k, w_v, w_o, h, mask=None):
    mha = nn.MultiheadAttention(y.shape[-1], h, bias=False, batch_first=True, dtype=y.dtype)
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
        mha.out_proj.weight.copy_(w_o.T)
    hidden = None if mask is None else ~mask[:, 0, 0]
    return mha(y, memory, memory, key_padding_mask=hidden, need_weights=False)[0]


def fused(y, memory, w_q, w_k, w_v, w_o, h, mask=None):
    q, k, v = (
        (x @ w).unflatten(-1, (h, -1)).transpose(1, 2) for x, w in ((y, w_q), (memory, w_k), (memory, w_v))
    )
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2) @ w_o


def one_projection_for_both(y, memory, w_q, w_k, w_v, w_o, h, mask=None):
    b, n_k, d = memory.shape
    k, v = (memory @ torch.cat([w_k, w_v], 1)).view(b, n_k, 2, h, d // h).permute(2, 0, 3, 1, 4)
    q = (y @ w_q).reshape(b, -1, h, d // h).swapaxes(1, 2)
    s = q @ k.swapaxes(-1, -2) / math.sqrt(d // h)
    if mask is not None:
        s = s + (1 - mask.to(s.dtype)) * -1e9
    return (s.softmax(-1) @ v).swapaxes(1, 2).reshape(b, -1, d) @ w_o


def shares_added(y, memory, w_q, w_k, w_v, w_o, h, mask=None):
    d_k, out = y.shape[-1] // h, 0
    for i in range(h):
        q, k, v = (x @ w[:, i * d_k : (i + 1) * d_k] for x, w in ((y, w_q), (memory, w_k), (memory, w_v)))
        s = torch.bmm(q, k.transpose(1, 2)) * d_k**-0.5
        s = s if mask is None else s.masked_fill(mask[:, 0] == 0, torch.finfo(s.dtype).min)
        out = out + torch.bmm(s.softmax(2), v) @ w_o[i * d_k : (i + 1) * d_k]
    return out


def scores_themselves(scores, here):
    return scores if here is None else scores.masked_fill(~here, 0.0)


def also_causal(scores, here=None):
    return scores.masked_fill(torch.ones_like(scores).triu(1) == 1, -1e9).softmax(-1)


WRONG = [
    ("target-asks-itself", looped(kv_of="y")),
    ("target-asks-itself", einsum(kv_of=0)),
    ("source-asks-itself", looped(q_of="memory")),
    ("source-asks-itself", einsum(q_of=1)),
    ("roles-exchanged", looped(q_of="memory", kv_of="y")),
    ("roles-exchanged", einsum(q_of=1, kv_of=0)),
    ("key-and-value-matrices-swapped", looped(k_by=2, v_by=1)),
    ("key-and-value-matrices-swapped", einsum(take=(0, 2, 1))),
    ("query-and-key-matrices-swapped", looped(q_by=1, k_by=0)),
    ("query-and-key-matrices-swapped", einsum(take=(1, 0, 2))),
    ("query-matrix-for-keys", looped(k_by=0)),
    ("query-matrix-for-keys", einsum(take=(0, 0, 2))),
    ("key-matrix-for-values", looped(v_by=1)),
    ("key-matrix-for-values", einsum(take=(0, 1, 1))),
    ("projections-transposed", looped(turned=True)),
    ("projections-transposed", einsum(turned=True)),
    ("no-scale", looped(scale=lambda d_k, h: 1)),
    ("no-scale", einsum(factor=lambda d_k, h: 1.0)),
    ("scale-sqrt-d_model", looped(scale=lambda d_k, h: math.sqrt(d_k * h))),
    ("scale-sqrt-d_model", einsum(factor=lambda d_k, h: (d_k * h) ** -0.5)),
    ("over-the-queries", looped(soften=lambda scores, here: scores.softmax(1))),
    ("over-the-queries", einsum(soften=lambda s: F.softmax(s, -2))),
    ("no-softmax", looped(soften=scores_themselves, hide="not")),
    ("no-softmax", einsum(soften=lambda s: s, hide=lambda s, m: s * m)),
    ("mask-ignored", looped(hide="not")),
    ("mask-ignored", einsum(hide=lambda s, m: s)),
    ("mask-polarity", looped(hide="open")),
    ("mask-polarity", einsum(hide=lambda s, m: torch.where(m, -INF, s))),
    ("mask-after-softmax", looped(hide="late")),
    ("mask-after-softmax", einsum(hide=lambda s, m: s, late=lambda w, m: torch.where(m, w, 0.0))),
    ("causal", looped(soften=also_causal)),
    ("causal", einsum(soften=also_causal)),
    ("view-without-transpose", einsum(cut="view")),
    (
        "view-without-transpose",
        lambda y, memory, w_q, w_k, w_v, w_o, h, mask=None: (
            F.scaled_dot_product_attention(
                *(
                    (x @ w).reshape(len(x), h, x.shape[1], x.shape[2] // h)
                    for x, w in ((y, w_q), (memory, w_k), (memory, w_v))
                ),
                attn_mask=mask,
            )
            .transpose(1, 2)
            .flatten(2)
            @ w_o
        ),
    ),
    ("merge-without-transpose", einsum(cut="joined badly")),
    (
        "merge-without-transpose",
        lambda y, memory, w_q, w_k, w_v, w_o, h, mask=None: (
            F.scaled_dot_product_attention(
                *(
                    (x @ w).unflatten(-1, (h, -1)).transpose(1, 2)
                    for x, w in ((y, w_q), (memory, w_k), (memory, w_v))
                ),
                attn_mask=mask,
            ).reshape(y.shape)
            @ w_o
        ),
    ),
    ("heads-interleaved", einsum(cut="apart")),
    (
        "heads-interleaved",
        lambda y, memory, w_q, w_k, w_v, w_o, h, mask=None: (
            lambda heads: torch.stack(heads, -1).flatten(2) @ w_o
        )(
            [
                F.scaled_dot_product_attention(
                    (y @ w_q)[..., i::h],
                    (memory @ w_k)[..., i::h],
                    (memory @ w_v)[..., i::h],
                    attn_mask=None if mask is None else mask[:, 0],
                )
                for i in range(h)
            ]
        ),
    ),
    ("first-head-for-all", looped(which=lambda i: 0)),
    ("first-head-for-all", einsum(cut="first")),
    ("w_o-left-out", looped(fuse=lambda c, w: c)),
    ("w_o-left-out", einsum(fuse=lambda c, w: c)),
    ("w_o-transposed", looped(fuse=lambda c, w: c @ w.T)),
    ("w_o-transposed", einsum(fuse=F.linear)),
    ("residual-added", looped(finish=lambda out, y: out + y)),
    ("residual-added", einsum(finish=lambda out, y: y.add(out))),
]

RIGHT = [looped(), einsum(), in_torch, fused, one_projection_for_both, shares_added]

UNLISTED = [
    (r"`y` as it came", lambda y, *rest: y),
    (r"should have shape", lambda *a: fused(*a)[:, 0]),
    (r"opposite sign|multiplied by -1|-1 times", lambda *a: -fused(*a)),
    (r"numbers are not|same amount", lambda *a: fused(*a) + 0.5),
    (r"`w_k` has no effect", lambda y, memory, w_q, w_k, *rest: fused(y, memory, w_q, w_q @ w_q, *rest)),
    (
        r"influence each other",
        lambda y, memory, *rest: fused(y, memory.mean(0, True).expand_as(memory), *rest),
    ),
    (r"stops with an error", lambda y, memory, w_q, w_k, w_v, w_o, h, mask: (y @ memory).softmax(-1)),
]

RIGHT += examined.RIGHT
WRONG += examined.WRONG
UNLISTED += examined.UNLISTED
