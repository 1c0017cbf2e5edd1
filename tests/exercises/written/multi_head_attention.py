"""multi_head_attention as students write it: each known mistake twice or more, right ones, unlisted ones."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.exercises.written.errors_of_heads import LAYERS, behind
from tests.exercises.written.layer_workbenches import einsum_layer, looped, numpy_layer
from tests.exercises.written.slips_of_layers import SLIPS


def summed_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    d_k = x.shape[-1] // h
    out = 0
    for i in range(h):
        mine = slice(i * d_k, (i + 1) * d_k)
        scores = (x @ w_q[:, mine]) @ (x @ w_k[:, mine]).mT / d_k**0.5
        if mask is not None:
            here = mask[:, 0] if mask.ndim == 4 else mask
            scores = scores.masked_fill(here == 0, torch.finfo(scores.dtype).min)
        out = out + scores.softmax(-1) @ (x @ w_v[:, mine]) @ w_o[mine]
    return out


def summed_for_two_axes(x, w_q, w_k, w_v, w_o, h, mask=None):
    d_k = x.shape[-1] // h
    out = 0
    for i in range(h):
        mine = slice(i * d_k, (i + 1) * d_k)
        scores = (x @ w_q[:, mine]) @ (x @ w_k[:, mine]).mT / d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        out = out + scores.softmax(-1) @ (x @ w_v[:, mine]) @ w_o[mine]
    return out


def torch_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    if mask is not None:
        mask = mask.expand(len(x), h, x.shape[1], x.shape[1]).flatten(0, 1)
    mha = nn.MultiheadAttention(x.shape[-1], h, bias=False, batch_first=True, dtype=x.dtype)
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
        mha.out_proj.weight.copy_(w_o.T)
    return mha(x, x, x, attn_mask=None if mask is None else ~mask, need_weights=False)[0]


def fused_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    q, k, v = ((x @ w).unflatten(-1, (h, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2) @ w_o


def linear_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, _ = x.shape
    q, k, v = (F.linear(x, w.T).reshape(b, n, h, -1).permute(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    scores = torch.matmul(q, k.permute(0, 1, 3, 2)) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else scores + (~mask) * -1e9
    return F.linear((scores.softmax(3) @ v).permute(0, 2, 1, 3).reshape(b, n, -1), w_o.T)


def folded_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, d_model = x.shape
    d_k = d_model // h
    qkv = x @ torch.cat([w_q, w_k, w_v], dim=1)
    q, k, v = (
        t.view(b, n, h, d_k).permute(0, 2, 1, 3).reshape(b * h, n, d_k) for t in qkv.split(d_model, dim=-1)
    )
    scores = torch.bmm(q, k.transpose(1, 2)).mul_(d_k**-0.5)
    if mask is not None:
        scores[~mask.expand(b, h, n, n).reshape(b * h, n, n)] = float("-inf")
    out = torch.bmm(F.softmax(scores, dim=-1), v)
    return out.view(b, h, n, d_k).permute(0, 2, 1, 3).contiguous().view(b, n, d_model) @ w_o


def chunked_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    heads = []
    for q, k, v in zip(*((x @ w).chunk(h, dim=-1) for w in (w_q, w_k, w_v)), strict=True):
        here = mask if mask is None or mask.ndim == 2 else mask.squeeze(1)
        heads.append(F.scaled_dot_product_attention(q, k, v, attn_mask=here))
    return torch.cat(heads, dim=-1).matmul(w_o)


def exponentials(x, w_q, w_k, w_v, w_o, h, mask=None):
    q, k, v = ((x @ w).unflatten(2, (h, -1)) for w in (w_q, w_k, w_v))
    powers = torch.einsum("bqhd,bkhd->bhqk", q, k).div(math.sqrt(q.size(-1))).exp()
    if mask is not None:
        powers = powers * mask
    weights = powers / powers.sum(-1, keepdim=True)
    return torch.einsum("bhqk,bkhd,hdm->bqm", weights, v, w_o.unflatten(0, (h, -1)))


class Layer(nn.Module):
    def __init__(self, h, *matrices):
        super().__init__()
        self.h, self.matrices = h, matrices

    def forward(self, x, mask):
        w_q, w_k, w_v, w_o = self.matrices
        q, k, v = (torch.stack((x @ w).split(x.shape[-1] // self.h, -1), 1) for w in (w_q, w_k, w_v))
        s = torch.matmul(q * q.shape[-1] ** -0.25, (k * k.shape[-1] ** -0.25).mT)
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), -1e4)
        return torch.cat(torch.matmul(s.softmax(-1), v).unbind(1), -1) @ w_o


def as_a_module(x, w_q, w_k, w_v, w_o, h, mask=None):
    return Layer(h, w_q, w_k, w_v, w_o)(x, mask)


def token_by_token(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, d = x.shape
    q, k, v = (torch.stack(torch.tensor_split(x @ w, h, dim=-1)) for w in (w_q, w_k, w_v))
    rows = []
    for t in range(n):
        s = (q[:, :, t : t + 1] * k).sum(-1) / (d / h) ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask.expand(b, h, n, n)[:, :, t].transpose(0, 1), -1e30)
        rows.append((s.softmax(-1)[..., None] * v).sum(2).permute(1, 0, 2).flatten(1))
    return torch.stack(rows, 1) @ w_o


RIGHT = [
    summed_layer,
    torch_layer,
    fused_layer,
    linear_layer,
    folded_layer,
    chunked_layer,
    exponentials,
    as_a_module,
    token_by_token,
    looped,
    einsum_layer,
    numpy_layer,
]


def view_only_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
    b, n, d = x.shape
    q, k, v = (F.linear(x, w.T).view(b, h, n, d // h) for w in (w_q, w_k, w_v))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_o.T)


def chunked(x, w_q, w_k, w_v, h, mask, scale):
    if mask is not None and mask.ndim == 4:
        mask = mask[:, 0]
    parts = zip(*((x @ w).chunk(h, -1) for w in (w_q, w_k, w_v)), strict=True)
    return torch.cat([F.scaled_dot_product_attention(*p, attn_mask=mask, scale=scale) for p in parts], -1)


PAIRS = [
    (
        "w_o-left-out+scale-sqrt-d_model",
        lambda x, w_q, w_k, w_v, w_o, h, mask=None: chunked(x, w_q, w_k, w_v, h, mask, x.shape[-1] ** -0.5),
    ),
    (
        "w_o-transposed+no-scale",
        lambda x, w_q, w_k, w_v, w_o, h, mask=None: F.linear(chunked(x, w_q, w_k, w_v, h, mask, 1.0), w_o),
    ),
]

WRONG = [
    *SLIPS,
    *PAIRS,
    ("view-without-transpose", view_only_layer),
    ("residual-added", lambda *a: a[0] + fused_layer(*a)),
    ("w_o-twice", lambda *a: fused_layer(*a) @ a[4]),
    ("mask-ignored", lambda x, w_q, w_k, w_v, w_o, h, mask=None: fused_layer(x, w_q, w_k, w_v, w_o, h)),
]


def bench(**steps):
    return partial(einsum_layer, **steps)


def other(change):
    """The right layer on changed matrices."""
    return lambda x, q, k, v, o, h, mask=None: fused_layer(*change(x, q, k, v, o), h, mask)


def after(change):
    return lambda *a: change(fused_layer(*a), a[0])


def hides(change):
    return bench(hide=lambda s, m: s.masked_fill(~change(m), -1e9))


def own_place(m):
    return torch.eye(m.shape[-1], dtype=torch.bool)


def tokens_of_all(x, q, k, v, o, h, mask=None):
    return fused_layer(x.reshape(1, -1, x.shape[-1]), q, k, v, o, h).reshape(x.shape)


def tokens_first(x, q, k, v, o, h, mask=None):
    return fused_layer(x.transpose(0, 1), q, k, v, o, h).transpose(0, 1)


def heads_fixed(h):
    return lambda x, q, k, v, o, _, mask=None: fused_layer(
        x, q, k, v, o, h if x.shape[2] % h == 0 else 1, mask
    )


SCALE = [
    ("0.3333 times", bench(scale=lambda d_k, d, h, n: 1 / (3 * d_k**0.5))),
    ("square of d_k", bench(scale=lambda d_k, d, h, n: d_k**-2.0)),
    ("divided by 8", bench(scale=lambda d_k, d, h, n: 1 / 8)),
    ("root of .?d_k \\+ 1", bench(scale=lambda d_k, d, h, n: (d_k + 1) ** -0.5)),
    ("root of n(_k)? times h", bench(scale=lambda d_k, d, h, n: (h * n) ** -0.5)),
    ("length 1|cosine", bench(order=lambda q, k, v, x: (F.normalize(q, dim=-1), F.normalize(k, dim=-1), v))),
    (
        "Behind the softmax they are multiplied",
        bench(scale=lambda *s: 1, soft=lambda s: s.softmax(-1) / 8**0.5),
    ),
]

SOFT = [
    ("division by the row's sum is missing", bench(soft=torch.exp)),
    ("ReLU in place of the exponential", bench(soft=lambda s: F.normalize(s.relu(), p=1, dim=-1))),
    ("logarithm of the weights", bench(soft=lambda s: s.log_softmax(-1))),
    ("largest score", bench(soft=lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).float())),
    ("multiplied by 2", bench(soft=lambda s: 2 * s.softmax(-1))),
    ("tanh", bench(soft=lambda s: s.tanh().softmax(-1))),
    ("clamped", bench(soft=lambda s: s.clamp(-1, 1).softmax(-1))),
    ("too large by 1", bench(soft=lambda s: s.exp() / (1 + s.exp().sum(-1, keepdim=True)))),
    ("exponential is missing", bench(soft=lambda s: s / s.shape[-1])),
    ("with a minus in front|opposite", bench(soft=lambda s: (-2 * s).softmax(-1))),
    ("head 1", bench(soft=lambda s: s.softmax(-1)[:, :1].expand_as(s))),
]

MATRICES = [
    ("At the end stands W_V", other(lambda x, q, k, v, o: (x, q, k, v, v))),
    ("keys are made with W_Q.*values are made with W_Q", other(lambda x, q, k, v, o: (x, q, q, q, o))),
    ("queries are made with W_V.*keys are made with W_V", other(lambda x, q, k, v, o: (x, v, v, v, o))),
    ("queries are made with W_O", other(lambda x, q, k, v, o: (x, o, k, v, o))),
    ("values are made with W_V, then W_O", other(lambda x, q, k, v, o: (x, q, k, v @ o, o))),
    ("inverted", other(lambda x, q, k, v, o: (x, q, k, v, torch.linalg.inv(o)))),
    ("features stand in reversed order", other(lambda x, q, k, v, o: (x, q, k, v, o.flip(1)))),
    ("features in reversed order", other(lambda x, q, k, v, o: (x, q, k, v, o.flip(0)))),
    ("lower triangle", other(lambda x, q, k, v, o: (x, q, k, v, o.tril()))),
    ("added to the output", other(lambda x, q, k, v, o: (x, q, k, v, o + torch.eye(len(o))))),
    ("heads in reversed order", other(lambda x, q, k, v, o: (x, q.flip(1), k.flip(1), v, o))),
]

AFTER = [
    ("something fixed is added", after(lambda y, x: y + 1)),
    ("input is added 0.5 times", after(lambda y, x: y + 0.5 * x)),
    ("tanh", after(lambda y, x: y.tanh())),
    ("multiplied by 2", after(lambda y, x: 2 * y)),
    ("divided by n", after(lambda y, x: y / x.shape[1])),
    ("tokens stand in reversed order", after(lambda y, x: y.flip(1))),
    ("squared", after(lambda y, x: y * y)),
    ("rounded to two digits", after(lambda y, x: y.round(decimals=2))),
    ("Everything is NaN", after(lambda y, x: y * math.nan)),
    ("Everything is 0", after(lambda y, x: y * 0)),
    ("axes stand in another order", after(lambda y, x: y.transpose(1, 2))),
    ("only the first of the sentences|axis of sentences is gone", after(lambda y, x: y[0])),
    ("only the first of the tokens|axis of tokens is gone", after(lambda y, x: y[:, 0])),
    ("NumPy array", after(lambda y, x: y.numpy())),
    ("2 things", after(lambda y, x: (y, x))),
    ("different results", after(lambda y, x: F.dropout(y, 0.3))),
    ("Nearly right", other(lambda *w: tuple(t.half().float() for t in w))),
    ("head 1 of 3 is lost", bench(out=lambda c, w, h, x: c[..., len(w) // h :] @ w[len(w) // h :])),
    (
        "head 3 of 3 is lost",
        bench(join=lambda z: F.pad(z[:, :-1].transpose(1, 2).flatten(2), (0, z.shape[3]))),
    ),
    (
        "block on the diagonal",
        bench(
            out=lambda c, w, h, x: torch.cat(
                [
                    a @ b.chunk(h, 1)[i]
                    for i, (a, b) in enumerate(zip(c.chunk(h, -1), w.chunk(h), strict=True))
                ],
                -1,
            )
        ),
    ),
    ("still have an axis of their own", bench(out=lambda c, w, h, x: c.unflatten(-1, (h, -1)))),
    ("Only d_k features come out", bench(out=lambda c, w, h, x: c[..., : len(w) // h])),
]

ON_THE_WAY = [
    ("input is normalised", lambda x, *r: fused_layer(F.layer_norm(x, x.shape[-1:]), *r)),
    ("input loses the mean over the tokens", lambda x, *r: fused_layer(x - x.mean(1, keepdim=True), *r)),
    ("values go through a ReLU", bench(order=lambda q, k, v, x: (q, k, v.relu()))),
    ("queries go through a ReLU", bench(order=lambda q, k, v, x: (q.relu(), k, v))),
    ("through a ReLU", bench(out=lambda c, w, h, x: c.relu() @ w)),
    ("concatenation is normalised", bench(out=lambda c, w, h, x: F.layer_norm(c, c.shape[-1:]) @ w)),
    ("queries have the heads in reversed order", bench(order=lambda q, k, v, x: (q.flip(1), k, v))),
    ("tokens in reversed order", bench(order=lambda q, k, v, x: (q, k, v.flip(2)))),
    ("summed over the heads", bench(scores="bhqd,bgkd->bhqk")),
    ("Tokens of all sentences attend to each other", tokens_of_all),
    ("Axis 0 is taken for the tokens", tokens_first),
    ("cut into 2 heads, whatever h is", heads_fixed(2)),
    ("input is doubled", lambda x, *r: fused_layer(x.mul_(2), *r)),
]

MASKED = [
    ("shifted by one key", hides(lambda m: m.roll(1, -1))),
    ("reversed order along the keys", hides(lambda m: m.flip(-1))),
    ("own place is open", hides(lambda m: m | own_place(m))),
    ("own place is hidden", hides(lambda m: m & ~own_place(m))),
    ("first row is used for every query", hides(lambda m: m[..., :1, :])),
    ("last row is used for every query", hides(lambda m: m[..., -1:, :])),
    ("mask of the first", hides(lambda m: m[:1] if m.ndim == 4 else m)),
    ("become -5", bench(hide=lambda s, m: s.masked_fill(~m, -5.0))),
    ("become -20", bench(hide=lambda s, m: s.masked_fill(~m, -20.0))),
    ("become -50", bench(hide=lambda s, m: s.masked_fill(~m, -50.0))),
    (
        "the wrong way round",
        lambda x, q, k, v, o, h, m=None: fused_layer(x, q, k, v, o, h, None if m is None else ~m),
    ),
    ("weight of `0.001`", bench(hide=lambda s, m: s, late=lambda w, m: w * m + ~m * 1e-3)),
    (
        "Only sentence 1 of 2 obeys",
        bench(hide=lambda s, m: torch.cat([s[:1].masked_fill(~(m[:1] if m.ndim == 4 else m), -1e9), s[1:]])),
    ),
]


def squeezed(x, w_q, w_k, w_v, w_o, h, mask=None):
    return fused_layer(x, w_q, w_k, w_v, w_o, h, None if mask is None else mask.squeeze())


def six_axes(x, w_q, w_k, w_v, w_o, h, mask=None):
    return fused_layer(x, w_q, w_k, w_v, w_o, h, None if mask is None else mask[None, None])


def viewed(x, w_q, w_k, w_v, w_o, h, mask=None):
    n = x.shape[1]
    return fused_layer(x, w_q, w_k, w_v, w_o, h, None if mask is None else mask.view(1, 1, n, n))


# Right with masks of two axes, and of no others: a remark says so.
RIGHT += [summed_for_two_axes, squeezed, six_axes, viewed]

UNLISTED = [*SCALE, *SOFT, *MATRICES, *AFTER, *ON_THE_WAY, *MASKED]


UNLISTED += [
    *LAYERS,
    ("heads take no part: the output is the input, times W_O", lambda x, q, k, v, o, h, mask=None: x @ o),
    (
        "divided once more, by their sum over the heads",
        bench(soft=lambda s: s.softmax(-1) / s.softmax(-1).sum(1, keepdim=True)),
    ),
    (
        "One softmax goes over the keys of all heads together",
        bench(soft=lambda s: (s - s.logsumexp((1, 3), keepdim=True)).exp()),
    ),
    ("keys are summed over the sentences", bench(scores="bhqd,chkd->bhqk")),
    (
        "shares of the output stand side by side",
        lambda *a: behind(lambda z, w, h: torch.cat([z[:, i] @ p for i, p in enumerate(w.chunk(h))], -1), *a),
    ),
]

WRONG += [
    (
        "w_o-transposed+projections-transposed+mask-ignored",
        lambda x, q, k, v, o, h, mask=None: fused_layer(x, q.T, k.T, v.T, o.T, h),
    ),
]
