"""empty_rows as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F

INF = float("inf")


def scores(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def einsum_scores(q, k):
    return torch.einsum("...qd,...kd->...qk", q, k) * q.size(-1) ** -0.5


def mixed(weights, v):
    return weights @ v, weights


def nothing(mask):
    """Rows of the mask without a True: (n_q, 1)."""
    return ~mask.any(dim=-1, keepdim=True)


def safe(q, k, v, mask, *, score=scores, hide=None, axis=-1):
    """Right, with exchangeable steps: -inf, softmax, NaN to 0."""
    s = score(q, k)
    s = hide(s, mask) if hide else s.masked_fill(~mask, -INF)
    return mixed(torch.softmax(s, dim=axis).nan_to_num(0.0), v)


def by_hand(q, k, v, mask, *, score=einsum_scores, power=None, total=None):
    """Right, with exchangeable steps: exp, times the mask, divided by a sum that is never 0."""
    e = power(score(q, k), mask) if power else score(q, k).exp() * mask
    z = total(e) if total else e.sum(-1, keepdim=True).clamp_min(1e-30)
    return mixed(e / z, v)


def row_by_row(q, k, v, mask, *, empty=None, row=None):
    """Right, with exchangeable rows: each query by itself."""
    s, rows = scores(q, k), []
    for i, seen in enumerate(mask):
        if not seen.any():
            rows.append(empty(s[..., i, :], i) if empty else torch.zeros_like(s[..., i, :]))
        else:
            rows.append(row(s[..., i, :], seen) if row else s[..., i, :].masked_fill(~seen, -INF).softmax(-1))
    return mixed(torch.stack(rows, dim=-2), v)


def hidden_far_below(q, k, v, mask, far=-1e9, late=None):
    w = torch.where(mask, scores(q, k), far).softmax(-1)
    return mixed(late(w, mask) if late else w, v)


def opened(q, k, v, mask, *, rows):
    """Empty rows get keys to look at."""
    more = torch.zeros_like(mask)
    for i in range(len(mask)):
        if not mask[i].any():
            more[i] = rows(i, mask.shape[1])
    return mixed(scores(q, k).masked_fill(~(mask | more), -INF).softmax(-1), v)


def guarded_output(q, k, v, mask):
    w = scores(q, k).masked_fill(~mask, -INF).softmax(-1)
    return torch.where(nothing(mask), torch.zeros(()), w @ v), w


def guarded_weights(q, k, v, mask):
    w = F.softmax(einsum_scores(q, k) + torch.zeros(mask.shape).masked_fill(~mask, -INF), -1)
    out = w @ v
    w = torch.where(w.isnan(), torch.zeros_like(w), w)
    return out, w


def fused(q, k, v, mask):
    """scaled_dot_product_attention gives 0 for empty rows; weights by hand."""
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out, scores(q, k).masked_fill(~mask, -INF).softmax(-1)


def mask_of_numbers(q, k, v, mask):
    return mixed((scores(q, k) + (1.0 - mask.float()) * -INF).softmax(-1), v)


def columns(w, mask):
    return w.masked_fill(nothing(mask), 0.0)


def scored(q, k):
    return q @ k.mT / math.sqrt(q.size(-1))


def without_gradients(q, k, v, mask):
    with torch.no_grad():
        return safe(q, k, v, mask)


def rows_as_an_index(q, k, v, mask):
    weights = scored(q, k).masked_fill(~mask, -1e9).softmax(-1)
    weights[~mask.any(-1)] = 0
    return weights @ v, weights


def axis_lost(q, k, v, mask):
    weights = scored(q, k).masked_fill(~mask, -1e9).softmax(-1)
    return mixed(weights.masked_fill(~mask.any(-1), 0), v)


def all_or_nothing(q, k, v, mask):
    if (~mask.any(-1)).any():
        return mixed(torch.zeros_like(scored(q, k)), v)
    return mixed(scored(q, k).masked_fill(~mask, -1e9).softmax(-1), v)


def turned_then_cut(q, k, v, mask):
    weights = scored(q, k).masked_fill(mask, -1e9).softmax(-1) * mask
    return weights @ v, weights


def turned_then_cut_too(q, k, v, mask):
    weights = torch.where(mask, torch.tensor(-1e9), scored(q, k)).softmax(dim=-1)
    return mixed(torch.where(mask, weights, torch.zeros(())), v)


def zeros_then_cut(q, k, v, mask):
    weights = (scored(q, k) * mask).softmax(-1) * mask
    return weights @ v, weights


def zeros_then_cut_too(q, k, v, mask):
    powers = scored(q, k).masked_fill(~mask, 0).exp()
    return mixed((powers / powers.sum(-1, keepdim=True)).masked_fill(~mask, 0), v)


WRONG: list[tuple[str, Callable]] = [
    ("polarity-then-masked", turned_then_cut),
    ("polarity-then-masked", turned_then_cut_too),
    ("hidden-scores-zero-then-masked", zeros_then_cut),
    ("hidden-scores-zero-then-masked", zeros_then_cut_too),
    ("mask-after-softmax+no-scale", lambda q, k, v, mask: mixed((q @ k.mT).softmax(-1) * mask, v)),
    ("empty-rows-nan", lambda q, k, v, mask: mixed(scores(q, k).masked_fill(~mask, -INF).softmax(-1), v)),
    ("empty-rows-nan", lambda q, k, v, mask: by_hand(q, k, v, mask, total=lambda e: e.sum(-1, keepdim=True))),
    ("empty-rows-nan", lambda q, k, v, mask: hidden_far_below(q, k, v, mask, -INF, lambda w, m: w * m)),
    ("empty-rows-uniform", hidden_far_below),
    ("empty-rows-uniform", lambda q, k, v, mask: hidden_far_below(q, k, v, mask, torch.finfo(q.dtype).min)),
    (
        "empty-rows-uniform",
        lambda q, k, v, mask: row_by_row(
            q, k, v, mask, empty=lambda s, i: torch.full_like(s, 1 / s.shape[-1])
        ),
    ),
    ("empty-rows-attend-freely", lambda q, k, v, mask: opened(q, k, v, mask, rows=lambda i, n: True)),
    (
        "empty-rows-attend-freely",
        lambda q, k, v, mask: row_by_row(q, k, v, mask, empty=lambda s, i: s.softmax(-1)),
    ),
    (
        "empty-rows-look-at-the-first",
        lambda q, k, v, mask: opened(q, k, v, mask, rows=lambda i, n: torch.arange(n) == 0),
    ),
    (
        "empty-rows-look-at-the-first",
        lambda q, k, v, mask: row_by_row(
            q,
            k,
            v,
            mask,
            empty=lambda s, i: F.one_hot(torch.zeros(s.shape[:-1]).long(), s.shape[-1]).to(s.dtype),
        ),
    ),
    (
        "empty-rows-look-at-themselves",
        lambda q, k, v, mask: opened(q, k, v, mask, rows=lambda i, n: torch.arange(n) == i),
    ),
    (
        "empty-rows-look-at-themselves",
        lambda q, k, v, mask: hidden_far_below(
            q, k, v, torch.where(nothing(mask), torch.eye(*mask.shape) > 0, mask), -INF
        ),
    ),
    (
        "empty-rows-nan-to-one",
        lambda q, k, v, mask: row_by_row(q, k, v, mask, empty=lambda s, i: torch.ones_like(s)),
    ),
    (
        "empty-rows-nan-to-one",
        lambda q, k, v, mask: hidden_far_below(
            q, k, v, mask, -INF, lambda w, m: torch.nan_to_num(w, nan=1.0)
        ),
    ),
    ("weights-zero-output-nan", guarded_weights),
    (
        "weights-zero-output-nan",
        lambda q, k, v, mask: (
            scores(q, k).masked_fill(~mask, -INF).softmax(-1) @ v,
            row_by_row(q, k, v, mask)[1],
        ),
    ),
    ("output-zero-weights-nan", guarded_output),
    ("output-zero-weights-nan", fused),
    (
        "output-zero-weights-uniform",
        lambda q, k, v, mask: (lambda out, w: (out * mask.any(-1, keepdim=True), w))(
            *hidden_far_below(q, k, v, mask)
        ),
    ),
    (
        "output-zero-weights-uniform",
        lambda q, k, v, mask: (row_by_row(q, k, v, mask)[0], hidden_far_below(q, k, v, mask)[1]),
    ),
    ("mask-after-softmax", lambda q, k, v, mask: mixed(scores(q, k).softmax(-1) * mask, v)),
    (
        "mask-after-softmax",
        lambda q, k, v, mask: row_by_row(
            q, k, v, mask, row=lambda s, seen: s.softmax(-1).masked_fill(~seen, 0.0)
        ),
    ),
    (
        "masked-rows-all-zero",
        lambda q, k, v, mask: hidden_far_below(q, k, v, mask, late=lambda w, m: w * m.all(-1, keepdim=True)),
    ),
    (
        "masked-rows-all-zero",
        lambda q, k, v, mask: row_by_row(
            q, k, v, mask, row=lambda s, seen: s.softmax(-1) if seen.all() else torch.zeros_like(s)
        ),
    ),
    ("polarity", lambda q, k, v, mask: safe(q, k, v, mask, hide=lambda s, m: s.masked_fill(m, -INF))),
    ("polarity", lambda q, k, v, mask: by_hand(q, k, v, mask, power=lambda s, m: s.exp() * ~m)),
    ("polarity-nan", lambda q, k, v, mask: mixed(torch.where(mask, -INF, scores(q, k)).softmax(-1), v)),
    (
        "polarity-nan",
        lambda q, k, v, mask: by_hand(
            q, k, v, mask, power=lambda s, m: s.exp() * ~m, total=lambda e: e.sum(-1, keepdim=True)
        ),
    ),
    (
        "polarity-in-the-fill",
        lambda q, k, v, mask: mixed(columns(scores(q, k).masked_fill(mask, -INF).softmax(-1), mask), v),
    ),
    (
        "polarity-in-the-fill",
        lambda q, k, v, mask: row_by_row(
            q, k, v, mask, row=lambda s, seen: torch.where(seen, -INF, s).softmax(-1)
        ),
    ),
    (
        "wrong-rows-zeroed",
        lambda q, k, v, mask: hidden_far_below(
            q, k, v, mask, late=lambda w, m: w.masked_fill(m.any(-1, keepdim=True), 0.0)
        ),
    ),
    (
        "wrong-rows-zeroed",
        lambda q, k, v, mask: row_by_row(
            q,
            k,
            v,
            mask,
            empty=lambda s, i: torch.ones_like(s) / s.shape[-1],
            row=lambda s, seen: torch.zeros_like(s),
        ),
    ),
    ("zero-times-infinity", mask_of_numbers),
    (
        "zero-times-infinity",
        lambda q, k, v, mask: mixed(F.softmax(einsum_scores(q, k) - (~mask) * INF, dim=-1), v),
    ),
    (
        "hidden-scores-zero",
        lambda q, k, v, mask: mixed(columns(scores(q, k).masked_fill(~mask, 0.0).softmax(-1), mask), v),
    ),
    (
        "hidden-scores-zero",
        lambda q, k, v, mask: row_by_row(q, k, v, mask, row=lambda s, seen: (s * seen).softmax(-1)),
    ),
    ("mask-added", lambda q, k, v, mask: mixed(columns((scores(q, k) + mask.float()).softmax(-1), mask), v)),
    (
        "mask-added",
        lambda q, k, v, mask: row_by_row(q, k, v, mask, row=lambda s, seen: (s + 1.0 * seen).softmax(-1)),
    ),
    ("over-the-queries", lambda q, k, v, mask: safe(q, k, v, mask, axis=-2)),
    (
        "over-the-queries",
        lambda q, k, v, mask: by_hand(
            q, k, v, mask, total=lambda e: e.sum(-2, keepdim=True).clamp_min(1e-30)
        ),
    ),
    ("over-axis-1", lambda q, k, v, mask: safe(q, k, v, mask, axis=1)),
    (
        "over-axis-1",
        lambda q, k, v, mask: by_hand(q, k, v, mask, total=lambda e: e.sum(1, keepdim=True).clamp_min(1e-30)),
    ),
    ("over-the-sentences", lambda q, k, v, mask: safe(q, k, v, mask, axis=0)),
    (
        "over-the-sentences",
        lambda q, k, v, mask: by_hand(q, k, v, mask, total=lambda e: e.sum(0).clamp_min(1e-30)),
    ),
    ("keys-for-values", lambda q, k, v, mask: safe(q, k, k, mask)),
    (
        "keys-for-values",
        lambda q, k, v, mask: (lambda w: (torch.einsum("...qk,...kd->...qd", w, k), w))(
            by_hand(q, k, v, mask)[1]
        ),
    ),
    ("scale-d_k", lambda q, k, v, mask: safe(q, k, v, mask, score=lambda q, k: q @ k.mT / q.shape[-1])),
    ("scale-d_k", lambda q, k, v, mask: row_by_row(q / math.sqrt(q.shape[-1]), k, v, mask)),
    ("mask-ignored", lambda q, k, v, mask: mixed(scores(q, k).softmax(-1), v)),
    ("mask-ignored", lambda q, k, v, mask: by_hand(q, k, v, torch.ones_like(mask))),
    (
        "only-empty-rows-masked",
        lambda q, k, v, mask: mixed(columns(scores(q, k).softmax(-1), mask), v),
    ),
    (
        "only-empty-rows-masked",
        lambda q, k, v, mask: row_by_row(q, k, v, mask, row=lambda s, seen: s.softmax(-1)),
    ),
    ("no-scale", lambda q, k, v, mask: unscaled(q, k, v, mask)),
    ("no-scale", lambda q, k, v, mask: row_by_row(q * math.sqrt(q.shape[-1]), k, v, mask)),
    (
        "tiny-denominator",
        lambda q, k, v, mask: by_hand(q, k, v, mask, total=lambda e: 1 + e.sum(-1, keepdim=True)),
    ),
    (
        "tiny-denominator",
        lambda q, k, v, mask: row_by_row(
            q, k, v, mask, row=lambda s, seen: s.exp() * seen / ((s.exp() * seen).sum(-1, True) + 1)
        ),
    ),
    (
        "nan-gradients",
        lambda q, k, v, mask: safe(
            q, k, v, mask, hide=lambda s, m: s + torch.zeros(m.shape).masked_fill(~m, -INF)
        ),
    ),
    ("nan-gradients", lambda q, k, v, mask: divided_first(q, k, v, mask)),
    ("nan-gradients-of-values", lambda q, k, v, mask: repaired_last(q, k, v, mask)),
    (
        "nan-gradients-of-values",
        lambda q, k, v, mask: tuple(
            t.nan_to_num() for t in mixed(torch.where(mask, scores(q, k), -INF).softmax(-1), v)
        ),
    ),
    (
        "empty-rows-uniform+no-scale",
        lambda q, k, v, mask: mixed((q @ k.mT).masked_fill(~mask, -1e9).softmax(-1), v),
    ),
]


def unscaled(q, k, v, mask):
    w = torch.where(mask, torch.einsum("...qd,...kd->...qk", q, k), -INF).softmax(-1)
    return mixed(columns(w, mask), v)


def divided_first(q, k, v, mask):
    e = scores(q, k).exp() * mask
    w = e / e.sum(-1, keepdim=True)  # 0/0, hidden in the next line
    return mixed(torch.where(nothing(mask), torch.zeros(()), w), v)


def repaired_last(q, k, v, mask):
    w = scores(q, k).masked_fill(~mask, -INF).softmax(-1)
    out = w @ v
    return out.masked_fill(nothing(mask), 0.0), w.masked_fill(nothing(mask), 0.0)


def some_rows(q, k, v, mask, places):
    w = hidden_far_below(q, k, v, mask)[1].clone()
    w[..., places, :] = 0
    return mixed(w, v)


def first_of(q, k, v, mask, part):
    w = hidden_far_below(q, k, v, mask)[1].clone()
    part(w)[..., ~mask.any(-1), :] = 0
    return mixed(w, v)


def in_place(q, k, v, mask):
    empty = nothing(mask)
    mask |= empty
    return mixed(scores(q, k).masked_fill(~mask, -INF).softmax(-1).masked_fill(empty, 0.0), v)


def refusing(q, k, v, mask):
    if nothing(mask).any():
        raise ValueError("an empty row")
    return safe(q, k, v, mask)


def reference_like(q, k, v, mask):
    empty = nothing(mask)
    s = scores(q, k).masked_fill(~mask, -INF).masked_fill(empty, 0.0)
    return mixed(s.softmax(-1).masked_fill(empty, 0.0), v)


def numpy_rows(q, k, v, mask):
    s = q.numpy() @ np.swapaxes(k.numpy(), -1, -2) / math.sqrt(q.shape[-1])
    e = np.exp(s - s.max(-1, keepdims=True)) * mask.numpy()
    z = e.sum(-1, keepdims=True)
    w = np.divide(e, z, out=np.zeros_like(e), where=z > 0)
    return torch.from_numpy((w @ v.numpy()).astype(s.dtype)), torch.from_numpy(w.astype(s.dtype))


def assigned_rows(q, k, v, mask):
    full = mask.any(-1)
    w = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    w[..., full, :] = scores(q[..., full, :], k).masked_fill(~mask[full], -INF).softmax(-1)
    return mixed(w, v)


def fused_twice(q, k, v, mask):
    names = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-1], -1)
    own = [F.scaled_dot_product_attention(q, k, t.contiguous(), attn_mask=mask) for t in (v, names)]
    return tuple(t.masked_fill(nothing(mask), 0.0) for t in own)


def with_a_spare_key(q, k, v, mask):
    """One more key that takes the weight of empty rows, and is cut off again."""
    s = scores(q, k).masked_fill(~mask, -INF)
    spare = torch.where(nothing(mask), 0.0, -INF).to(s.dtype).expand(*s.shape[:-1], 1)
    return mixed(torch.cat([s, spare], -1).softmax(-1)[..., :-1], v)


def three_axes(q, k, v, mask):
    e = torch.einsum("bqd,bkd->bqk", q, k).div(math.sqrt(q.shape[-1])).exp() * mask
    w = e / e.sum(-1, keepdim=True).clamp_min(1e-30)
    return torch.einsum("bqk,bkd->bqd", w, v), w


RIGHT: list[Callable] = [
    safe,
    by_hand,
    row_by_row,
    reference_like,
    numpy_rows,
    assigned_rows,
    fused_twice,
    with_a_spare_key,
    three_axes,
    lambda q, k, v, mask: hidden_far_below(q, k, v, mask, late=lambda w, m: w * m),
    lambda q, k, v, mask: hidden_far_below(q, k, v, mask, -INF, lambda w, m: torch.where(w.isnan(), 0.0, w)),
    lambda q, k, v, mask: hidden_far_below(q, k, v, mask, torch.finfo(q.dtype).min, columns),
    lambda q, k, v, mask: tuple(t.to(q.dtype) for t in safe(q.double(), k.double(), v.double(), mask)),
]

# The pattern that the message must match, and the answer.
UNLISTED: list[tuple[str, Callable]] = [
    ("no gradient reaches `q` and `k`", lambda q, k, v, mask: mixed(safe(q, k, v, mask)[1].detach(), v)),
    ("no gradient reaches the inputs", without_gradients),
    ("no gradient", lambda q, k, v, mask: [t.detach() for t in safe(q, k, v, mask)]),
    ("boolean index of shape `\\(n_q\\)` is laid on the first axis", rows_as_an_index),
    ("`any` takes its axis away", axis_lost),
    ("right as soon as no row is empty", all_or_nothing),
    (
        "weights of empty rows hold NaN",
        lambda q, k, v, mask: mixed((q @ k.mT).masked_fill(~mask, -math.inf).softmax(-1), v),
    ),
    (
        "divided by the root of n_k",
        lambda q, k, v, mask: safe(q, k, v, mask, score=lambda q, k: q @ k.mT / k.shape[-2] ** 0.5),
    ),
    (
        "divided by the root of n_q",
        lambda q, k, v, mask: row_by_row(q * (q.shape[-1] / q.shape[-2]) ** 0.5, k, v, mask),
    ),
    ("multiplied by the root of d_k", lambda q, k, v, mask: safe(q * q.shape[-1], k, v, mask)),
    (
        "mean of all values",
        lambda q, k, v, mask: (lambda out, w: (out, w * mask))(*hidden_far_below(q, k, v, mask)),
    ),
    ("Only row 0 is set to 0", lambda q, k, v, mask: some_rows(q, k, v, mask, slice(0, 1))),
    ("Only row 4 is set to 0", lambda q, k, v, mask: some_rows(q, k, v, mask, slice(-1, None))),
    ("in sentence 1 only", lambda q, k, v, mask: first_of(q, k, v, mask, lambda w: w[0])),
    (
        "in head 1 only",
        lambda q, k, v, mask: first_of(q, k, v, mask, lambda w: w[:, 0] if w.ndim > 3 else w[:1]),
    ),
    (
        "hold `0.5` throughout",
        lambda q, k, v, mask: row_by_row(q, k, v, mask, empty=lambda s, i: torch.full_like(s, 0.5)),
    ),
    (
        "All their weight is on key 6|on key",
        lambda q, k, v, mask: opened(q, k, v, mask, rows=lambda i, n: torch.arange(n) == n - 1),
    ),
    (
        "empty ones are left out",
        lambda q, k, v, mask: tuple(t[..., mask.any(-1), :] for t in safe(q, k, v, mask)),
    ),
    (
        "averaged over the heads",
        lambda q, k, v, mask: (lambda out, w: (out, w.mean(-3)))(*safe(q, k, v, mask)),
    ),
    (
        "side by side",
        lambda q, k, v, mask: (lambda out, w: (out.transpose(-3, -2).flatten(-2), w))(*safe(q, k, v, mask)),
    ),
    ("scores, not the weights", lambda q, k, v, mask: (safe(q, k, v, mask)[0], scores(q, k))),
    (
        "hidden ones at -inf",
        lambda q, k, v, mask: (safe(q, k, v, mask)[0], scores(q, k).masked_fill(~mask, -INF)),
    ),
    ("causal", lambda q, k, v, mask: safe(q, k, v, torch.ones_like(mask).tril())),
    ("causal", lambda q, k, v, mask: safe(q, k, v, mask.tril())),
    (
        "proportions are right, but not their sums",
        lambda q, k, v, mask: by_hand(q, k, v, mask, total=lambda e: e.sum(-1, keepdim=True) + 0.01),
    ),
    ("Hidden scores become -1, ", lambda q, k, v, mask: hidden_far_below(q, k, v, mask, -1.0, columns)),
    (
        "become the smallest score",
        lambda q, k, v, mask: hidden_far_below(q, k, v, mask, scores(q, k).min(), columns),
    ),
    (
        "Only -3 is added",
        lambda q, k, v, mask: mixed(columns((scores(q, k) - 3.0 * ~mask).softmax(-1), mask), v),
    ),
    ("Every query gets row 2", lambda q, k, v, mask: safe(q, k, v, mask[2:3].expand(mask.shape))),
    (
        "same weight: the scores play no part",
        lambda q, k, v, mask: by_hand(q, k, v, mask, power=lambda s, m: m + 0.0 * s),
    ),
    (
        "applied twice",
        lambda q, k, v, mask: mixed(
            columns(safe(q, k, v, mask)[1].masked_fill(~mask, -1e9).softmax(-1), mask), v
        ),
    ),
    (
        "keys of the next head|heads? .* (is|are) right",
        lambda q, k, v, mask: safe(q, k.roll(-1, -3) if k.ndim > 3 else k, v, mask),
    ),
    (
        "hold infinity",
        lambda q, k, v, mask: (lambda out, w: (out.masked_fill(nothing(mask), -INF), w))(
            *safe(q, k, v, mask)
        ),
    ),
    ("Everything is 0", lambda q, k, v, mask: tuple(t * 0 for t in safe(q, k, v, mask))),
    (
        "2 holds nothing but 0",
        lambda q, k, v, mask: tuple(
            t * (torch.arange(len(t)) == 0).view(-1, *[1] * (t.ndim - 1)) for t in safe(q, k, v, mask)
        ),
    ),
    ("return the output alone", lambda q, k, v, mask: safe(q, k, v, mask)[0]),
    ("You return .*weights, output.*; wanted is", lambda q, k, v, mask: safe(q, k, v, mask)[::-1]),
    ("changes its argument `mask`", in_place),
    ("different results", lambda q, k, v, mask: mixed(F.dropout(safe(q, k, v, mask)[1], 0.3), v)),
    ("(?s)ValueError: an empty row", refusing),
]
