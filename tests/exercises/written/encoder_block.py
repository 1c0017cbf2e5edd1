"""encoder_block as students write it: each known mistake twice, right ones, unlisted ones."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn


def by_torch(wiring, norm=F.layer_norm, bend=F.relu, hide=None, scale=None):
    """A block whose parts are PyTorch's functions; wiring: how they are joined."""

    def block(x, parts, h, allowed):
        b, n, d = x.shape

        def norm_of(i):
            return lambda z: norm(z, (d,), parts[f"gain_{i}"], parts[f"bias_{i}"])

        def attend(z):
            q, k, v = (
                F.linear(z, parts[w].T).view(b, n, h, -1).transpose(1, 2) for w in ("w_q", "w_k", "w_v")
            )
            if hide:
                out = hide(q, k, v, allowed)
            else:
                out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=scale)
                out = torch.where(allowed.any(-1, keepdim=True), out.nan_to_num(), torch.zeros(()))
            return F.linear(out.transpose(1, 2).reshape(b, n, d), parts["w_o"].T)

        def feed(z):
            inner = bend(F.linear(z, parts["w_1"].T, parts["b_1"]))
            return F.linear(inner, parts["w_2"].T, parts["b_2"])

        return wiring(x, norm_of(1), norm_of(2), attend, feed)

    return block


def by_hand(wiring, bend=lambda z: z.clamp(min=0), scale=None):
    """A block of plain products, head by head."""

    def block(x, parts, h, allowed):
        d_k = x.shape[-1] // h

        def norm_of(i):
            def norm(z):
                z = z - z.mean(-1, True)
                return z / (z.square().mean(-1, True) + 1e-5).sqrt() * parts[f"gain_{i}"] + parts[f"bias_{i}"]

            return norm

        def attend(z):
            out = torch.zeros_like(z)
            for i in range(h):
                own = slice(i * d_k, (i + 1) * d_k)
                q, k, v = (z @ parts[w][:, own] for w in ("w_q", "w_k", "w_v"))
                powers = (q @ k.mT / (scale or math.sqrt(d_k))).exp() * allowed[:, 0]
                out = out + powers / powers.sum(-1, True).clamp_min(1e-30) @ v @ parts["w_o"][own]
            return out

        def feed(z):
            return bend(z @ parts["w_1"] + parts["b_1"]) @ parts["w_2"] + parts["b_2"]

        return wiring(x, norm_of(1), norm_of(2), attend, feed)

    return block


def right(x, n1, n2, att, ff):
    x = x + att(n1(x))
    return x + ff(n2(x))


def plus(x, y):
    return torch.add(x, y)


def modules(x, parts, h, allowed):
    """nn.Linear and nn.LayerNorm with the weights given for the call, so that gradients reach them."""
    d, d_ff = parts["w_1"].shape
    with_weights = torch.func.functional_call
    z = with_weights(nn.LayerNorm(d), {"weight": parts["gain_1"], "bias": parts["bias_1"]}, (x,))
    q, k, v = (torch.stack((z @ parts[w]).chunk(h, -1), 1) for w in ("w_q", "w_k", "w_v"))
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    weights = torch.softmax(scores.masked_fill(~allowed, -1e9), -1) * allowed
    x = x + torch.cat((weights @ v).unbind(1), -1) @ parts["w_o"]
    z = with_weights(nn.LayerNorm(d), {"weight": parts["gain_2"], "bias": parts["bias_2"]}, (x,))
    wide = {"weight": parts["w_1"].T, "bias": parts["b_1"]}
    inner = with_weights(nn.Linear(d, d_ff), wide, (z,)).relu()
    return x + inner @ parts["w_2"] + parts["b_2"]


def copied(x, parts, h, allowed):
    """Weights copied into modules: the numbers are right, and no gradient reaches the weights."""
    kept = {name: value.detach() for name, value in parts.items()}
    return by_torch(right)(x, kept, h, allowed)


def token_by_token(x, parts, h, allowed):
    """Only the attention takes all tokens at once."""
    y = by_hand(lambda x, n1, n2, att, ff: x + att(n1(x)))(x, parts, h, allowed)
    rows = []
    for token in y.flatten(0, 1):
        z = F.layer_norm(token, token.shape, parts["gain_2"], parts["bias_2"])
        rows.append(token + (z @ parts["w_1"] + parts["b_1"]).relu() @ parts["w_2"] + parts["b_2"])
    return torch.stack(rows).view_as(x)


