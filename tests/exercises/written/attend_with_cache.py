"""attend_with_cache as students write it: wrong in known ways, right, and wrong in ways of their own."""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.nn.functional as F

from mha_course.variants.grouped_query import grouped_attention


def lower_right(n, n_k, shift=0):
    """(n, n_k), True where a query may look."""
    return torch.ones(n, n_k, dtype=torch.bool).tril(n_k - n + shift)


def by_mask(
    q,
    k,
    v,
    old_k,
    old_v,
    *,
    join=lambda old, new: torch.cat([old, new], dim=-2),
    may=lower_right,
    fill=-math.inf,
    late=False,
    scale=lambda q, keys, v: math.sqrt(q.shape[-1]),
    axis=-1,
    look=lambda keys, values, k, v: (keys, values),
    take=lambda weights, keys, values: weights @ values,
    back=lambda keys, values, k, v, old_k, old_v: (keys, values),
    rows=slice(None),
):
    all_k, all_v = join(old_k, k), join(old_v, v)
    keys, values = look(all_k, all_v, k, v)
    scores = q @ keys.mT / scale(q, keys, v)
    mask = may(*scores.shape[-2:])
    if late:
        weights = scores.softmax(axis) * mask
    else:
        weights = scores.masked_fill(~mask, fill).softmax(axis)
    return (take(weights, keys, values)[:, :, rows], *back(all_k, all_v, k, v, old_k, old_v))


def one_by_one(
    q,
    k,
    v,
    old_k,
    old_v,
    *,
    sees=lambda t, length, n: length + t + 1,
    first=0,
    itself=True,
    keep="all",
    divide=None,
):
    """New token after new token, each with what it may see; no mask at all."""
    length, n = old_k.shape[2], q.shape[2]
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    outputs = []
    for t in range(n):
        end = sees(t, length, n)
        seen_k, seen_v = (
            keys[:, :, first if first >= 0 else length : end],
            values[:, :, first if first >= 0 else length : end],
        )
        scores = (q[:, :, t : t + 1] * seen_k).sum(-1) / (
            q.shape[-1] ** 0.5 if divide is None else divide(q, keys, v)
        )
        outputs.append((scores.softmax(-1)[..., None] * seen_v).sum(2))
    if keep == "old":
        keys, values = old_k, old_v
    if keep == "new":
        keys, values = k, v
    return torch.stack(outputs, 2), keys, values


def growing(q, k, v, old_k, old_v):
    """The cache grows by one token, and that token attends."""
    keys, values, outputs = old_k, old_v, []
    for query, key, value in zip(q.split(1, 2), k.split(1, 2), v.split(1, 2), strict=True):
        keys, values = torch.cat((keys, key), 2), torch.cat((values, value), 2)
        outputs.append(((query @ keys.mT) / math.sqrt(q.shape[-1])).softmax(-1) @ values)
    return torch.cat(outputs, 2), keys, values


def by_kernel(q, k, v, old_k, old_v):
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    mask = lower_right(q.shape[2], keys.shape[2])
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask), keys, values


def by_einsum(q, k, v, old_k, old_v):
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, keys) * q.shape[-1] ** -0.5
    place = torch.arange(keys.shape[2])
    behind = place[None, :] > (old_k.shape[2] + torch.arange(q.shape[2]))[:, None]
    weights = torch.softmax(scores + torch.zeros_like(scores).masked_fill(behind, -math.inf), -1)
    return torch.einsum("bhqk,bhkd->bhqd", weights, values), keys, values


def in_two_parts(q, k, v, old_k, old_v):
    """Scores with the cache and with the new tokens, joined before the softmax."""
    scale = 1 / math.sqrt(q.shape[-1])
    new = (q @ k.mT * scale).masked_fill(torch.ones(q.shape[2], q.shape[2]).triu(1).bool(), -math.inf)
    weights = torch.cat((q @ old_k.mT * scale, new), -1).softmax(-1)
    cut = old_k.shape[2]
    output = weights[..., :cut] @ old_v + weights[..., cut:] @ v
    return output, torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)


