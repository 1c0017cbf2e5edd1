"""batched_heads as students write it: all heads at once, with einsum, folded into the batch, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.exercises.written.errors_of_heads import HEADS
from tests.exercises.written.heads import MATRICES, SCALES, WHICH, einsummed, folded, hidden, softened


def split(y, h):
    return y.reshape(y.shape[0], y.shape[1], h, -1).transpose(1, 2)


def merge(z):
    return z.transpose(1, 2).flatten(2)


def fused(x, w_q, w_k, w_v, h, *, cut=split, join=merge, **options):
    """Cut, scaled_dot_product_attention, join."""
    return join(F.scaled_dot_product_attention(*(cut(x @ w, h) for w in (w_q, w_k, w_v)), **options))


def numpy_at_once(x, w_q, w_k, w_v, h, *, cut=(0, 2, 1, 3), weigh=softened, axes=(0, 2, 1, 3), shape=None):
    b, n, d_model = x.shape
    q, k, v = ((x.numpy() @ w.numpy()).reshape(b, n, h, -1).transpose(cut) for w in (w_q, w_k, w_v))
    z = weigh(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])) @ v
    return torch.from_numpy(
        np.ascontiguousarray(z.transpose(axes).reshape(x.shape) if shape is None else z.transpose(axes))
    )


def by_view(y, h):
    return y.reshape(y.shape[0], h, y.shape[1], -1)


def dealt_out(y, h):
    return y.unflatten(2, (-1, h)).permute(0, 3, 1, 2)


def one_cut_otherwise(x, w_q, w_k, w_v, h, *, place):
    parts = [(by_view if i == place else split)(x @ w, h) for i, w in enumerate((w_q, w_k, w_v))]
    return merge(F.scaled_dot_product_attention(*parts))


def one_left_as_it_was(x, w_q, w_k, w_v, h, *, named):
    b, n, d_model = x.shape
    parts = {}
    for name, w in {"q": w_q, "k": w_k, "v": w_v}.items():
        y = torch.einsum("bnd,de->bne", x, w)
        parts[name] = y.view(b, h, n, -1) if name == named else y.view(b, n, h, -1).permute(0, 2, 1, 3)
    scores = torch.einsum("bhqd,bhkd->bhqk", parts["q"], parts["k"]) / (d_model / h) ** 0.5
    return torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), parts["v"]).flatten(2)


def in_every_token(x, w_q, w_k, w_v, h):
    q, k, v = ((x @ w).view(*x.shape[:2], h, -1) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bnhd,bngd->bnhg", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("bnhg,bngd->bnhd", scores.softmax(-1), v).reshape(x.shape)


def in_every_token_moved(x, w_q, w_k, w_v, h):
    q, k, v = ((x @ w).view(*x.shape[:2], h, -1) for w in (w_q, w_k, w_v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)


def undivided(x, w_q, w_k, w_v, h):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return torch.bmm(torch.softmax(torch.bmm(q, k.mT) / q.shape[-1] ** 0.5, 2), v)


def values_alone(x, w_q, w_k, w_v, h):
    return merge(split(x @ w_v, h))


def one_map(x, w_q, w_k, w_v, h):
    q, k = split(x @ w_q, h), split(x @ w_k, h)
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1).mean(1) @ (x @ w_v)


def h_for_d_k(x, w_q, w_k, w_v, h):
    q, k, v = ((x @ w).unflatten(-1, (-1, h)).transpose(1, 2) for w in (w_q, w_k, w_v))
    return merge(F.scaled_dot_product_attention(q, k, v))


def d_k_heads(x, w_q, w_k, w_v, h):
    return fused(x, w_q, w_k, w_v, x.shape[-1] // h)


def sliding(x, w_q, w_k, w_v, h):
    d_k = x.shape[-1] // h
    q, k, v = ((x @ w).unfold(2, d_k, 1)[:, :, :h].transpose(1, 2) for w in (w_q, w_k, w_v))
    return merge((q @ k.mT / d_k**0.5).softmax(-1) @ v)


def from_the_last(x, w_q, w_k, w_v, h):
    z = fused(x, w_q, w_k, w_v, h, join=lambda z: z)
    return torch.cat([z[:, h - 1 - i] for i in range(h)], -1)


def keep_one(z, i):
    out = torch.zeros_like(z)
    out[:, i] = z[:, i]
    return merge(out)


def maps(x, w_q, w_k, h):
    q, k = split(x @ w_q, h), split(x @ w_k, h)
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)


def index_left_out(x, w_q, w_k, w_v, h):
    q, k, v = (split(x @ w, h) for w in (w_q, w_k, w_v))
    weights = (torch.einsum("bhid,bhjd->bij", q, k) / q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("bij,bhjd->bihd", weights, v).flatten(2)


def values_whole(x, w_q, w_k, w_v, h):
    return torch.einsum("bhqk,bkd->bqhd", maps(x, w_q, w_k, h), x @ w_v).flatten(2)


def rows_of_the_matrices(x, w_q, w_k, w_v, h):
    q, k, v = (split(x, h) @ w.view(h, -1, w.shape[1]) for w in (w_q, w_k, w_v))
    return merge(F.scaled_dot_product_attention(q, k, v))


def rows_in_an_einsum(x, w_q, w_k, w_v, h):
    parts = [
        torch.einsum("bnhd,hde->bhne", x.unflatten(2, (h, -1)), w.unflatten(0, (h, -1)))
        for w in (w_q, w_k, w_v)
    ]
    weights = (parts[0] @ parts[1].mT / x.shape[2] ** 0.5).softmax(3)
    return torch.cat((weights @ parts[2]).unbind(1), 2)


def on_the_sphere(x, w_q, w_k, w_v, h):
    q, k, v = (split(x @ w, h) for w in (w_q, w_k, w_v))
    return merge(F.scaled_dot_product_attention(F.normalize(q, dim=-1), F.normalize(k, dim=-1), v))


def with_scores(scores):
    def heads(x, w_q, w_k, w_v, h):
        q, k, v = (split(x @ w, h) for w in (w_q, w_k, w_v))
        return merge(scores(q, k) @ v)

    return heads


keys_of_all = with_scores(
    lambda q, k: (torch.einsum("bhid,chjd->bhij", q, k) / q.shape[-1] ** 0.5).softmax(-1)
)
additive = with_scores(lambda q, k: (q[:, :, :, None] + k[:, :, None]).tanh().sum(-1).softmax(-1))
by_distance = with_scores(lambda q, k: (-torch.cdist(q, k)).softmax(-1))
two_softmaxes = with_scores(lambda q, k: torch.einsum("bhid,bhjd->bhij", q.softmax(3), k.softmax(2)))


def elu_features(x, w_q, w_k, w_v, h):
    q, k, v = (split(x @ w, h) for w in (w_q, w_k, w_v))
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return merge((q @ (k.mT @ v)) / (q @ k.sum(2).unsqueeze(-1)))


def near_ones(s):
    places = torch.arange(s.shape[-1])
    return s.masked_fill((places[:, None] - places).abs() > 1, -torch.inf).softmax(-1)


STEPS = {"scale": SCALES, "which": WHICH, "matrices": MATRICES}
WRONG: list[tuple[str, Callable]] = [
    *(
        (id_, partial(fn, **{step: how}))
        for step, table in STEPS.items()
        for id_, how in table.items()
        for fn in (einsummed, folded)
    ),
    ("no-scale", partial(fused, scale=1.0)),
    ("interleaved", partial(fused, cut=dealt_out)),
    ("overlapping-slices", sliding),
    (
        "first-slice-for-all",
        partial(fused, cut=lambda y, h: y[:, None, :, : y.shape[2] // h].repeat(1, h, 1, 1)),
    ),
    ("heads-reversed", from_the_last),
    ("over-the-queries", partial(einsummed, weigh=lambda s: s.softmax(2))),
    ("over-the-queries", partial(numpy_at_once, weigh=lambda s: softened(s, 2))),
    ("over-the-heads", partial(einsummed, weigh=lambda s: F.softmax(s, dim=1))),
    ("over-the-heads", partial(numpy_at_once, weigh=lambda s: np.exp(s) / np.exp(s).sum(1, keepdims=True))),
    ("over-the-sentences", partial(einsummed, weigh=lambda s: torch.softmax(s, 0))),
    ("over-the-sentences", partial(numpy_at_once, weigh=lambda s: softened(s, 0))),
    ("over-everything", partial(folded, weigh=lambda s: s.flatten(1).softmax(1).view_as(s))),
    (
        "over-everything",
        partial(numpy_at_once, weigh=lambda s: np.exp(s) / np.exp(s).sum((2, 3), keepdims=True)),
    ),
    ("no-softmax", partial(folded, weigh=lambda s: s)),
    ("no-softmax", partial(numpy_at_once, weigh=np.asarray)),
    ("sigmoid", partial(folded, weigh=torch.sigmoid)),
    ("sigmoid", partial(numpy_at_once, weigh=lambda s: 1 / (1 + np.exp(-s)))),
    ("softmax-twice", partial(folded, weigh=lambda s: F.softmax(F.softmax(s, -1), -1))),
    ("softmax-twice", partial(numpy_at_once, weigh=lambda s: softened(softened(s)))),
    ("one-map-for-all", one_map),
    ("one-map-for-all", partial(einsummed, weigh=lambda s: s.softmax(3).mean(1, True).expand(s.shape))),
    ("causal", partial(fused, is_causal=True)),
    ("causal", partial(folded, weigh=lambda s: hidden(s, above=True).softmax(2))),
    (
        "anti-causal",
        partial(einsummed, weigh=lambda s: (s - 1e9 * s.new_ones(s.shape[2:]).tril(-1)).softmax(3)),
    ),
    ("anti-causal", partial(numpy_at_once, weigh=lambda s: softened(s - 1e9 * np.tri(s.shape[2], k=-1)))),
    (
        "scores-added-over-heads",
        partial(einsummed, weigh=lambda s: s.sum(1, True).softmax(3).expand(s.shape)),
    ),
    ("scores-added-over-heads", index_left_out),
    (
        "matrices-not-cut",
        partial(
            einsummed, cut=lambda y, h: torch.stack([y] * h, 1), scale=lambda d_k, d_model, h, n: d_model**0.5
        ),
    ),
    ("matrices-not-cut", partial(fused, cut=lambda y, h: y[:, None].expand(-1, h, -1, -1))),
    ("values-not-cut", values_whole),
    (
        "values-not-cut",
        lambda x, w_q, w_k, w_v, h: torch.cat(list(maps(x, w_q, w_k, h).transpose(0, 1) @ (x @ w_v)), -1),
    ),
    ("rows-for-columns", rows_of_the_matrices),
    ("rows-for-columns", rows_in_an_einsum),
    ("heads-and-batch-swapped", partial(fused, join=lambda z: merge(torch.cat(z.unbind(1)).view(z.shape)))),
    (
        "heads-and-batch-swapped",
        partial(einsummed, join=lambda z: z.transpose(0, 1).reshape(z.shape).transpose(1, 2).flatten(2)),
    ),
    ("stacked-behind-features", partial(fused, join=lambda z: z.movedim(1, -1))),
    ("stacked-behind-features", partial(numpy_at_once, axes=(0, 2, 3, 1), shape="as it is")),
    ("largest-for-concat", partial(fused, join=lambda z: z.max(1).values)),
    ("largest-for-concat", partial(einsummed, join=lambda z: torch.amax(z, dim=1))),
    ("heads-added-up-so-far", partial(fused, join=lambda z: merge(z.cumsum(1)))),
    (
        "heads-added-up-so-far",
        partial(
            einsummed,
            join=lambda z: torch.einsum("gh,bhnd->bngd", torch.ones(len(z[0]), len(z[0])).tril(), z).flatten(
                2
            ),
        ),
    ),
    ("itself-hidden", partial(einsummed, weigh=lambda s: hidden(s).softmax(3))),
    ("itself-hidden", partial(numpy_at_once, weigh=lambda s: softened(s - 1e9 * np.eye(s.shape[-1])))),
    ("weights-not-used", partial(folded, mix=lambda a, v: v.mean(1, keepdim=True).repeat(1, v.shape[1], 1))),
    ("weights-not-used", partial(numpy_at_once, weigh=lambda s: np.ones_like(s) / s.shape[-1])),
    ("weights-transposed", partial(einsummed, mix=lambda a, v: torch.einsum("bhij,bhid->bhjd", a, v))),
    ("weights-transposed", partial(folded, mix=lambda a, v: torch.bmm(a.mT, v))),
    ("values-alone", values_alone),
    ("values-alone", partial(folded, mix=lambda a, v: v)),
    ("values-added", partial(folded, mix=lambda a, v: torch.baddbmm(v, a, v))),
    ("values-added", partial(einsummed, mix=lambda a, v: v + a @ v)),
    ("scaled-after-softmax", partial(fused, scale=1.0, join=lambda z: merge(z / z.shape[-1] ** 0.5))),
    (
        "scaled-after-softmax",
        partial(folded, scale=lambda *s: 1, mix=lambda a, v: a @ v / np.sqrt(v.shape[2])),
    ),
    ("view-without-transpose", partial(fused, cut=by_view)),
    ("view-without-transpose", partial(folded, fold=lambda y, h: y.reshape(len(y), h, y.shape[1], -1))),
    ("values-cut-by-view", partial(one_cut_otherwise, place=2)),
    ("values-cut-by-view", partial(one_left_as_it_was, named="v")),
    ("queries-cut-by-view", partial(one_cut_otherwise, place=0)),
    ("queries-cut-by-view", partial(one_left_as_it_was, named="q")),
    ("keys-cut-by-view", partial(one_cut_otherwise, place=1)),
    ("keys-cut-by-view", partial(one_left_as_it_was, named="k")),
    ("heads-not-moved", in_every_token),
    ("heads-not-moved", partial(numpy_at_once, cut=(0, 1, 2, 3), axes=(0, 1, 2, 3))),
    ("heads-moved-at-the-end-only", in_every_token_moved),
    ("heads-moved-at-the-end-only", partial(numpy_at_once, cut=(0, 1, 2, 3))),
    ("h-and-d_k-swapped", h_for_d_k),
    ("h-and-d_k-swapped", d_k_heads),
    ("heads-not-split", undivided),
    ("heads-not-split", lambda x, w_q, w_k, w_v, h: fused(x, w_q, w_k, w_v, 1)),
    ("merge-without-transpose", partial(einsummed, join=lambda z: z.reshape(len(z), z.shape[2], -1))),
    ("merge-without-transpose", partial(numpy_at_once, axes=(0, 1, 2, 3))),
    ("merge-interleaved", partial(einsummed, join=lambda z: torch.einsum("bhnd->bndh", z).flatten(2))),
    ("merge-interleaved", partial(numpy_at_once, axes=(0, 2, 3, 1))),
    ("heads-reversed", partial(folded, unfold=lambda z: merge(torch.flip(z, [1])))),
    ("last-head-for-all", partial(fused, join=lambda z: torch.cat([z[:, -1]] * z.shape[1], -1))),
    ("only-first-head-kept", partial(fused, join=lambda z: keep_one(z, 0))),
    (
        "only-first-head-kept",
        lambda x, w_q, w_k, w_v, h: (
            einsummed(x, w_q, w_k, w_v, h) * (torch.arange(x.shape[-1]) < x.shape[-1] // h)
        ),
    ),
    ("only-last-head-kept", partial(fused, join=lambda z: keep_one(z, -1))),
    (
        "only-last-head-kept",
        lambda x, w_q, w_k, w_v, h: F.pad(
            fused(x, w_q, w_k, w_v, h, join=lambda z: z[:, -1]), (x.shape[-1] - x.shape[-1] // h, 0)
        ),
    ),
    ("sum-for-concat", partial(fused, join=lambda z: z.sum(dim=1))),
    ("sum-for-concat", partial(einsummed, join=lambda z: torch.einsum("bhnd->bnd", z))),
    ("mean-for-concat", partial(fused, join=lambda z: z.mean(dim=1))),
    ("mean-for-concat", partial(einsummed, join=lambda z: sum(z.unbind(1)) / z.shape[1])),
    ("not-concatenated", partial(fused, join=lambda z: z)),
    ("not-concatenated", partial(einsummed, join=lambda z: torch.stack(z.unbind(1), 1))),
    ("stacked-behind-tokens", partial(fused, join=lambda z: z.transpose(1, 2))),
    ("stacked-behind-tokens", partial(einsummed, join=lambda z: z.swapaxes(2, 1).contiguous())),
    ("along-the-tokens", partial(fused, join=lambda z: z.flatten(1, 2))),
    ("along-the-tokens", partial(einsummed, join=lambda z: torch.cat(z.unbind(1), dim=1))),
    ("stacked-in-front", partial(fused, join=lambda z: z.transpose(0, 1))),
    ("stacked-in-front", partial(einsummed, join=lambda z: torch.stack(z.unbind(1)))),
    ("along-the-batch", partial(fused, join=lambda z: torch.cat(z.unbind(1)))),
    ("along-the-batch", partial(einsummed, join=lambda z: z.swapdims(0, 1).flatten(0, 1))),
    ("last-head-only", partial(fused, join=lambda z: z[:, -1])),
    ("last-head-only", partial(einsummed, join=lambda z: z.select(1, z.shape[1] - 1))),
    ("first-head-only", partial(fused, join=lambda z: z[:, 0])),
    ("first-head-only", partial(einsummed, join=lambda z: next(iter(z.unbind(1))))),
    ("last-head-missing", partial(fused, join=lambda z: torch.cat(z.unbind(1)[:-1], -1))),
    ("last-head-missing", partial(einsummed, join=lambda z: torch.cat(list(z.transpose(0, 1))[:-1], dim=2))),
    ("first-head-missing", partial(fused, join=lambda z: torch.cat(z.unbind(1)[1:], 2))),
    (
        "first-head-missing",
        partial(einsummed, join=lambda z: torch.cat(list(z.transpose(0, 1))[1:], dim=2)),
    ),
    ("heads-behind-tokens-flattened", partial(fused, join=lambda z: z.transpose(1, 2).flatten(1, 2))),
    (
        "heads-behind-tokens-flattened",
        partial(einsummed, join=lambda z: torch.stack(z.unbind(1), 2).flatten(1, 2)),
    ),
    (
        "batch-and-heads-swapped",
        partial(
            fused,
            join=lambda z: merge(z.flatten(0, 1).view(z.shape[1], z.shape[0], *z.shape[2:]).transpose(0, 1)),
        ),
    ),
    (
        "batch-and-heads-swapped",
        partial(einsummed, join=lambda z: torch.cat(z.flatten(0, 1).chunk(z.shape[1]), -1)),
    ),
    (
        "heads-in-front-reshaped",
        partial(fused, join=lambda z: z.transpose(0, 1).reshape(len(z), z.shape[2], -1)),
    ),
    (
        "heads-in-front-reshaped",
        partial(einsummed, join=lambda z: torch.stack(z.unbind(1)).view(len(z), z.shape[2], -1)),
    ),
    ("sum-in-every-place", partial(fused, join=lambda z: z.sum(1).repeat(1, 1, z.shape[1]))),
    ("sum-in-every-place", partial(einsummed, join=lambda z: merge(z.sum(1, keepdim=True).expand(z.shape)))),
    ("mean-in-every-place", partial(fused, join=lambda z: torch.cat([z.mean(1)] * z.shape[1], 2))),
    (
        "mean-in-every-place",
        partial(einsummed, join=lambda z: merge(z.mean(1, keepdim=True).expand(z.shape))),
    ),
    ("heads-in-wrong-places", partial(fused, join=lambda z: merge(z).roll(z.shape[3], -1))),
    ("no-scale+over-the-queries", partial(folded, scale=lambda *s: 1, weigh=lambda s: s.softmax(1))),
    (
        "view-without-transpose+merge-without-transpose",
        partial(fused, cut=by_view, join=lambda z: z.reshape(len(z), z.shape[2], -1)),
    ),
    (
        "scale-sqrt-d_model+over-the-heads",
        partial(einsummed, scale=SCALES["scale-sqrt-d_model"], weigh=lambda s: s.softmax(1)),
    ),
    (
        "no-scale+projections-transposed+merge-without-transpose",
        partial(
            einsummed,
            scale=lambda *s: 1,
            matrices=MATRICES["projections-transposed"],
            join=lambda z: z.reshape(len(z), z.shape[2], -1),
        ),
    ),
]


def with_shaped_matrices(x, w_q, w_k, w_v, h):
    q, k, v = (torch.einsum("bnd,dhk->bhnk", x, w.view(len(w), h, -1)) for w in (w_q, w_k, w_v))
    weights = (torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("bhqk,bhkd->bqhd", weights, v).flatten(2)


def one_big_matrix(x, w_q, w_k, w_v, h):
    b, n, d_model = x.shape
    qkv = (x @ torch.cat([w_q, w_k, w_v], dim=1)).view(b, n, 3, h, d_model // h)
    q, k, v = qkv.permute(2, 0, 3, 1, 4)
    scores = torch.matmul(q, k.transpose(-1, -2)) * (d_model // h) ** -0.5
    return (
        (scores - scores.logsumexp(-1, keepdim=True)).exp().matmul(v).transpose(1, 2).reshape(b, n, d_model)
    )


def chunks_in_the_batch(x, w_q, w_k, w_v, h):
    q, k, v = (torch.cat((x @ w).chunk(h, -1), 0) for w in (w_q, w_k, w_v))
    out = torch.bmm(torch.softmax(q @ k.mT / math.sqrt(q.shape[2]), -1), v)
    return torch.cat(out.chunk(h, 0), -1)


def mapped(x, w_q, w_k, w_v, h):
    def one(q, k, v):
        return F.softmax(q @ k.T / q.shape[-1] ** 0.5, -1) @ v

    parts = [split(x @ w, h) for w in (w_q, w_k, w_v)]
    return torch.vmap(torch.vmap(one))(*parts).movedim(1, 2).flatten(-2)


def torchs_own(x, w_q, w_k, w_v, h):
    d_model = x.shape[-1]
    layer = nn.MultiheadAttention(d_model, h, bias=False, batch_first=True, dtype=x.dtype)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
        layer.out_proj.weight.copy_(torch.eye(d_model))
    return layer(x, x, x, need_weights=False)[0]


def features_first(x, w_q, w_k, w_v, h):
    q, k, v = ((w.T @ x.mT).unflatten(1, (h, -1)) for w in (w_q, w_k, w_v))  # (b, h, d_k, n)
    weights = (q.mT @ k / q.shape[2] ** 0.5).softmax(-1)
    return (v @ weights.mT).flatten(1, 2).mT


def block_mask(x, w_q, w_k, w_v, h):
    """Heads as one long sentence in which a head sees itself alone."""
    b, n, d_model = x.shape
    q, k, v = (split(x @ w, h).flatten(1, 2) for w in (w_q, w_k, w_v))
    same = torch.block_diag(*[torch.ones(n, n)] * h).bool()
    scores = (q @ k.mT / (d_model // h) ** 0.5).masked_fill(~same, -torch.inf)
    return (scores.softmax(-1) @ v).view(b, h, n, -1).transpose(1, 2).reshape(b, n, d_model)


RIGHT: list[Callable] = [
    einsummed,
    folded,
    fused,
    numpy_at_once,
    with_shaped_matrices,
    one_big_matrix,
    chunks_in_the_batch,
    mapped,
    torchs_own,
    features_first,
    block_mask,
    lambda x, w_q, w_k, w_v, h: fused(*(t.double() for t in (x, w_q, w_k, w_v)), h).to(x.dtype),
]

# The pattern that the message must match, and the answer.
UNLISTED: list[tuple[str, Callable]] = [
    ("divided by 10", partial(fused, scale=0.1)),
    (
        "(divided by|multiplied by) .*root of",
        partial(einsummed, scale=lambda d_k, d_model, h, n: (h * n) ** 0.5),
    ),
    ("divided by the logarithm of d_k", partial(folded, scale=lambda d_k, d_model, h, n: math.log(d_k))),
    ("divided by the square of d_k", partial(einsummed, scale=lambda d_k, d_model, h, n: d_k * d_k)),
    ("heads that meet|keys of head 3", partial(einsummed, which=lambda i, h: (i, h - 1, i))),
    ("stand in another order", partial(folded, which=lambda i, h: (i ^ 1 if i ^ 1 < h else i,) * 3)),
    ("Queries and keys are changed.*length 1", on_the_sphere),
    ("Queries, keys and values are changed.*ReLU", partial(fused, cut=lambda y, h: split(y, h).relu())),
    ("result is changed behind the heads.*tanh", lambda *a: fused(*a).tanh()),
    ("Tokens are taken for sentences", lambda x, *rest: fused(x.transpose(0, 1), *rest).transpose(0, 1)),
    (
        "`\\(b, n\\)` is read as `\\(n, b\\)`|confused",
        lambda x, *rest: fused(x.reshape(x.shape[1], len(x), -1), *rest).reshape(x.shape),
    ),
    ("joined to one", lambda x, *rest: fused(x.reshape(1, -1, x.shape[2]), *rest).reshape(x.shape)),
    ("keys of all sentences", keys_of_all),
    ("added, not multiplied", additive),
    ("linear attention|ELU", elu_features),
    ("features of queries and the tokens of keys", two_softmaxes),
    ("distances", by_distance),
    (
        "This is what 4 heads of width 3 give",
        lambda x, w_q, w_k, w_v, h: fused(x, w_q, w_k, w_v, 4 if h == 3 else h),
    ),
    ("multiplied by `w_v` once more", lambda x, w_q, w_k, w_v, h: fused(x, w_q, w_k, w_v, h) @ w_v),
    ("input is added", lambda x, *rest: fused(x, *rest) + x),
    ("taken from the values", lambda x, w_q, w_k, w_v, h: x @ w_v - fused(x, w_q, w_k, w_v, h)),
    (
        "largest number over the heads stands in every place",
        partial(fused, join=lambda z: merge(z.amax(1, True).expand(z.shape))),
    ),
    ("window", partial(einsummed, weigh=near_ones)),
    ("d_model.*wide, not d_k", partial(fused, cut=lambda y, h: torch.stack([y] * h, 1) * 1.1)),
    (
        "divided by|multiplied by",
        partial(numpy_at_once, weigh=lambda s: softened(s, 3) * 0 + softened(s * 0.5)),
    ),
    ("different results", partial(fused, dropout_p=0.2)),
    ("for one sentence", lambda *a: fused(*a).squeeze(0)),
    ("for sentences of one token", lambda *a: fused(*a).squeeze(1)),
    (
        "not the last two",
        lambda x, w_q, w_k, w_v, h: split(x @ w_q, h) @ split(x @ w_k, h).transpose(1, 2),
    ),
    ("nothing \\(`None`\\)|returns nothing", lambda x, *rest: fused(x, *rest).add_(1).zero_() and None),
    ("no effect|constant|0", lambda x, *rest: torch.zeros_like(x)),
]


def turned_before(x, w_q, w_k, w_v, h):
    b, n, d_model = x.shape
    q, k, v = ((x @ w).mT.reshape(b, h, n, d_model // h) for w in (w_q, w_k, w_v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


def keys_by_view(x, w_q, w_k, w_v, h):
    b, n, d_model = x.shape
    q, v = (split(x @ w, h) for w in (w_q, w_v))
    k = (x @ w_k).view(b, h, d_model // h, n)
    return ((q @ k / (d_model / h) ** 0.5).softmax(-1) @ v).transpose(1, 2).flatten(2)


def weights_by_view(x, w_q, w_k, w_v, h):
    b, n, d_model = x.shape
    q, k, v = (split(x @ w, h) for w in (w_q, w_k, w_v))
    weights = (q @ k.mT / (d_model / h) ** 0.5).softmax(-1).reshape(b, n, h, n).transpose(1, 2)
    return (weights @ v).transpose(1, 2).flatten(2)


UNLISTED += [
    *HEADS,
    ("Tokens and features change places before the heads are cut", turned_before),
    ("keys get the shape .* by `view` alone", keys_by_view),
    ("weights are flattened and cut again", weights_by_view),
]
