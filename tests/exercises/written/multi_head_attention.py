"""multi_head_attention as students write it: each known mistake twice or more, right ones, unlisted ones."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

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


def torch_layer(x, w_q, w_k, w_v, w_o, h, mask=None):
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

UNLISTED = []
