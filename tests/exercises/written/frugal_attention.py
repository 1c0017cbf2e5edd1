"""frugal_attention as students write it: in two ways with every step open to a slip, and right in more."""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.nn.functional as F

from tests.exercises.written import whole_attention as whole

INF = float("inf")


def heads_of(x, w, h):
    return torch.stack((x @ w).chunk(h, -1), 1)


def zero_safe(s, m):
    return torch.where(m, s, torch.finfo(s.dtype).min).softmax(-1) * m


def ends(n, rows):
    return [(s, min(n, s + rows)) for s in range(0, n, rows)]


def collected(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    h,
    allowed,
    rows,
    *,
    cut=ends,
    pick=lambda t, s, e, n, rows: t[:, s:e],
    seen=lambda t, s, e: t,
    here=lambda m, s, e, rows: m[:, :, s:e],
    soft=zero_safe,
    scale=lambda d_k, rows: d_k**-0.5,
    last=lambda out: torch.cat(out, 1),
):
    """Only the block's own tokens are projected to queries; results in a list."""
    n, out = x.shape[1], []
    k, v = heads_of(x, w_k, h), heads_of(x, w_v, h)
    for s, e in cut(n, rows):
        q = heads_of(pick(x, s, e, n, rows), w_q, h)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, seen(k, s, e)) * scale(q.shape[-1], rows)
        z = torch.einsum("bhqk,bhkd->bqhd", soft(scores, here(allowed, s, e, rows)), seen(v, s, e))
        out.append(z.flatten(2) @ w_o)
    return last(out)


