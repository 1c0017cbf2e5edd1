"""loop_heads as students write it: one head after the other, in torch or in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.exercises.written.errors_of_heads import HEADS
from tests.exercises.written.heads import MATRICES, SCALES, WHICH, hidden, looped, numpied, softened


def columns(w, i, d_k):
    return w[:, i * d_k : (i + 1) * d_k]


def all_scores(x, w_q, w_k, h):
    d_k = x.shape[-1] // h
    return torch.stack(
        [(x @ columns(w_q, i, d_k)) @ (x @ columns(w_k, i, d_k)).mT / d_k**0.5 for i in range(h)]
    )


def softened_over_heads(x, w_q, w_k, w_v, h):
    weights = all_scores(x, w_q, w_k, h).softmax(0)
    return torch.cat([a @ (x @ w) for a, w in zip(weights, w_v.chunk(h, 1), strict=True)], -1)


def softened_over_heads_by_hand(x, w_q, w_k, w_v, h):
    powers = all_scores(x, w_q, w_k, h).exp()
    total, heads = powers.sum(0), []
    for i, power in enumerate(powers):
        heads.append(power / total @ (x @ columns(w_v, i, x.shape[-1] // h)))
    return torch.cat(heads, -1)


def one_mean_map(x, w_q, w_k, w_v, h):
    weights = all_scores(x, w_q, w_k, h).softmax(-1).mean(0)
    return torch.cat([weights @ (x @ w) for w in w_v.chunk(h, 1)], -1)


def one_map_added_up(x, w_q, w_k, w_v, h):
    total = 0
    for scores in all_scores(x, w_q, w_k, h):
        total = total + F.softmax(scores, -1) / h
    return total @ (x @ w_v)


def overwritten(x, w_q, w_k, w_v, h):
    size = x.shape[-1] // h
    for i in range(h):
        mine = [(x @ w)[..., i * size : (i + 1) * size] for w in (w_q, w_k, w_v)]
        out = F.scaled_dot_product_attention(*mine)
    return out


def overwritten_and_joined(x, w_q, w_k, w_v, h):
    return torch.cat([overwritten(x, w_q, w_k, w_v, h)] * h, 2)


def returned_too_early(x, w_q, w_k, w_v, h):
    d_k = x.shape[-1] // h
    heads = []
    for i in range(h):
        q, k, v = (x @ columns(w, i, d_k) for w in (w_q, w_k, w_v))
        heads.append((q @ k.mT / d_k**0.5).softmax(-1) @ v)
        return torch.cat(heads, -1)


def filled(x, w_q, w_k, w_v, h, rounds=None, fresh=False):
    d_k, out = x.shape[-1] // h, torch.zeros_like(x)
    for i in rounds or range(h):
        if fresh:
            out = torch.zeros_like(x)
        q, k, v = (x @ columns(w, i, d_k) for w in (w_q, w_k, w_v))
        out[..., i * d_k : (i + 1) * d_k] = (q @ k.mT / d_k**0.5).softmax(-1) @ v
    return out


def returned_after_one_block(x, w_q, w_k, w_v, h):
    d_k, out = x.shape[-1] // h, torch.zeros_like(x)
    for i in range(h):
        out[..., i * d_k : (i + 1) * d_k] = F.scaled_dot_product_attention(
            *(x @ columns(w, i, d_k) for w in (w_q, w_k, w_v))
        )
        return out


def sliced_input(x, w_q, w_k, w_v, h):
    outs = []
    for i, part in enumerate(x.chunk(h, dim=2)):
        size = part.shape[2]
        rows = slice(i * size, (i + 1) * size)
        outs.append(F.scaled_dot_product_attention(*(part @ w[rows, rows] for w in (w_q, w_k, w_v))))
    return torch.cat(outs, 2)


def never_moving_slice(x, w_q, w_k, w_v, h):
    size = x.shape[-1] // h
    head = F.scaled_dot_product_attention(*((x @ w)[..., :size] for w in (w_q, w_k, w_v)))
    return head.repeat(1, 1, h)


def in_every_token(x, w_q, w_k, w_v, h):
    out = torch.zeros_like(x)
    for t in range(x.shape[1]):
        q, k, v = ((x[:, t] @ w).view(len(x), h, -1) for w in (w_q, w_k, w_v))
        out[:, t] = F.scaled_dot_product_attention(q, k, v).flatten(1)
    return out


def in_every_token_of_every_sentence(x, w_q, w_k, w_v, h):
    rows = []
    for token in x.flatten(0, 1):
        q, k, v = (torch.stack((token @ w).chunk(h)) for w in (w_q, w_k, w_v))
        rows.append(((q @ k.T / q.shape[1] ** 0.5).softmax(1) @ v).flatten())
    return torch.stack(rows).view_as(x)


def in_every_token_moved(x, w_q, w_k, w_v, h):
    z = in_every_token(x, w_q, w_k, w_v, h).view(*x.shape[:2], h, -1)
    return torch.stack([z[:, :, i] for i in range(h)], 1).reshape(x.shape)


def in_every_token_moved_too(x, w_q, w_k, w_v, h):
    q, k, v = ((x @ w).view(*x.shape[:2], h, -1) for w in (w_q, w_k, w_v))
    out = F.scaled_dot_product_attention(q, k, v)
    return out.permute(0, 2, 1, 3).contiguous().view(x.shape)


def undivided(x, w_q, w_k, w_v, h):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v


def undivided_in_numpy(x, w_q, w_k, w_v, h):
    return numpied(x, w_q, w_k, w_v, 1)


def wrong_number_of_heads(x, w_q, w_k, w_v, h):
    d_k, out = h, []  # h taken for the width
    for i in range(x.shape[-1] // d_k):
        q, k, v = (x @ columns(w, i, d_k) for w in (w_q, w_k, w_v))
        out.append((q @ k.mT / d_k**0.5).softmax(-1) @ v)
    return torch.cat(out, -1)


def split_by_h(x, w_q, w_k, w_v, h):
    parts = zip(*((x @ w).split(h, dim=-1) for w in (w_q, w_k, w_v)), strict=True)
    return torch.cat([F.scaled_dot_product_attention(*part) for part in parts], -1)


def one_more_each(x, w_q, w_k, w_v, h):
    d_k, heads = x.shape[-1] // h, []
    for i in range(h):
        q, k, v = (x @ w[:, i : i + d_k] for w in (w_q, w_k, w_v))
        heads.append((q @ k.mT / d_k**0.5).softmax(-1) @ v)
    return torch.cat(heads, -1)


def by_view(y, i, d_k, h):
    return y.reshape(len(y), h, -1, d_k)[:, i]


def places(*cut):
    """take for looped, with another cut for queries, keys or values: it is called for each in turn."""
    calls = iter(range(10**6))

    def take(y, i, d_k, h):
        part = next(calls) % 3
        return by_view(y, i, d_k, h) if part in cut else y[..., i * d_k : (i + 1) * d_k]

    return take


def one_by_view(x, w_q, w_k, w_v, h, *, which):
    b, n, d_model = x.shape
    parts = []
    for name, w in zip("qkv", (w_q, w_k, w_v), strict=True):
        y = x @ w
        parts.append(y.reshape(b, h, n, -1) if name == which else torch.stack(y.chunk(h, -1), 1))
    return torch.cat(
        [
            F.scaled_dot_product_attention(*qkv)
            for qkv in zip(*map(torch.Tensor.unbind, parts, (1, 1, 1)), strict=True)
        ],
        -1,
    )


def blocks_in_order(*matrices):
    return [np.concatenate(list(m), 1) for m in matrices]


def rest_is_zero(keep):
    def join(heads):
        return np.concatenate([z if i == keep % len(heads) else 0 * z for i, z in enumerate(heads)], 2)

    return join


def one_sum_of_scores(x, w_q, w_k, w_v, h):
    return all_scores(x, w_q, w_k, h).sum(0).softmax(-1) @ (x @ w_v)


def undivided_with_the_scale_of_a_head(x, w_q, w_k, w_v, h):
    scores = (x @ w_q) @ (x @ w_k).mT / math.sqrt(x.shape[-1] // h)
    return torch.cat([F.softmax(scores, -1) @ (x @ w) for w in w_v.chunk(h, 1)], -1)


def values_whole(x, w_q, w_k, w_v, h):
    d_k, heads = x.shape[-1] // h, []
    for i in range(h):
        q, k, v = x @ columns(w_q, i, d_k), x @ columns(w_k, i, d_k), x @ w_v
        heads.append((q @ k.mT / d_k**0.5).softmax(-1) @ v)
    return torch.cat(heads, -1)


def rows_of_the_matrices(x, w_q, w_k, w_v, h):
    d_k, heads = x.shape[-1] // h, []
    for i in range(h):
        mine = slice(i * d_k, (i + 1) * d_k)
        q, k, v = (x[..., mine] @ w[mine] for w in (w_q, w_k, w_v))
        heads.append((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v)
    return torch.cat(heads, -1)


def first_few(x, w_q, w_k, w_v, h, most):
    d_k = x.shape[-1] // h
    heads = [
        F.scaled_dot_product_attention(*(x @ columns(w, i, d_k) for w in (w_q, w_k, w_v))) for i in range(h)
    ]
    return torch.cat(heads[:most], -1)


def in_its_own_input(x, w_q, w_k, w_v, h):
    d_k, x = x.shape[-1] // h, x.clone()
    for i in range(h):
        q, k, v = (x @ columns(w, i, d_k) for w in (w_q, w_k, w_v))
        x[:, :, i * d_k : (i + 1) * d_k] = F.softmax(q @ k.mT / d_k**0.5, -1) @ v
    return x


def remembering():
    kept = []

    def heads(x, w_q, w_k, w_v, h):
        kept.append(looped(x, w_q, w_k, w_v, h))
        return kept[0]

    return heads


def overwritten_input(x, w_q, w_k, w_v, h):
    x = q = x @ w_q
    x = k = x @ w_k
    v = x @ w_v
    return torch.cat(
        [F.scaled_dot_product_attention(*p) for p in zip(*(t.chunk(h, -1) for t in (q, k, v)), strict=True)],
        -1,
    )


def adding_scores(x, w_q, w_k, w_v, h):
    total, heads = 0, []
    for scores, w in zip(all_scores(x, w_q, w_k, h), w_v.chunk(h, 1), strict=True):
        total = total + scores
        heads.append(total.softmax(-1) @ (x @ w))
    return torch.cat(heads, -1)


def divided_by_the_round(x, w_q, w_k, w_v, h):
    d_k, heads = x.shape[-1] // h, []
    for i in range(h):
        q, k, v = (x @ columns(w, i, d_k) for w in (w_q, w_k, w_v))
        heads.append((q @ k.mT / math.sqrt(i + 1)).softmax(-1) @ v)
    return torch.cat(heads, -1)


def divided_by_the_index(x, w_q, w_k, w_v, h):
    d_k, heads = x.shape[-1] // h, []
    for i in range(h):
        q, k, v = (x @ columns(w, i, d_k) for w in (w_q, w_k, w_v))
        heads.append((q @ k.mT / torch.tensor(i).sqrt()).softmax(-1) @ v)
    return torch.cat(heads, -1)


def largest_two(s):
    return s.masked_fill(s < s.topk(min(2, s.shape[-1])).values[..., -1:], -torch.inf).softmax(-1)


STEPS = {"scale": SCALES, "which": WHICH, "matrices": MATRICES}
WRONG: list[tuple[str, Callable]] = [
    *(
        (id_, partial(fn, **{step: how}))
        for step, table in STEPS.items()
        for id_, how in table.items()
        for fn in (looped, numpied)
    ),
    ("first-slice-for-all", never_moving_slice),
    ("input-sliced", sliced_input),
    ("overlapping-slices", one_more_each),
    ("over-the-queries", partial(looped, weigh=lambda s: s.softmax(1))),
    ("over-the-queries", partial(numpied, weigh=lambda s: softened(s, 1))),
    ("over-the-heads", softened_over_heads),
    ("over-the-heads", softened_over_heads_by_hand),
    ("over-the-sentences", partial(looped, weigh=lambda s: F.softmax(s, dim=0))),
    ("over-the-sentences", partial(numpied, weigh=lambda s: np.exp(s) / np.exp(s).sum(0))),
    ("over-everything", partial(looped, weigh=lambda s: s.flatten(1).softmax(-1).view_as(s))),
    ("over-everything", partial(numpied, weigh=lambda s: np.exp(s) / np.exp(s).sum((1, 2), keepdims=True))),
    ("no-softmax", partial(looped, weigh=lambda s: s)),
    ("no-softmax", partial(numpied, weigh=np.positive)),
    ("sigmoid", partial(looped, weigh=torch.sigmoid)),
    ("sigmoid", partial(numpied, weigh=lambda s: 1 / (1 + np.exp(-s)))),
    ("softmax-twice", partial(looped, weigh=lambda s: nn.Softmax(-1)(torch.softmax(s, -1)))),
    ("softmax-twice", partial(numpied, weigh=lambda s: softened(softened(s)))),
    ("one-map-for-all", one_mean_map),
    ("one-map-for-all", one_map_added_up),
    ("causal", partial(looped, weigh=lambda s: hidden(s, above=True).softmax(-1))),
    ("causal", partial(numpied, weigh=lambda s: softened(s + np.triu(np.full(s.shape[1:], -1e9), 1)))),
    (
        "anti-causal",
        partial(
            looped, weigh=lambda s: s.masked_fill(s.new_ones(s.shape[1:]).tril(-1) > 0, -1e9).softmax(-1)
        ),
    ),
    ("anti-causal", partial(numpied, weigh=lambda s: softened(s + np.tril(np.full(s.shape[1:], -1e9), -1)))),
    ("scores-added-over-heads", one_sum_of_scores),
    ("scores-added-over-heads", undivided_with_the_scale_of_a_head),
    (
        "matrices-not-cut",
        partial(looped, scale=lambda d_k, d_model, h, n: d_model**0.5, take=lambda y, i, d_k, h: y),
    ),
    (
        "matrices-not-cut",
        partial(numpied, scale=lambda d_k, d_model, h, n: d_model**0.5, take=lambda y, *s: y),
    ),
    ("values-not-cut", values_whole),
    (
        "values-not-cut",
        lambda x, w_q, w_k, w_v, h: torch.cat(
            [a.softmax(-1) @ x @ w_v for a in all_scores(x, w_q, w_k, h)], 2
        ),
    ),
    ("rows-for-columns", rows_of_the_matrices),
    (
        "rows-for-columns",
        lambda x, w_q, w_k, w_v, h: torch.cat(
            [
                undivided(*some, 1)
                for some in zip(x.chunk(h, 2), w_q.chunk(h), w_k.chunk(h), w_v.chunk(h), strict=True)
            ],
            -1,
        ),
    ),
    (
        "heads-and-batch-swapped",
        partial(
            looped, join=lambda zs: torch.cat(torch.cat(zs).view(-1, len(zs), *zs[0].shape[1:]).unbind(1), -1)
        ),
    ),
    (
        "heads-and-batch-swapped",
        partial(
            numpied,
            join=lambda zs: np.concatenate(
                list(np.vstack(zs).reshape(-1, len(zs), *zs[0].shape[1:]).swapaxes(0, 1)), 2
            ),
        ),
    ),
    ("stacked-behind-features", partial(looped, join=lambda zs: torch.stack(zs, dim=-1))),
    ("stacked-behind-features", partial(numpied, join=lambda zs: np.stack(zs, axis=3))),
    ("largest-for-concat", partial(looped, join=lambda zs: torch.stack(zs).amax(0))),
    ("largest-for-concat", partial(numpied, join=np.maximum.reduce)),
    (
        "heads-added-up-so-far",
        partial(looped, join=lambda zs: torch.cat([sum(zs[: i + 1]) for i in range(len(zs))], -1)),
    ),
    ("heads-added-up-so-far", partial(numpied, join=lambda zs: np.concatenate(list(np.cumsum(zs, 0)), 2))),
    ("itself-hidden", partial(looped, weigh=lambda s: hidden(s).softmax(-1))),
    ("itself-hidden", partial(numpied, weigh=lambda s: softened(s - 1e9 * np.eye(s.shape[1])))),
    ("weights-not-used", partial(looped, mix=lambda a, v: v.mean(1, keepdim=True).repeat(1, v.shape[1], 1))),
    ("weights-not-used", partial(numpied, mix=lambda a, v: v * 0 + v.mean(1, keepdims=True))),
    ("weights-transposed", partial(looped, mix=lambda a, v: a.mT @ v)),
    ("weights-transposed", partial(numpied, mix=lambda a, v: np.einsum("bqk,bqd->bkd", a, v))),
    ("values-alone", partial(looped, mix=lambda a, v: v)),
    ("values-alone", lambda x, w_q, w_k, w_v, h: torch.cat((x @ w_v).chunk(h, -1), -1)),
    ("values-added", partial(looped, mix=lambda a, v: torch.baddbmm(v, a, v))),
    ("values-added", partial(numpied, mix=lambda a, v: v + a @ v)),
    (
        "scaled-after-softmax",
        partial(looped, scale=lambda *s: 1, mix=lambda a, v: a / v.shape[-1] ** 0.5 @ v),
    ),
    (
        "scaled-after-softmax",
        partial(numpied, scale=lambda *s: 1, mix=lambda a, v: a @ v / np.sqrt(v.shape[2])),
    ),
    ("view-without-transpose", partial(looped, take=by_view)),
    (
        "view-without-transpose",
        partial(numpied, take=lambda y, i, d_k, h: y.reshape(len(y), h, -1, d_k)[:, i]),
    ),
    ("values-cut-by-view", partial(looped, take=places(2))),
    ("values-cut-by-view", partial(one_by_view, which="v")),
    ("queries-cut-by-view", partial(looped, take=places(0))),
    ("queries-cut-by-view", partial(one_by_view, which="q")),
    ("keys-cut-by-view", partial(looped, take=places(1))),
    ("keys-cut-by-view", partial(one_by_view, which="k")),
    ("heads-not-moved", in_every_token),
    ("heads-not-moved", in_every_token_of_every_sentence),
    ("heads-moved-at-the-end-only", in_every_token_moved),
    ("heads-moved-at-the-end-only", in_every_token_moved_too),
    ("h-and-d_k-swapped", wrong_number_of_heads),
    ("h-and-d_k-swapped", split_by_h),
    ("heads-not-split", undivided),
    ("heads-not-split", undivided_in_numpy),
    (
        "merge-without-transpose",
        partial(looped, join=lambda zs: torch.stack(zs, 1).reshape(*zs[0].shape[:2], -1)),
    ),
    (
        "merge-without-transpose",
        partial(numpied, join=lambda zs: np.concatenate(zs, 1).reshape(*zs[0].shape[:2], -1)),
    ),
    ("merge-interleaved", partial(looped, join=lambda zs: torch.stack(zs, -1).flatten(2))),
    ("merge-interleaved", partial(numpied, join=lambda zs: np.stack(zs, 3).reshape(*zs[0].shape[:2], -1))),
    ("heads-reversed", partial(looped, join=lambda zs: torch.cat(zs[::-1], 2))),
    ("last-head-for-all", overwritten_and_joined),
    ("only-first-head-kept", returned_after_one_block),
    ("only-first-head-kept", partial(numpied, join=rest_is_zero(0))),
    ("only-last-head-kept", partial(filled, fresh=True)),
    ("only-last-head-kept", partial(numpied, join=rest_is_zero(-1))),
    ("sum-for-concat", partial(looped, join=sum)),
    ("sum-for-concat", partial(numpied, join=lambda zs: np.add.reduce(zs))),
    ("mean-for-concat", partial(looped, join=lambda zs: torch.stack(zs).mean(0))),
    ("mean-for-concat", partial(numpied, join=lambda zs: sum(zs) / len(zs))),
    ("not-concatenated", partial(looped, join=lambda zs: torch.stack(zs, dim=1))),
    ("not-concatenated", partial(numpied, join=lambda zs: np.stack(zs, axis=1))),
    ("stacked-behind-tokens", partial(looped, join=lambda zs: torch.stack(zs, dim=2))),
    ("stacked-behind-tokens", partial(numpied, join=lambda zs: np.stack(zs, axis=-2))),
    ("along-the-tokens", partial(looped, join=lambda zs: torch.cat(zs, 1))),
    ("along-the-tokens", partial(numpied, join=lambda zs: np.hstack(zs))),
    ("stacked-in-front", partial(looped, join=torch.stack)),
    ("stacked-in-front", partial(numpied, join=np.array)),
    ("along-the-batch", partial(looped, join=torch.cat)),
    ("along-the-batch", partial(numpied, join=np.vstack)),
    ("last-head-only", overwritten),
    ("last-head-only", partial(looped, join=lambda zs: zs[-1])),
    ("first-head-only", returned_too_early),
    ("first-head-only", partial(numpied, join=lambda zs: zs[0])),
    ("last-head-missing", partial(looped, join=lambda zs: torch.cat(zs[:-1], -1))),
    ("last-head-missing", partial(numpied, join=lambda zs: np.concatenate(zs[:-1], 2))),
    ("first-head-missing", partial(looped, join=lambda zs: torch.cat(zs[1:], -1))),
    ("first-head-missing", partial(numpied, join=lambda zs: np.dstack(zs[1:]))),
    ("heads-behind-tokens-flattened", partial(looped, join=lambda zs: torch.stack(zs, 2).flatten(1, 2))),
    (
        "heads-behind-tokens-flattened",
        partial(numpied, join=lambda zs: np.stack(zs, 2).reshape(len(zs[0]), -1, zs[0].shape[2])),
    ),
    (
        "batch-and-heads-swapped",
        partial(looped, join=lambda zs: torch.cat(torch.stack(zs, 1).flatten(0, 1).chunk(len(zs)), -1)),
    ),
    (
        "batch-and-heads-swapped",
        partial(
            numpied,
            join=lambda zs: np.concatenate(
                list(np.stack(zs, 1).reshape(len(zs), -1, *zs[0].shape[1:])), axis=-1
            ),
        ),
    ),
    ("heads-in-front-reshaped", partial(looped, join=lambda zs: torch.cat(zs).reshape(*zs[0].shape[:2], -1))),
    ("heads-in-front-reshaped", partial(numpied, join=lambda zs: np.array(zs).reshape(*zs[0].shape[:2], -1))),
    ("sum-in-every-place", partial(looped, join=lambda zs: torch.cat([sum(zs)] * len(zs), -1))),
    ("sum-in-every-place", partial(numpied, join=lambda zs: np.tile(sum(zs), len(zs)))),
    ("mean-in-every-place", partial(looped, join=lambda zs: torch.cat([sum(zs) / len(zs)] * len(zs), -1))),
    ("mean-in-every-place", partial(numpied, join=lambda zs: np.tile(np.mean(zs, 0), len(zs)))),
    ("heads-in-wrong-places", partial(looped, join=lambda zs: torch.cat([zs[-1], *zs[:-1]], -1))),
    ("no-scale+over-the-queries", partial(looped, scale=lambda *s: 1, weigh=lambda s: s.softmax(1))),
    (
        "scale-sqrt-d_model+projections-transposed",
        partial(numpied, scale=SCALES["scale-sqrt-d_model"], matrices=MATRICES["projections-transposed"]),
    ),
    (
        "no-scale+view-without-transpose+heads-reversed",
        partial(looped, scale=lambda *s: 1, take=by_view, join=lambda zs: torch.cat(zs[::-1], 2)),
    ),
]


def listed(x, w_q, w_k, w_v, h):
    d_k = x.shape[-1] // h
    return torch.cat(
        [
            F.scaled_dot_product_attention(*(x @ columns(w, i, d_k) for w in (w_q, w_k, w_v)))
            for i in range(h)
        ],
        dim=-1,
    )


def grown(x, w_q, w_k, w_v, h):
    out = None
    for q, k, v in zip(*((x @ w).chunk(h, dim=-1) for w in (w_q, w_k, w_v)), strict=True):
        powers = (q @ k.transpose(1, 2) * q.size(2) ** -0.5).exp()
        head = powers @ v / powers.sum(dim=2, keepdim=True)
        out = head if out is None else torch.cat((out, head), dim=2)
    return out


def entry_by_entry(x, w_q, w_k, w_v, h):
    b, n, d_model = x.shape
    d_k = d_model // h
    out = torch.empty(b, n, d_model, dtype=x.dtype)
    for s in range(b):
        q, k, v = x[s] @ w_q, x[s] @ w_k, x[s] @ w_v
        for start in range(0, d_model, d_k):
            mine = slice(start, start + d_k)
            for t in range(n):
                scores = torch.stack([q[t, mine].dot(k[u, mine]) for u in range(n)]) / math.sqrt(d_k)
                out[s, t, mine] = scores.softmax(0) @ v[:, mine]
    return out


class OneHead(nn.Module):
    def __init__(self, w_q, w_k, w_v):
        super().__init__()
        self.q, self.k, self.v = w_q, w_k, w_v

    def forward(self, x):
        q, k = torch.matmul(x, self.q), torch.matmul(x, self.k)
        return F.softmax(torch.bmm(q, k.permute(0, 2, 1)) / np.sqrt(q.shape[2]), -1) @ torch.matmul(x, self.v)


def with_modules(x, w_q, w_k, w_v, h):
    blocks = zip(w_q.chunk(h, 1), w_k.chunk(h, 1), w_v.chunk(h, 1), strict=True)
    heads = nn.ModuleList(OneHead(*block) for block in blocks)
    return torch.cat([head(x) for head in heads], dim=2)


def assigned_columns(x, w_q, w_k, w_v, h):
    out, places = torch.zeros_like(x), torch.arange(x.shape[-1]).view(h, -1)
    for mine in places:
        q, k, v = (torch.index_select(x @ w, -1, mine) for w in (w_q, w_k, w_v))
        out[..., mine] = torch.softmax(torch.einsum("bqd,bkd->bqk", q, k) / len(mine) ** 0.5, 2) @ v
    return out


def masked_columns(x, w_q, w_k, w_v, h):
    d_k, out = x.shape[-1] // h, 0
    for i in range(h):
        keep = ((torch.arange(x.shape[-1]) // d_k) == i).to(x.dtype)
        q, k, v = (x @ w * keep for w in (w_q, w_k, w_v))
        out = out + F.scaled_dot_product_attention(q, k, v, scale=d_k**-0.5)
    return out


RIGHT: list[Callable] = [
    looped,
    numpied,
    filled,
    listed,
    grown,
    entry_by_entry,
    with_modules,
    assigned_columns,
    masked_columns,
    lambda x, w_q, w_k, w_v, h: looped(*(t.double() for t in (x, w_q, w_k, w_v)), h).to(x.dtype),
    lambda x, w_q, w_k, w_v, h: looped(x.mT.contiguous().mT, w_q.T.contiguous().T, w_k, w_v, h),
]

# The pattern that the message must match, and the answer.
UNLISTED: list[tuple[str, Callable]] = [
    ("divided by 8", partial(looped, scale=lambda d_k, d_model, h, n: 8)),
    ("divided by .*root of b", lambda x, *rest: looped(x, *rest, scale=lambda *s: len(x) ** 0.5)),
    ("divided by the logarithm of d_k", partial(numpied, scale=lambda d_k, d_model, h, n: math.log(d_k))),
    (
        "divided by .*d_model.*h|h times d_model",
        partial(looped, scale=lambda d_k, d_model, h, n: d_model * h),
    ),
    ("divided by the square of d_k", partial(numpied, scale=lambda d_k, d_model, h, n: d_k**2)),
    (
        "3 wide, one less than d_k = 4",
        partial(looped, take=lambda y, i, d_k, h: y[..., i * d_k : (i + 1) * d_k - 1]),
    ),
    (
        "but the last are one feature too wide",
        partial(looped, take=lambda y, i, d_k, h: y[..., i * d_k : i * d_k + d_k + 1]),
    ),
    (
        "One feature is missing",
        partial(looped, take=lambda y, i, d_k, h: y[..., i * d_k + 1 : (i + 1) * d_k + 1]),
    ),
    ("not all d_k = 4 wide", partial(looped, take=lambda y, i, d_k, h: y[..., i * d_k : i + 1 * d_k])),
    ("room for 4 heads of width d_k = 3; there are 5", lambda x, *rest: first_few(x, *rest, 4)),
    ("This is what 2 heads of width 6 give", lambda x, w_q, w_k, w_v, h: looped(x, w_q, w_k, w_v, 2)),
    ("It is always 3", lambda x, w_q, w_k, w_v, h: looped(x, w_q, w_k, w_v, 3)),
    ("head 2 .*queries of head 2, keys of head 1", partial(looped, which=lambda i, h: (i, max(i - 1, 0), i))),
    (
        "stand in another order.*2, 1 and 3",
        partial(looped, which=lambda i, h: (i ^ 1 if i ^ 1 < h else i,) * 3),
    ),
    ("heads 1 and 2 are right.*head 3 is wrong: nothing but 0", partial(filled, rounds=range(2))),
    (
        "stand in another order.*1, 1 and 1",
        partial(numpied, which=lambda i, h: (0, 0, 0) if h == 3 else (i,) * 3),
    ),
    ("written into `x`", in_its_own_input),
    ("queries are added", lambda x, w_q, *rest: looped(x, w_q, *rest) + x @ w_q),
    ("input is added", lambda x, *rest: x + looped(x, *rest)),
    ("something fixed is added", lambda *a: looped(*a) + 0.1),
    ("divided by n", lambda x, *rest: looped(x, *rest) / x.shape[1]),
    ("divided by h", lambda *a: numpied(*a) / a[-1]),
    ("ReLU", partial(looped, mix=lambda a, v: a @ v.relu())),
    ("ReLU", lambda *a: looped(*a).relu()),
    ("ReLU", partial(looped, take=lambda y, i, d_k, h: y[..., i * d_k : (i + 1) * d_k].relu())),
    ("ends at 5", partial(looped, weigh=lambda s: (5 * torch.tanh(s / 5)).softmax(-1))),
    ("largest weights of a row are kept", partial(looped, weigh=largest_two)),
    ("exponential is missing", partial(looped, weigh=lambda s: s / s.sum(-1, keepdim=True))),
    (
        "sum that divides is too large by 1",
        partial(numpied, weigh=lambda s: np.exp(s) / (1 + np.exp(s).sum(-1, keepdims=True))),
    ),
    (
        "nearly sum to 1",
        partial(numpied, weigh=lambda s: np.exp(s) / (1e-2 + np.exp(s).sum(-1, keepdims=True))),
    ),
    ("L2 norm", partial(looped, weigh=lambda s: F.normalize(s.exp(), dim=-1))),
    (
        "standardised",
        partial(
            looped, weigh=lambda s: ((s - s.mean(-1, keepdim=True)) / s.std(-1, keepdim=True)).softmax(-1)
        ),
    ),
    ("reversed order", partial(looped, mix=lambda a, v: a @ v.flip(1))),
    (
        "each token gets its own value alone",
        partial(looped, mix=lambda a, v: a.diagonal(dim1=1, dim2=2).unsqueeze(-1) * v),
    ),
    ("multiplied with each other", partial(looped, join=lambda zs: torch.stack(zs).prod(0))),
    ("multiplied by `w_v` once more", lambda x, w_q, w_k, w_v, h: looped(x, w_q, w_k, w_v, h) @ w_v),
    ("2 holds what belongs to sentence 1", lambda x, *rest: looped(x[:1], *rest).expand_as(x)),
    ("2 holds nothing but 0", lambda x, *rest: looped(x, *rest) * (torch.arange(len(x)) == 0).view(-1, 1, 1)),
    ("last one|what belongs to sentence", lambda x, *rest: looped(x[-1:], *rest).expand_as(x)),
    ("Everything is 0", lambda x, *rest: looped(x, *rest) * 0),
    ("Everything is NaN", lambda x, *rest: looped(x, *rest) * math.nan),
    ("multiplied by 2, whatever the sizes", lambda x, *rest: looped(x, *rest) * 2),
    ("cut off at 3", partial(looped, weigh=lambda s: s.clamp(max=3).softmax(-1))),
    ("keepdim", partial(looped, weigh=lambda s: s.exp() / s.exp().sum(-1)[:, None])),
    ("slices are 3 wide, whatever", partial(looped, take=lambda y, i, d_k, h: y[..., i * 3 : i * 3 + 3])),
    ("earlier one gave", remembering()),
    (
        "input is changed first: the mean over the tokens",
        lambda x, *rest: looped(x - x.mean(1, keepdim=True), *rest),
    ),
    ("input is changed first.*layer norm", lambda x, *rest: looped(F.layer_norm(x, x.shape[2:]), *rest)),
    ("Each projection starts from the one before", overwritten_input),
    ("Scores are added up from head to head", adding_scores),
    ("divisor of its own", divided_by_the_round),
    ("1 holds NaN or infinity", divided_by_the_index),
    ("queries of head 3, keys of head 1", partial(looped, which=lambda i, h: (h - 1, i, i))),
    ("different results", partial(looped, weigh=lambda s: F.dropout(s.softmax(-1), 0.1))),
    ("for one sentence", lambda *a: looped(*a).squeeze()),
    ("with large scores", partial(looped, weigh=lambda s: s.clamp(-30, 30).softmax(-1))),
    (
        "d_model.*And: The keys of head 1 serve all",
        partial(looped, scale=SCALES["scale-sqrt-d_model"], which=WHICH["first-keys-for-all"]),
    ),
    (
        "averaged.*And: Each head gets a slice of the input",
        lambda *a: rows_of_the_matrices(*a).unflatten(2, (a[-1], -1)).mean(2),
    ),
    (
        "rows of `w_q`",
        lambda x, w_q, w_k, w_v, h: x[:, : x.shape[2] // h] @ w_q[: x.shape[2] // h],
    ),
]


def growing(x, w_q, w_k, w_v, h):
    d_k = x.shape[-1] // h
    parts = [[(x @ w)[..., : (i + 1) * d_k] for w in (w_q, w_k, w_v)] for i in range(h)]
    return torch.cat([(q @ k.mT / d_k**0.5).softmax(-1) @ v for q, k, v in parts], -1)


def d_k_rounds(x, w_q, w_k, w_v, h):
    d_k = x.shape[-1] // h
    parts = [[(x @ w)[..., i * h : i * h + h] for w in (w_q, w_k, w_v)] for i in range(d_k)]
    return torch.cat([(q @ k.mT / d_k**0.5).softmax(-1) @ v for q, k, v in parts], -1)


def tokens_shared_out(x, w_q, w_k, w_v, h):
    parts = zip(*((x @ w).tensor_split(h, 1) for w in (w_q, w_k, w_v)), strict=True)
    scale = (x.shape[-1] // h) ** 0.5
    return torch.hstack([(q @ k.mT / scale).softmax(-1) @ v for q, k, v in parts])


UNLISTED += [
    *HEADS,
    ("slices grow", growing),
    ("h and d_k have changed places in the cut", d_k_rounds),
    ("tokens are cut into pieces", tokens_shared_out),
]