def as_if_whole(q, k, v, old_k, old_v):
    """Attention of the whole text, of which the last rows are kept."""
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    everyone = torch.cat((torch.zeros_like(old_k), q), 2)
    output = F.scaled_dot_product_attention(everyone, keys, values, is_causal=True)
    return output[:, :, old_k.shape[2] :], keys, values


def preallocated(q, k, v, old_k, old_v):
    b, h, n, d_k = k.shape
    length = old_k.shape[2]
    keys = torch.empty(b, h, length + n, d_k, dtype=k.dtype)
    values = torch.empty(b, h, length + n, v.shape[-1], dtype=v.dtype)
    keys[:, :, :length], keys[:, :, length:] = old_k, k
    values[:, :, :length], values[:, :, length:] = old_v, v
    return by_kernel(q, k, v, old_k, old_v)[0], keys, values


def no_mask(n, n_k):
    return torch.ones(n, n_k, dtype=torch.bool)


def upper_left(n, n_k):
    return torch.ones(n, n_k, dtype=torch.bool).tril()


def cache_and_itself(n, n_k):
    length = n_k - n
    mask = torch.zeros(n, n_k, dtype=torch.bool)
    mask[:, :length] = True
    mask[torch.arange(n), length + torch.arange(n)] = True
    return mask


WRONG = [
    ("no-mask", partial(by_mask, may=no_mask)),
    ("no-mask", partial(one_by_one, sees=lambda t, length, n: length + n)),
    ("mask-at-the-upper-left", partial(by_mask, may=upper_left)),
    ("mask-at-the-upper-left", partial(one_by_one, sees=lambda t, length, n: t + 1)),
    ("not-itself", partial(by_mask, may=partial(lower_right, shift=-1))),
    ("not-itself", lambda *given: _not_itself(*given)),
    ("one-ahead", partial(by_mask, may=partial(lower_right, shift=1))),
    ("one-ahead", partial(one_by_one, sees=lambda t, length, n: length + t + 2)),
    ("only-itself", partial(by_mask, may=cache_and_itself)),
    ("only-itself", lambda *given: _alone(*given)),
    ("mask-turned-round", partial(by_mask, may=lambda n, n_k: ~lower_right(n, n_k))),
    ("mask-turned-round", lambda *given: _turned(*given)),
    ("hidden-by-zero", partial(by_mask, fill=0.0)),
    ("hidden-by-zero", lambda *given: _times_mask(*given)),
    ("hidden-afterwards", partial(by_mask, late=True)),
    ("hidden-afterwards", lambda *given: _late(*given)),
    ("new-tokens-first", partial(by_mask, join=lambda old, new: torch.cat([new, old], 2))),
    ("new-tokens-first", lambda q, k, v, a, b: by_einsum(q, *_exchanged(k, v, a, b, q.shape[2]))),
    ("cache-not-attended", partial(by_mask, look=lambda keys, values, k, v: (k, v))),
    ("cache-not-attended", partial(one_by_one, first=-1)),
    ("cache-not-grown", partial(one_by_one, keep="old")),
    ("cache-not-grown", lambda q, k, v, a, b: (by_kernel(q, k, v, a, b)[0], a, b)),
    ("only-new-ones-returned", partial(one_by_one, keep="new")),
    ("only-new-ones-returned", lambda q, k, v, a, b: (by_einsum(q, k, v, a, b)[0], k, v)),
    ("window-slides", partial(by_mask, join=lambda old, new: torch.cat([old, new], 2)[:, :, new.shape[2] :])),
    ("window-slides", lambda *given: _sliding(*given)),
    ("cache-twice", partial(by_mask, join=lambda old, new: torch.cat([old, old, new], 2))),
    ("cache-twice", lambda q, k, v, a, b: by_kernel(q, k, v, torch.cat((a, a), 2), torch.cat((b, b), 2))),
    ("new-tokens-twice", partial(by_mask, join=lambda old, new: torch.cat([old, new, new], 2))),
    ("new-tokens-twice", lambda *given: _twice(*given)),
    ("keys-for-values", partial(by_mask, take=lambda weights, keys, values: weights @ keys)),
    ("keys-for-values", lambda q, k, v, a, b: (by_kernel(q, k, k, a, a)[0], *by_kernel(q, k, v, a, b)[1:])),
    ("no-scale", partial(by_mask, scale=lambda q, keys, v: 1)),
    ("no-scale", partial(one_by_one, divide=lambda q, keys, v: 1)),
    ("scaled-by-length", partial(by_mask, scale=lambda q, keys, v: math.sqrt(keys.shape[2]))),
    ("scaled-by-length", partial(one_by_one, divide=lambda q, keys, v: keys.shape[2] ** 0.5)),
    ("scaled-by-d_v", partial(by_mask, scale=lambda q, keys, v: math.sqrt(v.shape[-1]))),
    ("scaled-by-d_v", partial(one_by_one, divide=lambda q, keys, v: v.shape[-1] ** 0.5)),
    ("softmax-over-queries", partial(by_mask, axis=-2)),
    ("softmax-over-queries", lambda *given: _over_queries(*given)),
    ("last-row-only", partial(by_mask, rows=slice(-1, None))),
    (
        "last-row-only",
        lambda q, k, v, a, b: (by_einsum(q, k, v, a, b)[0][:, :, -1:], *by_einsum(q, k, v, a, b)[1:]),
    ),
]