def einsums(x, parts, h, allowed):
    """Heads as an axis of the weights, and every product an einsum."""
    z = F.layer_norm(x, x.shape[-1:], parts["gain_1"], parts["bias_1"])
    q, k, v = (
        torch.einsum("bnm,mhd->bnhd", z, parts[w].unflatten(1, (h, -1))) for w in ("w_q", "w_k", "w_v")
    )
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    empty = ~allowed.any(-1, keepdim=True)
    weights = scores.masked_fill(~allowed & ~empty, float("-inf")).softmax(-1).masked_fill(empty, 0)
    x = x + torch.einsum("bhqk,bkhd,hdm->bqm", weights, v, parts["w_o"].unflatten(0, (h, -1)))
    z = F.layer_norm(x, x.shape[-1:], parts["gain_2"], parts["bias_2"])
    inner = (torch.einsum("bnm,mf->bnf", z, parts["w_1"]) + parts["b_1"]).clamp(min=0)
    return x + torch.einsum("bnf,fm->bnm", inner, parts["w_2"]) + parts["b_2"]


def sentence_by_sentence(x, parts, h, allowed):
    done = [by_torch(right)(one[None], parts, h, may[None])[0] for one, may in zip(x, allowed, strict=True)]
    return torch.stack(done)


def no_mask(q, k, v, allowed):
    return F.scaled_dot_product_attention(q, k, v)


def reversed_mask(q, k, v, allowed):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~allowed).nan_to_num()


def not_scaled(q, k, v, allowed):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=1.0).nan_to_num()


WRONG = [
    ("post-norm", by_torch(lambda x, n1, n2, att, ff: n2((y := n1(x + att(x))) + ff(y)))),
    ("post-norm", by_hand(lambda x, n1, n2, att, ff: n2(plus(n1(plus(x, att(x))), ff(n1(x + att(x))))))),
    ("first-norm-left-out", by_torch(lambda x, n1, n2, att, ff: (y := x + att(x)) + ff(n2(y)))),
    ("first-norm-left-out", by_hand(lambda x, n1, n2, att, ff: plus(y := plus(x, att(x)), ff(n2(y))))),
    ("second-norm-left-out", by_torch(lambda x, n1, n2, att, ff: (y := x + att(n1(x))) + ff(y))),
    ("second-norm-left-out", by_hand(lambda x, n1, n2, att, ff: plus(y := plus(x, att(n1(x))), ff(y)))),
    ("first-residual-left-out", by_torch(lambda x, n1, n2, att, ff: (y := att(n1(x))) + ff(n2(y)))),
    ("first-residual-left-out", by_hand(lambda x, n1, n2, att, ff: plus(y := att(n1(x)), ff(n2(y))))),
    ("second-residual-left-out", by_torch(lambda x, n1, n2, att, ff: ff(n2(x + att(n1(x)))))),
    ("second-residual-left-out", by_hand(lambda x, n1, n2, att, ff: ff(n2(plus(x, att(n1(x))))))),
    ("first-residual-normed", by_torch(lambda x, n1, n2, att, ff: (y := (z := n1(x)) + att(z)) + ff(n2(y)))),
    ("first-residual-normed", by_hand(lambda x, n1, n2, att, ff: right(n1(x), lambda z: z, n2, att, ff))),
    ("second-residual-normed", by_torch(lambda x, n1, n2, att, ff: (z := n2(x + att(n1(x)))) + ff(z))),
    ("second-residual-normed", by_hand(lambda x, n1, n2, att, ff: plus(z := n2(plus(x, att(n1(x)))), ff(z)))),
    ("second-residual-from-the-input", by_torch(lambda x, n1, n2, att, ff: x + ff(n2(x + att(n1(x)))))),
    ("second-residual-from-the-input", by_hand(lambda x, n1, n2, att, ff: plus(ff(n2(att(n1(x)) + x)), x))),
    ("input-added-twice", by_torch(lambda x, n1, n2, att, ff: x + right(x, n1, n2, att, ff))),
    ("input-added-twice", by_hand(lambda x, n1, n2, att, ff: 2 * x + (a := att(n1(x))) + ff(n2(x + a)))),
    ("halves-side-by-side", by_torch(lambda x, n1, n2, att, ff: x + att(n1(x)) + ff(n2(x)))),
    ("halves-side-by-side", by_hand(lambda x, n1, n2, att, ff: sum([x, ff(n2(x)), att(n1(x))]))),
    ("norms-exchanged", by_torch(lambda x, n1, n2, att, ff: right(x, n2, n1, att, ff))),
    ("norms-exchanged", by_hand(lambda x, n1, n2, att, ff: (y := x + att(n2(x))) + ff(n1(y)))),
    ("first-norm-twice", by_torch(lambda x, n1, n2, att, ff: right(x, n1, n1, att, ff))),
    ("first-norm-twice", by_hand(lambda x, n1, n2, att, ff: (y := x + att(n1(x))) + ff(n1(y)))),
    ("second-norm-twice", by_torch(lambda x, n1, n2, att, ff: right(x, n2, n2, att, ff))),
    ("second-norm-twice", by_hand(lambda x, n1, n2, att, ff: (y := x + att(n2(x))) + ff(n2(y)))),
    ("norm-at-the-end", by_torch(lambda x, n1, n2, att, ff: n2(right(x, n1, n2, att, ff)))),
    ("norm-at-the-end", by_hand(lambda x, n1, n2, att, ff: n2((y := x + att(n1(x))) + ff(n2(y))))),
    ("attention-normed", by_torch(lambda x, n1, n2, att, ff: (y := n1(x + att(n1(x)))) + ff(n2(y)))),
    ("attention-normed", by_hand(lambda x, n1, n2, att, ff: plus(y := n1(plus(x, att(n1(x)))), ff(n2(y))))),
    ("no-relu", by_torch(right, bend=lambda z: z)),
    ("no-relu", by_hand(right, bend=lambda z: 1.0 * z)),
    ("feed-forward-first", by_torch(lambda x, n1, n2, att, ff: (y := x + ff(n2(x))) + att(n1(y)))),
    ("feed-forward-first", by_hand(lambda x, n1, n2, att, ff: right(x, n2, n1, ff, att))),
    # Two at once.
    (
        "first-norm-left-out+second-norm-left-out",
        by_torch(lambda x, n1, n2, att, ff: (y := x + att(x)) + ff(y)),
    ),
    (
        "first-residual-left-out+second-residual-left-out",
        by_hand(lambda x, n1, n2, att, ff: ff(n2(att(n1(x))))),
    ),
    (
        "second-residual-left-out+no-relu",
        by_torch(lambda x, n1, n2, att, ff: ff(n2(x + att(n1(x)))), bend=lambda z: z),
    ),
]