def written_in(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    h,
    allowed,
    rows,
    *,
    cut=lambda n, rows: list(zip(range(0, n, rows), [*range(rows, n, rows), n], strict=True)),
    pick=lambda q, s, e: q[..., s:e, :],
    seen=lambda t, s, e: t,
    here=lambda m, s, e: m[..., s:e, :],
    soft=lambda s, m: s.masked_fill(~m, -1e30).softmax(-1).masked_fill(~m.any(-1, keepdim=True), 0.0),
    root=lambda d_k, rows: math.sqrt(d_k),
    place=lambda s, e, n: slice(s, e),
    size=lambda n: n,
):
    """All is projected first; every block is written into the place that waits for it."""
    b, n, d_model = x.shape
    q, k, v = ((x @ w).unflatten(-1, (h, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    z = x.new_zeros(b, h, size(n), d_model // h)
    for s, e in cut(n, rows):
        scores = pick(q, s, e) @ seen(k, s, e).mT / root(d_model // h, rows)
        z[:, :, place(s, e, n)] = soft(scores, here(allowed, s, e)) @ seen(v, s, e)
    return z.transpose(1, 2).flatten(2) @ w_o


def both(id_, one, other):
    return [(id_, partial(collected, **one)), (id_, partial(written_in, **other))]


def full(n, rows):
    return [(i * rows, (i + 1) * rows) for i in range(n // rows)] or [(0, n)]


def in_turn(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    count = math.ceil(x.shape[1] / rows)
    order = torch.cat([torch.arange(i, x.shape[1], count) for i in range(count)])
    return written_in(x, w_q, w_k, w_v, w_o, h, allowed, rows)[:, order]


def dealt(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    count = -(-x.shape[1] // rows)
    k, v = heads_of(x, w_k, h), heads_of(x, w_v, h)
    out = []
    for i in range(count):
        q = heads_of(x[:, i::count], w_q, h)
        w = zero_safe(q @ k.mT / q.shape[-1] ** 0.5, allowed[:, :, i::count])
        out.append((w @ v).transpose(1, 2).flatten(2))
    return torch.cat(out, 1) @ w_o


def over_keys(x, w_q, w_k, w_v, w_o, h, allowed, rows, *, gather=sum):
    q, k, v = (heads_of(x, w, h) for w in (w_q, w_k, w_v))
    out = []
    for s, e in ends(x.shape[1], rows):
        w = zero_safe(q @ k[:, :, s:e].mT / q.shape[-1] ** 0.5, allowed[..., s:e])
        out.append(w @ v[:, :, s:e])
    return gather(out).transpose(1, 2).flatten(2) @ w_o


def over_keys_by_parts(x, w_q, w_k, w_v, w_o, h, allowed, rows, *, share=lambda count: 1):
    q, k, v = ((x @ w).unflatten(-1, (h, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    total = torch.zeros_like(q)
    blocks = list(zip(k.split(rows, 2), v.split(rows, 2), allowed.split(rows, 3), strict=True))
    for key, value, mask in blocks:
        s = torch.einsum("bhqd,bhkd->bhqk", q, key) / math.sqrt(q.size(-1))
        w = s.masked_fill(~mask, -1e9).softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0)
        total = total + w @ value * share(len(blocks))
    return total.transpose(1, 2).flatten(2) @ w_o


def ones(m):
    return m | True


def causal(m, s, e, start):
    n = m.shape[-1]
    return (torch.arange(n) <= torch.arange(start, start + e - s)[:, None]).expand(len(m), 1, e - s, n)


def returned_early(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    for start in range(0, x.shape[1], rows):
        return collected(x, w_q, w_k, w_v, w_o, h, allowed, rows)[:, start : start + rows]


def only_last(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    y = written_in(x, w_q, w_k, w_v, w_o, h, allowed, rows)
    return y.split(rows, 1)[-1]


def reversed_parts(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    out = None
    for part in written_in(x, w_q, w_k, w_v, w_o, h, allowed, rows).split(rows, 1):
        out = part if out is None else torch.cat([part, out], 1)
    return out


def over_each_other(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    out = torch.zeros_like(x)
    for part in collected(x, w_q, w_k, w_v, w_o, h, allowed, rows).split(rows, 1):
        out[:, : part.shape[1]] = part
    return out


def missing_one(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    parts = collected(x, w_q, w_k, w_v, w_o, h, allowed, rows).split(rows, 1)
    return torch.cat([p if p.shape[1] == 1 else p[:, :-1] for p in parts], 1)


def one_more(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    y = written_in(x, w_q, w_k, w_v, w_o, h, allowed, rows)
    return torch.cat([y[:, s : s + rows + 1] for s in range(0, x.shape[1], rows)], 1)


def squeezed(s, m, dim):
    powers = s.masked_fill(~m, -1e9)
    powers = (powers - powers.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True) * m.any(-1, keepdim=True)


def hide(s, m, value):
    return torch.where(m, s, value)


WRONG = [
    ("last-block-lost", partial(collected, cut=full)),
    ("last-block-lost", lambda *a: collected(*a)[:, : a[0].shape[1] // a[7] * a[7] or None]),
    ("last-block-zero", partial(written_in, cut=full)),
    (
        "last-block-zero",
        lambda *a: F.pad(
            collected(*a, cut=full),
            (0, 0, 0, a[0].shape[1] - (a[0].shape[1] // a[7] * a[7] or a[0].shape[1])),
        ),
    ),
    *both(
        "mask-of-the-first-block",
        {"here": lambda m, s, e, rows: m[:, :, :rows][:, :, : e - s]},
        {"here": lambda m, s, e: m.narrow(2, 0, e - s)},
    ),
    *both(
        "mask-of-the-last-block",
        {"here": lambda m, s, e, rows: m[:, :, m.shape[2] - (e - s) :]},
        {"here": lambda m, s, e: m.flip(2)[:, :, : e - s].flip(2)},
    ),
    *both(
        "one-row-for-the-block",
        {"here": lambda m, s, e, rows: m[:, :, s, None]},
        {"here": lambda m, s, e: m[..., s : s + 1, :].expand(-1, -1, e - s, -1)},
    ),
    *both(
        "last-row-for-the-block",
        {"here": lambda m, s, e, rows: m[:, :, e - 1, None]},
        {"here": lambda m, s, e: m[..., [e - 1] * (e - s), :]},
    ),
    *both(
        "mask-ignored",
        {"soft": lambda s, m: s.softmax(-1)},
        {"here": lambda m, s, e: ones(m[..., s:e, :])},
    ),
    *both(
        "mask-polarity",
        {"here": lambda m, s, e, rows: m[:, :, s:e].logical_not()},
        {"soft": lambda s, m: s.masked_fill(m, -1e9).softmax(-1).masked_fill(m.all(-1, keepdim=True), 0)},
    ),
    *both(
        "causal-restarts",
        {"here": lambda m, s, e, rows: causal(m, s, e, 0)},
        {"here": lambda m, s, e: torch.ones(len(m), 1, e - s, m.shape[3]).tril().bool()},
    ),
    *both(
        "causal-in-its-place",
        {"here": lambda m, s, e, rows: causal(m, s, e, s)},
        {"here": lambda m, s, e: torch.ones(len(m), 1, *m.shape[2:]).tril()[:, :, s:e] == 1},
    ),
    *both(
        "keys-of-the-block-only",
        {"seen": lambda t, s, e: t[:, :, s:e], "here": lambda m, s, e, rows: m[:, :, s:e, s:e]},
        {"seen": lambda t, s, e: t[..., s:e, :], "here": lambda m, s, e: m[..., s:e, s:e]},
    ),
    *both(
        "first-queries-again",
        {"pick": lambda t, s, e, n, rows: t[:, :rows][:, : e - s]},
        {"pick": lambda q, s, e: q.narrow(2, 0, e - s)},
    ),
    ("blocks-in-reverse", partial(collected, last=lambda out: torch.cat(list(reversed(out)), 1))),
    ("blocks-in-reverse", reversed_parts),
    ("first-block-only", partial(collected, last=lambda out: out[0])),
    ("first-block-only", returned_early),
    ("last-block-only", partial(collected, last=lambda out: out.pop())),
    ("last-block-only", only_last),
    ("written-over-each-other", partial(written_in, place=lambda s, e, n: slice(0, e - s))),
    ("written-over-each-other", over_each_other),
    ("dealt-in-turn", in_turn),
    ("dealt-in-turn", dealt),
    (
        "one-row-left-out",
        partial(
            collected,
            cut=lambda n, rows: [(s, max(s + 1, min(n, s + rows) - 1)) for s in range(0, n, rows)],
        ),
    ),
    ("one-row-left-out", missing_one),
    ("one-row-twice", partial(collected, cut=lambda n, rows: [(s, min(n, e + 1)) for s, e in ends(n, rows)])),
    ("one-row-twice", one_more),
    *both(
        "over-the-block",
        {"soft": lambda s, m: hide(s, m, -1e9).softmax(2) * m.any(-1, keepdim=True)},
        {"soft": lambda s, m: squeezed(s, m, 2)},
    ),
    *both("no-scale", {"scale": lambda d_k, rows: 1}, {"root": lambda d_k, rows: 1.0}),
    *both(
        "scale-sqrt-rows",
        {"scale": lambda d_k, rows: rows**-0.5},
        {"root": lambda d_k, rows: math.sqrt(rows)},
    ),
    *both(
        "mask-after-softmax",
        {"soft": lambda s, m: torch.where(m, s.softmax(-1), 0.0)},
        {"soft": lambda s, m: s.softmax(-1).masked_fill(~m, 0)},
    ),
    *both(
        "empty-rows-nan",
        {"soft": lambda s, m: hide(s, m, -INF).softmax(-1)},
        {"soft": lambda s, m: (s + m.log()).softmax(-1)},
    ),
    *both(
        "empty-rows-uniform",
        {"soft": lambda s, m: hide(s, m, -1e9).softmax(-1)},
        {"soft": lambda s, m: s.masked_fill(m == 0, torch.finfo(s.dtype).min).softmax(-1)},
    ),
    ("softmax-in-each-block", over_keys),
    ("softmax-in-each-block", over_keys_by_parts),
    ("blocks-of-keys-averaged", partial(over_keys, gather=lambda out: torch.stack(out).mean(0))),
    ("blocks-of-keys-averaged", partial(over_keys_by_parts, share=lambda count: 1 / count)),
]


def put_along(x, w_q, w_k, w_v, w_o, h, allowed, rows, *, axis):
    k, v = heads_of(x, w_k, h), heads_of(x, w_v, h)
    parts = []
    for s, e in ends(x.shape[1], rows):
        q = heads_of(x[:, s:e], w_q, h)
        parts.append(zero_safe(q @ k.mT / q.shape[-1] ** 0.5, allowed[:, :, s:e]) @ v)
    return torch.concat(parts, axis).permute(0, 2, 1, 3).reshape(*x.shape).matmul(w_o)


def stacked_along(x, w_q, w_k, w_v, w_o, h, allowed, rows, *, axis):
    q, k, v = ((x @ w).unflatten(-1, (h, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    parts = torch.stack(
        [
            zero_safe(a @ k.mT / math.sqrt(q.shape[-1]), m) @ v
            for a, m in zip(q.split(rows, 2), allowed.split(rows, 2), strict=True)
        ]
    )
    z = parts.movedim(0, axis).flatten(axis, axis + 1)
    return z.transpose(1, 2).reshape(*x.shape) @ w_o


for axis, name in ((0, "sentences"), (1, "heads"), (3, "features")):
    WRONG.append((f"joined-along-the-{name}", partial(put_along, axis=axis)))
    WRONG.append((f"joined-along-the-{name}", partial(stacked_along, axis=axis)))


def chunked(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    k, v = ((x @ w).unflatten(-1, (h, -1)).transpose(1, 2) for w in (w_k, w_v))
    out = []
    for mine, here in zip(x.split(rows, 1), allowed.split(rows, 2), strict=True):
        q = (mine @ w_q).unflatten(-1, (h, -1)).transpose(1, 2)
        s = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~here, -INF)
        w = s.softmax(-1).masked_fill(~here.any(-1, keepdim=True), 0.0)
        out.append((w @ v).transpose(1, 2).flatten(2) @ w_o)
    return torch.cat(out, dim=1)


def one_query_at_a_time(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    return collected(x, w_q, w_k, w_v, w_o, h, allowed, 1)


def one_head_at_a_time(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    n, d_k = x.shape[1], x.shape[2] // h
    out = torch.zeros_like(x)
    for i in range(h):
        mine = slice(i * d_k, (i + 1) * d_k)
        q, k, v = (x @ w[:, mine] for w in (w_q, w_k, w_v))
        start, done = 0, []
        while start < n:
            w = zero_safe(q[:, start : start + rows] @ k.mT / d_k**0.5, allowed[:, 0, start : start + rows])
            done.append(w @ v)
            start += rows
        out = out + torch.cat(done, 1) @ w_o[mine]
    return out


def fused_blocks(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    q, k, v = (heads_of(x, w, h) for w in (w_q, w_k, w_v))
    parts = [
        F.scaled_dot_product_attention(a, k, v, attn_mask=m)
        for a, m in zip(q.split(rows, 2), allowed.split(rows, 2), strict=True)
    ]
    return torch.cat(parts, 2).transpose(1, 2).flatten(2) @ w_o


def by_a_function(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    def block(s):
        part = allowed[:, :, s : s + rows]
        scores = q[:, :, s : s + rows].matmul(k.transpose(2, 3)).mul(q.shape[-1] ** -0.5)
        powers = scores.masked_fill(~part, -INF).sub(scores.amax(-1, keepdim=True)).exp()
        return powers.matmul(v) / powers.sum(-1, keepdim=True).clamp_min(1e-30)

    q, k, v = ((x @ w).view(*x.shape[:2], h, -1).permute(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    z = torch.cat([block(s) for s in range(0, x.size(1), rows)], dim=-2)
    return z.permute(0, 2, 1, 3).reshape(x.shape) @ w_o


def rows_of_the_whole(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    b, n, d_model = x.shape
    k, v = ((x @ w).view(b, n, h, -1) for w in (w_k, w_v))
    out = torch.empty_like(x)
    for start in range(0, n, rows):
        stop = min(n, start + rows)
        q = (x[:, start:stop] @ w_q).view(b, stop - start, h, -1)
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) / (d_model / h) ** 0.5
        m = allowed[:, :, start:stop]
        some = m.any(3, keepdim=True)
        w = s.masked_fill(~m & some, -INF).softmax(-1).where(some, torch.zeros(()).to(x.dtype))
        out[:, start:stop] = torch.einsum("bhqk,bkhd->bqhd", w, v).reshape(b, stop - start, d_model) @ w_o
    return out


RIGHT = [
    collected,
    written_in,
    chunked,
    one_query_at_a_time,
    one_head_at_a_time,
    fused_blocks,
    by_a_function,
    rows_of_the_whole,
]


def all_at_once(inside):
    return lambda x, w_q, w_k, w_v, w_o, h, allowed, rows: inside(x, w_q, w_k, w_v, w_o, h, allowed)


def of_another_size(change):
    return lambda *given: collected(*given[:7], change(given[7], given[0].shape[1]))


def kept(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    q, k, v = (heads_of(x, w, h) for w in (w_q, w_k, w_v))
    weights = [
        zero_safe(a @ k.mT / q.shape[-1] ** 0.5, m)
        for a, m in zip(q.split(rows, 2), allowed.split(rows, 2), strict=True)
    ]
    return torch.cat([w @ v for w in weights], 2).transpose(1, 2).flatten(2) @ w_o


def cut_afterwards(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    q, k, v = (heads_of(x, w, h) for w in (w_q, w_k, w_v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    z = [zero_safe(scores[:, :, s:e], allowed[:, :, s:e]) @ v for s, e in ends(x.shape[1], rows)]
    return torch.cat(z, 2).transpose(1, 2).flatten(2) @ w_o


def by_keys(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    """Blocks of keys, with the sums carried along: right, though queries were to be cut."""
    q, k, v = (heads_of(x, w, h) for w in (w_q, w_k, w_v))
    top, total, mixed = torch.full_like(q[..., :1], -1e30), torch.zeros_like(q[..., :1]), torch.zeros_like(q)
    for s, e in ends(x.shape[1], rows):
        m = allowed[..., s:e]
        scores = (q @ k[:, :, s:e].mT / q.shape[-1] ** 0.5).masked_fill(~m, -1e30)
        now = torch.maximum(top, scores.amax(-1, keepdim=True))
        powers, fade = (scores - now).exp() * m, (top - now).exp()
        total, mixed, top = (
            total * fade + powers.sum(-1, keepdim=True),
            mixed * fade + powers @ v[:, :, s:e],
            now,
        )
    return (mixed / total.masked_fill(total == 0, 1)).transpose(1, 2).flatten(2) @ w_o


RIGHT.append(by_keys)


def float_mask_first(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    bias = torch.zeros(allowed.shape, dtype=x.dtype).masked_fill(~allowed, -1e30)
    soft = lambda s, m: (s + m).softmax(-1) * (m == 0)  # noqa: E731 - a step of the bench
    return collected(x, w_q, w_k, w_v, w_o, h, bias, rows, soft=soft)


def complex_scores(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    q, k, v = (heads_of(x, w, h) for w in (w_q, w_k, w_v))
    scores = q.to(torch.complex64) @ k.mT.to(torch.complex64) / q.shape[-1] ** 0.5
    z = [zero_safe(scores[:, :, s:e].real, allowed[:, :, s:e]) @ v for s, e in ends(x.shape[1], rows)]
    return torch.cat(z, 2).transpose(1, 2).flatten(2) @ w_o


UNLISTED = [
    ("No scores are too large, but another tensor of floats", float_mask_first),
    ("in all heads, are made at once", complex_scores),
    ("in all heads, are made at once", all_at_once(whole.exponentials)),
    ("in all heads, are made at once", cut_afterwards),
    ("are made at once, one head after the other", all_at_once(whole.summed)),
    ("A block has 8 queries in place of `rows` = 7", of_another_size(lambda rows, n: rows + 1)),
    ("A block has 14 queries in place of `rows` = 7", of_another_size(lambda rows, n: 2 * rows)),
    ("`rows` is taken for the number of blocks", of_another_size(lambda rows, n: math.ceil(n / rows))),
    ("are kept until the end", kept),
    ("gets all queries at once, and `rows` is left out", all_at_once(whole.fused)),
    ("W_O is transposed", lambda x, q, k, v, o, h, m, rows: collected(x, q, k, v, o.mT, h, m, rows)),
    ("W_Q and W_K|Queries and keys", lambda x, q, k, v, o, h, m, rows: collected(x, k, q, v, o, h, m, rows)),
    ("divided by d_k", partial(collected, scale=lambda d_k, rows: 1 / d_k)),
    ("There is no softmax", partial(collected, soft=lambda s, m: s * m)),
    ("yours has `\\(2, 25, 12\\)`", partial(collected, here=lambda m, s, e, rows: m)),
    ("it stops with an error", partial(written_in, here=lambda m, s, e: m[..., s:e])),
    (
        "gradients of .* are NaN",
        partial(collected, soft=lambda s, m: (s + m.log()).softmax(-1).nan_to_num(0.0)),
    ),
    ("no gradient reaches", lambda *given: collected(*given).detach()),
    ("the output should be 0; yours is `7` throughout", lambda *given: filled(*given)),
    (
        "Row 4 of the result holds what belongs to query 0, masked with row 4",
        lambda *given: slid(*given),
    ),
    ("Everything is 0", lambda *given: collected(*given) * 0),
    ("handed|as it came", lambda *given: given[0]),
]


def filled(*given):
    some = given[6][:, 0].any(-1, keepdim=True)
    return torch.where(some, collected(*given), 7.0)


def slid(x, w_q, w_k, w_v, w_o, h, allowed, rows):
    """The queries of a later block are those of the block before."""
    return written_in(
        x,
        w_q,
        w_k,
        w_v,
        w_o,
        h,
        allowed,
        rows,
        pick=lambda q, s, e: q.roll(rows, 2)[:, :, s:e] if s else q[:, :, s:e],
    )
