"""two_stage_gates as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F


def scores(x, s, r, t):
    return x @ s, x @ r, x @ t


def by_threshold(x, s, r, t, k, *, soft=lambda z: F.softmax(z, -1), type_of=(0, 1)):
    shared, routed, types = (soft(z) for z in scores(x, s, r, t))
    limit = routed.topk(k, dim=-1).values[..., -1:]
    routed = torch.where(routed >= limit, routed, torch.zeros_like(routed))
    return torch.cat(
        [shared * types[..., type_of[0]].unsqueeze(-1), routed * types[..., type_of[1]].unsqueeze(-1)], -1
    )


def by_scatter(x, s, r, t, k, *, give=lambda values: values, order=(0, 1)):
    shared, routed, types = (F.softmax(z, dim=-1) for z in scores(x, s, r, t))
    values, places = routed.topk(k, dim=-1)
    kept = torch.zeros_like(routed).scatter_(-1, places, give(values))
    parts = [types[:, :, :1] * shared, types[:, :, 1:] * kept]
    return torch.cat([parts[i] for i in order], dim=-1)


def in_loops(
    x, s, r, t, k, *, best=lambda w, k: sorted(range(len(w)), key=lambda i: -w[i])[:k], type_of=(0, 1)
):
    b, n, _ = x.shape
    n_s, n_r = s.shape[1], r.shape[1]
    out = torch.zeros(b, n, n_s + n_r, dtype=x.dtype)
    for i in range(b):
        for j in range(n):
            alpha = (x[i, j] @ t).softmax(0)
            routed = (x[i, j] @ r).softmax(0)
            out[i, j, :n_s] = alpha[type_of[0]] * (x[i, j] @ s).softmax(0)
            for head in best(routed.tolist(), k):
                out[i, j, n_s + head] = alpha[type_of[1]] * routed[head]
    return out


def by_sorting(x, s, r, t, k):
    shared, routed, types = (z.softmax(-1) for z in scores(x, s, r, t))
    rank = routed.argsort(-1, descending=True).argsort(-1)
    return torch.cat((shared * types[..., [0]], routed * (rank < k) * types[..., [1]]), -1)


def by_numpy(x, s, r, t, k):
    def soft(z):
        e = np.exp(z - z.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    x, s, r, t = (a.numpy() for a in (x, s, r, t))
    shared, routed, types = soft(x @ s), soft(x @ r), soft(x @ t)
    drop = np.argsort(-routed, -1)[..., k:]
    np.put_along_axis(routed, drop, 0.0, -1)
    return torch.from_numpy(np.concatenate([types[..., :1] * shared, types[..., 1:] * routed], -1))


def by_einsum(x, s, r, t, k):
    shared = torch.einsum("bnd,ds->bns", x, s).softmax(-1)
    routed = torch.einsum("bnd,dr->bnr", x, r).softmax(-1)
    alpha = torch.einsum("bnd,dt->bnt", x, t).softmax(-1)
    drop = routed.topk(routed.shape[-1] - k, largest=False).indices
    routed = routed.scatter(-1, drop, 0.0)
    return torch.cat((alpha[..., 0, None] * shared, alpha[..., 1, None] * routed), dim=2)


def by_one_hot(x, s, r, t, k):
    shared, routed, types = (z.softmax(-1) for z in scores(x, s, r, t))
    chosen = F.one_hot(routed.topk(k).indices, r.shape[1]).sum(-2)
    return torch.cat((shared, routed * chosen), -1) * types.repeat_interleave(
        torch.tensor([s.shape[1], r.shape[1]]), -1
    )


def by_masked_fill(x, s, r, t, k, *, hide=None, before=False, **how):
    """Routed weights by a mask, before or after the softmax."""
    shared, types = (x @ s).softmax(-1), (x @ t).softmax(-1)
    z = x @ r
    chosen = torch.zeros_like(z, dtype=torch.bool).scatter(-1, z.topk(k, **how).indices, True)
    hidden = ~chosen if hide is None else hide(chosen)
    w = z.masked_fill(hidden, -torch.inf).softmax(-1) if before else z.softmax(-1).masked_fill(hidden, 0)
    return torch.cat((types[..., :1] * shared, types[..., 1:] * w), -1)


def soft_over(dim):
    return lambda x, s, r, t, k: by_threshold(x, s, r, t, k, soft=lambda z: z.softmax(dim))


def in_parts(x, s, r, t, k, *, shared=lambda z: z.softmax(-1), routed=lambda z: z.softmax(-1), mix=None):
    """Each part made by itself; `mix` puts them together with the shares of the types."""
    a, b, alpha = shared(x @ s), routed(x @ r), (x @ t).softmax(-1)
    b = b * F.one_hot(b.topk(k).indices, b.shape[-1]).sum(-2)
    return torch.cat(mix(a, b, alpha[..., :1], alpha[..., 1:]), -1)


def both(a, b, p, q):
    return p * a, q * b


def of_the_code(x, s, r, t, k):
    shared, routed, types = (z.softmax(-1) for z in scores(x, s, r, t))
    values, places = routed.topk(k)
    values = values / values.sum(-1, keepdim=True) * k
    routed = torch.zeros_like(routed).scatter(-1, places, values)
    types = types * 2
    return torch.cat((types[..., :1] * shared * s.shape[1], types[..., 1:] * routed), -1)


def one_softmax(x, s, r, t, k):
    w = (x @ torch.cat((s, r), 1)).softmax(-1)
    n_s = s.shape[1]
    alpha = (x @ t).softmax(-1)
    kept = torch.zeros_like(w[..., n_s:])
    values, places = w[..., n_s:].topk(k)
    kept.scatter_(-1, places, values)
    return torch.cat((alpha[..., :1] * w[..., :n_s], alpha[..., 1:] * kept), -1)


def one_softmax_in_loops(x, s, r, t, k):
    out = torch.zeros(*x.shape[:2], s.shape[1] + r.shape[1], dtype=x.dtype)
    for i, sentence in enumerate(x):
        for j, token in enumerate(sentence):
            w = torch.cat((token @ s, token @ r)).softmax(0)
            alpha = (token @ t).softmax(0)
            out[i, j, : s.shape[1]] = alpha[0] * w[: s.shape[1]]
            for place in w[s.shape[1] :].topk(k).indices + s.shape[1]:
                out[i, j, place] = alpha[1] * w[place]
    return out


def of_all_heads(x, s, r, t, k):
    gates = by_threshold(x, s, r, t, r.shape[1])
    return gates * (gates >= gates.topk(k).values[..., -1:])


def of_all_by_scatter(x, s, r, t, k):
    gates = by_masked_fill(x, s, r, t, r.shape[1])
    values, places = gates.topk(k)
    return torch.zeros_like(gates).scatter(-1, places, values)


def by_means(x, s, r, t, k):
    shared, routed, types = (z.softmax(-1) for z in scores(x, s, r, t))
    best = routed.mean(dim=(0, 1)).topk(k).indices
    kept = torch.zeros_like(routed)
    kept[..., best] = routed[..., best]
    return torch.cat((types[..., :1] * shared, types[..., 1:] * kept), -1)


def by_means_as_mask(x, s, r, t, k):
    w = (x @ r).softmax(-1)
    use = F.one_hot(w.flatten(0, 1).mean(0).topk(k).indices, w.shape[-1]).sum(0)
    alpha = (x @ t).softmax(-1)
    return torch.cat(((x @ s).softmax(-1) * alpha[..., :1], w * use * alpha[..., 1:]), -1)


def tokens_chosen(x, s, r, t, k):
    shared, routed, types = (z.softmax(-1) for z in scores(x, s, r, t))
    values, places = routed.topk(min(k, x.shape[1]), dim=1)
    kept = torch.zeros_like(routed).scatter(1, places, values)
    return torch.cat((types[..., :1] * shared, types[..., 1:] * kept), -1)


def tokens_chosen_by_limit(x, s, r, t, k):
    w = (x @ r).softmax(-1)
    limit = w.sort(1, descending=True).values[:, min(k, x.shape[1]) - 1, None]
    return in_parts(x, s, r, t, r.shape[1], mix=lambda a, b, p, q: (p * a, q * b * (w >= limit)))


def best_shared(x, s, r, t, k):
    a = (x @ s).softmax(-1)
    a = torch.where(a == a.amax(-1, keepdim=True), a, 0.0)
    return in_parts(x, s, r, t, k, shared=lambda z: a, mix=both)


def best_shared_by_topk(x, s, r, t, k):
    gates = by_scatter(x, s, r, t, k)
    a = gates[..., : s.shape[1]]
    top = a.topk(1)
    return torch.cat((torch.zeros_like(a).scatter(-1, top.indices, top.values), gates[..., s.shape[1] :]), -1)


def zero_scores(x, s, r, t, k):
    z = x @ r
    values, places = z.topk(k)
    z = torch.zeros_like(z).scatter(-1, places, values)
    return torch.cat(
        ((x @ t).softmax(-1)[..., :1] * (x @ s).softmax(-1), (x @ t).softmax(-1)[..., 1:] * z.softmax(-1)), -1
    )


def zero_scores_by_mask(x, s, r, t, k):
    z = x @ r
    z = z * (z >= z.topk(k).values[..., -1:])
    alpha = F.softmax(x @ t, -1)
    return torch.cat((alpha[..., [0]] * F.softmax(x @ s, -1), alpha[..., [1]] * F.softmax(z, -1)), -1)


WRONG = [
    ("renormalised", partial(by_masked_fill, before=True)),
    ("renormalised", partial(by_scatter, give=lambda v: v / v.sum(-1, keepdim=True))),
    ("gates-of-the-code", of_the_code),
    (
        "gates-of-the-code",
        lambda x, s, r, t, k: 2 * by_masked_fill(x, s, r, t, k, before=True) * _each(s, r, s.shape[1], k),
    ),
    ("nothing-dropped", lambda x, s, r, t, k: by_threshold(x, s, r, t, r.shape[1])),
    ("nothing-dropped", partial(in_loops, best=lambda w, k: range(len(w)))),
    ("smallest-kept", partial(by_masked_fill, largest=False)),
    ("smallest-kept", partial(in_loops, best=lambda w, k: sorted(range(len(w)), key=lambda i: w[i])[:k])),
    ("chosen-dropped", partial(by_masked_fill, hide=lambda chosen: chosen)),
    ("chosen-dropped", partial(in_loops, best=lambda w, k: sorted(range(len(w)), key=lambda i: -w[i])[k:])),
    ("choice-as-gate", partial(by_scatter, give=torch.ones_like)),
    ("choice-as-gate", partial(in_parts, mix=lambda a, b, p, q: (p * a, q * (b > 0)))),
    ("same-for-all-tokens", by_means),
    ("same-for-all-tokens", by_means_as_mask),
    ("heads-choose-tokens", tokens_chosen),
    ("heads-choose-tokens", tokens_chosen_by_limit),
    ("chosen-of-all", of_all_heads),
    ("chosen-of-all", of_all_by_scatter),
    ("shared-dropped-too", best_shared),
    ("shared-dropped-too", best_shared_by_topk),
    ("types-swapped", partial(by_threshold, type_of=(1, 0))),
    ("types-swapped", lambda x, s, r, t, k: in_loops(x, s, r, t, k, type_of=(1, 0))),
    ("types-left-out", partial(in_parts, mix=lambda a, b, p, q: (a, b))),
    ("types-left-out", lambda x, s, r, t, k: 2 * by_scatter(x, s, r, torch.zeros_like(t), k)),
    ("shared-not-weighed", partial(in_parts, mix=lambda a, b, p, q: (a, q * b))),
    ("shared-not-weighed", lambda x, s, r, t, k: _divided(by_scatter(x, s, r, t, k), x, s, t, 0)),
    ("routed-not-weighed", partial(in_parts, mix=lambda a, b, p, q: (p * a, b))),
    ("routed-not-weighed", lambda x, s, r, t, k: _divided(by_scatter(x, s, r, t, k), x, s, t, 1)),
    ("shared-all-alike", lambda x, s, r, t, k: by_scatter(x, s * 0, r, t, k) * _each(s, r, s.shape[1], 1)),
    ("shared-all-alike", partial(in_parts, mix=lambda a, b, p, q: (p.expand_as(a), q * b))),
    ("one-softmax", one_softmax),
    ("one-softmax", one_softmax_in_loops),
    ("softmax-over-tokens", soft_over(1)),
    (
        "softmax-over-tokens",
        lambda x, s, r, t, k: by_threshold(x, s, r, t, k, soft=lambda z: F.softmax(z, dim=-2)),
    ),
    ("softmax-over-sentences", soft_over(0)),
    (
        "softmax-over-sentences",
        lambda x, s, r, t, k: by_threshold(x, s, r, t, k, soft=lambda z: z.exp() / z.exp().sum(0)),
    ),
    ("no-softmax", partial(by_threshold, soft=lambda z: z)),
    ("no-softmax", lambda x, s, r, t, k: _unsoftened(x, s, r, t, k)),
    ("sigmoids", partial(by_threshold, soft=torch.sigmoid)),
    ("sigmoids", partial(by_threshold, soft=lambda z: 1 / (1 + torch.exp(-z)))),
    ("routed-first", partial(by_scatter, order=(1, 0))),
    ("routed-first", partial(in_parts, mix=lambda a, b, p, q: (q * b, p * a))),
    ("dropped-before-softmax", zero_scores),
    ("dropped-before-softmax", zero_scores_by_mask),
]

RIGHT = [
    by_threshold,
    by_scatter,
    in_loops,
    by_sorting,
    by_numpy,
    by_einsum,
    by_one_hot,
    by_masked_fill,
    partial(in_parts, mix=both),
]

UNLISTED = [
    ("sigmoid", partial(in_parts, routed=torch.sigmoid, mix=both)),
    ("types is a sigmoid", lambda x, s, r, t, k: _sigmoid_types(x, s, r, t, k)),
    ("One head too many", lambda x, s, r, t, k: by_scatter(x, s, r, t, min(k + 1, r.shape[1]))),
    ("One head too few", lambda x, s, r, t, k: by_sorting(x, s, r, t, k - 1)),
    ("divided by their sum", lambda x, s, r, t, k: _to_one(by_scatter(x, s, r, t, k))),
    ("log_softmax", partial(by_threshold, soft=lambda z: z.log_softmax(-1))),
    ("first k routed", partial(in_loops, best=lambda w, k: range(k))),
    ("share of shared heads", partial(in_parts, mix=lambda a, b, p, q: (p * a, p * b))),
    ("multiplied by their number", partial(in_parts, mix=lambda a, b, p, q: (2 * p * a, 2 * q * b))),
    ("added, not multiplied", partial(in_parts, mix=lambda a, b, p, q: (p + a, q + b))),
    ("in order of size", lambda x, s, r, t, k: _sorted(by_scatter(x, s, r, t, k), s)),
    ("before that of tokens|changed places", lambda x, s, r, t, k: by_scatter(x, s, r, t, k).transpose(1, 2)),
    ("Only the gates of the shared", lambda x, s, r, t, k: by_scatter(x, s, r, t, k)[..., : s.shape[1]]),
    ("routed heads come back", lambda x, s, r, t, k: by_scatter(x, s, r, t, k)[..., s.shape[1] :]),
    ("True and False|bool", lambda x, s, r, t, k: by_scatter(x, s, r, t, k) > 0),
    ("once more, over the kept", partial(in_parts, mix=lambda a, b, p, q: (p * a, q * b.softmax(-1)))),
    ("first one", lambda x, s, r, t, k: _like_the_first(x, s, r, t, k)),
    ("squared", partial(in_parts, mix=lambda a, b, p, q: (p * a, q * b * b))),
    ("over the tokens", partial(in_parts, routed=lambda z: z.softmax(1), mix=both)),
    ("over the sentences", partial(in_parts, shared=lambda z: z.softmax(0), mix=both)),
    ("-inf", lambda x, s, r, t, k: _inf(by_scatter(x, s, r, t, k))),
    ("should be", lambda x, s, r, t, k: by_scatter(x.tanh(), s, r, t, k)),
    ("nothing", lambda x, s, r, t, k: print(by_scatter(x, s, r, t, k).shape)),
]


def _each(s, r, of_shared, of_routed):
    return torch.tensor([float(of_shared)] * s.shape[1] + [float(of_routed)] * r.shape[1])


def _divided(gates, x, s, t, which):
    alpha = (x @ t).softmax(-1)[..., which, None]
    shared, routed = gates[..., : s.shape[1]], gates[..., s.shape[1] :]
    return torch.cat((shared / alpha, routed) if which == 0 else (shared, routed / alpha), -1)


def _unsoftened(x, s, r, t, k):
    z, alpha = x @ r, x @ t
    values, places = torch.topk(z, k)
    kept = torch.zeros_like(z).scatter(-1, places, values)
    return torch.cat(((x @ s) * alpha[..., :1], kept * alpha[..., 1:]), -1)


def _sigmoid_types(x, s, r, t, k):
    alpha = (x @ t).sigmoid()
    return in_parts(x, s, r, t, k, mix=lambda a, b, p, q: (alpha[..., :1] * a, alpha[..., 1:] * b))


def _to_one(gates):
    return gates / gates.sum(-1, keepdim=True)


def _sorted(gates, s):
    return torch.cat(
        (gates[..., : s.shape[1]], gates[..., s.shape[1] :].sort(-1, descending=True).values), -1
    )


def _like_the_first(x, s, r, t, k):
    w, alpha = (x @ r).softmax(-1), (x @ t).softmax(-1)
    use = F.one_hot(w[:, :1].topk(k).indices, w.shape[-1]).sum(-2)
    return torch.cat((alpha[..., :1] * (x @ s).softmax(-1), alpha[..., 1:] * w * use), -1)


def _inf(gates):
    return gates.masked_fill(gates == 0, -torch.inf)