RIGHT = [
    by_torch(right),
    by_torch(lambda x, n1, n2, att, ff: (y := x + att(n1(x))) + ff(n2(y))),
    by_hand(right),
    by_hand(lambda x, n1, n2, att, ff: plus(y := plus(att(n1(x)), x), ff(n2(y)))),
    modules,
    token_by_token,
    einsums,
    sentence_by_sentence,
    lambda x, parts, h, allowed: by_torch(right)(x, dict(parts), int(h), allowed.clone()),
]


def no_gain(z, d, gain, bias):
    return F.layer_norm(z, d, None, bias)


def unbiased(z, d, gain, bias):
    return (z - z.mean(-1, True)) / (z.var(-1, keepdim=True) + 1e-5).sqrt() * gain + bias


def no_mean(z, d, gain, bias):
    return F.rms_norm(z, d, gain, 1e-5) + bias


def outside_the_root(z, d, gain, bias):
    return (z - z.mean(-1, True)) / (z.std(-1, unbiased=False, keepdim=True) + 1e-5) * gain + bias


def nothing_under_the_root(z, d, gain, bias):
    return (z - z.mean(-1, True)) / z.var(-1, unbiased=False, keepdim=True).sqrt() * gain + bias


UNLISTED = [
    ("LayerNorm before the.*under the root is left out", by_torch(right, norm=nothing_under_the_root)),
    ("LayerNorm before the.*outside the root", by_torch(right, norm=outside_the_root)),
    ("(?s)attention.*mask", by_torch(right, hide=no_mask)),
    ("(?s)attention.*mask", by_torch(right, hide=reversed_mask)),
    ("(?s)attention.*(root|scale|divided)", by_torch(right, hide=not_scaled)),
    ("LayerNorm before the attention.* gain", by_torch(right, norm=no_gain)),
    ("LayerNorm before the attention.*d_model - 1", by_torch(right, norm=unbiased)),
    ("LayerNorm before the attention.*mean", by_torch(right, norm=no_mean)),
    ("feed-forward part.*GELU", by_torch(right, bend=F.gelu)),
    ("comes out as", by_torch(lambda x, n1, n2, att, ff: 0.5 * right(x, n1, n2, att, ff))),
    ("comes out as", by_torch(lambda x, n1, n2, att, ff: right(x, n1, n2, att, ff).relu())),
    ("no gradient reaches", copied),
]