RIGHT = [by_mask, one_by_one, growing, by_kernel, by_einsum, in_two_parts, as_if_whole, preallocated]

UNLISTED = [
    (
        "turned round.*whole cache is hidden",
        partial(by_mask, may=lambda n, n_k: ~lower_right(n, n_k), fill=-1e9),
    ),
    ("turned round.*whole cache is hidden", lambda *given: _turned_and_patched(*given)),
    ("turned round.*sees itself", partial(by_mask, may=lambda n, n_k: ~lower_right(n, n_k, -1))),
    ("turned round.*upper left", partial(by_mask, may=lambda n, n_k: torch.ones(n, n_k).tril() == 0)),
    ("turned round.*upper left", partial(by_mask, may=lambda n, n_k: torch.ones(n, n_k).tril(-1) == 0)),
    ("turned round.*among the new tokens", partial(by_mask, may=lambda n, n_k: _new_turned(n, n_k))),
    (
        "does not see cached token 2. It sees cached tokens 0, 1 and 3 and itself; it should see",
        partial(by_mask, may=lambda n, n_k: lower_right(n, n_k) & (torch.arange(n_k) != n_k - n - 2)),
    ),
    (
        "The values returned are those of the new",
        partial(by_mask, back=lambda keys, _, k, v, a, b: (keys, v)),
    ),
    (
        "You return `\\(output, keys, output\\)`",
        lambda *given: (by_kernel(*given)[0], by_kernel(*given)[1], by_kernel(*given)[0]),
    ),
    (
        "together along axis 1, and all.*7 and 4",
        partial(by_mask, join=lambda old, new: torch.cat([old, new], 1)),
    ),
    ("together along axis 3, and all", partial(by_mask, join=lambda old, new: torch.cat([old, new], -1))),
    ("wanted is `\\(output, keys, values\\)`", lambda *given: by_kernel(*given)[0]),
    ("wanted is `\\(output, keys, values\\)`", lambda *given: by_kernel(*given)[::-1]),
    ("output alone|2 things", lambda *given: by_kernel(*given)[:2]),
    ("d_k, not by its root", partial(by_mask, scale=lambda q, keys, v: q.shape[-1])),
    ("reverse order", partial(by_mask, join=lambda old, new: torch.cat([old, new.flip(2)], 2))),
    ("values returned are the old ones", partial(by_mask, back=lambda keys, values, k, v, a, b: (keys, b))),
    ("hold in their rows", partial(by_mask, back=lambda keys, values, k, v, a, b: (keys.roll(1, 2), values))),
    (
        "sees new token 2",
        lambda *given: by_mask(*given, may=lambda n, n_k: lower_right(n, n_k) | _first_row(n, n_k)),
    ),
    (
        "does not see cached token 1",
        partial(by_mask, may=lambda n, n_k: lower_right(n, n_k) & (torch.arange(n_k) != 1)),
    ),
    ("sum to", partial(by_mask, take=lambda weights, keys, values: weights.clamp(max=0.4) @ values)),
    ("dot products are", partial(by_mask, scale=lambda q, keys, v: 1.3 * math.sqrt(q.shape[-1]))),
    (
        "no softmax of products",
        partial(by_mask, take=lambda weights, keys, values: _later_more(weights) @ values),
    ),
    ("Sizes of tensors", partial(by_mask, join=lambda old, new: torch.cat([old, new], 1))),
    (
        "[Hh]eads are joined",
        lambda *given: (by_kernel(*given)[0].transpose(1, 2).flatten(2), *by_kernel(*given)[1:]),
    ),
    ("course's own", lambda q, k, v, a, b: _by_package(q, k, v, a, b)),
]


