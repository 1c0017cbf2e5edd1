"""Answers of lesson 13 far from anything listed, and strange on purpose: none may stay unnamed."""

from __future__ import annotations

import math

import torch

from tests.exercises.written import attend_with_cache as AC
from tests.exercises.written import cached_intensity as CI
from tests.exercises.written import finish_steps as FS
from tests.exercises.written import kv_cache_bytes as KB
from tests.exercises.written import partial_outputs as PO
from tests.exercises.written import rotate_pairs as RP
from tests.exercises.written import share_keys as SK


def output(change, run=AC.by_kernel):
    """A right answer whose output is changed."""

    def fn(*given):
        made, keys, values = run(*given)
        return change(made), keys, values

    return fn


def caches(change):
    """A right answer whose caches are changed."""

    def fn(*given):
        made, keys, values = AC.by_kernel(*given)
        return made, *change(keys, values)

    return fn


def shares(change):
    """Right shares, changed."""
    return lambda *given: change(PO.grouped(*given))


def heads(change, run=SK.interleaved):
    """Right keys of all heads, changed."""
    return lambda k, h: change(run(k, h))


def rounded_up(sizes):
    return -(-sizes // 2) * 2


STRANGE = {
    "attainable_flops": [
        lambda f, m, p, w: (f / m * w).clamp(max=p) * 1e-9,
        lambda f, m, p, w: (f / m * w).clamp(max=p) + w,
        lambda f, m, p, w: p * torch.tanh(f / m * w / p),
        lambda f, m, p, w: p * (1 - torch.exp(-f / m * w / p)),
        lambda f, m, p, w: (f / (m + 1) * w).clamp(max=p),
        lambda f, m, p, w: ((f / m) ** 2 * w).clamp(max=p),
        lambda f, m, p, w: (f / m * w).clamp(max=p - w),
        lambda f, m, p, w: torch.where(f / m > p / w, p, p / 2),
        lambda f, m, p, w: (f / m * w).clamp(max=p).sort().values,
        lambda f, m, p, w: (f / m * w).clamp(max=p).cumsum(0),
        lambda f, m, p, w: (f / m * w).clamp(max=p).log(),
        lambda f, m, p, w: (f.roll(1) / m * w).clamp(max=p),
        lambda f, m, p, w: (f / m * w).clamp(max=p)[f > m],
        lambda f, m, p, w: (f / m * w).clamp(min=w, max=p),
    ],
    "cached_intensity": [
        lambda b, n, h, kv, d, s: CI.formula(b, n, h, kv, d, s) * d / (d + 1),
        lambda b, n, h, kv, d, s: CI.formula(b, n, h, kv, d, s) ** 2,
        lambda b, n, h, kv, d, s: 4 * b * h * n * d / (s * (b * h * d + b * kv * n * d + b * kv * d)),
        lambda b, n, h, kv, d, s: 2 * n * d / (s * (n * d + d + n)),
        lambda b, n, h, kv, d, s: 2 / s * h / kv * (1 + h / kv / n),
        lambda b, n, h, kv, d, s: 4 * b * h * n * d // s // (2 * b * h * d + 2 * b * kv * n * d),
        lambda b, n, h, kv, d, s: b * h * n * (4 * d + 1) / (s * (2 * b * h * d + 2 * b * kv * n * d)),
        lambda b, n, h, kv, d, s: 4 * b * h * n * d / (s * (2 * b * h * d + 2 * b * kv * n * d + h * d * d)),
        lambda b, n, h, kv, d, s: math.log(CI.formula(b, n, h, kv, d, s)),
        lambda b, n, h, kv, d, s: 1 / s,
        lambda b, n, h, kv, d, s: torch.tensor([CI.formula(b, n, h, kv, d, s)] * b),
        lambda b, n, h, kv, d, s: {"intensity": CI.formula(b, n, h, kv, d, s)},
        lambda b, n, h, kv, d, s: (4 * b * h * n * d, s * (2 * b * h * d + 2 * b * kv * n * d)),
        lambda b, n, h, kv, d, s: 8 * n * d * h / (s * (h + kv * n) * 2 * d + b),
    ],
    "kv_cache_bytes": [
        lambda b, n, d, h, kv, layers, s: KB.by_token(b, n, d, h, kv, layers, s) + 1,
        lambda b, n, d, h, kv, layers, s: 2 * b * n * layers * s * (kv + d // h),
        lambda b, n, d, h, kv, layers, s: 2 * (b + n) * layers * s * kv * (d // h),
        lambda b, n, d, h, kv, layers, s: KB.by_token(b, n, d, h, kv, layers, s) // 2**10,
        lambda b, n, d, h, kv, layers, s: 2**s * b * n * layers * kv * (d // h),
        lambda b, n, d, h, kv, layers, s: b * n * layers * s * (kv * (d // h)) ** 2,
        lambda b, n, d, h, kv, layers, s: 2 * b * n * layers * s * kv * (d // h + 1),
        lambda b, n, d, h, kv, layers, s: 2 * b * (n - 1) * layers * s * kv * (d // h),
        lambda b, n, d, h, kv, layers, s: 2 * b * rounded_up(n) * layers * s * kv * (d // h),
        lambda b, n, d, h, kv, layers, s: [2, b, n, layers, kv, d // h, s],
        lambda b, n, d, h, kv, layers, s: 2 * b ^ n * layers * s * kv * (d // h),
        lambda b, n, d, h, kv, layers, s: sum((b, n, layers, kv, d // h, s)),
        lambda b, n, d, h, kv, layers, s: KB.by_token(b, n, d, h, kv, layers, s) * h // d * 2,
    ],
    "attend_with_cache": [
        output(lambda o: o * 2),
        output(lambda o: o + 0.5),
        output(lambda o: o.roll(1, 2)),
        output(lambda o: o.relu()),
        output(lambda o: o.cumsum(2)),
        output(lambda o: o.roll(1, 1)),
        lambda q, k, v, a, b: AC.by_kernel(q / q.norm(dim=-1, keepdim=True), k, v, a, b),
        lambda q, k, v, a, b: AC.by_kernel(q.roll(1, -1), k, v, a, b),
        lambda q, k, v, a, b: AC.by_kernel(q, k + 0.1, v, a, b),
        lambda q, k, v, a, b: AC.by_kernel(q, k, v.flip(2), a, b),
        caches(lambda keys, values: (keys * 0.5, values)),
        caches(lambda keys, values: (keys[:, :, :-1], values)),
        caches(lambda keys, values: (keys.flatten(1, 2), values.flatten(1, 2))),
        caches(lambda keys, values: (keys.mean(1), values.mean(1))),
        lambda q, k, v, a, b: AC.by_mask(q, k, v, a, b, may=lambda n, m: AC.lower_right(n, m, 1 - n % 2)),
    ],
    "share_keys": [
        heads(lambda x: x + 1),
        heads(lambda x: x.roll(1, 1)),
        heads(lambda x: x.roll(1, 2)),
        heads(lambda x: x.cumsum(1)),
        heads(lambda x: x - x.mean(-1, keepdim=True)),
        heads(lambda x: x.transpose(0, 1).reshape(x.shape)),
        heads(lambda x: x.reshape(x.shape[0], x.shape[2], x.shape[1], -1).transpose(1, 2)),
        heads(lambda x: x[:, :, :-1]),
        heads(lambda x: x.sort(1).values.flip(1)),
        heads(lambda x: x * (torch.arange(x.shape[1]) + 1)[:, None, None]),
        heads(lambda x: torch.stack([x, x])),
        lambda k, h: k.flatten().repeat(h // k.shape[1]).view(k.shape[0], h, *k.shape[2:]),
        lambda k, h: torch.rand(k.shape[0], h, *k.shape[2:]),
        lambda k, h: k.new_zeros(k.shape[0], h, *k.shape[2:]),
    ],
    "rotate_pairs": [
        lambda x, s, base: RP.tensors(x, s, base) * 0.5,
        lambda x, s, base: RP.tensors(x, s, base).roll(1, 2),
        lambda x, s, base: RP.tensors(RP.tensors(x, s, base), s, base),
        lambda x, s, base: torch.cat((RP.tensors(x[..., :2], s, base), x[..., 2:]), -1),
        lambda x, s, base: RP.tensors(x, s, base * 1.5),
        lambda x, s, base: RP.tensors(x, s, base).abs(),
        lambda x, s, base: RP.tensors(x.roll(1, 1), s, base),
        lambda x, s, base: RP.tensors(x, s * 10, base),
        lambda x, s, base: RP.tensors(x, s, base, exponent=lambda j, d: (2 * j / d) ** 2),
        lambda x, s, base: RP.tensors(x, s, base, exponent=lambda j, d: (j % 2) / d),
        lambda x, s, base: x * torch.cos(torch.arange(x.shape[-1]) + s),
        lambda x, s, base: x + torch.arange(s, s + x.shape[2])[:, None],
        lambda x, s, base: RP.tensors(x, s, base)[..., : x.shape[-1] // 2],
        lambda x, s, base: RP.tensors(x.flip(-1), s, base).flip(-1),
        lambda x, s, base: torch.fft.fft(x).real,
    ],
    "finish_steps": [
        lambda a, s: [end * 2 for end in FS.by_heap(a, s)],
        lambda a, s: [end + i for i, end in enumerate(FS.by_heap(a, s))],
        lambda a, s: FS.by_heap(a[1:], s),
        lambda a, s: [min(end, 9) for end in FS.by_heap(a, s)],
        lambda a, s: [float(end) + 0.5 for end in FS.by_heap(a, s)],
        lambda a, s: [[end] for end in FS.by_heap(a, s)],
        lambda a, s: [str(end) for end in FS.by_heap(a, s)],
        lambda a, s: FS.by_heap([max(a)] * len(a), s),
        lambda a, s: FS.by_heap([round(sum(a) / len(a))] * len(a), s),
        lambda a, s: [sum(a) // s] * len(a),
        lambda a, s: [i // s + n for i, n in enumerate(a)],
        lambda a, s: [sum(a[i::-s]) for i in range(len(a))],
        lambda a, s: FS.by_heap(sorted(a), s),
        lambda a, s: FS.by_heap(a, s)[::2],
        lambda a, s: torch.tensor(FS.by_heap(a, s)).double().mean(),
    ],
    "partial_outputs": [
        shares(lambda y: y * 2),
        shares(lambda y: y + 1),
        shares(lambda y: y.roll(1, 0)),
        shares(lambda y: y.roll(1, 2)),
        shares(lambda y: y.relu()),
        shares(lambda y: y - y.mean(0)),
        shares(lambda y: y.softmax(-1)),
        shares(lambda y: y[:, :, 0]),
        shares(lambda y: y.flatten(0, 1)),
        shares(lambda y: torch.cat((y, y.sum(0, keepdim=True)))),
        lambda x, q, k, v, o, h, c: PO.grouped(x, q, k, v, o.roll(1, 0), h, c),
        lambda x, q, k, v, o, h, c: PO.grouped(x, q, k, v.roll(1, 1), o, h, c),
        lambda x, q, k, v, o, h, c: PO.grouped(x, q + k, k, v, o, h, c),
        lambda x, q, k, v, o, h, c: PO.grouped(x, q, k, v, o, h, c) + x / c,
        lambda x, q, k, v, o, h, c: PO.grouped(x.roll(1, 1), q, k, v, o, h, c),
        lambda x, q, k, v, o, h, c: torch.stack([x @ q @ o / c] * c),
    ],
}