def _later_more(weights):
    more = weights * torch.arange(1, weights.shape[-1] + 1)
    return more / more.sum(-1, keepdim=True)


def _not_itself(q, k, v, old_k, old_v):
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    place = torch.arange(keys.shape[2])
    open_ = place < (old_k.shape[2] + torch.arange(q.shape[2]))[:, None]
    scores = torch.where(open_, q @ keys.mT / q.shape[-1] ** 0.5, -math.inf)
    return scores.softmax(-1) @ values, keys, values


def _alone(q, k, v, old_k, old_v):
    parts = zip(q.split(1, 2), k.split(1, 2), v.split(1, 2), strict=True)
    outputs = [by_kernel(a, b, c, old_k, old_v)[0] for a, b, c in parts]
    return torch.cat(outputs, 2), torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)


def _turned(q, k, v, old_k, old_v):
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    scores = q @ keys.mT / q.shape[-1] ** 0.5
    scores[..., lower_right(*scores.shape[-2:])] = -math.inf
    return scores.softmax(-1) @ values, keys, values


def _times_mask(q, k, v, old_k, old_v):
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    scores = q @ keys.mT / q.shape[-1] ** 0.5 * lower_right(q.shape[2], keys.shape[2])
    return scores.softmax(-1) @ values, keys, values


def _late(q, k, v, old_k, old_v):
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    weights = (q @ keys.mT / q.shape[-1] ** 0.5).softmax(-1)
    weights[..., ~lower_right(*weights.shape[-2:])] = 0
    return weights @ values, keys, values


def _exchanged(k, v, old_k, old_v, n):
    """The same tensors, cut elsewhere, so that the last n tokens are old ones."""
    keys, values = torch.cat((k, old_k), 2), torch.cat((v, old_v), 2)
    return keys[:, :, -n:], values[:, :, -n:], keys[:, :, :-n], values[:, :, :-n]


def _sliding(q, k, v, old_k, old_v):
    n = q.shape[2]
    keys, values = torch.cat((old_k, k), 2)[:, :, n:], torch.cat((old_v, v), 2)[:, :, n:]
    scores = q @ keys.mT / q.shape[-1] ** 0.5
    behind = ~lower_right(n, keys.shape[2])
    return scores.masked_fill(behind, -math.inf).softmax(-1) @ values, keys, values


def _twice(q, k, v, old_k, old_v):
    return by_kernel(q, k, v, torch.cat((old_k, k), 2), torch.cat((old_v, v), 2))


def _over_queries(q, k, v, old_k, old_v):
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    scores = (keys @ q.mT / q.shape[-1] ** 0.5).masked_fill(
        ~lower_right(q.shape[2], keys.shape[2]).T, -math.inf
    )
    return scores.softmax(-1).mT @ values, keys, values


def _by_package(q, k, v, old_k, old_v):
    keys, values = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
    return grouped_attention(q, keys, values, lower_right(q.shape[2], keys.shape[2])), keys, values


def _first_row(n, n_k):
    return (torch.arange(n)[:, None] == 0) & (torch.arange(n_k) == n_k - 1)


def _turned_and_patched(*given):
    """The mask turned round, and the NaN of queries to whom nothing is open set to 0."""
    output, keys, values = by_mask(*given, may=lambda n, n_k: ~lower_right(n, n_k))
    return output.nan_to_num(), keys, values


def _new_turned(n, n_k):
    """All of the cache is open, and later new tokens."""
    return (torch.arange(n_k) < n_k - n) | ~lower_right(n, n_k)
